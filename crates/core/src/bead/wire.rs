//! The wire format of a bead: how documents in the shape of either generation, or of both, are written, read, validated and
//! migrated (B-3), and the JSON Schemas made from it.
//!
//! The order of the fields is the order of the tables in contracts §3.1 and §3.2. These structs never leave the module; the
//! validated types do.

mod metadata;
pub(super) mod migrate;
pub(crate) mod reader;
pub(crate) mod schema;
pub(super) mod validate;

pub(super) use metadata::agent_spec;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use self::metadata::{PHASE_PATTERN, SPRINT_PATTERN};
use super::derive::default_qa_prompt;
use super::{
    ASSIGNEE, AgentPath, AgentSpec, BeadId, BeadShape, BranchName, DevExecution, Dod, IssueType,
    Metadata, Model, Priority, QaAgent, QaExecution, RalphBead, ScrumResult, SourceMap, Status,
    Timestamp, standard_output_schema,
};

/// A bead of beads-ralph.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Bead")]
struct WireBead<'a> {
    /// Its name in the store.
    id: &'a BeadId,
    /// What it is about, in a line; never blank.
    #[schemars(regex(pattern = r"\S"))]
    title: &'a str,
    /// What is to be done.
    description: &'a str,
    /// Where it stands.
    status: Status,
    /// How urgent it is.
    priority: Priority,
    /// Work or merge.
    issue_type: IssueType,
    /// A role, always the same.
    #[schemars(extend("const" = "beads-ralph-scrum-master"))]
    assignee: &'a str,
    /// Who made it.
    owner: Option<&'a str>,
    /// The beads that must be closed before this one begins.
    #[schemars(default)]
    dependencies: &'a [BeadId],
    /// Its tags.
    #[schemars(default)]
    labels: &'a [String],
    /// The history of dev and QA, as the store keeps it.
    #[schemars(default)]
    comments: &'a [Map<String, Value>],
    /// Everything that belongs to beads-ralph rather than to the store.
    metadata: WireMetadata<'a>,
    /// The pull request's address once there is one.
    external_ref: Option<&'a str>,
    /// How many minutes it is thought to take.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_minutes: Option<u32>,
    /// When it was made.
    created_at: &'a Timestamp,
    /// When it was last changed.
    updated_at: &'a Timestamp,
    /// When it was closed.
    closed_at: Option<&'a Timestamp>,
}

/// The fields of beads-ralph in a bead. Beads come in two generations and may carry both.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Metadata")]
struct WireMetadata<'a> {
    /// The repository's name; `beads-ralph` unless the repository is configured otherwise.
    #[schemars(length(min = 1))]
    rig: &'a str,
    /// Where the work is checked out; a relative path starts at the repository.
    #[schemars(length(min = 1))]
    worktree_path: &'a str,
    /// The branch that the work is on.
    branch: &'a BranchName,
    /// The branch that it starts from.
    #[schemars(length(min = 1))]
    source_branch: &'a str,
    /// The phase, such as `3a`.
    #[schemars(regex(pattern = PHASE_PATTERN))]
    phase: &'a str,
    /// The sprint, such as `3a.2b`.
    #[schemars(regex(pattern = SPRINT_PATTERN))]
    sprint: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    team_name: Option<&'a str>,
    /// The plan's file.
    #[schemars(length(min = 1))]
    plan_file: &'a str,
    /// The heading in the plan.
    #[schemars(length(min = 1))]
    plan_section: &'a str,
    /// The sprint as the plan writes it.
    #[schemars(length(min = 1))]
    plan_sprint_id: &'a str,
    /// The branches that a merge bead joins.
    branches_to_merge: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    dev_agent_path: Option<AgentPath>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    dev_model: Option<Model>,
    /// The tasks.
    #[schemars(length(min = 1))]
    dev_prompts: &'a [String],
    #[schemars(skip)]
    qa_agents: Vec<WireQaAgent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    scrum_master_agent: Option<Cow<'a, AgentSpec>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    dev_agents: Option<Vec<Cow<'a, AgentSpec>>>,
    /// How many attempts there may be; absent means 3.
    #[schemars(default = "default_max_retry_attempts", range(min = 1))]
    max_retry_attempts: u32,
    /// How many there were.
    #[schemars(default)]
    attempt_count: u32,
    /// The scrum-master's session.
    scrum_master_session_id: Option<&'a str>,
    /// The dev agent's session.
    dev_agent_session_id: Option<&'a str>,
    /// Every run of a dev agent.
    #[schemars(default)]
    dev_agent_executions: &'a [DevExecution],
    /// Every run of a QA agent.
    #[schemars(default)]
    qa_agent_executions: &'a [QaExecution],
    /// The pull request's address.
    pr_url: Option<&'a str>,
    /// The pull request's number.
    pr_number: Option<u64>,
    /// How the sprint ended.
    scrum_result: Option<&'a ScrumResult>,
    /// The plan's acceptance criteria.
    #[serde(skip_serializing_if = "Option::is_none")]
    acceptance_criteria: Option<&'a [String]>,
    /// What machines check before the bead counts as done.
    #[serde(skip_serializing_if = "Option::is_none")]
    dod: Option<&'a Dod>,
    /// How many minutes the plan thinks it takes, for readers that know the metadata only.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_minutes: Option<u32>,
    /// The place in the plan that the bead was compiled from.
    #[serde(skip_serializing_if = "Option::is_none")]
    source_map: Option<&'a SourceMap>,
    /// Stands for the fields that are skipped above: which of them are required depends on the generation.
    #[serde(skip_serializing)]
    #[schemars(flatten, with = "Generations")]
    #[expect(dead_code, reason = "only its schema is used")]
    generations: (),
}

fn default_max_retry_attempts() -> u32 {
    super::DEFAULT_MAX_RETRY_ATTEMPTS
}

/// What differs between the generations (B-2).
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
enum Generations {
    Two(Generation2),
    One(Generation1),
}

/// Generation 2: agents are described by specs. The fields of generation 1 may stand beside them.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Generation2 {
    /// The team, by which the loop groups beads.
    #[schemars(length(min = 1))]
    team_name: String,
    /// The agent that leads the sprint.
    scrum_master_agent: AgentSpec,
    /// The agents that do the work.
    #[schemars(length(min = 1))]
    dev_agents: Vec<AgentSpec>,
    /// The agents that judge the work.
    #[schemars(length(min = 1))]
    qa_agents: Vec<QaAgent2<'static>>,
    /// The first dev agent, for older readers.
    dev_agent_path: Option<AgentPath>,
    /// The first dev agent's model, for older readers.
    dev_model: Option<Model>,
}

/// Generation 1: one dev agent, given by its path and model.
#[derive(JsonSchema)]
#[schemars(extend("not" = { "anyOf": [
    { "required": ["scrum_master_agent"] },
    { "required": ["dev_agents"] },
] }))]
#[expect(dead_code, reason = "only its schema is used")]
struct Generation1 {
    /// The team, by which the loop groups beads; absent means the sprint's own.
    #[schemars(length(min = 1))]
    team_name: Option<String>,
    /// The dev agent, with or without its extension.
    dev_agent_path: AgentPath,
    /// The dev agent's model.
    dev_model: Model,
    /// The agents that judge the work.
    #[schemars(length(min = 1))]
    qa_agents: Vec<QaAgent1<'static>>,
}

/// A QA agent of generation 1.
#[derive(Serialize, JsonSchema)]
#[schemars(extend("not" = { "required": ["agent"] }))]
struct QaAgent1<'a> {
    /// The agent's file, with or without its extension.
    agent_path: AgentPath,
    /// The tier of its model.
    model: Model,
    /// What to ask.
    prompt: &'a str,
    /// The JSON Schema of the answer.
    output_schema: OutputSchema<'a>,
}

/// A QA agent of generation 2; the fields of generation 1 may stand beside its own.
#[derive(Serialize, JsonSchema)]
struct QaAgent2<'a> {
    #[serde(flatten)]
    spec: Cow<'a, AgentSpec>,
    /// The agent's file, for older readers.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_path: Option<AgentPath>,
    /// What to ask; absent means the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a str>,
    /// The JSON Schema of the answer; absent means the standard one.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<OutputSchema<'a>>,
}

/// A QA agent as the chosen generation writes it.
#[derive(Serialize)]
#[serde(untagged)]
enum WireQaAgent<'a> {
    One(QaAgent1<'a>),
    Two(QaAgent2<'a>),
}

/// The JSON Schema of a QA agent's answer: any schema with a status and a message (B-23, B-24).
#[derive(Serialize)]
#[serde(transparent)]
struct OutputSchema<'a>(&'a Value);

impl JsonSchema for OutputSchema<'_> {
    fn schema_name() -> Cow<'static, str> {
        "OutputSchema".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words = json!({ "type": "array", "items": { "enum": ["pass", "fail", "stop"] } });
        json_schema!({
            "description": "The JSON Schema of a QA agent's answer, which has a status and a message.",
            "type": "object",
            "required": ["properties"],
            "properties": {
                "properties": {
                    "type": "object",
                    "required": ["status", "message"],
                    "properties": { "status": { "properties": { "enum": words } } },
                },
            },
        })
    }
}

impl RalphBead {
    /// The document of this bead.
    ///
    /// `V1` writes what generation 1 knows and no more; see [`super::to_v1`] for a way that loses
    /// nothing. In `V2` a QA item carries `prompt` and `output_schema` only where a reader would not
    /// derive the same.
    pub fn to_document(&self, shape: BeadShape) -> Value {
        to_value(&WireBead {
            id: &self.id,
            title: &self.title,
            description: &self.description,
            status: self.status,
            priority: self.priority,
            issue_type: self.issue_type,
            assignee: ASSIGNEE,
            owner: self.owner.as_deref(),
            dependencies: &self.dependencies,
            labels: &self.labels,
            comments: &self.comments,
            metadata: self
                .metadata
                .wire(&self.title, self.estimated_minutes, shape),
            external_ref: self.external_ref.as_deref(),
            estimated_minutes: self.estimated_minutes,
            created_at: &self.created_at,
            updated_at: &self.updated_at,
            closed_at: self.closed_at.as_ref(),
        })
    }
}

/// Turns one of our own structs into a document.
pub(crate) fn to_value(wire: &impl Serialize) -> Value {
    serde_json::to_value(wire)
        .expect("wire structs have string keys only, so they always serialize")
}

impl Metadata {
    fn wire(
        &self,
        title: &str,
        estimated_minutes: Option<u32>,
        shape: BeadShape,
    ) -> WireMetadata<'_> {
        let one = matches!(shape, BeadShape::V1 | BeadShape::Both);
        let two = matches!(shape, BeadShape::V2 | BeadShape::Both);
        let first = self.dev_agents.first().filter(|_| one);
        let prompt = default_qa_prompt(&self.sprint, title);
        WireMetadata {
            rig: &self.rig,
            worktree_path: &self.worktree_path,
            branch: &self.branch,
            source_branch: &self.source_branch,
            phase: self.phase.as_str(),
            sprint: self.sprint.as_str(),
            team_name: two.then_some(&*self.team_name),
            plan_file: &self.plan_file,
            plan_section: &self.plan_section,
            plan_sprint_id: &self.plan_sprint_id,
            branches_to_merge: self.branches_to_merge.as_deref(),
            dev_agent_path: first.map(|spec| spec.agent.without_md()),
            dev_model: first.map(|spec| spec.model.unwrap_or(Model::Sonnet)),
            dev_prompts: &self.dev_prompts,
            qa_agents: self
                .qa_agents
                .iter()
                .map(|qa| qa.wire(&prompt, shape))
                .collect(),
            scrum_master_agent: two.then(|| self.scrum_master_agent.with_md()),
            dev_agents: two.then(|| self.dev_agents.iter().map(AgentSpec::with_md).collect()),
            max_retry_attempts: self.max_retry_attempts,
            attempt_count: self.attempt_count,
            scrum_master_session_id: self.scrum_master_session_id.as_deref(),
            dev_agent_session_id: self.dev_agent_session_id.as_deref(),
            dev_agent_executions: &self.dev_agent_executions,
            qa_agent_executions: &self.qa_agent_executions,
            pr_url: self.pr_url.as_deref(),
            pr_number: self.pr_number,
            scrum_result: self.scrum_result.as_ref(),
            acceptance_criteria: self.acceptance_criteria.as_deref(),
            dod: self.dod.as_ref(),
            estimated_minutes,
            source_map: self.source_map.as_ref(),
            generations: (),
        }
    }
}

impl AgentSpec {
    fn with_md(&self) -> Cow<'_, Self> {
        if self.agent.has_md() {
            return Cow::Borrowed(self);
        }
        Cow::Owned(Self {
            agent: self.agent.with_md(),
            ..self.clone()
        })
    }
}

impl QaAgent {
    fn wire(&self, default_prompt: &str, shape: BeadShape) -> WireQaAgent<'_> {
        let agent_path = self.spec.agent.without_md();
        let prompt = self.prompt.as_str();
        let output_schema = OutputSchema(&self.output_schema);
        let spec = self.spec.with_md();
        match shape {
            BeadShape::V1 => WireQaAgent::One(QaAgent1 {
                agent_path,
                model: spec.model.unwrap_or(Model::Sonnet),
                prompt,
                output_schema,
            }),
            BeadShape::V2 => {
                let derived = self.spec.context.as_deref().unwrap_or(default_prompt);
                let standard = *output_schema.0 == *standard_output_schema();
                WireQaAgent::Two(QaAgent2 {
                    spec,
                    agent_path: None,
                    prompt: (prompt != derived).then_some(prompt),
                    output_schema: (!standard).then_some(output_schema),
                })
            }
            BeadShape::Both => WireQaAgent::Two(QaAgent2 {
                spec,
                agent_path: Some(agent_path),
                prompt: Some(prompt),
                output_schema: Some(output_schema),
            }),
        }
    }
}
