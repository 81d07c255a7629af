//! Lets virtual time pass: processes begin, decide, write their journals and perform; they die and are followed by others.
//!
//! A process here is what a conductor makes of one: the real engine, the real performer, the real lookout and the real recovery. Only
//! threads and the clock are played. An effect is performed as a whole at the moment when it is over; while it is under way, everything
//! else goes on.

mod looking_back;
mod performing;
mod starting;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use beads_ralph_core::agent::Status;
use beads_ralph_core::bead::{BeadId, QaStatus};
use beads_ralph_core::engine::{
    Action, AgentReport, Answer, Caps, Effect, EffectId, Engine, Entry, Event, Head, Outcome,
    Settings, Spent, Trouble, replay,
};
use beads_ralph_core::issue::{Holder, HolderProcess};
use beads_ralph_core::simulate::{Play, Recorded, Source, WorldModel, launches};
use beads_ralph_runtime::run::{Lookout, Performer, Sight, place, take_over};
use jiff::{SignedDuration, Timestamp};

use self::looking_back::{failed_attempt, heard, told};
use super::books::Books;
use super::crew::leave_half;
use super::laws;
use super::plant::Plant;
use super::scenario::{ROOT, Rates, name_of};
use super::user;
use super::world::{Port, World};

/// The machine that everything happens on.
pub(super) const HOST: &str = "host";

/// How much may happen before a run counts as one that does not end.
const MAX_STEPS: u32 = 60_000;

/// How many processes begin before the weather is fine.
const MAX_ROUGH_STARTS: usize = 48;

/// How often a run is begun anew in fine weather.
const MAX_CALM_STARTS: u32 = 12;

/// Something that will happen.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a few of them wait at a time")]
enum Happening {
    Start,
    Poll(usize),
    Wake(usize),
    Perform(usize, Effect),
    Reply(usize, EffectId, Box<Result<Answer, Trouble>>),
    Calm,
}

/// A run as it lies on the disk.
#[derive(Debug)]
struct RunFile {
    head: Head,
    entries: Vec<Entry>,
    is_over: bool,
    /// The process that has its lock.
    lock: Option<usize>,
    books: Books,
    /// What may be spent, whatever the engine was told.
    caps: Caps,
}

/// What a process has in memory.
#[derive(Debug)]
struct Process {
    run: usize,
    engine: Engine,
    lookout: Lookout,
    /// What was begun and is not over.
    begun: BTreeMap<EffectId, Effect>,
    /// Entries that a planted fault has not written yet.
    unwritten: Vec<Entry>,
    /// Whether it began a new run in fine weather.
    is_fresh: bool,
}

/// An answer that is being taken to the engine.
#[derive(Debug)]
struct Heard {
    run: usize,
    effect: EffectId,
    /// What was asked for, unless the engine knows the answer already.
    asked: Option<Effect>,
    answer: Box<Result<Answer, Trouble>>,
}

/// The director.
pub(super) struct Director<'a> {
    pub(super) world: Arc<Mutex<World>>,
    pub(super) ports: &'a [Port],
    pub(super) performers: Vec<Performer<'a>>,
    agenda: BTreeMap<(Timestamp, u64), Happening>,
    n_planned: u64,
    n_started: usize,
    runs: Vec<RunFile>,
    processes: Vec<Option<Process>>,
    heard: Option<Heard>,
    /// Where monotonic time began.
    zero: Instant,
    is_calm: bool,
    n_calm_starts: u32,
    is_satisfied: bool,
}

impl<'a> Director<'a> {
    pub(super) fn new(
        world: Arc<Mutex<World>>,
        ports: &'a [Port],
        performers: Vec<Performer<'a>>,
        zero: Instant,
    ) -> Self {
        Self {
            world,
            ports,
            performers,
            agenda: BTreeMap::new(),
            n_planned: 0,
            n_started: 0,
            runs: Vec::new(),
            processes: Vec::new(),
            heard: None,
            zero,
            is_calm: false,
            n_calm_starts: 0,
            is_satisfied: false,
        }
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Timestamp {
        self.world().now
    }

    fn instant(&self) -> Instant {
        let passed = self.now().duration_since(Timestamp::UNIX_EPOCH);
        self.zero + Duration::try_from(passed).unwrap_or_default()
    }

    fn below(&self, n: u64) -> u64 {
        self.world().random.below(n)
    }

    fn plan(&mut self, after_ms: u64, happening: Happening) {
        let wait = SignedDuration::from_millis(i64::try_from(after_ms).unwrap_or(i64::MAX));
        let at = self.now().checked_add(wait).unwrap_or(Timestamp::MAX);
        self.plan_at(at, happening);
    }

    fn plan_at(&mut self, at: Timestamp, happening: Happening) {
        self.n_planned += 1;
        self.agenda.insert((at, self.n_planned), happening);
    }

    /// Lets everything happen.
    pub(super) fn run(&mut self) {
        let (n_orchestrators, calm_after) = {
            let scenario = &self.world().scenario;
            (scenario.n_orchestrators, scenario.calm_after)
        };
        for n in 0..n_orchestrators {
            self.plan(n as u64 * 1_000, Happening::Start);
        }
        self.plan(calm_after * 60_000, Happening::Calm);
        let mut n_steps = 0;
        while let Some(((at, _), happening)) = self.agenda.pop_first() {
            n_steps += 1;
            {
                let mut world = self.world();
                world.now = world.now.max(at);
                if n_steps > MAX_STEPS {
                    world.violate("end: the run does not end".to_owned());
                }
                if !world.violations.is_empty() {
                    drop(world);
                    return self.describe();
                }
            }
            self.step(happening);
            if self.is_satisfied {
                break;
            }
        }
        self.look_back();
    }

    /// What every process has in mind, for people who look for a fault.
    fn describe(&self) {
        for (me, process) in self.processes.iter().enumerate() {
            let Some(process) = process else { continue };
            let view = process.engine.view();
            let mut world = self.world();
            world.say(|| {
                format!(
                    "p{me} is {:?} and will be woken {:?}",
                    view.state,
                    process.engine.next_wake()
                )
            });
            for effect in process.engine.outstanding() {
                world.say(|| format!("p{me} waits for {} {}", effect.bead, effect.action.name()));
            }
            for bead in view.beads {
                world.say(|| format!("p{me} knows {} {:?}", bead.id, bead.state));
            }
        }
    }

    fn step(&mut self, happening: Happening) {
        match happening {
            Happening::Start => self.start(),
            Happening::Poll(me) => self.poll(me),
            Happening::Wake(me) => self.wake(me),
            Happening::Perform(me, effect) => self.perform(me, &effect),
            Happening::Reply(me, effect, answer) => self.reply(me, effect, answer),
            Happening::Calm => self.calm(),
        }
    }

    /// From now on nothing goes wrong, and everything must come to its end.
    fn calm(&mut self) {
        self.is_calm = true;
        {
            let mut world = self.world();
            world.rates = Rates::CALM;
            user::resume(&mut world);
        }
        if !self.is_anybody_there() {
            self.plan(0, Happening::Start);
        }
    }

    fn is_anybody_there(&self) -> bool {
        let is_starting = |it: &Happening| matches!(it, Happening::Start);
        self.processes.iter().any(Option::is_some) || self.agenda.values().any(is_starting)
    }

    fn poll(&mut self, me: usize) {
        if !self.lives(me) {
            return;
        }
        self.go_on(me, Vec::new());
        if self.lives(me) {
            self.plan(self.poll_ms(), Happening::Poll(me));
        }
    }

    /// Decides about what happened, looks around, decides about that, and ends when there is nothing left to do.
    fn go_on(&mut self, me: usize, events: Vec<Event>) {
        self.decide(me, events);
        if !self.lives(me) {
            return;
        }
        let now = self.instant();
        let Some(process) = &mut self.processes[me] else {
            return;
        };
        let noticed = process
            .lookout
            .look(&process.engine, &self.performers[me], now);
        let noticed = match noticed {
            Ok(noticed) => noticed.events,
            Err(error) => return self.give_up(me, &error.to_string()),
        };
        if self.lives(me) {
            self.decide(me, noticed);
            self.after_decision(me);
        }
    }

    fn wake(&mut self, me: usize) {
        if !self.lives(me) || self.world().is_planted(Plant::DeferredForgotten) {
            return;
        }
        let now = self.now();
        let process = self.processes[me].as_ref();
        let wake = process.and_then(|process| process.engine.next_wake());
        if wake.is_some_and(|wake| wake <= now) {
            self.go_on(me, vec![Event::Woke]);
        }
    }

    /// Takes events to the engine, writes down what it decides, and only then lets it be done.
    fn decide(&mut self, me: usize, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        let now = self.now();
        let is_late = self.world().is_planted(Plant::JournalAfterEffects);
        let ignores = self.world().is_planted(Plant::DependenciesIgnored);
        let Some(process) = &mut self.processes[me] else {
            return;
        };
        let run = process.run;
        let mut entries = std::mem::take(&mut process.unwritten);
        let n_old = entries.len();
        for mut event in events {
            if let (Event::Seen { tasks, .. }, true) = (&mut event, ignores) {
                for task in tasks.iter_mut() {
                    task.waits_for.clear();
                    task.is_put_off = false;
                }
            }
            let effects = process.engine.handle(now, &event);
            let seq = self.runs[run].entries.len() + entries.len() + 1;
            entries.push(Entry {
                seq: seq as u64,
                at: now,
                event,
                effects,
            });
        }
        let decided: Vec<Entry> = entries[n_old..].to_vec();
        let written = if is_late {
            process.unwritten = entries.split_off(n_old);
            entries
        } else {
            entries
        };
        let n_written = self.runs[run].entries.len();
        let lives = self.write(me, run, written);
        // What a process heard and did not write down before it died was never heard.
        if self.runs[run].entries.len() > n_written {
            self.note_answer();
            self.note_losses(me);
        }
        if !lives {
            return;
        }
        for entry in decided {
            self.begin_all(me, &entry);
        }
        if let Some(process) = self.processes[me].as_ref() {
            self.performers[me].tidy(&process.engine.working());
        }
    }

    /// Writes entries; the process may die before or after that.
    fn write(&mut self, me: usize, run: usize, entries: Vec<Entry>) -> bool {
        let port = &self.ports[me];
        let dies = {
            let mut world = self.world();
            port.dies(&mut world)
        };
        let is_before = dies && self.below(2) == 0;
        if !is_before {
            self.runs[run].entries.extend(entries);
        }
        if dies {
            let when = if is_before { "before" } else { "after" };
            port.die(&mut self.world(), &format!("{when} it wrote its journal"));
        }
        self.lives(me)
    }
}
