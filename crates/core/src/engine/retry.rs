//! The retry rules: what follows when something cannot be done (contracts §7.7, §7.8), and when an attempt failed (L-16): another try, a
//! person, or the end of the run.

use jiff::{SignedDuration, Timestamp};

use super::effect::{Action, Effect};
use super::event::{Lasting, Trouble};
use super::machine::{Engine, later};
use super::work::{AfterRecord, AfterRestore, Doom, End, Failure, Phase};
use crate::bead::BeadId;

/// How often somebody who is in the way is waited for: ten minutes.
const MAX_OCCUPIED_TRIES: u32 = 40;

/// How long each of these waits is.
const OCCUPIED_WAIT_MS: u64 = 15_000;

/// How long claims may fail before the store counts as one that cannot be written.
const MAX_FAILING: SignedDuration = SignedDuration::from_mins(5);

impl Engine {
    /// Claims that fail for minutes, while the store can be read, mean that nothing can be written.
    fn claims_failed(&mut self, now: Timestamp, why: &str) {
        let since = *self.claims_fail_since.get_or_insert(now);
        if now.duration_since(since) >= MAX_FAILING {
            self.fatal
                .get_or_insert_with(|| format!("nothing can be claimed: {why}"));
        }
    }

    /// What follows from trouble (contracts §7.7, §7.8).
    pub(super) fn failed(&mut self, now: Timestamp, effect: Effect, trouble: &Trouble) {
        let id = effect.bead.clone();
        let is_stopping = self.stopping.is_some();
        let work = self.works.get_mut(&id).expect("it is worked on");
        match (trouble.lasting, &effect.action) {
            (Lasting::Passing | Lasting::Occupied, Action::Claim { .. }) => {
                self.works.remove(&id);
                self.defer(now, &id);
                self.claims_failed(now, &trouble.message);
            }
            // Whoever wants to stop is not kept waiting: what lies there is put aside when somebody goes on.
            (_, Action::Restore { .. })
                if is_stopping && work.after_restore == AfterRestore::Release =>
            {
                self.release(now, &id);
            }
            // What was ended because the run was to end says nothing about the bead.
            (Lasting::ForBead, Action::Prepare { .. }) if is_stopping => {
                self.doom(now, &id, Doom::Release);
            }
            (Lasting::Occupied, _) if work.n_waits < MAX_OCCUPIED_TRIES => {
                work.n_waits += 1;
                let until = later(now, OCCUPIED_WAIT_MS);
                self.hold_effect(effect, until, trouble.message.clone());
            }
            (Lasting::Passing, _) if work.n_tries < self.settings.max_tries => {
                work.n_tries += 1;
                let n = work.n_tries;
                let jitter = self.jitter(&id, n);
                let until = later(now, self.settings.backoff.wait_ms(n, jitter));
                self.hold_effect(effect, until, trouble.message.clone());
            }
            (Lasting::Lost, action) => {
                // That it is lost may be told while it runs.
                let is_running =
                    action.launch().is_some() || matches!(action, Action::Verify { .. });
                if is_running && !self.is_busy(&id) {
                    self.tell(&id, Action::Cancel);
                }
                self.lose(&id, &trouble.message);
            }
            (_, Action::Claim { .. }) => {
                self.fatal
                    .get_or_insert_with(|| format!("{id}: {}", trouble.message));
                self.works.remove(&id);
                self.ends.insert(id, End::Released);
            }
            // Not even the bead can be written: it stays as it is until somebody repairs the store.
            (
                _,
                Action::Block { .. }
                | Action::Release { .. }
                | Action::Close { .. }
                | Action::Record { .. },
            ) => {
                self.fatal
                    .get_or_insert_with(|| format!("{id}: {}", trouble.message));
                self.lose(&id, &trouble.message);
            }
            (lasting, _) => {
                let is_fatal = matches!(lasting, Lasting::ForRun | Lasting::Passing);
                let reason = trouble.message.clone();
                self.doom(now, &id, Doom::Block { reason, is_fatal });
            }
        }
    }

    /// An attempt failed: the next one, if there is one, gets the reason (L-16).
    pub(super) fn fail_attempt(&mut self, now: Timestamp, id: &BeadId, reason: &str) {
        let task = self.task(id);
        let max_attempts = task.max_attempts;
        let work = self.work(id);
        let failure = Failure {
            tree: work.tree.clone(),
            reason: reason.to_owned(),
        };
        let is_same = failure.tree.is_some() && work.failure.as_ref() == Some(&failure);
        work.failure = Some(failure);
        work.feedback = Some(match &work.findings {
            Some(findings) if findings != reason => {
                format!("{reason}\n\nStill to mend from before:\n{findings}")
            }
            _ => reason.to_owned(),
        });
        let attempt = work.attempt;
        if is_same {
            let reason =
                format!("two attempts ended with the same work and the same failure: {reason}");
            return self.end_attempt(now, id, reason, false);
        }
        if attempt >= max_attempts {
            let reason = format!("max retry attempts reached: {reason}");
            return self.end_attempt(now, id, reason, false);
        }
        self.queue.update(id, |task| task.attempts = attempt);
        let work = self.work(id);
        work.is_judged = matches!(work.phase, Phase::Judging | Phase::Verifying);
        self.record(now, id, AfterRecord::NextAttempt);
    }

    /// An attempt was the last one.
    pub(super) fn end_attempt(
        &mut self,
        now: Timestamp,
        id: &BeadId,
        reason: String,
        is_fatal: bool,
    ) {
        let attempt = self.work(id).attempt;
        self.queue.update(id, |task| task.attempts = attempt);
        self.block(now, id, reason, is_fatal);
    }

    /// What QA agents and checks left in the worktree is not the work of the developers, and is removed before the next attempt.
    pub(super) fn clean_up_after_judges(&mut self, now: Timestamp, id: &BeadId) {
        let work = self.work(id);
        let is_judged = std::mem::take(&mut work.is_judged);
        match work.sealed.clone().filter(|_| is_judged) {
            Some(commit) => {
                work.after_restore = AfterRestore::NextAttempt;
                let attempt = work.attempt;
                self.issue(id, Action::Restore { attempt, commit });
            }
            None => self.next_attempt(now, id),
        }
    }
}
