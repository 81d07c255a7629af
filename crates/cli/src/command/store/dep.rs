//! `dep`: adds, removes and lists dependencies, and draws what a bead depends on.
//!
//! Data: `{issue_id, depends_on_id, type, changed, is_blocked}` after a change; `{id, depends_on: [{id, type, status, title}],
//! dependents: […], blockers: […]}` for the list; `{nodes: […]}` for the tree.

mod tree;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::{Dependency, Edit, Issue, Record};
use beads_ralph_core::text::{excerpt, is_unprintable};
use beads_ralph_core::vocabulary::EdgeType;
use beads_ralph_runtime::store::Write;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use self::tree::DepTreeArgs;
use crate::args::{Global, GuardArgs};
use crate::beads::Beads;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::blockers_to_json;
use crate::ui::table::{Page, Table};

#[derive(Debug, Subcommand)]
pub(crate) enum DepCommand {
    /// Let a bead depend on another one
    Add(DepAddArgs),
    /// Remove the dependency of a bead on another one
    Remove(DepRemoveArgs),
    /// Print what a bead depends on, and what depends on it
    List {
        /// The bead
        id: String,
    },
    /// Draw everything that a bead depends on
    Tree(DepTreeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DepAddArgs {
    /// The bead that waits
    pub(crate) id: String,
    /// What it waits for: a bead, or external:project:name
    pub(crate) on: String,
    /// What the one has to do with the other
    #[arg(short = 't', long = "type", value_name = "TYPE", default_value = EdgeType::Blocks.as_str())]
    pub(crate) kind: String,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DepRemoveArgs {
    /// The bead that waits
    pub(crate) id: String,
    /// What it waits for
    pub(crate) on: String,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

pub(crate) fn run(command: &DepCommand, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = Beads::open(global)?;
    match command {
        DepCommand::Add(args) => add(args, &mut beads, ui),
        DepCommand::Remove(args) => remove(args, &mut beads, ui),
        DepCommand::List { id } => list(id, &beads, ui),
        DepCommand::Tree(args) => tree::run(args, &beads, ui),
    }
}

fn add(args: &DepAddArgs, beads: &mut Beads, ui: &Ui) -> Result<(), Failure> {
    let before = beads.resolve(&args.id)?;
    let target = if args.on.starts_with("external:") {
        external(&args.on)?
    } else {
        beads.resolve(&args.on)?.issue.id().clone()
    };
    let stamp = beads.by.stamp();
    let edge = Dependency::new(target.clone(), &args.kind)
        .map_err(|error| Failure::new(ErrorCode::ValidationInvalidPattern, error.to_string()))?
        .with("created_at", stamp.time().as_str().into())
        .with("created_by", stamp.actor.into());
    let write = write(&before, Edit::AddDependency(edge), &args.guard, beads);
    change(&before, write, &target, (beads, ui), &args.kind)
}

/// A dependency on another project cannot be looked up; that it can be shown is all that is asked of it.
fn external(text: &str) -> Result<BeadId, Failure> {
    let is_shown = !text.chars().any(|c| is_unprintable(c) || c.is_whitespace());
    match BeadId::parse(text) {
        Ok(id) if is_shown && text.len() > "external:".len() => Ok(id),
        _ => Err(Failure::new(
            ErrorCode::ValidationInvalidPattern,
            format!("'{}' names no other project", excerpt(text)),
        )
        .action("write it as external:project:name, without spaces")),
    }
}

fn remove(args: &DepRemoveArgs, beads: &mut Beads, ui: &Ui) -> Result<(), Failure> {
    let before = beads.resolve(&args.id)?;
    let edges = before.issue.dependencies();
    // What is depended on need not exist, so the edge itself is looked for first.
    let target = match edges.iter().find(|edge| edge.target().as_str() == args.on) {
        Some(edge) => edge.target().clone(),
        None => beads.resolve(&args.on)?.issue.id().clone(),
    };
    let Some(edge) = edges.iter().find(|edge| *edge.target() == target) else {
        let [id, on] = [before.issue.id(), &target].map(|id| excerpt(id.as_str()));
        let message = format!("bead {id} does not depend on {on}");
        return Err(Failure::new(ErrorCode::DependencyUnresolved, message)
            .action(format!("see `beads-ralph dep list {id}`")));
    };
    let kind = edge.kind().to_owned();
    let edit = Edit::RemoveDependency(target.clone());
    let write = write(&before, edit, &args.guard, beads);
    change(&before, write, &target, (beads, ui), &kind)
}

fn write(before: &Record, edit: Edit, args: &GuardArgs, beads: &Beads) -> Write {
    Write::Update {
        id: before.issue.id().clone(),
        edits: vec![edit],
        guard: beads.by.guard(before, args),
    }
}

fn change(
    before: &Record,
    write: Write,
    target: &BeadId,
    (beads, ui): (&mut Beads, &Ui),
    kind: &str,
) -> Result<(), Failure> {
    let id = before.issue.id();
    let after = beads.change(write, id)?;
    let is_changed = after.version != before.version;
    if ui.is_json() {
        return ui.data(&json!({
            "issue_id": id.as_str(), "depends_on_id": target.as_str(), "type": kind,
            "changed": is_changed, "is_blocked": after.is_blocked,
        }));
    }
    let mut edges = after.issue.dependencies().iter();
    let is_there = edges.any(|edge| edge.target() == target);
    let [id, target, kind] = [id.as_str(), target.as_str(), kind].map(excerpt);
    let what = match (is_there, is_changed) {
        (true, true) => "now depends",
        (true, false) => "depends already",
        (false, _) => "no longer depends",
    };
    let note = if is_there && target.starts_with("external:") {
        "; another project cannot be asked, so nothing is held back"
    } else {
        ""
    };
    ui.out(&format!("{id} {what} on {target} ({kind}){note}\n"))
}

fn list(id: &str, beads: &Beads, ui: &Ui) -> Result<(), Failure> {
    let record = beads.resolve(id)?;
    let id = record.issue.id();
    let edges = record.issue.dependencies().iter();
    let edges: Vec<(BeadId, String)> = edges
        .map(|edge| (edge.target().clone(), edge.kind().to_owned()))
        .collect();
    let on = described(&edges, beads)?;
    let dependents = described(&beads.store.dependents(id)?, beads)?;
    if ui.is_json() {
        let blockers = blockers_to_json(&beads.store.blockers(id)?);
        return ui.data(&json!({
            "id": id.as_str(), "depends_on": on, "dependents": dependents, "blockers": blockers,
        }));
    }
    if on.is_empty() && dependents.is_empty() {
        ui.say("it depends on nothing, and nothing depends on it\n");
    }
    for (heading, rows) in [("depends on", &on), ("needed by", &dependents)] {
        if !rows.is_empty() {
            ui.out(&format!("{heading}\n{}", table(rows, Page::of(ui))))?;
        }
    }
    Ok(())
}

/// Beads at the other ends of edges. One that is not here has neither status nor title.
fn described(edges: &[(BeadId, String)], beads: &Beads) -> Result<Vec<Value>, Failure> {
    let mut described = Vec::new();
    for (id, kind) in edges {
        let other = beads.store.get(std::slice::from_ref(id))?.pop();
        let issue = other.as_ref().map(|other| &other.issue);
        described.push(json!({
            "id": id.as_str(),
            "type": kind,
            "status": issue.map(Issue::status),
            "title": issue.map(Issue::title),
        }));
    }
    Ok(described)
}

fn table(rows: &[Value], page: Page) -> String {
    let mut table = Table::new(&["ID", "TYPE", "STATUS", "TITLE…"]);
    for row in rows {
        let cell = |key: &str, absent: &str| row[key].as_str().unwrap_or(absent).to_owned();
        table.row(vec![
            cell("id", ""),
            cell("type", ""),
            cell("status", "not here"),
            cell("title", ""),
        ]);
    }
    table.draw(page)
}
