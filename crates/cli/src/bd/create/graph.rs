//! `bd create --graph plan.json`: several beads with the edges between them, all or none.

mod plan_json;

use std::collections::BTreeMap;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Dependency, Edit};
use beads_ralph_core::vocabulary::EdgeType;
use beads_ralph_runtime::store::{StoreError, Write};
use serde::Serialize;

use plan_json::{Node, Plan};

use crate::bd::document_json::NewBead;
use crate::bd::filter::INFRA_TYPES;
use crate::bd::{Call, Opened, Refusal, dep, ids, input, quoted};

/// What a dry run cannot know.
const NOTE: &str = "dry-run validates the graph structure only; live create may still reject parent-child blocking paths after resolving stored dependencies";

/// Flags that are about one bead.
#[rustfmt::skip]
pub(super) const SINGLE: [&str; 23] = [
    "title", "priority", "type", "status", "assignee", "description", "body", "message", "body-file", "description-file",
    "stdin", "design", "design-file", "acceptance", "notes", "external-ref", "spec-id", "labels", "label", "id", "parent",
    "deps", "metadata",
];

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
    let plan = plan_json::read(call, path)?;
    plan_json::check(&opened, &plan)?.map_or(Ok(()), |why| {
        Err(Refusal::json(format!("invalid graph plan: {why}")))
    })?;
    if arguments.is_on("dry-run") {
        return preview(call, &plan);
    }
    let made = carry_out(&mut opened, &plan)?;
    if call.output.is_json() {
        #[derive(Serialize)]
        struct Created<'m> {
            ids: BTreeMap<&'m str, &'m str>,
        }
        let ids = (made.iter()).map(|(key, id)| (key.as_str(), id.as_str()));
        return call.output.value(Created { ids: ids.collect() });
    }
    let mut page = format!("Created {} issues\n", made.len());
    for (key, id) in &made {
        push!(page, "  {key} -> {id}\n");
    }
    call.output.text(&page)
}

#[derive(Serialize)]
struct Preview<'p> {
    dry_run: bool,
    node_count: usize,
    edge_count: usize,
    parent_deps: usize,
    validation_notes: [&'static str; 1],
    nodes: Vec<NodePreview<'p>>,
}

#[derive(Serialize)]
struct NodePreview<'p> {
    key: &'p str,
    title: &'p str,
    r#type: String,
    priority: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_key: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<&'p str>,
}

impl<'p> NodePreview<'p> {
    fn of(node: &'p Node) -> Self {
        let filled = |text: &'p Option<String>| text.as_deref().filter(|text| !text.is_empty());
        Self {
            key: &node.key,
            title: &node.title,
            r#type: node.type_of(),
            priority: node.priority.unwrap_or(2),
            id: filled(&node.id),
            status: filled(&node.status),
            parent_key: filled(&node.parent_key),
            parent_id: filled(&node.parent_id),
        }
    }
}

fn preview(call: &Call<'_>, plan: &Plan) -> Result<(), Refusal> {
    let n_parents = (plan.nodes.iter())
        .filter(|node| node.parent_key.is_some() || node.parent_id.is_some())
        .count();
    let (n_nodes, n_edges) = (plan.nodes.len(), plan.edges.len());
    let nodes: Vec<NodePreview<'_>> = plan.nodes.iter().map(NodePreview::of).collect();
    if call.output.is_json() {
        return call.output.value(Preview {
            dry_run: true,
            node_count: n_nodes,
            edge_count: n_edges,
            parent_deps: n_parents,
            validation_notes: [NOTE],
            nodes,
        });
    }
    let mut page = format!(
        "Dry run: would create {n_nodes} issue(s) and {n_edges} edge(s) ({n_parents} parent-child link(s))\nNote: {NOTE}.\n"
    );
    for (node, shown) in plan.nodes.iter().zip(&nodes) {
        let (key, kind, priority) = (&node.key, &shown.r#type, shown.priority);
        push!(page, "  {key} [{kind}] P{priority} {}", quoted(&node.title));
        for (name, value) in [
            ("id", shown.id),
            ("status", shown.status),
            ("parent_key", shown.parent_key),
            (
                "parent_id",
                shown.parent_id.filter(|_| node.parent_key.is_none()),
            ),
        ] {
            if let Some(value) = value {
                push!(page, " {name}={value}");
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
    let by_key = |key: &Option<String>| key.as_ref().and_then(|key| made.get(key)).cloned();
    let by_id = |id: &Option<String>| id.as_deref().and_then(|id| BeadId::parse(id).ok());
    let parents = plan.nodes.iter().filter_map(|node| {
        let parent = by_key(&node.parent_key).or_else(|| by_id(&node.parent_id))?;
        Some((
            made[&node.key].clone(),
            parent,
            EdgeType::ParentChild.as_str(),
        ))
    });
    let others = plan.edges.iter().filter_map(|edge| {
        let from = by_id(&edge.from_id).or_else(|| by_key(&edge.from_key))?;
        let to = by_id(&edge.to_id).or_else(|| by_key(&edge.to_key))?;
        Some((from, to, edge.kind()))
    });
    let mut edges: BTreeMap<BeadId, Vec<Dependency>> = BTreeMap::new();
    for (from, to, kind) in parents.chain(others) {
        let edge = dep::edge(opened, &to, kind).map_err(Refusal::json)?;
        edges.entry(from).or_default().push(edge);
    }
    let mut batch = Vec::new();
    for node in &plan.nodes {
        let id = &made[&node.key];
        let own = edges.remove(id).unwrap_or_default();
        batch.push(insertion(opened, node, id, &own)?);
    }
    for (id, own) in edges {
        let Some(record) = opened.record(&id)? else {
            return Err(Refusal::json(format!("graph create: issue {id} not found")));
        };
        let edits = own.into_iter().map(Edit::AddDependency).collect();
        batch.push(opened.change(&record, edits));
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

fn insertion(
    opened: &Opened,
    node: &Node,
    id: &BeadId,
    own: &[Dependency],
) -> Result<Write, Refusal> {
    let kind = node.type_of();
    let is_bookkeeping = INFRA_TYPES.contains(&kind.as_str());
    let own: Vec<_> = own.iter().map(|edge| edge.to_value(id)).collect();
    let metadata = (node.metadata.clone()).filter(|metadata| !metadata.is_empty());
    let mut document = NewBead::new(opened, id.as_str(), &node.title)
        .with("status", node.status.as_deref())
        .set("priority", node.priority.unwrap_or(2))
        .set("issue_type", kind)
        .with("ephemeral", is_bookkeeping)
        .with("estimated_minutes", node.estimated_minutes)
        .with("metadata", metadata)
        .with("labels", input::labels(node.labels.clone()))
        .with("dependencies", own);
    for (key, value) in [
        ("description", &node.description),
        ("design", &node.design),
        ("acceptance_criteria", &node.acceptance_criteria),
        ("notes", &node.notes),
        ("spec_id", &node.spec_id),
        ("external_ref", &node.external_ref),
        ("assignee", &node.assignee),
        ("owner", &node.owner),
    ] {
        document = document.with(key, value.as_deref());
    }
    document
        .insertion()
        .map_err(|why| Refusal::json(format!("graph create: node {}: {why}", quoted(&node.key))))
}
