//! Findings about agent items.

use crate::diag::{Diagnostic, ErrorCode, did_you_mean};
use crate::text::{Span, Spanned, excerpt};

/// An agent item that does not fit the grammar (P-19).
/// Points at the part that does not fit and says why.
pub(crate) fn malformed_agent(span: Span, why: &'static str) -> Diagnostic {
    Diagnostic::new(
        ErrorCode::ParseMarkdown,
        span,
        "this agent item is malformed",
    )
    .label(why)
    .help("write - `name` (model) - text, where model and text may be left out")
}

/// An agent name with characters that no agent has (P-19).
/// Points at the name.
pub(crate) fn bad_agent_name(name: &Spanned<String>) -> Diagnostic {
    let message = format!("`{}` is not the name of an agent", excerpt(&name.value));
    Diagnostic::new(ErrorCode::ParseMarkdown, name.span, message)
        .label("expected letters, digits, `.`, `_`, `/` and `-`, starting with a letter or digit")
        .help("name the file under .claude/agents/ without its .md")
}

/// An unknown model (P-20).
/// Points at the model and names the agent.
pub(crate) fn unknown_model(agent: &Spanned<String>, span: Span, model: &str) -> Diagnostic {
    let message = format!(
        "agent `{}` has the unknown model `{}`",
        excerpt(&agent.value),
        excerpt(model)
    );
    let finding = Diagnostic::new(ErrorCode::ValidationInvalidPattern, span, message);
    match did_you_mean(model, ["haiku", "sonnet", "opus"]) {
        Some(known) => finding
            .label(format!("did you mean `{known}`?"))
            .help("the models are haiku, sonnet and opus")
            .certain_fix(span, known),
        None => finding
            .label("expected `haiku`, `sonnet` or `opus`")
            .help("an adapter such as codex goes after the model: (sonnet, codex)"),
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::fixture::*;

    #[test]
    fn p_19_an_item_that_does_not_fit() {
        let plan = complete_plan("").replace("`qa` (haiku) - judge it", "`qa` (haiku) judge it");
        check(&plan, &["11:16 PARSE.MARKDOWN «judge it»"]);
    }

    #[test]
    fn p_19_a_name_that_no_agent_has() {
        let plan = complete_plan("").replace("`qa`", "`../qa`");
        check(&plan, &["11:4 PARSE.MARKDOWN «../qa»"]);
    }

    #[test]
    fn p_20_a_model_that_is_none() {
        let plan = |model: &str| complete_plan("").replace("(haiku)", &format!("({model})"));
        check(&plan("gpt-4"), &["11:9 VALIDATION.INVALID_PATTERN «gpt-4»"]);
        check(&plan("sonet"), &["11:9 VALIDATION.INVALID_PATTERN «sonet»"]);
        check_fix(&plan("sonet"), &plan("sonnet"));
        assert!(findings(&plan("gpt-4"))[0].message.contains("`qa`"));
    }
}
