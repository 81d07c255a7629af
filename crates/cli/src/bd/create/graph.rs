//! `bd create --graph plan.json`: several beads with the edges between them, all or none.

mod plan;

use std::collections::BTreeMap;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Dependency, Edit, Entry, Fence, Issue};
use beads_ralph_core::vocabulary::EdgeType;
use beads_ralph_runtime::store::{StoreError, Write};
use serde_json::{Map, Value, json};

use plan::{Node, Plan};

use super::super::arguments::quoted;
use super::super::call::{Call, Opened};
use super::super::failure::Refusal;
use super::super::filter::INFRA_TYPES;
use super::super::{holding, ids, input, text};

/// What a dry run cannot know.
const NOTE: &str = "dry-run validates the graph structure only; live create may still reject parent-child blocking paths after resolving stored dependencies";

/// Flags that are about one bead.
pub(super) const SINGLE: [&str; 23] = [
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
    let plan = plan::read(call, path)?;
    plan::check(&opened, &plan)?.map_or(Ok(()), |why| {
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
    call.output.text(&page)
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
    call.output.text(&page)
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
                EdgeType::ParentChild.as_str(),
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
    let is_ephemeral = INFRA_TYPES.contains(&kind.as_str());
    put("ephemeral", is_ephemeral.then(|| true.into()));
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
