//! A bead id that a plan fixes and that is none (P-12).

use crate::diag::{Diagnostic, ErrorCode};
use crate::text::{Span, excerpt};

/// Points at the value.
pub(crate) fn bad_bead_id(span: Span, value: &str) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::ValidationInvalidPattern,
        span,
        format!("`{}` is not a bead id", excerpt(value)),
    )
    .label("expected `bd-` and parts of a-z and 0-9, joined by single `-`")
    .help("for example `bd-1-1-schema`, or leave the field out")
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn p_12_a_bead_id_must_match() {
        for id in ["bd-", "xx-1", "bd-A", "bd--a", "bd-a-"] {
            let plan = complete_plan("") + &format!("\n**Bead ID**: `{id}`\n");
            let line = plan.lines().count();
            check(
                &plan,
                &[&format!("{line}:15 VALIDATION.INVALID_PATTERN «{id}»")],
            );
        }
        check(&(complete_plan("") + "\n**Bead ID**: bd-1-1-schema\n"), &[]);
    }
}
