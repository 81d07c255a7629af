//! A recommended or configured model that is none (B-20).

use crate::bead::{ModelLevel, SkippedModel};
use crate::diag::{Diagnostic, WarningCode};
use crate::text::{Spanned, excerpt};

/// Points at the agent that would have got it.
pub(crate) fn model_skipped(name: &Spanned<String>, skipped: &SkippedModel) -> Diagnostic {
    let place = match skipped.level {
        ModelLevel::FrontMatter => "`recommended_model` of the agent's file",
        ModelLevel::RoleModel => "`role_models` of the configuration",
        ModelLevel::Explicit | ModelLevel::DefaultModel | ModelLevel::BuiltIn => {
            "`default_model` of the configuration"
        }
    };
    let message = format!(
        "agent `{}`: {place} says `{}`, which is no model, and was passed over",
        excerpt(&name.value),
        excerpt(&skipped.value)
    );
    Diagnostic::new(WarningCode::ModelSkipped, name.span, message)
        .help("the models are haiku, sonnet and opus")
}
