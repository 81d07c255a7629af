//! One run of the loop: what [`RetryLoop`] wants is done here.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use beads_ralph_core::agent::Outcome;
use beads_ralph_core::bead::Timestamp;
use beads_ralph_core::check::{CheckRecord, is_green, no_verdict, summary};
use beads_ralph_core::dod::{
    AgentEnd, DodBead, DodStatus, Feedback, Moment, RetryEnd, RetryLoop, RetrySettings, RetryStep,
    RunProgress, prompt,
};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::keeper::{Keeper, KeeperError, Verdict};
use super::{Ending, Receipt, Report, Task, Worker, Workshop, agent_end, exceeded};
use crate::bead_files::{EvidenceError, check_artifacts};
use crate::check::{Checks, Ground};
use crate::os::clock;
use crate::os::files::{self, FileError};
use crate::os::process::Cancel;
use crate::progress::{Listener, News};
use crate::work_dir::{Snapshot, Tree};

pub(super) struct Run<'a> {
    workshop: &'a Workshop<'a>,
    keeper: &'a mut dyn Keeper,
    worker: Option<&'a mut dyn Worker>,
    listener: &'a mut dyn Listener,
    started: Instant,
    bead: DodBead,
    pursuit: RetryLoop,
    progress: RunProgress,
    feedback: Vec<Feedback>,
    receipt: Receipt,
    evidence: Option<Utf8PathBuf>,
    max_iterations: u32,
    /// What the checks saw when they were red.
    seen_red: Option<Snapshot>,
}

/// How the work ended, as it is kept among the evidence.
#[derive(Serialize)]
struct EvidenceRecord<'a> {
    bead_id: &'a str,
    iterations: u32,
    timestamp: Timestamp,
    status: &'a str,
    reason: Option<&'a str>,
    results: &'a [CheckRecord],
    receipt: &'a Receipt,
    logs: &'a Utf8Path,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        workshop: &'a Workshop<'a>,
        keeper: &'a mut dyn Keeper,
        worker: Option<&'a mut dyn Worker>,
        settings: RetrySettings,
        listener: &'a mut dyn Listener,
    ) -> Self {
        let bead = keeper.bead().clone();
        Self {
            workshop,
            worker,
            listener,
            started: clock::monotonic(),
            max_iterations: settings.max_iterations,
            pursuit: RetryLoop::new(settings),
            progress: RunProgress::begun(bead.total_attempts()),
            feedback: Feedback::noted(&bead),
            receipt: Receipt::noted(&bead),
            evidence: None,
            seen_red: None,
            bead,
            keeper,
        }
    }
}

impl Run<'_> {
    pub(super) fn until_the_end(&mut self) -> Result<Report, KeeperError> {
        self.save()?;
        let mut step = self.pursuit.begin(self.moment());
        let ending = loop {
            step = match step {
                // What is decided is decided: a signal that comes now changes nothing.
                RetryStep::End(RetryEnd::Completed) => break Ending::Completed,
                RetryStep::End(RetryEnd::Red) if !self.is_over() => break Ending::Red,
                RetryStep::End(RetryEnd::Failed(reason)) if !self.is_over() => {
                    break Ending::Failed(reason);
                }
                _ if self.is_over() => break Ending::Interrupted,
                RetryStep::Agent { iteration } => self.agent(iteration)?,
                RetryStep::Verify { iteration } => self.verify(iteration)?,
                RetryStep::Wait { time, why } => self.wait(time, &why),
                RetryStep::End(_) => break Ending::Interrupted,
            };
        };
        self.finish(ending)
    }

    fn is_over(&self) -> bool {
        self.workshop.cancel.is_cancelled()
    }

    fn moment(&self) -> Moment {
        Moment {
            now: clock::wall(),
            elapsed: clock::monotonic().saturating_duration_since(self.started),
        }
    }

    fn agent(&mut self, iteration: u32) -> Result<RetryStep, KeeperError> {
        if let Some(reason) = exceeded(self.workshop.budget, &self.receipt) {
            return Ok(RetryStep::End(RetryEnd::Failed(reason)));
        }
        if self.progress.attempt_count != iteration {
            self.progress.attempt_count = iteration;
            self.progress.last_attempt = Some(Timestamp::from_instant(clock::now()));
            self.save()?;
        }
        let directory = match self.agent_directory(iteration) {
            Ok(directory) => directory,
            Err(error) => return Ok(self.after_agent(AgentEnd::Failed(error.to_string()))),
        };
        let prompt = prompt(&self.bead, self.workshop.must_be_clean, &self.feedback);
        let tree = Tree::at(self.workshop.root, self.workshop.home, self.workshop.units);
        let before = tree.snapshot();
        let began = self.moment();
        let outcome = self.call(iteration, &prompt, &directory, began);
        let duration = self.moment().elapsed.saturating_sub(began.elapsed);
        self.receipt.add(&outcome);
        self.listener.hear(&News::AgentEnded {
            outcome: &outcome,
            duration,
        });
        self.keeper.agent_ended(iteration, &outcome)?;
        // What counts is whether anything is different from what the checks last saw: work that an earlier call did before it
        // was cut off is work.
        let before = self.seen_red.as_ref().unwrap_or(&before);
        let end = agent_end(&outcome, before, &tree.snapshot());
        Ok(self.after_agent(end))
    }

    fn call(&mut self, iteration: u32, prompt: &str, directory: &Utf8Path, at: Moment) -> Outcome {
        let task = Task {
            bead: &self.bead,
            iteration,
            prompt,
            time_left: self.pursuit.time_left(at),
            directory,
            mark: self.workshop.mark.below(),
        };
        let worker = self
            .worker
            .as_mut()
            .expect("agents are called only where there is one");
        self.listener.hear(&News::AgentBegins {
            agent: worker.name(),
            iteration,
            of: self.max_iterations,
        });
        let mut listener = Beating {
            keeper: self.keeper,
            cancel: self.workshop.cancel,
            listener: self.listener,
        };
        worker.work(&task, &mut listener)
    }

    /// The step after an agent's end. The next agent gets its failure as feedback.
    fn after_agent(&mut self, end: AgentEnd) -> RetryStep {
        let is_idle = end == AgentEnd::Done { has_changed: false };
        let at = self.moment();
        let step = self.pursuit.agent_ended(end.clone(), at);
        let reason = match end {
            AgentEnd::Failed(reason) | AgentEnd::Hopeless(reason) => Some(reason),
            AgentEnd::Done { .. } if is_idle && !matches!(step, RetryStep::Verify { .. }) => {
                Some(RetryLoop::NO_CHANGE.to_owned())
            }
            AgentEnd::Done { .. } | AgentEnd::Limit { .. } => None,
        };
        if is_idle && reason.is_some() {
            let text = "the agent changed nothing while checks were red, so they are not run again";
            self.listener.hear(&News::Warning(text));
        }
        if let Some(reason) = reason {
            self.feedback.retain(|feedback| feedback.name != "agent");
            self.progress.last_failure_summary = Some(format!("agent: {reason}"));
            self.feedback.push(Feedback {
                name: "agent".to_owned(),
                reason,
                output: String::new(),
            });
        }
        step
    }

    fn verify(&mut self, iteration: u32) -> Result<RetryStep, KeeperError> {
        let n_blind = self.pursuit.n_blind();
        let mut records = match self.check_directory(iteration) {
            Ok(directory) => self.checked(&directory),
            Err(error) => vec![failed("evidence", &error.to_string())],
        };
        if is_green(&records)
            && let Err(reason) = self.prove(&records)
        {
            records.push(failed("evidence", &reason));
        }
        let (is_green, summary) = (is_green(&records), summary(&records));
        let no_verdict = no_verdict(&records);
        self.feedback = Feedback::of(&records);
        // That nothing is known yet is said once.
        if n_blind == 0 || no_verdict.is_none() {
            self.keeper.checked(iteration, &records)?;
        }
        self.progress.checked(records);
        if let Some(why) = no_verdict {
            self.save()?;
            return Ok(self.pursuit.unverified(&why, self.moment()));
        }
        let step = self.pursuit.verified(is_green, &summary, self.moment());
        if !is_green {
            let tree = Tree::at(self.workshop.root, self.workshop.home, self.workshop.units);
            self.seen_red = Some(tree.snapshot());
            self.save()?;
        }
        Ok(step)
    }

    fn checked(&mut self, directory: &Utf8Path) -> Vec<CheckRecord> {
        let checks = Checks {
            units: self.workshop.units,
            cancel: self.workshop.cancel,
            root: self.workshop.root,
            home: self.workshop.home,
            shell: self.workshop.shell,
            withhold: self.workshop.withhold,
            env: &BTreeMap::new(),
            ground: Ground::of(self.workshop.must_be_clean),
            mark: self.workshop.mark,
            logs: directory,
            again: self.workshop.again,
        };
        let (pursuit, started) = (&self.pursuit, self.started);
        let time_left = || {
            pursuit.time_left(Moment {
                now: clock::wall(),
                elapsed: clock::monotonic().saturating_duration_since(started),
            })
        };
        let mut listener = Beating {
            keeper: self.keeper,
            cancel: self.workshop.cancel,
            listener: self.listener,
        };
        checks.run(&self.bead.dod.verifiers, &time_left, &mut listener)
    }

    /// Keeps the evidence of a success (V-15); without it there is none.
    fn prove(&mut self, records: &[CheckRecord]) -> Result<(), String> {
        let dod = &self.bead.dod;
        let artifacts = check_artifacts(self.workshop.root, &dod.artifact_paths);
        let proven = artifacts.and_then(|()| {
            let evidence = self.evidence_of("completed", None, records);
            let record = (self.workshop.evidence).record("success", clock::now(), &evidence);
            record.map_err(EvidenceError::from)
        });
        match proven {
            Ok(path) => {
                self.evidence = Some(path);
                Ok(())
            }
            Err(error) if dod.requires_evidence() => Err(error.to_string()),
            Err(error) => {
                self.listener.hear(&News::Warning(&error.to_string()));
                Ok(())
            }
        }
    }

    fn evidence_of<'e>(
        &'e self,
        status: &'e str,
        reason: Option<&'e str>,
        results: &'e [CheckRecord],
    ) -> EvidenceRecord<'e> {
        EvidenceRecord {
            bead_id: &self.bead.id,
            iterations: self.pursuit.iteration(),
            timestamp: Timestamp::from_instant(clock::now()),
            status,
            reason,
            results,
            receipt: &self.receipt,
            logs: self.workshop.logs.path(),
        }
    }

    fn wait(&mut self, time: Duration, why: &str) -> RetryStep {
        let until = clock::monotonic() + time;
        loop {
            let left = until.saturating_duration_since(clock::monotonic());
            let mut listener = Beating {
                keeper: self.keeper,
                cancel: self.workshop.cancel,
                listener: self.listener,
            };
            listener.hear(&News::Waiting { left, why });
            if left.is_zero() || self.workshop.cancel.wait(left.min(Duration::from_secs(1))) {
                return self.pursuit.waited(self.moment());
            }
        }
    }

    fn directory(&self, iteration: u32) -> Result<Utf8PathBuf, FileError> {
        match iteration {
            0 => self.workshop.logs.below("before"),
            iteration => self.workshop.logs.below(&format!("attempt-{iteration}")),
        }
    }

    /// Checks that could not be run are run again in the same iteration; what they said is kept all the same.
    fn check_directory(&self, iteration: u32) -> Result<Utf8PathBuf, FileError> {
        let attempt = self.directory(iteration)?;
        match self.pursuit.n_blind() {
            0 => Ok(attempt),
            _ => files::fresh_directory(&attempt.join("verify-again")).map(|(path, _)| path),
        }
    }

    /// A call that a limit kept from working is made again in the same iteration; what it said is kept all the same.
    fn agent_directory(&self, iteration: u32) -> Result<Utf8PathBuf, FileError> {
        let attempt = self.directory(iteration)?;
        files::fresh_directory(&attempt.join("agent")).map(|(path, _)| path)
    }

    fn save(&mut self) -> Result<(), KeeperError> {
        self.progress.receipt = self.receipt.to_value();
        let warning = self.keeper.save(&self.progress, self.workshop.version)?;
        if let Some(warning) = warning {
            self.listener.hear(&News::Warning(&warning));
        }
        Ok(())
    }

    fn finish(&mut self, ending: Ending) -> Result<Report, KeeperError> {
        let records = self.progress.records.clone().unwrap_or_default();
        let is_gate = self.bead.is_gate;
        let (status, verdict) = match &ending {
            Ending::Completed => {
                self.progress.is_green = is_gate.then_some(true);
                let stays_open = is_gate && !self.bead.closes_on_pass;
                if stays_open {
                    (DodStatus::Pending, Verdict::Open)
                } else {
                    (DodStatus::Completed, Verdict::Done)
                }
            }
            Ending::Red => {
                self.progress.is_green = is_gate.then_some(false);
                (DodStatus::Pending, Verdict::Open)
            }
            Ending::Failed(_) => (DodStatus::Failed, Verdict::GivenUp),
            Ending::Interrupted => (DodStatus::Pending, Verdict::Open),
        };
        self.progress.status = status;
        if let Ending::Failed(reason) = &ending {
            self.progress.failure_reason = Some(reason.clone());
        }
        let reason = self.progress.failure_reason.clone();
        if matches!(ending, Ending::Failed(_) | Ending::Red) {
            let evidence = self.evidence_of(status.as_str(), reason.as_deref(), &records);
            let record = (self.workshop.evidence).record("failure", clock::now(), &evidence);
            match record {
                Ok(path) => self.evidence = Some(path),
                Err(error) => self.listener.hear(&News::Warning(&error.to_string())),
            }
        }
        self.progress.receipt = self.receipt.to_value();
        let warning = (self.keeper).end(&self.progress, verdict, self.workshop.version)?;
        if let Some(warning) = warning {
            self.listener.hear(&News::Warning(&warning));
        }
        Ok(Report {
            ending,
            iterations: self.pursuit.iteration(),
            records,
            last_failure: self.progress.last_failure_summary.clone(),
            evidence: self.evidence.take(),
            receipt: std::mem::take(&mut self.receipt),
            duration: self.moment().elapsed,
        })
    }
}

/// A failed condition that is not one of the bead's checks.
fn failed(name: &str, reason: &str) -> CheckRecord {
    CheckRecord::failed(name, reason, &Timestamp::from_instant(clock::now()))
}

/// Says that the bead is still worked on, as often as whoever keeps it needs to hear it, and stops the work when it is ours no
/// longer.
pub(super) struct Beating<'a> {
    pub(super) keeper: &'a mut dyn Keeper,
    pub(super) cancel: &'a Cancel,
    pub(super) listener: &'a mut dyn Listener,
}

impl Listener for Beating<'_> {
    fn hear(&mut self, news: &News<'_>) {
        if matches!(news, News::Running { .. } | News::Waiting { .. })
            && let Err(lost) = self.keeper.beat()
        {
            self.listener.hear(&News::Warning(&lost.to_string()));
            self.cancel.cancel();
        }
        self.listener.hear(news);
    }
}
