//! Asking somebody to look at the work: strangers first, and whoever takes their place.

use beads_ralph_core::agent::{Outcome, Part, Status};
use beads_ralph_core::engine::CommitId;
use beads_ralph_core::implement::ralf::{Findings, Reviewer, ReviewerStatus};
use beads_ralph_core::implement::{Focus, Inspection};
use camino::Utf8PathBuf;
use serde_json::Value;

use super::super::Dispatcher;
use super::super::assign::{Assignment, ignore_all};
use super::super::calling::Errand;
use super::super::ending::{ImplementError, Stop};
use super::super::hold::Held;
use super::super::kept::{ARTEFACTS, reviews_of};
use super::super::native::place_at;
use super::super::session::later_session_id;
use super::Eyes;
use crate::os::files;
use crate::ports::Repository as _;

#[derive(Debug, Clone, Copy)]
pub(super) struct Wish<'w> {
    /// Which cycle, from 1.
    pub(super) cycle: u32,
    pub(super) focus: Focus,
    pub(super) order: &'w [Reviewer],
    pub(super) base: &'w CommitId,
}

impl Dispatcher<'_> {
    /// Lets the first of them look who can. That nobody can is an error, so that it is tried again later.
    pub(super) fn review(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
        wish: Wish<'_>,
    ) -> Result<(Findings, Eyes), Stop> {
        let mut eyes = Eyes {
            cycle: wish.cycle,
            asked: Vec::new(),
        };
        for reviewer in wish.order {
            let (status, findings) = self.asked(assignment, held, wish, *reviewer)?;
            eyes.asked.push((*reviewer, status));
            let (name, word) = (reviewer.as_str(), status.as_str());
            self.decide("R-4", format!("cycle {}: {name}: {word}", wish.cycle));
            if let Some(findings) = findings {
                return Ok((findings, eyes));
            }
        }
        Err(ImplementError::NoReviewer(eyes.words()).into())
    }

    fn asked(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
        wish: Wish<'_>,
        reviewer: Reviewer,
    ) -> Result<(ReviewerStatus, Option<Findings>), Stop> {
        let directory = self.artefacts(assignment, wish, reviewer)?;
        let before = self.snapshot(assignment)?;
        let commands = self.site.commands();
        let inspection = Inspection {
            source: &assignment.source.issue,
            worktree: assignment.place.as_str(),
            base: &wish.base.0,
            acceptance: &assignment.acceptance,
            commands: &commands,
            focus: wish.focus,
        };
        let settings = &self.site.config.implement.reviewers;
        let (name, adapter) = match (reviewer, wish.focus) {
            (Reviewer::Codex, _) => (
                "fresh-eyes-reviewer",
                settings.codex.as_deref().or(Some("codex")),
            ),
            (Reviewer::Gemini, _) => (
                "fresh-eyes-reviewer",
                settings.gemini.as_deref().or(Some("gemini")),
            ),
            (Reviewer::FreshEyes, Focus::Work) => {
                ("fresh-eyes-reviewer", settings.fresh_eyes.as_deref())
            }
            (Reviewer::FreshEyes, Focus::Quality | Focus::Deep) => {
                ("quality-reviewer", settings.fresh_eyes.as_deref())
            }
        };
        let what = format!(
            "{}:review:{}:{name}:{}",
            held.fence.0,
            wish.cycle,
            reviewer.as_str()
        );
        let errand = Errand {
            name,
            adapter,
            model: None,
            prompt: inspection.to_prompt(),
            part: Part::Reviewer,
            attempt: wish.cycle,
            schema: Some(Findings::schema()),
            report: None,
            session: later_session_id(
                assignment.source.issue.id().as_str(),
                assignment.stage.as_str(),
                &what,
            ),
            directory: directory.clone(),
            limit: self.site.config.implement.reviewer_timeout,
            mark: self.site.mark.below(),
        };
        let outcome = match self.outcome(assignment, held, &errand) {
            Ok(outcome) => outcome,
            // An agent that is not there is no error of the work.
            Err(Stop::Error(error)) if matches!(*error, ImplementError::NotReady { .. }) => {
                files::write_passing(&directory.join("error.log"), error.to_string().as_bytes())?;
                return Ok((ReviewerStatus::Unavailable, None));
            }
            Err(stop) => return Err(stop),
        };
        let read = outcome.report.as_ref().and_then(Findings::read);
        let (status, findings) = judged(&outcome, read);
        if self.snapshot(assignment)? != before {
            self.undo(assignment, before.0.as_ref(), wish.cycle)?;
            return Ok((ReviewerStatus::UnusableOutput, None));
        }
        let review = outcome.report.unwrap_or(Value::Null);
        files::write_passing(&directory.join("review.json"), &files::to_json(&review))?;
        Ok((status, findings))
    }

    /// Keeps who looked in a cycle, for whoever goes on with the loop after this process.
    pub(super) fn keep_eyes(&self, assignment: &Assignment, eyes: &Eyes) -> Result<(), Stop> {
        let path = self.eyes_of(assignment, eyes.cycle);
        files::write_passing(&path, &files::to_json(eyes))?;
        Ok(())
    }

    /// Who looked in the cycles that are over, as far as that was kept.
    pub(super) fn kept_eyes(&self, assignment: &Assignment, n_cycles: u32) -> Vec<Eyes> {
        let paths = (1..=n_cycles).map(|cycle| self.eyes_of(assignment, cycle));
        let texts = paths.filter_map(|path| files::read(&path).ok());
        let kept = texts.filter_map(|text| serde_json::from_slice(&text).ok());
        kept.collect()
    }

    fn eyes_of(&self, assignment: &Assignment, cycle: u32) -> Utf8PathBuf {
        let directory = self.reviews_of(assignment);
        directory.join(format!("cycle-{cycle}.json"))
    }

    fn reviews_of(&self, assignment: &Assignment) -> Utf8PathBuf {
        let source = assignment.source.issue.id();
        reviews_of(self.site.root, source, assignment.stage.as_str())
    }

    /// The directory of a review, which git does not see.
    fn artefacts(
        &self,
        assignment: &Assignment,
        wish: Wish<'_>,
        reviewer: Reviewer,
    ) -> Result<Utf8PathBuf, Stop> {
        ignore_all(&self.site.root.join(ARTEFACTS))?;
        let focus = match wish.focus {
            Focus::Work => "",
            Focus::Quality | Focus::Deep => "-quality",
        };
        let name = format!("cycle-{}-{}{focus}", wish.cycle, reviewer.as_str());
        let directory = self.reviews_of(assignment).join(name);
        files::create_directory(&directory)?;
        Ok(directory)
    }

    /// What is checked out, and what is not committed: a reviewer changes neither.
    pub(in crate::implement) fn snapshot(
        &self,
        assignment: &Assignment,
    ) -> Result<(Option<CommitId>, Option<String>), Stop> {
        let (git, place) = (self.site.git, &assignment.place);
        Ok((git.checked_out_at(place)?, git.dirt_of(place)?))
    }

    /// Makes the worktree what it was. What is taken away stays reachable (Z-39).
    pub(in crate::implement) fn undo(
        &mut self,
        assignment: &Assignment,
        commit: Option<&CommitId>,
        cycle: u32,
    ) -> Result<(), Stop> {
        let place = place_at(assignment, &assignment.place);
        if let (Some(place), Some(commit)) = (place, commit) {
            self.site.git.restore(&place, commit, cycle)?;
            self.decide(
                "R-8",
                "what somebody changed who should not have is taken back",
            );
        }
        Ok(())
    }
}

fn judged(outcome: &Outcome, findings: Option<Findings>) -> (ReviewerStatus, Option<Findings>) {
    let has_said = (outcome.text.as_ref()).is_some_and(|it| !it.trim().is_empty());
    // Whoever ends well and says something that is no review failed by that alone.
    let is_unusable = outcome.exit_code == Some(0) && (has_said || outcome.report.is_some());
    let status = match outcome.status {
        Status::Ok if findings.is_some() => return (ReviewerStatus::Completed, findings),
        Status::Limit => ReviewerStatus::QuotaExceeded,
        Status::Auth => ReviewerStatus::AuthFailed,
        Status::Config => ReviewerStatus::Unavailable,
        Status::Timeout => ReviewerStatus::TimedOut,
        Status::Ok | Status::NoResult | Status::Failed if is_unusable => {
            ReviewerStatus::UnusableOutput
        }
        Status::Ok
        | Status::NoResult
        | Status::Failed
        | Status::Denied
        | Status::Killed
        | Status::Crashed => ReviewerStatus::NoOutput,
    };
    (status, None)
}
