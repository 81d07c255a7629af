//! What the connections of the stand-in share: the repository, what was asked, what is to fail, and when to stop.

use std::collections::BTreeMap;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::repository::Repository;

/// What a program asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// Who has the token.
    Viewer,
    /// What the token may be used for.
    Scopes,
    /// What the repository is.
    Repository,
    /// The pull requests of a branch, as `gh pr list` asks.
    List,
    /// The open pull request of a branch, as `gh pr create` asks before it makes one.
    OpenForBranch,
    /// One pull request.
    View,
    /// To make a pull request.
    Create,
    /// Anything else.
    Other,
}

/// What goes wrong with a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It is answered with this status, as a proxy or GitHub itself would word it, and not done.
    Status(u16),
    /// It came too soon after others, and is not done.
    SecondaryLimit,
    /// All calls of this hour were made, and it is not done.
    RateLimit,
    /// GitHub understands it and refuses with this kind of error and these words.
    Refusal(&'static str, &'static str),
    /// The answer is no JSON.
    Nonsense,
    /// The connection is cut before anything is done.
    Cut,
    /// It is done; then the connection is cut.
    CutAfter,
    /// Nothing is done, and nothing is answered.
    Hang,
    /// It is done, and nothing is answered.
    HangAfter,
}

#[derive(Debug)]
pub(super) struct State {
    repository: Mutex<Repository>,
    /// Something may have been done to the repository.
    done: Condvar,
    inner: Mutex<Inner>,
    stopped: Condvar,
}

/// Something that is to go wrong: with the first call of its kind that comes, or with one of them.
#[derive(Debug)]
struct Planned {
    call: Call,
    number: Option<usize>,
    fault: Fault,
}

#[derive(Debug, Default)]
struct Inner {
    n_calls: BTreeMap<Call, usize>,
    faults: Vec<Planned>,
    connections: BTreeMap<u64, UnixStream>,
    is_stopped: bool,
}

impl State {
    pub(super) fn new(repository: &str) -> Self {
        Self {
            repository: Mutex::new(Repository::new(repository)),
            done: Condvar::new(),
            inner: Mutex::default(),
            stopped: Condvar::new(),
        }
    }

    /// A panic elsewhere is reported where the threads are joined; what is kept here is whole after each step.
    pub(super) fn repository(&self) -> MutexGuard<'_, Repository> {
        let repository = self.repository.lock();
        repository.unwrap_or_else(PoisonError::into_inner)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call, and says what is to go wrong with it.
    pub(super) fn heard(&self, call: Call) -> Option<Fault> {
        let mut inner = self.inner();
        let n_calls = inner.n_calls.entry(call).or_default();
        *n_calls += 1;
        let n = *n_calls;
        let is_meant = |it: &Planned| it.call == call && it.number.is_none_or(|number| number == n);
        let planned = inner.faults.iter().position(is_meant);
        planned.map(|index| inner.faults.remove(index).fault)
    }

    pub(super) fn n_calls(&self, call: Call) -> usize {
        self.inner().n_calls.get(&call).copied().unwrap_or_default()
    }

    pub(super) fn plan(&self, call: Call, number: Option<usize>, fault: Fault) {
        let planned = Planned {
            call,
            number,
            fault,
        };
        self.inner().faults.push(planned);
    }

    /// Says that something may have been done to the repository.
    pub(super) fn is_done(&self) {
        self.done.notify_all();
    }

    /// Waits until something holds for the repository; false when it took too long.
    pub(super) fn wait_until(
        &self,
        within: Duration,
        is_met: impl Fn(&Repository) -> bool,
    ) -> bool {
        let waiting = |repository: &mut Repository| !is_met(repository);
        let waited = self
            .done
            .wait_timeout_while(self.repository(), within, waiting);
        let (_repository, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        !waited.timed_out()
    }

    /// Takes a connection in; `false` when all is over.
    pub(super) fn admit(&self, n: u64, stream: &UnixStream) -> bool {
        let mut inner = self.inner();
        if let Ok(stream) = stream.try_clone() {
            inner.connections.insert(n, stream);
        }
        !inner.is_stopped
    }

    pub(super) fn dismiss(&self, n: u64) {
        // The clone is dropped outside the lock.
        let gone = self.inner().connections.remove(&n);
        drop(gone);
    }

    /// Says nothing until the server stops.
    pub(super) fn wait_for_the_end(&self) {
        let going_on = |inner: &mut Inner| !inner.is_stopped;
        drop(self.stopped.wait_while(self.inner(), going_on));
    }

    /// Ends every wait and every connection.
    pub(super) fn stop(&self) {
        let mut inner = self.inner();
        inner.is_stopped = true;
        for stream in inner.connections.values() {
            // One that the client has closed already needs no end.
            drop(stream.shutdown(Shutdown::Both));
        }
        self.stopped.notify_all();
    }
}
