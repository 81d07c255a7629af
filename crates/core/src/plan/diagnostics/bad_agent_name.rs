//! An agent name with characters that no agent has (P-19).

use crate::diag::{Diagnostic, ErrorCode};
use crate::text::{Spanned, excerpt};

/// Points at the name.
pub(crate) fn bad_agent_name(name: &Spanned<String>) -> Diagnostic {
    let message = format!("`{}` is not the name of an agent", excerpt(&name.value));
    Diagnostic::new(ErrorCode::ParseMarkdown, name.span, message)
        .label("expected letters, digits, `.`, `_`, `/` and `-`, starting with a letter or digit")
        .help("name the file under .claude/agents/ without its .md")
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn p_19_a_name_that_no_agent_has() {
        let plan = complete_plan("").replace("`qa`", "`../qa`");
        check(&plan, &["11:4 PARSE.MARKDOWN «../qa»"]);
    }
}
