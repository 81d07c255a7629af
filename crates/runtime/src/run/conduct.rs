//! Conducts a run: takes what happened to the engine, writes down what it decides, then lets it be done.
//!
//! One thread decides and writes the journal; each effect runs on its own thread, which answers over a channel. Nothing is
//! performed before the decision about it is on the disk. When the journal cannot be written, nothing more is performed.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Scope;
use std::time::Duration;

use beads_ralph_core::engine::{Action, Effect, Engine, Entry, Event, Outcome, Trouble};
use jiff::Timestamp;
use thiserror::Error;

use super::journal::Journal;
use super::perform::Performer;
use super::poll::Lookout;
use super::tasks::Sight;
use crate::os::clock;
use crate::os::files::FileError;
use crate::store::StoreError;

/// How often screens are updated and signals are checked.
const TICK: Duration = Duration::from_millis(100);

/// Why a run could not go on. What runs was ended; the next run goes on where this one was.
#[derive(Debug, Error)]
pub enum ConductError {
    #[error("the journal cannot be written, so nothing more is done: {0}")]
    Journal(#[source] FileError),
    #[error("the store cannot be read, so nothing more can be decided: {0}")]
    Store(#[source] StoreError),
}

pub trait Audience {
    /// Something happened, and was written down.
    fn entry(&mut self, entry: &Entry, engine: &Engine);

    fn tick(&mut self, engine: &Engine);

    /// Whether the run is to end: nothing, gently, or now. Asked a few times a second.
    fn stop(&mut self) -> Option<Stop>;

    fn warn(&mut self, text: &str);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// What runs may end by itself.
    Gently,
    Now,
}

#[derive(Debug)]
pub struct Conductor<'a> {
    pub engine: Engine,
    pub journal: Journal,
    pub performer: &'a Performer<'a>,
    /// How often the store is looked at.
    pub poll: Duration,
    pub sight: Sight,
}

struct Reply {
    effect: Effect,
    answer: Result<beads_ralph_core::engine::Answer, Trouble>,
}

impl<'a> Conductor<'a> {
    /// Conducts until the run is over. `first` is what a run that was adopted begins with.
    pub fn conduct(
        mut self,
        first: Option<Event>,
        audience: &mut dyn Audience,
    ) -> Result<(Outcome, Engine), ConductError> {
        let performer = self.performer;
        let (sender, receiver) = channel();
        let outcome = std::thread::scope(|scope| {
            let mut stage = Stage {
                scope,
                sender,
                receiver,
                performer,
                lookout: Lookout::new(
                    std::mem::take(&mut self.sight),
                    self.poll,
                    clock::monotonic(),
                ),
            };
            let result = self.play(&mut stage, first, audience);
            if result.is_err() {
                // Whatever runs ends now; nobody will hear of it.
                performer.executor.stop_all();
            }
            result
        })?;
        performer.tidy(&BTreeSet::new());
        Ok((outcome, self.engine))
    }

    fn play<'scope>(
        &mut self,
        stage: &mut Stage<'scope, 'a>,
        first: Option<Event>,
        audience: &mut dyn Audience,
    ) -> Result<Outcome, ConductError> {
        // That another process goes on comes first, so that nothing is begun in its predecessor's name; then what people asked for.
        let orders = stage
            .lookout
            .orders(&self.engine, stage.performer)
            .map_err(ConductError::Store)?;
        let mut events: Vec<Event> = first.into_iter().chain(orders).collect();
        loop {
            // What is known is decided before the store is looked at: what is ours then stands as the engine knows it.
            self.decide(&mut events, stage, audience)?;
            let noticed = stage
                .lookout
                .look(&self.engine, stage.performer, clock::monotonic())
                .map_err(ConductError::Store)?;
            events.extend(noticed.events);
            if let Some(warning) = noticed.warning {
                audience.warn(&warning);
            }
            self.decide(&mut events, stage, audience)?;
            if let Some(outcome) = self.engine.outcome() {
                let is_stopped = matches!(outcome, Outcome::Stopped | Outcome::Fatal(_));
                if noticed.has_looked || is_stopped {
                    return Ok(outcome);
                }
                // Somebody may have added work since the last look (Z-44).
                stage.lookout.hurry();
                continue;
            }
            audience.tick(&self.engine);
            events.extend(stage.wait(self.engine.next_wake(), self.poll));
            events.extend(stage.lookout.stop(audience.stop()));
        }
    }

    /// Takes events to the engine, writes down what it decides, and only then lets it be done.
    fn decide<'scope>(
        &mut self,
        events: &mut Vec<Event>,
        stage: &mut Stage<'scope, 'a>,
        audience: &mut dyn Audience,
    ) -> Result<(), ConductError> {
        if events.is_empty() {
            return Ok(());
        }
        let mut entries = Vec::with_capacity(events.len());
        for event in events.drain(..) {
            let at = clock::wall();
            if event == (Event::StopAsked { now: true }) {
                stage.performer.executor.stop_all();
            }
            let effects = self.engine.handle(at, &event);
            entries.push(Entry {
                seq: self.journal.next_seq(),
                at,
                event,
                effects,
            });
        }
        self.journal
            .append(&entries)
            .map_err(ConductError::Journal)?;
        for entry in &entries {
            audience.entry(entry, &self.engine);
            for effect in &entry.effects {
                stage.begin(effect.clone());
            }
        }
        stage.performer.tidy(&self.engine.working());
        Ok(())
    }
}

struct Stage<'scope, 'a> {
    scope: &'scope Scope<'scope, 'a>,
    sender: Sender<Reply>,
    receiver: Receiver<Reply>,
    performer: &'a Performer<'a>,
    lookout: Lookout,
}

impl Stage<'_, '_> {
    fn begin(&mut self, effect: Effect) {
        if effect.action == Action::Cancel {
            self.performer.executor.cancel(&effect.bead);
            return;
        }
        let (sender, performer) = (self.sender.clone(), self.performer);
        self.scope.spawn(move || {
            let answer = catch_unwind(AssertUnwindSafe(|| performer.perform(&effect)));
            let answer = answer.unwrap_or_else(|_| {
                Err(Trouble::for_run(format!(
                    "a mistake of beads-ralph itself, while it was to {}",
                    effect.action.name()
                )))
            });
            // Nobody listens any more if the run failed.
            drop(sender.send(Reply { effect, answer }));
        });
    }

    /// Waits for the next answer, or for the next thing to do.
    fn wait(&mut self, wake: Option<Timestamp>, poll: Duration) -> Vec<Event> {
        let now = clock::wall();
        let until_wake = wake.map(|wake| {
            wake.duration_since(now)
                .try_into()
                .unwrap_or(Duration::ZERO)
        });
        let wait = [Some(TICK), Some(poll), until_wake]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(TICK);
        let mut events = Vec::new();
        match self.receiver.recv_timeout(wait) {
            Ok(reply) => events.push(reply.into()),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        while let Ok(reply) = self.receiver.try_recv() {
            events.push(reply.into());
        }
        if wake.is_some_and(|wake| wake <= clock::wall()) {
            events.push(Event::Woke);
        }
        events
    }
}

impl From<Reply> for Event {
    fn from(reply: Reply) -> Self {
        Self::Answered {
            effect: reply.effect.id,
            answer: Box::new(reply.answer),
        }
    }
}
