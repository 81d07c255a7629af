//! Something that waits for a person, and what is known about it.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::history::records;
use beads_ralph_core::implement::{decode_path, decode_url, reason, stage_of};
use beads_ralph_core::issue::{Issue, Record, Standing};
use beads_ralph_core::molecule::{Molecule, Step};
use beads_ralph_core::vocabulary::label;
use camino::Utf8Path;
use serde::Serialize;

use crate::ui::bead_view::time;
use crate::ui::format::Next;
use crate::ui::quoted;

/// Who made it wait, which decides what an answer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `implement`: a step could not be done.
    Implement,
    /// `run`: the bead is blocked.
    Run,
    /// `implement`: the work is done and is to be merged.
    Merge,
    /// A plan: a part of it that no agent does.
    Gate,
}

impl Kind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Implement => "implement",
            Self::Run => "run",
            Self::Merge => "merge",
            Self::Gate => "gate",
        }
    }
}

/// A bead that waits for a person.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) record: Record,
    pub(super) kind: Kind,
    /// The molecules that were poured for it, the oldest first.
    pub(super) molecules: Vec<Molecule>,
}

impl Waiting {
    /// The steps that wait, each with its molecule.
    pub(super) fn steps(&self) -> impl Iterator<Item = (&Molecule, &Record)> {
        self.molecules.iter().flat_map(|molecule| {
            let steps = molecule.steps().iter().map(Step::record);
            let flagged = steps.filter(|step| step.issue.has_label(label::HUMAN));
            flagged.map(move |step| (molecule, step))
        })
    }

    /// Whether a flagged step is the one that waits: it is open, or the last that was flagged in the molecule that is worked on. Others were
    /// gone past by hand.
    pub(super) fn is_done_again(&self, step: &Record) -> bool {
        let is_last = self
            .step()
            .is_some_and(|last| last.issue.id() == step.issue.id());
        is_last || step.issue.standing() != Standing::Closed
    }

    /// The step that waits; of several the latest.
    pub(super) fn step(&self) -> Option<&Record> {
        self.steps().last().map(|(_, step)| step)
    }

    /// Where the work is: the molecule of the step, else the one that is open, else the latest.
    pub(super) fn molecule(&self) -> Option<&Molecule> {
        let of_step = self.steps().last().map(|(molecule, _)| molecule);
        let is_open = |it: &&Molecule| it.root().issue.standing() != Standing::Closed;
        let open = || self.molecules.iter().rfind(is_open);
        of_step.or_else(open).or_else(|| self.molecules.last())
    }

    /// The stage of the step that waits.
    pub(super) fn stage(&self) -> Option<String> {
        stage_of(&self.step()?.issue)
    }

    /// The worktree that the molecule names, or the bead.
    pub(super) fn worktree(&self) -> Option<String> {
        let of_molecule = self.encoded(label::WORKTREE_PREFIX);
        let of_run = || {
            let metadata = self.record.issue.metadata()?;
            let path = metadata.get("worktree_path")?.as_str();
            path.filter(|path| !path.is_empty()).map(str::to_owned)
        };
        match of_molecule {
            Some(label) => decode_path(label).ok(),
            None => of_run(),
        }
    }

    /// The pull request that the molecule names.
    pub(super) fn pull_request(&self) -> Option<String> {
        decode_url(self.encoded(label::PULL_REQUEST_PREFIX)?).ok()
    }

    /// What a label of the molecule holds, or one of the bead.
    fn encoded(&self, prefix: &str) -> Option<&str> {
        fn of<'i>(issue: &'i Issue, prefix: &str) -> Option<&'i str> {
            issue.labels().find_map(|label| label.strip_prefix(prefix))
        }
        let molecule = self.molecule().map(|molecule| &molecule.root().issue);
        let of_molecule = molecule.and_then(|issue| of(issue, prefix));
        of_molecule.or_else(|| of(&self.record.issue, prefix))
    }

    /// Why, in the words of whoever asks.
    pub(super) fn why(&self) -> String {
        let issue = &self.record.issue;
        let said = match self.kind {
            Kind::Implement => {
                let notes = |issue: &Issue| {
                    let reason = reason(issue.text("notes")?).to_owned();
                    (!reason.is_empty()).then_some(reason)
                };
                notes(issue).or_else(|| notes(&self.step()?.issue))
            }
            Kind::Run => records::question(issue).or_else(|| records::last_error(issue)),
            Kind::Merge if self.is_verified() => {
                Some("the work is done and was looked at; it is to be merged".to_owned())
            }
            Kind::Merge => Some(self.handed_over().unwrap_or_else(|| {
                "the work is done; it is to be looked at and merged".to_owned()
            })),
            Kind::Gate => Some("a part of a molecule that no agent does".to_owned()),
        };
        said.unwrap_or_else(|| "nobody said why".to_owned())
    }

    /// What the dispatcher noted when it handed the work over: the branch, and what only people can judge.
    fn handed_over(&self) -> Option<String> {
        let notes = self.record.issue.text("notes")?;
        let start = notes.rfind("implement-bead: the work is done")?;
        let lines = notes[start..].lines();
        let told =
            lines.take_while(|line| line.starts_with("implement-bead:") || line.starts_with("- "));
        Some(told.collect::<Vec<&str>>().join("\n"))
    }

    /// Whether somebody said that it was looked at.
    pub(super) fn is_verified(&self) -> bool {
        self.record.issue.has_label(label::VERIFIED_BY_HUMAN)
    }

    /// Since when it waits, as far as the beads tell: when its step was closed, or else the last change.
    pub(super) fn since(&self) -> Option<jiff::Timestamp> {
        let closed = self.step().and_then(|step| step.issue.time("closed_at"));
        closed.or_else(|| self.record.issue.time("updated_at"))
    }

    /// The same as documents have it.
    pub(super) fn since_text(&self) -> Option<String> {
        self.since().map(time)
    }

    /// What can be typed next, and what for.
    pub(super) fn commands(&self) -> Vec<Next> {
        let id = quoted(Utf8Path::new(self.record.issue.id().as_str()));
        let mut commands = match self.kind {
            Kind::Run => vec![
                Next::new(format!("beads-ralph status --bead {id}"), "what was tried"),
                Next::new(
                    format!("beads-ralph logs {id}"),
                    "what agents and checks wrote",
                ),
            ],
            Kind::Implement | Kind::Merge | Kind::Gate => vec![Next::new(
                format!("beads-ralph human show {id}"),
                "why, and the evidence",
            )],
        };
        if let Some(worktree) = self.worktree() {
            let path = quoted(Utf8Path::new(&worktree));
            commands.push(Next::new(format!("cd {path}"), "where the work is"));
        }
        let (resolved, accepted) = self.consequences();
        let resolve = format!("beads-ralph human resolve {id}");
        commands.push(Next::new(format!("{resolve} --answer TEXT"), resolved));
        if let Some(accepted) = accepted {
            let accept = format!("{resolve} --accept --answer TEXT");
            commands.push(Next::new(accept, accepted));
        }
        if matches!(self.kind, Kind::Implement | Kind::Merge) && self.molecule().is_some() {
            let purpose = "repeat everything from a stage on; its worker gets your answer";
            let redo = format!("{resolve} --redo STAGE --answer TEXT");
            commands.push(Next::new(redo, purpose));
        }
        commands
    }

    /// What follows from an answer, and from accepting it as it is where that is something else.
    fn consequences(&self) -> (&'static str, Option<&'static str>) {
        match self.kind {
            Kind::Implement if self.step().is_some() => (
                "repeat the step, with your answer in its notes",
                Some("it is good enough: continue with the next step"),
            ),
            Kind::Implement => ("continue, with your answer in the notes", None),
            Kind::Run => (
                "try it again",
                Some("you did it yourself, or it is not needed"),
            ),
            Kind::Merge => ("you merged it: close it", None),
            Kind::Gate => ("it is done: close it", None),
        }
    }

    /// Everything that waits, for programs.
    pub(super) fn facts(&self) -> WaitingFacts<'_> {
        let issue = &self.record.issue;
        let molecule = self.molecule().map(Molecule::root);
        WaitingFacts {
            id: issue.id(),
            title: issue.title(),
            kind: self.kind.as_str(),
            step: self.step().map(|step| step.issue.id()),
            stage: self.stage(),
            molecule: molecule.map(|root| root.issue.id()),
            why: self.why(),
            since: self.since_text(),
            commands: self.commands(),
        }
    }
}

/// Something that waits, for programs.
#[derive(Serialize)]
pub(super) struct WaitingFacts<'w> {
    id: &'w BeadId,
    title: &'w str,
    kind: &'static str,
    step: Option<&'w BeadId>,
    stage: Option<String>,
    molecule: Option<&'w BeadId>,
    why: String,
    since: Option<String>,
    commands: Vec<Next>,
}
