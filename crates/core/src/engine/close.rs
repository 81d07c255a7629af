//! How the work on a bead ends: it is handed over and closed, blocked, released, or lost.

use jiff::Timestamp;

use super::CommitId;
use super::develop::launch;
use super::effect::{Action, EffectId, Pull};
use super::event::Answer;
use super::machine::Engine;
use super::settings::Integration;
use super::work::{AfterRestore, Doom, End, Phase};
use crate::bead::BeadId;

impl Engine {
    pub(super) fn hand_over(&mut self, now: Timestamp, id: &BeadId, commit: CommitId) {
        match self.settings.integration.clone() {
            // A gate has made nothing that could be handed over.
            _ if self.task(id).is_gate => self.close(now, id, commit),
            Integration::None => self.close(now, id, commit),
            Integration::Merge { target } => {
                self.issue(id, Action::Merge { commit, target });
            }
            Integration::Pr => {
                self.issue(id, Action::Push { commit });
            }
        }
    }

    /// The leading agent said that all is done, but its pull request is missing (L-19).
    pub(super) fn ask_for_pull(&mut self, now: Timestamp, id: &BeadId) {
        let Some(account) = self.leader(id) else {
            return;
        };
        let max = self.settings.max_pull_tries;
        let work = self.work(id);
        if work.n_pull_tries >= max {
            let reason = format!(
                "there is no pull request, also after {max} further tries; make it by hand"
            );
            return self.block(now, id, reason, true);
        }
        work.n_pull_tries += 1;
        let ask = Action::Lead {
            launch: launch(work.attempt, account),
            only_pull: true,
            feedback: None,
        };
        self.perform(now, id, ask);
    }

    pub(super) fn close(&mut self, now: Timestamp, id: &BeadId, commit: CommitId) {
        // Whatever way led here: nothing is closed but what was verified.
        assert_eq!(
            self.work(id).verified.as_ref(),
            Some(&commit),
            "only verified work is closed"
        );
        let attempts = self.work(id).attempt;
        self.queue.update(id, |task| task.attempts = attempts);
        let progress = self.progress(id);
        let work = self.work(id);
        work.is_ending = true;
        work.enter(Phase::Finishing, now);
        let close = Action::Close {
            commit,
            progress,
            pull: work.pull.clone(),
        };
        self.issue(id, close);
    }

    pub(super) fn closed(&mut self, id: &BeadId, commit: CommitId, pull: Option<Pull>) {
        let pull = pull.map(|pull| pull.url);
        self.end(id, End::Closed { commit, pull });
        if self.settings.cleans_up {
            self.issue(id, Action::CleanUp);
        }
    }

    /// The bead is no longer ours: nothing more is done for it.
    pub(super) fn lose(&mut self, id: &BeadId, reason: &str) {
        if self.is_busy(id) {
            self.tell(id, Action::Cancel);
        }
        let lost: Vec<EffectId> = (self.outstanding.iter())
            .filter(|(_, effect)| effect.bead == *id)
            .map(|(effect, _)| *effect)
            .collect();
        for effect in lost {
            let effect = self.outstanding.remove(&effect).expect("it was just seen");
            self.settle(&effect, &Ok(Answer::Done));
        }
        let reason = reason.to_owned();
        self.end(id, End::Lost { reason });
    }

    pub(super) fn release(&mut self, now: Timestamp, id: &BeadId) {
        let progress = self.progress(id);
        let work = self.work(id);
        work.is_ending = true;
        work.enter(Phase::Finishing, now);
        self.issue(id, Action::Release { progress });
    }

    /// Lets a bead wait for a person; with `is_fatal` nothing new is begun any more (L-8).
    pub(super) fn block(&mut self, now: Timestamp, id: &BeadId, reason: String, is_fatal: bool) {
        if is_fatal {
            self.fatal.get_or_insert_with(|| format!("{id}: {reason}"));
        }
        let progress = self.progress(id);
        let work = self.work(id);
        work.is_ending = true;
        work.held.clear();
        work.enter(Phase::Finishing, now);
        let block = Action::Block {
            reason,
            is_fatal,
            progress,
            commit: work.sealed.clone(),
        };
        self.issue(id, block);
    }

    /// Ends the work on a bead that has no future, once nothing runs for it any more.
    pub(super) fn give_up_when_idle(&mut self, now: Timestamp, id: &BeadId) {
        if self.is_busy(id) {
            return;
        }
        let Some(work) = self.works.get_mut(id).filter(|work| !work.is_ending) else {
            return;
        };
        match work.doom.take() {
            Some(Doom::Block { reason, is_fatal }) => self.block(now, id, reason, is_fatal),
            Some(Doom::Release) => self.restore(now, id, AfterRestore::Release),
            None => {}
        }
    }

    /// Says that the work on a bead has no future; what runs for it may end first.
    pub(super) fn doom(&mut self, now: Timestamp, id: &BeadId, doom: Doom) {
        if let Doom::Block { reason, is_fatal } = &doom
            && *is_fatal
        {
            self.fatal.get_or_insert_with(|| format!("{id}: {reason}"));
        }
        if let Some(work) = self.works.get_mut(id) {
            // What was to be written and was not is written with the end.
            for held in std::mem::take(&mut work.held) {
                if let Action::Record { progress } = held.action {
                    work.notes.splice(0..0, progress.notes);
                }
            }
            work.doom.get_or_insert(doom);
        }
        self.give_up_when_idle(now, id);
    }
}
