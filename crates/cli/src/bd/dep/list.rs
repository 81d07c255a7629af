//! `bd dep list` and `bd dep cycles`: the edges of beads.

use beads_ralph_core::issue::{Dependency, Record};

use crate::bd::{Call, Command, IDS, Opened, Refusal, ids, issue_json, string, title_of};

pub(super) const CYCLES: Command = Command {
    name: "cycles",
    about: "Beads that wait for each other",
    run: Some(cycles),
    ..Command::NONE
};

pub(super) const COMMAND: Command = Command {
    name: "list",
    about: "What beads depend on, or what depends on them",
    positionals: IDS,
    flags: &[
        string("direction", "down (default): dependencies; up: dependents"),
        string("type", "Only edges of a type").short('t'),
    ],
    run: Some(run),
    ..Command::NONE
};

/// A bead on the other end of an edge.
type Related = (Record, String);

/// The store refuses every change that would close a circle, so that there is never one to find.
fn cycles(call: &mut Call<'_>) -> Result<(), Refusal> {
    drop(call.open()?);
    call.output.answer([(); 0], || {
        "\n✓ No dependency cycles detected\n\n".to_owned()
    })
}

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let opened = call.open()?;
    let is_up = arguments.filled("direction") == Some("up");
    let is_down = arguments
        .filled("direction")
        .is_none_or(|way| way == "down");
    let kind = arguments.filled("type");
    let is_batch = arguments.words.len() > 1;
    let mut records: Vec<Record> = Vec::new();
    for word in &arguments.words {
        match ids::resolve(&opened, word) {
            Ok(record) => records.push(record),
            Err(why) if is_batch => {
                call.output
                    .stderr(&format!("warning: resolving {word}: {why} (skipped)\n"));
            }
            Err(why) => {
                return Err(Refusal::json(format!("resolving {word}: {why}")));
            }
        }
    }
    if is_batch && records.is_empty() {
        if call.output.is_json() {
            return call.output.value([(); 0]);
        }
        call.output.stderr("no resolvable issues in batch\n");
        return Ok(());
    }
    if is_batch && is_down {
        return edges(call, records, kind);
    }
    let mut all = Vec::new();
    for record in &records {
        all.extend(related(&opened, record, is_up, kind)?);
    }
    if let ([record], true) = (records.as_slice(), is_down) {
        warn_of_unknown(call, record, kind, &all);
    }
    show(call, &records, &all, is_up)
}

/// The beads at the other ends of a bead's edges, in order of their ids.
fn related(
    opened: &Opened,
    record: &Record,
    is_up: bool,
    kind: Option<&str>,
) -> Result<Vec<Related>, Refusal> {
    let issue = &record.issue;
    let ends = if is_up {
        opened.store.dependents(issue.id())?
    } else {
        let edges = issue.dependencies().iter();
        edges
            .map(|edge| (edge.target().clone(), edge.kind().to_owned()))
            .collect()
    };
    let mut found = Vec::new();
    for (id, own) in ends {
        if kind.is_none_or(|kind| kind == own)
            && let Some(record) = opened.record(&id)?
        {
            found.push((record, own));
        }
    }
    found.sort_by(|a, b| a.0.issue.id().cmp(b.0.issue.id()));
    Ok(found)
}

fn warn_of_unknown(call: &Call<'_>, record: &Record, kind: Option<&str>, shown: &[Related]) {
    let is_shown = |edge: &Dependency| {
        shown
            .iter()
            .any(|(other, _)| other.issue.id() == edge.target())
    };
    let edges = record.issue.dependencies().iter();
    let dropped: Vec<&Dependency> = edges
        .filter(|edge| kind.is_none_or(|kind| kind == edge.kind()) && !is_shown(edge))
        .collect();
    if dropped.is_empty() {
        return;
    }
    let (id, n) = (record.issue.id(), dropped.len());
    let mut text = format!(
        "warning: {id} has {n} additional dependency edge(s) whose target has no row in this database (cross-repo/external) and are not shown above:\n"
    );
    for edge in dropped {
        push!(text, "  {} via {}\n", edge.target(), edge.kind());
    }
    push!(text, "For raw edge records, run: bd dep list {id} {id}\n");
    call.output.stderr(&text);
}

fn show(
    call: &Call<'_>,
    records: &[Record],
    related: &[Related],
    is_up: bool,
) -> Result<(), Refusal> {
    if call.output.is_json() {
        let ends = related.iter();
        let ends = ends.map(|(record, kind)| issue_json::related(record, kind));
        return call.output.value(ends.collect::<Vec<_>>());
    }
    if related.is_empty() {
        return call.output.text(&match records {
            [one] if is_up => format!("\nNo issues depend on {}\n", one.issue.id()),
            [one] => format!("\n{} has no dependencies\n", one.issue.id()),
            _ => "\nNo dependencies found\n".to_owned(),
        });
    }
    let mut text = String::new();
    for (record, kind) in related {
        let issue = &record.issue;
        let (id, title, priority) = (issue.id(), title_of(issue), issue.priority());
        let status = issue.status();
        push!(
            text,
            "  {id}: {title} [P{priority}] ({status}) via {kind}\n"
        );
    }
    text.push('\n');
    call.output.text(&text)
}

/// The edges of several beads as they are.
fn edges(call: &Call<'_>, records: Vec<Record>, kind: Option<&str>) -> Result<(), Refusal> {
    let mut distinct: Vec<Record> = Vec::new();
    for record in records {
        if !distinct
            .iter()
            .any(|own| own.issue.id() == record.issue.id())
        {
            distinct.push(record);
        }
    }
    let of = |record: &Record| -> Vec<Dependency> {
        let edges = record.issue.dependencies().iter();
        let wanted = edges.filter(|edge| kind.is_none_or(|kind| kind == edge.kind()));
        let mut edges: Vec<Dependency> = wanted.cloned().collect();
        edges.sort_by(|a, b| a.target().cmp(b.target()));
        edges
    };
    if call.output.is_json() {
        let mut all = Vec::new();
        for record in &distinct {
            let edges = of(record).into_iter();
            all.extend(edges.map(|edge| issue_json::edge(&record.issue, &edge)));
        }
        return call.output.value(all);
    }
    let mut text = String::new();
    for record in &distinct {
        let (id, edges) = (record.issue.id(), of(record));
        if edges.is_empty() {
            push!(text, "\n{id} has no dependencies\n");
            continue;
        }
        push!(text, "\n📋 Dependencies of {id}:\n\n");
        for edge in edges {
            push!(text, "  {} via {}\n", edge.target(), edge.kind());
        }
    }
    text.push('\n');
    call.output.text(&text)
}
