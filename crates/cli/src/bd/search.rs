//! `bd search`: beads by words of their titles, or by ids.

use beads_ralph_core::issue::{Query, Record};

use super::filter::MATCHING;
use super::{
    Call, Command, Filter, Flag, Opened, Refusal, any, filter, help, issue_json, number, string,
    switch, text, texts, title_of,
};

const LIMIT: i64 = 50;

const FLAGS: &[Flag] = &[
    string(
        "external-contains",
        "Only those with a text in the external reference",
    ),
    string("has-metadata-key", "Only those with a key in the metadata"),
    number("limit", "At most so many (default 50)").short('n'),
    switch("long", "Several lines for each"),
    texts(
        "metadata-field",
        "Only those with key=value in the metadata",
    ),
    string("priority-max", "Only those of at most this priority number"),
    string(
        "priority-min",
        "Only those of at least this priority number",
    ),
    string("query", "What to search, instead of words"),
    switch("reverse", "The other way round").short('r'),
    string(
        "sort",
        "priority, created, updated, closed, status, id, title, type or assignee",
    ),
    string("status", "Only those with one of these statuses").short('s'),
];

pub(super) const COMMAND: Command = Command {
    name: "search",
    about: "Search beads by words",
    positionals: &[any("query")],
    flags: FLAGS,
    shared: MATCHING,
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
        call.output.text(&help::of(&COMMAND, &["search"]))?;
        return Err(Refusal::plain("search query is required"));
    }
    let opened = call.open()?;
    let mut filter = read_filter(call, &opened)?;
    filter.named = Some(query.to_lowercase());
    let mut records = opened.store.find(&Query {
        limit: arguments.limit(LIMIT),
        ..filter.query()
    })?;
    if let Some(by) = arguments
        .filled("sort")
        .filter(|by| filter::SORTS.contains(by))
    {
        sort(&mut records, by, arguments.is_on("reverse"));
    }
    if call.output.is_json() {
        let issues = issue_json::with_counts(&opened, &records)?.into_iter();
        let short = issues.map(|issue| issue.without(&["dependencies", "parent"]));
        return call.output.value(short.collect::<Vec<_>>());
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
        filter.statuses = filter::named_statuses(opened, statuses)?;
    }
    filter
        .read_common(arguments, opened.by.now)
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

fn shown(records: &[Record], query: &str, is_long: bool) -> String {
    if records.is_empty() {
        return format!("No issues found matching '{query}'\n");
    }
    let by = format!(" matching '{query}'");
    text::found(records, &by, is_long, |issue| {
        let (id, priority, kind) = (issue.id(), issue.priority(), issue.issue_type());
        let (status, title) = (issue.status(), title_of(issue));
        let (assignee, labels) = text::marks(issue);
        format!("{id} [P{priority}] [{kind}] {status}{assignee}{labels} - {title}\n")
    })
}
