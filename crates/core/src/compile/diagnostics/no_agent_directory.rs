//! A repository that has no agent files, so that none can be checked (B-17).

use crate::diag::{Diagnostic, WarningCode};
use crate::text::Spanned;

/// Points at the first agent of the plan.
pub(crate) fn no_agent_directory(first: &Spanned<String>) -> Diagnostic {
    Diagnostic::new(
        WarningCode::AgentFileMissing,
        first.span,
        "there is no .claude/agents/ here: agent files were not checked",
    )
    .help("create .claude/agents/<name>.md for each agent, or name the built-in agent `claude`")
}
