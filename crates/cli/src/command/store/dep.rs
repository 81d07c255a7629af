//! `dep`: adds, removes and lists dependencies, and draws what a bead depends on.
//!
//! Data: `{issue_id, depends_on_id, type, changed, is_blocked}` after a change; `{id, depends_on: [{id, type, status, title}],
//! dependents: […], blockers: […]}` for the list; `{nodes: […]}` for the tree.

use std::collections::HashSet;
use std::fmt::Write as _;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Blocker, Issue};
use beads_ralph_core::text::excerpt;
use beads_ralph_core::vocabulary::EdgeType;
use beads_ralph_runtime::app::beads::{Beads, DependencyChange, DependencyEnd};
use beads_ralph_runtime::store::StoreError;
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::args::{Global, GuardArgs};
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::table::{Page, Table};

#[derive(Debug, Subcommand)]
pub(crate) enum DepCommand {
    /// Make a bead depend on another one
    Add(DepAddArgs),
    /// Remove a dependency
    Remove(DepRemoveArgs),
    /// List what a bead depends on, and what depends on it
    List {
        /// The bead
        id: String,
    },
    /// Draw everything that a bead depends on, directly or not
    Tree(DepTreeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DepAddArgs {
    /// The bead that depends on the other one
    pub(crate) id: String,
    /// The bead that it depends on, or external:project:name
    pub(crate) on: String,
    /// The type of the dependency
    #[arg(short = 't', long = "type", value_name = "TYPE", default_value = EdgeType::Blocks.as_str())]
    pub(crate) kind: String,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DepRemoveArgs {
    /// The bead that depends on the other one
    pub(crate) id: String,
    /// The bead that it depends on
    pub(crate) on: String,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DepTreeArgs {
    /// The bead
    pub(crate) id: String,
    /// How many levels to draw
    #[arg(short, long, value_name = "N", default_value_t = 50)]
    pub(crate) depth: usize,
}

pub(crate) fn run(command: &DepCommand, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = global.open()?;
    match command {
        DepCommand::Add(args) => {
            let before = beads.resolve(&args.id)?;
            let authority = args.guard.authority();
            tell(
                &beads.add_dependency(before, &args.on, &args.kind, authority)?,
                ui,
            )
        }
        DepCommand::Remove(args) => {
            let before = beads.resolve(&args.id)?;
            let authority = args.guard.authority();
            tell(&beads.remove_dependency(before, &args.on, authority)?, ui)
        }
        DepCommand::List { id } => list(id, &beads, ui),
        DepCommand::Tree(args) => tree(args, &beads, ui),
    }
}

fn tell(change: &DependencyChange, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Answer<'c> {
        issue_id: &'c BeadId,
        depends_on_id: &'c BeadId,
        #[serde(rename = "type")]
        kind: &'c str,
        changed: bool,
        is_blocked: bool,
    }
    let (after, is_changed) = (&change.bead.after, change.bead.is_changed());
    let (id, target) = (after.issue.id(), &change.target);
    if ui.is_json() {
        return ui.data(&Answer {
            issue_id: id,
            depends_on_id: target,
            kind: &change.kind,
            changed: is_changed,
            is_blocked: after.is_blocked,
        });
    }
    let mut edges = after.issue.dependencies().iter();
    let is_there = edges.any(|edge| edge.target() == target);
    let [id, target, kind] = [id.as_str(), target.as_str(), &*change.kind].map(excerpt);
    let what = match (is_there, is_changed) {
        (true, true) => "now depends",
        (true, false) => "already depends",
        (false, _) => "no longer depends",
    };
    let note = if is_there && target.starts_with("external:") {
        "; it blocks nothing, because another project cannot be asked"
    } else {
        ""
    };
    ui.out(&format!("{id} {what} on {target} ({kind}){note}\n"))
}

fn list(id: &str, beads: &Beads, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Dependencies<'r> {
        id: &'r BeadId,
        depends_on: Vec<DependencyEnd>,
        dependents: Vec<DependencyEnd>,
        blockers: Vec<Blocker>,
    }
    let record = beads.resolve(id)?;
    let id = record.issue.id();
    let found = Dependencies {
        id,
        depends_on: beads.dependencies(&record)?,
        dependents: beads.dependents(id)?,
        blockers: beads.store.blockers(id)?,
    };
    if ui.is_json() {
        return ui.data(&found);
    }
    if found.depends_on.is_empty() && found.dependents.is_empty() {
        ui.say("it depends on nothing, and nothing depends on it\n");
    }
    for (heading, rows) in [
        ("depends on", &found.depends_on),
        ("needed by", &found.dependents),
    ] {
        if !rows.is_empty() {
            ui.out(&format!("{heading}\n{}", table(rows, Page::of(ui))))?;
        }
    }
    Ok(())
}

fn table(rows: &[DependencyEnd], page: Page) -> String {
    let mut table = Table::new(&["ID", "TYPE", "STATUS", "TITLE…"]);
    for row in rows {
        table.row(vec![
            row.id.to_string(),
            row.kind.clone(),
            row.status.clone().unwrap_or_else(|| MISSING.to_owned()),
            row.title.clone().unwrap_or_default(),
        ]);
    }
    table.draw(page)
}

/// The status of a bead that the store does not have.
const MISSING: &str = "missing";

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

/// Draws a graph with each bead once: it has more paths than beads, so what hangs below a bead is drawn where it first appears.
fn tree(args: &DepTreeArgs, beads: &Beads, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Tree {
        nodes: Vec<TreeNode>,
    }
    let root = beads.resolve(&args.id)?.issue.id().clone();
    let nodes = walk(root, args.depth, beads)?;
    if ui.is_json() {
        return ui.data(&Tree { nodes });
    }
    ui.out(&tree_text(&nodes, Page::of(ui)))
}

/// Nothing recurses: chains may be as long as the store.
fn walk(root: BeadId, max_depth: usize, beads: &Beads) -> Result<Vec<TreeNode>, StoreError> {
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

fn tree_text(nodes: &[TreeNode], page: Page) -> String {
    let mut text = String::new();
    for node in nodes {
        let status = node.status.as_deref().unwrap_or(MISSING);
        let kind = match node.kind.as_deref() {
            None => String::new(),
            Some(kind) if kind == EdgeType::Blocks => String::new(),
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
