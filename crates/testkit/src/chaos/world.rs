//! The world that processes act upon: its clock, its store, its repository, its pull requests, and what is true in it.
//!
//! Every call of a process goes through a [`Port`]: there it may fail, act and fail all the same, or be the last one of the process; and
//! between two calls a user may do something. The world notes what really happened, and the laws are about that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use beads_ralph_core::bead::{BeadId, QaStatus};
use beads_ralph_core::engine::{CommitId, EffectId, Trouble};
use beads_ralph_core::issue::Fence;
use beads_ralph_core::simulate::Random;
use beads_ralph_runtime::ports::PullState;
use beads_ralph_runtime::store::{MemoryStore, StoreError};
use jiff::Timestamp;

use super::git::Git;
use super::plant::Plant;
use super::report::Counts;
use super::scenario::{Rates, SOURCE, Scenario};
use super::user;

/// A pull request.
#[derive(Debug, Clone)]
pub(super) struct Pull {
    pub(super) branch: String,
    /// The commit that it proposes; one that is open follows its branch.
    pub(super) head: CommitId,
    pub(super) state: PullState,
    pub(super) number: u64,
}

/// A process, as the world knows it.
#[derive(Debug, Clone, Default)]
pub(super) struct Life {
    pub(super) is_alive: bool,
    /// Whether it was killed rather than came to its end.
    pub(super) is_killed: bool,
}

/// What is true, whatever processes believe.
#[derive(Debug, Default)]
pub(super) struct Truth {
    /// What each QA agent said last about a commit.
    pub(super) verdicts: BTreeMap<(BeadId, CommitId), BTreeMap<usize, QaStatus>>,
    /// The commits that checks really passed at.
    pub(super) green: BTreeSet<(BeadId, CommitId)>,
    /// The beads that a run closed and nobody opened again.
    pub(super) closed: BTreeSet<BeadId>,
    /// The beads that a user forced something upon, or opened again.
    pub(super) forced: BTreeSet<BeadId>,
    /// The beads that a user began with anew and nobody has claimed since.
    pub(super) anew: BTreeSet<BeadId>,
    /// The last attempt at a bead that failed, as each run was told.
    pub(super) failed: BTreeMap<(usize, BeadId), u32>,
    /// How many attempts at a bead were written into the store.
    pub(super) recorded: BTreeMap<BeadId, u32>,
    /// The newest fence of each bead.
    pub(super) fences: BTreeMap<BeadId, Fence>,
    /// How often each commit was merged into the target.
    pub(super) merges: BTreeMap<CommitId, u32>,
}

/// The world.
#[derive(Debug)]
pub(super) struct World {
    pub(super) now: Timestamp,
    pub(super) random: Random,
    pub(super) scenario: Scenario,
    pub(super) rates: Rates,
    pub(super) plant: Option<Plant>,
    pub(super) store: MemoryStore,
    pub(super) git: Git,
    pub(super) pulls: Vec<Pull>,
    pub(super) lives: Vec<Life>,
    pub(super) n_crashes_left: u32,
    pub(super) truth: Truth,
    pub(super) violations: Vec<String>,
    pub(super) counts: Counts,
    /// What happened, for people who look for a fault.
    pub(super) log: Option<Vec<String>>,
    /// Agents that were told to end: of which process, for which effect.
    pub(super) cancelled: BTreeSet<(usize, EffectId)>,
    /// Beads whose checks were told to end.
    pub(super) cut_off: BTreeSet<BeadId>,
    /// Numbers for things that must differ.
    n_things: u64,
}

impl World {
    pub(super) fn new(seed: u64, scenario: Scenario, plant: Option<Plant>, logs: bool) -> Self {
        Self {
            now: Timestamp::UNIX_EPOCH,
            random: Random::new(seed),
            rates: scenario.rates,
            n_crashes_left: scenario.max_crashes,
            scenario,
            plant,
            store: MemoryStore::new(),
            git: Git::new(SOURCE),
            pulls: Vec::new(),
            lives: Vec::new(),
            truth: Truth::default(),
            violations: Vec::new(),
            counts: Counts::default(),
            log: logs.then(Vec::new),
            cancelled: BTreeSet::new(),
            cut_off: BTreeSet::new(),
            n_things: 0,
        }
    }

    pub(super) fn is_planted(&self, plant: Plant) -> bool {
        self.plant == Some(plant)
    }

    /// A user began with a bead anew. What is still told of earlier attempts until somebody claims it does not count either.
    pub(super) fn begin_anew(&mut self, bead: &BeadId) {
        self.truth.anew.insert(bead.clone());
        self.forget_attempts(bead);
    }

    pub(super) fn forget_attempts(&mut self, bead: &BeadId) {
        self.truth.recorded.remove(bead);
        self.truth.failed.retain(|(_, failed), _| failed != bead);
    }

    pub(super) fn next_thing(&mut self) -> u64 {
        self.n_things += 1;
        self.n_things
    }

    pub(super) fn say(&mut self, text: impl FnOnce() -> String) {
        if let Some(log) = &mut self.log {
            let passed = self.now.as_second();
            let clock = format!(
                "{}:{:02}:{:02}.{:03}",
                passed / 3600,
                passed / 60 % 60,
                passed % 60,
                self.now.subsec_millisecond()
            );
            log.push(format!("{clock} {}", text()));
        }
    }

    /// Notes that a law was broken.
    pub(super) fn violate(&mut self, text: String) {
        self.say(|| format!("VIOLATION {text}"));
        self.violations.push(text);
    }

    /// What an open pull request proposes is what its branch is now.
    pub(super) fn follow(&mut self) {
        for pull in &mut self.pulls {
            if pull.state == PullState::Open
                && let Some(head) = self.git.remote.get(&pull.branch)
            {
                pull.head.clone_from(head);
            }
        }
    }
}

/// Whether a call only looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Looks,
    Acts,
}

/// How a process reaches the world.
#[derive(Debug, Clone)]
pub(super) struct Port {
    pub(super) world: Arc<Mutex<World>>,
    pub(super) me: usize,
}

/// What becomes of a call besides what it does.
enum Fate {
    Fine,
    /// It fails, and does nothing.
    Before,
    /// It is done, and fails.
    After,
}

impl Port {
    pub(super) fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call of the store.
    pub(super) fn store<T>(
        &self,
        what: &str,
        reach: Reach,
        act: impl FnOnce(&mut World) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let busy = || StoreError::Busy {
            path: "store".into(),
            seconds: 5,
        };
        let rate = |rates: &Rates| rates.store;
        self.call(what, (reach, rate), |_| busy(), act)
    }

    /// A call of git, the forge or the crew.
    pub(super) fn outside<T>(
        &self,
        what: &str,
        reach: Reach,
        act: impl FnOnce(&mut World) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let what_failed = what.to_owned();
        let refuse = move |world: &mut World| {
            let message = format!("{what_failed} failed");
            let rate = world.rates.lasting;
            if !world.random.is_hit(rate) {
                Trouble::passing(message)
            } else if world.random.is_hit(0.7) {
                Trouble::for_bead(message)
            } else {
                Trouble::for_run(message)
            }
        };
        let rate = |rates: &Rates| rates.ports;
        self.call(what, (reach, rate), refuse, act)
    }

    fn call<T, E>(
        &self,
        what: &str,
        (reach, rate): (Reach, fn(&Rates) -> f64),
        refuse: impl Fn(&mut World) -> E,
        act: impl FnOnce(&mut World) -> Result<T, E>,
    ) -> Result<T, E> {
        let world = &mut *self.lock();
        if !world.lives[self.me].is_alive {
            return Err(refuse(world));
        }
        world.counts.calls += 1;
        let user = world.rates.user;
        if world.random.is_hit(user) {
            user::act(world);
        }
        let dies = self.dies(world);
        let fate = fate(world, reach, rate(&world.rates));
        if dies && world.random.is_hit(0.5) {
            self.die(world, &format!("before {what}"));
            return Err(refuse(world));
        }
        let outcome = match fate {
            Fate::Fine => act(world),
            Fate::Before => {
                world.say(|| format!("p{} {what} fails", self.me));
                Err(refuse(world))
            }
            Fate::After => {
                let done = act(world);
                world.say(|| format!("p{} {what} is done and answered with an error", self.me));
                match done {
                    Ok(_) => Err(refuse(world)),
                    error @ Err(_) => error,
                }
            }
        };
        if dies {
            self.die(world, &format!("after {what}"));
            return Err(refuse(world));
        }
        outcome
    }

    /// Whether this call is the last one.
    #[expect(clippy::unused_self, reason = "it is a question about this process")]
    pub(super) fn dies(&self, world: &mut World) -> bool {
        let rate = world.rates.dies;
        world.n_crashes_left > 0 && world.random.is_hit(rate)
    }

    /// Ends the process as `kill -9` does.
    pub(super) fn die(&self, world: &mut World, when: &str) {
        world.n_crashes_left = world.n_crashes_left.saturating_sub(1);
        world.counts.crashes += 1;
        let life = &mut world.lives[self.me];
        life.is_alive = false;
        life.is_killed = true;
        world.say(|| format!("p{} dies {when}", self.me));
    }

    pub(super) fn is_alive(&self) -> bool {
        self.lock().lives[self.me].is_alive
    }
}

fn fate(world: &mut World, reach: Reach, rate: f64) -> Fate {
    if !world.random.is_hit(rate) {
        return Fate::Fine;
    }
    world.counts.errors += 1;
    if reach == Reach::Acts && world.random.is_hit(0.5) {
        world.counts.lost_replies += 1;
        return Fate::After;
    }
    Fate::Before
}
