//! `bd search`: beads by words of their titles, or by ids.

use beads_ralph_core::issue::{Query, Record};
use serde_json::Value;

use super::call::{Call, Opened};
use super::failure::Refusal;
use super::filter::{self, Filter};
use super::issue_json::{self, sorted_labels};
use super::text::{line, push, title_of};
use super::tree::{Arity, Command, Flag, Positional, list_of, number, switch, text, texts};
use super::{status_filter, usage};

/// How many beads are shown when nobody says.
const LIMIT: i64 = 50;

const FLAGS: &[Flag] = &[
    text("assignee", "Only those for somebody").short('a'),
    text("closed-after", "Only those closed after a moment"),
    text("closed-before", "Only those closed before a moment"),
    text("created-after", "Only those created after a moment"),
    text("created-before", "Only those created before a moment"),
    text("desc-contains", "Only those with a text in the description"),
    switch("empty-description", "Only those without a description"),
    text(
        "external-contains",
        "Only those with a text in the external reference",
    ),
    text("has-metadata-key", "Only those with a key in the metadata"),
    list_of("label", "Only those with all of these labels").short('l'),
    list_of("label-any", "Only those with one of these labels"),
    number("limit", "At most so many (default 50)").short('n'),
    switch("long", "Several lines for each"),
    texts(
        "metadata-field",
        "Only those with key=value in the metadata",
    ),
    switch("no-assignee", "Only those for nobody"),
    switch("no-labels", "Only those without labels"),
    text("notes-contains", "Only those with a text in the notes"),
    text("priority-max", "Only those of at most this priority number"),
    text(
        "priority-min",
        "Only those of at least this priority number",
    ),
    text("query", "What to search, instead of words"),
    switch("reverse", "The other way round").short('r'),
    text(
        "sort",
        "priority, created, updated, closed, status, id, title, type or assignee",
    ),
    text("status", "Only those with one of these statuses").short('s'),
    text("type", "Only those of a type").short('t'),
    text("updated-after", "Only those updated after a moment"),
    text("updated-before", "Only those updated before a moment"),
];

/// The command.
pub(super) const COMMAND: Command = Command {
    name: "search",
    about: "Search beads by words",
    positionals: &[Positional {
        name: "query",
        is_required: false,
        is_many: true,
    }],
    arity: Arity::Any,
    flags: FLAGS,
    run: Some(run),
    ..Command::NONE
};

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let words = arguments.words.join(" ");
    let query = if arguments.words.is_empty() {
        arguments.text("query").unwrap_or_default().to_owned()
    } else {
        words
    };
    if query.is_empty() {
        call.output.text(&usage::of(&COMMAND, &["search"]))?;
        return Err(Refusal::plain("search query is required"));
    }
    let opened = call.open()?;
    let mut filter = read_filter(call, &opened)?;
    filter.named = Some(query.to_lowercase());
    let limit = arguments.number("limit").unwrap_or(LIMIT);
    let mut records = opened.store.find(&Query {
        limit: usize::try_from(limit).ok().filter(|limit| *limit > 0),
        ..filter.query()
    })?;
    if let Some(by) = arguments
        .filled("sort")
        .filter(|by| filter::SORTS.contains(by))
    {
        sort(&mut records, by, arguments.is_on("reverse"));
    }
    if call.output.is_json() {
        return call.output.value(found(&opened, &records)?);
    }
    call.output
        .text(&shown(&records, &query, arguments.is_on("long")))
}

/// Sorts, and leaves those alone that are equal.
fn sort(records: &mut [Record], by: &str, is_reversed: bool) {
    records.sort_by(|a, b| {
        let (a, b) = (&a.issue, &b.issue);
        let newest = |key: &str| b.time(key).cmp(&a.time(key));
        let ordering = match by {
            "priority" => a.priority().cmp(&b.priority()),
            "created" => newest("created_at"),
            "updated" => newest("updated_at"),
            "closed" => newest("closed_at"),
            "status" => a.status().cmp(b.status()),
            "id" => filter::natural(a.id().as_str(), b.id().as_str()),
            "title" => a.title().to_lowercase().cmp(&b.title().to_lowercase()),
            "type" => a.issue_type().cmp(b.issue_type()),
            _ => a.assignee().cmp(&b.assignee()),
        };
        if is_reversed {
            ordering.reverse()
        } else {
            ordering
        }
    });
}

fn read_filter(call: &Call<'_>, opened: &Opened) -> Result<Filter, Refusal> {
    let arguments = call.arguments;
    let mut filter = Filter::default();
    if let Some(statuses) = arguments.filled("status").filter(|status| *status != "all") {
        filter.statuses = status_filter::named(opened, statuses)?;
    }
    filter
        .read_common(arguments, opened.now)
        .map_err(Refusal::plainly)?;
    filter.issue_type = arguments.filled("type").map(str::to_owned);
    if let Some(part) = arguments.filled("external-contains") {
        filter.contains.push(("external_ref", part.to_lowercase()));
    }
    filter
        .read_priorities(arguments)
        .map_err(Refusal::plainly)?;
    filter.read_metadata(arguments).map_err(Refusal::plainly)?;
    Ok(filter)
}

fn found(opened: &Opened, records: &[Record]) -> Result<Value, Refusal> {
    let ids: Vec<_> = records
        .iter()
        .map(|record| record.issue.id().clone())
        .collect();
    let counts = opened.store.count_blocked_by(&ids)?;
    let value = |(record, n): (&Record, usize)| {
        let mut object = issue_json::with_counts(record, n);
        for key in ["dependencies", "parent", "is_blocked"] {
            object.shift_remove(key);
        }
        Value::Object(object)
    };
    Ok(records.iter().zip(counts).map(value).collect())
}

fn shown(records: &[Record], query: &str, is_long: bool) -> String {
    if records.is_empty() {
        return format!("No issues found matching '{query}'\n");
    }
    let n = records.len();
    let mut text = if is_long {
        format!("\nFound {n} issues matching '{query}':\n\n")
    } else {
        format!("Found {n} issues matching '{query}':\n")
    };
    for record in records {
        let issue = &record.issue;
        let (id, priority, kind) = (issue.id(), issue.priority(), issue.issue_type());
        let (status, title) = (issue.status(), title_of(issue));
        let labels = sorted_labels(issue);
        let assignee = issue.assignee().filter(|name| !name.is_empty());
        if is_long {
            push(
                &mut text,
                format_args!("{id} [P{priority}] [{kind}] {status}\n  {title}\n"),
            );
            if let Some(assignee) = assignee {
                push(&mut text, format_args!("  Assignee: {assignee}\n"));
            }
            if !labels.is_empty() {
                push(
                    &mut text,
                    format_args!("  Labels: [{}]\n", labels.join(" ")),
                );
            }
            text.push('\n');
        } else {
            let assignee = assignee.map_or(String::new(), |name| format!(" @{}", line(name)));
            let labels = match labels.as_slice() {
                [] => String::new(),
                labels => format!(" [{}]", labels.join(" ")),
            };
            push(
                &mut text,
                format_args!("{id} [P{priority}] [{kind}] {status}{assignee}{labels} - {title}\n"),
            );
        }
    }
    text
}
