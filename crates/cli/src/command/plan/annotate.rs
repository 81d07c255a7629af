//! `plan annotate`: the bead ids of a plan, written into it (contracts §5).

use beads_ralph_core::compile::{KnownIds, plan_graph};
use beads_ralph_core::diag::has_errors;
use beads_ralph_core::plan::{Filter, annotate};
use beads_ralph_runtime::os::files;
use camino::Utf8PathBuf;
use clap::Args;
use serde_json::json;

use crate::failure::Failure;
use crate::mason::ids_in_store;
use crate::plan_source::PlanSource;
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
    let errors_of_plan = || {
        plan.problems
            .iter()
            .filter(|finding| finding.error_code().is_some())
            .cloned()
    };
    let annotated_with = |known: &KnownIds| {
        let annotated = match plan_graph(&plan, known) {
            Err(finding) => Err(errors_of_plan().chain([*finding]).collect()),
            Ok(graph) if has_errors(&graph.findings) => {
                Err(errors_of_plan().chain(graph.findings).collect())
            }
            Ok(graph) => annotate(source.text(), &plan, &filter, &graph.ids()),
        };
        annotated.map_err(|findings| ui.refuse(&source, findings))
    };
    // What is wrong with the plan needs no store (E-11); what is right in it has the ids of the store (Z-10).
    annotated_with(&KnownIds::new())?;
    let annotated = annotated_with(&ids_in_store(&source, &plan)?)?;
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
        return ui.data(&json!({
            "plan_annotated": is_writing || annotated.n_changed == 0,
            "plan_file_updated": is_writing,
            "sprints": n_selected,
            "changed": annotated.n_changed,
        }));
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
