//! Begins a run, or resumes one whose process is dead (Z-4).
//!
//! A run that is not over and whose lock is free has no process any more. Whoever starts next takes it over: its journal is folded,
//! what its processes left is ended, its beads are claimed anew, and what was under way is done again or found done.

use std::sync::{Arc, Mutex, PoisonError};

use beads_ralph_core::agent::Permissions;
use beads_ralph_core::bead::Rules;
use beads_ralph_core::engine::{
    Engine, Event, Head, Outcome, ReplayError, Selection, Settings, Trouble, replay,
};
use beads_ralph_core::issue::{Abandoned, Claim, Holder, Liveness};
use camino::Utf8Path;
use jiff::Timestamp;
use thiserror::Error;

use super::activity::Activity;
use super::conduct::{Audience, ConductError, Conductor};
use super::executor::{LocalExecutor, mark_of};
use super::journal::{Journal, JournalError, RunDirectory, RunEnd};
use super::perform::{Performer, Site};
use super::port_book::PortBook;
use super::tasks::{Sight, TaskReader};
use crate::bead_files::Ralph;
use crate::config::Config;
use crate::os::files::{FileError, Lock};
use crate::os::process::{self, Mark, Units};
use crate::ports::{Executor as _, Forge, Repository};
use crate::store::Store;
use crate::{gate, os::clock, os::host};

#[derive(Debug, Error)]
pub enum StartError {
    #[error(transparent)]
    File(#[from] FileError),
    /// The journal of a run that was left cannot be read.
    #[error("cannot resume the run {run}: {error}")]
    Journal { run: String, error: JournalError },
    /// The journal of a run that was left cannot be understood.
    #[error("cannot resume the run {run}: {error}")]
    Replay {
        run: String,
        error: Box<ReplayError>,
    },
    /// Processes of a run that was left cannot be ended.
    #[error("processes {0:?} of an earlier run cannot be killed")]
    Survivors(Vec<u32>),
    /// The beads of a run that was left cannot be taken over.
    #[error("{0}")]
    Trouble(Trouble),
    #[error(transparent)]
    Conduct(#[from] ConductError),
}

pub struct Start<'a> {
    pub beads: &'a Utf8Path,
    pub root: &'a Utf8Path,
    pub config: &'a Config,
    pub units: &'a Units,
    pub repository: &'a dyn Repository,
    pub forge: Option<&'a dyn Forge>,
    pub permissions: Permissions,
    pub selection: Selection,
    /// How a new run decides; its id is set here.
    pub settings: Settings,
    pub actor: String,
    pub version: &'a str,
}

impl std::fmt::Debug for Start<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Start")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

/// A run that can be conducted.
#[derive(Debug)]
pub struct Begun {
    pub run: RunDirectory,
    /// Held as long as the run is ours.
    lock: Lock,
    engine: Engine,
    journal: Journal,
    mark: Mark,
    /// Whether its process was another one before.
    pub is_adopted: bool,
    /// How many processes of the earlier one were ended.
    pub n_ended: usize,
}

impl Begun {
    pub fn settings(&self) -> &Settings {
        self.engine.settings()
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}

#[derive(Debug)]
pub struct Ended {
    pub run: RunDirectory,
    pub outcome: Outcome,
    pub engine: Engine,
    /// Whether it was begun by a process that is gone.
    pub is_adopted: bool,
}

/// The runs that are not over and have no process, oldest first; each is locked.
pub fn left_behind(beads: &Utf8Path) -> Result<Vec<(RunDirectory, Lock)>, FileError> {
    let mut left = Vec::new();
    for run in RunDirectory::all(beads) {
        if !run.is_over()
            && let Some(lock) = run.lock()?
        {
            // It may have ended between the two looks.
            if !run.is_over() {
                left.push((run, lock));
            }
        }
    }
    Ok(left)
}

impl Start<'_> {
    /// Takes over the newest run that was left, or begins a new one. Older ones that were left too are settled: what they held is
    /// free again as soon as somebody asks for it.
    pub fn begin(&self) -> Result<Begun, StartError> {
        let mut left = left_behind(self.beads)?;
        let newest = left.pop();
        for (run, _lock) in left {
            end_processes(&mark_of(&run))?;
            run.end(&RunEnd {
                why: Some("a newer run was left too".to_owned()),
                ..RunEnd::early("abandoned")
            })?;
        }
        match newest {
            Some((run, lock)) => adopt(run, lock),
            None => self.new_run(),
        }
    }

    fn new_run(&self) -> Result<Begun, StartError> {
        let now = clock::wall();
        let run = RunDirectory::create(self.beads, now)?;
        let lock = run.lock()?.ok_or_else(|| {
            StartError::Trouble(Trouble::passing("another process took over the new run"))
        })?;
        let mark = mark_of(&run);
        let settings = Settings {
            run: run.id().to_owned(),
            selection: self.selection.clone(),
            ..self.settings.clone()
        };
        let head = Head::new(settings.clone(), self.version, &mark, now);
        let journal = Journal::create(&run, &head)?;
        Ok(Begun {
            run,
            lock,
            engine: Engine::new(settings),
            journal,
            mark: Mark(mark),
            is_adopted: false,
            n_ended: 0,
        })
    }

    /// Conducts a run to its end. `meet` is called before anything happens.
    pub fn conduct<'m>(
        &self,
        begun: Begun,
        store: Box<dyn Store>,
        meet: impl FnOnce(Activity) -> Box<dyn Audience + 'm>,
    ) -> Result<Ended, StartError> {
        let worktrees = &self.config.worktrees;
        let ports = Arc::new(PortBook::new(worktrees.ports, worktrees.port_range.clone()));
        // Whatever is started from here on is found when this process is killed.
        self.units.belong_to(&begun.mark);
        let executor = LocalExecutor::new(
            self.units,
            self.config,
            self.root,
            &begun.run,
            begun.mark.clone(),
        )
        .with_permissions(self.permissions)
        .with_ports(Arc::clone(&ports))
        .with_own_bd();
        let account = |spec: &_| executor.account(spec);
        let ralph = Ralph::with_store(self.root, self.beads);
        let reader = TaskReader {
            rules: Rules {
                rig: self.config.rig.clone(),
            },
            max_attempts: self.config.run.max_attempts,
            has_default_checks: !self.config.default_checks.is_empty(),
            selection: begun.settings().selection.clone(),
            gates: &|store| gate::gates(&ralph, Some(store)),
            account: &account,
            gone: &gone,
        };
        let store = Mutex::new(store);
        let site = self.site(begun.settings());
        let bury = |holder: &Holder| bury(self.beads, &holder.run);
        let performer = Performer::new(
            site,
            &store,
            (self.repository, self.forge, &executor),
            &reader,
            &clock::wall,
        )
        .with_ports(ports)
        .with_burial(&bury);
        let adopted = begun.is_adopted.then_some(&begun.engine);
        let first = take_over(&performer, adopted, is_dead).map_err(StartError::Trouble)?;
        let mut audience = meet(executor.activity());
        let known = begun.engine.known();
        let conductor = Conductor {
            engine: begun.engine,
            journal: begun.journal,
            performer: &performer,
            poll: self.config.run.poll_interval,
            sight: Sight::knowing(known),
        };
        let (outcome, engine) = conductor.conduct(first, &mut *audience)?;
        begun.run.end(&RunEnd {
            outcome: outcome.as_str().to_owned(),
            at: Some(clock::wall().to_string()),
            beads: Some(engine.view().beads.len()),
            why: None,
        })?;
        drop(begun.lock);
        drop(store.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok(Ended {
            run: begun.run,
            outcome,
            engine,
            is_adopted: begun.is_adopted,
        })
    }

    fn site(&self, settings: &Settings) -> Site {
        Site {
            run: settings.run.clone(),
            actor: self.actor.clone(),
            holder: Holder {
                run: settings.run.clone(),
                host: host::name(),
                process: host::process(std::process::id()),
            },
            rules: Rules {
                rig: self.config.rig.clone(),
            },
            root: self.root.to_owned(),
            n_slots: settings.max_parallel,
            base: self.config.worktrees.base,
        }
    }
}

/// Whether the holder of a claim is gone, as far as this machine can tell (Z-4).
fn gone(claim: &Claim, now: Timestamp) -> Option<Abandoned> {
    claim.is_abandoned(now, &host::name(), host::liveness)
}

/// Whether a holder of something was a process of this machine that is dead.
fn is_dead(holder: &Holder) -> bool {
    let process = holder.process.as_ref();
    holder.host == host::name() && process.is_some_and(|it| host::liveness(it) == Liveness::Dead)
}

/// Takes over what dead processes held: slots of any run, and the beads of a resumed run. The answer is
/// the first events of such a run.
pub fn take_over(
    performer: &Performer<'_>,
    adopted: Option<&Engine>,
    is_dead: impl Fn(&Holder) -> bool,
) -> Result<Option<Event>, Trouble> {
    performer.free_dead_slots(is_dead)?;
    let Some(engine) = adopted else {
        return Ok(None);
    };
    let fences = performer.take_over(engine)?;
    Ok(Some(Event::Adopted { fences }))
}

fn adopt(run: RunDirectory, lock: Lock) -> Result<Begun, StartError> {
    let named = |error| StartError::Journal {
        run: run.id().to_owned(),
        error,
    };
    let (head, entries, journal) = Journal::reopen(&run).map_err(named)?;
    let engine = replay(&head, &entries).map_err(|error| StartError::Replay {
        run: run.id().to_owned(),
        error: Box::new(error),
    })?;
    let n_ended = end_processes(&head.mark)?;
    Ok(Begun {
        run,
        lock,
        engine,
        journal,
        mark: Mark(head.mark),
        is_adopted: true,
        n_ended,
    })
}

/// Ends what is left of a run whose process died meanwhile; `false` if that run is resumed.
fn bury(beads: &Utf8Path, run: &str) -> Result<bool, Trouble> {
    let Some(run) = RunDirectory::all(beads)
        .into_iter()
        .find(|it| it.id() == run)
    else {
        return Ok(true);
    };
    let passing = |error: &dyn std::fmt::Display| Trouble::passing(error.to_string());
    // The lock is held meanwhile, so that nobody begins something under the same mark.
    let lock = run.lock().map_err(|error| passing(&error))?;
    if lock.is_some() {
        end_processes(&mark_of(&run)).map_err(|error| passing(&error))?;
    }
    Ok(lock.is_some())
}

/// Ends what is left of a run's processes (Z-7).
fn end_processes(mark: &str) -> Result<usize, StartError> {
    let swept = process::end(&Mark(mark.to_owned()));
    if swept.survivors.is_empty() {
        Ok(swept.n_killed)
    } else {
        Err(StartError::Survivors(swept.survivors))
    }
}
