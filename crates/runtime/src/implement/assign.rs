//! What the current step is, where it is done, by whom and how (I-6, I-10…I-19).

use beads_ralph_core::implement::{
    AcceptanceLine, Agent, Mode, Policy, ReviewLevel, Stage, acceptance_lines, decode_path,
    mode_of, report_path, stage_of, worker_for,
};
use beads_ralph_core::issue::{Issue, Record};
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_core::vocabulary::label;
use camino::{Utf8Path, Utf8PathBuf};

use super::Dispatcher;
use super::ending::Stop;
use super::find::Found;
use crate::config::WorkerSettings;
use crate::os::files;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    /// The labels say that it is left out, and why.
    Skip(String),
    Native,
    Direct,
    RalfImplement,
    RalfReview,
}

impl Shape {
    fn as_str(&self) -> &'static str {
        match self {
            Self::Skip(_) => "skip",
            Self::Native => "native",
            Self::Direct => "direct",
            Self::RalfImplement => "ralf-implement",
            Self::RalfReview => "ralf-review",
        }
    }
}

#[derive(Debug)]
pub(super) struct Assignment {
    pub(super) source: Record,
    pub(super) found: Found,
    pub(super) step: Record,
    pub(super) mode: Mode,
    pub(super) stage: Stage,
    pub(super) policy: Policy,
    pub(super) place: Utf8PathBuf,
    pub(super) shape: Shape,
    pub(super) agent: Agent,
    /// What the configuration says about them.
    pub(super) settings: Option<WorkerSettings>,
    pub(super) acceptance: Vec<AcceptanceLine>,
}

impl Assignment {
    pub(super) fn root(&self) -> &Record {
        self.found.molecule.root()
    }

    pub(super) fn report(&self, agent: &Agent, iteration: Option<u32>) -> Result<String, Stop> {
        report_path(self.step.issue.id(), agent, iteration)
            .map_err(|unsafe_part| Stop::human("I-16", format!("implement-bead: {unsafe_part}")))
    }
}

impl Dispatcher<'_> {
    pub(super) fn assign(
        &mut self,
        source: Record,
        (found, step): (Found, Record),
    ) -> Result<Assignment, Stop> {
        let human = |rule, note: String| Stop::human(rule, note);
        let root = found.molecule.root();
        let mode = mode_of(&source.issue, &root.issue).map_err(|note| human("I-14", note))?;
        let policy = Policy::of(&source.issue).map_err(|it| human("§9.13", it.to_string()))?;
        let stage = stage(&step.issue)?;
        self.decide("I-14", format!("mode {}", mode.as_str()));
        self.decide("I-17", format!("stage {}", stage.as_str()));
        self.told.mode = Some(mode);
        self.told.stage = Some(stage);
        let place = self.place(stage, &root.issue)?;
        let settings = self.site.config.implement.worker(stage, mode).cloned();
        let agent = match &settings {
            Some(settings) => Agent::named(&settings.agent),
            None => worker_for(stage, mode),
        };
        let acceptance = source.issue.text("acceptance_criteria").unwrap_or_default();
        let acceptance = acceptance_lines(acceptance);
        let shape = shape(stage, &policy, settings.is_some());
        self.decide(rule_of(&shape), format!("shape {}", shape.as_str()));
        self.told.shape = Some(shape.as_str());
        if matches!(shape, Shape::Direct | Shape::RalfImplement) {
            self.decide("I-19", format!("worker {}", agent.as_str()));
            self.told.worker = Some(agent.as_str().to_owned());
        }
        let assignment = Assignment {
            source,
            found,
            step,
            mode,
            stage,
            policy,
            place,
            shape,
            agent,
            settings,
            acceptance,
        };
        self.told.report = self.report_place(&assignment)?;
        Ok(assignment)
    }

    /// Where the report of a direct dispatch will be; loops have one for each cycle.
    fn report_place(&self, assignment: &Assignment) -> Result<Option<Utf8PathBuf>, Stop> {
        if assignment.shape != Shape::Direct {
            return Ok(None);
        }
        let path = assignment.report(&assignment.agent, None)?;
        Ok(Some(self.site.beads.join(path)))
    }

    /// Where the stage is done: the repository's root before there is a worktree and after it is gone (I-12), else the worktree.
    fn place(&mut self, stage: Stage, root: &Issue) -> Result<Utf8PathBuf, Stop> {
        if stage.is_at_root() {
            self.decide("I-12", "done at the root of the repository");
            return Ok(self.site.root.to_owned());
        }
        let path = self.worktree(root)?;
        self.decide("I-11", format!("done in the worktree {path}"));
        Ok(path)
    }

    /// The worktree of a molecule, if it can be worked in (I-11).
    fn worktree(&self, root: &Issue) -> Result<Utf8PathBuf, Stop> {
        let fault = |label: &str, path: &str, check: &str| {
            Stop::human(
                "I-11",
                format!(
                    "implement-bead: the worktree cannot be used: label `{}`, path `{}`: {check}",
                    visible(label),
                    visible(path)
                ),
            )
        };
        let labels: Vec<&str> = root
            .labels()
            .filter(|label| label.starts_with(label::WORKTREE_PREFIX))
            .collect();
        let [label] = labels.as_slice() else {
            let check = format!("there are {} such labels instead of one", labels.len());
            return Err(fault(&labels.join(" "), "", &check));
        };
        let encoded = label
            .strip_prefix(label::WORKTREE_PREFIX)
            .unwrap_or_default();
        let decoded = decode_path(encoded)
            .map_err(|error| fault(label, "", &format!("the label is malformed: {error}")))?;
        let path = Utf8Path::new(&decoded);
        if !path.is_absolute() {
            return Err(fault(label, &decoded, "it is not an absolute path"));
        }
        if !path.is_dir() {
            return Err(fault(
                label,
                &decoded,
                "there is no such directory; its branch still has what was committed: `git worktree prune`, then `git worktree add PATH BRANCH` with the branch that the path ends with, then `beads-ralph human resolve`",
            ));
        }
        match self.site.git.is_own_worktree(path) {
            Ok(true) => Ok(path.to_owned()),
            Ok(false) => Err(fault(
                label,
                &decoded,
                "it is not a linked worktree of this repository",
            )),
            Err(trouble) => Err(trouble.into()),
        }
    }

    /// Makes the directory of the reports of a step. Git does not see it (I-16).
    pub(super) fn make_audit_directory(&self, assignment: &Assignment) -> Result<(), Stop> {
        let report = assignment.report(&assignment.agent, None)?;
        let directory = self.site.beads.join(report);
        let directory = directory.parent().unwrap_or(self.site.beads);
        files::create_directory(directory)?;
        let all = directory.parent().unwrap_or(directory);
        ignore_all(all)?;
        Ok(())
    }
}

/// Makes git ignore everything in a directory, the file that says so too.
pub(super) fn ignore_all(directory: &Utf8Path) -> Result<(), files::FileError> {
    let ignore = directory.join(".gitignore");
    if ignore.exists() {
        return Ok(());
    }
    files::create_directory(directory)?;
    files::write_atomic(&ignore, b"*\n")
}

fn stage(step: &Issue) -> Result<Stage, Stop> {
    let said = stage_of(step);
    let known = said.as_deref().and_then(Stage::parse);
    known.ok_or_else(|| {
        let words = said.map_or_else(
            || "says no stage".to_owned(),
            |said| format!("has the unknown stage `{}`", excerpt(&said)),
        );
        let stages: Vec<&str> = Stage::ALL.iter().map(|stage| stage.as_str()).collect();
        Stop::human(
            "I-17",
            format!(
                "implement-bead: the step {} {words}; stages are {}",
                step.id(),
                stages.join(", ")
            ),
        )
    })
}

/// How a stage is done (I-18, §9.13). A worker that the configuration names takes the place of the program.
fn shape(stage: Stage, policy: &Policy, is_configured: bool) -> Shape {
    let is_light = matches!(
        stage,
        Stage::QualitySweep | Stage::VerifyAc | Stage::ReviewCycle
    );
    if is_light && policy.review_level == ReviewLevel::None {
        return Shape::Skip("review-level:none".to_owned());
    }
    match stage {
        Stage::GreenLoop if policy.is_ralf_required => Shape::RalfImplement,
        Stage::ReviewCycle if policy.is_ralf_required => Shape::RalfReview,
        Stage::Preflight => Shape::Native,
        Stage::VerifyAc | Stage::CreatePr | Stage::MergeOrHandoff if !is_configured => {
            Shape::Native
        }
        _ => Shape::Direct,
    }
}

fn rule_of(shape: &Shape) -> &'static str {
    match shape {
        Shape::Skip(_) => "§9.13",
        Shape::Native => "§9.14",
        Shape::Direct | Shape::RalfImplement | Shape::RalfReview => "I-18",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i_18_labels_and_stage_decide_the_shape() {
        let ralf = Policy {
            is_ralf_required: true,
            ..Policy::default()
        };
        let none = Policy {
            review_level: ReviewLevel::None,
            ..ralf.clone()
        };
        let plain = Policy::default();
        for (stage, policy, is_configured, expected) in [
            (Stage::GreenLoop, &plain, false, "direct"),
            (Stage::GreenLoop, &ralf, false, "ralf-implement"),
            (Stage::ReviewCycle, &ralf, false, "ralf-review"),
            (Stage::RedTests, &ralf, false, "direct"),
            (Stage::Preflight, &ralf, true, "native"),
            (Stage::CreatePr, &plain, false, "native"),
            (Stage::CreatePr, &plain, true, "direct"),
            (Stage::VerifyAc, &none, false, "skip"),
            (Stage::ReviewCycle, &none, false, "skip"),
            (Stage::GreenLoop, &none, false, "ralf-implement"),
        ] {
            let shape = shape(stage, policy, is_configured);
            assert_eq!(shape.as_str(), expected, "{stage:?}");
        }
    }
}
