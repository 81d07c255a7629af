//! Two sprints of different teams in one branch or worktree (B-29).

use crate::diag::{Diagnostic, ErrorCode};
use crate::plan::Sprint;
use crate::text::{Span, Spanned, excerpt};

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
