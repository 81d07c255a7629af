//! A QA agent that is not told what to check (P-21).

use crate::diag::{Diagnostic, WarningCode};
use crate::text::{Spanned, excerpt};

/// Points at the agent's name.
pub(crate) fn default_qa_prompt(name: &Spanned<String>, prompt: &str) -> Diagnostic {
    let message = format!(
        "QA agent `{}` is not told what to check",
        excerpt(&name.value)
    );
    Diagnostic::new(WarningCode::DefaultQaPrompt, name.span, message)
        .label(format!("it will be asked: {}", excerpt(prompt)))
        .help("write the check after a dash: - `name` (haiku) - what to check")
}
