//! `bd dep tree`: what a bead depends on, and what that depends on, as a picture.

use beads_ralph_core::issue::Record;
use beads_ralph_core::text::visible;
use beads_ralph_core::vocabulary::{EdgeType, Status};
use std::collections::{BTreeMap, BTreeSet};

use super::RESOLVING;
use crate::bd::issue_json::IssueJson;
use crate::bd::{
    Call, Command, ID, Opened, Refusal, ids, issue_json, number, string, switch, title_of,
};

const DEPTH: i64 = 50;

pub(super) const COMMAND: Command = Command {
    name: "tree",
    about: "What a bead depends on, as a tree",
    positionals: ID,
    flags: &[
        string("direction", "down (default), up or both"),
        string("format", "mermaid: a flowchart"),
        number("max-depth", "How deep (default 50)").short('d'),
        switch("reverse", "The same as --direction up"),
        switch("show-all-paths", "Nothing any more"),
        string("status", "Only beads with a status, and what leads to them"),
    ],
    not_served: &["max-rows"],
    run: Some(run),
    ..Command::NONE
};

#[derive(Debug, Clone)]
struct Node {
    record: Record,
    depth: usize,
    parent: Option<String>,
    edge: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Down,
    Up,
    Both,
}

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let direction = match arguments.filled("direction") {
        None if arguments.is_on("reverse") => Direction::Up,
        None | Some("down") => Direction::Down,
        Some("up") => Direction::Up,
        Some("both") => Direction::Both,
        Some(_) => {
            return Err(Refusal::json("--direction must be 'down', 'up', or 'both'"));
        }
    };
    let Ok(depth @ 1..) = usize::try_from(arguments.number("max-depth").unwrap_or(DEPTH)) else {
        return Err(Refusal::json("--max-depth must be >= 1"));
    };
    let opened = call.open()?;
    let root = ids::find(&opened, RESOLVING, &arguments.words[0])?;
    let nodes = walk(&opened, &root, direction, depth, arguments.filled("status"))?;
    if arguments.filled("format") == Some("mermaid") {
        return call.output.text(&flowchart(&nodes, &arguments.words[0]));
    }
    let is_json = arguments
        .filled("format")
        .is_some_and(|format| format.eq_ignore_ascii_case("json"));
    if call.output.is_json() || is_json {
        return call
            .output
            .value(nodes.iter().map(value).collect::<Vec<_>>());
    }
    call.output.styled(&drawn(&nodes, &root, direction))
}

fn walk(
    opened: &Opened,
    root: &Record,
    direction: Direction,
    depth: usize,
    status: Option<&str>,
) -> Result<Vec<Node>, Refusal> {
    let tree = |is_up: bool| -> Result<Vec<Node>, Refusal> {
        let mut nodes = Vec::new();
        let node = Node {
            record: root.clone(),
            depth: 0,
            parent: None,
            edge: String::new(),
        };
        grow(opened, node, is_up, depth, &mut nodes)?;
        Ok(nodes)
    };
    match direction {
        Direction::Down | Direction::Up => Ok(pruned(tree(direction == Direction::Up)?, status)),
        Direction::Both => {
            let (whole, up) = (tree(false)?, pruned(tree(true)?, status));
            let mut down = pruned(whole.clone(), status);
            // The root joins both halves, even if it is not wanted for itself.
            if !up.is_empty() && !down.iter().any(|node| node.depth == 0) {
                down.splice(0..0, whole.into_iter().take(1));
            }
            let mut nodes: Vec<Node> = up.into_iter().filter(|node| node.depth > 0).collect();
            nodes.extend(down);
            Ok(nodes)
        }
    }
}

/// Adds a bead and everything behind it, each bead once, where it is met first.
fn grow(
    opened: &Opened,
    node: Node,
    is_up: bool,
    depth: usize,
    nodes: &mut Vec<Node>,
) -> Result<(), Refusal> {
    let mut seen = BTreeSet::new();
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        let id = node.record.issue.id().clone();
        if node.depth >= depth || !seen.insert(id.clone()) {
            continue;
        }
        let issue = &node.record.issue;
        let mut ends = if is_up {
            opened.store.dependents(&id)?
        } else {
            let edges = issue.dependencies().iter();
            edges
                .map(|edge| (edge.target().clone(), edge.kind().to_owned()))
                .collect()
        };
        ends.retain(|(_, kind)| kind != EdgeType::RelatesTo);
        // What holds back comes first, then by id.
        ends.sort_by(|a, b| (!is_blocking(&a.1), &a.0).cmp(&(!is_blocking(&b.1), &b.0)));
        let mut below = Vec::new();
        for (other, edge) in ends {
            if let Some(record) = opened.record(&other)? {
                below.push(Node {
                    record,
                    depth: node.depth + 1,
                    parent: Some(id.to_string()),
                    edge,
                });
            }
        }
        pending.extend(below.into_iter().rev());
        nodes.push(node);
    }
    Ok(())
}

fn is_blocking(kind: &str) -> bool {
    matches!(
        EdgeType::known(kind),
        Some(EdgeType::Blocks | EdgeType::ConditionalBlocks | EdgeType::WaitsFor)
    )
}

/// The beads with a status, and what leads to them from the root.
fn pruned(nodes: Vec<Node>, status: Option<&str>) -> Vec<Node> {
    let Some(status) = status else {
        return nodes;
    };
    let parents: BTreeMap<String, String> = nodes
        .iter()
        .filter_map(|node| Some((node.record.issue.id().to_string(), node.parent.clone()?)))
        .collect();
    let mut kept: BTreeSet<String> = BTreeSet::new();
    for node in &nodes {
        if node.record.issue.status() == status {
            let mut next = Some(node.record.issue.id().to_string());
            while let Some(id) = next {
                next = parents.get(&id).cloned();
                kept.insert(id);
            }
        }
    }
    let is_kept = |node: &Node| kept.contains(node.record.issue.id().as_str());
    nodes.into_iter().filter(is_kept).collect()
}

fn value(node: &Node) -> IssueJson {
    let parent = node.parent.as_deref().unwrap_or_default();
    let mut issue = issue_json::issue(&node.record)
        .with("depth", node.depth)
        .with("parent_id", parent);
    if !node.edge.is_empty() {
        issue = issue.with("edge_from_parent", node.edge.as_str());
    }
    issue.with("truncated", false)
}

fn flowchart(nodes: &[Node], root: &str) -> String {
    if nodes.is_empty() {
        return format!("flowchart TD\n  {root}[\"No dependencies\"]\n");
    }
    let mut text = "flowchart TD\n".to_owned();
    let mut seen = BTreeSet::new();
    for node in nodes {
        let issue = &node.record.issue;
        let id = issue.id().as_str();
        if seen.insert(id) {
            let mark = match Status::known(issue.status()) {
                Some(Status::Open) => "☐",
                Some(Status::InProgress) => "◧",
                Some(Status::Blocked) => "⚠",
                Some(Status::Deferred) => "❄",
                Some(Status::Closed) => "☑",
                Some(Status::Pinned | Status::Hooked) | None => "?",
            };
            let label = format!("{mark} {id}: {}", title_of(issue));
            let label = label.replace('\\', "\\\\").replace('"', "\\\"");
            push!(text, "  {id}[\"{label}\"]\n");
        }
    }
    text.push('\n');
    for node in nodes {
        if let Some(parent) = &node.parent {
            push!(text, "  {parent} --> {}\n", node.record.issue.id());
        }
    }
    text
}

fn drawn(nodes: &[Node], root: &Record, direction: Direction) -> String {
    let id = root.issue.id();
    if nodes.is_empty() {
        return match direction {
            Direction::Down => format!("\n{id} has no dependencies\n"),
            Direction::Up => format!("\n{id} has no dependents\n"),
            Direction::Both => format!("\n{id} has no dependencies or dependents\n"),
        };
    }
    let heading = match direction {
        Direction::Down => "Dependency tree",
        Direction::Up => "Dependent tree",
        Direction::Both => "Full dependency graph",
    };
    let mut text = format!("\n🌲 {heading} for {id}:\n\n");
    let mut children: BTreeMap<&str, Vec<&Node>> = BTreeMap::new();
    for node in nodes {
        if let Some(parent) = &node.parent {
            children.entry(parent).or_default().push(node);
        }
    }
    let root = nodes.iter().find(|node| node.depth == 0).or(nodes.first());
    let mut picture = Picture {
        text: &mut text,
        children: &children,
        seen: BTreeSet::new(),
        has_more: Vec::new(),
    };
    if let Some(root) = root {
        picture.draw(root);
    }
    text.push('\n');
    text
}

struct Picture<'a> {
    text: &'a mut String,
    children: &'a BTreeMap<&'a str, Vec<&'a Node>>,
    seen: BTreeSet<&'a str>,
    /// By depth, whether a line goes on downwards beside what is drawn.
    has_more: Vec<bool>,
}

impl<'a> Picture<'a> {
    fn draw(&mut self, root: &'a Node) {
        let mut pending = vec![(root, 0, true)];
        while let Some((node, depth, is_last)) = pending.pop() {
            if self.draw_one(node, depth, is_last) {
                let id = node.record.issue.id().as_str();
                let below = self.children.get(id).map_or(&[][..], Vec::as_slice);
                let last = below.len().saturating_sub(1);
                let below = below.iter().enumerate();
                pending.extend(
                    below
                        .rev()
                        .map(|(index, child)| (*child, depth + 1, index == last)),
                );
            }
        }
    }

    /// Draws the line of a bead, and says whether what is below it follows.
    fn draw_one(&mut self, node: &'a Node, depth: usize, is_last: bool) -> bool {
        self.has_more
            .resize(self.has_more.len().max(depth + 1), false);
        if depth > 1 {
            self.has_more[depth - 1] = !is_last;
        }
        for level in 0..depth {
            self.text.push_str(if self.has_more[level] {
                "│   "
            } else {
                "    "
            });
        }
        if depth > 0 {
            self.text.push_str(if is_last { "└── " } else { "├── " });
        }
        let id = node.record.issue.id().as_str();
        if !self.seen.insert(id) {
            push!(self.text, "{id} (shown above)\n");
            return false;
        }
        let below = self.children.get(id).map_or(&[][..], Vec::as_slice);
        push!(self.text, "{}\n", line(node, below));
        true
    }
}

fn line(node: &Node, below: &[&Node]) -> String {
    let issue = &node.record.issue;
    let (id, title, priority) = (issue.id(), title_of(issue), issue.priority());
    let status = issue.status();
    let mut line = format!("{id}: {title} [P{priority}] ({status})");
    if node.depth > 0 && !node.edge.is_empty() {
        push!(line, " [{}]", node.edge);
    }
    // The page is printed with our own marks, so what came from others is escaped before they are added.
    let mut line = visible(&line);
    if node.depth == 0 && status == Status::Open {
        let is_open = |node: &Node| {
            let status = node.record.issue.status();
            status == Status::Open || status == Status::InProgress
        };
        let is_blocked = below
            .iter()
            .any(|node| is_open(node) && is_blocking(&node.edge));
        // These two words are bold in the real `bd` even where nothing else has a colour.
        line.push_str(if is_blocked {
            " \u{1b}[1m[BLOCKED]\u{1b}[m"
        } else {
            " \u{1b}[1m[READY]\u{1b}[m"
        });
    }
    line
}
