//! `plan apply`: a plan into the store, in the order of contracts §4.4.

use beads_ralph_core::bead::{BeadId, RalphBead};
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::app::plan::{
    AnnotationState, AppliedPlan, ApplyMode, ApplyOptions, ExistingBeads, PlanInput, apply,
};
use beads_ralph_runtime::removed_sprints;
use camino::Utf8Path;
use clap::Args;
use serde::Serialize;

use super::build::{messages, valid};
use super::diff::{DiffData, advice, open, picture, say_findings, summary};
use super::error;
use crate::args::{Global, MergeArg, RuleArgs, SelectionArgs};
use crate::command::work::run::RunArgs;
use crate::failure::{Failure, Validation};
use crate::ui::Ui;

#[derive(Debug, Args)]
pub(crate) struct PlanApplyArgs {
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write the bead ids into the plan afterwards
    #[arg(long)]
    pub(crate) annotate: bool,
    /// Insert new beads only; a bead that is there is an error
    #[arg(long)]
    pub(crate) insert_only: bool,
    /// Insert new beads only, and skip those that are there
    #[arg(long)]
    pub(crate) check_existing: bool,
    /// Refuse beads that wait for something that the store does not have
    #[arg(long)]
    pub(crate) require_deps_in_store: bool,
}

impl PlanApplyArgs {
    /// All of a plan, with the rules that hold when nobody says otherwise.
    pub(crate) fn whole(plan: &Utf8Path, annotate: bool, dry_run: bool) -> Self {
        Self {
            selection: SelectionArgs {
                plan: plan.to_owned(),
                sprint_filter: None,
                skip_completed: false,
                var: Vec::new(),
                rules: RuleArgs {
                    merge_detection: MergeArg::Both,
                    strict_agents: false,
                    no_agent_check: false,
                },
            },
            dry_run,
            annotate,
            insert_only: false,
            check_existing: false,
            require_deps_in_store: false,
        }
    }

    fn options(&self) -> ApplyOptions {
        ApplyOptions {
            existing: match (self.check_existing, self.insert_only) {
                (true, _) => ExistingBeads::Skip,
                (false, true) => ExistingBeads::Refuse,
                (false, false) => ExistingBeads::Update,
            },
            is_dry_run: self.dry_run,
            annotates: self.annotate,
            requires_dependencies: self.require_deps_in_store,
        }
    }
}

pub(crate) fn run(args: &PlanApplyArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let input = PlanInput::read(&args.selection.plan, args.selection.options())?;
    if args.annotate && input.source.is_stdin() {
        return Err(Failure::new(
            ErrorCode::ValidationConstraint,
            "standard input cannot be annotated",
        )
        .action("name the plan's file, or leave out --annotate"));
    }
    let applied = applied(&input, args, global, ui)?;
    let reconciliation = &applied.comparison.reconciliation;
    let annotated = applied
        .annotate(&input, args.annotate && !args.dry_run)
        .map_err(|error| {
            // The beads are in the store; only the file was not written.
            Failure::from(error).details(format!(
                "the plan was applied: {}; only the annotations are missing",
                summary(reconciliation)
            ))
        });
    if ui.is_json() {
        return ui.data(&ApplyData::new(&applied, args.dry_run, annotated?));
    }
    ui.out(&picture(reconciliation))?;
    let verb = if args.dry_run {
        "would be applied"
    } else {
        "applied"
    };
    let shown = input.source.shown();
    ui.say(&format!(
        "{shown} {verb}: {}\n{}",
        summary(reconciliation),
        advice(reconciliation)
    ));
    if annotated?.is_updated {
        ui.say(&format!("annotated {shown}\n"));
    }
    if args.dry_run {
        ui.say("nothing was written; run it without --dry-run to write\n");
    } else if !applied.created.is_empty() {
        ui.say("see what is ready with `beads-ralph ready`\n");
    }
    Ok(())
}

/// Applies a plan, and says what was found in it.
fn applied(
    input: &PlanInput,
    args: &PlanApplyArgs,
    global: &Global,
    ui: &Ui,
) -> Result<AppliedPlan, Failure> {
    let Beads {
        mut store,
        directory,
        by,
        ..
    } = open(input, global, ui)?;
    let mut applied = apply(input, args.options(), &mut *store, &directory, by.stamp())
        .map_err(|error| error::failure(error, &input.source, ui))?;
    say_findings(input, &mut applied.comparison.compiled, ui);
    Ok(applied)
}

/// A plan that was applied before its beads are run.
pub(crate) struct AppliedForRun {
    /// The name of the plan in its beads.
    pub(crate) plan_file: String,
    /// The beads that the plan has; with a dry run some of them are not in the store.
    pub(crate) beads: Vec<RalphBead>,
    /// Which sprints the plan no longer has.
    pub(crate) sprints: removed_sprints::Applied,
}

/// Applies a plan before its beads are run.
pub(crate) fn apply_for_run(
    plan: &Utf8Path,
    args: &RunArgs,
    global: &Global,
    ui: &Ui,
) -> Result<AppliedForRun, Failure> {
    let mut whole = PlanApplyArgs::whole(plan, args.annotate, args.dry_run);
    whole.selection.var.clone_from(&args.var);
    let input = PlanInput::read(plan, whole.selection.options())?;
    let applied = applied(&input, &whole, global, ui)?;
    applied.annotate(&input, args.annotate && !args.dry_run)?;
    let reconciliation = &applied.comparison.reconciliation;
    ui.say(&format!(
        "{}: {}\n{}",
        input.source.shown(),
        summary(reconciliation),
        advice(reconciliation)
    ));
    Ok(AppliedForRun {
        plan_file: input.context.plan_file().to_owned(),
        sprints: applied.sprints(&input),
        beads: applied.comparison.compiled.beads,
    })
}

/// The envelope's data (E-3), with what re-application adds.
#[derive(Serialize)]
struct ApplyData<'a> {
    mode: &'static str,
    beads_created: usize,
    bead_ids: Vec<&'a BeadId>,
    sprints_processed: Vec<&'a str>,
    database_status: &'static str,
    plan_annotated: bool,
    plan_file_updated: bool,
    warnings: Vec<&'a str>,
    external_dependencies: &'a [BeadId],
    skipped_existing: &'a [BeadId],
    beads_updated: &'a [BeadId],
    validation: Vec<Validation>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    molecules: Option<MoleculeData<'a>>,
    #[serde(flatten)]
    diff: DiffData<'a>,
}

/// What is added where molecules were made.
#[derive(Serialize)]
struct MoleculeData<'a> {
    formulas_created: usize,
    formulas_poured: usize,
    molecules_created: Vec<&'a BeadId>,
}

impl<'a> ApplyData<'a> {
    fn new(applied: &'a AppliedPlan, is_dry_run: bool, annotated: AnnotationState) -> Self {
        let compiled = &applied.comparison.compiled;
        let (molecules, beads): (Vec<&BeadId>, Vec<&BeadId>) =
            (applied.created.iter()).partition(|id| applied.comparison.molecules.contains(id));
        let mode = applied.mode();
        // Beads of one sprint follow each other.
        let sprints = compiled.beads.iter();
        let mut sprints: Vec<&str> = sprints.map(|bead| bead.metadata.sprint.as_str()).collect();
        sprints.dedup();
        Self {
            mode: match mode {
                ApplyMode::Direct => "direct",
                ApplyMode::Formula => "formula",
                ApplyMode::Mixed => "mixed",
            },
            beads_created: beads.len(),
            bead_ids: beads,
            sprints_processed: sprints,
            database_status: match mode {
                _ if is_dry_run => "dry_run",
                ApplyMode::Formula => "poured",
                ApplyMode::Direct | ApplyMode::Mixed => "inserted",
            },
            plan_annotated: annotated.is_annotated,
            plan_file_updated: annotated.is_updated,
            warnings: messages(&compiled.findings),
            external_dependencies: &compiled.external,
            skipped_existing: &applied.skipped,
            beads_updated: &applied.updated,
            validation: valid(&compiled.beads),
            molecules: (!molecules.is_empty()).then_some(MoleculeData {
                formulas_created: 0,
                formulas_poured: molecules.len(),
                molecules_created: molecules,
            }),
            diff: DiffData::of(&applied.comparison.reconciliation),
        }
    }
}
