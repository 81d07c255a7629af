//! `dep tree`: everything that a bead depends on, each bead once.
//!
//! A graph has more paths than beads, so what hangs below a bead is drawn where it first appears. Nothing recurses:
//! chains may be as long as the store.

use std::collections::HashSet;
use std::fmt::Write as _;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::Issue;
use clap::Args;
use serde::Serialize;
use serde_json::json;

use crate::beads::Beads;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::table::Page;

#[derive(Debug, Args)]
pub(crate) struct DepTreeArgs {
    /// The bead
    pub(crate) id: String,
    /// How deep to go
    #[arg(short, long, value_name = "N", default_value_t = 50)]
    pub(crate) depth: usize,
}

#[derive(Debug, Serialize)]
struct TreeNode {
    id: String,
    depth: usize,
    parent_id: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    status: Option<String>,
    title: Option<String>,
    /// Whether it was drawn before, with what hangs below it.
    is_repeated: bool,
    /// Whether something hangs below it that is too deep to be drawn.
    truncated: bool,
}

/// A bead that is still to be drawn.
struct Pending {
    id: BeadId,
    depth: usize,
    parent: Option<BeadId>,
    kind: Option<String>,
}

pub(super) fn run(args: &DepTreeArgs, beads: &Beads, ui: &Ui) -> Result<(), Failure> {
    let root = beads.resolve(&args.id)?.issue.id().clone();
    let nodes = walk(root, args.depth, beads)?;
    if ui.is_json() {
        return ui.data(&json!({"nodes": nodes}));
    }
    ui.out(&text(&nodes, Page::of(ui)))
}

fn walk(root: BeadId, max_depth: usize, beads: &Beads) -> Result<Vec<TreeNode>, Failure> {
    let mut nodes = Vec::new();
    let mut drawn: HashSet<BeadId> = HashSet::new();
    let mut pending = vec![Pending {
        id: root,
        depth: 0,
        parent: None,
        kind: None,
    }];
    while let Some(next) = pending.pop() {
        let record = beads.store.get(std::slice::from_ref(&next.id))?.pop();
        let issue = record.as_ref().map(|record| &record.issue);
        let edges = issue.map(Issue::dependencies).unwrap_or_default();
        let is_repeated = !drawn.insert(next.id.clone()) && !edges.is_empty();
        let is_deep = next.depth >= max_depth && !edges.is_empty();
        nodes.push(TreeNode {
            id: next.id.to_string(),
            depth: next.depth,
            parent_id: next.parent.as_ref().map(BeadId::to_string),
            kind: next.kind,
            status: issue.map(|issue| issue.status().to_owned()),
            title: issue.map(|issue| issue.title().to_owned()),
            is_repeated,
            truncated: is_deep && !is_repeated,
        });
        if is_repeated || is_deep {
            continue;
        }
        // The last one pushed is drawn first.
        pending.extend(edges.iter().rev().map(|edge| Pending {
            id: edge.target().clone(),
            depth: next.depth + 1,
            parent: Some(next.id.clone()),
            kind: Some(edge.kind().to_owned()),
        }));
    }
    Ok(nodes)
}

fn text(nodes: &[TreeNode], page: Page) -> String {
    let mut text = String::new();
    for node in nodes {
        let status = node.status.as_deref().unwrap_or("not here");
        let kind = match node.kind.as_deref() {
            None | Some("blocks") => String::new(),
            Some(kind) => format!("{kind}, "),
        };
        let end = if node.is_repeated {
            " (as above)"
        } else if node.truncated {
            " (more below; --depth)"
        } else {
            ""
        };
        let title = node.title.as_deref().unwrap_or_default();
        let indent = "  ".repeat(node.depth);
        let line = format!("{indent}{} ({kind}{status}){end} {title}", node.id);
        _ = writeln!(text, "{}", page.line(line.trim_end()));
    }
    text
}
