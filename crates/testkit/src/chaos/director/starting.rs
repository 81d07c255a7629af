//! Processes begin, resume interrupted runs, and die.

use super::{
    Action, Arc, BTreeMap, Books, Caps, Director, Duration, Effect, Engine, Event, HOST, Happening,
    Head, Holder, HolderProcess, Lookout, MAX_ROUGH_STARTS, Plant, PoisonError, Process, ROOT,
    RunFile, Settings, Sight, leave_half, name_of, place, replay, take_over,
};

impl Director<'_> {
    /// A process begins: it resumes an interrupted run, or begins one.
    pub(super) fn start(&mut self) {
        let me = self.n_started;
        let is_enough = !self.is_calm && me >= MAX_ROUGH_STARTS;
        if is_enough || me >= self.ports.len() {
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
            Ok(first) => self.set_out(me, first),
            Err(trouble) => self.give_up(me, &trouble.message),
        }
        self.plan(self.poll_ms(), Happening::Poll(me));
    }

    pub(super) fn poll_ms(&self) -> u64 {
        self.world().scenario.settings.poll_ms
    }

    /// The newest run that was left, or a new one; older ones that were left are settled.
    pub(super) fn take_run(&mut self, me: usize) -> (usize, bool) {
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
            run: name_of(self.runs.len()),
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

    pub(super) fn engine_of(&self, run: usize, is_adopted: bool) -> Option<Engine> {
        let file = &self.runs[run];
        if !is_adopted {
            return Some(Engine::new(file.head.settings.clone()));
        }
        match replay(&file.head, &file.entries) {
            Ok(engine) => Some(engine),
            Err(error) => {
                self.world().violate(format!(
                    "replay: an interrupted run cannot be resumed: {error}"
                ));
                None
            }
        }
    }

    pub(super) fn become_process(&mut self, me: usize, run: usize) {
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
            "resumes"
        };
        self.world().say(|| format!("p{me} {word} {id}"));
    }

    /// Whether a process lives; what a dead one had in memory is gone.
    pub(super) fn lives(&mut self, me: usize) -> bool {
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
    pub(super) fn bury(&mut self, me: usize) {
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

    pub(super) fn leave_half_of(&self, effect: &Effect) {
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
    pub(super) fn give_up(&mut self, me: usize, why: &str) {
        if !self.lives(me) {
            return;
        }
        {
            let mut world = self.world();
            world.say(|| format!("p{me} stops: {why}"));
            world.lives[me].is_alive = false;
        }
        self.bury(me);
    }

    /// Hears what comes first, as the conductor does: that it goes on for another process, then what people asked for.
    pub(super) fn set_out(&mut self, me: usize, first: Option<Event>) {
        let Some(process) = &mut self.processes[me] else {
            return;
        };
        let orders = process
            .lookout
            .orders(&process.engine, &self.performers[me]);
        match orders {
            Ok(orders) => self.go_on(me, first.into_iter().chain(orders).collect()),
            Err(error) => self.give_up(me, &error.to_string()),
        }
    }
}
