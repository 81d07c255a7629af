//! Making a change: tried on what is known, told to `bd`, and read back.

use std::collections::HashSet;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{
    ALL_STEPS_COMPLETE, Comment, Dependency, Effect, Issue, has_become, is_same_content,
};
use beads_ralph_core::vocabulary::{IssueType, Status, field};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::commands::{self, Calls};
use super::failure::BdError;
use super::probe::Fingerprint;
use super::program::Answer;
use super::program::Call;
use super::wire::{self, Row};
use super::{BdStore, PER_BEAD, State, stamp};
use crate::store::{MemoryStore, Result, Stamp, StoreError};

/// How often a change is tried because somebody else changed the bead first.
const TURNS: usize = 3;

/// An issue that becomes another, and what to tell `bd` for it.
struct Changed {
    before: Row,
    after: Row,
    calls: Calls,
}

/// In which order changed issues are sent to `bd`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    First,
    Second,
    Last,
}

impl Changed {
    /// When it is sent: a root that is closed for another reason comes before its steps, or `bd` would close it for its own;
    /// one that is closed because its steps are comes after them, or a cut in between would leave open steps below it.
    fn turn(&self) -> Turn {
        let issue = &self.after.entry.issue;
        if issue.issue_type() != IssueType::Molecule || issue.status() != Status::Closed {
            return Turn::Second;
        }
        match issue.text(field::CLOSE_REASON) {
            Some(ALL_STEPS_COMPLETE) => Turn::Last,
            _ => Turn::First,
        }
    }

    /// What is left to tell when `bd` closed the issue itself meanwhile, as it does with a molecule whose last step it was told to
    /// close (F-14).
    fn closed_by_bd(self, state: &State, by: Stamp<'_>) -> Result<Self> {
        let status = |row: &Row| row.entry.issue.status() == Status::Closed;
        let now = state.mirror.row_of(self.after.entry.issue.id());
        match now.filter(|now| status(now) && status(&self.after) && !status(&self.before)) {
            Some(before) => Ok(Self {
                calls: commands::calls(&before, &self.after, by.actor)?,
                before,
                after: self.after,
            }),
            None => Ok(self),
        }
    }
}

impl BdStore {
    /// Tries a change on what is known, then tells `bd`. When `bd` says that the bead is not as it was known, everything is
    /// read anew and tried again.
    pub(super) fn change<T>(
        &self,
        by: Stamp<'_>,
        change: impl Fn(&mut MemoryStore) -> Result<T>,
    ) -> Result<T> {
        if let Some(obstacle) = self.probed.obstacle() {
            return Err(obstacle);
        }
        let _turn = self.turn()?;
        let mut mismatch = None;
        for _ in 0..TURNS {
            let mut state = self.current()?;
            let mut trial = state.mirror.clone();
            let n_events = trial.n_events();
            let done = change(&mut trial)?;
            let touched = trial.touched_since(n_events);
            let mut is_begun = false;
            let told = self.tell(&mut state, &trial, &touched, by, &mut is_begun);
            let Err(error) = told else {
                return Ok(done);
            };
            // What was done of it is not known.
            state.read = None;
            match error {
                StoreError::Guard { .. } if !is_begun => mismatch = Some(error),
                StoreError::Guard { what, .. } => return Err(BdError::HalfDone(what).into()),
                error => return Err(error),
            }
        }
        Err(mismatch.expect("only a guard is tried again"))
    }

    /// Tells `bd` about issues that are to become what they are in a trial. `is_begun` says whether it was told anything.
    fn tell(
        &self,
        state: &mut State,
        trial: &MemoryStore,
        touched: &[BeadId],
        by: Stamp<'_>,
        is_begun: &mut bool,
    ) -> Result<()> {
        let after: Vec<Row> = touched.iter().filter_map(|id| trial.row_of(id)).collect();
        let is_gone =
            |id: &&BeadId| trial.row_of(id).is_none() && state.mirror.row_of(id).is_some();
        let gone: Vec<&BeadId> = touched.iter().filter(is_gone).collect();
        let mut new = Vec::new();
        let mut changed: Vec<Changed> = Vec::new();
        for after in after {
            match state.mirror.row_of(after.entry.issue.id()) {
                None => new.push(after),
                Some(before) => {
                    let calls = commands::calls(&before, &after, by.actor)?;
                    changed.push(Changed {
                        before,
                        after,
                        calls,
                    });
                }
            }
        }
        check_targets(&new, &changed, trial)?;
        let issues = new.iter().chain(changed.iter().map(|it| &it.after));
        let issues = issues.map(|row| &row.entry.issue);
        let (types, statuses) = (
            issues.clone().map(Issue::issue_type),
            issues.map(Issue::status),
        );
        (state.words).ensure(&self.program, types, statuses)?;
        if !new.is_empty() {
            self.insert(state, &new, by)?;
            *is_begun = true;
        }
        for call in changed.iter().flat_map(|it| &it.calls.removals) {
            self.program.call(call)?.succeeded()?;
            *is_begun = true;
        }
        if !gone.is_empty() {
            self.delete(&gone, by)?.succeeded()?;
            *is_begun = true;
            self.read_all(state)?;
        }
        changed.sort_by_key(Changed::turn);
        for it in changed {
            let it = it.closed_by_bd(state, by)?;
            self.update(state, &it, is_begun)?;
            *is_begun = true;
            if it.calls.close.is_some() {
                self.restore_held(state, trial, it.after.entry.issue.id(), by)?;
            }
        }
        Ok(())
    }

    /// Gives back to their holders the molecules that `bd` closed with their last step: it does not know that they are held.
    fn restore_held(
        &self,
        state: &mut State,
        trial: &MemoryStore,
        step: &BeadId,
        by: Stamp<'_>,
    ) -> Result<()> {
        let mut seen = HashSet::new();
        let mut above = vec![step.clone()];
        while let Some(id) = above.pop() {
            let Some(after) = trial.row_of(&id).filter(|_| seen.insert(id.clone())) else {
                continue;
            };
            above.extend(after.entry.issue.parents().cloned());
            let now = state.mirror.row_of(&id);
            let is_closed = |row: &Row| row.entry.issue.status() == Status::Closed;
            if let Some(before) = now.filter(|now| after.claim.is_some() && is_closed(now)) {
                let calls = commands::calls(&before, &after, by.actor)?;
                let held = Changed {
                    before,
                    after,
                    calls,
                };
                self.update(state, &held, &mut true)?;
            }
        }
        Ok(())
    }

    /// Inserts issues by one import, and reads them back; what came of an import that failed is taken away again (Z-25).
    fn insert(&self, state: &mut State, new: &[Row], by: Stamp<'_>) -> Result<()> {
        if state.is_provisional {
            // An import would take the place of a bead that somebody else made in this moment.
            self.read_all(state)?;
            let ids = new.iter().map(|row| row.entry.issue.id());
            if let Some(id) = ids.into_iter().find(|id| state.mirror.row_of(id).is_some()) {
                return Err(StoreError::Exists(id.clone()));
            }
        }
        let mut input = Vec::new();
        for row in new {
            let line = wire::to_bd(&row.entry, row.claim.as_ref())?;
            input.extend_from_slice(line.to_string().as_bytes());
            input.push(b'\n');
        }
        let actor = format!("--actor={}", by.actor);
        let count = u32::try_from(new.len()).unwrap_or(u32::MAX);
        let call = Call {
            input: Some(input),
            extra: PER_BEAD * count,
            ..Call::new(["import", "-", "--json", actor.as_str()])
        };
        let imported = self.program.call(&call).and_then(Answer::succeeded);
        let read = self.read_all(state);
        let is_there = |row: &Row| {
            let found = state.mirror.row_of(row.entry.issue.id());
            found.is_some_and(|found| found.is_same(row))
        };
        let error = match (imported, read) {
            (Ok(_), Ok(())) => match new.iter().find(|row| !is_there(row)) {
                None => return Ok(()),
                Some(row) => BdError::NotAsWritten(row.entry.issue.id().clone()).into(),
            },
            (Err(error), _) | (Ok(_), Err(error)) => error,
        };
        let is_own = |row: &&Row| {
            let found = state.mirror.row_of(row.entry.issue.id());
            found.is_some_and(|found| found.entry.issue.title() == row.entry.issue.title())
        };
        let came = new.iter().filter(is_own);
        let came: Vec<&BeadId> = came.map(|row| row.entry.issue.id()).collect();
        if !came.is_empty() {
            // A failed deletion is not reported: the first error says what to look at.
            drop(self.delete(&came, by));
        }
        Err(error)
    }

    fn delete(&self, ids: &[&BeadId], by: Stamp<'_>) -> Result<Answer> {
        let actor = format!("--actor={}", by.actor);
        let words = ["delete", "--force", "--json", actor.as_str()];
        let ids = ids.iter().map(|id| id.as_str());
        self.program.call(&Call::new(words.into_iter().chain(ids)))
    }

    /// Changes an issue, and takes over what `bd` made of it.
    fn update(&self, state: &mut State, changed: &Changed, is_begun: &mut bool) -> Result<()> {
        let Changed {
            before,
            after,
            calls,
        } = changed;
        let id = after.entry.issue.id();
        for call in &calls.first {
            let answer = self.guarded(call, before)?;
            // An import of comments leaves out what is older than what it finds.
            if answer.parsed::<Imported>()?.stale_skipped_ids.is_some() {
                return Err(mismatch(before));
            }
            *is_begun = true;
        }
        let mut answered = None;
        if let Some(call) = &calls.update {
            answered = self.guarded(call, before)?.objects()?.pop();
            *is_begun = true;
        }
        if let Some(call) = &calls.close {
            self.program.call(call)?.succeeded()?;
        }
        if let Some(document) = answered.filter(|_| calls.is_one_update()) {
            let row = completed(document, before)?;
            if row.has_become(before, after) {
                state.mirror.mirror_one(row, stamp());
                self.have_written(state);
                return Ok(());
            }
        }
        self.read_all(state)?;
        let found = state.mirror.row_of(id);
        if found.is_some_and(|found| found.has_become(before, after)) {
            Ok(())
        } else {
            Err(BdError::NotAsWritten(id.clone()).into())
        }
    }

    /// A call that changes a bead, if the bead is still as it was known.
    fn guarded(&self, call: &Call, before: &Row) -> Result<Answer> {
        let answer = self.program.call(call)?;
        if answer.is_guard_mismatch() {
            return Err(mismatch(before));
        }
        answer.succeeded()
    }

    /// Says that the database changed because of us, and that it may have changed because of others too.
    fn have_written(&self, state: &mut State) {
        let now = self.files.as_deref().and_then(Fingerprint::of);
        if let Some((_, seen)) = &mut state.read {
            *seen = now;
        }
        state.is_provisional = true;
    }
}

/// What `update` prints of an issue, with what it leaves out and did not change.
fn completed(mut document: Map<String, Value>, before: &Row) -> Result<Row> {
    let old = before.entry.issue.document();
    if let Some(edges) = old.get(field::DEPENDENCIES) {
        document.insert(field::DEPENDENCIES.to_owned(), edges.clone());
    }
    let row = wire::from_bd(Value::Object(document))?;
    let id = before.entry.issue.id();
    // `bd` takes the beginning of an id for the id where it can.
    let row = row.filter(|row| row.entry.issue.id() == id);
    let mut row = row.ok_or_else(|| BdError::NotAsWritten(id.clone()))?;
    row.entry.comments.clone_from(&before.entry.comments);
    Ok(row)
}

impl Row {
    /// Whether an issue that came is the one that was sent.
    fn is_same(&self, wanted: &Self) -> bool {
        is_same_content(&self.entry.issue, &wanted.entry.issue) && self.has_rest_of(wanted)
    }

    /// Whether an issue has become what a change was to make of it.
    fn has_become(&self, before: &Self, after: &Self) -> bool {
        let [own, before, wanted] = [self, before, after].map(|row| &row.entry.issue);
        has_become(own, before, wanted) && self.has_rest_of(after)
    }

    /// Whether fence, claim and comments are there.
    fn has_rest_of(&self, wanted: &Self) -> bool {
        let has = |comment: &Comment| {
            let mut own = self.entry.comments.iter();
            own.any(|own| own.text() == comment.text() && own.author() == comment.author())
        };
        self.entry.fence == wanted.entry.fence
            && self.claim == wanted.claim
            && wanted.entry.comments.iter().all(has)
    }
}

/// What `bd import` answers.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Imported {
    stale_skipped_ids: Option<IgnoredAny>,
}

/// That a bead is not as it was known.
fn mismatch(before: &Row) -> StoreError {
    StoreError::Guard {
        what: format!("the status of {}", before.entry.issue.id()),
        expected: before.entry.issue.status().to_owned(),
        found: "something else by now".to_owned(),
    }
}

/// A new edge to a missing bead is refused: `bd` would lose it, or wait for nothing (Z-25).
fn check_targets(new: &[Row], changed: &[Changed], trial: &MemoryStore) -> Result<()> {
    let new = new
        .iter()
        .flat_map(|row| edges_of(row).map(move |edge| (row, edge)));
    let changed = changed.iter().flat_map(|it| {
        let known = it.before.entry.issue.dependencies();
        let added = edges_of(&it.after).filter(|edge| !known.contains(edge));
        added.map(|edge| (&it.after, edge))
    });
    for (row, edge) in new.chain(changed) {
        let is_elsewhere = edge.target().as_str().starts_with("external:");
        let is_link = edge.effect() == Effect::None;
        if !is_link && !is_elsewhere && trial.row_of(edge.target()).is_none() {
            return Err(StoreError::Unresolved {
                id: row.entry.issue.id().clone(),
                target: edge.target().clone(),
            });
        }
    }
    Ok(())
}

fn edges_of(row: &Row) -> impl Iterator<Item = &Dependency> {
    row.entry.issue.dependencies().iter()
}
