//! The record of a run, how it is replayed, and how a run resumes after its process died.
//!
//! A journal is a head and then one entry for each event, with the effects that followed. Folding the events gives the engine back; that
//! the same effects follow again is checked, so that nobody continues from a state that the run never had (Z-4).

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::budget::Spent;
use super::effect::{Action, Effect};
use super::event::Event;
use super::machine::{ENGINE, Engine};
use super::settings::Settings;
use super::work::{AfterRecord, AfterRestore, Held, Phase};
use crate::bead::BeadId;
use crate::issue::Fence;

/// The format of journals.
pub const FORMAT: u32 = 1;

/// The first line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The format of the lines.
    pub format: u32,
    /// The version of the decisions.
    pub engine: u32,
    /// The program that wrote it.
    pub version: String,
    /// When the run began.
    pub at: Timestamp,
    /// By what the processes of the run are found.
    pub mark: String,
    /// What the run was told.
    pub settings: Settings,
}

impl Head {
    /// The head of a new journal.
    pub fn new(settings: Settings, version: &str, mark: &str, at: Timestamp) -> Self {
        Self {
            format: FORMAT,
            engine: ENGINE,
            version: version.to_owned(),
            at,
            mark: mark.to_owned(),
            settings,
        }
    }
}

/// One line of a journal after the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number, from 1.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub event: Event,
    /// What was decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
}

/// Why a run cannot resume from a journal.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ReplayError {
    /// Another version wrote it.
    #[error(
        "the journal was written by beads-ralph {version} (journal format {format}, engine {engine}); this one knows format {FORMAT}, engine {ENGINE}"
    )]
    Version {
        /// The program.
        version: String,
        /// Its format.
        format: u32,
        /// Its decisions.
        engine: u32,
    },
    /// A line is missing, or stands twice.
    #[error("entry {found} of the journal stands where entry {expected} should")]
    Order {
        /// The number that should be there.
        expected: u64,
        /// The number that is.
        found: u64,
    },
    /// The same events do not lead to the same decisions.
    #[error("entry {seq} of the journal has other decisions than the ones that follow now")]
    Diverged {
        /// The entry.
        seq: u64,
        /// What follows now.
        now: Vec<Effect>,
        /// What was recorded.
        recorded: Vec<Effect>,
    },
}

/// Folds a journal: the engine as it was after the last entry.
pub fn replay<'a>(
    head: &Head,
    entries: impl IntoIterator<Item = &'a Entry>,
) -> Result<Engine, ReplayError> {
    let mut replay = Replay::begin(head)?;
    for entry in entries {
        replay.hear(entry)?;
    }
    Ok(replay.engine)
}

/// A journal that is folded entry by entry, for whoever reads along while it is written.
#[derive(Debug)]
pub struct Replay {
    engine: Engine,
    n_heard: u64,
}

impl Replay {
    /// Before the first entry.
    pub fn begin(head: &Head) -> Result<Self, ReplayError> {
        if head.format != FORMAT || head.engine != ENGINE {
            return Err(ReplayError::Version {
                version: head.version.clone(),
                format: head.format,
                engine: head.engine,
            });
        }
        Ok(Self {
            engine: Engine::new(head.settings.clone()),
            n_heard: 0,
        })
    }

    /// Takes the next entry.
    pub fn hear(&mut self, entry: &Entry) -> Result<(), ReplayError> {
        let expected = self.n_heard + 1;
        if entry.seq != expected {
            return Err(ReplayError::Order {
                expected,
                found: entry.seq,
            });
        }
        let now = self.engine.handle(entry.at, &entry.event);
        if now != entry.effects {
            return Err(ReplayError::Diverged {
                seq: entry.seq,
                now,
                recorded: entry.effects.clone(),
            });
        }
        self.n_heard = expected;
        Ok(())
    }

    /// The engine as it was after the last entry that was heard.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}

impl Engine {
    /// Does again what may or may not have been done; an agent's run is begun anew from where its attempt began (Z-39).
    pub(super) fn adopted(&mut self, now: Timestamp, fences: &[(BeadId, Fence)]) {
        self.stopping = None;
        self.fatal = None;
        self.take_over(fences);
        let outstanding = std::mem::take(&mut self.outstanding);
        let mut cut_off: BTreeMap<BeadId, Vec<Effect>> = BTreeMap::new();
        for (id, effect) in outstanding {
            if effect.action.launch().is_some() || matches!(effect.action, Action::Verify { .. }) {
                cut_off.entry(effect.bead.clone()).or_default().push(effect);
            } else {
                self.outstanding.insert(id, effect.clone());
                self.effects.push(effect);
            }
        }
        for (bead, effects) in cut_off {
            for effect in effects.iter().filter(|it| it.action.launch().is_some()) {
                let task = self.task(&bead).clone();
                self.ledger.settle(effect.id, &task, &Spent::UNKNOWN);
            }
            let effects = effects.into_iter();
            let mut actions: Vec<Action> = effects.map(|effect| effect.action).collect();
            actions.extend(self.take_held_launches(&bead));
            self.restore(now, &bead, AfterRestore::Redo(actions));
        }
    }

    /// The runs of agents that wait for their time: while the worktree is made what it was, nobody may begin in it.
    fn take_held_launches(&mut self, bead: &BeadId) -> Vec<Action> {
        let work = self.work(bead);
        let held = std::mem::take(&mut work.held).into_iter();
        let (launches, others): (Vec<Held>, _) =
            held.partition(|held| held.action.launch().is_some());
        work.held = others;
        launches.into_iter().map(|held| held.action).collect()
    }

    /// Every bead that goes on has a new claim. One that could not be claimed again is somebody else's now, unless its last word may
    /// have been written already.
    pub(super) fn take_over(&mut self, fences: &[(BeadId, Fence)]) {
        for (id, fence) in fences {
            if let Some(work) = self.works.get_mut(id) {
                work.fence = Some(*fence);
            }
        }
        let is_taken = |id: &BeadId| fences.iter().any(|(taken, _)| taken == id);
        let lost: Vec<BeadId> = (self.works.iter())
            .filter(|(id, work)| work.fence.is_some() && !work.is_ending && !is_taken(id))
            .map(|(id, _)| id.clone())
            .collect();
        for id in lost {
            self.lose(&id, "it was taken over while no process held it");
        }
        for effect in self.outstanding.values_mut() {
            if let Some(work) = self.works.get(&effect.bead) {
                effect.fence = work.fence;
            }
        }
    }

    /// Makes the worktree be what it was when the attempt began, or what was sealed in it.
    pub(super) fn restore(&mut self, now: Timestamp, id: &BeadId, then: AfterRestore) {
        let work = self.work(id);
        let is_unjudged = match work.phase {
            Phase::Judging | Phase::Verifying | Phase::HandingOver => true,
            Phase::Recording => work.after_record == AfterRecord::Judge,
            _ => false,
        };
        // What an attempt made that failed stays, for the next one to fix.
        let is_made = is_unjudged || work.phase == Phase::Recording;
        let made = work.sealed.clone().filter(|_| is_made);
        let commit = made.or_else(|| work.start.clone());
        work.keeps_sealed = is_unjudged && then == AfterRestore::Release;
        work.after_restore = then;
        let attempt = work.attempt;
        match commit {
            Some(commit) => {
                self.issue(id, Action::Restore { attempt, commit });
            }
            // Nothing was begun yet.
            None => self.restored(now, id),
        }
    }
}
