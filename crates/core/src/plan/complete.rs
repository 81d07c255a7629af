//! Sprints whose bodies have everything that a bead needs (P-22).

use super::diagnostics;
use super::field::Field;
use super::model::{Body, Sprint};
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
    let missing: Vec<Field> = Field::REQUIRED
        .into_iter()
        .filter(|field| is_missing(sprint, *field))
        .collect();
    if !missing.is_empty() {
        return Err(vec![diagnostics::missing_sections(sprint, &missing)]);
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

fn is_missing(sprint: &Sprint, field: Field) -> bool {
    is_empty(sprint.body(), field) && !has_malformed_value(sprint, field)
}

fn is_empty(body: &Body, field: Field) -> bool {
    match field {
        Field::Worktree => body.worktree.is_none(),
        Field::Branch => body.branch.is_none(),
        Field::SourceBranch => body.source_branch.is_none(),
        Field::DevAgents => body.dev_agents.is_empty(),
        Field::QaAgents => body.qa_agents.is_empty(),
        Field::Tasks => body.tasks.is_empty(),
        Field::AcceptanceCriteria
        | Field::Verifiers
        | Field::Team
        | Field::Labels
        | Field::Formula
        | Field::BeadId
        | Field::Type
        | Field::Estimate
        | Field::Status => false,
    }
}

/// Whether the field's own lines hold an error: then its value is wrong rather than missing.
fn has_malformed_value(sprint: &Sprint, field: Field) -> bool {
    let fields = &sprint.body().fields;
    let Some(at) = fields.iter().position(|seen| seen.value == field) else {
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
