//! What screens show of a run: one picture, made from the engine alone.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::Serialize;

use super::machine::Engine;
use super::task::{Task, TaskState};
use super::work::{End, Phase, Work};
use super::{EffectId, Spent};
use crate::bead::{BeadId, SourceMap};
use crate::issue::Fence;

/// A run at one moment.
#[derive(Debug, Clone, Serialize)]
pub struct RunView {
    /// The run's id.
    pub run: String,
    /// When it began.
    pub began: Option<Timestamp>,
    /// What it does as a whole.
    pub state: RunState,
    /// Its beads, by id.
    pub beads: Vec<BeadView>,
    /// How many beads may be worked on at once now.
    pub width: usize,
    /// Accounts at their limit, and until when.
    pub parked: Vec<(String, Timestamp)>,
    /// What all agents took in this run.
    pub spent: Spent,
}

/// What a run does as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It works.
    Running,
    /// Nothing new is begun.
    Paused,
    /// It is ending because somebody asked.
    Stopping,
    /// It is ending because something is wrong.
    Failing {
        /// What.
        reason: String,
    },
    /// It is over.
    Over,
}

/// A bead at one moment.
#[derive(Debug, Clone, Serialize)]
pub struct BeadView {
    /// The bead.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// Its sprint.
    pub sprint: String,
    /// Its team.
    pub team: String,
    /// Where its sprint stood in the plan when it was applied (Z-45).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceMap>,
    /// Its branch.
    pub branch: String,
    /// Where it stands.
    pub state: BeadState,
    /// The attempt, from 1; 0 before the first.
    pub attempt: u32,
    /// How many attempts there may be.
    pub max_attempts: u32,
    /// What it has cost.
    pub spent: Spent,
}

/// Where a bead stands in a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BeadState {
    /// It waits for others.
    Waiting {
        /// For these.
        on: Vec<String>,
    },
    /// Gates hold it back.
    HeldBack {
        /// Which, in words.
        why: String,
    },
    /// It could be started.
    Ready,
    /// It is worked on.
    Working {
        /// How far.
        phase: Phase,
        /// Since when.
        since: Timestamp,
        /// What it waits for: a limit, a budget, trouble that should pass.
        waiting: Option<String>,
    },
    /// Somebody else has it.
    Held {
        /// Who.
        by: String,
    },
    /// It waited for a person before this run began.
    Blocked,
    /// It was closed before this run, or by somebody else.
    Closed,
    /// Its work ended in this run.
    Ended(End),
}

/// A bead that a run has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// The bead.
    pub id: BeadId,
    /// The claim under which it was last worked on.
    pub fence: Option<Fence>,
    /// The effect that writes its last word, if that is being written.
    pub last_word: Option<EffectId>,
}

impl Engine {
    /// The beads whose state this run decides; one that is only being asked for is not among them.
    pub fn ours(&self) -> BTreeSet<BeadId> {
        let ours = self.works.iter().filter(|(_, work)| work.is_ours());
        ours.map(|(id, _)| id.clone()).collect()
    }

    /// Whether nothing new is begun because somebody asked for that.
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// The beads that are worked on.
    pub fn working(&self) -> BTreeSet<BeadId> {
        self.works.keys().cloned().collect()
    }

    /// The beads that became somebody else's.
    pub fn lost(&self) -> BTreeSet<BeadId> {
        let lost = (self.ends.iter()).filter(|(_, end)| matches!(end, End::Lost { .. }));
        lost.map(|(id, _)| id.clone()).collect()
    }

    /// The beads that were asked for in vain, and are asked for again at another time.
    pub fn refused(&self) -> BTreeSet<BeadId> {
        let known = |id: &&BeadId| self.queue.get(id).is_some();
        self.deferred.keys().filter(known).cloned().collect()
    }

    /// The beads that the run knows.
    pub fn known(&self) -> BTreeSet<BeadId> {
        self.queue.tasks().map(|task| task.id.clone()).collect()
    }

    /// The beads that are ours, each with the number of its claim.
    pub fn held(&self) -> Vec<(BeadId, Fence)> {
        let held = self.works.iter().filter(|(_, work)| !work.is_ending);
        held.filter_map(|(id, work)| Some((id.clone(), work.fence?)))
            .collect()
    }

    /// What the run has, for the process that resumes it.
    pub fn holdings(&self) -> Vec<Holding> {
        let holding = |(id, work): (&BeadId, &Work)| {
            let outstanding = self.outstanding.values().filter(|it| it.bead == *id);
            let said = outstanding.filter(|it| !it.action.is_remark());
            let held = work.held.iter().filter_map(|held| held.again);
            let mut last_word = said.map(|effect| effect.id).chain(held);
            Holding {
                id: id.clone(),
                fence: work.fence,
                last_word: last_word.next().filter(|_| work.is_ending),
            }
        };
        self.works.iter().map(holding).collect()
    }

    /// The run as it is now.
    pub fn view(&self) -> RunView {
        let state = match (self.outcome(), &self.fatal, self.stopping, self.is_paused) {
            (Some(_), ..) => RunState::Over,
            (None, Some(reason), ..) => RunState::Failing {
                reason: reason.clone(),
            },
            (None, None, Some(_), _) => RunState::Stopping,
            (None, None, None, true) => RunState::Paused,
            (None, None, None, false) => RunState::Running,
        };
        RunView {
            run: self.settings.run.clone(),
            began: self.began,
            state,
            beads: (self.queue.tasks())
                .map(|task| self.bead_view(task))
                .collect(),
            width: self.width,
            parked: self.parked.clone().into_iter().collect(),
            spent: self.ledger.total(),
        }
    }

    fn bead_view(&self, task: &Task) -> BeadView {
        let work = self.works.get(&task.id);
        let state = match (work, self.ends.get(&task.id)) {
            (Some(work), _) => BeadState::Working {
                phase: work.phase,
                since: work.since,
                waiting: work.held.first().map(|held| held.why.clone()),
            },
            (None, Some(end)) => BeadState::Ended(end.clone()),
            (None, None) => standing(task),
        };
        BeadView {
            id: task.id.to_string(),
            title: task.title.clone(),
            sprint: task.sprint.clone(),
            team: task.team.clone(),
            source: task.source.clone(),
            branch: task.branch.clone(),
            state,
            attempt: work.map_or(task.attempts, |work| work.attempt),
            max_attempts: task.max_attempts,
            spent: self.ledger.of_bead(task),
        }
    }
}

fn standing(task: &Task) -> BeadState {
    match &task.standing {
        TaskState::Open if task.is_ready() => BeadState::Ready,
        TaskState::Open if task.waits_for.is_empty() && task.held_back.is_some() => {
            BeadState::HeldBack {
                why: task.held_back.clone().unwrap_or_default(),
            }
        }
        TaskState::Open => BeadState::Waiting {
            on: task.waits_for.iter().map(ToString::to_string).collect(),
        },
        TaskState::Held { by, .. } => BeadState::Held { by: by.clone() },
        TaskState::Blocked => BeadState::Blocked,
        TaskState::Closed => BeadState::Closed,
    }
}
