//! An agent name that is no path below `.claude/agents/` (B-16).

use crate::diag::{Diagnostic, ErrorCode};
use crate::text::{Spanned, excerpt};

/// Points at the name.
pub(crate) fn bad_agent_path(name: &Spanned<String>, reason: String) -> Diagnostic {
    let message = format!(
        "`{}` does not name a file below .claude/agents/",
        excerpt(&name.value)
    );
    Diagnostic::new(ErrorCode::ValidationInvalidPattern, name.span, message).label(reason)
}
