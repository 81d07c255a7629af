//! `bd query`: beads by an expression such as `status=open AND (priority<2 OR label=urgent)`.

mod condition;
mod narrow;
mod parse;
mod words;

use std::ops::ControlFlow;

use beads_ralph_core::issue::{Query, Record};

use super::{
    Arity, Call, Command, Flag, Opened, Refusal, filter, help, icon, issue_json, many, number,
    string, switch, text, title_of,
};

use condition::Condition;

const LIMIT: i64 = 50;

const FLAGS: &[Flag] = &[
    switch("all", "Closed ones too").short('a'),
    number("limit", "At most so many (default 50, 0 for all)").short('n'),
    switch("long", "Several lines for each"),
    switch("parse-only", "Only show how the expression is read"),
    switch("reverse", "The other way round").short('r'),
    string(
        "sort",
        "priority, created, updated, closed, status, id, title, type or assignee",
    ),
];

pub(super) const COMMAND: Command = Command {
    name: "query",
    about: "Find beads by an expression",
    positionals: &[many("expression")],
    arity: Arity::Any,
    flags: FLAGS,
    not_served: &["offset"],
    run: Some(run),
    ..Command::NONE
};

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    if arguments.words.is_empty() {
        call.output
            .stderr("Error: query expression is required\n\n");
        call.output.text(&help::of(&COMMAND, &["query"]))?;
        return Err(Refusal::silent(1));
    }
    let expression = arguments.words.join(" ");
    let opened = call.open()?;
    let wrong = |why: String| Refusal::json(format!("invalid query expression: {why}"));
    if arguments.is_on("parse-only") {
        let node = parse::parse(&expression).map_err(wrong)?;
        return call.output.text(&format!("Parsed query: {node}\n"));
    }
    let limit = arguments.number("limit").unwrap_or(LIMIT);
    let Ok(limit) = usize::try_from(limit) else {
        return Err(Refusal::json(format!(
            "invalid limit {limit}: a query limit must be zero or greater; 0 means unlimited"
        )));
    };
    if expression.trim().is_empty() {
        return Err(wrong("an expression is required".to_owned()));
    }
    let node = parse::parse(&expression).map_err(wrong)?;
    let condition = Condition::new(&node, opened.by.now).map_err(wrong)?;
    let hides_closed = !arguments.is_on("all") && !node.mentions("status");
    let query = narrow::query(&node, hides_closed);
    let limit = Some(limit).filter(|limit| *limit > 0);
    let by = arguments.filled("sort").unwrap_or_default();
    let is_reversed = arguments.is_on("reverse");
    let is_in_order = matches!(by, "" | "priority") && !is_reversed;
    let enough = limit.filter(|_| is_in_order);
    let mut records = find(&opened, &query, &condition, enough)?;
    if !is_in_order {
        filter::sort(&mut records, by, is_reversed);
    }
    records.truncate(limit.unwrap_or(usize::MAX));
    if call.output.is_json() {
        return call
            .output
            .value(issue_json::with_counts(&opened, &records)?);
    }
    let page = shown(&records, &expression, arguments.is_on("long"));
    call.output.text(&page)
}

fn find(
    opened: &Opened,
    query: &Query,
    condition: &Condition,
    enough: Option<usize>,
) -> Result<Vec<Record>, Refusal> {
    let mut records = Vec::new();
    opened.store.visit(query, &mut |record| {
        if condition.holds(&record.issue) {
            records.push(record);
        }
        if enough.is_some_and(|enough| records.len() == enough) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(records)
}

fn shown(records: &[Record], expression: &str, is_long: bool) -> String {
    if records.is_empty() {
        return format!("No issues found matching query: {expression}\n");
    }
    text::found(records, "", is_long, |issue| {
        let (icon, id, priority) = (icon(issue.status()), issue.id(), issue.priority());
        let (kind, title) = (issue.issue_type(), title_of(issue));
        let (assignee, labels) = text::marks(issue);
        format!("{icon} {id} [P{priority}] [{kind}]{assignee}{labels} - {title}\n")
    })
}
