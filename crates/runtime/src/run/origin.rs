//! What a bead starts from: its source branch, and the verified work of its dependencies (Z-6, L-21).
//!
//! The dependency on a molecule is one on its last steps (Z-27).

use std::collections::BTreeSet;

use beads_ralph_core::bead::{BeadId, IssueType, RalphBead};
use beads_ralph_core::engine::{CommitId, Trouble};
use beads_ralph_core::issue::{Record, is_made_of_parts};
use beads_ralph_core::vocabulary::{Status, metadata as keys};

use super::perform::Performer;
use crate::config::Base;
use crate::ports::{Found, PullState, Wanted};
use crate::store::{Store, StoreError, below as parts_of};

impl Performer<'_> {
    /// What must be in a bead's branch before the work begins (Z-6, L-21).
    pub(super) fn wanted(&self, bead: &RalphBead) -> Result<Vec<Wanted>, Trouble> {
        let mut wanted: Vec<Wanted> = Vec::new();
        if self.site.base == Base::Dependencies {
            let dependencies = below(&**self.store(), &bead.dependencies)?;
            for record in &dependencies {
                wanted.extend(self.dependency(record)?);
            }
        }
        if bead.issue_type == IssueType::Merge {
            for branch in bead.metadata.branches_to_merge.iter().flatten() {
                let Some(commit) = self.repository.branch(branch)? else {
                    return Err(Trouble::for_bead(format!("no branch {branch} to merge")));
                };
                wanted.push(Wanted {
                    name: branch.clone(),
                    commit,
                });
            }
        }
        Ok(wanted)
    }

    /// The commit that a dependency must bring. One that was closed by hand brings its branch, if it has one; one whose pull
    /// request was merged is in the source branch, perhaps under another name.
    fn dependency(&self, record: &Record) -> Result<Option<Wanted>, Trouble> {
        let id = record.issue.id();
        let branch = record.issue.metadata_text(keys::BRANCH);
        let number = record
            .issue
            .metadata()
            .and_then(|it| it.get(keys::PR_NUMBER)?.as_u64());
        if let (Some(forge), Some(branch), Some(number)) = (self.forge, branch, number) {
            let found = forge.find(branch)?;
            // A pull request of long ago may have had a branch of the same name.
            let is_merged = |found: &Found| {
                found.request.number == number && found.request.state == PullState::Merged
            };
            if found.iter().any(is_merged) {
                return Ok(None);
            }
        }
        let recorded = record
            .issue
            .metadata_text(keys::VERIFIED_COMMIT)
            .map(|commit| CommitId(commit.to_owned()));
        let commit = match (recorded, branch) {
            (Some(commit), _) => Some(commit),
            (None, Some(branch)) => match self.repository.kept(id)? {
                Some(commit) => Some(commit),
                None => self.repository.branch(branch)?,
            },
            (None, None) => None,
        };
        Ok(commit.map(|commit| Wanted {
            name: id.to_string(),
            commit,
        }))
    }
}

/// The records of some beads; a molecule, or a step that is only its parts, is replaced by those of its steps that the loop does and that no other of them waits for.
pub(super) fn below(store: &dyn Store, ids: &[BeadId]) -> Result<Vec<Record>, StoreError> {
    let mut found = Vec::new();
    for record in store.get(ids)? {
        if is_made_of_parts(&record.issue) {
            found.extend(ends(parts_of(store, record.issue.id())?));
        } else {
            found.push(record);
        }
    }
    Ok(found)
}

/// The steps of a molecule that are not closed: what the loop does of it, and whether there is anything else.
pub(super) fn open_steps(
    store: &dyn Store,
    root: &BeadId,
) -> Result<(Vec<BeadId>, bool), StoreError> {
    let mut work = Vec::new();
    let mut has_more = false;
    for record in parts_of(store, root)? {
        if record.issue.status() == Status::Closed {
            continue;
        }
        if is_work(&record) {
            work.push(record.issue.id().clone());
        } else if !is_made_of_parts(&record.issue) {
            has_more = true;
        }
    }
    Ok((work, has_more))
}

fn ends(steps: Vec<Record>) -> Vec<Record> {
    // What people and gates wait for is not covered by them: they bring no commit.
    let needed: BTreeSet<BeadId> = (steps.iter())
        .filter(|record| is_work(record))
        .flat_map(|record| record.issue.dependencies())
        .filter(|edge| edge.waits_for_target())
        .map(|edge| edge.target().clone())
        .collect();
    let mut steps = steps;
    steps.retain(|record| is_work(record) && !needed.contains(record.issue.id()));
    steps
}

fn is_work(record: &Record) -> bool {
    IssueType::parse(record.issue.issue_type()).is_ok()
}
