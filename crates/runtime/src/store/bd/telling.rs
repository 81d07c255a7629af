//! Making a change: tried on what is known, told to `bd`, and read back.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Comment, Effect, is_same_content};
use serde_json::{Map, Value};

use super::answer::Answer;
use super::changes::{self, Calls};
use super::program::Call;
use super::rows::{self, Row};
use super::{BdStore, PER_BEAD, State, fingerprint, stamp};
use crate::store::{MemoryStore, Stamp, Store as _, StoreError};

/// How often a change is tried because somebody else changed the bead first.
const TURNS: usize = 3;

impl BdStore {
    /// Tries a change on what is known, then tells `bd`. When `bd` says that the bead is not as it was known, everything is
    /// read anew and tried again.
    pub(super) fn change<T>(
        &self,
        by: Stamp<'_>,
        change: impl Fn(&mut MemoryStore) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if let Some(obstacle) = self.obstacle() {
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
            let told = self.tell(&mut state, &trial, &touched, by);
            match told {
                Ok(()) => return Ok(done),
                Err(error) => {
                    // What was done of it is not known.
                    state.read = None;
                    match error {
                        StoreError::Guard { .. } => mismatch = Some(error),
                        error => return Err(error),
                    }
                }
            }
        }
        Err(mismatch.expect("only a guard is tried again"))
    }

    /// Tells `bd` about issues that are to become what they are in a trial.
    fn tell(
        &self,
        state: &mut State,
        trial: &MemoryStore,
        touched: &[BeadId],
        by: Stamp<'_>,
    ) -> Result<(), StoreError> {
        let after: Vec<Row> = touched.iter().filter_map(|id| trial.row_of(id)).collect();
        let is_gone =
            |id: &&BeadId| trial.row_of(id).is_none() && state.mirror.row_of(id).is_some();
        let gone: Vec<&BeadId> = touched.iter().filter(is_gone).collect();
        let mut new = Vec::new();
        let mut changed: Vec<(Row, Row, Calls)> = Vec::new();
        for row in after {
            match state.mirror.row_of(row.entry.issue.id()) {
                None => new.push(row),
                Some(before) => {
                    let calls = changes::calls(&before, &row, by.actor)?;
                    changed.push((before, row, calls));
                }
            }
        }
        let known = |id: &BeadId| trial.row_of(id).is_some();
        let edges_to = new.iter().chain(changed.iter().map(|(_, row, _)| row));
        check_targets(edges_to, &known)?;
        let issues = new.iter().map(|row| &row.entry.issue);
        let issues = issues.chain(changed.iter().map(|(_, row, _)| &row.entry.issue));
        state.words.ensure(&self.program, issues)?;
        if !new.is_empty() {
            self.insert(state, &new, by)?;
        }
        for call in changed.iter().flat_map(|(_, _, calls)| &calls.removals) {
            self.program.call(call)?.succeeded()?;
        }
        if !gone.is_empty() {
            self.delete(&gone, by)?.succeeded()?;
            self.read_all(state)?;
        }
        for (before, after, calls) in changed {
            self.update(state, &before, &after, &calls)?;
        }
        Ok(())
    }

    /// Inserts issues by one import, and reads them back; what came of an import that failed is taken away again (Z-25).
    fn insert(&self, state: &mut State, new: &[Row], by: Stamp<'_>) -> Result<(), StoreError> {
        let mut input = Vec::new();
        for row in new {
            let line = rows::to_bd(&row.entry, row.claim.as_ref())?;
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
        let imported = self
            .program
            .call(&call)
            .and_then(|answer| answer.succeeded());
        let read = self.read_all(state);
        let is_there = |row: &Row| {
            let found = state.mirror.row_of(row.entry.issue.id());
            found.is_some_and(|found| is_same_row(&found, row))
        };
        let error = match (imported, read) {
            (Ok(_), Ok(())) => match new.iter().find(|row| !is_there(row)) {
                None => return Ok(()),
                Some(row) => not_as_written(row.entry.issue.id()),
            },
            (Err(error), _) | (Ok(_), Err(error)) => error,
        };
        let ids = new.iter().map(|row| row.entry.issue.id());
        let came: Vec<&BeadId> = ids.filter(|id| state.mirror.row_of(id).is_some()).collect();
        if !came.is_empty() {
            // That it cannot be taken away is no second error: the first one says what to look at.
            drop(self.delete(&came, by));
        }
        Err(error)
    }

    fn delete(&self, ids: &[&BeadId], by: Stamp<'_>) -> Result<Answer, StoreError> {
        let actor = format!("--actor={}", by.actor);
        let words = ["delete", "--force", "--json", actor.as_str()];
        let ids = ids.iter().map(|id| id.as_str());
        self.program.call(&Call::new(words.into_iter().chain(ids)))
    }

    /// Changes an issue, and takes over what `bd` made of it.
    fn update(
        &self,
        state: &mut State,
        before: &Row,
        after: &Row,
        calls: &Calls,
    ) -> Result<(), StoreError> {
        for call in &calls.first {
            self.program.call(call)?.succeeded()?;
        }
        let id = after.entry.issue.id();
        let answered = match &calls.update {
            None => None,
            Some(call) => {
                let answer = self.program.call(call)?;
                if answer.is_guard_mismatch() {
                    return Err(StoreError::Guard {
                        what: format!("the status of {id}"),
                        expected: before.entry.issue.status().to_owned(),
                        found: "something else by now".to_owned(),
                    });
                }
                answer.succeeded()?.objects()?.pop()
            }
        };
        if let Some(call) = &calls.close {
            self.program.call(call)?.succeeded()?;
        }
        match answered.filter(|_| calls.is_one_update()) {
            Some(document) => {
                let row = completed(document, before)?;
                if is_same_row(&row, after) {
                    state.mirror.mirror_one(row, stamp());
                    self.have_written(state);
                    return Ok(());
                }
            }
            None if calls.is_one_update() => return Ok(()),
            None => {}
        }
        self.read_all(state)?;
        let found = state.mirror.row_of(id);
        if found.is_some_and(|found| is_same_row(&found, after)) {
            Ok(())
        } else {
            Err(not_as_written(id))
        }
    }

    /// Says that the database changed because of us, and that it may have changed because of others too.
    fn have_written(&self, state: &mut State) {
        let now = self.files.as_deref().and_then(fingerprint::of);
        if let Some((_, seen)) = &mut state.read {
            *seen = now;
        }
        state.is_provisional = true;
    }
}

/// What `update` prints of an issue, with what it leaves out and did not change.
fn completed(mut document: Map<String, Value>, before: &Row) -> Result<Row, StoreError> {
    let old = before.entry.issue.document();
    if let Some(edges) = old.get("dependencies") {
        document.insert("dependencies".to_owned(), edges.clone());
    }
    let row = rows::from_bd(Value::Object(document))?;
    let mut row = row.ok_or_else(|| not_as_written(before.entry.issue.id()))?;
    row.entry.comments.clone_from(&before.entry.comments);
    Ok(row)
}

/// Whether `bd` has an issue as it was to be.
fn is_same_row(found: &Row, wanted: &Row) -> bool {
    let has = |comment: &Comment| {
        let mut own = found.entry.comments.iter();
        own.any(|own| own.text() == comment.text() && own.author() == comment.author())
    };
    is_same_content(&found.entry.issue, &wanted.entry.issue)
        && found.entry.fence == wanted.entry.fence
        && found.claim == wanted.claim
        && wanted.entry.comments.iter().all(has)
}

fn not_as_written(id: &BeadId) -> StoreError {
    StoreError::BdFailed {
        command: format!("bd show {id}"),
        code: Some(0),
        said: "the bead is not what was written".to_owned(),
    }
}

/// An edge to a bead that is not there is refused: `bd` would lose it, or wait for nothing (Z-25).
fn check_targets<'a>(
    rows: impl Iterator<Item = &'a Row>,
    is_known: &dyn Fn(&BeadId) -> bool,
) -> Result<(), StoreError> {
    for row in rows {
        for edge in row.entry.issue.dependencies() {
            let is_elsewhere = edge.target().as_str().starts_with("external:");
            let is_link = edge.effect() == Effect::None;
            if !is_link && !is_elsewhere && !is_known(edge.target()) {
                return Err(StoreError::Unresolved {
                    id: row.entry.issue.id().clone(),
                    target: edge.target().clone(),
                });
            }
        }
    }
    Ok(())
}
