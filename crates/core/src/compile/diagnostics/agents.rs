//! Findings about agents: their files, models and prompts.

use crate::bead::{AgentPath, Model, ModelLevel, SkippedModel};
use crate::diag::{Diagnostic, ErrorCode, WarningCode};
use crate::text::{Spanned, excerpt};

/// An agent whose file does not exist (B-17).
/// Points at the agent's name and names the bead's field; the message is the one that seed 002 prescribes.
pub(crate) fn agent_not_found(name: &Spanned<String>, path: &AgentPath, field: &str) -> Diagnostic {
    let message = format!(
        "Agent path '{}' does not exist in .claude/agents/",
        excerpt(path.as_str())
    );
    Diagnostic::new(ErrorCode::ValidationBeadSchema, name.span, message)
        .label(format!("{field}: no such agent"))
        .help("create the file, correct the name, or pass --no-agent-check")
}

/// A repository that has no agent files, so that none can be checked (B-17).
/// Points at the first agent of the plan.
pub(crate) fn no_agent_directory(first: &Spanned<String>) -> Diagnostic {
    Diagnostic::new(
        WarningCode::AgentFileMissing,
        first.span,
        ".claude/agents/ does not exist: agent files were not checked",
    )
    .help("create .claude/agents/<name>.md for each agent, or name the built-in agent `claude`")
}

/// An agent without a model (P-20).
/// Points at the agent's name and says which model it will get.
pub(crate) fn model_not_named(name: &Spanned<String>, model: Model) -> Diagnostic {
    let message = format!(
        "agent `{}` has no model: `{model}` will be used",
        excerpt(&name.value)
    );
    Diagnostic::new(WarningCode::ModelNotNamed, name.span, message)
        .help(format!("write ({model}) after the name"))
}

/// An unknown model that is recommended or configured (B-20).
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
        "agent `{}`: {place} has the unknown model `{}`, which is ignored",
        excerpt(&name.value),
        excerpt(&skipped.value)
    );
    Diagnostic::new(WarningCode::ModelSkipped, name.span, message)
        .help("the models are haiku, sonnet and opus")
}

/// A QA agent that is not told what to check (P-21).
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
