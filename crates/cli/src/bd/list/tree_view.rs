//! A list as a tree: parts below what they are parts of.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::Issue;
use beads_ralph_core::vocabulary::Status;

use crate::bd::filter::natural;
use crate::bd::{Opened, Refusal, issue_json, text};

/// The most levels that are drawn.
const MAX_DEPTH: usize = 100;

/// A bead with everything below it.
pub(super) fn below(opened: &Opened, parent: &str) -> Result<String, Refusal> {
    let Some(root) = opened.exact(parent)? else {
        return Err(Refusal::plain(format!(
            "error checking parent issue: not found: issue {parent}"
        )));
    };
    let mut seen: HashSet<BeadId> = HashSet::from([root.issue.id().clone()]);
    let mut tree = Tree::default();
    tree.add(&root.issue);
    let mut ids = vec![root.issue.id().clone()];
    let mut next = 0;
    while next < ids.len() {
        let id = ids[next].clone();
        next += 1;
        for child in opened.children(&id)? {
            if seen.insert(child.clone())
                && let Some(record) = opened.record(&child)?
            {
                tree.add(&record.issue);
                ids.push(child);
            }
        }
    }
    if ids.len() == 1 {
        return Ok(format!("Issue '{parent}' has no children\n"));
    }
    Ok(tree.page(false, false))
}

/// Beads as a tree. Of each only its line is kept, so that a long list takes little memory.
#[derive(Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    n_open: usize,
    n_busy: usize,
}

struct Node {
    id: String,
    /// What it is a part of, by an edge.
    parent: Option<String>,
    priority: i64,
    line: String,
}

impl Tree {
    pub(super) fn add(&mut self, issue: &Issue) {
        self.n_open += usize::from(issue.status() == Status::Open);
        self.n_busy += usize::from(issue.status() == Status::InProgress);
        self.nodes.push(Node {
            id: issue.id().to_string(),
            parent: issue_json::parent(issue).map(ToString::to_string),
            priority: issue.priority(),
            line: text::one_line(issue),
        });
    }

    /// The tree with the count of its beads.
    pub(super) fn page(&self, is_cut: bool, is_ready: bool) -> String {
        if self.nodes.is_empty() {
            return "No issues found.\n".to_owned();
        }
        let mut page = Branches::of(&self.nodes).page();
        page.push('\n');
        page.push_str(&text::rule());
        page.push('\n');
        page.push_str(&self.footer(is_cut, is_ready));
        page.push_str("\n\n");
        page + text::legend()
    }

    fn footer(&self, is_cut: bool, is_ready: bool) -> String {
        let (total, open, busy) = (self.nodes.len(), self.n_open, self.n_busy);
        match (is_ready, is_cut) {
            (true, true) => format!(
                "Showing {total} ready issues (open only — --ready excludes in_progress); more match (truncated by --limit). Use --limit 0 for all."
            ),
            (true, false) => format!(
                "Ready: {total} issues with no active blockers (open only — --ready excludes in_progress)"
            ),
            (false, true) => format!(
                "Showing {total} issues ({open} open, {busy} in progress); more match (truncated by --limit). Use --limit 0 for all."
            ),
            (false, false) => format!("Total: {total} issues ({open} open, {busy} in progress)"),
        }
    }
}

/// What is below what.
struct Branches<'n> {
    roots: Vec<&'n Node>,
    children: HashMap<&'n str, Vec<&'n Node>>,
}

impl<'n> Branches<'n> {
    fn of(nodes: &'n [Node]) -> Self {
        let ids: HashSet<&str> = nodes.iter().map(|node| node.id.as_str()).collect();
        let mut branches = Self {
            roots: Vec::new(),
            children: HashMap::new(),
        };
        for node in nodes {
            let by_name = node.id.rsplit_once('.').map(|(parent, _)| parent);
            let mut parents = [node.parent.as_deref(), by_name].into_iter().flatten();
            let parent = parents.find_map(|parent| ids.get(parent));
            match parent {
                Some(parent) => branches.children.entry(parent).or_default().push(node),
                None => branches.roots.push(node),
            }
        }
        branches.roots.sort_by(|a, b| compare(a, b));
        for children in branches.children.values_mut() {
            children.sort_by(|a, b| compare(a, b));
        }
        branches
    }

    /// One line for each bead.
    fn page(&self) -> String {
        let mut page = String::new();
        for root in &self.roots {
            page.push_str(&root.line);
            page.push('\n');
            self.below(root, "", 0, &mut page);
        }
        page
    }

    fn below(&self, node: &Node, before: &str, depth: usize, page: &mut String) {
        let children = self.children.get(node.id.as_str());
        let Some(children) = children.filter(|_| depth < MAX_DEPTH) else {
            return;
        };
        for (index, child) in children.iter().enumerate() {
            let (joint, gap) = if index + 1 == children.len() {
                ("└── ", "    ")
            } else {
                ("├── ", "│   ")
            };
            for part in [before, joint, &child.line, "\n"] {
                page.push_str(part);
            }
            self.below(child, &format!("{before}{gap}"), depth + 1, page);
        }
    }
}

fn compare(a: &Node, b: &Node) -> Ordering {
    (a.priority.cmp(&b.priority)).then_with(|| natural(&a.id, &b.id))
}
