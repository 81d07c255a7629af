//! The documents of the beads that a pour makes.

use serde::Serialize;
use serde_json::Value;

use super::molecule::Pouring;
use crate::vocabulary::{EdgeType, Status};

/// A bead of a molecule; what is empty is left out.
#[derive(Serialize)]
pub(super) struct BeadDocument<'a, M> {
    pub(super) id: String,
    pub(super) title: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) description: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) notes: &'a str,
    pub(super) status: Status,
    pub(super) priority: u8,
    pub(super) issue_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) assignee: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) labels: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<M>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) await_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) await_id: Option<&'a str>,
    /// In nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timeout: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) ephemeral: bool,
    pub(super) created_at: &'a str,
    pub(super) updated_at: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(super) created_by: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) dependencies: Vec<Edge<'a>>,
}

impl<'a, M: Serialize> BeadDocument<'a, M> {
    pub(super) fn new(id: String, issue_type: &'a str, pouring: &'a Pouring<'_>) -> Self {
        Self {
            id,
            title: "",
            description: "",
            notes: "",
            status: Status::Open,
            priority: 2,
            issue_type,
            assignee: None,
            labels: &[],
            metadata: None,
            await_type: None,
            await_id: None,
            timeout: None,
            ephemeral: pouring.is_wisp,
            created_at: pouring.now.as_str(),
            updated_at: pouring.now.as_str(),
            created_by: pouring.actor,
            dependencies: Vec::new(),
        }
    }

    pub(super) fn to_value(&self) -> Value {
        serde_json::to_value(self).expect("plain values are JSON")
    }
}

/// What the root keeps of the formula.
#[derive(Serialize)]
pub(super) struct RootMetadata<'a> {
    pub(super) formula: &'a str,
    pub(super) steps: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) intent: Option<&'a str>,
}

/// A dependency of a bead.
#[derive(Serialize)]
pub(super) struct Edge<'a> {
    pub(super) depends_on_id: String,
    #[serde(rename = "type")]
    pub(super) kind: EdgeType,
    /// A text that holds JSON, as `bd` has it.
    #[serde(rename = "metadata", skip_serializing_if = "Option::is_none")]
    pub(super) waiting: Option<String>,
    pub(super) created_at: &'a str,
    pub(super) created_by: &'a str,
}

impl<'a> Edge<'a> {
    pub(super) fn new(target: String, kind: EdgeType, pouring: &'a Pouring<'_>) -> Self {
        Self {
            depends_on_id: target,
            kind,
            waiting: None,
            created_at: pouring.now.as_str(),
            created_by: pouring.actor,
        }
    }
}

/// What a `waits-for` edge waits for.
#[derive(Serialize)]
pub(super) struct Waiting {
    pub(super) gate: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) also_blocks: bool,
}

impl Waiting {
    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("plain values are JSON")
    }
}
