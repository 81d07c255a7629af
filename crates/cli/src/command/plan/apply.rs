//! `plan apply`: a plan into the store, in the order of contracts §4.4.

use beads_ralph_core::apply::{Difference, Reconciliation, Verdict};
use beads_ralph_core::bead::{BeadId, BeadShape};
use beads_ralph_core::diag::{Diagnostic, ErrorCode};
use beads_ralph_core::issue::{Issue, apply, is_same_content};
use beads_ralph_core::plan::{self, Filter};
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::store::{Guard, StoreError, Write};
use beads_ralph_runtime::{os::files, removed_sprints};
use camino::Utf8Path;
use clap::Args;
use serde_json::{Value, json};

use super::build::{documents, validation_json};
use super::diff::{advice, picture, summary, to_json};
use crate::args::{Global, MergeArg, RuleArgs, SelectionArgs};
use crate::command::work::run::RunArgs;
use crate::failure::Failure;
use crate::mason::{Comparison, Mason, check_external};
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
}

/// How often the comparison is made anew because somebody else was faster.
const MAX_TURNS: usize = 10;

/// What was done.
struct Applied {
    comparison: Comparison,
    created: Vec<BeadId>,
    updated: Vec<BeadId>,
    skipped: Vec<BeadId>,
}

/// How the plan file stands after annotation (E-5).
struct Annotated {
    is_annotated: bool,
    is_updated: bool,
}

pub(crate) fn run(args: &PlanApplyArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mason = Mason::read(&args.selection)?;
    if args.annotate && mason.source.is_stdin() {
        return Err(Failure::new(
            ErrorCode::ValidationConstraint,
            "standard input cannot be annotated",
        )
        .action("name the plan's file, or leave out --annotate"));
    }
    let mut beads = mason.open(&args.selection, global, ui)?;
    let mut applied = apply_plan(&mason, args, &mut beads, ui)?;
    mason.say_findings(&mut applied.comparison.compiled, ui);
    let annotated = annotate_plan(&mason, args, &applied).map_err(|failure| {
        // The beads are there; only the file is not what it was.
        failure.details(format!(
            "the plan was applied: {}; only the annotations are missing",
            summary(&applied.comparison.reconciliation)
        ))
    });
    if ui.is_json() {
        return ui.data(&data(&applied, args, &annotated?));
    }
    ui.out(&picture(&applied.comparison.reconciliation))?;
    let verb = if args.dry_run {
        "would be applied"
    } else {
        "applied"
    };
    ui.say(&format!(
        "{} {verb}: {}\n{}",
        mason.source.shown(),
        summary(&applied.comparison.reconciliation),
        advice(&applied.comparison.reconciliation)
    ));
    if annotated?.is_updated {
        ui.say(&format!("annotated {}\n", mason.source.shown()));
    }
    if args.dry_run {
        ui.say("nothing was written; the same without --dry-run does it\n");
    } else if !applied.created.is_empty() {
        ui.say("see what can be started with `beads-ralph ready`\n");
    }
    Ok(())
}

/// What became of a plan that was applied before its beads are run.
pub(crate) struct AppliedForRun {
    /// The name of the plan in its beads.
    pub(crate) plan_file: String,
    /// The beads that the plan has; with a dry run some of them are not in the store.
    pub(crate) beads: Vec<Value>,
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
    let args = whole;
    let mason = Mason::read(&args.selection)?;
    let mut beads = mason.open(&args.selection, global, ui)?;
    let mut applied = apply_plan(&mason, &args, &mut beads, ui)?;
    mason.say_findings(&mut applied.comparison.compiled, ui);
    annotate_plan(&mason, &args, &applied)?;
    let summary = summary(&applied.comparison.reconciliation);
    let advice = advice(&applied.comparison.reconciliation);
    ui.say(&format!("{}: {summary}\n{advice}", mason.source.shown()));
    let beads = &applied.comparison.compiled.beads;
    Ok(AppliedForRun {
        plan_file: mason.plan_file().to_owned(),
        sprints: mason.sprints(&applied.comparison),
        beads: beads
            .iter()
            .map(|bead| bead.to_document(BeadShape::Both))
            .collect(),
    })
}

/// Compares and writes. Whoever changes a bead in between is seen by its version, and the comparison is made anew.
fn apply_plan(
    mason: &Mason,
    args: &PlanApplyArgs,
    beads: &mut Beads,
    ui: &Ui,
) -> Result<Applied, Failure> {
    let mut turn = 1;
    loop {
        let comparison = mason.compare(&args.selection, beads, ui)?;
        // Everything that would be written is valid, or nothing is (E-10).
        documents(&comparison.compiled.beads, BeadShape::Both, mason.rig())?;
        if args.require_deps_in_store {
            check_external(&*beads.store, &comparison.compiled)?;
        }
        let is_insert_only = args.insert_only || args.check_existing;
        let skipped = if is_insert_only {
            existing(&comparison.reconciliation)
        } else {
            Vec::new()
        };
        if is_insert_only && !args.check_existing {
            refuse_existing(&skipped)?;
        }
        if !args.check_existing {
            mason.check_conflicts(&comparison.reconciliation)?;
        }
        if args.annotate {
            // A plan that cannot be annotated is said so before the store is changed.
            annotation(mason, &comparison)
                .map_err(|findings| ui.refuse(&mason.source, findings))?;
        }
        let mut applied = Applied {
            comparison,
            created: Vec::new(),
            updated: Vec::new(),
            skipped,
        };
        let batch = batch(&mut applied, !is_insert_only);
        if args.dry_run {
            return Ok(applied);
        }
        if batch.is_empty() {
            remember_removed(mason, &applied, beads)?;
            return Ok(applied);
        }
        match beads.store.write(&batch, beads.by.stamp()) {
            Ok(versions) => {
                verify(beads, &batch, &versions)?;
                remember_removed(mason, &applied, beads)?;
                return Ok(applied);
            }
            Err(StoreError::Guard { .. } | StoreError::Exists(_) | StoreError::Held { .. })
                if turn < MAX_TURNS =>
            {
                turn += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Tells runs of the plan, whoever started them, which of its beads they must not begin (Z-44).
fn remember_removed(mason: &Mason, applied: &Applied, beads: &mut Beads) -> Result<(), Failure> {
    let sprints = mason.sprints(&applied.comparison);
    let store = beads.store.as_mut();
    removed_sprints::remember(store, mason.plan_file(), &sprints, beads.by.stamp())?;
    Ok(())
}

/// The beads that are there already, whoever they belong to.
fn existing(reconciliation: &Reconciliation) -> Vec<BeadId> {
    let differing = reconciliation
        .differences
        .iter()
        .filter_map(|difference| match difference {
            Difference::Changed(_) | Difference::Conflict { .. } => Some(difference.id()),
            Difference::New { .. } | Difference::Removed(_) => None,
        });
    let mut ids: Vec<BeadId> = reconciliation
        .unchanged
        .iter()
        .chain(differing)
        .cloned()
        .collect();
    ids.sort_unstable();
    ids
}

/// E-12: an id that is there is an error when only new beads are wanted.
fn refuse_existing(existing: &[BeadId]) -> Result<(), Failure> {
    let Some(first) = existing.first() else {
        return Ok(());
    };
    let named: Vec<String> = existing.iter().map(|id| excerpt(id.as_str())).collect();
    let message = match existing.len() {
        1 => format!(
            "duplicate key: there is already a bead {}",
            excerpt(first.as_str())
        ),
        n => format!(
            "duplicate key: there are already {n} of these beads, the first is {}",
            excerpt(first.as_str())
        ),
    };
    Err(Failure::new(ErrorCode::DependencyDuplicateId, message)
        .details(named.join("\n"))
        .action("pass --check-existing to skip them; `beads-ralph plan apply` without --insert-only updates them"))
}

/// The changes that are safe, and the ids that they touch.
fn batch(applied: &mut Applied, may_update: bool) -> Vec<Write> {
    let mut batch = Vec::new();
    for difference in &applied.comparison.reconciliation.differences {
        match difference {
            Difference::New { entry, .. } => {
                applied.created.push(entry.issue.id().clone());
                batch.push(Write::Insert(entry.clone()));
            }
            Difference::Changed(changed) if may_update && changed.verdict == Verdict::Safe => {
                applied.updated.push(changed.id.clone());
                batch.push(Write::Update {
                    id: changed.id.clone(),
                    edits: changed.edits.clone(),
                    guard: Guard {
                        version: Some(changed.version),
                        ..Guard::default()
                    },
                });
            }
            Difference::Changed(_) | Difference::Removed(_) | Difference::Conflict { .. } => {}
        }
    }
    batch
}

/// Reads back what was written (E-10). A bead that somebody changed since then is not compared.
fn verify(beads: &Beads, batch: &[Write], versions: &[u64]) -> Result<(), Failure> {
    let ids: Vec<BeadId> = batch.iter().map(|write| id_of(write).clone()).collect();
    let records = beads.store.get(&ids)?;
    let mut records = records.iter().peekable();
    for ((write, version), id) in batch.iter().zip(versions).zip(&ids) {
        let found = records.next_if(|record| record.issue.id() == id);
        let is_same = found
            .is_some_and(|record| record.version != *version || is_written(write, &record.issue));
        if !is_same {
            let message = format!(
                "bead {} is not in the store as it was written",
                excerpt(id.as_str())
            );
            return Err(Failure::new(ErrorCode::DatabaseInsertFailed, message)
                .action("run `beads-ralph doctor`, then apply the plan again"));
        }
    }
    Ok(())
}

fn id_of(write: &Write) -> &BeadId {
    match write {
        Write::Insert(entry) => entry.issue.id(),
        Write::Update { id, .. } | Write::Delete { id, .. } => id,
    }
}

/// Whether an issue is what a change was to make of it. An update is what doing it again would not change.
fn is_written(write: &Write, issue: &Issue) -> bool {
    match write {
        Write::Insert(entry) => is_same_content(issue, &entry.issue),
        Write::Delete { .. } => false,
        Write::Update { edits, .. } => {
            let now = issue
                .text("updated_at")
                .and_then(|at| beads_ralph_core::bead::Timestamp::parse(at).ok());
            now.is_some_and(|now| apply(issue, edits, &now).is_ok_and(|change| change.is_none()))
        }
    }
}

/// The plan's text with the ids of the selected sprints.
fn annotation(mason: &Mason, comparison: &Comparison) -> Result<plan::Annotated, Vec<Diagnostic>> {
    let beads = comparison.compiled.beads.iter();
    let selected = Filter::of(beads.map(|bead| bead.metadata.sprint.clone()));
    plan::annotate(mason.source.text(), &mason.plan, &selected, &comparison.ids)
}

/// Writes the ids into the plan, when that was asked for. Without it the file is only looked at (E-5).
fn annotate_plan(
    mason: &Mason,
    args: &PlanApplyArgs,
    applied: &Applied,
) -> Result<Annotated, Failure> {
    let Ok(annotated) = annotation(mason, &applied.comparison) else {
        return Ok(Annotated {
            is_annotated: false,
            is_updated: false,
        });
    };
    let is_updated = args.annotate && !args.dry_run && annotated.n_changed > 0;
    if is_updated {
        let (before, after) = (mason.source.text().as_bytes(), annotated.text.as_bytes());
        files::replace(mason.source.path(), before, after)?;
    }
    Ok(Annotated {
        is_annotated: is_updated || annotated.n_changed == 0,
        is_updated,
    })
}

/// Whether beads were inserted, poured, or both (E-4).
fn mode(applied: &Applied) -> &'static str {
    let poured = &applied.comparison.poured;
    let n_poured = (applied.created.iter())
        .filter(|id| poured.contains(id))
        .count();
    match n_poured {
        0 => "direct",
        n if n == applied.created.len() => "formula",
        _ => "mixed",
    }
}

/// The sprints that were looked at, each once.
fn sprints(applied: &Applied) -> Vec<&str> {
    let beads = applied.comparison.compiled.beads.iter();
    let mut sprints: Vec<&str> = beads.map(|bead| bead.metadata.sprint.as_str()).collect();
    sprints.dedup();
    sprints
}

/// The envelope's data (E-3), with what re-application adds.
fn data(applied: &Applied, args: &PlanApplyArgs, annotated: &Annotated) -> Value {
    let compiled = &applied.comparison.compiled;
    let (molecules, beads): (Vec<&BeadId>, Vec<&BeadId>) =
        (applied.created.iter()).partition(|id| applied.comparison.molecules.contains(id));
    let mut data = json!({
        "mode": mode(applied),
        "beads_created": beads.len(),
        "bead_ids": beads,
        "sprints_processed": sprints(applied),
        "database_status": if args.dry_run { "dry_run" } else if mode(applied) == "formula" { "poured" } else { "inserted" },
        "plan_annotated": annotated.is_annotated,
        "plan_file_updated": annotated.is_updated,
        "warnings": compiled.findings.iter().map(|finding| &*finding.message).collect::<Vec<_>>(),
        "external_dependencies": compiled.external.iter().map(BeadId::as_str).collect::<Vec<_>>(),
        "skipped_existing": applied.skipped,
        "beads_updated": applied.updated,
        "validation": compiled.beads.iter().map(|bead| validation_json(bead, &[])).collect::<Vec<_>>(),
    });
    if !molecules.is_empty() {
        data["formulas_created"] = 0.into();
        data["formulas_poured"] = molecules.len().into();
        data["molecules_created"] = json!(molecules);
    }
    if let (Value::Object(data), Value::Object(differences)) =
        (&mut data, to_json(&applied.comparison.reconciliation))
    {
        data.extend(differences);
    }
    data
}
