//! What agents did: runs, verdicts and the sprint's result (contracts §3.3).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::FieldError;
use super::reader::{Errors, Fields, Node, Path};
use super::{AgentSpec, BeadId, DevStatus, Dod, Model, QaStatus, Timestamp, read_dod, wire};

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

macro_rules! read_alone {
    ($($name:ident = $reader:path),* $(,)?) => {
        $(impl $name {
            /// Reads a document that holds just this, reporting everything that is wrong.
            pub fn from_document(document: &Value) -> Result<Self, Vec<FieldError>> {
                let mut errors = Errors::default();
                let node = Node { value: document, path: Path::Root };
                let read = $reader(node, &mut errors);
                errors.finish(read)
            }
        })*
    };
}

read_alone! {
    AgentSpec = wire::agent_spec,
    DevExecution = dev_execution,
    QaExecution = qa_execution,
    QaResult = qa_result,
    ScrumResult = scrum_result,
    Dod = read_dod,
}

pub(super) fn dev_execution(node: Node<'_, '_>, errors: &mut Errors) -> Option<DevExecution> {
    let fields = node.fields(errors)?;
    let attempt = attempt(fields, errors);
    let session_id = fields.text(errors, "session_id");
    let agent_path = fields.text(errors, "agent_path");
    let model = fields.parsed(errors, "model", Model::parse);
    let started_at = fields.required(errors, "started_at", |node, errors| node.timestamp(errors));
    let completed_at = fields.required(errors, "completed_at", |node, errors| {
        node.timestamp(errors)
    });
    let status = fields.parsed(errors, "status", DevStatus::parse);
    let feedback_from_qa = fields.optional_text(errors, "feedback_from_qa");
    let agent_id = fields.optional_text(errors, "agent_id");
    let error = fields.optional_text(errors, "error");
    let model_id = fields.optional_text(errors, "model_id");
    Some(DevExecution {
        attempt: attempt?,
        session_id: session_id?,
        agent_path: agent_path?,
        model: model?,
        started_at: started_at?,
        completed_at: completed_at?,
        status: status?,
        feedback_from_qa: feedback_from_qa?,
        agent_id: agent_id?,
        error: error?,
        model_id: model_id?,
    })
}

pub(super) fn qa_execution(node: Node<'_, '_>, errors: &mut Errors) -> Option<QaExecution> {
    let fields = node.fields(errors)?;
    let attempt = attempt(fields, errors);
    let session_id = fields.text(errors, "session_id");
    let agent_path = fields.text(errors, "agent_path");
    let model = fields.parsed(errors, "model", Model::parse);
    let started_at = fields.required(errors, "started_at", |node, errors| node.timestamp(errors));
    let completed_at = fields.required(errors, "completed_at", |node, errors| {
        node.timestamp(errors)
    });
    let result = verdict(fields, errors, Message::Required);
    let agent_id = fields.optional_text(errors, "agent_id");
    let model_id = fields.optional_text(errors, "model_id");
    let result = result?;
    Some(QaExecution {
        attempt: attempt?,
        session_id: session_id?,
        agent_path: agent_path?,
        model: model?,
        started_at: started_at?,
        completed_at: completed_at?,
        status: result.status,
        message: result.message,
        details: result.details,
        agent_id: agent_id?,
        model_id: model_id?,
    })
}

fn qa_result(node: Node<'_, '_>, errors: &mut Errors) -> Option<QaResult> {
    let fields = node.fields(errors)?;
    verdict(fields, errors, Message::Required)
}

pub(super) fn scrum_result(node: Node<'_, '_>, errors: &mut Errors) -> Option<ScrumResult> {
    let fields = node.fields(errors)?;
    let bead_id = fields.parsed(errors, "bead_id", BeadId::parse);
    let success = fields.required(errors, "success", |node, errors| node.boolean(errors));
    let pr_url = fields.optional_text(errors, "pr_url");
    let pr_number = fields.optional(errors, "pr_number", |node, errors| {
        node.integer(errors, "pr_number", 0)
    });
    let bead_updated = fields.required(errors, "bead_updated", |node, errors| node.boolean(errors));
    let attempt_count = fields.required(errors, "attempt_count", |node, errors| {
        node.integer(errors, "attempt_count", 0)
    });
    let qa_results = fields.or(errors, "qa_results", Vec::new(), |node, errors| {
        node.list(errors, |_, item, errors| qa_report(item, errors))
    });
    let error = fields.optional_text(errors, "error");
    let fatal = fields.required(errors, "fatal", |node, errors| node.boolean(errors));
    let skipped = fields.or(errors, "skipped", false, |node, errors| {
        node.boolean(errors)
    });
    Some(ScrumResult {
        bead_id: bead_id?,
        success: success?,
        pr_url: pr_url?,
        pr_number: pr_number?,
        bead_updated: bead_updated?,
        attempt_count: attempt_count?,
        qa_results: qa_results?,
        error: error?,
        fatal: fatal?,
        skipped: skipped?,
    })
}

fn qa_report(node: Node<'_, '_>, errors: &mut Errors) -> Option<QaReport> {
    let fields = node.fields(errors)?;
    let has = |key| fields.map.get(key).is_some_and(|value| !value.is_null());
    let key = if !has("agent_path") && has("agent") {
        "agent"
    } else {
        "agent_path"
    };
    let agent_path = fields.text(errors, key);
    let result = verdict(fields, errors, Message::Optional)?;
    Some(QaReport {
        agent_path: agent_path?,
        status: result.status,
        message: result.message,
        details: result.details,
    })
}

/// Whether a verdict must say something in words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Message {
    Required,
    Optional,
}

fn verdict(fields: Fields<'_, '_>, errors: &mut Errors, message: Message) -> Option<QaResult> {
    let status = fields.parsed(errors, "status", QaStatus::parse);
    let message = match message {
        Message::Required => fields.text(errors, "message"),
        Message::Optional => fields.or(errors, "message", String::new(), |node, errors| {
            node.text(errors)
        }),
    };
    let details = fields.or(errors, "details", serde_json::Map::new(), |node, errors| {
        node.dict(errors).cloned()
    });
    Some(QaResult {
        status: status?,
        message: message?,
        details: details?,
    })
}

fn attempt(fields: Fields<'_, '_>, errors: &mut Errors) -> Option<u32> {
    fields.required(errors, "attempt", |node, errors| {
        node.integer(errors, "attempt", 1)
    })
}
