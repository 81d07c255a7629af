//! The driver: the queue of beads that are ready to be implemented, one stage at a time, several of them at once (I-40…I-43).
//!
//! Each stage is a separate dispatch with its own store. A failed bead pauses and is retried, and after three failures in a
//! row a person is asked.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::Trouble;
use beads_ralph_core::gate::{Applicant, Gate, Gates};
use beads_ralph_core::implement::{Candidate, flag, linked_source, queue};
use beads_ralph_core::issue::{Query, Record, StatusFilter};
use beads_ralph_core::vocabulary::{IssueType, Status, label};

use super::{Dispatched, Dispatcher, Ending, ImplementError, Site};
use crate::progress::Nobody;
use crate::store::{Guard, Store, StoreError, Write};
use crate::{controls, os::clock};

/// How long the user's own command to tell them something may take.
const NOTIFY_LIMIT: Duration = Duration::from_secs(30);

/// How many failures in a row are too many (I-42).
const MAX_FAILURES: u32 = 3;

/// How often in a row something that should pass is waited for.
const MAX_PASSING: u32 = 20;

/// The longest rest between two tries.
const LONGEST_REST: Duration = Duration::from_mins(5);

/// How many looks a bead rests for which nothing could be done, while new work is waited for.
const LOOKS_AT_REST: u32 = 60;

/// How often the word to stop is looked for.
const LOOK: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// One stage of as many beads as may be worked on at once.
    Once,
    /// Until nothing in the queue can go on.
    Empty,
    /// For ever: new work is waited for.
    Stopped,
}

#[derive(Debug)]
pub enum DriveNews<'n> {
    Begins(&'n BeadId),
    Ended(&'n Dispatched),
    Failed {
        source: &'n BeadId,
        error: &'n ImplementError,
        /// How long it rests; nothing when a person is asked now.
        rests: Option<Duration>,
    },
    /// Red gates hold a bead back, so that it is not taken (G-3).
    HeldBack {
        source: &'n BeadId,
        why: String,
    },
    Idle,
}

#[derive(Debug, Default)]
pub struct Driven {
    pub dispatched: Vec<Dispatched>,
    pub failures: Vec<(BeadId, String)>,
    pub n_done: usize,
    pub is_interrupted: bool,
}

/// How a store is opened: every dispatch has its own.
pub type Opener<'a> = dyn Fn() -> Result<Box<dyn Store>, StoreError> + Sync + 'a;

pub struct Driver<'a> {
    pub site: &'a Site<'a>,
    pub open: &'a Opener<'a>,
    pub parallel: usize,
    pub until: Until,
}

impl std::fmt::Debug for Driver<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver")
            .field("parallel", &self.parallel)
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Book {
    busy: HashSet<BeadId>,
    /// Until when a bead rests; for ever, as far as this pass goes, without a moment.
    resting: HashMap<BeadId, Option<Instant>>,
    failures: HashMap<BeadId, u32>,
    /// Beads that gates hold back, as far as people were told.
    held_back: HashSet<BeadId>,
    n_begun: usize,
    is_idle_told: bool,
    /// How often in a row the store could not be looked at.
    n_blind: u32,
    /// Whether somebody asked it to stop: nothing more is begun.
    is_stopped: bool,
    /// What would meet every bead: nothing more is begun.
    fatal: Option<ImplementError>,
}

type Answer = (BeadId, Result<Dispatched, ImplementError>);

/// The beads that can be taken now, the most urgent first (I-40, I-43); while a gate is red, repairs come before everything else (G-5).
pub fn candidates(store: &dyn Store, gates: &Gates) -> Result<Vec<Record>, StoreError> {
    let labelled = Query {
        labels_all: vec![label::IMPLEMENTATION_READY.to_owned()],
        ..Query::default()
    };
    let mut records = store.find(&Query {
        ready_at: Some(clock::now()),
        ..labelled.clone()
    })?;
    let begun = store.find(&Query {
        status: StatusFilter::OneOf(vec![Status::InProgress.into()]),
        ..labelled
    })?;
    let known: HashSet<BeadId> = records.iter().map(|it| it.issue.id().clone()).collect();
    records.extend(
        begun
            .into_iter()
            .filter(|it| !known.contains(it.issue.id())),
    );
    let molecules = store.find(&Query {
        types: vec![IssueType::Molecule.into()],
        ..Query::default()
    })?;
    let linked = molecules.iter().filter_map(|it| linked_source(&it.issue));
    let linked: HashSet<BeadId> = linked.collect();
    let candidates: Vec<Candidate<'_>> = (records.iter())
        .map(|source| Candidate {
            source,
            has_molecule: linked.contains(source.issue.id()),
        })
        .collect();
    let mut queue: Vec<Record> = queue(&candidates).into_iter().cloned().collect();
    if gates.standing().any(Gate::is_red) {
        queue.sort_by_cached_key(|record| gates.rank(&Applicant::of_issue(&record.issue)));
    }
    Ok(queue)
}

impl Driver<'_> {
    pub fn drive(&self, hear: &mut dyn FnMut(&DriveNews<'_>)) -> Result<Driven, ImplementError> {
        let (sender, receiver) = channel();
        let store = (self.open)()?;
        let shift = Shift {
            driver: self,
            stop_seen: controls::read(&*store)?.stop_version(),
            store,
            book: Book::default(),
            driven: Driven::default(),
            hear,
        };
        std::thread::scope(|scope| shift.conduct(scope, &sender, &receiver))
    }

    fn dispatch(&self, id: &BeadId) -> Result<Dispatched, ImplementError> {
        let mut store = (self.open)()?;
        Dispatcher::new(&mut *store, self.site, id, &mut Nobody).implement()
    }

    fn poll(&self) -> Duration {
        self.site.config.implement.poll_interval
    }
}

/// A driver at work: the one thread that decides what is begun.
struct Shift<'d, 'h> {
    driver: &'d Driver<'d>,
    store: Box<dyn Store>,
    /// The last order to stop before it began.
    stop_seen: u64,
    book: Book,
    driven: Driven,
    hear: &'h mut dyn FnMut(&DriveNews<'_>),
}

impl<'d> Shift<'d, '_> {
    fn conduct<'s>(
        mut self,
        scope: &'s Scope<'s, 'd>,
        sender: &Sender<Answer>,
        receiver: &Receiver<Answer>,
    ) -> Result<Driven, ImplementError> {
        let mut looks_at: Option<Instant> = None;
        loop {
            self.driven.is_interrupted = self.driver.site.cancel.is_cancelled();
            let is_ending =
                self.driven.is_interrupted || self.book.is_stopped || self.book.fatal.is_some();
            if is_ending && self.book.busy.is_empty() {
                return match self.book.fatal {
                    Some(error) => Err(error),
                    None => Ok(self.driven),
                };
            }
            let is_due = looks_at.is_none_or(|at| clock::monotonic() >= at);
            if is_due && !is_ending && self.is_stopped() {
                self.book.is_stopped = true;
                continue;
            }
            if is_due && !is_ending {
                let n_waiting = self.look(scope, sender)?;
                if self.book.busy.is_empty() && self.is_over(n_waiting) {
                    return Ok(self.driven);
                }
                self.tell_idle();
                looks_at = Some(clock::monotonic() + self.driver.poll());
            }
            if let Ok((id, answer)) = receiver.recv_timeout(LOOK) {
                self.heard(id, answer);
                looks_at = None;
            }
        }
    }

    /// Whether somebody asked everything on this store to stop since it began (Z-15); `--now` also ends what runs.
    fn is_stopped(&self) -> bool {
        let orders = controls::read(&*self.store).unwrap_or_default();
        let Some(order) = orders.stop_since(self.stop_seen) else {
            return false;
        };
        if order.now {
            self.driver.site.cancel.cancel();
        }
        true
    }

    fn is_paused(&self) -> bool {
        controls::read(&*self.store).is_ok_and(|orders| orders.pause.is_some())
    }

    /// Looks for work and begins it. A store that cannot be had for a moment is looked at again.
    fn look<'s>(
        &mut self,
        scope: &'s Scope<'s, 'd>,
        sender: &Sender<Answer>,
    ) -> Result<usize, ImplementError> {
        match self.launch(scope, sender) {
            Ok(n_waiting) => {
                self.book.n_blind = 0;
                Ok(n_waiting)
            }
            Err(error) if error.is_passing() && self.book.n_blind < MAX_PASSING => {
                self.book.n_blind += 1;
                Ok(1)
            }
            Err(error) if self.book.busy.is_empty() => Err(error),
            // What runs is waited for and told of before everything ends.
            Err(error) => {
                self.book.fatal = Some(error);
                Ok(1)
            }
        }
    }

    /// Begins what can be begun; how many others could be, or will be after a rest.
    fn launch<'s>(
        &mut self,
        scope: &'s Scope<'s, 'd>,
        sender: &Sender<Answer>,
    ) -> Result<usize, ImplementError> {
        if self.is_paused() {
            return Ok(1);
        }
        let now = clock::monotonic();
        let mut n_waiting = 0;
        let gates = self.driver.site.gates(&*self.store)?;
        let candidates = candidates(&*self.store, &gates)?;
        let held_back = self.held_back(&candidates, &gates);
        for record in candidates {
            let id = record.issue.id();
            if held_back.contains(id) {
                continue;
            }
            let rests = match self.book.resting.get(id) {
                Some(None) => continue,
                Some(Some(until)) => *until > now,
                None => false,
            };
            if self.book.busy.contains(id) {
                continue;
            }
            if rests || self.is_full() {
                n_waiting += 1;
                continue;
            }
            self.begin(id.clone(), scope, sender.clone());
        }
        Ok(n_waiting)
    }

    /// The features that red gates hold back; told once while they are. What was begun goes on.
    fn held_back(&mut self, candidates: &[Record], gates: &Gates) -> HashSet<BeadId> {
        let mut held_back = HashSet::new();
        for record in (candidates.iter()).filter(|record| record.issue.status() == Status::Open) {
            let source = record.issue.id();
            let Err(denied) = gates.permission(&Applicant::of_issue(&record.issue)) else {
                continue;
            };
            held_back.insert(source.clone());
            if !self.book.held_back.contains(source) {
                let why = denied.to_string();
                (self.hear)(&DriveNews::HeldBack { source, why });
            }
        }
        self.book.held_back.clone_from(&held_back);
        held_back
    }

    fn begin<'s>(&mut self, id: BeadId, scope: &'s Scope<'s, 'd>, sender: Sender<Answer>) {
        self.book.busy.insert(id.clone());
        self.book.n_begun += 1;
        self.book.is_idle_told = false;
        (self.hear)(&DriveNews::Begins(&id));
        let driver = self.driver;
        scope.spawn(move || {
            let dispatched = catch_unwind(AssertUnwindSafe(|| driver.dispatch(&id)));
            let answer = dispatched.unwrap_or_else(|_| {
                let message = "the dispatcher failed; this is a bug in beads-ralph";
                Err(ImplementError::Trouble(Trouble::for_bead(message)))
            });
            // Nobody listens any more only when everything is over.
            drop(sender.send((id, answer)));
        });
    }

    fn is_full(&self) -> bool {
        let most = self.driver.parallel;
        let is_once_over = self.driver.until == Until::Once && self.book.n_begun >= most;
        self.book.busy.len() >= most || is_once_over
    }

    fn is_over(&self, n_waiting: usize) -> bool {
        match self.driver.until {
            Until::Once => self.is_full() || n_waiting == 0,
            Until::Empty => n_waiting == 0,
            Until::Stopped => false,
        }
    }

    fn tell_idle(&mut self) {
        if self.book.busy.is_empty() && !self.book.is_idle_told {
            self.book.is_idle_told = true;
            (self.hear)(&DriveNews::Idle);
        }
    }

    fn heard(&mut self, id: BeadId, answer: Result<Dispatched, ImplementError>) {
        self.book.busy.remove(&id);
        match answer {
            Ok(dispatched) => self.done(id, dispatched),
            Err(error) => self.failed(id, error),
        }
    }

    fn done(&mut self, id: BeadId, dispatched: Dispatched) {
        self.book.failures.remove(&id);
        let is_progress = dispatched.ending.is_progress();
        self.driven.n_done += usize::from(is_progress);
        let rest = match (self.driver.until, is_progress) {
            (Until::Empty | Until::Stopped, true) => None,
            (Until::Stopped, false) => {
                Some(clock::monotonic().checked_add(self.driver.poll() * LOOKS_AT_REST))
            }
            (Until::Once, _) | (Until::Empty, false) => Some(None),
        };
        match rest {
            Some(rest) => drop(self.book.resting.insert(id, rest)),
            None => drop(self.book.resting.remove(&id)),
        }
        (self.hear)(&DriveNews::Ended(&dispatched));
        if let Ending::Human(note) = &dispatched.ending {
            let first = note.lines().next().unwrap_or_default();
            self.notify(&format!("{}: {first}", dispatched.source));
        }
        // Whoever waits for new work may do so for weeks.
        if self.driver.until != Until::Stopped {
            self.driven.dispatched.push(dispatched);
        }
    }

    fn failed(&mut self, id: BeadId, error: ImplementError) {
        let rests = self.rest(&id, &error);
        (self.hear)(&DriveNews::Failed {
            source: &id,
            error: &error,
            rests,
        });
        if self.driver.until != Until::Stopped {
            self.driven.failures.push((id.clone(), error.to_string()));
        }
        if error.is_for_all() {
            self.book.fatal.get_or_insert(error);
            return;
        }
        let Some(rests) = rests else {
            self.give_up(&id, &error);
            return;
        };
        let until = match self.driver.until {
            Until::Once => None,
            Until::Empty | Until::Stopped => clock::monotonic().checked_add(rests),
        };
        self.book.resting.insert(id, until);
    }

    /// How long a bead rests after a failure; nothing when it failed too often. Limits, interruptions, and what others do to the bead
    /// are nobody's fault.
    fn rest(&mut self, id: &BeadId, error: &ImplementError) -> Option<Duration> {
        let poll = self.driver.poll();
        if let ImplementError::Limit { until, .. } = error {
            let left = until.and_then(|until| (until - clock::now()).try_into().ok());
            return Some(left.unwrap_or(poll).max(poll));
        }
        if matches!(error, ImplementError::Interrupted)
            || error.is_elsewhere()
            || error.is_for_all()
        {
            return Some(poll);
        }
        let most = if error.is_passing() {
            MAX_PASSING
        } else {
            MAX_FAILURES
        };
        let n = self.book.failures.entry(id.clone()).or_default();
        *n += 1;
        let rest = poll
            .saturating_mul(1 << (*n - 1).min(16))
            .min(LONGEST_REST.max(poll));
        (*n < most).then_some(rest)
    }

    /// Tells the user, if they said how; that it fails keeps nobody from working.
    fn notify(&self, text: &str) {
        let site = self.driver.site;
        if let Some(command) = &site.config.notify {
            let argv: Vec<&str> = command.iter().map(String::as_str).chain([text]).collect();
            drop(site.units.output(&argv, site.root, NOTIFY_LIMIT));
        }
    }

    /// Asks a person (I-42). Where that cannot be written, the bead is tried again.
    fn give_up(&mut self, id: &BeadId, error: &ImplementError) {
        let n = self.book.failures.remove(id).unwrap_or_default();
        let note = format!("implement-bead: failed {n} times in a row: {error}");
        let Ok(records) = self.store.get(std::slice::from_ref(id)) else {
            return;
        };
        for record in records {
            let write = Write::Update {
                id: id.clone(),
                edits: flag(&record.issue, &note),
                guard: Guard::default(),
            };
            drop(self.store.write(&[write], self.driver.site.stamp()));
        }
    }
}
