//! What the connections of a scripted model share: the play, the log, and when to stop.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{Shutdown, TcpStream};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use beads_ralph_core::scenario::{Action, Play, Scenario, Turn};
use beads_ralph_core::text::excerpt;

use super::question::Question;

/// How many connections are served at once.
const MAX_CONNECTIONS: usize = 256;

/// What a program spoke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Anthropic's messages, as `claude` does.
    Messages,
    /// OpenAI's responses, as `codex` does.
    Responses,
}

/// One thing that the model was asked, and what it did.
#[derive(Clone, PartialEq)]
pub struct Asked {
    /// What the program spoke.
    pub protocol: Protocol,
    /// The program's session.
    pub session: String,
    /// The model that it wanted.
    pub model: String,
    /// What the model was told beforehand.
    pub system: String,
    /// What the user said last.
    pub prompt: String,
    /// What the commands of the scenario gave since then, in their order.
    pub results: Vec<String>,
    /// What was done about it; nothing when no rule fitted.
    pub done: Option<Done>,
}

/// Without most of what the model was told beforehand, which is pages.
impl fmt::Debug for Asked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Asked")
            .field("protocol", &self.protocol)
            .field("session", &self.session)
            .field("model", &self.model)
            .field("system", &excerpt(&self.system))
            .field("prompt", &self.prompt)
            .field("results", &self.results)
            .field("done", &self.done)
            .finish()
    }
}

/// What a scripted model did, and by which part of its scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// The rule's name.
    pub rule: String,
    /// The how-many-th conversation of the rule it was, counted from 1.
    pub n_session: usize,
    /// The how-many-th turn of the session, counted from 1.
    pub n_turn: usize,
    /// The turn's action.
    pub action: Action,
}

/// What the connections share.
#[derive(Debug)]
pub(super) struct State {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Debug)]
struct Inner {
    play: Play,
    asked: Vec<Asked>,
    n_asides: usize,
    n_answers: usize,
    connections: BTreeMap<u64, TcpStream>,
    is_stopped: bool,
}

impl State {
    pub(super) fn new(scenario: Scenario) -> Self {
        Self {
            inner: Mutex::new(Inner {
                play: Play::new(scenario),
                asked: Vec::new(),
                n_asides: 0,
                n_answers: 0,
                connections: BTreeMap::new(),
                is_stopped: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// A panic elsewhere is reported where the threads are joined; what is kept here is whole after each step.
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number that no other answer has.
    pub(super) fn next_number(&self) -> usize {
        let mut inner = self.inner();
        inner.n_answers += 1;
        inner.n_answers
    }

    pub(super) fn heard_aside(&self) {
        self.inner().n_asides += 1;
    }

    /// What the scenario wants to be done; it is in the log before it is done.
    pub(super) fn ask(&self, protocol: Protocol, question: &Question) -> Option<Turn> {
        let mut inner = self.inner();
        let cue = (inner.play).next(
            &question.conversation(),
            &question.prompt,
            question.results.len(),
        );
        let turn = cue.map(|cue| cue.turn.clone());
        let done = cue.map(|cue| Done {
            rule: cue.rule.name.clone(),
            n_session: cue.n_session,
            n_turn: cue.n_turn,
            action: cue.turn.action.clone(),
        });
        inner.asked.push(Asked {
            protocol,
            session: question.session.clone(),
            model: question.model.clone(),
            system: question.system.clone(),
            prompt: question.prompt.clone(),
            results: question.results.clone(),
            done,
        });
        self.changed.notify_all();
        turn
    }

    pub(super) fn asked(&self) -> Vec<Asked> {
        self.inner().asked.clone()
    }

    pub(super) fn n_asides(&self) -> usize {
        self.inner().n_asides
    }

    pub(super) fn n_connections(&self) -> usize {
        self.inner().connections.len()
    }

    /// Waits until something holds for what was asked; false when it took too long.
    pub(super) fn wait_until(&self, within: Duration, is_met: impl Fn(&[Asked]) -> bool) -> bool {
        let waiting = |inner: &mut Inner| !is_met(&inner.asked);
        let waited = self
            .changed
            .wait_timeout_while(self.inner(), within, waiting);
        let (_inner, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        !waited.timed_out()
    }

    /// Lets time pass, or waits for ever; the end of the server ends both.
    pub(super) fn pause(&self, duration: Option<Duration>) {
        let going_on = |inner: &mut Inner| !inner.is_stopped;
        let inner = self.inner();
        match duration {
            Some(duration) => {
                drop(self.changed.wait_timeout_while(inner, duration, going_on));
            }
            None => drop(self.changed.wait_while(inner, going_on)),
        }
    }

    /// Takes a connection in, unless there are too many or all is over.
    pub(super) fn admit(&self, n: u64, stream: &TcpStream) -> Admission {
        let mut inner = self.inner();
        if inner.is_stopped {
            return Admission::Stopped;
        }
        match stream.try_clone() {
            Ok(stream) if inner.connections.len() < MAX_CONNECTIONS => {
                inner.connections.insert(n, stream);
                Admission::Welcome
            }
            Ok(_) | Err(_) => Admission::Refused,
        }
    }

    pub(super) fn dismiss(&self, n: u64) {
        // The clone is dropped outside the lock.
        let gone = self.inner().connections.remove(&n);
        drop(gone);
    }

    /// Ends every wait and every connection.
    pub(super) fn stop(&self) {
        let mut inner = self.inner();
        inner.is_stopped = true;
        for stream in inner.connections.values() {
            // One that the client has closed already needs no end.
            drop(stream.shutdown(Shutdown::Both));
        }
        self.changed.notify_all();
    }
}

/// Whether a connection is served.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Admission {
    Welcome,
    Refused,
    Stopped,
}
