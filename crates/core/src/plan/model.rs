//! What a plan says, with the place of everything that it says.

use sha2::{Digest as _, Sha256};

use super::agent::AgentItem;
use super::diagnostics;
use super::field::{Field, RequiredField};
use super::verifier::VerifierItem;
use crate::bead::{BeadId, BranchName};
use crate::diag::Diagnostic;
use crate::number::SprintId;
use crate::text::{Span, Spanned};

/// A parsed plan.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// The sprints in document order. A duplicate is kept, so that its section is not mistaken for
    /// another's; [`Plan::unique`] passes over it.
    pub sprints: Vec<Sprint>,
    /// Findings about headings and about the text as a whole. Findings about a sprint's body are
    /// with the sprint, because they count only for sprints that are selected (P-23).
    pub problems: Vec<Diagnostic>,
}

impl Plan {
    /// The sprints without the later ones of a duplicated number, in document order.
    pub fn unique(&self) -> impl Iterator<Item = &Sprint> {
        self.sprints.iter().filter(|sprint| !sprint.is_duplicate)
    }

    /// The sprint with a number.
    pub fn sprint(&self, id: &SprintId) -> Option<&Sprint> {
        self.unique().find(|sprint| sprint.id.value == *id)
    }
}

/// A sprint: its heading, and what of its body was understood.
#[derive(Debug, Clone)]
pub struct Sprint {
    /// The number.
    pub id: Spanned<SprintId>,
    /// The title, trimmed and otherwise verbatim (P-4).
    pub title: Spanned<String>,
    /// The heading line without its line end.
    pub heading: Spanned<String>,
    /// The heading's line, from 1.
    pub line: usize,
    /// From the heading's start to the section's end (P-10).
    pub section: Span,
    /// Whether an earlier heading has the same number (P-7).
    pub is_duplicate: bool,
    /// The annotations that stand in the section.
    pub annotations: Vec<Annotation>,
    /// The fields; nothing for a heading without any, so that a long list of headings stays small.
    pub(super) fields: Option<Box<Body>>,
    /// Findings about the body.
    pub problems: Vec<Diagnostic>,
}

impl Sprint {
    /// The fields of the section.
    pub fn body(&self) -> &Body {
        static EMPTY: Body = Body::empty();
        self.fields.as_deref().unwrap_or(&EMPTY)
    }

    /// How many minutes the plan says it takes (Z-41).
    pub fn estimated_minutes(&self) -> Option<u32> {
        let estimate = self.body().estimate.as_ref()?.value;
        Some(estimate.minutes().try_into().unwrap_or(u32::MAX))
    }

    /// What it counts in the order and in the critical path: its minutes, or one where nobody said.
    pub fn weight(&self) -> u64 {
        weight(self.estimated_minutes().map(u64::from))
    }

    /// The digest of its section in the plan's text (Z-45). Annotations do not count, because we write them ourselves, nor do
    /// white space at the end, which belongs to what comes after, and the kind of line ends (P-25).
    pub fn digest(&self, text: &str) -> String {
        let section = text.get(self.section.start()..self.section.end());
        let mut at = self.section.start();
        let mut said = String::new();
        for line in section.unwrap_or_default().split_inclusive('\n') {
            let range = at..at + line.len();
            at = range.end;
            let is_ours = |it: &Annotation| range.contains(&it.line.start());
            if self.annotations.iter().any(is_ours) {
                continue;
            }
            match line.strip_suffix("\r\n") {
                Some(line) => said.extend([line, "\n"]),
                None => said.push_str(line),
            }
        }
        let hash = Sha256::digest(said.trim_end());
        let digits = hash.iter().map(|byte| format!("{byte:02x}"));
        format!("sha256:{}", digits.collect::<String>())
    }

    /// The annotation that stands directly after the heading.
    pub fn annotation(&self) -> Option<&Annotation> {
        self.annotations
            .iter()
            .find(|annotation| annotation.is_in_place)
    }
}

/// A `<!-- beads-ralph: … -->` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// The line without its line end.
    pub line: Span,
    /// The bead that it names; nothing when it names none, or more than one word.
    pub id: Option<BeadId>,
    /// Whether it stands directly after the heading.
    pub is_in_place: bool,
}

/// The fields of a sprint's section; what is absent or malformed is absent here.
#[derive(Debug, Clone)]
pub struct Body {
    /// The recognised fields that occur, with the place of their names.
    pub fields: Vec<Spanned<Field>>,
    /// Unknown fields that are probably misspelt, with what they probably mean.
    pub misspelt: Vec<Spanned<Field>>,
    /// Where the work happens.
    pub worktree: Option<Spanned<String>>,
    /// The branch of the work.
    pub branch: Option<Spanned<BranchName>>,
    /// The branch that the work starts from.
    pub source_branch: Option<Spanned<String>>,
    /// The team, if the plan names one.
    pub team: Option<Spanned<String>>,
    /// More labels.
    pub labels: Vec<Spanned<String>>,
    /// The formula to pour instead.
    pub formula: Option<Spanned<String>>,
    /// The bead id, if the plan fixes it.
    pub bead_id: Option<Spanned<BeadId>>,
    /// Whether the sprint merges or works, if the plan says so (B-30).
    pub kind: Option<Spanned<SprintKind>>,
    /// How long it will take, for the critical path.
    pub estimate: Option<Spanned<Estimate>>,
    /// Who does the work, in order.
    pub dev_agents: Vec<AgentItem>,
    /// Who judges it.
    pub qa_agents: Vec<AgentItem>,
    /// What is to be done; never blank.
    pub tasks: Vec<Spanned<String>>,
    /// When it counts as done.
    pub acceptance: Vec<Spanned<String>>,
    /// The machine-checked Definition of Done.
    pub verifiers: Vec<VerifierItem>,
    /// Whether the `Status` field says `COMPLETED` (P-14).
    pub is_completed: bool,
}

impl Default for Body {
    fn default() -> Self {
        Self::empty()
    }
}

impl Body {
    const fn empty() -> Self {
        Self {
            fields: Vec::new(),
            misspelt: Vec::new(),
            worktree: None,
            branch: None,
            source_branch: None,
            team: None,
            labels: Vec::new(),
            formula: None,
            bead_id: None,
            kind: None,
            estimate: None,
            dev_agents: Vec::new(),
            qa_agents: Vec::new(),
            tasks: Vec::new(),
            acceptance: Vec::new(),
            verifiers: Vec::new(),
            is_completed: false,
        }
    }

    /// Whether nothing was found, not even a field that is misspelt.
    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.misspelt.is_empty() && !self.is_completed
    }

    /// Whether a recognised field occurs, with whatever value.
    pub fn has(&self, field: Field) -> bool {
        self.fields.iter().any(|seen| seen.value == field)
    }
}

/// What a `**Type**` field says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SprintKind {
    /// The sprint joins branches.
    Merge,
    /// The sprint does its own work.
    Work,
    /// Nobody works on the sprint: its verifiers must be green before its dependents start.
    Gate,
}

/// How long a sprint is expected to take, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Estimate(pub u64);

impl Estimate {
    /// The estimate in whole minutes, and at least one.
    pub fn minutes(self) -> u64 {
        self.0.div_ceil(60_000).max(1)
    }
}

/// What a number of minutes counts in the order of work and in critical paths; everybody who orders uses this (Z-41).
pub fn weight(minutes: Option<u64>) -> u64 {
    minutes.unwrap_or(1).max(1)
}

/// A sprint with all required fields. Only such a sprint can become a bead.
#[derive(Debug, Clone, Copy)]
pub struct CompleteSprint<'p> {
    /// The sprint.
    pub sprint: &'p Sprint,
    /// Where the work happens.
    pub worktree: &'p Spanned<String>,
    /// The branch of the work.
    pub branch: &'p Spanned<BranchName>,
    /// The branch that the work starts from.
    pub source_branch: &'p Spanned<String>,
}

/// Checks that a sprint has everything that a bead needs. What it lacks is one finding; fields that are
/// there and malformed are among the sprint's own problems, and are not reported again as missing.
pub fn complete(sprint: &Sprint) -> Result<CompleteSprint<'_>, Vec<Diagnostic>> {
    let body = &sprint.body();
    let missing: Vec<RequiredField> = RequiredField::ALL
        .into_iter()
        .filter(|field| !(is_gate(body) && field.is_for_agents()))
        .filter(|field| is_missing(sprint, *field))
        .collect();
    if !missing.is_empty() {
        return Err(vec![diagnostics::missing_sections(sprint, &missing)]);
    }
    if is_gate(body) && body.verifiers.is_empty() {
        return Err(vec![diagnostics::gate_without_verifiers(sprint)]);
    }
    let parts = (&body.worktree, &body.branch, &body.source_branch);
    let (Some(worktree), Some(branch), Some(source_branch)) = parts else {
        return Err(Vec::new());
    };
    Ok(CompleteSprint {
        sprint,
        worktree,
        branch,
        source_branch,
    })
}

/// Whether nobody works on the sprint, so that it needs no agents and no tasks.
fn is_gate(body: &Body) -> bool {
    matches!(&body.kind, Some(kind) if kind.value == SprintKind::Gate)
}

fn is_missing(sprint: &Sprint, field: RequiredField) -> bool {
    is_empty(sprint.body(), field) && !has_malformed_value(sprint, field)
}

fn is_empty(body: &Body, field: RequiredField) -> bool {
    match field {
        RequiredField::Worktree => body.worktree.is_none(),
        RequiredField::Branch => body.branch.is_none(),
        RequiredField::SourceBranch => body.source_branch.is_none(),
        RequiredField::DevAgents => body.dev_agents.is_empty(),
        RequiredField::QaAgents => body.qa_agents.is_empty(),
        RequiredField::Tasks => body.tasks.is_empty(),
    }
}

/// Whether the field's own lines hold an error: then its value is wrong rather than missing.
fn has_malformed_value(sprint: &Sprint, field: RequiredField) -> bool {
    let fields = &sprint.body().fields;
    let Some(at) = fields.iter().position(|seen| seen.value == field.field()) else {
        return false;
    };
    let from = fields[at].span.start();
    let to = fields
        .get(at + 1)
        .map_or(sprint.section.end(), |next| next.span.start());
    sprint.problems.iter().any(|finding| {
        finding.error_code().is_some() && (from..to).contains(&finding.primary.span.start())
    })
}
