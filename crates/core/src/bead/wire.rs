//! The wire format of a bead: what is serialized, and what the JSON Schemas are made from.
//!
//! The order of the fields is the order of the tables in contracts §3.1 and §3.2. These structs
//! never leave the module; the validated types do.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::read_metadata::{PHASE_PATTERN, SPRINT_PATTERN};
use super::{
    AgentPath, AgentSpec, BeadId, BranchName, DevExecution, Dod, IssueType, Model, Priority,
    QaExecution, ScrumResult, SourceMap, Status, Timestamp,
};

/// A bead of beads-ralph.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Bead")]
pub(super) struct WireBead<'a> {
    /// Its name in the store.
    pub(super) id: &'a BeadId,
    /// What it is about, in a line; never blank.
    #[schemars(regex(pattern = r"\S"))]
    pub(super) title: &'a str,
    /// What is to be done.
    pub(super) description: &'a str,
    /// Where it stands.
    pub(super) status: Status,
    /// How urgent it is.
    pub(super) priority: Priority,
    /// Work or merge.
    pub(super) issue_type: IssueType,
    /// A role, always the same.
    #[schemars(extend("const" = "beads-ralph-scrum-master"))]
    pub(super) assignee: &'a str,
    /// Who made it.
    pub(super) owner: Option<&'a str>,
    /// The beads that must be closed before this one begins.
    #[schemars(default)]
    pub(super) dependencies: &'a [BeadId],
    /// Its tags.
    #[schemars(default)]
    pub(super) labels: &'a [String],
    /// The history of dev and QA, as the store keeps it.
    #[schemars(default)]
    pub(super) comments: &'a [Map<String, Value>],
    /// Everything that belongs to beads-ralph rather than to the store.
    pub(super) metadata: WireMetadata<'a>,
    /// The pull request's address once there is one.
    pub(super) external_ref: Option<&'a str>,
    /// How many minutes it is thought to take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) estimated_minutes: Option<u32>,
    /// When it was made.
    pub(super) created_at: &'a Timestamp,
    /// When it was last changed.
    pub(super) updated_at: &'a Timestamp,
    /// When it was closed.
    pub(super) closed_at: Option<&'a Timestamp>,
}

/// The fields of beads-ralph in a bead. Beads come in two generations and may carry both.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Metadata")]
pub(super) struct WireMetadata<'a> {
    /// The repository's name; `beads-ralph` unless the repository is configured otherwise.
    #[schemars(length(min = 1))]
    pub(super) rig: &'a str,
    /// Where the work is checked out; a relative path starts at the repository.
    #[schemars(length(min = 1))]
    pub(super) worktree_path: &'a str,
    /// The branch that the work is on.
    pub(super) branch: &'a BranchName,
    /// The branch that it starts from.
    #[schemars(length(min = 1))]
    pub(super) source_branch: &'a str,
    /// The phase, such as `3a`.
    #[schemars(regex(pattern = PHASE_PATTERN))]
    pub(super) phase: &'a str,
    /// The sprint, such as `3a.2b`.
    #[schemars(regex(pattern = SPRINT_PATTERN))]
    pub(super) sprint: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub(super) team_name: Option<&'a str>,
    /// The plan's file.
    #[schemars(length(min = 1))]
    pub(super) plan_file: &'a str,
    /// The heading in the plan.
    #[schemars(length(min = 1))]
    pub(super) plan_section: &'a str,
    /// The sprint as the plan writes it.
    #[schemars(length(min = 1))]
    pub(super) plan_sprint_id: &'a str,
    /// The branches that a merge bead joins.
    pub(super) branches_to_merge: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub(super) dev_agent_path: Option<AgentPath>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub(super) dev_model: Option<Model>,
    /// The tasks.
    #[schemars(length(min = 1))]
    pub(super) dev_prompts: &'a [String],
    #[schemars(skip)]
    pub(super) qa_agents: Vec<WireQaAgent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub(super) scrum_master_agent: Option<Cow<'a, AgentSpec>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub(super) dev_agents: Option<Vec<Cow<'a, AgentSpec>>>,
    /// How many attempts there may be; absent means 3.
    #[schemars(default = "default_max_retry_attempts", range(min = 1))]
    pub(super) max_retry_attempts: u32,
    /// How many there were.
    #[schemars(default)]
    pub(super) attempt_count: u32,
    /// The scrum-master's session.
    pub(super) scrum_master_session_id: Option<&'a str>,
    /// The dev agent's session.
    pub(super) dev_agent_session_id: Option<&'a str>,
    /// Every run of a dev agent.
    #[schemars(default)]
    pub(super) dev_agent_executions: &'a [DevExecution],
    /// Every run of a QA agent.
    #[schemars(default)]
    pub(super) qa_agent_executions: &'a [QaExecution],
    /// The pull request's address.
    pub(super) pr_url: Option<&'a str>,
    /// The pull request's number.
    pub(super) pr_number: Option<u64>,
    /// How the sprint ended.
    pub(super) scrum_result: Option<&'a ScrumResult>,
    /// The plan's acceptance criteria.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) acceptance_criteria: Option<&'a [String]>,
    /// What machines check before the bead counts as done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dod: Option<&'a Dod>,
    /// How many minutes the plan thinks it takes, for readers that know the metadata only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) estimated_minutes: Option<u32>,
    /// The place in the plan that the bead was compiled from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source_map: Option<&'a SourceMap>,
    /// Stands for the fields that are skipped above: which of them are required depends on the generation.
    #[serde(skip_serializing)]
    #[schemars(flatten, with = "Generations")]
    #[expect(dead_code, reason = "only its schema is used")]
    pub(super) generations: (),
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
pub(super) struct QaAgent1<'a> {
    /// The agent's file, with or without its extension.
    pub(super) agent_path: AgentPath,
    /// The tier of its model.
    pub(super) model: Model,
    /// What to ask.
    pub(super) prompt: &'a str,
    /// The JSON Schema of the answer.
    pub(super) output_schema: OutputSchema<'a>,
}

/// A QA agent of generation 2; the fields of generation 1 may stand beside its own.
#[derive(Serialize, JsonSchema)]
pub(super) struct QaAgent2<'a> {
    #[serde(flatten)]
    pub(super) spec: Cow<'a, AgentSpec>,
    /// The agent's file, for older readers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent_path: Option<AgentPath>,
    /// What to ask; absent means the context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prompt: Option<&'a str>,
    /// The JSON Schema of the answer; absent means the standard one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_schema: Option<OutputSchema<'a>>,
}

/// A QA agent as the chosen generation writes it.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum WireQaAgent<'a> {
    One(QaAgent1<'a>),
    Two(QaAgent2<'a>),
}

/// The JSON Schema of a QA agent's answer: any schema with a status and a message (B-23, B-24).
#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct OutputSchema<'a>(pub(super) &'a Value);

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
