//! One round: the engine gets the answers of the model, at the times that the model says.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::answer::{World, after};
use super::model::WorldModel;
use super::recorded::{Counter, Recorded};
use super::round::{Round, Watch};
use crate::engine::{Action, Effect, Engine, Entry, Event, Outcome, Settings, Task};

/// One round to play.
#[derive(Debug)]
pub struct Play<'a> {
    /// How the run decides.
    pub settings: Settings,
    /// The beads at its beginning.
    pub tasks: Vec<Task>,
    /// The world as numbers.
    pub model: &'a WorldModel,
    /// Where durations and answers come from.
    pub source: Source<'a>,
    /// What draws are made from.
    pub seed: u64,
    /// When it begins.
    pub began: Timestamp,
}

/// Where durations and answers come from.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// They are drawn.
    Drawn,
    /// They are those of a run that was; what was not done in it is drawn.
    WhatIf(&'a Recorded),
    /// They are those of a run that was, and everything else happens as it did then too: the same decisions must follow.
    Again(&'a Recorded),
}

/// How a round ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// As runs end.
    Run(Outcome),
    /// Nothing was left to happen, and the engine did not end: the recording ends there, or the engine is at fault.
    Stuck,
    /// It was stopped: too much happened.
    TooLong,
}

impl Play<'_> {
    /// Plays it.
    pub fn run(self) -> Round {
        let began = self.began;
        let mut player = Player {
            engine: Engine::new(self.settings),
            world: World::new(self.model, self.seed, &self.tasks),
            source: self.source,
            agenda: BTreeMap::new(),
            counter: Counter::default(),
            entries: Vec::new(),
            watch: Watch::default(),
            n_planned: 0,
            now: began,
        };
        if let Source::Again(recorded) = self.source {
            for (at, seq, event) in recorded.others() {
                player.plan(*at, *seq, event.clone());
            }
        } else {
            let seen = Event::Seen {
                tasks: self.tasks.clone(),
                gone: Vec::new(),
                parked: Vec::new(),
            };
            player.plan(began, 0, seen);
        }
        let max_steps = 100_000 + self.tasks.len() * 2_000;
        let ending = player.play(max_steps);
        player.round(&self.tasks, ending, began)
    }
}

/// When something happens; at the same time, what was recorded comes in the order of its journal, and then what was planned first.
type Slot = (Timestamp, u64, u64);

struct Player<'a> {
    engine: Engine,
    world: World<'a>,
    source: Source<'a>,
    agenda: BTreeMap<Slot, Event>,
    counter: Counter,
    entries: Vec<Entry>,
    watch: Watch,
    n_planned: u64,
    now: Timestamp,
}

impl Player<'_> {
    fn plan(&mut self, at: Timestamp, seq: u64, event: Event) {
        self.n_planned += 1;
        self.agenda.insert((at, seq, self.n_planned), event);
    }

    fn play(&mut self, max_steps: usize) -> Ending {
        for _ in 0..max_steps {
            let Some((at, event)) = self.next() else {
                return Ending::Stuck;
            };
            self.now = self.now.max(at);
            self.step(event);
            if let Some(outcome) = self.engine.outcome() {
                // A recorded run that was resumed did not end there.
                if !(matches!(self.source, Source::Again(_)) && self.is_more_to_come()) {
                    return Ending::Run(outcome);
                }
            }
        }
        Ending::TooLong
    }

    fn is_more_to_come(&self) -> bool {
        !self.agenda.is_empty()
    }

    /// What happens next, and when.
    fn next(&mut self) -> Option<(Timestamp, Event)> {
        // A recorded run has its own wakes, and none while no process ran.
        let wake = match self.source {
            Source::Again(_) => None,
            Source::Drawn | Source::WhatIf(_) => self.engine.next_wake(),
        };
        let first = self.agenda.first_key_value().map(|((at, ..), _)| *at);
        match (first, wake) {
            (Some(first), Some(wake)) if wake < first => Some((wake, Event::Woke)),
            (None, Some(wake)) => Some((wake, Event::Woke)),
            _ => self.agenda.pop_first().map(|((at, ..), event)| (at, event)),
        }
    }

    fn step(&mut self, event: Event) {
        self.watch.take_event(self.now, &event);
        let effects = self.engine.handle(self.now, &event);
        for effect in &effects {
            self.watch.take_effect(self.now, effect);
            self.perform(effect);
        }
        self.entries.push(Entry {
            seq: u64::try_from(self.entries.len()).unwrap_or(u64::MAX) + 1,
            at: self.now,
            event,
            effects,
        });
    }

    fn perform(&mut self, effect: &Effect) {
        if effect.action == Action::Cancel {
            return;
        }
        let key = self.counter.key(effect);
        let (at, seq, answer) = match self.source {
            Source::Again(recorded) | Source::WhatIf(recorded)
                if recorded.memory(&key).is_some_and(Option::is_some) =>
            {
                let Some(Some(memory)) = recorded.memory(&key) else {
                    return;
                };
                let took = memory.took.max(SignedDuration::ZERO);
                let at = self.now.checked_add(took).unwrap_or(Timestamp::MAX);
                (at, memory.seq, memory.answer_at(self.now))
            }
            // It was never answered then.
            Source::Again(_) => return,
            Source::Drawn | Source::WhatIf(_) => {
                let (took, answer) = self.world.answer(self.now, effect, &key);
                (after(self.now, took), u64::MAX, answer)
            }
        };
        let event = Event::Answered {
            effect: effect.id,
            answer: Box::new(answer),
        };
        self.plan(at, seq, event);
    }

    fn round(self, tasks: &[Task], ending: Ending, began: Timestamp) -> Round {
        let view = self.engine.view();
        Round {
            ending,
            began,
            ended: self.now,
            width: self.engine.settings().max_parallel.max(1),
            spent: view.spent,
            links: self.watch.critical_path(tasks),
            busy_ms: self.watch.busy_ms(),
            n_attempts: self.watch.n_attempts(),
            n_runs: self.watch.n_runs(),
            n_closed: self.watch.n_closed(),
            entries: self.entries,
        }
    }
}
