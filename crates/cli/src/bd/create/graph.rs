//! `bd create --graph plan.json`: several beads with the edges between them, all or none.

use std::collections::{BTreeMap, HashSet};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Dependency, Edit, Entry, Fence, Issue};
use beads_ralph_runtime::store::{StoreError, Write};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::arguments::quoted;
use super::super::call::{Call, Opened};
use super::super::failure::Refusal;
use super::super::{holding, ids, input, text};

/// What a dry run cannot know.
const NOTE: &str = "dry-run validates the graph structure only; live create may still reject parent-child blocking paths after resolving stored dependencies";

/// Flags that are about one bead.
const SINGLE: [&str; 23] = [
    "title",
    "priority",
    "type",
    "status",
    "assignee",
    "description",
    "body",
    "message",
    "body-file",
    "description-file",
    "stdin",
    "design",
    "design-file",
    "acceptance",
    "notes",
    "external-ref",
    "spec-id",
    "labels",
    "label",
    "id",
    "parent",
    "deps",
    "metadata",
];

/// Keys of a node that are known.
const NODE_KEYS: [&str; 20] = [
    "key",
    "id",
    "title",
    "type",
    "status",
    "description",
    "design",
    "acceptance_criteria",
    "notes",
    "spec_id",
    "external_ref",
    "assignee",
    "assign_after_create",
    "owner",
    "priority",
    "estimated_minutes",
    "labels",
    "metadata",
    "parent_key",
    "parent_id",
];
const EDGE_KEYS: [&str; 5] = ["from_key", "from_id", "to_key", "to_id", "type"];

#[derive(Debug, Deserialize)]
struct Plan {
    #[serde(default)]
    nodes: Vec<Node>,
    #[serde(default)]
    edges: Vec<Edge>,
}

#[derive(Debug, Deserialize)]
struct Node {
    #[serde(default)]
    key: String,
    id: Option<String>,
    #[serde(default)]
    title: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    status: Option<String>,
    priority: Option<i64>,
    estimated_minutes: Option<i64>,
    parent_key: Option<String>,
    parent_id: Option<String>,
    #[serde(default)]
    labels: Vec<String>,
    metadata: Option<Map<String, Value>>,
    description: Option<String>,
    design: Option<String>,
    acceptance_criteria: Option<String>,
    notes: Option<String>,
    spec_id: Option<String>,
    external_ref: Option<String>,
    assignee: Option<String>,
    owner: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Edge {
    from_key: Option<String>,
    from_id: Option<String>,
    to_key: Option<String>,
    to_id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

impl Edge {
    fn kind(&self) -> &str {
        let kind = self.kind.as_deref().filter(|kind| !kind.is_empty());
        kind.unwrap_or(Dependency::BLOCKS)
    }
}

/// Reads a plan and does what it says.
pub(super) fn create(call: &Call<'_>, path: &str) -> Result<(), Refusal> {
    let arguments = call.arguments;
    if !arguments.words.is_empty() {
        return Err(Refusal::plain("cannot specify both title and --graph flag"));
    }
    if let Some(flag) = SINGLE.iter().find(|flag| arguments.has(flag)) {
        return Err(Refusal::plain(format!(
            "--{flag} is not valid with --graph (graph plans supply per-node fields)"
        )));
    }
    let mut opened = call.open()?;
    let plan = read(call, path)?;
    check(&opened, &plan)?.map_or(Ok(()), |why| {
        Err(Refusal::json(format!("invalid graph plan: {why}")))
    })?;
    if arguments.is_on("dry-run") {
        return preview(call, &plan);
    }
    let made = carry_out(&mut opened, &plan)?;
    if call.output.is_json() {
        let ids: Map<String, Value> = (made.iter())
            .map(|(key, id)| (key.clone(), id.as_str().into()))
            .collect();
        return call.output.value(json!({"ids": ids}));
    }
    let mut page = format!("Created {} issues\n", made.len());
    for (key, id) in &made {
        text::push(&mut page, format_args!("  {key} -> {id}\n"));
    }
    call.output.raw(&page)
}

fn read(call: &Call<'_>, path: &str) -> Result<Plan, Refusal> {
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
        call.output.aside(&warning);
    }
    serde_json::from_value(value).map_err(|error| unreadable(&error))
}

/// What is said of keys that nobody knows.
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
fn check(opened: &Opened, plan: &Plan) -> Result<Option<String>, Refusal> {
    if plan.nodes.is_empty() {
        return Ok(Some("plan has no nodes".to_owned()));
    }
    let known: HashSet<&str> = plan.nodes.iter().map(|node| node.key.as_str()).collect();
    let mut seen = HashSet::new();
    for (index, node) in plan.nodes.iter().enumerate() {
        let key = quoted(&node.key);
        let kind = node.kind.as_deref().unwrap_or("task");
        let id = node.id.as_deref().and_then(|id| BeadId::parse(id).ok());
        let is_taken = match &id {
            Some(id) => opened.record(id)?.is_some(),
            None => false,
        };
        let wrong = if node.key.is_empty() {
            format!("node {index} has empty key")
        } else if !seen.insert(node.key.as_str()) {
            format!("duplicate node key {key}")
        } else if node.title.is_empty() {
            format!("node {key} has empty title")
        } else if !input::is_type(opened, &input::new_type(kind))? {
            format!("node {key}: invalid issue type {}", quoted(kind))
        } else if let Some(parent) =
            (node.parent_key.as_deref()).filter(|parent| !known.contains(parent))
        {
            format!(
                "node {key}: parent key {} not found in plan",
                quoted(parent)
            )
        } else if is_taken {
            let id = quoted(node.id.as_deref().unwrap_or_default());
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

fn preview(call: &Call<'_>, plan: &Plan) -> Result<(), Refusal> {
    let n_parents = (plan.nodes.iter())
        .filter(|node| node.parent_key.is_some() || node.parent_id.is_some())
        .count();
    let (n_nodes, n_edges) = (plan.nodes.len(), plan.edges.len());
    if call.output.is_json() {
        let rows = plan.nodes.iter().map(|node| {
            let mut row = json!({
                "key": node.key, "title": node.title,
                "type": input::new_type(node.kind.as_deref().unwrap_or("task")),
                "priority": node.priority.unwrap_or(2),
            });
            for (key, value) in [
                ("id", &node.id),
                ("status", &node.status),
                ("parent_key", &node.parent_key),
                ("parent_id", &node.parent_id),
            ] {
                if let Some(value) = value.as_deref().filter(|value| !value.is_empty()) {
                    row[key] = value.into();
                }
            }
            row
        });
        return call.output.value(json!({
            "dry_run": true, "node_count": n_nodes, "edge_count": n_edges,
            "parent_deps": n_parents, "validation_notes": [NOTE],
            "nodes": rows.collect::<Vec<_>>(),
        }));
    }
    let mut page = format!(
        "Dry run: would create {n_nodes} issue(s) and {n_edges} edge(s) ({n_parents} parent-child link(s))\nNote: {NOTE}.\n"
    );
    for node in &plan.nodes {
        let kind = input::new_type(node.kind.as_deref().unwrap_or("task"));
        text::push(
            &mut page,
            format_args!(
                "  {} [{kind}] P{} {}",
                node.key,
                node.priority.unwrap_or(2),
                quoted(&node.title)
            ),
        );
        let parent_id = node
            .parent_id
            .as_ref()
            .filter(|_| node.parent_key.is_none());
        for (name, value) in [
            ("id", node.id.as_ref()),
            ("status", node.status.as_ref()),
            ("parent_key", node.parent_key.as_ref()),
            ("parent_id", parent_id),
        ] {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                text::push(&mut page, format_args!(" {name}={value}"));
            }
        }
        page.push('\n');
    }
    call.output.raw(&page)
}

/// Makes the beads, and gives their ids by the keys of the plan.
fn carry_out(opened: &mut Opened, plan: &Plan) -> Result<BTreeMap<String, BeadId>, Refusal> {
    let prefix = opened.prefix()?;
    let mut made: BTreeMap<String, BeadId> = BTreeMap::new();
    for node in &plan.nodes {
        let id = match &node.id {
            Some(id) => super::checked_id(opened, id, false)?,
            // The key is part of what is hashed, so that equal titles get different ids.
            None => ids::new_id(opened, &prefix, &node.title, &node.key)?,
        };
        if made.values().any(|other| *other == id) {
            return Err(Refusal::json(format!(
                "graph create: two nodes would be {id}; try again"
            )));
        }
        made.insert(node.key.clone(), id);
    }
    let mut edges: BTreeMap<BeadId, Vec<Dependency>> = BTreeMap::new();
    for node in &plan.nodes {
        let by_key = node
            .parent_key
            .as_ref()
            .and_then(|key| made.get(key))
            .cloned();
        let by_id = node
            .parent_id
            .as_deref()
            .and_then(|id| BeadId::parse(id).ok());
        if let Some(parent) = by_key.or(by_id) {
            add(
                opened,
                &mut edges,
                &made[&node.key],
                parent,
                Dependency::PARENT_CHILD,
            )?;
        }
    }
    for edge in &plan.edges {
        let end = |key: &Option<String>, id: &Option<String>| {
            let by_id = id.as_deref().and_then(|id| BeadId::parse(id).ok());
            by_id.or_else(|| key.as_ref().and_then(|key| made.get(key)).cloned())
        };
        let (from, to) = (
            end(&edge.from_key, &edge.from_id),
            end(&edge.to_key, &edge.to_id),
        );
        if let (Some(from), Some(to)) = (from, to) {
            add(opened, &mut edges, &from, to, edge.kind())?;
        }
    }
    let mut batch = Vec::new();
    for node in &plan.nodes {
        let id = &made[&node.key];
        let own = edges.remove(id).unwrap_or_default();
        batch.push(Write::Insert(Box::new(entry(opened, node, id, &own)?)));
    }
    for (id, own) in edges {
        let Some(record) = opened.record(&id)? else {
            return Err(Refusal::json(format!("graph create: issue {id} not found")));
        };
        batch.push(Write::Update {
            id,
            edits: own.into_iter().map(Edit::AddDependency).collect(),
            guard: holding::guard(opened, &record),
        });
    }
    opened.write(&batch).map_err(|error| match error {
        StoreError::Cycle(circle) => {
            let mut nodes = plan.nodes.iter().map(|node| &node.key);
            let key = nodes.find(|key| circle.contains(&made[*key]));
            Refusal::json(match key {
                Some(key) => format!(
                    "invalid graph plan: graph contains a blocking dependency cycle involving node {}",
                    quoted(key)
                ),
                None => format!("graph create: {}", super::cycle(&circle)),
            })
        }
        error => Refusal::json(format!("graph create: {error}")),
    })?;
    Ok(made)
}

fn add(
    opened: &Opened,
    edges: &mut BTreeMap<BeadId, Vec<Dependency>>,
    from: &BeadId,
    to: BeadId,
    kind: &str,
) -> Result<(), Refusal> {
    let edge = Dependency::new(to, kind).map_err(|error| Refusal::json(error.to_string()))?;
    let edge = edge
        .with("created_at", opened.time().into())
        .with("created_by", opened.actor().into());
    edges.entry(from.clone()).or_default().push(edge);
    Ok(())
}

fn entry(opened: &Opened, node: &Node, id: &BeadId, own: &[Dependency]) -> Result<Entry, Refusal> {
    let mut document = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        document.extend(value.map(|value| (key.to_owned(), value)));
    };
    let filled = |text: &Option<String>| {
        let text = text.as_deref().filter(|text| !text.is_empty());
        text.map(Value::from)
    };
    put("id", Some(id.as_str().into()));
    put("title", Some(node.title.as_str().into()));
    for (key, value) in [
        ("description", &node.description),
        ("design", &node.design),
        ("acceptance_criteria", &node.acceptance_criteria),
        ("notes", &node.notes),
        ("spec_id", &node.spec_id),
        ("external_ref", &node.external_ref),
        ("assignee", &node.assignee),
    ] {
        put(key, filled(value));
    }
    put(
        "status",
        filled(&node.status).or_else(|| Some("open".into())),
    );
    put("priority", Some(node.priority.unwrap_or(2).into()));
    let kind = input::new_type(node.kind.as_deref().unwrap_or("task"));
    put("issue_type", Some(kind.into()));
    put(
        "owner",
        filled(&node.owner).or_else(|| opened.owner().map(Value::from)),
    );
    put("estimated_minutes", node.estimated_minutes.map(Value::from));
    put("created_at", Some(opened.time().into()));
    put("created_by", Some(opened.actor().into()));
    put("updated_at", Some(opened.time().into()));
    let metadata = node
        .metadata
        .clone()
        .filter(|metadata| !metadata.is_empty());
    put("metadata", metadata.map(Value::Object));
    let labels = input::labels(node.labels.clone());
    put("labels", (!labels.is_empty()).then(|| labels.into()));
    if !own.is_empty() {
        put(
            "dependencies",
            Some(own.iter().map(|edge| edge.to_value(id)).collect()),
        );
    }
    let issue = Issue::without_comments(Value::Object(document)).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Refusal::json(format!(
            "graph create: node {}: {}",
            quoted(&node.key),
            errors.join("; ")
        ))
    })?;
    Ok(Entry {
        issue,
        comments: Vec::new(),
        fence: Fence::default(),
    })
}
