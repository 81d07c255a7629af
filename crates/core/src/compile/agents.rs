//! The agents of a bead: their specs, their models (B-20) and whether their files exist (B-17).

use super::diagnostics;
use super::settings::{AgentCheck, CompileSettings};
use crate::bead::{
    AgentSpec, Model, ModelSources, QaAgent, Role, default_qa_prompt, plan_agent, resolve_model,
    standard_output_schema,
};
use crate::diag::Diagnostic;
use crate::plan::{AgentItem, Sprint};

/// The model for agents that nobody gave one: the configured default, else `sonnet`.
pub(super) fn default_model(settings: &CompileSettings<'_>) -> Model {
    let sources = ModelSources {
        default_model: settings.agents.default_model.as_deref(),
        ..ModelSources::default()
    };
    resolve_model(&sources).model
}
pub(super) fn dev_agent(
    (at, item): (usize, &AgentItem),
    sprint: &Sprint,
    settings: &CompileSettings<'_>,
    findings: &mut Vec<Diagnostic>,
) -> AgentSpec {
    check_file(
        item,
        &format!("metadata.dev_agents.{at}.agent"),
        settings,
        findings,
    );
    spec(
        item,
        item.text.as_deref().unwrap_or(&sprint.title.value),
        settings,
        findings,
    )
}

/// A QA agent, with what it is asked and the shape of its answer.
pub(super) fn qa_agent(
    (at, item): (usize, &AgentItem),
    sprint: &Sprint,
    settings: &CompileSettings<'_>,
    findings: &mut Vec<Diagnostic>,
) -> QaAgent {
    check_file(
        item,
        &format!("metadata.qa_agents.{at}.agent"),
        settings,
        findings,
    );
    let prompt = item.text.clone().unwrap_or_else(|| {
        let prompt = default_qa_prompt(&sprint.id.value, &sprint.title.value);
        findings.push(diagnostics::default_qa_prompt(&item.name, &prompt));
        prompt
    });
    let spec = spec(item, &prompt, settings, findings);
    QaAgent {
        spec,
        prompt,
        output_schema: standard_output_schema(),
    }
}

fn spec(
    item: &AgentItem,
    context: &str,
    settings: &CompileSettings<'_>,
    findings: &mut Vec<Diagnostic>,
) -> AgentSpec {
    let model = model(item, settings, findings);
    let adapter = item.adapter.as_ref().map(|adapter| adapter.value.as_str());
    plan_agent(item.path.clone(), model, adapter, context)
}

fn model(
    item: &AgentItem,
    settings: &CompileSettings<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Model {
    if let Some(model) = &item.model {
        return model.value;
    }
    let agents = settings.agents;
    let file = agents.files.get(item.path.as_str());
    let sources = ModelSources {
        front_matter: file.and_then(|file| file.recommended_model.as_deref()),
        default_model: agents.default_model.as_deref(),
        ..ModelSources::default()
    };
    let resolved = resolve_model(&sources.with_role_models(Role::Polecat, &agents.role_models));
    findings.push(diagnostics::model_not_named(&item.name, resolved.model));
    findings.extend(
        resolved
            .skipped
            .iter()
            .map(|skipped| diagnostics::model_skipped(&item.name, skipped)),
    );
    resolved.model
}

fn check_file(
    item: &AgentItem,
    field: &str,
    settings: &CompileSettings<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    let is_known =
        item.path.is_built_in() || settings.agents.files.contains_key(item.path.as_str());
    let is_error = match settings.agent_check {
        AgentCheck::Off => return,
        AgentCheck::Strict => true,
        AgentCheck::Auto => settings.agents.has_directory,
    };
    if !is_known && is_error {
        findings.push(diagnostics::agent_not_found(&item.name, &item.path, field));
    }
}
