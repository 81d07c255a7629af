//! The machine: events in, effects out.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::budget::{Ledger, Spent};
use super::effect::{Action, Effect, EffectId, Progress};
use super::event::Trouble;
use super::event::{Answer, Event};
use super::queue::Queue;
use super::settings::{Leader, Settings};
use super::task::{Task, TaskState};
use super::work::{AfterRecord, Doom, End, Phase, Work};
use crate::bead::BeadId;

/// The version of the decisions made here. A run does not resume from a journal of another version.
pub const ENGINE: u32 = 1;

/// The loop over many beads.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(super) settings: Settings,
    pub(super) queue: Queue,
    pub(super) works: BTreeMap<BeadId, Work>,
    pub(super) ends: BTreeMap<BeadId, End>,
    pub(super) outstanding: BTreeMap<EffectId, Effect>,
    pub(super) ledger: Ledger,
    /// Accounts at their limit, and until when.
    pub(super) parked: BTreeMap<String, Timestamp>,
    /// Beads that somebody else had when they were asked for, and when to ask again.
    pub(super) deferred: BTreeMap<BeadId, Timestamp>,
    /// How many beads may be worked on at once now; limits lower it.
    pub(super) width: usize,
    pub(super) stopping: Option<Stopping>,
    pub(super) is_paused: bool,
    /// Why nothing new is begun any more: something is wrong that would meet every bead.
    pub(super) fatal: Option<String>,
    pub(super) began: Option<Timestamp>,
    /// Since when claims fail.
    pub(super) claims_fail_since: Option<Timestamp>,
    /// Until when no place was free.
    pub(super) full_until: Option<Timestamp>,
    /// What could be started at the beginning, where only that is wanted.
    pub(super) once: Option<BTreeSet<BeadId>>,
    next_effect: u64,
    pub(super) effects: Vec<Effect>,
}

/// How the run is being stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopping {
    /// What runs may end by itself.
    Gently,
    /// What runs is ended.
    Now,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing is left to do.
    Done,
    /// Somebody stopped it.
    Stopped,
    /// Nothing more can be begun: what is left waits for something that is not this run's.
    Idle,
    /// The rest waits for a person.
    NeedsPerson,
    /// Something is wrong that would meet every bead.
    Fatal(String),
}

impl Outcome {
    /// The word that is kept.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Stopped => "stopped",
            Self::Idle => "idle",
            Self::NeedsPerson => "needs_person",
            Self::Fatal(_) => "fatal",
        }
    }
}

impl Engine {
    /// A run at its beginning.
    pub fn new(settings: Settings) -> Self {
        Self {
            queue: Queue::new(settings.order),
            works: BTreeMap::new(),
            ends: BTreeMap::new(),
            outstanding: BTreeMap::new(),
            ledger: Ledger::default(),
            parked: BTreeMap::new(),
            deferred: BTreeMap::new(),
            width: settings.max_parallel.max(1),
            stopping: None,
            is_paused: false,
            fatal: None,
            began: None,
            claims_fail_since: None,
            full_until: None,
            once: None,
            next_effect: 1,
            effects: Vec::new(),
            settings,
        }
    }

    /// What the run was told at its beginning.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Takes one event, and says what to do about it.
    pub fn handle(&mut self, now: Timestamp, event: &Event) -> Vec<Effect> {
        self.began.get_or_insert(now);
        match event {
            Event::Seen {
                tasks,
                gone,
                parked,
            } => self.seen(now, tasks, gone, parked),
            Event::Answered { effect, answer } => self.answered(now, *effect, answer),
            Event::Woke => {}
            Event::StopAsked { now: at_once } => self.stop(now, *at_once),
            Event::PauseAsked { is_paused } => self.is_paused = *is_paused,
            Event::Adopted { fences } => self.adopted(now, fences),
        }
        self.go_on(now);
        self.begin_work(now);
        std::mem::take(&mut self.effects)
    }

    /// What was asked for and not answered yet.
    pub fn outstanding(&self) -> impl Iterator<Item = &Effect> {
        self.outstanding.values()
    }

    /// When the engine wants to be woken.
    pub fn next_wake(&self) -> Option<Timestamp> {
        let held = self.works.values().flat_map(|work| &work.held);
        let held = held.filter_map(|held| held.until);
        // Nobody waits for a bead that is not going to be asked for.
        let is_open = self.may_begin() && self.works.len() < self.width;
        let deferred = self.deferred.values().copied().filter(|_| is_open);
        let full = self.full_until.filter(|_| is_open);
        held.chain(deferred).chain(full).min()
    }

    /// How the run ended, once it has.
    pub fn outcome(&self) -> Option<Outcome> {
        if !self.works.is_empty() || !self.outstanding.is_empty() {
            return None;
        }
        if let Some(reason) = &self.fatal {
            return Some(Outcome::Fatal(reason.clone()));
        }
        if self.stopping.is_some() {
            return Some(Outcome::Stopped);
        }
        if self.began.is_none() || self.is_paused || self.settings.watches {
            return None;
        }
        if self.candidates().next().is_some() || self.is_worth_waiting() {
            return None;
        }
        let is_left = |task: &Task| task.standing != TaskState::Closed;
        let waits_for_person = |task: &Task| task.standing == TaskState::Blocked;
        let needs_person = (self.ends.values()).any(|end| matches!(end, End::NeedsPerson { .. }));
        let is_unfinished = self.queue.tasks().any(is_left) && self.once.is_none();
        Some(
            if needs_person || self.queue.tasks().any(waits_for_person) {
                Outcome::NeedsPerson
            } else if is_unfinished {
                Outcome::Idle
            } else {
                Outcome::Done
            },
        )
    }

    /// Whether somebody else works on a bead of ours and will end, so that more may become ready.
    fn is_worth_waiting(&self) -> bool {
        let is_coming = |task: &Task| matches!(task.standing, TaskState::Held { is_run: true, .. });
        self.once.is_none() && self.queue.tasks().any(is_coming)
    }

    fn seen(
        &mut self,
        now: Timestamp,
        tasks: &[Task],
        gone: &[BeadId],
        parked: &[(String, Timestamp)],
    ) {
        for (account, until) in parked {
            let known = self.parked.entry(account.clone()).or_insert(*until);
            *known = (*known).max(*until);
        }
        self.parked.retain(|_, until| *until > now);
        // What is ours stands as we know it; the store may still show how it was.
        let (ours, others): (Vec<&Task>, Vec<&Task>) = tasks
            .iter()
            .partition(|task| self.works.get(&task.id).is_some_and(Work::is_ours));
        let others: Vec<Task> = others.into_iter().map(|task| self.unheld(task)).collect();
        // What this run finished belongs to what it came to, also when the plan no longer has it (Z-44).
        let is_finished = |id: &BeadId| {
            let end = self.ends.get(id);
            matches!(end, Some(End::Closed { .. } | End::NeedsPerson { .. }))
        };
        let gone: Vec<BeadId> = gone
            .iter()
            .filter(|id| !self.works.contains_key(id) && !is_finished(id))
            .cloned()
            .collect();
        self.queue.see(&others, &gone);
        for task in ours {
            self.queue
                .update(&task.id, |own| own.priority = task.priority);
        }
        for task in &others {
            // Somebody opened it again.
            if task.standing == TaskState::Open {
                self.ends.remove(&task.id);
            }
            self.deferred.remove(&task.id);
            if task.standing == TaskState::Closed {
                self.queue.close(&task.id);
            }
        }
        if self.settings.is_once && self.once.is_none() {
            self.once = Some(self.queue.ready().map(|task| task.id.clone()).collect());
        }
        let is_free = |task: &&Task| task.is_ready() && !self.works.contains_key(&task.id);
        let free: Vec<Task> = others.iter().filter(is_free).cloned().collect();
        for task in &free {
            if let Some(fault) = &task.fault {
                self.refuse(now, task, fault);
            }
        }
    }

    /// A bead that this run holds without working on it: the answer to its claim was lost. It can be asked for again.
    fn unheld(&self, task: &Task) -> Task {
        let is_own =
            matches!(&task.standing, TaskState::Held { by, .. } if *by == self.settings.run);
        let mut task = task.clone();
        if is_own {
            task.standing = TaskState::Open;
        }
        task
    }

    /// A bead that cannot be worked on waits for a person; the others go on (L-5, 6.1).
    pub(super) fn refuse(&mut self, now: Timestamp, task: &Task, fault: &str) {
        self.queue.withdraw(&task.id);
        let mut work = Work::new(now);
        work.attempt = task.attempts;
        self.works.insert(task.id.clone(), work);
        self.block(now, &task.id.clone(), fault.to_owned(), false);
    }

    fn stop(&mut self, now: Timestamp, at_once: bool) {
        let how = if at_once {
            Stopping::Now
        } else {
            Stopping::Gently
        };
        self.stopping = Some(how);
        let ids: Vec<BeadId> = self.works.keys().cloned().collect();
        for id in ids {
            let is_running = self.outstanding.values().any(|effect| {
                let action = &effect.action;
                effect.bead == id
                    && (action.launch().is_some()
                        || matches!(action, Action::Verify { .. } | Action::Prepare { .. }))
            });
            if at_once && is_running {
                self.tell(&id, Action::Cancel);
            }
            // A bead that only waits for its time is given back.
            let is_waiting = !self.works[&id].held.is_empty();
            if is_waiting && !self.works[&id].is_ending {
                self.doom(now, &id, Doom::Release);
            }
        }
    }

    fn answered(&mut self, now: Timestamp, id: EffectId, answer: &Result<Answer, Trouble>) {
        // An answer that came twice, or after the work ended, changes nothing.
        let Some(effect) = self.outstanding.remove(&id) else {
            return;
        };
        let bead = effect.bead.clone();
        if effect.action.is_remark() || !self.works.contains_key(&bead) {
            return;
        }
        self.settle(&effect, answer);
        match answer {
            Ok(answer) => self.advance(now, effect, answer),
            Err(trouble) => self.failed(now, effect, trouble),
        }
        self.give_up_when_idle(now, &bead);
    }

    pub(super) fn settle(&mut self, effect: &Effect, answer: &Result<Answer, Trouble>) {
        if effect.action.launch().is_none() {
            return;
        }
        let report = answer.as_ref().ok().and_then(Answer::report);
        // What an agent spent is unknown if it never reported.
        let spent = report.map_or(Spent::UNKNOWN, |report| report.spent);
        if let Some(task) = self.queue.get(&effect.bead).cloned() {
            self.ledger.settle(effect.id, &task, &spent);
        }
    }

    /// Asks for something, and remembers that it was asked for.
    pub(super) fn issue(&mut self, bead: &BeadId, action: Action) -> EffectId {
        let id = EffectId(self.next_effect);
        self.next_effect += 1;
        self.issue_as(id, bead, action);
        id
    }

    /// Asks for something under a number that it has already.
    pub(super) fn issue_as(&mut self, id: EffectId, bead: &BeadId, action: Action) {
        let effect = Effect {
            id,
            bead: bead.clone(),
            fence: self.works.get(bead).and_then(|work| work.fence),
            action,
        };
        self.outstanding.insert(id, effect.clone());
        self.effects.push(effect);
    }

    /// Says something that nobody answers.
    pub(super) fn tell(&mut self, bead: &BeadId, action: Action) {
        let id = self.issue(bead, action);
        self.outstanding.remove(&id);
    }

    /// Whether something is done for a bead that its work waits for.
    pub(super) fn is_busy(&self, id: &BeadId) -> bool {
        let mut outstanding = self.outstanding.values();
        outstanding.any(|effect| effect.bead == *id && !effect.action.is_remark())
    }

    pub(super) fn progress(&mut self, id: &BeadId) -> Progress {
        let task = self.queue.get(id).cloned();
        let work = self.works.get_mut(id).expect("it is worked on");
        Progress {
            attempts: task.as_ref().map_or(work.attempt, |task| task.attempts),
            notes: std::mem::take(&mut work.notes),
            spent: task
                .map(|task| self.ledger.of_bead(&task))
                .unwrap_or_default(),
            base: work.base.clone(),
            sealed: work.sealed.clone().filter(|_| work.keeps_sealed),
            feedback: work.feedback.clone(),
            qa_results: work.qa_results.clone(),
        }
    }

    pub(super) fn end(&mut self, id: &BeadId, end: End) {
        self.works.remove(id);
        self.queue.withdraw(id);
        if let End::Closed { .. } = end {
            self.queue.close(id);
        }
        self.ends.insert(id.clone(), end);
    }

    /// A number that differs between beads and tries and is always the same for one of them.
    pub(super) fn jitter(&self, id: &BeadId, n: u32) -> u64 {
        // FNV-1a: enough to spread waits.
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325 ^ self.settings.seed;
        for byte in id.as_str().bytes().chain(n.to_le_bytes()) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        hash >> 16
    }

    /// Who leads the work on a bead.
    pub(super) fn leader(&self, id: &BeadId) -> Option<String> {
        match self.settings.leader {
            Leader::Native => None,
            Leader::Agent => self.queue.get(id).and_then(|task| task.leader.clone()),
        }
    }

    pub(super) fn record(&mut self, now: Timestamp, id: &BeadId, then: AfterRecord) {
        let progress = self.progress(id);
        let work = self.work(id);
        work.after_record = then;
        work.enter(Phase::Recording, now);
        self.issue(id, Action::Record { progress });
    }
}

/// A time after another one.
pub(super) fn later(now: Timestamp, ms: u64) -> Timestamp {
    let wait = SignedDuration::from_millis(i64::try_from(ms).unwrap_or(i64::MAX));
    now.checked_add(wait).unwrap_or(Timestamp::MAX)
}
