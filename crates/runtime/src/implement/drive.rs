//! The driver: the queue of beads that are ready to be implemented, one stage at a time, several of them at once (I-40…I-43).
//!
//! Each stage is a dispatch of its own, with a store of its own. What fails rests and is tried again, and after three failures in a
//! row a person is asked.

use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::implement::{Candidate, READY, flag, linked_source, queue};
use beads_ralph_core::issue::{MOLECULE, Query, Record, StatusFilter};

use super::{Dispatched, Dispatcher, ImplementError, Site};
use crate::clock;
use crate::news::Nobody;
use crate::store::{Guard, Store, StoreError, Write};

/// How many failures in a row are too many (I-42).
const MAX_FAILURES: u32 = 3;

/// How often the word to stop is looked for.
const LOOK: Duration = Duration::from_millis(200);

/// How long the driver goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// One stage of as many beads as may be worked on at once.
    Once,
    /// Until nothing in the queue can go on.
    Empty,
    /// For ever: new work is waited for.
    Stopped,
}

/// Something to tell people.
#[derive(Debug)]
pub enum DriveNews<'n> {
    /// The work on a bead begins.
    Begins(&'n BeadId),
    /// A stage is over.
    Ended(&'n Dispatched),
    /// A stage could not be done, and for how long it rests.
    Failed {
        /// The bead.
        source: &'n BeadId,
        /// Why.
        error: &'n ImplementError,
        /// How long it rests; nothing when a person is asked now.
        rests: Option<Duration>,
    },
    /// Nothing can be done for now.
    Idle,
}

/// What a driver did.
#[derive(Debug, Default)]
pub struct Driven {
    /// Every stage that was done, in the order of their ends.
    pub dispatched: Vec<Dispatched>,
    /// What could not be done.
    pub failures: Vec<(BeadId, String)>,
    /// Whether somebody stopped it.
    pub is_interrupted: bool,
}

/// How a store is opened: every dispatch has its own.
pub type Opener<'a> = dyn Fn() -> Result<Box<dyn Store>, StoreError> + Sync + 'a;

/// A driver.
pub struct Driver<'a> {
    /// Where it works.
    pub site: &'a Site<'a>,
    /// How it opens the store.
    pub open: &'a Opener<'a>,
    /// How many beads may be worked on at once.
    pub parallel: usize,
    /// How long it goes on.
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

/// What is known of the beads in the queue.
#[derive(Debug, Default)]
struct Book {
    busy: HashSet<BeadId>,
    /// Until when a bead rests; for ever, as far as this pass goes, without a moment.
    resting: HashMap<BeadId, Option<Instant>>,
    failures: HashMap<BeadId, u32>,
    n_begun: usize,
    is_idle_told: bool,
}

type Answer = (BeadId, Result<Dispatched, ImplementError>);

/// The beads that can be taken now, the most urgent first (I-40, I-43).
pub fn candidates(store: &dyn Store) -> Result<Vec<Record>, StoreError> {
    let labelled = Query {
        labels_all: vec![READY.to_owned()],
        ..Query::default()
    };
    let mut records = store.find(&Query {
        ready_at: Some(clock::now()),
        ..labelled.clone()
    })?;
    let begun = store.find(&Query {
        status: StatusFilter::OneOf(vec!["in_progress".to_owned()]),
        ..labelled
    })?;
    let known: HashSet<BeadId> = records.iter().map(|it| it.issue.id().clone()).collect();
    records.extend(
        begun
            .into_iter()
            .filter(|it| !known.contains(it.issue.id())),
    );
    let molecules = store.find(&Query {
        types: vec![MOLECULE.to_owned()],
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
    Ok(queue(&candidates).into_iter().cloned().collect())
}

impl Driver<'_> {
    /// Drives until there is nothing more to do, or somebody stops it.
    pub fn drive(&self, hear: &mut dyn FnMut(&DriveNews<'_>)) -> Result<Driven, ImplementError> {
        let (sender, receiver) = channel();
        std::thread::scope(|scope| self.conduct(scope, &sender, &receiver, hear))
    }

    fn conduct<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        sender: &Sender<Answer>,
        receiver: &Receiver<Answer>,
        hear: &mut dyn FnMut(&DriveNews<'_>),
    ) -> Result<Driven, ImplementError> {
        let mut driven = Driven::default();
        let mut book = Book::default();
        let mut store = (self.open)()?;
        let mut looked: Option<Instant> = None;
        loop {
            driven.is_interrupted = self.site.cancel.is_cancelled();
            let is_due = looked.is_none_or(|at| clock::monotonic() >= at);
            if is_due && !driven.is_interrupted {
                let n_waiting = self.launch(scope, sender, &*store, &mut book, hear)?;
                if book.busy.is_empty() && self.is_over(n_waiting, &book) {
                    return Ok(driven);
                }
                if book.busy.is_empty() && !book.is_idle_told {
                    book.is_idle_told = true;
                    hear(&DriveNews::Idle);
                }
                looked = Some(clock::monotonic() + self.site.config.implement.poll_interval);
            }
            if driven.is_interrupted && book.busy.is_empty() {
                return Ok(driven);
            }
            match receiver.recv_timeout(LOOK) {
                Ok((id, answer)) => {
                    self.heard(&mut *store, &mut book, &mut driven, id, answer, hear)?;
                    looked = None;
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
        }
    }

    /// Begins what can be begun; how many others could be, or will be after a rest.
    fn launch<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        sender: &Sender<Answer>,
        store: &dyn Store,
        book: &mut Book,
        hear: &mut dyn FnMut(&DriveNews<'_>),
    ) -> Result<usize, ImplementError> {
        let now = clock::monotonic();
        let mut n_waiting = 0;
        for record in candidates(store)? {
            let id = record.issue.id();
            if book.busy.contains(id) {
                continue;
            }
            match book.resting.get(id) {
                Some(None) => continue,
                Some(Some(until)) if *until > now => {
                    n_waiting += 1;
                    continue;
                }
                Some(Some(_)) | None => {}
            }
            let is_once_over = self.until == Until::Once && book.n_begun >= self.parallel;
            if book.busy.len() >= self.parallel || is_once_over {
                n_waiting += 1;
                continue;
            }
            book.busy.insert(id.clone());
            book.n_begun += 1;
            book.is_idle_told = false;
            hear(&DriveNews::Begins(id));
            let (id, sender) = (id.clone(), sender.clone());
            scope.spawn(move || {
                let answer = self.dispatch(&id);
                // Nobody listens any more only when everything is over.
                drop(sender.send((id, answer)));
            });
        }
        Ok(n_waiting)
    }

    fn dispatch(&self, id: &BeadId) -> Result<Dispatched, ImplementError> {
        let mut store = (self.open)()?;
        Dispatcher::new(&mut *store, self.site, id, &mut Nobody).implement()
    }

    fn is_over(&self, n_waiting: usize, book: &Book) -> bool {
        match self.until {
            Until::Once => book.n_begun >= self.parallel || n_waiting == 0,
            Until::Empty => n_waiting == 0,
            Until::Stopped => false,
        }
    }

    fn heard(
        &self,
        store: &mut dyn Store,
        book: &mut Book,
        driven: &mut Driven,
        id: BeadId,
        answer: Result<Dispatched, ImplementError>,
        hear: &mut dyn FnMut(&DriveNews<'_>),
    ) -> Result<(), ImplementError> {
        book.busy.remove(&id);
        let poll = self.site.config.implement.poll_interval;
        match answer {
            Ok(dispatched) => {
                book.failures.remove(&id);
                let rest = match (self.until, dispatched.ending.is_progress()) {
                    (Until::Empty | Until::Stopped, true) => None,
                    (Until::Stopped, false) => Some(Some(clock::monotonic() + poll)),
                    (Until::Once, _) | (Until::Empty, false) => Some(None),
                };
                match rest {
                    Some(rest) => drop(book.resting.insert(id, rest)),
                    None => drop(book.resting.remove(&id)),
                }
                hear(&DriveNews::Ended(&dispatched));
                driven.dispatched.push(dispatched);
            }
            Err(error) => {
                let rests = self.rest(book, &id, &error, poll);
                hear(&DriveNews::Failed {
                    source: &id,
                    error: &error,
                    rests,
                });
                driven.failures.push((id.clone(), error.to_string()));
                match rests {
                    Some(rests) if self.until != Until::Once => {
                        let until = clock::monotonic().checked_add(rests);
                        book.resting.insert(id, until);
                    }
                    Some(_) => drop(book.resting.insert(id, None)),
                    None => self.give_up(store, &id, &error)?,
                }
            }
        }
        Ok(())
    }

    /// How long a bead rests after a failure; nothing when it failed too often. Limits, interruptions and that somebody else works on
    /// it are nobody's fault.
    fn rest(
        &self,
        book: &mut Book,
        id: &BeadId,
        error: &ImplementError,
        poll: Duration,
    ) -> Option<Duration> {
        match error {
            ImplementError::Interrupted => Some(poll),
            _ if error.is_elsewhere() => Some(poll),
            ImplementError::Limit { until, .. } => {
                let left = until.and_then(|until| (until - clock::now()).try_into().ok());
                Some(left.unwrap_or(poll).max(poll))
            }
            _ => {
                let n = book.failures.entry(id.clone()).or_default();
                *n += 1;
                (*n < MAX_FAILURES).then_some(poll)
            }
        }
    }

    /// Asks a person (I-42).
    fn give_up(
        &self,
        store: &mut dyn Store,
        id: &BeadId,
        error: &ImplementError,
    ) -> Result<(), ImplementError> {
        let Some(record) = store.get(std::slice::from_ref(id))?.pop() else {
            return Ok(());
        };
        let note = format!(
            "implement-bead: it could not be worked on, {MAX_FAILURES} times in a row: {error}"
        );
        let write = Write::Update {
            id: id.clone(),
            edits: flag(&record.issue, &note),
            guard: Guard::default(),
        };
        store.write(&[write], self.site.stamp())?;
        Ok(())
    }
}
