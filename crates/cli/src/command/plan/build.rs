//! `plan build`: one JSON file for each bead of a plan (E-14).

use beads_ralph_core::bead::{BeadId, BeadShape, RalphBead};
use beads_ralph_core::compile::Compiled;
use beads_ralph_core::diag::{Diagnostic, sort_by_place};
use beads_ralph_core::plan::{Filter, Plan, annotate};
use beads_ralph_runtime::app::plan::{PlanInput, PlanOptions};
use beads_ralph_runtime::{os::files, repo};
use camino::Utf8PathBuf;
use clap::Args;
use clap::builder::{NonEmptyStringValueParser, TypedValueParser as _};
use serde::Serialize;
use serde_json::Value;

use super::error;
use crate::args::{RuleArgs, ShapeArg};
use crate::failure::{Failure, Validation};
use crate::ui::{Stream, Ui, counted, lines, pretty, render};

#[derive(Debug, Args)]
pub(crate) struct PlanBuildArgs {
    /// The plan; `-` is standard input
    pub(crate) plan: Utf8PathBuf,
    /// Where to write the files, each named for its bead; made if it does not exist
    #[arg(long, value_name = "DIR", value_parser = NonEmptyStringValueParser::new().map(Utf8PathBuf::from))]
    pub(crate) out_dir: Utf8PathBuf,
    /// Only these sprints, such as 1.2a,1.3
    #[arg(long, value_name = "IDS")]
    pub(crate) sprint_filter: Option<String>,
    /// Which generation of readers to write for
    #[arg(long, value_enum, default_value_t = ShapeArg::Both)]
    pub(crate) bead_schema: ShapeArg,
    /// Leave out sprints whose **Status** says COMPLETED
    #[arg(long)]
    pub(crate) skip_completed: bool,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
}

pub(crate) fn run(args: &PlanBuildArgs, ui: &Ui) -> Result<(), Failure> {
    let options = PlanOptions {
        sprint_filter: args.sprint_filter.clone(),
        skip_completed: args.skip_completed,
        ..args.rules.options()
    };
    let input = PlanInput::read(&args.plan, options)?;
    let source = &input.source;
    let failure = |error| error::failure(error, source, ui);
    let mut compiled = input.compile().map_err(failure)?;
    sort_by_place(&mut compiled.findings);
    ui.say(&render(source, &compiled.findings, ui.style(Stream::Err)));
    let documents = input.documents(&compiled.beads, args.bead_schema.into());
    let documents = documents.map_err(failure)?;
    let bead_files = write(&args.out_dir, &compiled.beads, &documents)?;
    if ui.is_json() {
        let is_annotated = is_annotated(source.text(), &input.plan, &compiled.beads);
        return ui.data(&BuildData::new(&compiled, &bead_files, is_annotated));
    }
    ui.out(&lines(bead_files.iter().map(|path| repo::shown(path))))?;
    ui.say(&format!(
        "wrote {} to {}\n",
        counted(bead_files.len(), "bead", "beads"),
        repo::shown(&args.out_dir)
    ));
    Ok(())
}

/// Whether every sprint that was processed carries its annotation already (E-5).
fn is_annotated(text: &str, plan: &Plan, beads: &[RalphBead]) -> bool {
    let filter = Filter::of(beads.iter().map(|bead| bead.metadata.sprint.clone()));
    let ids = beads
        .iter()
        .map(|bead| (bead.metadata.sprint.clone(), bead.id.clone()))
        .collect();
    annotate(text, plan, &filter, &ids).is_ok_and(|annotated| annotated.n_changed == 0)
}

impl From<ShapeArg> for BeadShape {
    fn from(arg: ShapeArg) -> Self {
        match arg {
            ShapeArg::V1 => Self::V1,
            ShapeArg::V2 => Self::V2,
            ShapeArg::Both => Self::Both,
        }
    }
}

fn write(
    directory: &Utf8PathBuf,
    beads: &[RalphBead],
    documents: &[Value],
) -> Result<Vec<Utf8PathBuf>, Failure> {
    files::create_directory(directory)?;
    let mut written = Vec::with_capacity(beads.len());
    for (bead, document) in beads.iter().zip(documents) {
        let path = directory.join(format!("{}.json", bead.id));
        files::write_atomic(&path, pretty(document).as_bytes()).map_err(|error| {
            let done: Vec<&str> = written
                .iter()
                .map(|path: &Utf8PathBuf| path.as_str())
                .collect();
            Failure::from(error).details(format!("written before: {}", done.join(", ")))
        })?;
        written.push(path);
    }
    Ok(written)
}

/// The envelope's data for beads that were built and not inserted (E-3).
#[derive(Serialize)]
struct BuildData<'a> {
    mode: &'static str,
    beads_created: usize,
    bead_ids: Vec<&'a BeadId>,
    sprints_processed: Vec<&'a str>,
    database_status: &'static str,
    plan_annotated: bool,
    plan_file_updated: bool,
    warnings: Vec<&'a str>,
    external_dependencies: &'a [BeadId],
    skipped_existing: [&'a BeadId; 0],
    bead_files: &'a [Utf8PathBuf],
    validation: Vec<Validation>,
}

impl<'a> BuildData<'a> {
    fn new(compiled: &'a Compiled, bead_files: &'a [Utf8PathBuf], is_annotated: bool) -> Self {
        let beads = &compiled.beads;
        Self {
            mode: "direct",
            beads_created: beads.len(),
            bead_ids: beads.iter().map(|bead| &bead.id).collect(),
            sprints_processed: (beads.iter())
                .map(|bead| bead.metadata.sprint.as_str())
                .collect(),
            database_status: "dry_run",
            plan_annotated: is_annotated,
            plan_file_updated: false,
            warnings: messages(&compiled.findings),
            external_dependencies: &compiled.external,
            skipped_existing: [],
            bead_files,
            validation: valid(beads),
        }
    }
}

/// The sentences of findings.
pub(crate) fn messages(findings: &[Diagnostic]) -> Vec<&str> {
    findings.iter().map(|finding| &*finding.message).collect()
}

/// What the validator says of beads that passed it.
pub(crate) fn valid(beads: &[RalphBead]) -> Vec<Validation> {
    (beads.iter())
        .map(|bead| Validation::of(&bead.id, &[]))
        .collect()
}
