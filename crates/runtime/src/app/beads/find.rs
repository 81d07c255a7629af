//! The verbs that only look: lists, what is ready, and what depends on what.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Issue, Query, Record};
use beads_ralph_core::vocabulary::label;
use serde::Serialize;

use super::{BeadError, Beads};
use crate::store::{NewClaim, StoreError};

/// Beads up to a limit, and whether there are more.
#[derive(Debug)]
pub struct Listed {
    pub records: Vec<Record>,
    pub has_more: bool,
}

/// A bead at the other end of a dependency. One that is not in the store has neither status nor title.
#[derive(Debug, Serialize)]
pub struct DependencyEnd {
    pub id: BeadId,
    #[serde(rename = "type")]
    pub kind: String,
    pub status: Option<String>,
    pub title: Option<String>,
}

/// How many are looked at first to claim one of them.
const FIRST: usize = 50;

/// What can be started now. What waits for a person is not ready (I-31, Z-42), unless it is asked for.
pub fn claimable(mut query: Query, now: jiff::Timestamp) -> Query {
    query.ready_at = Some(now);
    let mut asked = query.labels_all.iter().chain(&query.labels_any);
    if !asked.any(|label| label == label::HUMAN) {
        query.labels_none.push(label::HUMAN.to_owned());
    }
    query
}

impl Beads {
    /// Beads up to a limit; a limit of 0 is none.
    pub fn list(&self, mut query: Query, limit: usize) -> Result<Listed, StoreError> {
        query.limit = (limit > 0).then(|| limit.saturating_add(1));
        let mut records = self.store.find(&query)?;
        let has_more = limit > 0 && records.len() > limit;
        if has_more {
            records.truncate(limit);
        }
        Ok(Listed { records, has_more })
    }

    /// Tries the beads of a query, in order, until one could be had.
    pub fn first<E: From<StoreError>>(
        &mut self,
        query: &Query,
        mut attempt: impl FnMut(&mut Self, &Record) -> Result<Option<Record>, E>,
    ) -> Result<Option<Record>, E> {
        for limit in [Some(FIRST), None] {
            let query = Query {
                limit,
                ..query.clone()
            };
            for candidate in self.store.find(&query)? {
                if let Some(found) = attempt(self, &candidate)? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    /// Claims the first bead of a query that can be had.
    pub fn claim_first(
        &mut self,
        query: &Query,
        new: &NewClaim<'_>,
    ) -> Result<Option<Record>, StoreError> {
        self.first(query, |beads, candidate| {
            let id = candidate.issue.id();
            match beads.store.claim(id, new, beads.by.stamp()) {
                Ok(record) => Ok(Some(record)),
                // Another process was first, or something changed meanwhile: the next one will do.
                Err(
                    StoreError::Held { .. }
                    | StoreError::InProgress(_)
                    | StoreError::NotClaimable { .. }
                    | StoreError::Blocked { .. },
                ) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }

    /// What a bead depends on, with what is known about it.
    pub fn dependencies(&self, record: &Record) -> Result<Vec<DependencyEnd>, BeadError> {
        let edges = record.issue.dependencies().iter();
        let ends = edges.map(|edge| self.end(edge.target().clone(), edge.kind().to_owned()));
        Ok(ends.collect::<Result<_, StoreError>>()?)
    }

    /// What depends on a bead.
    pub fn dependents(&self, id: &BeadId) -> Result<Vec<DependencyEnd>, BeadError> {
        let dependents = self.store.dependents(id)?.into_iter();
        let ends = dependents.map(|(id, kind)| self.end(id, kind));
        Ok(ends.collect::<Result<_, StoreError>>()?)
    }

    fn end(&self, id: BeadId, kind: String) -> Result<DependencyEnd, StoreError> {
        let other = self.store.get(std::slice::from_ref(&id))?.pop();
        let text = |of: fn(&Issue) -> &str| other.as_ref().map(|it| of(&it.issue).to_owned());
        Ok(DependencyEnd {
            status: text(Issue::status),
            title: text(Issue::title),
            id,
            kind,
        })
    }
}
