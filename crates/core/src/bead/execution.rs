//! What agents did: runs, verdicts and the sprint's result (contracts §3.3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{BeadId, DevStatus, Model, QaStatus, Timestamp};

/// One run of a dev agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DevExecution {
    /// The attempt that the run belongs to, from 1.
    #[schemars(range(min = 1))]
    pub attempt: u32,
    /// The agent's session.
    pub session_id: String,
    /// The agent.
    pub agent_path: String,
    /// The tier of its model.
    pub model: Model,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub completed_at: Timestamp,
    /// How it ended.
    pub status: DevStatus,
    /// What QA said before this attempt, when it was a repetition.
    pub feedback_from_qa: Option<String>,
    /// The session, under the name that agent specs use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The model that the adapter made of the tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_id: Option<String>,
}

/// One run of a QA agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QaExecution {
    /// The attempt that it judged, from 1.
    #[schemars(range(min = 1))]
    pub attempt: u32,
    /// The agent's session.
    pub session_id: String,
    /// The agent.
    pub agent_path: String,
    /// The tier of its model.
    pub model: Model,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub completed_at: Timestamp,
    /// The verdict.
    pub status: QaStatus,
    /// The verdict in words.
    pub message: String,
    /// What else the agent had to say.
    #[schemars(default)]
    pub details: Map<String, Value>,
    /// The session, under the name that agent specs use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The model that the adapter made of the tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_id: Option<String>,
}

/// What a QA agent answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct QaResult {
    /// The verdict.
    pub status: QaStatus,
    /// The verdict in words.
    pub message: String,
    /// What else the agent had to say.
    #[schemars(default)]
    pub details: Map<String, Value>,
}

/// A QA agent's verdict inside a sprint's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("anyOf" = [
    { "required": ["agent_path"], "properties": { "agent_path": { "type": "string" } } },
    { "required": ["agent"], "properties": { "agent": { "type": "string" } } },
]))]
pub struct QaReport {
    /// The agent; some writers call the field `agent`.
    #[schemars(with = "Option<String>")]
    pub agent_path: String,
    /// The verdict.
    pub status: QaStatus,
    /// The verdict in words; some writers leave it out.
    #[schemars(default)]
    pub message: String,
    /// What else the agent had to say.
    #[schemars(default)]
    pub details: Map<String, Value>,
}

/// How a sprint ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScrumResult {
    /// The bead.
    pub bead_id: BeadId,
    /// Whether the work is done.
    pub success: bool,
    /// The pull request's address.
    pub pr_url: Option<String>,
    /// The pull request's number.
    pub pr_number: Option<u64>,
    /// Whether the bead's state was written.
    pub bead_updated: bool,
    /// How many attempts there were.
    pub attempt_count: u32,
    /// The verdicts of the last attempt.
    #[schemars(default)]
    pub qa_results: Vec<QaReport>,
    /// Why it failed.
    pub error: Option<String>,
    /// Whether the loop must stop.
    pub fatal: bool,
    /// Whether the bead was passed over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub skipped: bool,
}
