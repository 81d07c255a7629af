//! Reads agents, in either generation's shape (contracts §3.3, B-2, B-24).

use std::sync::Arc;

use serde_json::Value;

use super::error::{FieldErrorKind, Invalid};
use super::reader::{Errors, Fields, Node};
use super::{AgentPath, AgentSpec, Model, QaAgent, QaStatus, Role, standard_output_schema};

/// Reads an agent spec of generation 2.
pub(super) fn agent_spec(node: Node<'_, '_>, errors: &mut Errors) -> Option<AgentSpec> {
    let map = node.fields(errors)?;
    let fields = Fields {
        map,
        path: &node.path,
    };
    spec_fields(fields, errors)
}

fn spec_fields(fields: Fields<'_, '_>, errors: &mut Errors) -> Option<AgentSpec> {
    let role = fields.parsed(errors, "role", Role::parse);
    let agent = fields.parsed(errors, "agent", generation_2_path);
    let model = fields.optional(errors, "model", |node, errors| {
        node.parsed(errors, Model::parse)
    });
    let executable = fields.optional_text(errors, "executable");
    let options = fields.optional(errors, "options", |node, errors| node.strings(errors));
    let context = fields.optional_text(errors, "context");
    let agent_id = fields.optional_text(errors, "agent_id");
    let env = fields.optional(errors, "env", |node, errors| node.string_map(errors));
    let adapter = fields.optional_text(errors, "adapter");
    Some(AgentSpec {
        role: role?,
        agent: agent?,
        model: model?,
        executable: executable?,
        options: options?,
        context: context?,
        agent_id: agent_id?,
        env: env?,
        adapter: adapter?,
    })
}

fn generation_2_path(text: &str) -> Result<AgentPath, Invalid> {
    let path = AgentPath::parse(text)?;
    if path == path.with_md() {
        Ok(path)
    } else {
        Err(Invalid::pattern("agent must be 'claude' or end in .md"))
    }
}

/// Reads a QA agent of generation 2; the fields of generation 1 may stand beside its own.
pub(super) fn qa_agent_2(
    node: Node<'_, '_>,
    errors: &mut Errors,
    default_prompt: &str,
) -> Option<QaAgent> {
    let map = node.fields(errors)?;
    let fields = Fields {
        map,
        path: &node.path,
    };
    let spec = spec_fields(fields, errors);
    let _checked = fields.optional(errors, "agent_path", |node, errors| {
        node.parsed(errors, AgentPath::parse)
    });
    let prompt = fields.optional_text(errors, "prompt");
    let schema = fields.optional(errors, "output_schema", output_schema);
    let spec = spec?;
    let prompt = prompt?
        .or_else(|| spec.context.clone())
        .unwrap_or_else(|| default_prompt.to_owned());
    Some(QaAgent {
        spec,
        prompt,
        output_schema: schema?.unwrap_or_else(standard_output_schema),
    })
}

/// Reads a QA agent of generation 1 into the shape of generation 2 (B-4).
pub(super) fn qa_agent_1(node: Node<'_, '_>, errors: &mut Errors) -> Option<QaAgent> {
    let map = node.fields(errors)?;
    let fields = Fields {
        map,
        path: &node.path,
    };
    let agent = fields.parsed(errors, "agent_path", AgentPath::parse);
    let model = fields.parsed(errors, "model", Model::parse);
    let prompt = fields.text(errors, "prompt");
    let schema = fields.required(errors, "output_schema", output_schema);
    let prompt = prompt?;
    Some(QaAgent {
        spec: AgentSpec {
            model: Some(model?),
            context: Some(prompt.clone()),
            ..AgentSpec::new(Role::Polecat, agent?.with_md())
        },
        prompt,
        output_schema: schema?,
    })
}

// The schema is the caller's own as long as an answer can carry a status and a message (B-23, B-24).
fn output_schema(node: Node<'_, '_>, errors: &mut Errors) -> Option<Arc<Value>> {
    let properties = node.dict(errors)?.get("properties");
    let mut sound = true;
    for name in ["status", "message"] {
        if properties.and_then(|known| known.get(name)).is_none() {
            let message = format!("output_schema must have '{name}' property");
            errors.push(&node.path, FieldErrorKind::Value, &message);
            sound = false;
        }
    }
    let words = properties
        .and_then(|known| known.get("status"))
        .and_then(|status| status.get("enum"));
    if words.is_some_and(|words| !is_subset_of_verdicts(words)) {
        let message = "status enum must only contain pass, fail, stop";
        errors.push(&node.path, FieldErrorKind::Pattern, message);
        sound = false;
    }
    let standard = standard_output_schema();
    sound.then(|| {
        if *node.value == *standard {
            standard
        } else {
            Arc::new(node.value.clone())
        }
    })
}

fn is_subset_of_verdicts(words: &Value) -> bool {
    let is_verdict = |word: &Value| {
        word.as_str()
            .is_some_and(|word| QaStatus::parse(word).is_ok())
    };
    words
        .as_array()
        .is_some_and(|words| words.iter().all(is_verdict))
}
