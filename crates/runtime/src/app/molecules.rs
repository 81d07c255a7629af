//! Molecules in a store: a root with everything below it, and what is done with the whole.

use std::collections::HashSet;
use std::time::Duration;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::implement::{link_label, linked_source};
use beads_ralph_core::issue::{
    Claim, Condition, Edit, Flag, Order, Query, Record, Standing, StatusFilter, is_step, is_wisp,
};
use beads_ralph_core::molecule::{Molecule, Step, is_root};
use beads_ralph_core::text::excerpt;
use beads_ralph_core::vocabulary::{IssueType, field};
use jiff::Timestamp;

use super::beads::{Authority, BeadError, Beads, until_settled};
use crate::store::{Guard, Store, StoreError, Write, below};

/// A root with everything below it.
pub fn load(store: &dyn Store, root: Record) -> Result<Molecule, StoreError> {
    let below = below(store, root.issue.id())?;
    Ok(Molecule::new(root, below))
}

/// The roots of the molecules that were poured for beads, or for one of them, closed ones too, the oldest first.
pub fn roots(store: &dyn Store, source: Option<&BeadId>) -> Result<Vec<Record>, StoreError> {
    let mut roots = store.find(&Query {
        status: StatusFilter::Any,
        types: vec![IssueType::Molecule.into()],
        labels_all: source.map(link_label).into_iter().collect(),
        order: Order::Oldest,
        ..Query::default()
    })?;
    roots.retain(|root| linked_source(&root.issue).is_some());
    Ok(roots)
}

/// The molecules that were poured for a bead, closed ones too, the oldest first.
pub fn of_bead(store: &dyn Store, source: &BeadId) -> Result<Vec<Molecule>, StoreError> {
    let roots = roots(store, Some(source))?.into_iter();
    roots.map(|root| load(store, root)).collect()
}

/// The root of the molecule that a bead is a part of, or is itself.
pub fn root_of(store: &dyn Store, record: &Record) -> Result<Option<Record>, StoreError> {
    if is_root(&record.issue) {
        return Ok(Some(record.clone()));
    }
    let above = above(store, record)?;
    Ok(above.into_iter().find(|above| is_root(&above.issue)))
}

/// The bead that a molecule was poured for of which this one is a part.
pub fn source_of(store: &dyn Store, record: &Record) -> Result<Option<Record>, StoreError> {
    let root = root_of(store, record)?;
    match root.and_then(|root| linked_source(&root.issue)) {
        Some(source) => Ok(store.get(&[source])?.pop()),
        None => Ok(None),
    }
}

/// What a bead is a part of, the nearest first.
pub fn above(store: &dyn Store, record: &Record) -> Result<Vec<Record>, StoreError> {
    let mut seen = HashSet::from([record.issue.id().clone()]);
    let mut found = Vec::new();
    let mut level = vec![record.clone()];
    while !level.is_empty() {
        let parents = level.iter().flat_map(|record| record.issue.parents());
        let parents: Vec<BeadId> = parents
            .filter(|id| seen.insert((*id).clone()))
            .cloned()
            .collect();
        level = store.get(&parents)?;
        found.extend(level.iter().cloned());
    }
    Ok(found)
}

/// What a bead is a part of and is not closed.
pub fn open_above(store: &dyn Store, record: &Record) -> Result<Vec<BeadId>, StoreError> {
    let above = above(store, record)?.into_iter();
    let open = above.filter(|record| record.issue.standing() != Standing::Closed);
    Ok(open.map(|record| record.issue.id().clone()).collect())
}

/// Those of some beads that are closed now: the molecules that a close completed (F-14).
pub fn closed_of(store: &dyn Store, open: &[BeadId]) -> Result<Vec<Record>, StoreError> {
    let mut records = store.get(open)?;
    records.retain(|record| record.issue.standing() == Standing::Closed);
    Ok(records)
}

/// Why a verb over molecules did nothing.
#[derive(Debug, thiserror::Error)]
pub enum MoleculeError {
    #[error(transparent)]
    Bead(#[from] BeadError),
    #[error("{} is not a molecule: it is a {} with nothing below it", excerpt(id.as_str()), excerpt(kind))]
    NotOne {
        id: BeadId,
        kind: String,
        /// The molecule that it is a part of.
        part_of: Option<BeadId>,
    },
    #[error("{} is not a wisp", excerpt(.0.as_str()))]
    NotWisp(BeadId),
}

impl From<StoreError> for MoleculeError {
    fn from(error: StoreError) -> Self {
        Self::Bead(error.into())
    }
}

/// What a squash closes and keeps.
#[derive(Debug)]
pub struct Squashed {
    /// The molecule as it was before.
    pub molecule: Molecule,
    pub closed: Vec<BeadId>,
    /// What is not a wisp any more.
    pub kept: Vec<BeadId>,
}

/// What a burn deletes, and what it leaves.
#[derive(Debug, Default)]
pub struct Burned {
    pub roots: Vec<BeadId>,
    /// Those that depend on others come first, so that no edge must be taken away by itself.
    pub deleted: Vec<Record>,
    pub kept: Vec<BeadId>,
}

/// Which wisps are deleted, and which are not although they are old or closed.
#[derive(Debug, Default)]
pub struct Swept {
    pub gone: Vec<Molecule>,
    /// Each with the claim that keeps it.
    pub left: Vec<(Record, Claim)>,
}

fn ids<'r>(records: impl Iterator<Item = &'r Record>) -> Vec<BeadId> {
    records.map(|record| record.issue.id().clone()).collect()
}

impl Beads {
    /// The molecule with an id. What has nothing below it is one only if it is a root or a wisp.
    pub fn molecule(&self, id: &str) -> Result<Molecule, MoleculeError> {
        let root = self.resolve(id)?;
        let is_one = is_root(&root.issue) || (is_wisp(&root.issue) && !is_step(&root.issue));
        let molecule = load(&*self.store, root)?;
        if is_one || !molecule.steps().is_empty() {
            return Ok(molecule);
        }
        let record = molecule.root();
        let above = above(&*self.store, record).unwrap_or_default();
        let root = above.iter().find(|above| is_root(&above.issue));
        Err(MoleculeError::NotOne {
            id: record.issue.id().clone(),
            kind: record.issue.issue_type().to_owned(),
            part_of: root.map(|root| root.issue.id().clone()),
        })
    }

    /// The molecule that is named, or all that are not closed, in order of their ids.
    pub fn molecules(&self, id: Option<&str>) -> Result<Vec<Molecule>, MoleculeError> {
        if let Some(id) = id {
            return Ok(vec![self.molecule(id)?]);
        }
        let query = Query {
            types: vec![IssueType::Molecule.into()],
            order: Order::Id,
            ..Query::default()
        };
        let roots = self.store.find(&query)?.into_iter();
        let molecules = roots.map(|root| load(&*self.store, root));
        Ok(molecules.collect::<Result<_, StoreError>>()?)
    }

    /// Everything that can be started, those of wisps too, and is neither deferred nor expired.
    pub fn startable(&self) -> Result<HashSet<BeadId>, StoreError> {
        let query = Query {
            ready_at: Some(self.by.now),
            includes_ephemeral: true,
            ..Query::default()
        };
        let records = self.store.find(&query)?.into_iter();
        Ok(records.map(|record| record.issue.id().clone()).collect())
    }

    /// Closes what is left of a molecule with a summary as the reason, in one step (F-12). A wisp lasts from then on.
    pub fn squash(
        &mut self,
        id: &str,
        summary: &str,
        authority: Authority,
        is_dry_run: bool,
    ) -> Result<Squashed, MoleculeError> {
        let molecule = until_settled(|| {
            let molecule = self.molecule(id)?;
            let ending = |record| self.ending(record, summary, authority);
            let batch: Vec<Write> = molecule.all().filter_map(ending).collect();
            if is_dry_run || batch.is_empty() {
                return Ok(Some(molecule));
            }
            match self.write(&batch) {
                Ok(()) => {}
                Err(StoreError::Guard { .. } | StoreError::NotFound(_)) => return Ok(None),
                Err(error) => return Err(MoleculeError::from(error)),
            }
            // A step that came meanwhile is ended too.
            let is_over = self.molecule(id)?.unfinished().next().is_none();
            Ok(is_over.then_some(molecule))
        })?;
        Ok(Squashed {
            closed: ids(molecule.unfinished()),
            kept: ids(molecule.all().filter(|it| is_wisp(&it.issue))),
            molecule,
        })
    }

    /// What a squash does to one bead, if anything.
    fn ending(&self, record: &Record, summary: &str, authority: Authority) -> Option<Write> {
        let issue = &record.issue;
        let mut edits = Vec::new();
        if issue.standing() != Standing::Closed {
            edits.push(Edit::Close(summary.to_owned()));
        }
        if issue.flag(EPHEMERAL) {
            edits.push(Edit::Unset(EPHEMERAL.to_owned()));
        }
        (!edits.is_empty()).then(|| Write::Update {
            id: issue.id().clone(),
            edits,
            guard: Guard {
                version: (authority != Authority::Forced).then_some(record.version),
                ..self.by.guard(record, authority)
            },
        })
    }

    /// Deletes wisps with their steps in one step, without a digest (F-11). What was poured to stay, and what somebody holds, is
    /// deleted only by force; a part of a wisp that is none itself stays.
    pub fn burn(
        &mut self,
        names: &[String],
        is_forced: bool,
        is_dry_run: bool,
    ) -> Result<Burned, MoleculeError> {
        let authority = if is_forced {
            Authority::Forced
        } else {
            Authority::Own
        };
        until_settled(|| {
            let mut burned = Burned::default();
            for name in names {
                burned.add(&self.molecule(name)?, is_forced)?;
            }
            let delete = |record: &Record| {
                let id = record.issue.id().clone();
                let version = burned.roots.contains(&id).then_some(record.version);
                let guard = Guard {
                    version,
                    ..self.by.guard(record, authority)
                };
                Write::Delete { id, guard }
            };
            let batch: Vec<Write> = burned.deleted.iter().map(delete).collect();
            if is_dry_run {
                return Ok(Some(burned));
            }
            match self.write(&batch) {
                Ok(()) => Ok(Some(burned)),
                // Somebody changed a root: what is below it is looked for again.
                Err(StoreError::Guard { .. }) => Ok(None),
                Err(error) => Err(error.into()),
            }
        })
    }

    /// Every wisp that is no part of another one, with what is below it; the oldest first.
    pub fn wisps(&self) -> Result<Vec<Molecule>, StoreError> {
        let mut wisps: Vec<Record> = self.store.find(&Query {
            conditions: vec![Condition::With(vec![Flag::Ephemeral])],
            ..Self::everything()
        })?;
        let ids: HashSet<BeadId> = ids(wisps.iter()).into_iter().collect();
        wisps.retain(|wisp| !wisp.issue.parents().any(|parent| ids.contains(parent)));
        wisps.sort_by_key(|wisp| wisp.issue.time(field::CREATED_AT));
        let wisps = wisps.into_iter();
        wisps.map(|root| load(&*self.store, root)).collect()
    }

    /// Deletes the wisps that are older than that or closed, in one step (F-10). One of which somebody holds a step is left.
    pub fn sweep_wisps(&mut self, age: Duration, is_dry_run: bool) -> Result<Swept, BeadError> {
        let edge = self.by.now.checked_sub(age).unwrap_or(Timestamp::MIN);
        until_settled(|| {
            let mut swept = Swept::default();
            for wisp in self.wisps()? {
                let root = &wisp.root().issue;
                let is_old = root.time(field::CREATED_AT).is_some_and(|at| at <= edge);
                if !is_old && root.standing() != Standing::Closed {
                    continue;
                }
                let claim = wisp.all().find_map(|record| record.claim.clone());
                match claim {
                    Some(claim) => swept.left.push((wisp.root().clone(), claim)),
                    None => swept.gone.push(wisp),
                }
            }
            let delete = |record: &Record| Write::Delete {
                id: record.issue.id().clone(),
                // Whoever squashes a wisp, or does anything else to it, changes its root.
                guard: Guard {
                    version: is_root(&record.issue).then_some(record.version),
                    ..Guard::default()
                },
            };
            let batch: Vec<Write> = swept.deleted().map(delete).collect();
            if is_dry_run || batch.is_empty() {
                return Ok(Some(swept));
            }
            match self.write(&batch) {
                Ok(()) => Ok(Some(swept)),
                Err(
                    StoreError::Held { .. } | StoreError::NotFound(_) | StoreError::Guard { .. },
                ) => Ok(None),
                Err(error) => Err(BeadError::from(error)),
            }
        })
    }
}

/// The flag of a wisp.
const EPHEMERAL: &str = "ephemeral";

impl Burned {
    fn add(&mut self, molecule: &Molecule, is_forced: bool) -> Result<(), MoleculeError> {
        let root = molecule.root();
        if !molecule.is_wisp() && !is_forced {
            return Err(MoleculeError::NotWisp(root.issue.id().clone()));
        }
        let steps = molecule.steps().iter().rev().map(Step::record);
        for record in steps.chain([root]) {
            let id = record.issue.id();
            if self.deleted.iter().any(|own| own.issue.id() == id) {
                continue;
            }
            if is_wisp(&record.issue) || is_forced {
                self.deleted.push(record.clone());
            } else {
                self.kept.push(id.clone());
            }
        }
        self.roots.push(root.issue.id().clone());
        Ok(())
    }
}

impl Swept {
    /// The beads that go: those that depend on others first, so that no edge must be taken away by itself. A part of a wisp
    /// that is none itself stays.
    pub fn deleted(&self) -> impl Iterator<Item = &Record> {
        self.gone.iter().flat_map(|wisp| {
            let steps = wisp.steps().iter().rev().map(Step::record);
            let all = steps.chain([wisp.root()]);
            all.filter(|record| is_wisp(&record.issue))
        })
    }
}
