//! A field name that is almost a known one, and is therefore ignored (P-14).

use crate::diag::{Diagnostic, WarningCode};
use crate::plan::Field;
use crate::text::Spanned;

/// Points at the name.
pub(crate) fn misspelt_field(misspelt: &Spanned<Field>) -> Diagnostic {
    let name = misspelt.value.name();
    Diagnostic::new(
        WarningCode::MisspeltField,
        misspelt.span,
        format!("this field is ignored: did you mean `{name}`?"),
    )
    .label("unknown field")
    .help(format!("write `**{name}**:`"))
    .possible_fix(misspelt.span, name)
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn p_14_a_misspelt_field_is_ignored_with_a_warning() {
        let plan = complete_plan("") + "\n**Verifier**:\n- `make`\n";
        let line = plan.lines().count() - 1;
        check(&plan, &[&format!("{line}:3 misspelt-field «Verifier»")]);
        check_fix(&plan, &plan);
    }
}
