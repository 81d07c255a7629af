//! The plan of a graph: what it may hold, and what can be wrong with it.

use std::collections::HashSet;

use beads_ralph_core::vocabulary::{EdgeType, IssueType};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::bd::{Call, Opened, Refusal, input, quoted};

/// Keys of a node that are known.
#[rustfmt::skip]
const NODE_KEYS: [&str; 20] = [
    "key", "id", "title", "type", "status", "description", "design", "acceptance_criteria", "notes", "spec_id",
    "external_ref", "assignee", "assign_after_create", "owner", "priority", "estimated_minutes", "labels", "metadata",
    "parent_key", "parent_id",
];
const EDGE_KEYS: [&str; 5] = ["from_key", "from_id", "to_key", "to_id", "type"];

#[derive(Debug, Deserialize)]
pub(super) struct Plan {
    #[serde(default)]
    pub(super) nodes: Vec<Node>,
    #[serde(default)]
    pub(super) edges: Vec<Edge>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Node {
    #[serde(default)]
    pub(super) key: String,
    pub(super) id: Option<String>,
    #[serde(default)]
    pub(super) title: String,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) status: Option<String>,
    pub(super) priority: Option<i64>,
    pub(super) estimated_minutes: Option<i64>,
    pub(super) parent_key: Option<String>,
    pub(super) parent_id: Option<String>,
    #[serde(default)]
    pub(super) labels: Vec<String>,
    pub(super) metadata: Option<Map<String, Value>>,
    pub(super) description: Option<String>,
    pub(super) design: Option<String>,
    pub(super) acceptance_criteria: Option<String>,
    pub(super) notes: Option<String>,
    pub(super) spec_id: Option<String>,
    pub(super) external_ref: Option<String>,
    pub(super) assignee: Option<String>,
    pub(super) owner: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Edge {
    pub(super) from_key: Option<String>,
    pub(super) from_id: Option<String>,
    pub(super) to_key: Option<String>,
    pub(super) to_id: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
}

impl Node {
    pub(super) fn type_of(&self) -> String {
        let kind = self.kind.as_deref();
        input::new_type(kind.unwrap_or(IssueType::Task.as_str()))
    }
}

impl Edge {
    pub(super) fn kind(&self) -> &str {
        let kind = self.kind.as_deref().filter(|kind| !kind.is_empty());
        kind.unwrap_or(EdgeType::Blocks.as_str())
    }
}

/// Reads a plan from a file, and warns about unknown keys.
pub(super) fn read(call: &Call<'_>, path: &str) -> Result<Plan, Refusal> {
    let bytes = input::read_file(path)
        .map_err(|why| Refusal::json(format!("reading graph plan: {why}")))?;
    let unreadable = |error: &serde_json::Error| {
        let why = if error.is_eof() {
            "unexpected end of JSON input".to_owned()
        } else {
            error.to_string()
        };
        Refusal::json(format!("parsing graph plan: {why}"))
    };
    let value: Value = serde_json::from_slice(&bytes).map_err(|error| unreadable(&error))?;
    for warning in unknown(&value) {
        call.output.stderr(&warning);
    }
    serde_json::from_value(value).map_err(|error| unreadable(&error))
}

/// The warnings about unknown keys.
fn unknown(plan: &Value) -> Vec<String> {
    let list = |key: &str| {
        plan.get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let keys = |value: &'_ Value, known: &[&str]| -> Vec<String> {
        let keys = value.as_object().into_iter().flat_map(Map::keys);
        let mut keys: Vec<String> = keys
            .filter(|key| !known.contains(&key.as_str()))
            .cloned()
            .collect();
        keys.sort();
        keys
    };
    let mut lines = Vec::new();
    let mut add = |place: String, keys: &[String]| {
        if !keys.is_empty() {
            lines.push(format!(
                "warning: graph plan {place} has unknown field(s): [{}] (silently dropped — see 'bd create --graph' schema)\n",
                keys.join(" ")
            ));
        }
    };
    for (index, edge) in list("edges").enumerate() {
        add(format!("edge[{index}]"), &keys(edge, &EDGE_KEYS));
    }
    for node in list("nodes") {
        let name = node.get("key").and_then(Value::as_str).unwrap_or_default();
        add(format!("node[{}]", quoted(name)), &keys(node, &NODE_KEYS));
    }
    lines
}

/// What is wrong with a plan, if anything.
pub(super) fn check(opened: &Opened, plan: &Plan) -> Result<Option<String>, Refusal> {
    if plan.nodes.is_empty() {
        return Ok(Some("plan has no nodes".to_owned()));
    }
    let known: HashSet<&str> = plan.nodes.iter().map(|node| node.key.as_str()).collect();
    let mut seen = HashSet::new();
    for (index, node) in plan.nodes.iter().enumerate() {
        let key = quoted(&node.key);
        let kind = node.kind.as_deref().unwrap_or(IssueType::Task.as_str());
        let id = node.id.as_deref().unwrap_or_default();
        let is_taken = opened.exact(id)?.is_some();
        let wrong = if node.key.is_empty() {
            format!("node {index} has empty key")
        } else if !seen.insert(node.key.as_str()) {
            format!("duplicate node key {key}")
        } else if node.title.is_empty() {
            format!("node {key} has empty title")
        } else if let Some(why) = input::wrong_title(&node.title) {
            format!("node {key}: {why}")
        } else if !input::is_type(opened, &node.type_of())? {
            format!("node {key}: invalid issue type {}", quoted(kind))
        } else if let Some(parent) =
            (node.parent_key.as_deref()).filter(|parent| !known.contains(parent))
        {
            format!(
                "node {key}: parent key {} not found in plan",
                quoted(parent)
            )
        } else if is_taken {
            let id = quoted(id);
            format!(
                "explicit id {id} (node {key}) already exists; graph create will not overwrite an existing issue — drop the id to mint a new one, or update the existing issue instead"
            )
        } else {
            continue;
        };
        return Ok(Some(wrong));
    }
    for (index, edge) in plan.edges.iter().enumerate() {
        let is_unknown =
            |key: &Option<String>| key.as_deref().is_some_and(|key| !known.contains(key));
        let name = |key: &Option<String>| quoted(key.as_deref().unwrap_or_default());
        let wrong = if is_unknown(&edge.from_key) {
            format!(
                "edge {index}: from key {} not found in plan",
                name(&edge.from_key)
            )
        } else if is_unknown(&edge.to_key) {
            format!(
                "edge {index}: to key {} not found in plan",
                name(&edge.to_key)
            )
        } else if edge.from_key.is_none() && edge.from_id.is_none() {
            format!("edge {index}: must specify from_key or from_id")
        } else if edge.to_key.is_none() && edge.to_id.is_none() {
            format!("edge {index}: must specify to_key or to_id")
        } else {
            continue;
        };
        return Ok(Some(wrong));
    }
    Ok(None)
}
