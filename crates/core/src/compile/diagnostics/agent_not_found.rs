//! An agent whose file is not there (B-17).

use crate::bead::AgentPath;
use crate::diag::{Diagnostic, ErrorCode};
use crate::text::{Spanned, excerpt};

/// Points at the agent's name and names the bead's field; the message is the one that seed 002 prescribes.
pub(crate) fn agent_not_found(name: &Spanned<String>, path: &AgentPath, field: &str) -> Diagnostic {
    let message = format!(
        "Agent path '{}' does not exist in .claude/agents/",
        excerpt(path.as_str())
    );
    Diagnostic::new(ErrorCode::ValidationBeadSchema, name.span, message)
        .label(format!("{field}: no such agent"))
        .help("create the file, correct the name, or pass --no-agent-check")
}
