//! A formula that a compilation without a store does not pour (F-16).

use crate::diag::{Diagnostic, WarningCode};
use crate::text::{Spanned, excerpt};

/// Points at the formula's name.
pub(crate) fn formula_not_poured(formula: &Spanned<String>) -> Diagnostic {
    let message = format!(
        "the formula `{}` is not poured here: the sprint becomes an ordinary bead",
        excerpt(&formula.value)
    );
    Diagnostic::new(WarningCode::FormulaNotPoured, formula.span, message)
        .help("formulas are poured when a plan goes into a store")
}
