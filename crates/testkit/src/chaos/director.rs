//! Lets virtual time pass: processes begin, decide, write their journals and perform; they die and are followed by others.
//!
//! A process here is what a conductor makes of one: the real engine, the real performer, the real lookout and the real recovery. Only
//! threads and the clock are played. An effect is performed as a whole at the moment when it is over; while it is under way, everything
//! else goes on.

mod looking_back;

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
use beads_ralph_core::simulate::{Model, Play, Recorded, Source, launches};
use beads_ralph_runtime::run::{Lookout, Performer, Sight, place, take_over};
use jiff::{SignedDuration, Timestamp};

use self::looking_back::{failed_attempt, heard, told};
use super::books::Books;
use super::crew::leave_half;
use super::laws;
use super::plant::Plant;
use super::scenario::{ROOT, Rates};
use super::user;
use super::world::{Port, World};

/// The machine that everything happens on.
pub(super) const HOST: &str = "host";

/// How much may happen before a run counts as one that does not end.
const MAX_STEPS: u32 = 60_000;

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

    /// A process begins: it goes on with a run that was left, or begins one.
    fn start(&mut self) {
        let me = self.n_started;
        if me >= self.ports.len() {
            return;
        }
        self.n_started += 1;
        self.processes.push(None);
        {
            let mut world = self.world();
            world.counts.processes += 1;
            world.lives[me].is_alive = true;
        }
        let (run, is_adopted) = self.take_run(me);
        let Some(engine) = self.engine_of(run, is_adopted) else {
            return;
        };
        self.become_process(me, run);
        let adopted = is_adopted.then_some(&engine);
        let world = Arc::clone(&self.world);
        let is_dead = |holder: &Holder| {
            let world = world.lock().unwrap_or_else(PoisonError::into_inner);
            let process = holder.process.as_ref();
            process.is_some_and(|it| !world.lives[it.pid as usize].is_alive)
        };
        let first = take_over(&self.performers[me], adopted, is_dead);
        let poll = Duration::from_millis(engine.settings().poll_ms);
        let lookout = Lookout::new(Sight::knowing(engine.known()), poll, self.instant());
        self.processes[me] = Some(Process {
            run,
            engine,
            lookout,
            begun: BTreeMap::new(),
            unwritten: Vec::new(),
            is_fresh: self.is_calm && !is_adopted,
        });
        match first {
            Ok(first) => self.go_on(me, first.into_iter().collect()),
            Err(trouble) => self.give_up(me, &trouble.message),
        }
        self.plan(self.poll_ms(), Happening::Poll(me));
    }

    fn poll_ms(&self) -> u64 {
        self.world().scenario.settings.poll_ms
    }

    /// The newest run that was left, or a new one; older ones that were left are settled.
    fn take_run(&mut self, me: usize) -> (usize, bool) {
        let mut left: Vec<usize> = (0..self.runs.len())
            .filter(|run| !self.runs[*run].is_over && self.runs[*run].lock.is_none())
            .collect();
        if let Some(newest) = left.pop() {
            for older in left {
                self.runs[older].is_over = true;
            }
            self.runs[newest].lock = Some(me);
            self.runs[newest].books.forget_all();
            return (newest, true);
        }
        let is_calm = self.is_calm;
        let (now, settings, caps) = {
            let world = self.world();
            let mut settings = world.scenario.settings.clone();
            settings.is_once &= !is_calm;
            if is_calm {
                // There is enough money for everything that is left.
                settings.caps = Caps::default();
            }
            let caps = settings.caps;
            if world.is_planted(Plant::BudgetIgnored) {
                settings.caps = Caps::default();
            }
            (world.now, settings, caps)
        };
        let settings = Settings {
            run: format!("run-{}", self.runs.len()),
            ..settings
        };
        self.runs.push(RunFile {
            head: Head::new(settings, "test", "mark", now),
            entries: Vec::new(),
            is_over: false,
            lock: Some(me),
            books: Books::default(),
            caps,
        });
        (self.runs.len() - 1, false)
    }

    fn engine_of(&self, run: usize, is_adopted: bool) -> Option<Engine> {
        let file = &self.runs[run];
        if !is_adopted {
            return Some(Engine::new(file.head.settings.clone()));
        }
        match replay(&file.head, &file.entries) {
            Ok(engine) => Some(engine),
            Err(error) => {
                self.world().violate(format!(
                    "replay: a run that was left cannot be gone on with: {error}"
                ));
                None
            }
        }
    }

    fn become_process(&mut self, me: usize, run: usize) {
        let id = self.runs[run].head.settings.run.clone();
        let site = &mut self.performers[me].site;
        site.run.clone_from(&id);
        site.holder = Holder {
            run: id.clone(),
            host: HOST.to_owned(),
            process: Some(HolderProcess {
                pid: u32::try_from(me).unwrap_or(u32::MAX),
                started: me as u64,
                boot: "boot".to_owned(),
                machine: None,
                namespace: None,
            }),
        };
        let word = if self.runs[run].entries.is_empty() {
            "begins"
        } else {
            "goes on with"
        };
        self.world().say(|| format!("p{me} {word} {id}"));
    }

    /// Whether a process lives; what a dead one had in memory is gone.
    fn lives(&mut self, me: usize) -> bool {
        if self.processes[me].is_none() {
            return false;
        }
        if self.ports[me].is_alive() {
            return true;
        }
        self.bury(me);
        false
    }

    /// What is left of a process that was killed: half of what its agents were at, and a lock that is free.
    fn bury(&mut self, me: usize) {
        let Some(process) = self.processes[me].take() else {
            return;
        };
        self.runs[process.run].lock = None;
        for effect in process.begun.values() {
            self.leave_half_of(effect);
        }
        let wait = 10_000 + self.below(1_800_000);
        self.plan(wait, Happening::Start);
    }

    fn leave_half_of(&self, effect: &Effect) {
        let mut world = self.world();
        let is_at_work = matches!(
            effect.action,
            Action::Develop { .. } | Action::Resolve { .. } | Action::Lead { .. }
        );
        let bead = world
            .scenario
            .beads
            .iter()
            .find(|bead| bead.id == effect.bead);
        if let Some(bead) = bead.filter(|_| is_at_work) {
            let place = place(ROOT.into(), bead);
            if world.random.is_hit(0.5) {
                leave_half(&mut world, &effect.bead, &place);
            }
        }
    }

    /// A process that cannot go on ends by itself; its run is left.
    fn give_up(&mut self, me: usize, why: &str) {
        if !self.lives(me) {
            return;
        }
        {
            let mut world = self.world();
            world.say(|| format!("p{me} gives up: {why}"));
            world.lives[me].is_alive = false;
        }
        self.bury(me);
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

    /// Looks around, decides, and ends when there is nothing left to do.
    fn go_on(&mut self, me: usize, mut events: Vec<Event>) {
        let now = self.instant();
        let Some(process) = &mut self.processes[me] else {
            return;
        };
        let noticed = process
            .lookout
            .look(&process.engine, &self.performers[me], now);
        match noticed {
            Ok(noticed) => events.extend(noticed.events),
            Err(error) => return self.give_up(me, &error.to_string()),
        }
        if self.lives(me) {
            self.decide(me, events);
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
            self.decide(me, vec![Event::Woke]);
        }
    }

    /// Takes events to the engine, writes down what it decides, and only then lets it be done.
    fn decide(&mut self, me: usize, events: Vec<Event>) {
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
        }
        if !lives {
            return;
        }
        for entry in decided {
            self.begin_all(me, &entry);
        }
        self.after_decision(me);
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

    fn begin_all(&mut self, me: usize, entry: &Entry) {
        {
            let mut world = self.world();
            world.say(|| format!("p{me} {}", told(&entry.event)));
        }
        for effect in &entry.effects {
            self.begin(me, effect);
        }
    }

    fn begin(&mut self, me: usize, effect: &Effect) {
        {
            let mut world = self.world();
            world.say(|| {
                format!(
                    "p{me}   → {} {} {}",
                    effect.id,
                    effect.bead,
                    effect.action.name()
                )
            });
        }
        let Some(process) = &mut self.processes[me] else {
            return;
        };
        if effect.action == Action::Cancel {
            return self.cancel(me, &effect.bead);
        }
        process.begun.insert(effect.id, effect.clone());
        self.check_launch(me, effect);
        let wait = self.duration(&effect.action);
        self.plan(wait, Happening::Perform(me, effect.clone()));
    }

    fn duration(&self, action: &Action) -> u64 {
        match action {
            Action::Develop { .. } | Action::Lead { .. } | Action::Resolve { .. } => {
                60_000 + self.below(1_800_000)
            }
            Action::Judge { .. } => 30_000 + self.below(600_000),
            Action::Verify { .. } => 10_000 + self.below(300_000),
            _ => 100 + self.below(3_000),
        }
    }

    /// What must be so when an agent begins.
    fn check_launch(&mut self, me: usize, effect: &Effect) {
        let Some(launch) = effect.action.launch() else {
            return;
        };
        let Some(run) = self.processes[me].as_ref().map(|process| process.run) else {
            return;
        };
        let bead = &effect.bead;
        let (team, most) = {
            let world = self.world();
            let known = world.scenario.beads.iter().find(|it| it.id == *bead);
            let team = known.map_or_else(String::new, |it| it.metadata.team_name.clone());
            let most = known.map_or(0, |it| it.metadata.max_retry_attempts);
            (team, most)
        };
        let file = &mut self.runs[run];
        let broken = (file.books).begin(effect.id, (bead, &team), launch, &file.caps);
        let is_work = match &effect.action {
            Action::Develop { .. } | Action::Resolve { .. } => true,
            Action::Lead { only_pull, .. } => !only_pull,
            _ => false,
        };
        let mut world = self.world();
        if let Some(broken) = broken {
            world.violate(broken);
        }
        if launch.attempt > most {
            let attempt = launch.attempt;
            world.violate(format!(
                "attempts: attempt {attempt} at {bead}, which may have {most}"
            ));
        }
        let failed = world.truth.failed.get(&(run, bead.clone())).copied();
        let failed = failed.max(world.truth.recorded.get(bead).copied());
        if is_work && failed.is_some_and(|failed| launch.attempt <= failed) {
            world.violate(format!(
                "attempts: attempt {} at {bead} again, after attempt {failed:?} failed",
                launch.attempt
            ));
        }
        let is_forced = world.truth.forced.contains(bead);
        drop(world);
        let is_elsewhere = (self.processes.iter().enumerate()).any(|(other, process)| {
            let mut begun = process.iter().flat_map(|process| process.begun.values());
            other != me && begun.any(|it| it.bead == *bead && it.action.launch().is_some())
        });
        if is_work && is_elsewhere && !is_forced {
            self.world()
                .violate(format!("two holders: two processes work on {bead}"));
        }
    }

    /// Ends what runs for a bead, now.
    fn cancel(&mut self, me: usize, bead: &BeadId) {
        let runs = |happening: &Happening| match happening {
            Happening::Perform(who, effect) => {
                let is_running = effect.action.launch().is_some()
                    || matches!(effect.action, Action::Verify { .. });
                *who == me && effect.bead == *bead && is_running
            }
            _ => false,
        };
        let slots: Vec<(Timestamp, u64)> = (self.agenda.iter())
            .filter(|(_, happening)| runs(happening))
            .map(|(slot, _)| *slot)
            .collect();
        for slot in slots {
            let Some(Happening::Perform(_, effect)) = self.agenda.remove(&slot) else {
                continue;
            };
            {
                let mut world = self.world();
                if effect.action.launch().is_some() {
                    world.cancelled.insert((me, effect.id));
                } else {
                    world.cut_off.insert(effect.bead.clone());
                }
            }
            if let Some(process) = &self.processes[me] {
                self.runs[process.run].books.forget(effect.id);
            }
            self.plan(100, Happening::Perform(me, effect));
        }
    }

    fn perform(&mut self, me: usize, effect: &Effect) {
        if !self.lives(me) {
            return;
        }
        let mut answer = self.performers[me].perform(effect);
        if !self.lives(me) {
            return;
        }
        if let Some(process) = &mut self.processes[me] {
            process.begun.remove(&effect.id);
        }
        self.note_written(effect, &answer);
        {
            let mut world = self.world();
            if world.is_planted(Plant::RedToldAsGreen)
                && let Ok(Answer::Verified { is_green, .. }) = &mut answer
            {
                *is_green = true;
            }
            world.say(|| format!("p{me} {} {}: {}", effect.id, effect.bead, heard(&answer)));
        }
        let (wait, twice) = {
            let mut world = self.world();
            let rate = world.rates.twice;
            (world.random.below(2_000), world.random.is_hit(rate))
        };
        let answer = Box::new(answer);
        if twice {
            self.world().counts.twice += 1;
            let again = wait + self.below(600_000);
            self.plan(again, Happening::Reply(me, effect.id, answer.clone()));
        }
        self.plan(wait, Happening::Reply(me, effect.id, answer));
    }

    /// How many attempts are in the store now.
    fn note_written(&self, effect: &Effect, answer: &Result<Answer, Trouble>) {
        let (Action::Record { progress }
        | Action::Release { progress }
        | Action::Block { progress, .. }) = &effect.action
        else {
            return;
        };
        if answer.is_ok() {
            let mut world = self.world();
            let bead = effect.bead.clone();
            world.truth.recorded.insert(bead.clone(), progress.attempts);
            if matches!(effect.action, Action::Release { .. }) {
                world.truth.failed.retain(|(_, failed), _| *failed != bead);
            }
        }
    }

    fn reply(&mut self, me: usize, effect: EffectId, answer: Box<Result<Answer, Trouble>>) {
        if !self.lives(me) {
            return;
        }
        let Some(process) = &self.processes[me] else {
            return;
        };
        let run = process.run;
        let asked = process.engine.outstanding().find(|it| it.id == effect);
        let asked = asked.cloned();
        self.heard = Some(Heard {
            run,
            effect,
            asked,
            answer: answer.clone(),
        });
        self.decide(me, vec![Event::Answered { effect, answer }]);
        self.heard = None;
    }

    /// What an answer says about attempts and money, the first time that it is heard.
    fn note_answer(&mut self) {
        let Some(heard) = self.heard.take() else {
            return;
        };
        let (run, effect, answer) = (heard.run, heard.effect, &*heard.answer);
        let Some(asked) = heard.asked else {
            return self.runs[run].books.forget(effect);
        };
        let spent = match answer {
            Ok(
                Answer::Ended { report }
                | Answer::Judged { report, .. }
                | Answer::Led { report, .. },
            ) => report.spent,
            _ => Spent::default(),
        };
        let file = &mut self.runs[run];
        let broken = file.books.end(effect, &spent, &file.caps);
        let mut world = self.world();
        if let Some(broken) = broken {
            world.violate(broken);
        }
        if let Some(attempt) = failed_attempt(&asked.action, answer) {
            let key = (run, asked.bead);
            let known = world.truth.failed.entry(key).or_default();
            *known = attempt.max(*known);
        }
    }
}
