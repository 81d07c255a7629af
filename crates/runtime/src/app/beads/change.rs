//! The verbs that change beads. Each looks at the bead, decides, and writes only if the bead still is what was looked at.

use std::ops::ControlFlow;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Comment, Dependency, Edit, Fence, Label, Record, new_comment};
use beads_ralph_core::text::is_unprintable;
use beads_ralph_core::vocabulary::{Status, label, metadata};
use beads_ralph_core::watchdog;
use serde_json::Map;

use super::{Authority, BeadError, Beads, TURNS, Writer};
use crate::app::molecules;
use crate::store::{Guard, StoreError, Write};

/// A bead before and after a change.
#[derive(Debug)]
pub struct Changed {
    pub before: Record,
    pub after: Record,
}

impl Changed {
    pub fn is_changed(&self) -> bool {
        self.after.version != self.before.version
    }
}

/// How a bead is closed.
#[derive(Debug, Clone, Default)]
pub struct Close {
    pub reason: String,
    /// What else is noted on it.
    pub edits: Vec<Edit>,
    pub authority: Authority,
    /// Also when something blocks it.
    pub ignores_blockers: bool,
}

/// What became of a close.
#[derive(Debug)]
pub struct Closed {
    pub bead: Changed,
    /// What depends on it and is not held back any more.
    pub unblocked: Vec<Record>,
    /// The molecules whose last step it was (F-14).
    pub completed: Vec<Record>,
}

/// Changes of one bead, all or none.
#[derive(Debug, Clone, Default)]
pub struct Update {
    /// What is changed beside the status.
    pub edits: Vec<Edit>,
    pub status: Option<String>,
    /// The status that the bead must have.
    pub if_status: Option<String>,
    /// The version that the bead must have.
    pub if_version: Option<u64>,
    pub authority: Authority,
    /// Sets any status, whatever claims and blockers say.
    pub is_forced: bool,
}

/// A dependency that was added or removed.
#[derive(Debug)]
pub struct DependencyChange {
    pub bead: Changed,
    pub target: BeadId,
    pub kind: String,
}

/// What was done to a bead that is to be worked on again.
#[derive(Debug)]
pub enum Deed {
    /// It is open already, and nobody is asked.
    Nothing(Record),
    Opened(Record),
}

impl Beads {
    /// Closes a bead that nothing blocks.
    pub fn close(&mut self, seen: Record, close: &Close) -> Result<Closed, BeadError> {
        settled(seen, |before| {
            if !close.ignores_blockers {
                self.refuse_while_blocked(&before)?;
            }
            let waiting = self.held_back_by(before.issue.id())?;
            let open = molecules::open_above(&*self.store, &before)?;
            let mut edits = vec![Edit::Close(close.reason.clone())];
            edits.extend(close.edits.iter().cloned());
            let guard = Guard {
                version: (!close.ignores_blockers).then_some(before.version),
                // What it waits for may be opened again between looking and writing.
                is_free: !close.ignores_blockers,
                ..self.by.guard(&before, close.authority)
            };
            let bead = match self.change_as_seen(before, edits, guard)? {
                ControlFlow::Break(bead) => bead,
                ControlFlow::Continue(now) => return Ok(ControlFlow::Continue(now)),
            };
            let mut unblocked = self.store.get(&waiting)?;
            unblocked.retain(|record| !record.is_blocked);
            Ok(ControlFlow::Break(Closed {
                bead,
                unblocked,
                completed: molecules::closed_of(&*self.store, &open)?,
            }))
        })
    }

    /// Refuses to close what something blocks.
    pub fn refuse_while_blocked(&self, record: &Record) -> Result<(), BeadError> {
        let id = record.issue.id();
        let blockers = self.store.blockers(id)?;
        if blockers.is_empty() {
            return Ok(());
        }
        Err(BeadError::Blocked {
            id: id.clone(),
            blockers,
        })
    }

    /// The beads that depend on one and are held back now.
    fn held_back_by(&self, id: &BeadId) -> Result<Vec<BeadId>, StoreError> {
        let dependents = self.store.dependents(id)?;
        let ids: Vec<BeadId> = dependents.into_iter().map(|(id, _)| id).collect();
        let records = self.store.get(&ids)?.into_iter();
        let held_back = records.filter(|record| record.is_blocked);
        Ok(held_back.map(|record| record.issue.id().clone()).collect())
    }

    /// Opens a bead, counts its attempts and restarts anew and asks no person any more; its history stays.
    pub fn reopen(&mut self, seen: Record, authority: Authority) -> Result<Deed, BeadError> {
        let issue = &seen.issue;
        if issue.status() == Status::Open && !issue.has_label(label::HUMAN) {
            return Ok(Deed::Nothing(seen));
        }
        let edits = reopening(&seen);
        self.edit(seen, edits, authority)
            .map(|changed| Deed::Opened(changed.after))
    }

    /// Changes a bead. The rules of claims and blockers hold for a status that is set by hand, too.
    pub fn update(&mut self, seen: Record, update: &Update) -> Result<Changed, BeadError> {
        let mut edits = update.edits.clone();
        edits.extend(update.status.iter().cloned().map(Edit::Status));
        settled(seen, |before| {
            if !update.is_forced {
                self.check_status(update.status.as_deref(), &before)?;
            }
            let is_checked = update.status.is_some() && !update.is_forced;
            let guard = Guard {
                status: update.if_status.clone(),
                // What was checked about the bead must still be so when it is written.
                version: (update.if_version).or(is_checked.then_some(before.version)),
                is_free: is_checked && update.status.as_deref() == Some(Status::Closed.as_str()),
                ..self.by.guard(&before, update.authority)
            };
            self.change_as_seen(before, edits.clone(), guard)
        })
    }

    fn check_status(&self, status: Option<&str>, record: &Record) -> Result<(), BeadError> {
        let Some(status) = status else {
            return Ok(());
        };
        match Status::known(status) {
            Some(Status::InProgress) if record.issue.status() != Status::InProgress => {
                Err(BeadError::NobodyWouldHold(record.issue.id().clone()))
            }
            Some(Status::Closed) => self.refuse_while_blocked(record),
            Some(_) => Ok(()),
            // An unknown status hides a bead from `ready`; whoever wants one says so.
            None => Err(BeadError::UnknownStatus(status.to_owned())),
        }
    }

    /// Makes a few edits that depend on nothing else.
    pub fn edit(
        &mut self,
        before: Record,
        edits: Vec<Edit>,
        authority: Authority,
    ) -> Result<Changed, BeadError> {
        let id = before.issue.id().clone();
        let guard = self.by.guard(&before, authority);
        self.write(&[Write::Update {
            id: id.clone(),
            edits,
            guard,
        }])?;
        Ok(Changed {
            before,
            after: self.record(&id)?,
        })
    }

    /// Says something about a bead.
    pub fn comment(
        &mut self,
        before: Record,
        text: &str,
        authority: Authority,
    ) -> Result<(Comment, Record), BeadError> {
        let stamp = self.by.stamp();
        let comment = new_comment(before.issue.id(), stamp.actor, text, &stamp.time());
        let edits = vec![Edit::Comment(comment.clone())];
        Ok((comment, self.edit(before, edits, authority)?.after))
    }

    /// Lets a bead depend on another, or on another project: `external:project:name`.
    pub fn add_dependency(
        &mut self,
        before: Record,
        on: &str,
        kind: &str,
        authority: Authority,
    ) -> Result<DependencyChange, BeadError> {
        let target = if on.starts_with(EXTERNAL) {
            external(on)?
        } else {
            self.resolve(on)?.issue.id().clone()
        };
        let stamp = self.by.stamp();
        let edge = Dependency::new(target.clone(), kind)?
            .with("created_at", stamp.time().as_str().into())
            .with("created_by", stamp.actor.into());
        Ok(DependencyChange {
            bead: self.edit(before, vec![Edit::AddDependency(edge)], authority)?,
            target,
            kind: kind.to_owned(),
        })
    }

    /// Takes a dependency away. What is depended on need not exist, so the edge itself is looked for first.
    pub fn remove_dependency(
        &mut self,
        before: Record,
        on: &str,
        authority: Authority,
    ) -> Result<DependencyChange, BeadError> {
        let edges = before.issue.dependencies();
        let target = match edges.iter().find(|edge| edge.target().as_str() == on) {
            Some(edge) => edge.target().clone(),
            None => self.resolve(on)?.issue.id().clone(),
        };
        let Some(edge) = edges.iter().find(|edge| *edge.target() == target) else {
            return Err(BeadError::NoDependency {
                id: before.issue.id().clone(),
                on: target,
            });
        };
        let kind = edge.kind().to_owned();
        let edits = vec![Edit::RemoveDependency(target.clone())];
        Ok(DependencyChange {
            bead: self.edit(before, edits, authority)?,
            target,
            kind,
        })
    }

    /// Gives a claimed bead back, and says which fence the claim had. Without a fence the claim must be the one of the name.
    pub fn release(
        &mut self,
        record: &Record,
        name: Option<&str>,
        authority: Authority,
    ) -> Result<(Record, Fence), BeadError> {
        let id = record.issue.id();
        let claim = || {
            let status = || record.issue.status().to_owned();
            (record.claim.as_ref()).ok_or_else(|| BeadError::NotClaimed {
                id: id.clone(),
                status: status(),
            })
        };
        let fence = match authority {
            Authority::Fence(fence) => fence,
            Authority::Forced | Authority::Shared => claim()?.fence,
            Authority::Own => {
                let claim = claim()?;
                let name = name.unwrap_or(self.by.actor());
                Writer::fence_of(record, name).ok_or_else(|| StoreError::Held {
                    id: id.clone(),
                    holder: Box::new(claim.holder.clone()),
                    fence: claim.fence,
                    lease_until: claim.lease_until,
                })?
            }
        };
        Ok((self.store.release(id, fence, self.by.stamp())?, fence))
    }

    /// Writes a change that was decided on by looking at a bead. When the bead changed since, one must look at what it is now.
    fn change_as_seen(
        &mut self,
        seen: Record,
        edits: Vec<Edit>,
        guard: Guard,
    ) -> Result<ControlFlow<Changed, Record>, BeadError> {
        let id = seen.issue.id().clone();
        let written = self.write(&[Write::Update {
            id: id.clone(),
            edits,
            guard,
        }]);
        let now = self.record(&id)?;
        match written {
            Ok(()) => Ok(ControlFlow::Break(Changed {
                before: seen,
                after: now,
            })),
            Err(StoreError::Guard { .. })
                if now.version != seen.version || now.is_blocked != seen.is_blocked =>
            {
                Ok(ControlFlow::Continue(now))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Decides and writes until nobody else changed the bead between the two.
fn settled<T>(
    seen: Record,
    mut turn: impl FnMut(Record) -> Result<ControlFlow<T, Record>, BeadError>,
) -> Result<T, BeadError> {
    let mut next = seen;
    for _ in 0..TURNS {
        match turn(next)? {
            ControlFlow::Break(done) => return Ok(done),
            ControlFlow::Continue(now) => next = now,
        }
    }
    Err(BeadError::Contended)
}

/// What opens a bead again.
pub fn reopening(record: &Record) -> Vec<Edit> {
    let mut edits = vec![Edit::Reopen];
    if record.issue.has_label(label::HUMAN) {
        edits.push(Edit::RemoveLabel(label::HUMAN.to_owned()));
    }
    let attempts = metadata::ATTEMPT_COUNT;
    let metadata = record.issue.metadata();
    if metadata.is_some_and(|metadata| metadata.contains_key(attempts)) {
        let anew = Map::from_iter([(attempts.to_owned(), 0.into())]);
        edits.push(Edit::MergeMetadata(anew));
    }
    edits.extend(watchdog::forgiven(&record.issue));
    edits
}

/// Only what failed can be retried; what is done or being done is for other verbs.
pub fn refuse_retry(record: &Record) -> Result<(), BeadError> {
    let id = || record.issue.id().clone();
    match Status::known(record.issue.status()) {
        Some(Status::Closed) => Err(BeadError::Closed(id())),
        Some(Status::InProgress) if record.claim.is_none() => Err(BeadError::Unheld(id())),
        // Somebody who holds it is named by the store, which refuses.
        _ => Ok(()),
    }
}

/// Labels as people type them.
pub fn labels(texts: &[String]) -> Result<Vec<Label>, BeadError> {
    let labels = texts.iter().map(|text| Ok(Label::parse(text)?));
    labels.collect()
}

/// What a dependency on another project begins with.
const EXTERNAL: &str = "external:";

/// A dependency on another project cannot be looked up; that it can be shown is all that is asked of it.
fn external(text: &str) -> Result<BeadId, BeadError> {
    let is_shown = !text.chars().any(|c| is_unprintable(c) || c.is_whitespace());
    match BeadId::parse(text) {
        Ok(id) if is_shown && text.len() > EXTERNAL.len() => Ok(id),
        _ => Err(BeadError::NoProject(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use beads_ralph_core::vocabulary::EdgeType;

    use super::*;

    #[test]
    fn a_dependency_that_comes_between_looking_and_closing_is_noticed() {
        let mut beads = Beads::in_memory(&["a", "b"]);
        let seen = beads.resolve("a").unwrap();
        beads.refuse_while_blocked(&seen).unwrap();
        let on = EdgeType::Blocks.as_str();
        (beads.add_dependency(seen.clone(), "b", on, Authority::Own)).unwrap();
        let closed = beads.close(seen, &Close::default());
        assert!(
            matches!(closed, Err(BeadError::Blocked { .. })),
            "it looks again, and sees"
        );
    }
}
