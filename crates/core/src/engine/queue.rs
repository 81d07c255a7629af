//! Which beads there are, what waits for what, which comes first (L-6), and which are begun now.
//!
//! The longest remaining path of a bead leads through what waits for it, so it stays the same while the bead is not closed; it is found
//! again only when the store was looked at. Everything else is kept up to date, so that an event never walks over all beads.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::effect::Action;
use super::machine::{Engine, later};
use super::settings::Order;
use super::task::{Task, TaskState};
use super::work::Work;
use crate::bead::BeadId;

/// Where a bead stands among those that could be started.
type Rank = (i64, Reverse<u64>, u64, BeadId);

/// All beads of a run.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    order: Order,
    tasks: BTreeMap<BeadId, Task>,
    dependents: BTreeMap<BeadId, BTreeSet<BeadId>>,
    /// The longest remaining path, in minutes.
    paths: BTreeMap<BeadId, u64>,
    ready: BTreeSet<Rank>,
    ranks: BTreeMap<BeadId, Rank>,
    n_arrived: u64,
}

impl Queue {
    pub(super) fn new(order: Order) -> Self {
        Self {
            order,
            tasks: BTreeMap::new(),
            dependents: BTreeMap::new(),
            paths: BTreeMap::new(),
            ready: BTreeSet::new(),
            ranks: BTreeMap::new(),
            n_arrived: 0,
        }
    }

    pub(super) fn get(&self, id: &BeadId) -> Option<&Task> {
        self.tasks.get(id)
    }

    pub(super) fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.values()
    }

    pub(super) fn path(&self, id: &BeadId) -> u64 {
        self.paths.get(id).copied().unwrap_or(0)
    }

    /// Takes what was seen in the store.
    pub(super) fn see(&mut self, tasks: &[Task], gone: &[BeadId]) {
        for id in gone {
            self.forget(id);
        }
        for task in tasks {
            self.forget(&task.id);
            for blocker in &task.waits_for {
                let waiting = self.dependents.entry(blocker.clone()).or_default();
                waiting.insert(task.id.clone());
            }
            self.tasks.insert(task.id.clone(), task.clone());
        }
        self.measure();
        let ids: Vec<BeadId> = self.tasks.keys().cloned().collect();
        for id in ids {
            self.place(&id);
        }
    }

    fn forget(&mut self, id: &BeadId) {
        self.withdraw(id);
        if let Some(task) = self.tasks.remove(id) {
            for blocker in &task.waits_for {
                if let Some(waiting) = self.dependents.get_mut(blocker) {
                    waiting.remove(id);
                }
            }
        }
    }

    /// Finds the longest remaining paths: a bead is measured after everything that waits for it. Beads in a circle, which no store
    /// should hold, count for themselves only.
    fn measure(&mut self) {
        self.paths.clear();
        let is_open = |task: &Task| task.standing != TaskState::Closed;
        let mut n_unmeasured: BTreeMap<&BeadId, usize> = BTreeMap::new();
        for task in self.tasks.values().filter(|task| is_open(task)) {
            let waiting = self.dependents.get(&task.id).map_or(0, BTreeSet::len);
            n_unmeasured.insert(&task.id, waiting);
        }
        let mut measured: Vec<&BeadId> = (n_unmeasured.iter())
            .filter(|(_, n)| **n == 0)
            .map(|(id, _)| *id)
            .collect();
        while let Some(id) = measured.pop() {
            let task = &self.tasks[id];
            let after = self.dependents.get(id).into_iter().flatten();
            let after = after.map(|next| self.path_of(next)).max().unwrap_or(0);
            self.paths
                .insert(id.clone(), after.saturating_add(task.weight));
            for blocker in &task.waits_for {
                if let Some(n) = n_unmeasured.get_mut(blocker) {
                    *n = n.saturating_sub(1);
                    if *n == 0 {
                        measured.push(&self.tasks[blocker].id);
                    }
                }
            }
        }
    }

    fn path_of(&self, id: &BeadId) -> u64 {
        self.paths.get(id).copied().unwrap_or(0)
    }

    /// Puts a bead among those that could be started, or takes it away, as it stands.
    pub(super) fn place(&mut self, id: &BeadId) {
        let was = self.ranks.get(id).cloned();
        self.withdraw(id);
        let Some(task) = self.tasks.get(id) else {
            return;
        };
        if !task.is_ready() {
            return;
        }
        let arrived = was.map_or_else(
            || {
                self.n_arrived += 1;
                self.n_arrived
            },
            |(_, _, arrived, _)| arrived,
        );
        let rank = match self.order {
            Order::Urgency => (task.priority, Reverse(self.path_of(id)), 0, id.clone()),
            Order::FirstInFirstOut => (0, Reverse(0), arrived, id.clone()),
        };
        self.ready.insert(rank.clone());
        self.ranks.insert(id.clone(), rank);
    }

    /// Takes a bead away from those that could be started.
    pub(super) fn withdraw(&mut self, id: &BeadId) {
        if let Some(rank) = self.ranks.remove(id) {
            self.ready.remove(&rank);
        }
    }

    /// The beads that could be started, in order.
    pub(super) fn ready(&self) -> impl Iterator<Item = &Task> {
        self.ready.iter().map(|(.., id)| &self.tasks[id])
    }

    /// Changes what is known of a bead.
    pub(super) fn update(&mut self, id: &BeadId, change: impl FnOnce(&mut Task)) {
        if let Some(task) = self.tasks.get_mut(id) {
            change(task);
        }
    }

    /// A bead is closed: whatever waited for it waits no more.
    pub(super) fn close(&mut self, id: &BeadId) {
        self.withdraw(id);
        self.update(id, |task| task.standing = TaskState::Closed);
        for waiting in self.dependents.remove(id).unwrap_or_default() {
            self.update(&waiting, |task| {
                task.waits_for.retain(|blocker| blocker != id);
            });
            self.place(&waiting);
        }
    }
}

impl Engine {
    /// Whether new beads may be begun.
    pub(super) fn may_begin(&self) -> bool {
        self.stopping.is_none() && self.fatal.is_none() && !self.is_paused
    }

    /// What could be begun, in order: ready, and not in a place where another bead is worked on.
    pub(super) fn candidates(&self) -> impl Iterator<Item = &Task> {
        let once = self.once.as_ref();
        self.queue.ready().filter(move |task| {
            once.is_none_or(|once| once.contains(&task.id))
                && !self.works.contains_key(&task.id)
                && !self.ends.contains_key(&task.id)
        })
    }

    pub(super) fn begin_work(&mut self, now: Timestamp) {
        if !self.may_begin() {
            return;
        }
        self.deferred.retain(|_, until| *until > now);
        let mut places: BTreeSet<String> = BTreeSet::new();
        for id in self.works.keys() {
            if let Some(task) = self.queue.get(id) {
                places.extend([task.worktree.clone(), format!("branch {}", task.branch)]);
            }
        }
        let mut room = self.width.saturating_sub(self.works.len());
        if let Some(until) = self.full_until {
            // Others have all places: when it is time, one bead asks whether that has changed.
            if until > now {
                return;
            }
            self.full_until = None;
            room = room.min(1);
        }
        let mut chosen = Vec::new();
        for task in self.candidates() {
            if room == 0 {
                break;
            }
            let branch = format!("branch {}", task.branch);
            if self.deferred.contains_key(&task.id)
                || places.contains(&task.worktree)
                || places.contains(&branch)
            {
                continue;
            }
            places.extend([task.worktree.clone(), branch]);
            chosen.push((task.id.clone(), self.why(task)));
            room -= 1;
        }
        for (id, why) in chosen {
            self.works.insert(id.clone(), Work::new(now));
            self.issue(&id, Action::Claim { why });
        }
    }

    /// Why a bead is begun now, for people.
    pub(super) fn why(&self, task: &Task) -> String {
        let (n_running, width) = (self.works.len(), self.width);
        let path = self.queue.path(&task.id);
        format!(
            "priority {}, longest remaining path {path}; {n_running} of {width} running",
            task.priority
        )
    }

    pub(super) fn defer(&mut self, now: Timestamp, id: &BeadId) {
        self.deferred
            .insert(id.clone(), later(now, self.settings.poll_ms));
    }
}
