//! The agents of a bead: their specs, their models (B-20) and whether their files exist (B-17).

use super::diagnostics;
use super::settings::{AgentCheck, Settings};
use crate::bead::{
    AgentSpec, Model, ModelSources, QaAgent, Role, default_qa_prompt, plan_agent, resolve_model,
    standard_output_schema,
};
use crate::diag::Diagnostic;
use crate::plan::{AgentItem, Sprint};

/// The model for agents that nobody gave one: the configured default, else `sonnet`.
pub(super) fn default_model(settings: &Settings<'_>) -> Model {
    let sources = ModelSources {
        default_model: settings.agents.default_model.as_deref(),
        ..ModelSources::default()
    };
    resolve_model(&sources).model
}

/// The spec of a dev agent.
pub(super) fn dev_agent(
    item: &AgentItem,
    sprint: &Sprint,
    settings: &Settings<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Option<AgentSpec> {
    spec(
        item,
        item.text.as_deref().unwrap_or(&sprint.title.value),
        settings,
        findings,
    )
}

/// A QA agent, with what it is asked and the shape of its answer.
pub(super) fn qa_agent(
    item: &AgentItem,
    sprint: &Sprint,
    settings: &Settings<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Option<QaAgent> {
    let prompt = if let Some(text) = &item.text {
        text.clone()
    } else {
        let prompt = default_qa_prompt(&sprint.id.value, &sprint.title.value);
        findings.push(diagnostics::default_qa_prompt(&item.name, &prompt));
        prompt
    };
    let spec = spec(item, &prompt, settings, findings)?;
    Some(QaAgent {
        spec,
        prompt,
        output_schema: standard_output_schema(),
    })
}

fn spec(
    item: &AgentItem,
    context: &str,
    settings: &Settings<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Option<AgentSpec> {
    let adapter = item.adapter.as_ref().map(|adapter| adapter.value.as_str());
    let mut spec = match plan_agent(&item.name.value, None, adapter, Some(context), context) {
        Ok(spec) => spec,
        Err(reason) => {
            findings.push(diagnostics::bad_agent_path(&item.name, reason.to_string()));
            return None;
        }
    };
    spec.model = Some(model(item, &spec, settings, findings));
    check_file(item, &spec, settings, findings);
    Some(spec)
}

fn model(
    item: &AgentItem,
    spec: &AgentSpec,
    settings: &Settings<'_>,
    findings: &mut Vec<Diagnostic>,
) -> Model {
    if let Some(model) = &item.model {
        return model.value;
    }
    let agents = settings.agents;
    let file = agents.files.get(spec.agent.as_str());
    let sources = ModelSources {
        explicit: None,
        front_matter: file.and_then(|file| file.recommended_model.as_deref()),
        default_model: agents.default_model.as_deref(),
        ..ModelSources::default()
    }
    .with_role_models(Role::Polecat, &agents.role_models);
    let resolved = resolve_model(&sources);
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
    spec: &AgentSpec,
    settings: &Settings<'_>,
    findings: &mut Vec<Diagnostic>,
) {
    let is_known =
        spec.agent.is_built_in() || settings.agents.files.contains_key(spec.agent.as_str());
    let is_error = match settings.agent_check {
        AgentCheck::Off => return,
        AgentCheck::Strict => true,
        AgentCheck::Auto => settings.agents.has_directory,
    };
    if !is_known && is_error {
        findings.push(diagnostics::agent_not_found(&item.name, &spec.agent));
    }
}
