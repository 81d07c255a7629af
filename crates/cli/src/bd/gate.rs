//! `bd gate`: beads of the type `gate`, which hold others back until somebody or something opens them.
//!
//! Gates that wait for GitHub are kept and shown, but nobody here asks GitHub: whoever knows resolves them.

mod check;
mod create;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Edit, Issue, Query, Record};
use beads_ralph_core::vocabulary::{IssueType, Status};
use serde_json::Value;

use super::{
    Access, Call, Command, Filter, ID, Opened, Refusal, issue_json, number, one, optional, string,
    switch,
};

const LIMIT: i64 = 50;

pub(super) const COMMAND: Command = Command {
    name: "gate",
    about: "Conditions that beads wait for",
    children: &[
        &Command {
            name: "add-waiter",
            about: "Note who waits for a gate",
            positionals: &[one("gate-id"), one("waiter")],
            access: Access::Writes,
            run: Some(add_waiter),
            ..Command::NONE
        },
        &check::COMMAND,
        &create::COMMAND,
        &Command {
            name: "list",
            about: "The gates, or those that a bead waits for",
            positionals: &[optional("issue-id")],
            flags: &[
                switch("all", "Closed ones too").short('a'),
                number("limit", "At most so many (default 50)").short('n'),
            ],
            run: Some(list),
            ..Command::NONE
        },
        &Command {
            name: "resolve",
            about: "Close a gate",
            positionals: ID,
            flags: &[string("reason", "Why").short('r')],
            access: Access::Writes,
            run: Some(resolve),
            ..Command::NONE
        },
        &Command {
            name: "show",
            about: "Show a gate",
            positionals: ID,
            run: Some(show),
            ..Command::NONE
        },
    ],
    not_served: &["discover"],
    ..Command::NONE
};

/// A gate by its whole id.
fn gate(opened: &Opened, text: &str) -> Result<Record, Refusal> {
    let Some(record) = opened.exact(text)? else {
        return Err(Refusal::json(format!("gate not found: {text}")));
    };
    let kind = record.issue.issue_type();
    if kind != IssueType::Gate {
        return Err(Refusal::json(format!(
            "{text} is not a gate issue (type={kind})"
        )));
    }
    Ok(record)
}

fn list(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let is_all = call.arguments.is_on("all");
    let limit = call.arguments.limit(LIMIT);
    let mut gates = if let Some(text) = call.arguments.words.first() {
        gates_of(&opened, text)?
    } else {
        let filter = Filter {
            issue_type: Some(IssueType::Gate.into()),
            excluded_statuses: vec![Status::Closed.into(); usize::from(!is_all)],
            ..Filter::default()
        };
        let query = Query {
            limit,
            ..filter.query()
        };
        opened.store.find(&query)?
    };
    gates.retain(|gate| is_all || gate.issue.status() != Status::Closed);
    gates.truncate(limit.unwrap_or(usize::MAX));
    if call.output.is_json() {
        // An empty list is null in this answer.
        let gates = Some(issue_json::issues(&gates)).filter(|gates| !gates.is_empty());
        return call.output.value(gates);
    }
    call.output.text(&page(&gates))
}

/// The gates that a bead waits for.
fn gates_of(opened: &Opened, text: &str) -> Result<Vec<Record>, Refusal> {
    let Some(record) = opened.exact(text)? else {
        return Err(Refusal::json(format!("issue not found: {text}")));
    };
    let edges = record.issue.dependencies().iter();
    let targets: Vec<BeadId> = edges.map(|edge| edge.target().clone()).collect();
    let mut targets = opened.store.get(&targets)?;
    targets.retain(|record| record.issue.issue_type() == IssueType::Gate);
    Ok(targets)
}

fn page(gates: &[Record]) -> String {
    if gates.is_empty() {
        return "No gates found.\n".to_owned();
    }
    let (closed, open): (Vec<&Record>, Vec<&Record>) =
        (gates.iter()).partition(|gate| gate.issue.status() == Status::Closed);
    let mut page = String::new();
    for (heading, gates) in [("⏳ Open", open), ("● Closed", closed)] {
        if gates.is_empty() {
            continue;
        }
        push!(page, "\n{heading} Gates ({}):\n\n", gates.len());
        for gate in gates {
            line(&mut page, &gate.issue);
        }
    }
    page.push_str("To resolve a gate: bd close <gate-id>\n");
    page
}

fn line(page: &mut String, gate: &Issue) {
    let (mark, id) = (mark(gate), gate.id());
    let kind = gate.text("await_type").unwrap_or_default();
    let awaited = gate.text("await_id").unwrap_or_default();
    let space = if awaited.is_empty() { "" } else { " " };
    let timeout = timeout(gate).map_or(String::new(), |text| format!(" (timeout: {text})"));
    push!(page, "{mark} {id} - {kind}{space}{awaited}{timeout}\n");
    if let Some((parent, step)) = id.as_str().split_once(".gate-") {
        push!(page, "  Blocks: {parent}.{step}\n");
    }
    page.push('\n');
}

fn mark(gate: &Issue) -> &'static str {
    if gate.status() == Status::Closed {
        "●"
    } else {
        "○"
    }
}

/// How long a gate holds at the most, in nanoseconds.
fn nanoseconds(gate: &Issue) -> u64 {
    let timeout = gate.document().get("timeout").and_then(Value::as_u64);
    timeout.unwrap_or_default()
}

fn timeout(gate: &Issue) -> Option<String> {
    match nanoseconds(gate) {
        0 => None,
        nanoseconds => Some(go_text(nanoseconds)),
    }
}

/// A time span as Go writes it: `2h0m0s`, `90s` as `1m30s`, `1.5s`.
fn go_text(nanoseconds: u64) -> String {
    const SECOND: u64 = 1_000_000_000;
    let (seconds, rest) = (nanoseconds / SECOND, nanoseconds % SECOND);
    if seconds == 0 {
        let (unit, size) = match rest {
            0 => return "0s".to_owned(),
            1..1_000 => ("ns", 1),
            1_000..1_000_000 => ("µs", 1_000),
            _ => ("ms", 1_000_000),
        };
        return format!("{}{unit}", decimal(rest / size, rest % size, size));
    }
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let seconds_text = format!("{}s", decimal(seconds % 60, rest, SECOND));
    match (hours, minutes) {
        (0, 0) => seconds_text,
        (0, minutes) => format!("{minutes}m{seconds_text}"),
        (hours, minutes) => format!("{hours}h{minutes}m{seconds_text}"),
    }
}

fn decimal(whole: u64, rest: u64, size: u64) -> String {
    if rest == 0 {
        return whole.to_string();
    }
    let digits = size.ilog10() as usize;
    let fraction = format!("{rest:0digits$}");
    format!("{whole}.{}", fraction.trim_end_matches('0'))
}

fn show(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let record = gate(&opened, &call.arguments.words[0])?;
    if call.output.is_json() {
        return call.output.value(issue_json::issue(&record));
    }
    let gate = &record.issue;
    let text = |key: &str| gate.text(key).unwrap_or_default();
    let mut page = format!(
        "{} {} - {}\n  Status: {}\n  Await Type: {}\n",
        mark(gate),
        gate.id(),
        gate.title(),
        gate.status(),
        text("await_type")
    );
    for (name, shown) in [
        ("Await ID", text("await_id").to_owned()),
        ("Timeout", timeout(gate).unwrap_or_default()),
    ] {
        if !shown.is_empty() {
            push!(page, "  {name}: {shown}\n");
        }
    }
    let waiters = waiters(gate);
    if !waiters.is_empty() {
        page.push_str("  Waiters:\n");
        for waiter in waiters {
            push!(page, "    - {waiter}\n");
        }
    }
    if !text("description").is_empty() {
        push!(page, "  Description: {}\n", text("description"));
    }
    call.output.text(&page)
}

fn waiters(gate: &Issue) -> Vec<String> {
    let waiters = gate.document().get("waiters").and_then(Value::as_array);
    let waiters = waiters.into_iter().flatten().filter_map(Value::as_str);
    waiters.map(str::to_owned).collect()
}

fn resolve(call: &mut Call<'_>) -> Result<(), Refusal> {
    let mut opened = call.open()?;
    let record = gate(&opened, &call.arguments.words[0]).map_err(Refusal::plainly)?;
    let reason = call.arguments.filled("reason").unwrap_or_default();
    if record.issue.status() != Status::Closed {
        opened
            .update(&record, vec![Edit::Close(reason.to_owned())])
            .map_err(|why| Refusal::plain(format!("closing gate: {why}")))?;
    }
    let mut page = format!("✓ Gate resolved: {}\n", record.issue.id());
    if !reason.is_empty() {
        push!(page, "  Reason: {reason}\n");
    }
    call.output.text(&page)
}

fn add_waiter(call: &mut Call<'_>) -> Result<(), Refusal> {
    let mut opened = call.open()?;
    let [id, waiter] = &call.arguments.words[..] else {
        unreachable!("the number of words was checked");
    };
    let record = gate(&opened, id).map_err(Refusal::plainly)?;
    let mut waiters = waiters(&record.issue);
    if waiters.contains(waiter) {
        return call
            .output
            .text(&format!("Waiter already registered on gate {id}\n"));
    }
    waiters.push(waiter.clone());
    let edits = vec![Edit::Set("waiters".to_owned(), waiters.into())];
    opened
        .update(&record, edits)
        .map_err(|why| Refusal::plain(format!("updating gate: {why}")))?;
    call.output
        .text(&format!("✓ Added waiter to gate {id}: {waiter}\n"))
}

#[cfg(test)]
mod tests {
    use super::go_text;

    #[test]
    fn time_spans_are_written_as_go_writes_them() {
        for (nanoseconds, text) in [
            (0, "0s"),
            (15, "15ns"),
            (1_500, "1.5µs"),
            (250_000_000, "250ms"),
            (1_500_000_000, "1.5s"),
            (90_000_000_000, "1m30s"),
            (7_200_000_000_000, "2h0m0s"),
            (93_784_000_000_000, "26h3m4s"),
        ] {
            assert_eq!(go_text(nanoseconds), text);
        }
    }
}
