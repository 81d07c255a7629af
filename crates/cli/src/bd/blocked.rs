//! `bd blocked`: beads that wait for others.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Effect, Query, Record};
use beads_ralph_core::vocabulary::Status;

use super::{Call, Command, Filter, Opened, Refusal, issue_json, list_of, string, title_of};

pub(super) const COMMAND: Command = Command {
    name: "blocked",
    about: "Beads that wait for others",
    flags: &[
        list_of("exclude-label", "Not those with one of these labels"),
        list_of("label", "Only those with all of these labels").short('l'),
        list_of("label-any", "Only those with one of these labels"),
        string("parent", "Only what is below a bead"),
    ],
    run: Some(run),
    ..Command::NONE
};

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let opened = call.open()?;
    let filter = Filter {
        excluded_statuses: vec![Status::Closed.into(), Status::Pinned.into()],
        ..Filter::labelled(arguments)
    };
    let query = Query {
        is_blocked: Some(true),
        ..filter.query()
    };
    let is_json = call.output.is_json();
    let (mut values, mut text) = (Vec::new(), String::new());
    let mut n_blocked = 0;
    opened.each(&query, |record| {
        if !is_child(&record, arguments.filled("parent")) {
            return Ok(());
        }
        let by = blockers(&opened, &record)?;
        if by.is_empty() {
            return Ok(());
        }
        n_blocked += 1;
        if is_json {
            let issue = issue_json::issue(&record);
            values.push(
                issue
                    .with("blocked_by_count", by.len())
                    .with("blocked_by", by),
            );
        } else {
            paragraph(&mut text, &record, &by);
        }
        Ok(())
    })?;
    if is_json {
        return call.output.value(values);
    }
    if n_blocked == 0 {
        return call.output.text("\n✨ No blocked issues\n\n");
    }
    let heading = format!("\n🚫 Blocked issues ({n_blocked}):\n\n");
    call.output.text(&(heading + &text))
}

fn paragraph(text: &mut String, record: &Record, by: &[String]) {
    let issue = &record.issue;
    let (priority, id, title) = (issue.priority(), issue.id(), title_of(issue));
    let (n, by) = (by.len(), by.join(" "));
    push!(
        text,
        "[P{priority}] {id}: {title}\n  Blocked by {n} open dependencies: [{by}]\n\n"
    );
}

/// What a bead waits for: open beads that block it, or else the parent that is held back itself.
fn blockers(opened: &Opened, record: &Record) -> Result<Vec<String>, Refusal> {
    let edges = record.issue.dependencies();
    let is_waited_for = |effect| {
        matches!(
            effect,
            Effect::Blocks | Effect::WaitsForChildren | Effect::WaitsForAnyChild
        )
    };
    let waited = edges.iter().filter(|edge| is_waited_for(edge.effect()));
    let targets: Vec<BeadId> = waited.map(|edge| edge.target().clone()).collect();
    let statuses = opened.store.statuses(&targets)?;
    let is_open = |status: &Option<String>| {
        (status.as_deref())
            .is_some_and(|status| status != Status::Closed && status != Status::Pinned)
    };
    let open = (targets.iter().zip(&statuses)).filter(|(_, status)| is_open(status));
    let mut by: Vec<String> = open.map(|(target, _)| target.to_string()).collect();
    if by.is_empty() {
        let parent = edges.iter().find(|edge| edge.effect() == Effect::Parent);
        by.extend(parent.map(|edge| edge.target().to_string()));
    }
    Ok(by)
}

/// Whether a bead is a part of another, by an edge or by its name.
fn is_child(record: &Record, parent: Option<&str>) -> bool {
    let Some(parent) = parent else {
        return true;
    };
    let issue = &record.issue;
    let rest = issue.id().as_str().strip_prefix(parent);
    issue.parents().any(|above| above.as_str() == parent)
        || rest.is_some_and(|rest| rest.starts_with('.'))
}

/// Whether a bead is somewhere below another.
pub(super) fn is_below(opened: &Opened, record: &Record, parent: &str) -> Result<bool, Refusal> {
    let mut seen = vec![record.issue.id().clone()];
    let mut pending: Vec<Record> = vec![record.clone()];
    while let Some(record) = pending.pop() {
        for above in record.issue.parents() {
            if above.as_str() == parent {
                return Ok(true);
            }
            if !seen.contains(above) {
                seen.push(above.clone());
                pending.extend(opened.record(above)?);
            }
        }
    }
    let rest = record.issue.id().as_str().strip_prefix(parent);
    Ok(rest.is_some_and(|rest| rest.starts_with('.')))
}
