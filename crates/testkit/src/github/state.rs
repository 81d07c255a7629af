//! What the connections of the stand-in share: the repository, what was asked, what is to fail, and when to stop.

use std::collections::BTreeMap;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

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
    inner: Mutex<Inner>,
    stopped: Condvar,
}

#[derive(Debug, Default)]
struct Inner {
    n_calls: BTreeMap<Call, usize>,
    faults: Vec<(Call, Fault)>,
    connections: BTreeMap<u64, UnixStream>,
    is_stopped: bool,
}

impl State {
    pub(super) fn new(repository: &str) -> Self {
        Self {
            repository: Mutex::new(Repository::new(repository)),
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
        *inner.n_calls.entry(call).or_default() += 1;
        let planned = inner.faults.iter().position(|(of, _)| *of == call);
        planned.map(|index| inner.faults.remove(index).1)
    }

    pub(super) fn n_calls(&self, call: Call) -> usize {
        self.inner().n_calls.get(&call).copied().unwrap_or_default()
    }

    pub(super) fn plan(&self, call: Call, fault: Fault) {
        self.inner().faults.push((call, fault));
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
