//! An agent without a model (P-20).

use crate::bead::Model;
use crate::diag::{Diagnostic, WarningCode};
use crate::text::{Spanned, excerpt};

/// Points at the agent's name and says which model it will get.
pub(crate) fn model_not_named(name: &Spanned<String>, model: Model) -> Diagnostic {
    let message = format!(
        "agent `{}` names no model: `{model}` will be used",
        excerpt(&name.value)
    );
    Diagnostic::new(WarningCode::ModelNotNamed, name.span, message)
        .help(format!("write ({model}) after the name"))
}
