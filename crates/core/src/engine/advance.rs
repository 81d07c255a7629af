//! What follows from what was done: the transitions of one bead from its claim to its end.
//!
//! The order of an attempt is fixed (Z-5): dev agents, everything committed, QA agents, checks, hand-over. Every way to a closed bead
//! leads through [`Answer::Verified`] on exactly the commit that is handed over.

use jiff::Timestamp;

use super::develop::Claim;
use super::effect::{Action, Effect, Pull};
use super::event::Answer;
use super::machine::{Engine, later};
use super::task::{Task, TaskState};
use super::work::{AfterRecord, AfterRestore, Doom, End, Phase, Work};
use crate::bead::BeadId;
use crate::issue::Fence;

impl Engine {
    /// Continues the work on a bead after an answer. An answer that does not fit what was asked cannot come from a journal of this
    /// version; it blocks the bead.
    pub(super) fn advance(&mut self, now: Timestamp, effect: Effect, answer: &Answer) {
        let id = effect.bead;
        let work = self.work(&id);
        (work.n_tries, work.n_waits) = (0, 0);
        match (effect.action, answer) {
            (Action::Claim { .. }, Answer::Claimed { fence, task }) => {
                self.claimed(now, &id, *fence, task);
            }
            (Action::Claim { .. }, Answer::NotClaimed { is_full, .. }) => {
                self.works.remove(&id);
                self.claims_fail_since = None;
                if *is_full {
                    self.full_until = Some(later(now, self.settings.poll_ms));
                } else {
                    self.defer(now, &id);
                }
            }
            (
                Action::Prepare { .. },
                Answer::Prepared {
                    head,
                    conflicts,
                    merging,
                    is_anew,
                    ..
                },
            ) => {
                if *is_anew {
                    self.work(&id).base = None;
                }
                self.prepared(now, &id, head, conflicts, merging.as_deref());
            }
            (
                action @ (Action::Develop { .. } | Action::Resolve { .. }),
                Answer::Ended { report },
            ) => {
                self.agent_ended(now, &id, &action, report);
            }
            (
                action @ Action::Lead { .. },
                Answer::Led {
                    report,
                    is_success,
                    is_fatal,
                    error,
                    qa_results,
                },
            ) => {
                let claim = Claim {
                    is_success: *is_success,
                    is_fatal: *is_fatal,
                    error: error.clone(),
                    qa_results: qa_results.clone(),
                };
                self.led(now, &id, &action, report, claim);
            }
            (
                Action::Seal { .. },
                Answer::Sealed {
                    commit,
                    tree,
                    n_changed,
                    unresolved,
                    refused,
                },
            ) => {
                if let Some(reason) = refused {
                    self.refuse_work(now, &id, reason);
                } else {
                    self.sealed(now, &id, (commit, tree), *n_changed, unresolved);
                }
            }
            (Action::Record { .. }, Answer::Done) => match self.work(&id).after_record {
                AfterRecord::Judge => self.judge(now, &id),
                AfterRecord::NextAttempt => self.clean_up_after_judges(now, &id),
            },
            (action @ Action::Judge { .. }, Answer::Judged { report, verdict }) => {
                self.judged(now, &id, &action, report, verdict.as_ref());
            }
            (
                Action::Verify { .. },
                Answer::Verified {
                    is_cut_off: true, ..
                },
            ) if self.stopping.is_some() => {
                self.doom(now, &id, Doom::Release);
            }
            (
                Action::Verify { commit, .. },
                Answer::Verified {
                    commit: checked,
                    is_green,
                    summary,
                    ..
                },
            ) => {
                let is_green = *is_green && *checked == commit;
                self.verified(now, &id, commit, is_green, summary);
            }
            (Action::Restore { .. }, Answer::Done) => self.restored(now, &id),
            (Action::Keep { commit }, Answer::Done) => self.hand_over(now, &id, commit),
            (Action::Merge { commit, .. }, Answer::Merged { .. }) => self.close(now, &id, commit),
            (
                Action::Merge { target, .. },
                Answer::Conflicted {
                    target: head,
                    files,
                },
            ) => {
                self.work(&id).also = Some(head.clone());
                let files = files.join(", ");
                let reason =
                    format!("the work does not fit with what is on {target}: conflicts in {files}");
                self.fail_attempt(now, &id, &reason);
            }
            (Action::Push { commit }, Answer::Done) => {
                let may_create = self.leader(&id).is_none();
                self.issue(&id, Action::Propose { commit, may_create });
            }
            (Action::Propose { commit, .. }, Answer::Proposed { url, number }) => {
                self.work(&id).pull = Some(Pull {
                    url: url.clone(),
                    number: *number,
                });
                self.close(now, &id, commit);
            }
            (Action::Propose { .. }, Answer::NotProposed) => self.ask_for_pull(now, &id),
            (Action::Close { commit, pull, .. }, Answer::Done) => self.closed(&id, commit, pull),
            (Action::Block { reason, .. }, Answer::Done) => {
                let text = format!("{id} needs a person: {reason}");
                self.queue
                    .update(&id, |task| task.standing = TaskState::Blocked);
                self.end(&id, End::NeedsPerson { reason });
                self.issue(&id, Action::Notify { text });
            }
            (Action::Release { .. }, Answer::Done) => self.end(&id, End::Released),
            // Such an answer belongs to no question; the bead would wait for ever.
            (action, _) => {
                let name = action.name();
                let reason = format!("a mistake of beads-ralph itself: no such answer to {name}");
                self.doom(now, &id, Doom::fatal(reason));
            }
        }
    }

    pub(super) fn work(&mut self, id: &BeadId) -> &mut Work {
        self.works.get_mut(id).expect("it is worked on")
    }

    pub(super) fn task(&self, id: &BeadId) -> &Task {
        self.queue.get(id).expect("it is worked on")
    }

    pub(super) fn claimed(&mut self, now: Timestamp, id: &BeadId, fence: Fence, task: &Task) {
        self.ledger.opens(task);
        self.claims_fail_since = None;
        self.full_until = None;
        self.queue.update(id, |own| {
            let waits_for = std::mem::take(&mut own.waits_for);
            *own = Task {
                waits_for,
                standing: TaskState::Open,
                ..task.clone()
            };
        });
        self.queue.withdraw(id);
        let work = self.work(id);
        work.fence = Some(fence);
        work.base.clone_from(&task.base);
        work.feedback.clone_from(&task.feedback);
        if let Some(fault) = &task.fault {
            return self.block(now, id, fault.clone(), false);
        }
        if task.attempts >= task.max_attempts {
            let reason = format!(
                "max retry attempts reached: all {} were used before",
                task.max_attempts
            );
            return self.block(now, id, reason, false);
        }
        self.next_attempt(now, id);
    }

    pub(super) fn next_attempt(&mut self, now: Timestamp, id: &BeadId) {
        // After a fatal word elsewhere what runs may finish, and nothing is begun again (L-8).
        if self.stopping.is_some() || self.fatal.is_some() {
            return self.release(now, id);
        }
        let attempt = self.task(id).attempts + 1;
        let work = self.work(id);
        work.attempt = attempt;
        work.verdicts.clear();
        work.qa_results.clear();
        work.verified = None;
        work.tree = None;
        work.next_agent = 0;
        work.resolved = None;
        if let Some(also) = work.also.clone() {
            work.is_only_merge = work.sealed.is_some();
            work.needs_prepare = false;
            return self.prepare(now, id, Some(also));
        }
        work.is_only_merge = false;
        if std::mem::take(&mut work.needs_prepare) {
            return self.prepare(now, id, None);
        }
        work.start = work.sealed.clone().or(work.start.take());
        self.develop(now, id, 0);
    }

    pub(super) fn restored(&mut self, now: Timestamp, id: &BeadId) {
        let then = std::mem::replace(&mut self.work(id).after_restore, AfterRestore::NextAttempt);
        match then {
            AfterRestore::Redo(actions) if self.work(id).phase == Phase::Resolving => {
                drop(actions);
                let also = self.work(id).also.clone();
                self.prepare(now, id, also);
            }
            AfterRestore::Redo(actions) => {
                for action in actions {
                    self.perform(now, id, action);
                }
            }
            AfterRestore::NextAttempt => self.next_attempt(now, id),
            AfterRestore::Release => self.release(now, id),
        }
    }
}
