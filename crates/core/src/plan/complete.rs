//! Sprints whose bodies have everything that a bead needs (P-22).

use super::agent::AgentItem;
use super::diagnostics;
use super::field::Field;
use super::model::{Body, Sprint};
use crate::bead::BranchName;
use crate::diag::{Diagnostic, has_errors};
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
    /// The first of the dev agents, which generation 1 knows alone.
    pub first_dev: &'p AgentItem,
}

/// Checks that a sprint has everything, and reports what it lacks in one finding. Fields that are
/// there and malformed have been reported already, so they are not reported again as missing.
pub fn complete(sprint: &Sprint) -> Result<CompleteSprint<'_>, Vec<Diagnostic>> {
    let body = &sprint.body;
    let mut findings = sprint.problems.clone();
    let missing: Vec<Field> = Field::REQUIRED
        .into_iter()
        .filter(|field| is_missing(sprint, *field))
        .collect();
    if !missing.is_empty() {
        findings.push(diagnostics::missing_sections(sprint, &missing));
    }
    let parts = (
        &body.worktree,
        &body.branch,
        &body.source_branch,
        body.dev_agents.first(),
    );
    match parts {
        (Some(worktree), Some(branch), Some(source_branch), Some(first_dev))
            if !has_errors(&findings) =>
        {
            Ok(CompleteSprint {
                sprint,
                worktree,
                branch,
                source_branch,
                first_dev,
            })
        }
        _ => Err(findings),
    }
}

fn is_missing(sprint: &Sprint, field: Field) -> bool {
    is_empty(&sprint.body, field) && !has_malformed_value(sprint, field)
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
    let fields = &sprint.body.fields;
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
