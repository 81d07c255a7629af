//! The primitive of every dispatch (I-20…I-23): one worker, its report, and what the report is worth.

use std::io::{Read as _, Seek as _, SeekFrom};

use beads_ralph_core::agent::{AgentRole, Outcome, Status as AgentStatus};
use beads_ralph_core::engine::CommitId;
use beads_ralph_core::implement::contradictions;
use beads_ralph_core::implement::report::{EvidenceGate, Report, ReportStatus, gate};
use beads_ralph_core::implement::{
    Diagnosis, diagnose_step, diagnoser, diagnosis, needs_diagnosis,
};
use beads_ralph_core::implement::{Task, answers, audit_label, report_path};
use camino::Utf8Path;

use super::Dispatcher;
use super::assign::Assignment;
use super::calling::Errand;
use super::claim::Held;
use super::ending::Stop;
use super::record::{WorkRecord, later_session_id, session_id};
use super::report::{self, Classified, NoReport};
use crate::os::files;
use crate::os::process::{self, Mark};

/// How much of what a worker complained of is kept in its report.
const STDERR_TAIL: u64 = 4 * 1024;

#[derive(Debug)]
pub(super) struct Done {
    pub(super) report: Report,
    pub(super) gate: EvidenceGate,
    /// Whether it was written in the place of one that cannot be used.
    pub(super) is_synthetic: bool,
    /// What is wrong with it, and was used all the same.
    pub(super) faults: Vec<String>,
}

impl Dispatcher<'_> {
    /// The label of a worker's run, if workers of its kind leave one (I-22).
    pub(super) fn audit_label(
        &self,
        assignment: &Assignment,
        iteration: Option<u32>,
    ) -> Option<String> {
        let audited = &self.site.config.implement.audited;
        let name = assignment.agent.as_str();
        let is_audited = audited.iter().any(|audited| audited == name);
        is_audited.then(|| audit_label(&assignment.agent, iteration))
    }

    /// Lets a worker do the stage, or takes the report that a dispatcher before this one did not get to (Z-36).
    pub(super) fn work(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
        iteration: Option<u32>,
    ) -> Result<Done, Stop> {
        self.make_audit_directory(assignment)?;
        let path = assignment.report(&assignment.agent, iteration)?;
        let path = self.site.beads.join(path);
        self.told.report = Some(path.clone());
        let record = WorkRecord::beside(&path);
        let before = WorkRecord::read(&record);
        let mut begun = None;
        if let Some(left) = before.filter(|before| before.is_undecided(held)) {
            process::end(&Mark(left.mark.clone()));
            begun.clone_from(&left.head);
            if let Some(done) = self.left_over(assignment, held, &path, left)? {
                return Ok(done);
            }
        }
        let mark = self.site.mark.below();
        let state = self.site.git.checked_out_at(&assignment.place)?;
        // What a worker that was cut off had committed is a part of the same work.
        let head = begun.or(state.map(|head| head.0));
        let kept = WorkRecord::new(held, &mark.0, head);
        // A report of an earlier worker would be taken for this one's.
        if path.is_dir() && !path.is_symlink() {
            files::remove_directory(&path)?;
        }
        files::remove_leftover(&path);
        kept.write(&record)?;
        let classified = self.worked(assignment, held, iteration, &path, mark)?;
        self.judged(assignment, classified, kept.head.as_deref())
    }

    /// The report of a worker that nobody has decided about, if it is whole: the worker had ended, or it says all that reports say.
    fn left_over(
        &mut self,
        assignment: &Assignment,
        held: &Held,
        path: &Utf8Path,
        left: WorkRecord,
    ) -> Result<Option<Done>, Stop> {
        let Ok(classified) = report::read(path, &assignment.agent) else {
            return Ok(None);
        };
        let is_cut_off = left.given_back.is_some() || !classified.faults.is_empty();
        if !left.is_ended && is_cut_off {
            return Ok(None);
        }
        let fence = left.fence;
        self.decide(
            "Z-36",
            format!("the report of fence {fence} is there and is used"),
        );
        let kept = WorkRecord {
            fence: held.fence.0,
            through: held.fence.0,
            is_ended: true,
            ..left
        };
        kept.write(&WorkRecord::beside(path))?;
        if let Some(candidate) = &kept.candidate {
            // Whoever came after the worker was cut off, and nobody looked at what they did.
            self.back_to(assignment, &CommitId(candidate.clone()))?;
        }
        self.judged(assignment, classified, kept.head.as_deref())
            .map(Some)
    }

    /// Makes the worktree be a commit, if it is not.
    fn back_to(&mut self, assignment: &Assignment, commit: &CommitId) -> Result<(), Stop> {
        let now = self.snapshot(assignment)?;
        if now.0.as_ref() != Some(commit) || now.1.is_some() {
            self.undo(assignment, Some(commit), 0)?;
        }
        Ok(())
    }

    fn worked(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
        iteration: Option<u32>,
        path: &Utf8Path,
        mark: Mark,
    ) -> Result<Classified, Stop> {
        let prompt = self.prompt(assignment, path)?;
        let settings = assignment.settings.as_ref();
        let session = session_of(assignment, held, iteration);
        self.told.session = Some(session.clone());
        let errand = Errand {
            name: assignment.agent.as_str(),
            adapter: settings.and_then(|it| it.adapter.as_deref()),
            model: settings.and_then(|it| it.model),
            prompt,
            role: AgentRole::Worker,
            attempt: iteration.unwrap_or(1),
            schema: None,
            report: Some(path),
            session,
            directory: path.with_extension("run"),
            limit: self.site.config.implement.worker_timeout,
            mark,
        };
        let outcome = self.call(assignment, held, &errand)?;
        let why = match outcome.status {
            AgentStatus::Ok => {
                let record = WorkRecord::beside(path);
                WorkRecord::amend(&record, |record| record.is_ended = true)?;
                match report::read(path, &assignment.agent) {
                    Ok(classified) => return Ok(classified),
                    Err(why) => why,
                }
            }
            _ => NoReport::Missing,
        };
        let crash = crash(&outcome, &errand.directory);
        Ok(report::synthesize(path, why, &crash)?)
    }

    /// A report beside what is so: what git contradicts is not complete.
    fn judged(
        &mut self,
        assignment: &Assignment,
        classified: Classified,
        head: Option<&str>,
    ) -> Result<Done, Stop> {
        let Classified {
            mut report,
            is_synthetic,
            faults,
        } = classified;
        if !is_synthetic {
            let head = head.map(|head| CommitId(head.to_owned()));
            let facts = self.facts(&assignment.place, &report, head.as_ref())?;
            let found = contradictions(&report, &assignment.agent, &facts);
            for escalation in &found {
                let (reason, detail) = (&escalation.reason, &escalation.detail);
                self.decide("reality", format!("{reason}: {detail}"));
            }
            if !found.is_empty() && report.status == ReportStatus::Complete {
                report.status = ReportStatus::NeedsHuman;
            }
            report.escalations.extend(found);
        }
        let gate = gate(&report.evidence);
        self.told.status = Some(report.status);
        self.told.gate = Some(gate);
        self.told.warnings.extend(faults.iter().cloned());
        Ok(Done {
            report,
            gate,
            is_synthetic,
            faults,
        })
    }

    fn prompt(&mut self, assignment: &Assignment, report: &Utf8Path) -> Result<String, Stop> {
        let diagnosis = self.diagnosis(assignment)?;
        let commands = self.site.commands();
        let notes = assignment.step.issue.text("notes").unwrap_or_default();
        let answers = answers(notes);
        let task = Task {
            stage: assignment.stage,
            mode: assignment.mode,
            source: &assignment.source.issue,
            step: &assignment.step.issue,
            agent: &assignment.agent,
            worktree: assignment.place.as_str(),
            report: report.as_str(),
            commands: &commands,
            acceptance: &assignment.acceptance,
            diagnosis: diagnosis.as_ref(),
            answers: &answers,
        };
        Ok(task.to_prompt())
    }

    /// What an earlier stage found out about a bug (I-24, I-25).
    fn diagnosis(&mut self, assignment: &Assignment) -> Result<Option<Diagnosis>, Stop> {
        if !needs_diagnosis(assignment.stage, assignment.mode) {
            return Ok(None);
        }
        let human = |note: String| Stop::human("I-25", note);
        let step = diagnose_step(&assignment.found.steps).map_err(|it| human(it.to_string()))?;
        let path = report_path(step, &diagnoser(), None).map_err(|it| human(it.to_string()))?;
        let path = self.site.beads.join(path);
        let missing = |why: &str| {
            human(format!(
                "implement-bead: the diagnosis is missing: expected at {path}: {why}"
            ))
        };
        let report = report::read(&path, &diagnoser()).map_err(|why| match why {
            NoReport::Missing => missing("there is no such file"),
            NoReport::Malformed(detail) => missing(detail.lines().next().unwrap_or_default()),
        });
        let found = report.and_then(|report| {
            diagnosis(&report.report, assignment.stage).map_err(|error| missing(&error.to_string()))
        });
        let found = match found {
            Ok(found) => found,
            Err(stop) => {
                // A person who went past the diagnosis said what the cause is.
                let notes = assignment
                    .found
                    .steps
                    .iter()
                    .find(|it| it.issue.id() == step);
                let notes = notes
                    .and_then(|it| it.issue.text("notes"))
                    .unwrap_or_default();
                let Some(note) = answers(notes).pop() else {
                    return Err(stop);
                };
                self.decide("I-24", "the cause of the bug was given by a person");
                return Ok(Some(Diagnosis {
                    root_cause_note: note,
                    reproduction_steps: None,
                }));
            }
        };
        self.decide("I-24", format!("the cause of the bug is taken from {path}"));
        Ok(Some(found))
    }
}

/// The session of a worker: that of the stage at first, and another one whenever the stage is done again (I-41).
fn session_of(assignment: &Assignment, held: &Held, iteration: Option<u32>) -> String {
    let source = assignment.source.issue.id().as_str();
    let stage = assignment.stage.as_str();
    match (held.fence.0, iteration) {
        (1, None | Some(1)) => session_id(source, stage),
        (fence, iteration) => {
            let what = format!("{fence}:{}", iteration.unwrap_or_default());
            later_session_id(source, stage, &what)
        }
    }
}

/// How a worker that left no report ended, with the last that it complained of.
fn crash(outcome: &Outcome, directory: &Utf8Path) -> String {
    if outcome.status == AgentStatus::Ok {
        return "exit code 0, but no report was written to the given path".to_owned();
    }
    let code = match outcome.exit_code {
        Some(code) => format!("exit code {code}"),
        None => "no exit code".to_owned(),
    };
    let status = outcome.status.as_str();
    let mut text = format!("{code} ({status}: {})", outcome.reason);
    let tail = tail(&directory.join("stderr")).unwrap_or_default();
    if !tail.trim().is_empty() {
        text.push('\n');
        text.push_str(tail.trim());
    }
    text
}

fn tail(path: &Utf8Path) -> Option<String> {
    let mut file = files::open_own(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(STDERR_TAIL)))
        .ok()?;
    let mut bytes = Vec::new();
    file.take(STDERR_TAIL).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
