//! Reads the metadata of a bead and the agents in it, whichever its generation (contracts §3.2, §3.3, B-2, B-4, B-24).

use std::sync::Arc;

use serde_json::{Map, Value};

use super::reader::{Errors, Fields, Node};
use super::validate::Rules;
use crate::bead::derive::{default_qa_prompt, default_team_name, scrum_master};
use crate::bead::error::{FieldErrorKind, Invalid};
use crate::bead::{
    AgentPath, AgentSpec, BranchName, DEFAULT_MAX_RETRY_ATTEMPTS, DevExecution, Metadata, Model,
    QaAgent, QaExecution, QaStatus, Role, ScrumResult, SourceMap, execution, read_dod,
    standard_output_schema,
};
use crate::number::{PhaseId, SprintId};
use crate::text::excerpt;
use crate::vocabulary::metadata;

/// The pattern of a phase (N-1).
pub(in crate::bead) const PHASE_PATTERN: &str = "^[0-9]+[a-z]*$";

/// The pattern of a sprint (N-1).
pub(in crate::bead) const SPRINT_PATTERN: &str = r"^[0-9]+[a-z]*\.[0-9]+[a-z]*$";

/// Which generation a document belongs to (B-2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::bead) enum Generation {
    One,
    Two,
}

impl Generation {
    pub(in crate::bead) fn of(metadata: &Map<String, Value>) -> Self {
        let has_agent = |items: &Vec<Value>| items.iter().any(|item| item.get("agent").is_some());
        let by_items = metadata
            .get("qa_agents")
            .and_then(Value::as_array)
            .is_some_and(has_agent);
        if by_items
            || metadata.contains_key("scrum_master_agent")
            || metadata.contains_key("dev_agents")
        {
            Self::Two
        } else {
            Self::One
        }
    }
}

pub(in crate::bead) fn metadata(
    node: Node<'_, '_>,
    rules: &Rules,
    title: &str,
    errors: &mut Errors,
) -> Option<Metadata> {
    let fields = node.fields(errors)?;
    let rig = fields.parsed(errors, "rig", |text| rig(text, rules));
    let worktree_path = fields.non_empty(errors, "worktree_path");
    let branch = fields.parsed(errors, "branch", BranchName::parse);
    let source_branch = fields.non_empty(errors, "source_branch");
    let phase = fields.parsed(errors, "phase", phase);
    let sprint = fields.parsed(errors, "sprint", sprint);
    let plan_file = fields.non_empty(errors, "plan_file");
    let plan_section = fields.non_empty(errors, "plan_section");
    let plan_sprint_id = fields.non_empty(errors, "plan_sprint_id");
    let branches_to_merge = fields.optional(errors, "branches_to_merge", |node, errors| {
        node.strings(errors)
    });
    let agents = agents(fields, sprint.as_ref(), title, errors);
    let dev_prompts = fields.required(errors, "dev_prompts", |node, errors| {
        node.non_empty_list(errors, "dev_prompts", |_, item, errors| item.text(errors))
    });
    let progress = progress(fields, errors);
    let acceptance_criteria = fields.optional(errors, "acceptance_criteria", |node, errors| {
        node.strings(errors)
    });
    let dod = fields.optional(errors, "dod", read_dod);
    let source_map = fields.optional(errors, metadata::SOURCE_MAP, SourceMap::read);
    let (agents, progress) = (agents?, progress?);
    Some(Metadata {
        rig: rig?,
        worktree_path: worktree_path?,
        branch: branch?,
        source_branch: source_branch?,
        phase: phase?,
        sprint: sprint?,
        team_name: agents.team_name,
        plan_file: plan_file?,
        plan_section: plan_section?,
        plan_sprint_id: plan_sprint_id?,
        branches_to_merge: branches_to_merge?,
        scrum_master_agent: agents.scrum_master,
        dev_agents: agents.dev,
        dev_prompts: dev_prompts?,
        qa_agents: agents.qa,
        max_retry_attempts: progress.max_retry_attempts,
        attempt_count: progress.attempt_count,
        scrum_master_session_id: progress.scrum_master_session_id,
        dev_agent_session_id: progress.dev_agent_session_id,
        dev_agent_executions: progress.dev_agent_executions,
        qa_agent_executions: progress.qa_agent_executions,
        pr_url: progress.pr_url,
        pr_number: progress.pr_number,
        scrum_result: progress.scrum_result,
        acceptance_criteria: acceptance_criteria?,
        dod: dod?,
        source_map: source_map?,
    })
}

fn rig(text: &str, rules: &Rules) -> Result<String, Invalid> {
    if text == rules.rig {
        Ok(text.to_owned())
    } else {
        Err(Invalid::pattern(format!(
            "rig must be '{}'",
            excerpt(&rules.rig)
        )))
    }
}

fn phase(text: &str) -> Result<PhaseId, Invalid> {
    PhaseId::parse(text).ok_or_else(|| {
        let got = excerpt(text);
        Invalid::pattern(format!(
            "phase must match pattern {PHASE_PATTERN}, got '{got}'"
        ))
    })
}

fn sprint(text: &str) -> Result<SprintId, Invalid> {
    SprintId::parse(text).ok_or_else(|| {
        let got = excerpt(text);
        Invalid::pattern(format!(
            "sprint must match pattern {SPRINT_PATTERN}, got '{got}'"
        ))
    })
}

/// The fields that the two generations write differently.
struct Agents {
    team_name: String,
    scrum_master: AgentSpec,
    dev: Vec<AgentSpec>,
    qa: Vec<QaAgent>,
}

fn agents(
    fields: Fields<'_, '_>,
    sprint: Option<&SprintId>,
    title: &str,
    errors: &mut Errors,
) -> Option<Agents> {
    match Generation::of(fields.map) {
        Generation::One => agents_1(fields, sprint, title, errors),
        Generation::Two => agents_2(fields, sprint, title, errors),
    }
}

fn agents_1(
    fields: Fields<'_, '_>,
    sprint: Option<&SprintId>,
    title: &str,
    errors: &mut Errors,
) -> Option<Agents> {
    let team_name = fields.optional(errors, "team_name", |node, errors| {
        node.non_empty(errors, "team_name")
    });
    let agent = fields.parsed(errors, "dev_agent_path", AgentPath::parse);
    let model = fields.parsed(errors, "dev_model", Model::parse);
    let qa = fields.required(errors, "qa_agents", |node, errors| {
        node.non_empty_list(errors, "qa_agents", |_, item, errors| {
            qa_agent_1(item, errors)
        })
    });
    let sprint = sprint?;
    Some(Agents {
        team_name: team_name?.unwrap_or_else(|| default_team_name(sprint)),
        // A pure reader knows no configuration, so the default model is the built-in one (B-20).
        scrum_master: scrum_master(sprint, title, Model::Sonnet),
        dev: vec![AgentSpec {
            model: Some(model?),
            context: Some(title.to_owned()),
            ..AgentSpec::new(Role::Polecat, agent?.with_md())
        }],
        qa: qa?,
    })
}

fn agents_2(
    fields: Fields<'_, '_>,
    sprint: Option<&SprintId>,
    title: &str,
    errors: &mut Errors,
) -> Option<Agents> {
    let team_name = fields.non_empty(errors, "team_name");
    // What stands there for older readers must be sound too, or they would stumble over it.
    let _checked = fields.optional(errors, "dev_agent_path", |node, errors| {
        node.parsed(errors, AgentPath::parse)
    });
    let _checked = fields.optional(errors, "dev_model", |node, errors| {
        node.parsed(errors, Model::parse)
    });
    let scrum_master = fields.required(errors, "scrum_master_agent", agent_spec);
    let dev = fields.required(errors, "dev_agents", |node, errors| {
        node.non_empty_list(errors, "dev_agents", |_, item, errors| {
            agent_spec(item, errors)
        })
    });
    let prompt = sprint
        .map(|sprint| default_qa_prompt(sprint, title))
        .unwrap_or_default();
    let qa = fields.required(errors, "qa_agents", |node, errors| {
        node.non_empty_list(errors, "qa_agents", |_, item, errors| {
            qa_agent_2(item, errors, &prompt)
        })
    });
    Some(Agents {
        team_name: team_name?,
        scrum_master: scrum_master?,
        dev: dev?,
        qa: qa?,
    })
}

/// The fields that change while a bead is worked on.
struct Progress {
    max_retry_attempts: u32,
    attempt_count: u32,
    scrum_master_session_id: Option<String>,
    dev_agent_session_id: Option<String>,
    dev_agent_executions: Vec<DevExecution>,
    qa_agent_executions: Vec<QaExecution>,
    pr_url: Option<String>,
    pr_number: Option<u64>,
    scrum_result: Option<ScrumResult>,
}

fn progress(fields: Fields<'_, '_>, errors: &mut Errors) -> Option<Progress> {
    let default = DEFAULT_MAX_RETRY_ATTEMPTS;
    let max_retry_attempts = fields.or(errors, "max_retry_attempts", default, |node, errors| {
        node.integer(errors, "max_retry_attempts", 1)
    });
    let attempt_count = fields.or(errors, "attempt_count", 0, |node, errors| {
        node.integer(errors, "attempt_count", 0)
    });
    let scrum_master_session_id = fields.optional_text(errors, "scrum_master_session_id");
    let dev_agent_session_id = fields.optional_text(errors, "dev_agent_session_id");
    let dev_runs = fields.or(
        errors,
        "dev_agent_executions",
        Vec::new(),
        |node, errors| {
            node.list(errors, |_, item, errors| {
                execution::dev_execution(item, errors)
            })
        },
    );
    let qa_runs = fields.or(errors, "qa_agent_executions", Vec::new(), |node, errors| {
        node.list(errors, |_, item, errors| {
            execution::qa_execution(item, errors)
        })
    });
    let pr_url = fields.optional_text(errors, "pr_url");
    let pr_number = fields.optional(errors, "pr_number", |node, errors| {
        node.integer(errors, "pr_number", 0)
    });
    let scrum_result = fields.optional(errors, "scrum_result", execution::scrum_result);
    Some(Progress {
        max_retry_attempts: max_retry_attempts?,
        attempt_count: attempt_count?,
        scrum_master_session_id: scrum_master_session_id?,
        dev_agent_session_id: dev_agent_session_id?,
        dev_agent_executions: dev_runs?,
        qa_agent_executions: qa_runs?,
        pr_url: pr_url?,
        pr_number: pr_number?,
        scrum_result: scrum_result?,
    })
}
pub(in crate::bead) fn agent_spec(node: Node<'_, '_>, errors: &mut Errors) -> Option<AgentSpec> {
    let fields = node.fields(errors)?;
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
pub(in crate::bead) fn qa_agent_2(
    node: Node<'_, '_>,
    errors: &mut Errors,
    default_prompt: &str,
) -> Option<QaAgent> {
    let fields = node.fields(errors)?;
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
pub(in crate::bead) fn qa_agent_1(node: Node<'_, '_>, errors: &mut Errors) -> Option<QaAgent> {
    let fields = node.fields(errors)?;
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
