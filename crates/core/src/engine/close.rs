//! Handing over what was verified, and closing the bead.

use jiff::Timestamp;

use super::CommitId;
use super::develop::launch;
use super::effect::{Action, Pull};
use super::machine::Engine;
use super::settings::Integration;
use super::work::{End, Phase};
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

    /// The leading agent said that all is done, and there is no pull request (L-19).
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
        let launch = launch(work.attempt, account);
        self.perform(
            now,
            id,
            Action::Lead {
                launch,
                only_pull: true,
                feedback: None,
            },
        );
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
        let pull = work.pull.clone();
        self.issue(
            id,
            Action::Close {
                commit,
                progress,
                pull,
            },
        );
    }

    pub(super) fn closed(&mut self, id: &BeadId, commit: CommitId, pull: Option<Pull>) {
        let pull = pull.map(|pull| pull.url);
        self.end(id, End::Closed { commit, pull });
        if self.settings.cleans_up {
            self.issue(id, Action::CleanUp);
        }
    }
}
