//! A plan into a store: compared, written as one batch, and read back.

use beads_ralph_core::apply::{Difference, Reconciliation, Verdict};
use beads_ralph_core::bead::{BeadId, BeadShape, Timestamp};
use beads_ralph_core::compile::Compiled;
use beads_ralph_core::issue::{self, Issue, is_same_content};
use camino::Utf8Path;

use super::{PlanComparison, PlanError, PlanInput, compare};
use crate::removed_sprints;
use crate::store::{Guard, Stamp, Store, StoreError, Write};

/// How often a plan is compared again because somebody else changed a bead before it could be written.
const MAX_TURNS: usize = 10;

/// What happens to beads of the plan that are in the store already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExistingBeads {
    #[default]
    Update,
    Skip,
    Refuse,
}

/// How a plan is applied.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApplyOptions {
    pub existing: ExistingBeads,
    /// Whether nothing is written.
    pub is_dry_run: bool,
    /// Whether the ids will be written into the plan, so that this has to be possible.
    pub annotates: bool,
    /// Whether beads are refused that depend on something that the store does not have.
    pub requires_dependencies: bool,
}

/// What was done, or with a dry run would be.
#[derive(Debug)]
pub struct AppliedPlan {
    pub comparison: PlanComparison,
    pub created: Vec<BeadId>,
    pub updated: Vec<BeadId>,
    pub skipped: Vec<BeadId>,
}

/// How beads came into the store (E-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyMode {
    /// Every bead was inserted.
    Direct,
    /// Every bead was poured from a formula.
    Formula,
    Mixed,
}

/// Compares and writes. When somebody changes a bead in between, its version shows it, and the comparison is made again.
pub fn apply(
    input: &PlanInput,
    options: ApplyOptions,
    store: &mut dyn Store,
    directory: &Utf8Path,
    by: Stamp<'_>,
) -> Result<AppliedPlan, PlanError> {
    let mut turn = 1;
    loop {
        let comparison = compare(input, store, directory, by.actor)?;
        let mut applied = accepted(input, options, store, comparison)?;
        let batch = applied.batch(options.existing == ExistingBeads::Update);
        if options.is_dry_run {
            return Ok(applied);
        }
        if !batch.is_empty() {
            match store.write(&batch, by) {
                Ok(versions) => verify(store, &batch, &versions)?,
                Err(StoreError::Guard { .. } | StoreError::Exists(_) | StoreError::Held { .. })
                    if turn < MAX_TURNS =>
                {
                    turn += 1;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
        }
        // Runs of the plan, whoever started them, must not begin beads that it no longer has (Z-44).
        let plan_file = input.context.plan_file();
        removed_sprints::remember(store, plan_file, &applied.sprints(input), by)?;
        return Ok(applied);
    }
}

/// A comparison that may be written: everything in it is valid, or nothing is (E-10).
fn accepted(
    input: &PlanInput,
    options: ApplyOptions,
    store: &dyn Store,
    comparison: PlanComparison,
) -> Result<AppliedPlan, PlanError> {
    input.documents(&comparison.compiled.beads, BeadShape::Both)?;
    if options.requires_dependencies {
        check_dependencies(store, &comparison.compiled)?;
    }
    let skipped = match options.existing {
        ExistingBeads::Update => Vec::new(),
        ExistingBeads::Skip | ExistingBeads::Refuse => existing(&comparison.reconciliation),
    };
    if options.existing == ExistingBeads::Refuse && !skipped.is_empty() {
        return Err(PlanError::Exists(skipped));
    }
    if options.existing != ExistingBeads::Skip {
        let conflicts = comparison.conflicts(input);
        if !conflicts.is_empty() {
            return Err(PlanError::Conflicts(conflicts));
        }
    }
    if options.annotates {
        // That a plan cannot be annotated is said before the store is changed.
        comparison.annotation(input)?;
    }
    Ok(AppliedPlan {
        comparison,
        created: Vec::new(),
        updated: Vec::new(),
        skipped,
    })
}

fn check_dependencies(store: &dyn Store, compiled: &Compiled) -> Result<(), PlanError> {
    let found = store.get(&compiled.external)?;
    let is_in_store = |id: &&BeadId| found.iter().any(|record| record.issue.id() == *id);
    let (_, missing): (Vec<&BeadId>, Vec<&BeadId>) =
        compiled.external.iter().partition(is_in_store);
    if missing.is_empty() {
        return Ok(());
    }
    let missing = missing.into_iter().cloned().collect();
    Err(PlanError::MissingDependencies(missing))
}

/// The beads that are in the store already, whoever they belong to.
fn existing(reconciliation: &Reconciliation) -> Vec<BeadId> {
    let differing = reconciliation
        .differences
        .iter()
        .filter_map(|difference| match difference {
            Difference::Changed(_) | Difference::Conflict { .. } => Some(difference.id()),
            Difference::New { .. } | Difference::Removed(_) => None,
        });
    let unchanged = reconciliation.unchanged.iter();
    let mut ids: Vec<BeadId> = unchanged.chain(differing).cloned().collect();
    ids.sort_unstable();
    ids
}

impl AppliedPlan {
    /// The changes that are safe; notes the ids that they touch.
    fn batch(&mut self, may_update: bool) -> Vec<Write> {
        let mut batch = Vec::new();
        for difference in &self.comparison.reconciliation.differences {
            match difference {
                Difference::New { entry, .. } => {
                    self.created.push(entry.issue.id().clone());
                    batch.push(Write::Insert(entry.clone()));
                }
                Difference::Changed(changed) if may_update && changed.verdict == Verdict::Safe => {
                    self.updated.push(changed.id.clone());
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

    /// Which sprints the plan has, and which it no longer has (Z-44).
    pub fn sprints(&self, input: &PlanInput) -> removed_sprints::Applied {
        self.comparison.sprints(input)
    }

    /// Whether beads were inserted, poured, or both (E-4).
    pub fn mode(&self) -> ApplyMode {
        let poured = &self.comparison.poured;
        let n_poured = (self.created.iter())
            .filter(|id| poured.contains(id))
            .count();
        match n_poured {
            0 => ApplyMode::Direct,
            n if n == self.created.len() => ApplyMode::Formula,
            _ => ApplyMode::Mixed,
        }
    }
}

/// Reads back what was written (E-10). A bead that somebody changed since then is not compared.
fn verify(store: &dyn Store, batch: &[Write], versions: &[u64]) -> Result<(), PlanError> {
    let ids: Vec<BeadId> = batch.iter().map(|write| id_of(write).clone()).collect();
    let records = store.get(&ids)?;
    let mut records = records.iter().peekable();
    for ((write, version), id) in batch.iter().zip(versions).zip(ids) {
        let found = records.next_if(|record| *record.issue.id() == id);
        let is_same = found
            .is_some_and(|record| record.version != *version || is_written(write, &record.issue));
        if !is_same {
            return Err(PlanError::NotAsWritten(id));
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
            let updated_at = issue.text("updated_at");
            let now = updated_at.and_then(|at| Timestamp::parse(at).ok());
            now.is_some_and(|now| {
                issue::apply(issue, edits, &now).is_ok_and(|change| change.is_none())
            })
        }
    }
}
