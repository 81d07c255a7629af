//! Edges by what they lead to: who waits for an issue, for its children, or is a part of it; and the molecules that a batch closes.
//!
//! Most closes leave other steps of a molecule open. That is seen from the columns, without reading the steps; only when nothing
//! says that a step is open are the documents asked, because a damaged column must not close anything (F-14).

use std::collections::{HashMap, HashSet};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{
    ALL_STEPS_COMPLETE, Edit, Effect, Family, Issue, Member, Neighbours as _, Parts, Standing,
    close_completed,
};
use rusqlite::Connection;

use super::batch::Batch;
use super::failure::{Failed, Result};
use super::rows;
use crate::store::Guard;

/// What an edge means to the issue that it leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// Somebody waits for it, or for its children.
    Waiting,
    /// Somebody waits for its children.
    Spawned,
    /// Somebody is a part of it.
    Child,
}

impl Link {
    /// The statement that finds the stored issues with such an edge.
    pub(super) fn stored(self) -> &'static str {
        match self {
            Self::Waiting => {
                "SELECT issue_id FROM edges WHERE target = ?1 AND kind IN ('blocks', 'conditional-blocks', 'waits-for') ORDER BY issue_id"
            }
            Self::Spawned => {
                "SELECT issue_id FROM edges WHERE target = ?1 AND kind = 'waits-for' ORDER BY issue_id"
            }
            Self::Child => {
                "SELECT issue_id FROM edges WHERE target = ?1 AND kind = 'parent-child' ORDER BY issue_id"
            }
        }
    }

    /// What an edge of an effect is.
    fn of(effect: Effect) -> &'static [Self] {
        match effect {
            Effect::Blocks => &[Self::Waiting],
            Effect::WaitsForChildren | Effect::WaitsForAnyChild => &[Self::Waiting, Self::Spawned],
            Effect::Parent => &[Self::Child],
            Effect::None => &[],
        }
    }
}

/// The edges of the staged issues, by what they lead to. An epic can have thousands of children, so each kind is
/// kept apart.
#[derive(Default)]
pub(super) struct StagedEdges([HashMap<BeadId, HashSet<BeadId>>; 3]);

impl StagedEdges {
    pub(super) fn get(&self, link: Link, target: &BeadId) -> impl Iterator<Item = &BeadId> {
        self.0[link as usize].get(target).into_iter().flatten()
    }

    /// Forgets the edges of an issue.
    pub(super) fn remove(&mut self, issue: &Issue) {
        for edge in issue.dependencies() {
            for link in Link::of(edge.effect()) {
                if let Some(dependents) = self.0[*link as usize].get_mut(edge.target()) {
                    dependents.remove(issue.id());
                }
            }
        }
    }

    pub(super) fn replace(&mut self, before: Option<&Issue>, after: &Issue) {
        if let Some(before) = before {
            self.remove(before);
        }
        for edge in after.dependencies() {
            for link in Link::of(edge.effect()) {
                let dependents = self.0[*link as usize].entry(edge.target().clone());
                dependents.or_default().insert(after.id().clone());
            }
        }
    }
}

/// The stored issues with an edge to an id, and its type.
pub(super) fn stored_dependents(
    connection: &Connection,
    id: &BeadId,
) -> Result<Vec<(BeadId, String)>> {
    let sql = "SELECT issue_id, kind FROM edges WHERE target = ?1 ORDER BY issue_id";
    let found = rows::collect(connection, sql, [id.as_str()], |row| {
        let dependent = BeadId::parse(&row.get::<_, String>(0)?);
        Ok(dependent.ok().zip(row.get(1)?))
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// How many stored issues block on an id.
pub(super) fn count_blocked_by(connection: &Connection, id: &BeadId) -> Result<usize> {
    let mut statement = connection
        .prepare_cached("SELECT count(*) FROM edges WHERE target = ?1 AND kind = 'blocks'")?;
    let count: i64 = statement.query_row([id.as_str()], |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or_default())
}

impl Batch<'_> {
    /// Closes the molecules that the batch completes, and gives their versions.
    pub(super) fn close_completed(&mut self) -> Result<Vec<(BeadId, u64)>> {
        let closed = self.take_closed();
        let roots = close_completed(self, &closed)?;
        let version = |id: BeadId| self.existing(&id).map(|record| (id, record.version));
        roots.into_iter().map(version).collect()
    }

    /// Whether the columns say that a stored part of an issue is not closed.
    fn has_unfinished_part(&self, id: &BeadId) -> Result<bool> {
        let sql = "SELECT e.issue_id FROM edges e JOIN facts i ON i.id = e.issue_id \
                   WHERE e.target = ?1 AND e.kind = 'parent-child' AND i.status <> 'closed'";
        let parts = rows::ids(self.connection(), sql, [id.as_str()])?;
        Ok(parts.iter().any(|part| !self.has_taken(part)))
    }
}

impl Family for Batch<'_> {
    type Error = Failed;

    fn member(&self, id: &BeadId) -> Result<Option<Member>> {
        let record = self.load(id)?;
        Ok(record.map(|record| Member::of(&record.issue, record.claim.is_some())))
    }

    fn parts(&self, id: &BeadId) -> Result<Parts> {
        if self.has_unfinished_part(id)? {
            return Ok(Parts::Unfinished);
        }
        let parts = self.dependents(id, Link::Child)?;
        for part in &parts {
            if self.standing(part)? != Some(Standing::Closed) {
                return Ok(Parts::Unfinished);
            }
        }
        Ok(Parts::Closed(parts))
    }

    fn complete(&mut self, root: &BeadId) -> Result<()> {
        let edits = [Edit::Close(ALL_STEPS_COMPLETE.to_owned())];
        self.update(root, &edits, &Guard::default())?;
        Ok(())
    }
}
