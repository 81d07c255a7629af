//! `plan annotate`: the bead ids of a plan, written into it (contracts §5).

use beads_ralph_core::plan::Filter;
use beads_ralph_runtime::app::plan::{PlanSource, annotate};
use beads_ralph_runtime::os::files;
use camino::Utf8PathBuf;
use clap::Args;
use serde::Serialize;

use super::error;
use crate::args::here;
use crate::failure::Failure;
use crate::ui::Ui;

#[derive(Debug, Args)]
pub(crate) struct PlanAnnotateArgs {
    /// The plan
    pub(crate) plan: Utf8PathBuf,
    /// Only these sprints, such as 1.2a,1.3
    #[arg(long, value_name = "IDS")]
    pub(crate) sprint_filter: Option<String>,
    /// Say what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

pub(crate) fn run(args: &PlanAnnotateArgs, ui: &Ui) -> Result<(), Failure> {
    let source = PlanSource::read(&args.plan)?;
    let filter = Filter::parse(args.sprint_filter.as_deref().unwrap_or_default())?;
    let plan = source.parse();
    let annotated = annotate(&source, &plan, &filter, &here()?)
        .map_err(|error| error::failure(error, &source, ui))?;
    let n_selected = filter.select(&plan)?.len();
    let is_writing = annotated.n_changed > 0 && !args.dry_run && !source.is_stdin();
    if source.is_stdin() && !ui.is_json() {
        return ui.out(&annotated.text);
    }
    if is_writing {
        files::replace(
            source.path(),
            source.text().as_bytes(),
            annotated.text.as_bytes(),
        )?;
    }
    if ui.is_json() {
        return ui.data(&AnnotateData {
            plan_annotated: is_writing || annotated.n_changed == 0,
            plan_file_updated: is_writing,
            sprints: n_selected,
            changed: annotated.n_changed,
        });
    }
    let verb = if args.dry_run {
        "would change"
    } else {
        "changed"
    };
    ui.say(&format!(
        "{}: {verb} {} of {n_selected} annotations\n",
        source.shown(),
        annotated.n_changed
    ));
    Ok(())
}

#[derive(Serialize)]
struct AnnotateData {
    plan_annotated: bool,
    plan_file_updated: bool,
    sprints: usize,
    changed: usize,
}
