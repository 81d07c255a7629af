//! `bd count`: how many beads there are, altogether or in groups.

use beads_ralph_core::issue::Grouping;
use serde::Serialize;
use std::collections::BTreeMap;

use super::{Call, Command, Filter, Flag, Refusal, list_of, number, string, switch};

const FLAGS: &[Flag] = &[
    string("assignee", "Only those for somebody").short('a'),
    switch("by-assignee", "In groups by assignee"),
    switch("by-label", "In groups by label"),
    switch("by-priority", "In groups by priority"),
    switch("by-status", "In groups by status"),
    switch("by-type", "In groups by type"),
    string("closed-after", "Only those closed after a moment"),
    string("closed-before", "Only those closed before a moment"),
    string("created-after", "Only those created after a moment"),
    string("created-before", "Only those created before a moment"),
    string("desc-contains", "Only those with a text in the description"),
    switch("empty-description", "Only those without a description"),
    string("id", "Only these, with commas between them"),
    switch("include-infra", "Bookkeeping and short-lived beads too"),
    list_of("label", "Only those with all of these labels").short('l'),
    list_of("label-any", "Only those with one of these labels"),
    switch("no-assignee", "Only those for nobody"),
    switch("no-labels", "Only those without labels"),
    string("notes-contains", "Only those with a text in the notes"),
    number("priority", "Only those of a priority").short('p'),
    number("priority-max", "Only those of at most this priority number"),
    number(
        "priority-min",
        "Only those of at least this priority number",
    ),
    string("status", "Only those with a status").short('s'),
    string("title", "Only those with a text in the title"),
    string("title-contains", "Only those with a text in the title"),
    string("type", "Only those of a type").short('t'),
    string("updated-after", "Only those updated after a moment"),
    string("updated-before", "Only those updated before a moment"),
];

pub(super) const COMMAND: Command = Command {
    name: "count",
    about: "Count beads",
    flags: FLAGS,
    run: Some(run),
    ..Command::NONE
};

#[derive(Serialize)]
struct Total {
    count: usize,
}

#[derive(Serialize)]
struct Groups {
    total: usize,
    groups: Vec<Group>,
}

#[derive(Serialize)]
struct Group {
    group: String,
    count: usize,
}

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let group = read_group(call)?;
    let opened = call.open()?;
    let filter = read_filter(call, opened.now)?;
    let query = filter.query();
    let total = opened.store.count(&query)?;
    let Some(group) = group else {
        let answer = Total { count: total };
        return call.output.answer(answer, || format!("{total}\n"));
    };
    let counts = opened.store.count_by(&query, group)?.into_iter();
    let counts: BTreeMap<String, usize> = counts.map(|(name, n)| (shown(group, name), n)).collect();
    if call.output.is_json() {
        let groups = counts.into_iter();
        let groups = groups.map(|(group, count)| Group { group, count });
        return call.output.value(Groups {
            total,
            groups: groups.collect(),
        });
    }
    let mut text = format!("Total: {total}\n\n");
    for (group, n) in counts {
        push!(text, "{group}: {n}\n");
    }
    call.output.text(&text)
}

fn read_group(call: &Call<'_>) -> Result<Option<Grouping>, Refusal> {
    let all = [
        ("by-status", Grouping::Status),
        ("by-priority", Grouping::Priority),
        ("by-type", Grouping::Type),
        ("by-assignee", Grouping::Assignee),
        ("by-label", Grouping::Label),
    ];
    let mut asked = all
        .into_iter()
        .filter(|(flag, _)| call.arguments.is_on(flag));
    let first = asked.next();
    if asked.next().is_some() {
        return Err(Refusal::json("only one --by-* flag can be specified"));
    }
    Ok(first.map(|(_, group)| group))
}

fn read_filter(call: &Call<'_>, now: jiff::Timestamp) -> Result<Filter, Refusal> {
    let arguments = call.arguments;
    let mut filter = Filter::default();
    filter
        .read_common(arguments, now)
        .map_err(Refusal::in_json)?;
    let status = arguments.filled("status").filter(|status| *status != "all");
    filter.statuses = status.map(str::to_owned).into_iter().collect();
    filter.issue_type = arguments.filled("type").map(str::to_owned);
    filter.priority = arguments.number("priority");
    filter.priority_min = arguments.number("priority-min");
    filter.priority_max = arguments.number("priority-max");
    if arguments.is_on("include-infra") {
        // As the list of everything has it.
        filter.hides_templates = true;
    } else {
        filter.hides_ephemeral = true;
    }
    Ok(filter)
}

/// The name of a group as the real `bd` has it.
fn shown(group: Grouping, name: String) -> String {
    match group {
        Grouping::Priority => format!("P{name}"),
        Grouping::Assignee if name.is_empty() => "(unassigned)".to_owned(),
        Grouping::Label if name.is_empty() => "(no labels)".to_owned(),
        Grouping::Status | Grouping::Type | Grouping::Assignee | Grouping::Label => name,
    }
}
