//! Sprints whose bodies have everything that a bead needs (P-22).

use super::diagnostics;
use super::field::RequiredField;
use super::model::{Body, Sprint, SprintKind};
use crate::bead::BranchName;
use crate::diag::Diagnostic;
use crate::text::Spanned;

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
