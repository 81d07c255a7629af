//! A model that is none of the three (P-20).

use crate::diag::{Diagnostic, ErrorCode, did_you_mean};
use crate::text::{Span, Spanned, excerpt};

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
    fn p_20_a_model_that_is_none() {
        let plan = |model: &str| complete_plan("").replace("(haiku)", &format!("({model})"));
        check(&plan("gpt-4"), &["11:9 VALIDATION.INVALID_PATTERN «gpt-4»"]);
        check(&plan("sonet"), &["11:9 VALIDATION.INVALID_PATTERN «sonet»"]);
        check_fix(&plan("sonet"), &plan("sonnet"));
        assert!(findings(&plan("gpt-4"))[0].message.contains("`qa`"));
    }
}
