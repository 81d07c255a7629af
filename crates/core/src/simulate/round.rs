//! What became of one round.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::play::Ending;
use crate::bead::BeadId;
use crate::engine::{Action, Effect, EffectId, Entry, Event, Spent, Task};
use crate::graph::heaviest_path;

/// One round, played to its end.
#[derive(Debug, Clone)]
pub struct Round {
    /// How it ended.
    pub ending: Ending,
    /// When it began.
    pub began: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// How many beads could be worked on at once.
    pub width: usize,
    /// What the agents took.
    pub spent: Spent,
    /// The longest chain of beads that waited for each other, by the time that each took.
    pub links: Vec<Link>,
    /// How long agents or checks ran, counted once for each bead.
    pub busy_ms: u64,
    /// How many attempts there were.
    pub n_attempts: usize,
    /// How many runs of agents there were.
    pub n_runs: usize,
    /// How many beads were closed.
    pub n_closed: usize,
    /// What happened and what was decided, as a journal keeps it.
    pub entries: Vec<Entry>,
}

/// A bead in a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The bead.
    pub bead: BeadId,
    /// How long it was worked on, from its claim to its end.
    pub took_ms: u64,
}

impl Round {
    /// How long it took.
    pub fn makespan_ms(&self) -> u64 {
        between(self.began, self.ended)
    }

    /// How long its longest chain took.
    pub fn critical_ms(&self) -> u64 {
        self.links.iter().map(|link| link.took_ms).sum()
    }

    /// What part of the time that workers had was used, from 0 to 1.
    #[expect(clippy::cast_precision_loss, reason = "it is a ratio for people")]
    pub fn utilisation(&self) -> f64 {
        let available = self.makespan_ms() as f64 * self.width as f64;
        if available > 0.0 {
            self.busy_ms as f64 / available
        } else {
            0.0
        }
    }

    /// What was begun, in order: claims, and runs of agents.
    pub fn launches(&self) -> Vec<Effect> {
        launches(&self.entries)
    }
}

/// What a run began, in order: claims, and runs of agents.
pub fn launches(entries: &[Entry]) -> Vec<Effect> {
    let all = entries.iter().flat_map(|entry| &entry.effects);
    let is_launch = |effect: &&Effect| {
        effect.action.launch().is_some() || matches!(effect.action, Action::Claim { .. })
    };
    all.filter(is_launch).cloned().collect()
}

fn between(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.duration_since(from).as_millis()).unwrap_or(0)
}

/// Notes down what takes time.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// What is being done for which bead.
    pending: BTreeMap<EffectId, (BeadId, ActionKind)>,
    claimed: BTreeMap<BeadId, Timestamp>,
    took: BTreeMap<BeadId, u64>,
    /// How many agents and checks run for a bead, and since when there are any.
    running: BTreeMap<BeadId, (usize, Timestamp)>,
    busy_ms: u64,
    attempts: BTreeSet<(BeadId, u32)>,
    n_runs: usize,
    n_closed: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ActionKind {
    /// An agent or checks.
    Running,
    /// The last thing that is done for the bead.
    Close,
    Last,
    Other,
}

impl Watch {
    pub(super) fn take_effect(&mut self, now: Timestamp, effect: &Effect) {
        let bead = &effect.bead;
        if let Some(launch) = effect.action.launch() {
            self.n_runs += 1;
            self.attempts.insert((bead.clone(), launch.attempt));
        }
        let kind = match &effect.action {
            Action::Develop { .. }
            | Action::Resolve { .. }
            | Action::Lead { .. }
            | Action::Judge { .. }
            | Action::Verify { .. } => ActionKind::Running,
            Action::Close { .. } => ActionKind::Close,
            Action::Block { .. } | Action::Release { .. } => ActionKind::Last,
            Action::Claim { .. } => {
                self.claimed.insert(bead.clone(), now);
                ActionKind::Other
            }
            Action::Cancel => return,
            _ => ActionKind::Other,
        };
        if kind == ActionKind::Running {
            self.running.entry(bead.clone()).or_insert((0, now)).0 += 1;
        }
        self.pending.insert(effect.id, (bead.clone(), kind));
    }

    pub(super) fn take_event(&mut self, now: Timestamp, event: &Event) {
        let Event::Answered { effect, answer } = event else {
            return;
        };
        let Some((bead, kind)) = self.pending.remove(effect) else {
            return;
        };
        match kind {
            ActionKind::Running => self.stopped(now, &bead),
            ActionKind::Close | ActionKind::Last if answer.is_ok() => {
                self.n_closed += usize::from(kind == ActionKind::Close);
                if let Some(claimed) = self.claimed.remove(&bead) {
                    *self.took.entry(bead).or_default() += between(claimed, now);
                }
            }
            ActionKind::Close | ActionKind::Last | ActionKind::Other => {}
        }
    }

    fn stopped(&mut self, now: Timestamp, bead: &BeadId) {
        let Some((n, since)) = self.running.get_mut(bead) else {
            return;
        };
        *n = n.saturating_sub(1);
        if *n == 0 {
            self.busy_ms += between(*since, now);
            self.running.remove(bead);
        }
    }

    pub(super) fn busy_ms(&self) -> u64 {
        self.busy_ms
    }

    pub(super) fn n_attempts(&self) -> usize {
        self.attempts.len()
    }

    pub(super) fn n_runs(&self) -> usize {
        self.n_runs
    }

    pub(super) fn n_closed(&self) -> usize {
        self.n_closed
    }

    /// The longest chain of beads that waited for each other, without those that took no time. Beads in a circle, which no store should
    /// hold, are in no chain.
    pub(super) fn critical_path(&self, tasks: &[Task]) -> Vec<Link> {
        let places: BTreeMap<&BeadId, usize> = (tasks.iter().enumerate())
            .map(|(at, task)| (&task.id, at))
            .collect();
        let before = |task: &Task| {
            let blockers = task
                .waits_for
                .iter()
                .filter_map(|id| places.get(id).copied());
            let blockers: BTreeSet<usize> = blockers.collect();
            blockers.into_iter().collect()
        };
        let before: Vec<Vec<usize>> = tasks.iter().map(before).collect();
        let took = |at: usize| self.took.get(&tasks[at].id).copied().unwrap_or(0);
        let links = heaviest_path(&before, took).into_iter().map(|at| Link {
            bead: tasks[at].id.clone(),
            took_ms: took(at),
        });
        links.filter(|link| link.took_ms > 0).collect()
    }
}
