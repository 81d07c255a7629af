//! `plan build`: one JSON file for each bead of a plan (E-14).

use beads_ralph_core::bead::{BeadShape, FieldError, RalphBead, Rules, error_code, validate};
use beads_ralph_core::compile::{Compiled, Refusal, build};
use beads_ralph_core::diag::sort_by_place;
use beads_ralph_core::plan::{Filter, Plan, annotate};
use beads_ralph_runtime::{os::files, repo};
use camino::Utf8PathBuf;
use clap::Args;
use clap::builder::{NonEmptyStringValueParser, TypedValueParser as _};
use serde_json::{Value, json};

use crate::args::{RuleArgs, ShapeArg};
use crate::failure::Failure;
use crate::plan_source::{PlanSource, Surroundings};
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
    let source = PlanSource::read(&args.plan)?;
    let surroundings = Surroundings::of(&source)?;
    let settings = surroundings.settings(&source, &args.rules, args.skip_completed);
    let filter = Filter::parse(args.sprint_filter.as_deref().unwrap_or_default())?;
    let plan = source.parse();
    let mut compiled = build(&plan, &filter, &settings).map_err(|refusal| match refusal {
        Refusal::Findings(findings) => ui.refuse(&source, findings),
        Refusal::Filter(fault) => fault.into(),
    })?;
    sort_by_place(&mut compiled.findings);
    ui.say(&render(&source, &compiled.findings, ui.style(Stream::Err)));
    let documents = documents(&compiled.beads, args.bead_schema.into(), surroundings.rig())?;
    let bead_files = write(&args.out_dir, &compiled.beads, &documents)?;
    if ui.is_json() {
        let is_annotated = is_annotated(source.text(), &plan, &compiled.beads);
        return ui.data(&to_json(&compiled, &bead_files, is_annotated));
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

/// The documents of all beads, each read back by the validator before anything is written (E-10).
pub(crate) fn documents(
    beads: &[RalphBead],
    shape: BeadShape,
    rig: &str,
) -> Result<Vec<Value>, Failure> {
    let rules = Rules {
        rig: rig.to_owned(),
    };
    let documents: Vec<Value> = beads.iter().map(|bead| bead.to_document(shape)).collect();
    let invalid: Vec<(&RalphBead, Vec<FieldError>)> = beads
        .iter()
        .zip(&documents)
        .filter_map(|(bead, document)| Some((bead, validate(document, &rules).err()?)))
        .collect();
    let Some((first, errors)) = invalid.first() else {
        return Ok(documents);
    };
    let listed: Vec<String> = errors.iter().map(FieldError::to_string).collect();
    let validation: Vec<Value> = invalid
        .iter()
        .map(|(bead, errors)| validation_json(bead, errors))
        .collect();
    Err(Failure::new(
        error_code(errors),
        format!("bead {} is not valid: {}", first.id, listed.join("; ")),
    )
    .details(listed.join("\n"))
    .with_validation(Value::Array(validation)))
}

/// What the validator says of one bead (Z-33).
pub(crate) fn validation_json(bead: &RalphBead, errors: &[FieldError]) -> Value {
    let errors: Vec<String> = errors.iter().map(FieldError::to_string).collect();
    json!({"id": bead.id.as_str(), "valid": errors.is_empty(), "errors": errors})
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
fn to_json(compiled: &Compiled, bead_files: &[Utf8PathBuf], is_annotated: bool) -> Value {
    let beads = &compiled.beads;
    json!({
        "mode": "direct",
        "beads_created": beads.len(),
        "bead_ids": beads.iter().map(|bead| bead.id.as_str()).collect::<Vec<_>>(),
        "sprints_processed": beads.iter().map(|bead| bead.metadata.sprint.as_str()).collect::<Vec<_>>(),
        "database_status": "dry_run",
        "plan_annotated": is_annotated,
        "plan_file_updated": false,
        "warnings": compiled.findings.iter().map(|finding| &*finding.message).collect::<Vec<_>>(),
        "external_dependencies": compiled.external.iter().map(beads_ralph_core::bead::BeadId::as_str).collect::<Vec<_>>(),
        "skipped_existing": [],
        "bead_files": bead_files,
        "validation": beads.iter().map(|bead| validation_json(bead, &[])).collect::<Vec<_>>(),
    })
}
