//! The machine: events in, effects out.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::effect::{Action, Effect, EffectId, Launch, Progress};
use super::event::{Answer, Event};
use super::ledger::{Grant, Ledger};
use super::queue::Queue;
use super::settings::{Leader, Settings};
use super::task::{Standing, Task};
use super::trouble::{Lasting, Trouble};
use super::work::{AfterRecord, AfterRestore, Doom, End, Held, Phase, Work};
use crate::bead::BeadId;
use crate::issue::Fence;

/// The version of the decisions made here. A journal of another version is not gone on with, because it would be understood wrongly.
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
    /// What could be started at the beginning, where only that is wanted.
    once: Option<BTreeSet<BeadId>>,
    next_effect: u64,
    effects: Vec<Effect>,
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
    /// What is left needs a person.
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
        held.chain(deferred).min()
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
        let is_left = |task: &Task| task.standing != Standing::Closed;
        let needs_person = (self.ends.values()).any(|end| matches!(end, End::NeedsPerson { .. }));
        let is_unfinished = self.queue.tasks().any(is_left) && self.once.is_none();
        Some(if needs_person || is_unfinished {
            Outcome::NeedsPerson
        } else {
            Outcome::Done
        })
    }

    /// Whether somebody else works on a bead of ours and will end, so that more may become ready.
    fn is_worth_waiting(&self) -> bool {
        let is_coming = |task: &Task| matches!(task.standing, Standing::Held { is_run: true, .. });
        self.once.is_none() && self.queue.tasks().any(is_coming)
    }

    fn seen(
        &mut self,
        now: Timestamp,
        tasks: &[Task],
        gone: &[BeadId],
        parked: &[(String, Timestamp)],
    ) {
        self.parked.extend(parked.iter().cloned());
        self.parked.retain(|_, until| *until > now);
        // What is ours stands as we know it; the store may still show how it was.
        let (ours, others): (Vec<&Task>, Vec<&Task>) = tasks
            .iter()
            .partition(|task| self.works.contains_key(&task.id));
        let others: Vec<Task> = others.into_iter().cloned().collect();
        let gone: Vec<BeadId> = gone
            .iter()
            .filter(|id| !self.works.contains_key(id))
            .cloned()
            .collect();
        self.queue.see(&others, &gone);
        for task in ours {
            self.queue
                .update(&task.id, |own| own.priority = task.priority);
        }
        for task in &others {
            // Somebody opened it again.
            if task.standing == Standing::Open {
                self.ends.remove(&task.id);
            }
            self.deferred.remove(&task.id);
            if task.standing == Standing::Closed {
                self.queue.close(&task.id);
            }
        }
        if self.settings.is_once && self.once.is_none() {
            self.once = Some(self.queue.ready().map(|task| task.id.clone()).collect());
        }
        for task in others.iter().filter(|task| task.is_ready()) {
            if let Some(fault) = &task.fault {
                self.refuse(now, task, fault);
            }
        }
    }

    /// A bead that cannot be worked on waits for a person; the others go on (L-5, 6.1).
    fn refuse(&mut self, now: Timestamp, task: &Task, fault: &str) {
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
                effect.bead == id
                    && (effect.action.launch().is_some()
                        || matches!(effect.action, Action::Verify { .. }))
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

    /// Does again what may or may not have been done; an agent's run is begun anew from where its attempt began (Z-39).
    fn adopted(&mut self, now: Timestamp, fences: &[(BeadId, Fence)]) {
        self.stopping = None;
        self.is_paused = false;
        self.fatal = None;
        self.take_over(fences);
        let outstanding = std::mem::take(&mut self.outstanding);
        let mut cut_off: BTreeMap<BeadId, Vec<Effect>> = BTreeMap::new();
        for (id, effect) in outstanding {
            if effect.action.launch().is_some() || matches!(effect.action, Action::Verify { .. }) {
                cut_off.entry(effect.bead.clone()).or_default().push(effect);
            } else {
                self.outstanding.insert(id, effect.clone());
                self.effects.push(effect);
            }
        }
        for (bead, effects) in cut_off {
            for effect in &effects {
                let task = self.queue.get(&bead).expect("it is worked on");
                self.ledger
                    .settle(effect.id, &task.clone(), &super::Spent::default());
            }
            let actions = effects.into_iter().map(|effect| effect.action).collect();
            self.restore(now, &bead, AfterRestore::Redo(actions));
        }
    }

    /// Every bead that goes on has a new claim. One that could not be claimed again is somebody else's now, unless its last word may
    /// have been written already.
    fn take_over(&mut self, fences: &[(BeadId, Fence)]) {
        for (id, fence) in fences {
            if let Some(work) = self.works.get_mut(id) {
                work.fence = Some(*fence);
            }
        }
        let is_taken = |id: &BeadId| fences.iter().any(|(taken, _)| taken == id);
        let lost: Vec<BeadId> = (self.works.iter())
            .filter(|(id, work)| work.fence.is_some() && !work.is_ending && !is_taken(id))
            .map(|(id, _)| id.clone())
            .collect();
        for id in lost {
            self.lose(&id, "it was taken over while no process held it");
        }
        for effect in self.outstanding.values_mut() {
            if let Some(work) = self.works.get(&effect.bead) {
                effect.fence = work.fence;
            }
        }
    }

    /// Makes the worktree be what it was when the attempt began, or what was sealed in it.
    pub(super) fn restore(&mut self, now: Timestamp, id: &BeadId, then: AfterRestore) {
        let work = self.works.get_mut(id).expect("it is worked on");
        let is_made = matches!(
            work.phase,
            Phase::Judging | Phase::Verifying | Phase::HandingOver
        );
        let commit = if is_made {
            work.sealed.clone()
        } else {
            work.start.clone()
        };
        work.after_restore = then;
        let attempt = work.attempt;
        match commit {
            Some(commit) => {
                self.issue(id, Action::Restore { attempt, commit });
            }
            // Nothing was begun yet.
            None => self.restored(now, id),
        }
    }

    /// Lets what has waited go on.
    fn go_on(&mut self, now: Timestamp) {
        let ids: Vec<BeadId> = (self.works.iter())
            .filter(|(_, work)| !work.held.is_empty())
            .map(|(id, _)| id.clone())
            .collect();
        for id in ids {
            let held = match self.works.get_mut(&id) {
                Some(work) => std::mem::take(&mut work.held),
                None => continue,
            };
            for held in held {
                if held.until.is_some_and(|until| until > now) {
                    if let Some(work) = self.works.get_mut(&id) {
                        work.held.push(held);
                    }
                } else {
                    self.perform(now, &id, held.action);
                }
            }
        }
    }

    /// Whether new beads may be begun.
    fn may_begin(&self) -> bool {
        self.stopping.is_none() && self.fatal.is_none() && !self.is_paused
    }

    /// What could be begun, in order: ready, and not in a place where another bead is worked on.
    fn candidates(&self) -> impl Iterator<Item = &Task> {
        let once = self.once.as_ref();
        self.queue.ready().filter(move |task| {
            once.is_none_or(|once| once.contains(&task.id))
                && !self.works.contains_key(&task.id)
                && !self.ends.contains_key(&task.id)
        })
    }

    fn begin_work(&mut self, now: Timestamp) {
        if !self.may_begin() {
            return;
        }
        self.deferred.retain(|_, until| *until > now);
        let mut places: BTreeSet<String> = BTreeSet::new();
        for id in self.works.keys() {
            if let Some(task) = self.queue.get(id) {
                places.extend([task.worktree.clone(), format!("branch {}", task.branch)]);
            }
        }
        let mut room = self.width.saturating_sub(self.works.len());
        let mut chosen = Vec::new();
        for task in self.candidates() {
            if room == 0 {
                break;
            }
            let branch = format!("branch {}", task.branch);
            if self.deferred.contains_key(&task.id)
                || places.contains(&task.worktree)
                || places.contains(&branch)
            {
                continue;
            }
            places.extend([task.worktree.clone(), branch]);
            chosen.push((task.id.clone(), self.why(task)));
            room -= 1;
        }
        for (id, why) in chosen {
            self.works.insert(id.clone(), Work::new(now));
            self.issue(&id, Action::Claim { why });
        }
    }

    /// Why a bead is begun now, for people.
    fn why(&self, task: &Task) -> String {
        let (n_running, width) = (self.works.len(), self.width);
        let path = self.queue.path(&task.id);
        format!(
            "priority {}, longest remaining path {path}; {n_running} of {width} running",
            task.priority
        )
    }

    /// Asks for something, and remembers that it was asked for.
    pub(super) fn issue(&mut self, bead: &BeadId, action: Action) -> EffectId {
        let id = EffectId(self.next_effect);
        self.next_effect += 1;
        let effect = Effect {
            id,
            bead: bead.clone(),
            fence: self.works.get(bead).and_then(|work| work.fence),
            action,
        };
        self.outstanding.insert(id, effect.clone());
        self.effects.push(effect);
        id
    }

    /// Says something that nobody answers.
    fn tell(&mut self, bead: &BeadId, action: Action) {
        let id = self.issue(bead, action);
        self.outstanding.remove(&id);
    }

    /// Does something for a bead: at once, or when its account and its budget allow it.
    pub(super) fn perform(&mut self, now: Timestamp, id: &BeadId, action: Action) {
        match action.launch() {
            None => {
                self.issue(id, action);
            }
            Some(launch) => {
                let account = launch.account.clone();
                self.launch(now, id, action, &account);
            }
        }
    }

    fn launch(&mut self, now: Timestamp, id: &BeadId, mut action: Action, account: &str) {
        if self.stopping.is_some() {
            return self.doom(now, id, Doom::Release);
        }
        if let Some(until) = self
            .parked
            .get(account)
            .copied()
            .filter(|until| *until > now)
        {
            let why = format!("{account} is at its limit");
            return self.hold(id, Some(until), action, why);
        }
        let Some(task) = self.queue.get(id).cloned() else {
            return;
        };
        let grant = match self.ledger.grant(&task, &self.settings.caps) {
            Grant::Given(grant) => grant,
            Grant::Wait => {
                let why = "what is left of the budget is set aside for agents that run".to_owned();
                return self.hold(id, None, action, why);
            }
            Grant::BeadSpent(reason) => {
                return self.doom(
                    now,
                    id,
                    Doom::Block {
                        reason,
                        is_fatal: false,
                    },
                );
            }
            // The bead is not at fault: it goes on when there is money again.
            Grant::RunSpent(reason) => {
                self.fatal.get_or_insert(reason);
                return self.doom(now, id, Doom::Release);
            }
        };
        let work = self.works.get_mut(id).expect("it is worked on");
        work.n_launches += 1;
        let number = work.n_launches;
        let (Action::Develop { launch, .. }
        | Action::Resolve { launch, .. }
        | Action::Lead { launch, .. }
        | Action::Judge { launch, .. }) = &mut action
        else {
            return;
        };
        *launch = Launch {
            number,
            grant,
            ..launch.clone()
        };
        let effect = self.issue(id, action);
        self.ledger.reserve(effect, &task, grant);
    }

    pub(super) fn hold(
        &mut self,
        id: &BeadId,
        until: Option<Timestamp>,
        action: Action,
        why: String,
    ) {
        if let Some(work) = self.works.get_mut(id) {
            work.held.push(Held { until, action, why });
        }
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
            qa_results: work.qa_results.clone(),
        }
    }

    pub(super) fn release(&mut self, now: Timestamp, id: &BeadId) {
        let progress = self.progress(id);
        let work = self.works.get_mut(id).expect("it is worked on");
        work.is_ending = true;
        work.enter(Phase::Finishing, now);
        self.issue(id, Action::Release { progress });
    }

    /// Lets a bead wait for a person; with `is_fatal` nothing new is begun any more (L-8).
    pub(super) fn block(&mut self, now: Timestamp, id: &BeadId, reason: String, is_fatal: bool) {
        if is_fatal {
            self.fatal.get_or_insert_with(|| format!("{id}: {reason}"));
        }
        let progress = self.progress(id);
        let work = self.works.get_mut(id).expect("it is worked on");
        work.is_ending = true;
        work.held.clear();
        work.enter(Phase::Finishing, now);
        let commit = work.sealed.clone();
        self.issue(
            id,
            Action::Block {
                reason,
                is_fatal,
                progress,
                commit,
            },
        );
    }

    fn answered(&mut self, now: Timestamp, id: EffectId, answer: &Result<Answer, Trouble>) {
        // An answer that came twice, or to something that was given up, says nothing new.
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

    /// Ends the work on a bead that has no future, once nothing runs for it any more.
    pub(super) fn give_up_when_idle(&mut self, now: Timestamp, id: &BeadId) {
        if self.is_busy(id) {
            return;
        }
        let Some(work) = self.works.get_mut(id).filter(|work| !work.is_ending) else {
            return;
        };
        match work.doom.take() {
            Some(Doom::Block { reason, is_fatal }) => self.block(now, id, reason, is_fatal),
            Some(Doom::Release) => self.restore(now, id, AfterRestore::Release),
            None => {}
        }
    }

    /// Says that the work on a bead has no future; what runs for it may end first.
    pub(super) fn doom(&mut self, now: Timestamp, id: &BeadId, doom: Doom) {
        if let Doom::Block {
            reason,
            is_fatal: true,
        } = &doom
        {
            self.fatal.get_or_insert_with(|| format!("{id}: {reason}"));
        }
        if let Some(work) = self.works.get_mut(id) {
            work.held.clear();
            work.doom.get_or_insert(doom);
        }
        self.give_up_when_idle(now, id);
    }

    fn settle(&mut self, effect: &Effect, answer: &Result<Answer, Trouble>) {
        if effect.action.launch().is_none() {
            return;
        }
        let spent = match answer {
            Ok(
                Answer::Ended { report }
                | Answer::Judged { report, .. }
                | Answer::Led { report, .. },
            ) => report.spent,
            _ => super::Spent::default(),
        };
        if let Some(task) = self.queue.get(&effect.bead).cloned() {
            self.ledger.settle(effect.id, &task, &spent);
        }
    }

    /// What follows from trouble (contracts §7.7, §7.8).
    fn failed(&mut self, now: Timestamp, effect: Effect, trouble: &Trouble) {
        let id = effect.bead;
        let work = self.works.get_mut(&id).expect("it is worked on");
        match (trouble.lasting, &effect.action) {
            (Lasting::Passing, Action::Claim { .. }) => {
                self.works.remove(&id);
                self.defer(now, &id);
            }
            (Lasting::Passing, _) if work.n_tries < self.settings.max_tries => {
                work.n_tries += 1;
                let n = work.n_tries;
                let jitter = self.jitter(&id, n);
                let until = later(now, self.settings.backoff.wait_ms(n, jitter));
                self.hold(&id, Some(until), effect.action, trouble.message.clone());
            }
            (Lasting::Lost, _) => self.lose(&id, &trouble.message),
            (_, Action::Claim { .. }) => {
                self.fatal
                    .get_or_insert_with(|| format!("{id}: {}", trouble.message));
                self.works.remove(&id);
                self.ends.insert(id, End::Released);
            }
            // It cannot even be written down: the bead stays as it is, for whoever mends the store.
            (
                _,
                Action::Block { .. }
                | Action::Release { .. }
                | Action::Close { .. }
                | Action::Record { .. },
            ) => {
                self.fatal
                    .get_or_insert_with(|| format!("{id}: {}", trouble.message));
                self.lose(&id, &trouble.message);
            }
            (Lasting::ForBead | Lasting::ForRun | Lasting::Passing, _) => {
                let is_fatal = trouble.lasting != Lasting::ForBead;
                self.doom(
                    now,
                    &id,
                    Doom::Block {
                        reason: trouble.message.clone(),
                        is_fatal,
                    },
                );
            }
        }
    }

    /// The bead is no longer ours: nothing more is done for it.
    pub(super) fn lose(&mut self, id: &BeadId, reason: &str) {
        if self.is_busy(id) {
            self.tell(id, Action::Cancel);
        }
        let lost: Vec<EffectId> = (self.outstanding.iter())
            .filter(|(_, effect)| effect.bead == *id)
            .map(|(effect, _)| *effect)
            .collect();
        for effect in lost {
            let effect = self.outstanding.remove(&effect).expect("it was just seen");
            self.settle(&effect, &Ok(Answer::Done));
        }
        self.end(
            id,
            End::Lost {
                reason: reason.to_owned(),
            },
        );
    }

    pub(super) fn end(&mut self, id: &BeadId, end: End) {
        self.works.remove(id);
        self.queue.withdraw(id);
        if let End::Closed { .. } = end {
            self.queue.close(id);
        }
        self.ends.insert(id.clone(), end);
    }

    pub(super) fn defer(&mut self, now: Timestamp, id: &BeadId) {
        self.deferred
            .insert(id.clone(), later(now, self.settings.poll_ms));
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
        let work = self.works.get_mut(id).expect("it is worked on");
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
