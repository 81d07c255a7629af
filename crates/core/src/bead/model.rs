//! The validated bead: one shape for both generations (Z-21, B-4).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::reader::{Errors, Node};
use super::{
    AgentPath, BeadId, BranchName, DevExecution, Dod, IssueType, Model, Priority, QaExecution,
    Role, ScrumResult, Status, Timestamp,
};
use crate::number::{PhaseId, SprintId};
use crate::text::visible;
use crate::vocabulary::metadata;

/// Who every bead of ours is assigned to; a role, not a person (Z-3).
pub const ASSIGNEE: &str = "beads-ralph-scrum-master";

/// How many attempts a bead gets unless it says otherwise (contracts §3.2).
pub const DEFAULT_MAX_RETRY_ATTEMPTS: u32 = 3;

/// A bead that satisfies contracts §3. Its assignee is always [`ASSIGNEE`] and so has no field.
#[derive(Debug, Clone)]
pub struct RalphBead {
    /// Its name in the store.
    pub id: BeadId,
    /// What it is about, in a line; never blank.
    pub title: String,
    /// What is to be done; may be empty.
    pub description: String,
    /// Where it stands.
    pub status: Status,
    /// How urgent it is.
    pub priority: Priority,
    /// Work or merge.
    pub issue_type: IssueType,
    /// Who made it.
    pub owner: Option<String>,
    /// The beads that must be closed before this one begins.
    pub dependencies: Vec<BeadId>,
    /// Its tags.
    pub labels: Vec<String>,
    /// The history of dev and QA, as the store keeps it.
    pub comments: Vec<Map<String, Value>>,
    /// Everything that is ours rather than the store's.
    pub metadata: Metadata,
    /// The pull request's address once there is one.
    pub external_ref: Option<String>,
    /// How many minutes it is thought to take (Z-41).
    pub estimated_minutes: Option<u32>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it was closed.
    pub closed_at: Option<Timestamp>,
}

/// The fields of beads-ralph in a bead (contracts §3.2), in the shape of generation 2.
#[derive(Debug, Clone)]
pub struct Metadata {
    /// The repository's name.
    pub rig: String,
    /// Where the work is checked out.
    pub worktree_path: String,
    /// The branch that the work is on.
    pub branch: BranchName,
    /// The branch that it starts from.
    pub source_branch: String,
    /// The phase; need not be the sprint's (B-23).
    pub phase: PhaseId,
    /// The sprint.
    pub sprint: SprintId,
    /// The team, by which the loop groups beads.
    pub team_name: String,
    /// The plan's file.
    pub plan_file: String,
    /// The heading in the plan.
    pub plan_section: String,
    /// The sprint as the plan writes it.
    pub plan_sprint_id: String,
    /// The branches that a merge bead joins.
    pub branches_to_merge: Option<Vec<String>>,
    /// The agent that leads the sprint.
    pub scrum_master_agent: AgentSpec,
    /// The agents that do the work; at least one.
    pub dev_agents: Vec<AgentSpec>,
    /// The tasks; at least one.
    pub dev_prompts: Vec<String>,
    /// The agents that judge the work; at least one.
    pub qa_agents: Vec<QaAgent>,
    /// How many attempts there may be.
    pub max_retry_attempts: u32,
    /// How many there were.
    pub attempt_count: u32,
    /// The scrum-master's session.
    pub scrum_master_session_id: Option<String>,
    /// The dev agent's session.
    pub dev_agent_session_id: Option<String>,
    /// Every run of a dev agent.
    pub dev_agent_executions: Vec<DevExecution>,
    /// Every run of a QA agent.
    pub qa_agent_executions: Vec<QaExecution>,
    /// The pull request's address.
    pub pr_url: Option<String>,
    /// The pull request's number.
    pub pr_number: Option<u64>,
    /// How the sprint ended.
    pub scrum_result: Option<ScrumResult>,
    /// The plan's acceptance criteria, when it has any.
    pub acceptance_criteria: Option<Vec<String>>,
    /// What machines check before the bead counts as done.
    pub dod: Option<Dod>,
    /// The place in the plan that it was compiled from (Z-45).
    pub source_map: Option<SourceMap>,
}

/// Which agent to run and how (contracts §3.3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AgentSpec {
    /// What the agent is to the team.
    pub role: Role,
    /// The agent's file, or the built-in agent.
    // The extension is a rule of generation 2 only, hence here and not in the type (B-16).
    #[schemars(extend("allOf" = [{"pattern": "^claude$|\\.md$"}]))]
    pub agent: AgentPath,
    /// The tier of its model; absent means that the agent's file or the configuration names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// The program to run; absent means the adapter's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executable: Option<String>,
    /// The program's options; absent means the configured ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<String>>,
    /// What this invocation is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The session, known once the agent runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Further environment variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// The adapter that runs the agent, when it is not the default one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<String>,
}

impl AgentSpec {
    /// A spec with nothing but what is required.
    pub fn new(role: Role, agent: AgentPath) -> Self {
        Self {
            role,
            agent,
            model: None,
            executable: None,
            options: None,
            context: None,
            agent_id: None,
            env: None,
            adapter: None,
        }
    }
}

/// A QA agent: whom to run, what to ask, and the shape of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct QaAgent {
    /// Whom to run.
    pub spec: AgentSpec,
    /// What to ask.
    pub prompt: String,
    /// The JSON Schema of the answer.
    pub output_schema: Arc<Value>,
}

/// Which generation's fields a document carries (B-3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BeadShape {
    /// Generation 1: `dev_agent_path`, `dev_model`, QA items with `agent_path`.
    V1,
    /// Generation 2: agent specs.
    V2,
    /// Both, so that every reader finds its fields.
    #[default]
    Both,
}

/// The schema of a QA agent's answer, exactly as contracts §3.3 prints it. There is one of it, shared by
/// all agents that answer so.
pub fn standard_output_schema() -> Arc<Value> {
    static STANDARD: LazyLock<Arc<Value>> = LazyLock::new(|| Arc::new(standard()));
    Arc::clone(&STANDARD)
}

fn standard() -> Value {
    json!({
        "type": "object",
        "properties": {
            "status": { "enum": ["pass", "fail", "stop"], "description": "Validation result" },
            "message": { "type": "string", "description": "Human-readable result message" },
        },
        "required": ["status", "message"],
    })
}

/// The sprint's heading in the plan, as it was when the bead was compiled.
///
/// Lines move whenever somebody edits the plan above. So a reader who has the plan looks the sprint up by its number and
/// takes these numbers only where it does not; the digest says whether the sprint's text is still the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceMap {
    /// The plan's file.
    #[schemars(length(min = 1))]
    pub file: String,
    /// The heading's line, from 1.
    #[schemars(range(min = 1))]
    pub line: u32,
    /// The heading's first character in its line, from 1.
    #[schemars(range(min = 1))]
    pub column: u32,
    /// The SHA-256 of the sprint's section without annotations and trailing blank lines, as `sha256:<hexadecimal>`.
    #[schemars(length(min = 1))]
    pub digest: String,
}

impl SourceMap {
    /// The place that some metadata name, if they name one; what is wrong with it is for the validator to say.
    pub fn of(metadata: &serde_json::Map<String, Value>) -> Option<Self> {
        let map = metadata.get(metadata::SOURCE_MAP)?;
        let text = |key: &str| map.get(key)?.as_str().map(str::to_owned);
        let number = |key: &str| map.get(key)?.as_u64()?.try_into().ok();
        Some(Self {
            file: text("file")?,
            line: number("line")?,
            column: number("column")?,
            digest: text("digest")?,
        })
    }

    /// Whether two places hold the same text of the same plan, wherever it stands.
    pub fn is_same_text(&self, other: &Self) -> bool {
        self.file == other.file && self.digest == other.digest
    }

    pub(super) fn read(node: Node<'_, '_>, errors: &mut Errors) -> Option<Self> {
        let fields = node.fields(errors)?;
        let file = fields.non_empty(errors, "file");
        let number = |key: &'static str, errors: &mut Errors| {
            fields.required(errors, key, |node, errors| node.integer(errors, key, 1))
        };
        let (line, column) = (number("line", errors), number("column", errors));
        let digest = fields.non_empty(errors, "digest");
        Some(Self {
            file: file?,
            line: line?,
            column: column?,
            digest: digest?,
        })
    }
}

impl fmt::Display for SourceMap {
    /// `plan.md:12:1`, as editors read it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", visible(&self.file), self.line, self.column)
    }
}
