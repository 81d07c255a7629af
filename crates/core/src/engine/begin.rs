//! Which beads are begun now.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::effect::Action;
use super::machine::{Engine, later};
use super::task::Task;
use super::work::Work;
use crate::bead::BeadId;

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
