//! Findings about sprints together: numbering, branches, worktrees, merges.

use crate::diag::{Diagnostic, ErrorCode, WarningCode};
use crate::graph::{GraphLimit, NumberingWarning, SprintGraph};
use crate::plan::Sprint;
use crate::text::{Span, Spanned, excerpt};

/// Numbering that works but is probably not intended (contracts §2.4).
/// Points at the number of the first sprint concerned.
pub(crate) fn numbering(
    graph: &SprintGraph,
    sprints: &[&Sprint],
    note: &NumberingWarning,
) -> Diagnostic {
    let place = note
        .place()
        .map_or(Span::at(0), |node| sprints[node.index()].id.span);
    Diagnostic::new(note.code(), place, note.message(graph))
}

/// A plan whose numbering would make too many dependencies (Z-32).
/// Points at the plan's first sprint; the message names the groups.
pub(crate) fn graph_limit(sprints: &[&Sprint], limit: &GraphLimit) -> Diagnostic {
    let place = sprints
        .first()
        .map_or(Span::at(0), |sprint| sprint.heading.span);
    Diagnostic::new(limit.code(), place, limit.to_string()).help(
        "put a sprint between the two groups: each side then depends on that one sprint alone",
    )
}

/// Two sprints of different teams in one branch or worktree (B-29).
/// Points at the later of the two.
pub(crate) fn shared_place(
    what: &str,
    used: &Spanned<&str>,
    sprint: &Sprint,
    first: Span,
    earlier: &Sprint,
) -> Diagnostic {
    let message = format!(
        "sprints {} and {} share the {what} `{}` but not a team",
        earlier.id.value,
        sprint.id.value,
        excerpt(used.value)
    );
    Diagnostic::new(ErrorCode::ValidationConstraint, used.span, message)
        .label(format!("this {what} is taken"))
        .also(first, "first used here")
        .help(format!(
            "give one of them another {what}, or both the same **Team**"
        ))
}

/// A branch that git cannot create beside another (B-28).
/// Points at the lower of the two branches.
pub(crate) fn branch_clash(branch: &Spanned<&str>, folder: &str, folder_span: Span) -> Diagnostic {
    let message = format!(
        "git cannot create the branch `{}` beside the branch `{}`",
        excerpt(branch.value),
        excerpt(folder)
    );
    Diagnostic::new(WarningCode::BranchClash, branch.span, message)
        .label("this branch cannot be created")
        .also(folder_span, "beside this one")
        .help("branches are files in folders for git: use another prefix, such as `feature/`")
}

/// A merge sprint that depends on a sprint without a readable branch (B-31).
/// Points at the sprint that lacks the branch.
pub(crate) fn branch_to_merge_missing(merge: &Sprint, dependency: &Sprint) -> Diagnostic {
    let message = format!(
        "sprint {} (line {}) has no `Branch`, and sprint {} merges it",
        dependency.id.value, dependency.line, merge.id.value
    );
    Diagnostic::new(
        ErrorCode::ParseMissingSection,
        dependency.heading.span,
        message,
    )
    .also(merge.heading.span, "merged here")
    .help("add **Branch**: `feature/…` to it, or **Type**: work to the merging sprint")
}

/// A merge sprint that joins fewer than two branches (B-31).
/// Points at the heading.
pub(crate) fn nothing_to_merge(sprint: &Sprint, n_branches: usize) -> Diagnostic {
    let message = format!(
        "sprint {} merges only {n_branches} branch(es)",
        sprint.id.value
    );
    Diagnostic::new(WarningCode::NothingToMerge, sprint.heading.span, message).help(
        "a merge joins the branches of at least two dependencies; write `**Type**: work` otherwise",
    )
}
