//! Which beads a run is about, read from the store: once as a whole, later only what changed.

mod gates;

use std::collections::{BTreeMap, BTreeSet};

use beads_ralph_core::bead::{
    AgentSpec, BeadId, DEFAULT_MAX_RETRY_ATTEMPTS, IssueType, RalphBead, Rules, SourceMap, Status,
};
use beads_ralph_core::engine::{CommitId, Event, Selection, Spent, Task, TaskState};
use beads_ralph_core::gate::{Gates, is_gate};
use beads_ralph_core::issue::{
    Abandoned, Claim, Effect, Holder, Query, Record, Standing as StoreStanding, StatusFilter,
    is_made_of_parts,
};
use beads_ralph_core::plan::weight;
use beads_ralph_core::vocabulary::{self, EdgeType, label, metadata as keys};
use jiff::Timestamp;
use serde::Deserialize as _;

use self::gates::is_open_feature;
use super::origin::open_steps;
use super::store_writes::PARKED;
use crate::removed_sprints;
use crate::store::{Control, Store, StoreError};

pub struct TaskReader<'a> {
    pub rules: Rules,
    /// How many attempts there may be, where the user said so and the bead did not.
    pub max_attempts: Option<u32>,
    /// Whether there are checks that hold for every bead (Z-31).
    pub has_default_checks: bool,
    pub selection: Selection,
    /// Whether the holder of a claim is gone; what it held can be claimed again (Z-4).
    pub gone: &'a (dyn Fn(&Claim, Timestamp) -> Option<Abandoned> + Sync),
    /// The gates as they stand; asked for where a feature is seen (G-3).
    pub gates: &'a GatesOf<'a>,
    pub account: &'a (dyn Fn(&AgentSpec) -> String + Sync),
}

/// How the gates of a project are found, with its store.
pub type GatesOf<'a> = dyn Fn(&dyn Store) -> Result<Gates, StoreError> + Sync + 'a;

impl std::fmt::Debug for TaskReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TaskReader")
            .field("selection", &self.selection)
            .finish_non_exhaustive()
    }
}

impl TaskReader<'_> {
    /// A task, from a record and the beads that hold it back by an edge.
    pub fn task(&self, record: &Record, waits_for: Vec<BeadId>, now: Timestamp) -> Task {
        match record.issue.to_ralph_bead(&[], &self.rules) {
            Ok(bead) => self.sound(record, &bead, waits_for, now),
            Err(errors) => {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                Task {
                    fault: Some(fault(record, &errors)),
                    ..self.plain(record, waits_for, now)
                }
            }
        }
    }

    /// The sprints that the plan of this run no longer has (Z-44).
    fn removed(&self, store: &dyn Store) -> Result<BTreeSet<String>, StoreError> {
        match &self.selection.plan {
            Some(plan) => removed_sprints::read(store, plan),
            None => Ok(BTreeSet::new()),
        }
    }

    /// Whether a bead is for this run, and its sprint is not among those that the plan no longer has.
    fn wants(&self, record: &Record, removed: &BTreeSet<String>) -> bool {
        self.selection.selects(record) && !removed.contains(sprint_of(record))
    }

    /// Whether the sprint of a bead was removed from the plan of this run.
    pub(super) fn is_removed(
        &self,
        store: &dyn Store,
        record: &Record,
    ) -> Result<bool, StoreError> {
        Ok(self.removed(store)?.contains(sprint_of(record)))
    }

    /// The default number is not a choice of the bead's.
    fn max_attempts(&self, own: u32) -> u32 {
        match self.max_attempts {
            Some(configured) if own == DEFAULT_MAX_RETRY_ATTEMPTS => configured,
            _ => own,
        }
    }

    fn plain(&self, record: &Record, waits_for: Vec<BeadId>, now: Timestamp) -> Task {
        let is_left = |claim: &Claim| (self.gone)(claim, now).is_some();
        let standing = match standing(record) {
            TaskState::Held { .. } if record.claim.as_ref().is_some_and(is_left) => TaskState::Open,
            standing => standing,
        };
        plain(record, standing, waits_for, now)
    }

    fn sound(
        &self,
        record: &Record,
        bead: &RalphBead,
        waits_for: Vec<BeadId>,
        now: Timestamp,
    ) -> Task {
        if is_gate(&record.issue) {
            return self.gate(record, bead, waits_for, now);
        }
        let metadata = &bead.metadata;
        let team = match metadata.team_name.trim() {
            "" => "default-team",
            team => team,
        };
        Task {
            sprint: metadata.sprint.to_string(),
            team: team.to_owned(),
            branch: metadata.branch.to_string(),
            worktree: metadata.worktree_path.clone(),
            is_merge: bead.issue_type == IssueType::Merge,
            developers: metadata.dev_agents.iter().map(self.account).collect(),
            judges: metadata
                .qa_agents
                .iter()
                .map(|qa| (self.account)(&qa.spec))
                .collect(),
            leader: Some((self.account)(&metadata.scrum_master_agent)),
            has_checks: self.has_default_checks
                || metadata
                    .dod
                    .as_ref()
                    .is_some_and(|dod| !dod.verifiers.is_empty()),
            attempts: metadata.attempt_count,
            max_attempts: self.max_attempts(metadata.max_retry_attempts),
            ..self.plain(record, waits_for, now)
        }
    }
}

/// What is wrong with a bead, and the line of the plan that it was made from (Z-45).
fn fault(record: &Record, errors: &[String]) -> String {
    let errors = errors.join("; ");
    match record.issue.metadata().and_then(SourceMap::of) {
        Some(place) => format!("the bead is not valid: {errors}; it was made from {place}"),
        None => format!("the bead is not valid: {errors}"),
    }
}

/// What can be told of any record.
fn plain(record: &Record, standing: TaskState, waits_for: Vec<BeadId>, now: Timestamp) -> Task {
    let issue = &record.issue;
    let is_deferred = issue.time("defer_until").is_some_and(|until| until > now);
    Task {
        id: issue.id().clone(),
        title: issue.title().to_owned(),
        sprint: String::new(),
        team: "default-team".to_owned(),
        priority: issue.priority(),
        weight: weight(issue.estimated_minutes()),
        source: issue.metadata().and_then(SourceMap::of),
        branch: String::new(),
        worktree: issue.id().to_string(),
        is_merge: false,
        is_gate: false,
        standing,
        held_back: None,
        is_put_off: is_deferred || (record.is_blocked && waits_for.is_empty()),
        waits_for,
        fault: None,
        developers: Vec::new(),
        judges: Vec::new(),
        leader: None,
        attempts: 0,
        max_attempts: 1,
        has_checks: false,
        spent: spent_on(record).unwrap_or_default(),
        sealed: (record.issue.metadata_text(keys::SEALED_COMMIT)).map(|it| CommitId(it.to_owned())),
        base: base_of(record),
        feedback: (record.issue.metadata_text(keys::LAST_FEEDBACK)).map(str::to_owned),
    }
}

fn sprint_of(record: &Record) -> &str {
    let sprint = record.issue.metadata_text(keys::SPRINT);
    sprint.unwrap_or_default()
}

/// The commit that the work on a bead began from, as the bead says (Z-6).
pub(super) fn base_of(record: &Record) -> Option<CommitId> {
    let base = record.issue.metadata_text(keys::BASE_COMMIT)?;
    Some(CommitId(base.to_owned()))
}

fn standing(record: &Record) -> TaskState {
    let issue = &record.issue;
    match Status::parse(issue.status()) {
        Ok(Status::Open) if issue.has_label(label::HUMAN) => TaskState::Blocked,
        Ok(Status::Open) => TaskState::Open,
        Ok(Status::Closed) => TaskState::Closed,
        Ok(Status::InProgress) => match &record.claim {
            Some(claim) => TaskState::Held {
                by: claim.holder.run.clone(),
                is_run: is_run(&claim.holder),
            },
            None => TaskState::Held {
                by: "somebody".to_owned(),
                is_run: false,
            },
        },
        Ok(Status::Blocked) | Err(_) if issue.standing() == StoreStanding::Closed => {
            TaskState::Closed
        }
        Ok(Status::Blocked) | Err(_) => TaskState::Blocked,
    }
}

/// Whether a holder is a program that ends by itself.
fn is_run(holder: &Holder) -> bool {
    holder.process.is_some()
}

/// What agents of runs have taken for a bead so far, as the bead says.
pub fn spent_on(record: &Record) -> Option<Spent> {
    Spent::deserialize(record.issue.metadata()?.get(keys::RECEIPT)?).ok()
}

/// What is known of the store, so that only differences are reported.
#[derive(Debug, Default)]
pub struct Sight {
    tasks: BTreeMap<BeadId, Task>,
    parked: BTreeMap<String, Timestamp>,
    last_event: u64,
    /// Beads that changed while this run worked on them; they are looked at once it does not.
    unseen: BTreeSet<BeadId>,
    /// Features that nobody has begun: a gate may turn green or red without any event of theirs.
    features: BTreeSet<BeadId>,
    /// The sprints that the plan of this run no longer has. They change without any event of their beads.
    removed: BTreeSet<String>,
    is_begun: bool,
}

struct Look<'a> {
    store: &'a dyn Store,
    reader: &'a TaskReader<'a>,
    now: Timestamp,
    /// Whether this run is working on a bead.
    is_ours: &'a dyn Fn(&BeadId) -> bool,
    /// The sprints that the plan of this run no longer has.
    removed: &'a BTreeSet<String>,
}

impl Look<'_> {
    fn wants(&self, record: &Record) -> bool {
        self.reader.wants(record, self.removed)
    }
}

/// How many events are read at once.
const MAX_EVENTS: usize = 1000;

impl Sight {
    /// The sight of a run that knows some beads already: they are looked at whatever became of them.
    pub fn knowing(beads: BTreeSet<BeadId>) -> Self {
        Self {
            unseen: beads,
            ..Self::default()
        }
    }

    /// Beads are not as they were seen, whatever they look like: the next look tells of them.
    pub fn doubt(&mut self, beads: impl IntoIterator<Item = BeadId>) {
        for id in beads {
            self.tasks.remove(&id);
            self.unseen.insert(id);
        }
    }

    /// Looks at the store. The answer has what is not as it was, or nothing; the first look always has one. Beads that `is_ours` says are being worked on by this run
    /// are left for the next look.
    pub fn look(
        &mut self,
        store: &dyn Store,
        reader: &TaskReader<'_>,
        now: Timestamp,
        is_ours: &dyn Fn(&BeadId) -> bool,
    ) -> Result<Option<Event>, StoreError> {
        let is_first = !self.is_begun;
        // Everything is read before anything is remembered: what a look that fails has read must be read again.
        let rows = store.controls(PARKED)?;
        let removed = reader.removed(store)?;
        let look = Look {
            store,
            reader,
            now,
            is_ours,
            removed: &removed,
        };
        let (tasks, gone) = if is_first {
            self.everything(&look)?
        } else {
            self.changes(&look)?
        };
        self.removed = removed;
        let parked = self.parked(&rows, now);
        for task in &tasks {
            self.tasks.insert(task.id.clone(), task.clone());
        }
        for id in &gone {
            self.tasks.remove(id);
        }
        let is_nothing = tasks.is_empty() && gone.is_empty() && parked.is_empty();
        // That there is nothing to do is news, the first time.
        Ok((is_first || !is_nothing).then_some(Event::Seen {
            tasks,
            gone,
            parked,
        }))
    }

    /// Everything that is not done, and what became of the beads that the run knows.
    fn everything(&mut self, look: &Look<'_>) -> Result<(Vec<Task>, Vec<BeadId>), StoreError> {
        let (store, reader) = (look.store, look.reader);
        let last_event = last_event(store)?;
        let mut records = store.find(&everything())?;
        records.retain(|record| look.wants(record));
        let found: BTreeSet<BeadId> = records
            .iter()
            .map(|record| record.issue.id().clone())
            .collect();
        let known = self.unseen.iter().filter(|id| !found.contains(*id));
        let known: Vec<BeadId> = known.cloned().collect();
        // Of those that are not found any more only what is done is worth knowing; others are for somebody else now (L-5).
        let mut rest = store.get(&known)?;
        rest.retain(|record| is_work(record) && (is_done(record) || look.wants(record)));
        let there: BTreeSet<&BeadId> = rest.iter().map(|record| record.issue.id()).collect();
        let gone = known
            .iter()
            .filter(|id| !there.contains(id))
            .cloned()
            .collect();
        records.extend(rest);
        let tasks = read(store, reader, look.now, &records)?;
        self.note_features(&records);
        self.last_event = last_event;
        self.unseen.retain(|id| (look.is_ours)(id));
        self.is_begun = true;
        Ok((tasks, gone))
    }

    fn changes(&mut self, look: &Look<'_>) -> Result<(Vec<Task>, Vec<BeadId>), StoreError> {
        let store = look.store;
        let changes = store.changes(self.last_event, MAX_EVENTS)?;
        let mut ids: BTreeSet<BeadId> = changes.iter().map(|(_, id)| id.clone()).collect();
        for id in ids.clone() {
            ids.extend(store.dependents(&id)?.into_iter().map(|(id, _)| id));
        }
        // What is put off becomes ready without any event, and so does what somebody held who died, and what gates hold back.
        let changes_by_itself = |task: &&Task| {
            let is_held = matches!(task.standing, TaskState::Held { .. });
            task.is_put_off || is_held || task.held_back.is_some()
        };
        ids.extend(
            self.tasks
                .values()
                .filter(changes_by_itself)
                .map(|task| task.id.clone()),
        );
        ids.extend(self.unseen.iter().cloned());
        ids.extend(self.features.iter().cloned());
        if *look.removed != self.removed {
            ids.extend(self.tasks.keys().cloned());
            let found = store.find(&everything())?;
            ids.extend(found.iter().map(|record| record.issue.id().clone()));
        }
        let (ours, ids): (BTreeSet<BeadId>, BTreeSet<BeadId>) =
            ids.into_iter().partition(look.is_ours);
        let ids: Vec<BeadId> = ids.into_iter().collect();
        let records: Vec<Record> = store.get(&ids)?.into_iter().filter(is_work).collect();
        let there: BTreeSet<&BeadId> = records.iter().map(|record| record.issue.id()).collect();
        // What is in doubt is known to the engine too.
        let is_known = |id: &BeadId| self.tasks.contains_key(id) || self.unseen.contains(id);
        let gone = ids.iter().filter(|id| !there.contains(id) && is_known(id));
        let mut gone: Vec<BeadId> = gone.cloned().collect();
        let (records, others): (Vec<Record>, Vec<Record>) =
            records.into_iter().partition(|it| look.wants(it));
        // What was for this run and is not any more is gone for it.
        let others = others.iter().map(|record| record.issue.id());
        gone.extend(others.filter(|id| is_known(id)).cloned());
        let mut tasks = read(store, look.reader, look.now, &records)?;
        self.note_features(&records);
        tasks.retain(|task| self.tasks.get(&task.id) != Some(task));
        // Whatever was known of a bead before this run worked on it says nothing about what is new afterwards.
        self.tasks.retain(|id, _| !ours.contains(id));
        self.unseen = ours;
        self.last_event = changes
            .last()
            .map_or(self.last_event, |(number, _)| *number);
        Ok((tasks, gone))
    }

    fn note_features(&mut self, records: &[Record]) {
        for record in records {
            let id = record.issue.id();
            if is_open_feature(record) {
                self.features.insert(id.clone());
            } else {
                self.features.remove(id);
            }
        }
    }

    fn parked(&mut self, rows: &[Control], now: Timestamp) -> Vec<(String, Timestamp)> {
        let mut parked = Vec::new();
        for row in rows {
            let until: Option<Timestamp> = row.value.as_str().and_then(|until| until.parse().ok());
            let account = row.key.trim_start_matches(PARKED).to_owned();
            if let Some(until) = until.filter(|until| *until > now)
                && self.parked.insert(account.clone(), until) != Some(until)
            {
                parked.push((account, until));
            }
        }
        parked
    }
}

fn read(
    store: &dyn Store,
    reader: &TaskReader<'_>,
    now: Timestamp,
    records: &[Record],
) -> Result<Vec<Task>, StoreError> {
    let mut awaited: Vec<Vec<BeadId>> = Vec::with_capacity(records.len());
    for record in records {
        awaited.push(awaited_by(store, record)?);
    }
    let targets: BTreeSet<&BeadId> = awaited.iter().flatten().collect();
    let targets: Vec<BeadId> = targets.into_iter().cloned().collect();
    let found = store.get(&targets)?;
    let closed: BTreeSet<&BeadId> = (found.iter())
        .filter(|record| record.issue.standing() != StoreStanding::Pending)
        .map(|record| record.issue.id())
        .collect();
    let mut molecules: BTreeMap<&BeadId, Vec<BeadId>> = BTreeMap::new();
    for record in &found {
        let id = record.issue.id();
        if is_made_of_parts(&record.issue) && !closed.contains(id) {
            molecules.insert(id, unfinished(store, id)?);
        }
    }
    let mut held_back = reader.held_back(store, records)?;
    let mut task = |(record, awaited): (&Record, &Vec<BeadId>)| {
        let mut waits_for: Vec<BeadId> = Vec::new();
        for id in awaited.iter().filter(|id| !closed.contains(id)) {
            match molecules.get(id) {
                Some(steps) => waits_for.extend(steps.iter().cloned()),
                None => waits_for.push(id.clone()),
            }
        }
        Task {
            held_back: held_back.remove(record.issue.id()),
            ..reader.task(record, waits_for, now)
        }
    };
    Ok(records.iter().zip(&awaited).map(&mut task).collect())
}

/// The beads that hold a record back until they are closed: by its own edges, by those of what it is a part of, and the children
/// that it waits for.
fn awaited_by(store: &dyn Store, record: &Record) -> Result<Vec<BeadId>, StoreError> {
    let mut awaited = Vec::new();
    add_awaited(store, record, &mut awaited)?;
    let mut seen = BTreeSet::new();
    let mut above: Vec<BeadId> = record.issue.parents().cloned().collect();
    while let Some(parent) = above.pop() {
        if !seen.insert(parent.clone()) {
            continue;
        }
        for record in store.get(&[parent])? {
            add_awaited(store, &record, &mut awaited)?;
            above.extend(record.issue.parents().cloned());
        }
    }
    Ok(awaited)
}

fn add_awaited(
    store: &dyn Store,
    record: &Record,
    awaited: &mut Vec<BeadId>,
) -> Result<(), StoreError> {
    for edge in record.issue.dependencies() {
        let mut add = |id: &BeadId| {
            if !awaited.contains(id) {
                awaited.push(id.clone());
            }
        };
        if edge.waits_for_target() {
            add(edge.target());
        }
        if edge.effect() == Effect::WaitsForChildren {
            for (child, kind) in store.dependents(edge.target())? {
                if kind == EdgeType::ParentChild {
                    add(&child);
                }
            }
        }
    }
    Ok(())
}

/// What a bead waits for that waits for a molecule: the steps that the loop does, and the molecule itself where that is not all.
fn unfinished(store: &dyn Store, root: &BeadId) -> Result<Vec<BeadId>, StoreError> {
    let (mut steps, has_more) = open_steps(store, root)?;
    if has_more || steps.is_empty() {
        steps.push(root.clone());
    }
    Ok(steps)
}

fn everything() -> Query {
    Query {
        status: StatusFilter::Unfinished,
        types: [IssueType::Work, IssueType::Merge]
            .map(|kind| kind.as_str().to_owned())
            .to_vec(),
        ..Query::default()
    }
}

fn is_done(record: &Record) -> bool {
    record.issue.status() == vocabulary::Status::Closed
}

fn is_work(record: &Record) -> bool {
    IssueType::parse(record.issue.issue_type()).is_ok()
}

/// The number of the newest event of a store: a search, because a long history is not read to its end.
fn last_event(store: &dyn Store) -> Result<u64, StoreError> {
    let is_after = |number: u64| Ok::<_, StoreError>(!store.changes(number, 1)?.is_empty());
    let mut beyond = 1;
    while is_after(beyond)? {
        beyond *= 2;
    }
    let mut known = beyond / 2;
    while known < beyond {
        let middle = known + (beyond - known) / 2;
        if is_after(middle)? {
            known = middle + 1;
        } else {
            beyond = middle;
        }
    }
    Ok(known)
}

#[cfg(test)]
mod tests;
