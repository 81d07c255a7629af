//! Going on after the process died: what was under way may or may not have happened (Z-4, Z-39).

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::effect::{Action, Effect};
use super::ledger::Spent;
use super::machine::Engine;
use super::work::{AfterRecord, AfterRestore, Held, Phase};
use crate::bead::BeadId;
use crate::issue::Fence;

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
                let task = self.queue.get(&bead).expect("it is worked on");
                self.ledger.settle(
                    effect.id,
                    &task.clone(),
                    &Spent {
                        n_unpriced: 1,
                        ..Spent::default()
                    },
                );
            }
            let mut actions: Vec<Action> =
                effects.into_iter().map(|effect| effect.action).collect();
            actions.extend(self.take_held_launches(&bead));
            self.restore(now, &bead, AfterRestore::Redo(actions));
        }
    }

    /// The runs of agents that wait for their time: while the worktree is made what it was, nobody may begin in it.
    fn take_held_launches(&mut self, bead: &BeadId) -> Vec<Action> {
        let work = self.works.get_mut(bead).expect("it is worked on");
        let held = std::mem::take(&mut work.held);
        let (launches, others) = held
            .into_iter()
            .partition(|held| held.action.launch().is_some());
        work.held = others;
        let launches: Vec<Held> = launches;
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
        let work = self.works.get_mut(id).expect("it is worked on");
        let is_unjudged = match work.phase {
            Phase::Judging | Phase::Verifying | Phase::HandingOver => true,
            Phase::Recording => work.after_record == AfterRecord::Judge,
            _ => false,
        };
        // What an attempt made that failed stays, for the next one to mend.
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
