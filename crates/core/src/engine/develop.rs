//! Getting ready and developing: worktree, conflicts, agents, and everything committed.

use jiff::Timestamp;

use super::CommitId;
use super::effect::{Action, Launch, Note};
use super::event::AgentReport;
use super::judge::Said;
use super::machine::{Engine, later};
use super::settings::Cap;
use super::work::{AfterRecord, Doom, Phase};
use crate::agent::Status;
use crate::bead::{BeadId, QaReport, QaStatus};

impl Engine {
    pub(super) fn prepare(&mut self, now: Timestamp, id: &BeadId, also: Option<CommitId>) {
        let work = self.work(id);
        work.enter(Phase::Preparing, now);
        let prepare = Action::Prepare {
            also,
            base: work.base.clone(),
            attempt: work.attempt,
        };
        self.issue(id, prepare);
    }

    pub(super) fn prepared(
        &mut self,
        now: Timestamp,
        id: &BeadId,
        head: &CommitId,
        conflicts: &[String],
        merging: Option<&str>,
    ) {
        let task = self.task(id);
        let account = task.developers.first().cloned().unwrap_or_default();
        let (unjudged, is_gate) = (task.sealed.clone(), task.is_gate);
        let work = self.work(id);
        work.start = Some(head.clone());
        if !conflicts.is_empty() && is_gate {
            let files = conflicts.join(", ");
            let reason = format!(
                "the gate cannot be run: what it waits for does not fit together, conflicts in {files}"
            );
            return self.end_attempt(now, id, reason, false);
        }
        if !conflicts.is_empty() {
            work.enter(Phase::Resolving, now);
            let merging = merging.unwrap_or_default();
            // Whoever gave the merge up and said that all is well would be asked for ever.
            if work.resolved.as_deref() == Some(merging) {
                work.needs_prepare = true;
                let reason = format!("the conflict with {merging} was not solved");
                return self.fail_attempt(now, id, &reason);
            }
            work.merging = Some(merging.to_owned());
            let action = Action::Resolve {
                launch: launch(work.attempt, account),
                merging: merging.to_owned(),
                files: conflicts.to_vec(),
            };
            return self.perform(now, id, action);
        }
        let also = work.also.take();
        // What came in by the merge is nobody's change here.
        let base = also.or(work.base.take()).unwrap_or_else(|| head.clone());
        work.base = Some(base);
        // What an earlier run made and did not come to judge is there: it is not made again.
        let is_made = unjudged.as_ref() == Some(head);
        if (work.is_only_merge || is_made) && !is_gate {
            work.is_only_merge = true;
            self.seal(now, id);
        } else {
            self.develop(now, id, 0);
        }
    }

    /// A gate is not worked on: what was made ready is checked as it is.
    fn check_alone(&mut self, now: Timestamp, id: &BeadId) {
        let work = self.work(id);
        work.sealed.clone_from(&work.start);
        self.verify(now, id);
    }

    pub(super) fn develop(&mut self, now: Timestamp, id: &BeadId, agent: usize) {
        if self.task(id).is_gate {
            return self.check_alone(now, id);
        }
        let leader = self.leader(id);
        let account = self.task(id).developers.get(agent).cloned();
        let work = self.work(id);
        work.enter(Phase::Developing, now);
        let (attempt, feedback) = (work.attempt, work.feedback.clone());
        let action = match leader {
            Some(account) => Action::Lead {
                launch: launch(attempt, account),
                only_pull: false,
                feedback,
            },
            None => Action::Develop {
                agent,
                launch: launch(attempt, account.unwrap_or_default()),
                feedback,
            },
        };
        self.perform(now, id, action);
    }

    pub(super) fn agent_ended(
        &mut self,
        now: Timestamp,
        id: &BeadId,
        action: &Action,
        report: &AgentReport,
    ) {
        let Some(report) = self.take_report(now, id, action, report) else {
            return;
        };
        let work = self.work(id);
        let (attempt, feedback) = (work.attempt, work.feedback.clone());
        work.notes.push(Note::Developed {
            attempt,
            report: report.clone(),
            feedback,
        });
        if report.status != Status::Ok {
            let reason = format!("{}: {}", report.agent, report.reason);
            if work.phase == Phase::Resolving {
                work.needs_prepare = true;
            }
            return self.fail_attempt(now, id, &reason);
        }
        if let Action::Develop { agent, .. } = action {
            work.next_agent = *agent + 1;
        }
        self.seal(now, id);
    }

    /// Takes a report that says something about the work. What says something about the account or the program is dealt with here:
    /// a limit is waited for and costs no attempt (Z-13), what no retry can fix stops the run (Z-1), and what we
    /// ended ourselves is put back.
    pub(super) fn take_report(
        &mut self,
        now: Timestamp,
        id: &BeadId,
        action: &Action,
        report: &AgentReport,
    ) -> Option<AgentReport> {
        match report.status {
            Status::Limit => {
                self.limited(now, id, action.clone(), report);
                None
            }
            Status::Auth | Status::Config => {
                let reason = format!("{}: {}", report.agent, report.reason);
                self.doom(now, id, Doom::fatal(reason));
                None
            }
            Status::Killed if self.stopping.is_some() => {
                self.doom(now, id, Doom::Release);
                None
            }
            _ => {
                if report.status == Status::Ok {
                    self.width = (self.width + 1).min(self.settings.max_parallel.max(1));
                    self.work(id).n_limits = 0;
                }
                Some(report.clone())
            }
        }
    }

    pub(super) fn limited(
        &mut self,
        now: Timestamp,
        id: &BeadId,
        action: Action,
        report: &AgentReport,
    ) {
        let account = action.launch().map(|launch| launch.account.clone());
        let account = account.unwrap_or_default();
        let (n, max) = (self.work(id).n_limits + 1, self.settings.max_limit_tries);
        let until = match report.resets_at.filter(|reset| *reset > now) {
            Some(reset) => reset,
            None if n > max => {
                let reason = format!(
                    "{account} is at its limit, also after {max} waits: {}",
                    report.reason
                );
                return self.doom(now, id, Doom::block(reason));
            }
            None => {
                self.work(id).n_limits = n;
                self.width = (self.width / 2).max(1);
                let jitter = self.jitter(id, n);
                later(now, self.settings.limit_backoff.wait_ms(n, jitter))
            }
        };
        let known = self.parked.get(&account).copied();
        if known.is_none_or(|known| known < until) {
            self.parked.insert(account.clone(), until);
            let account = account.clone();
            self.issue(id, Action::Park { account, until });
        }
        if self.stopping.is_some() {
            return self.doom(now, id, Doom::Release);
        }
        if self.work(id).doom.is_some() {
            return;
        }
        let why = format!("{account} is at its limit");
        self.hold(id, Some(until), action, why);
    }

    pub(super) fn led(
        &mut self,
        now: Timestamp,
        id: &BeadId,
        action: &Action,
        report: &AgentReport,
        claim: Claim,
    ) {
        let Some(report) = self.take_report(now, id, action, report) else {
            return;
        };
        let only_pull = matches!(action, Action::Lead { only_pull, .. } if *only_pull);
        let work = self.work(id);
        let attempt = work.attempt;
        work.notes.push(Note::Led {
            attempt,
            report: report.clone(),
        });
        if only_pull {
            let verified = work.verified.clone();
            let commit = verified.expect("a pull request is for verified work");
            let may_create = false;
            self.issue(id, Action::Propose { commit, may_create });
            return;
        }
        work.qa_results = claim.qa_results;
        let reason = claim.error.unwrap_or(report.reason);
        if claim.is_fatal {
            let reason = format!("the scrum-master stopped the work: {reason}");
            return self.end_attempt(now, id, reason, true);
        }
        let said = self.work(id).qa_results.iter().map(|said| Said {
            agent: said.agent_path.clone(),
            status: said.status,
            message: said.message.clone(),
        });
        let said: Vec<Said> = said.collect();
        let is_stopped = said.iter().any(|said| said.status == QaStatus::Stop);
        if !is_stopped && (!claim.is_success || report.status != Status::Ok) {
            return self.fail_attempt(now, id, &format!("{}: {reason}", report.agent));
        }
        // A success that its own QA agents do not share is none.
        if self.all_passed(now, id, &said) {
            self.seal(now, id);
        }
    }

    pub(super) fn seal(&mut self, now: Timestamp, id: &BeadId) {
        let work = self.work(id);
        if work.phase != Phase::Resolving {
            work.enter(Phase::Sealing, now);
        }
        let base = work.base.clone().or(work.start.clone());
        let attempt = work.attempt;
        let base = base.expect("a worktree that is worked in has a commit");
        self.issue(id, Action::Seal { attempt, base });
    }

    /// The work cannot be taken as it is: the next attempt hears why.
    pub(super) fn refuse_work(&mut self, now: Timestamp, id: &BeadId, reason: &str) {
        let work = self.work(id);
        work.needs_prepare |= work.phase == Phase::Resolving;
        self.fail_attempt(now, id, reason);
    }

    pub(super) fn sealed(
        &mut self,
        now: Timestamp,
        id: &BeadId,
        made: (&CommitId, &str),
        n_changed: usize,
        unresolved: &[String],
    ) {
        let is_merge = self.task(id).is_merge;
        let n_developers = match self.leader(id) {
            Some(_) => 0,
            None => self.task(id).developers.len(),
        };
        let work = self.work(id);
        if !unresolved.is_empty() {
            work.needs_prepare = true;
            let reason = format!("conflicts were left unsolved in {}", unresolved.join(", "));
            return self.fail_attempt(now, id, &reason);
        }
        let (commit, tree) = made;
        if work.phase == Phase::Resolving {
            work.resolved = work.merging.take();
            let also = work.also.clone();
            return self.prepare(now, id, also);
        }
        work.sealed = Some(commit.clone());
        work.tree = Some(tree.to_owned());
        let next = work.next_agent;
        if next < n_developers && !work.is_only_merge {
            work.start = Some(commit.clone());
            return self.develop(now, id, next);
        }
        if n_changed == 0 && !is_merge {
            return self.fail_attempt(now, id, "nothing was changed");
        }
        self.record(now, id, AfterRecord::Judge);
    }
}

/// What a leading agent claims.
pub(super) struct Claim {
    pub(super) is_success: bool,
    pub(super) is_fatal: bool,
    pub(super) error: Option<String>,
    pub(super) qa_results: Vec<QaReport>,
}

/// A run of an agent that was not begun yet.
pub(super) fn launch(attempt: u32, account: String) -> Launch {
    Launch {
        attempt,
        number: 0,
        account,
        grant: Cap::default(),
    }
}
