//! What follows when something cannot be done: another try, a person, the end of the run (contracts §7.7, §7.8).

use jiff::{SignedDuration, Timestamp};

use super::effect::{Action, Effect, EffectId};
use super::event::Answer;
use super::event::{Lasting, Trouble};
use super::machine::{Engine, later};
use super::work::{AfterRestore, Doom, End, Phase};
use crate::bead::BeadId;

/// How often somebody who is in the way is waited for: ten minutes in all.
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
            // It cannot even be written down: the bead stays as it is, for whoever mends the store.
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
                self.doom(
                    now,
                    &id,
                    Doom::Block {
                        reason: trouble.message.clone(),
                        is_fatal,
                    },
                );
            }
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
        self.end(
            id,
            End::Lost {
                reason: reason.to_owned(),
            },
        );
    }

    pub(super) fn release(&mut self, now: Timestamp, id: &BeadId) {
        let progress = self.progress(id);
        let work = self.works.get_mut(id).expect("it is worked on");
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
        let work = self.works.get_mut(id).expect("it is worked on");
        work.is_ending = true;
        work.held.clear();
        work.enter(Phase::Finishing, now);
        let commit = work.sealed.clone();
        self.issue(
            id,
            Action::Block {
                reason,
                is_fatal,
                progress,
                commit,
            },
        );
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
        if let Doom::Block {
            reason,
            is_fatal: true,
        } = &doom
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
