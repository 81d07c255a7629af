//! `bd ready`: beads that can be started, and `--claim`, which takes the first of them.

use std::collections::HashSet;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Order, Query, Record, StatusFilter};
use beads_ralph_core::vocabulary::{EdgeType, IssueType, Status};
use beads_ralph_runtime::app::beads::claimable;
use jiff::{SignedDuration, Timestamp};

use super::{
    Access, Arguments, Call, Command, Filter, Opened, Refusal, claims, defer, feedback, input,
    issue_json, line, list, list_of, number, string, switch, text, texts, title_of,
};

pub(super) const COMMAND: Command = Command {
    name: "ready",
    about: "Show what can be started",
    flags: &[
        string("assignee", "For whom").short('a'),
        switch("brief", "Leave the long texts out; needs --json"),
        switch("claim", "Take the first of them"),
        list_of("exclude-label", "Without any of these labels"),
        list_of("exclude-type", "Of none of these types"),
        string("has-metadata-key", "With this key in the metadata"),
        switch("include-deferred", "What is put off too"),
        switch("include-ephemeral", "What does not last too"),
        list_of("label", "With all of these labels").short('l'),
        list_of("label-any", "With one of these labels"),
        number("limit", "How many at the most; 0 means all").short('n'),
        texts(
            "metadata-field",
            "With this value in the metadata: key=value",
        ),
        string("parent", "Below this one"),
        switch("plain", "A numbered list"),
        number("priority", "With this priority").short('p'),
        string("sort", "priority, hybrid or oldest").short('s'),
        string("type", "Of this type").short('t'),
        switch("unassigned", "For nobody").short('u'),
    ],
    not_served: &[
        "explain",
        "gated",
        "label-pattern",
        "label-regex",
        "max-rows",
        "mol",
        "mol-type",
        "offset",
        "pretty",
    ],
    access: Access::WritesWith("claim"),
    run: Some(run),
    ..Command::NONE
};

const DEFAULT_LIMIT: i64 = 100;

/// How many are looked at first to claim one of them.
const FIRST: usize = 50;

/// How long something counts as new in the order `hybrid`.
const RECENT: SignedDuration = SignedDuration::from_hours(48);

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    check(arguments, call.output.is_json())?;
    let mut opened = call.open()?;
    let filter = read(arguments)?;
    let sort = sort(arguments)?;
    defer::wake(call, &mut opened)?;
    if arguments.is_on("claim") {
        return claim(call, &mut opened, &filter, sort);
    }
    let limit = call.arguments.limit(DEFAULT_LIMIT);
    let (records, total) = find_some(&opened, &filter, arguments, sort, limit)?;
    let is_cut = records.len() < total;
    if call.output.is_json() {
        let items = list::with_counts(&opened, &records, arguments.is_on("brief"))?;
        if !is_cut {
            return call.output.value(items);
        }
        call.output.page(&items, total)?;
        call.output.stderr(&format!(
            "Showing {} of {total} ready issues. Use --limit 0 for all, or --limit N to raise the cap.\n",
            records.len()
        ));
        return Ok(());
    }
    if records.is_empty() {
        return call.output.text(&nothing(&opened)?);
    }
    let mut page = if arguments.is_on("plain") {
        plain(&records)
    } else {
        pretty(&opened, &records)?
    };
    if is_cut {
        push!(
            page,
            "Showing {} of {total} ready issues. Use -n to show more.\n\n",
            records.len()
        );
    }
    call.output.text(&page)
}

fn check(arguments: &Arguments, is_json: bool) -> Result<(), Refusal> {
    let wrong = match (arguments.is_on("brief"), arguments.is_on("claim")) {
        (true, true) => "--claim cannot be combined with --brief",
        (true, false) if !is_json => {
            "--brief requires --json; the text renderings print none of the fields it omits"
        }
        (_, true) if arguments.filled("assignee").is_some() => {
            "--claim cannot be combined with --assignee"
        }
        _ => return Ok(()),
    };
    Err(Refusal::json(wrong))
}

fn read(arguments: &Arguments) -> Result<Filter, Refusal> {
    let mut filter = Filter {
        priority: arguments.number("priority"),
        is_unassigned: arguments.is_on("unassigned"),
        issue_type: arguments.filled("type").map(input::known_type),
        ..Filter::labelled(arguments)
    };
    if !filter.is_unassigned {
        filter.assignee = arguments.filled("assignee").map(str::to_owned);
    }
    let excluded = arguments.list("exclude-type");
    let excluded = excluded
        .iter()
        .map(|kind| kind.trim())
        .filter(|kind| !kind.is_empty());
    if filter.issue_type.is_none() {
        filter.excluded_types = excluded.map(input::known_type).collect();
    }
    filter.read_metadata(arguments)?;
    Ok(filter)
}

fn sort(arguments: &Arguments) -> Result<Order, Refusal> {
    match arguments.text("sort").unwrap_or("priority") {
        "priority" => Ok(Order::PriorityOldest),
        "oldest" => Ok(Order::Oldest),
        // Sorted again below: what is new by its priority, the rest by its age.
        "" | "hybrid" => Ok(Order::Updated),
        other => Err(Refusal::json(format!(
            "invalid sort policy '{other}'. Valid values: hybrid, priority, oldest"
        ))),
    }
}

/// The question for the beads that can be started and are wanted.
fn query(opened: &Opened, filter: &Filter, arguments: &Arguments, order: Order) -> Query {
    let is_hybrid = order == Order::Updated;
    let query = Query {
        status: StatusFilter::OneOf(vec![Status::Open.into()]),
        includes_deferred: arguments.is_on("include-deferred"),
        includes_ephemeral: arguments.is_on("include-ephemeral"),
        order: if is_hybrid { Order::Oldest } else { order },
        ..filter.query()
    };
    claimable(query, opened.by.now)
}

/// The first of the beads that can be started and are wanted, in order, and how many there are altogether.
fn find_some(
    opened: &Opened,
    filter: &Filter,
    arguments: &Arguments,
    order: Order,
    limit: Option<usize>,
) -> Result<(Vec<Record>, usize), Refusal> {
    let is_hybrid = order == Order::Updated;
    let mut query = query(opened, filter, arguments, order);
    let below = match arguments.filled("parent") {
        Some(parent) => Some(descendants(opened, parent)?),
        None => None,
    };
    if !is_hybrid && below.is_none() {
        query.limit = limit;
        let records = opened.store.find(&query)?;
        query.limit = None;
        let is_whole = limit.is_none_or(|limit| records.len() < limit);
        let total = if is_whole {
            records.len()
        } else {
            opened.store.count(&query)?.max(records.len())
        };
        return Ok((records, total));
    }
    let mut records = opened.store.find(&query)?;
    records.retain(|record| (below.as_ref()).is_none_or(|below| below.contains(record.issue.id())));
    if is_hybrid {
        hybrid(&mut records, opened.by.now);
    }
    let total = records.len();
    records.truncate(limit.unwrap_or(usize::MAX));
    Ok((records, total))
}

/// Sorts what is the oldest first: what is new by its priority, then the rest by its age.
fn hybrid(records: &mut [Record], now: Timestamp) {
    let edge = now.checked_sub(RECENT).unwrap_or(now);
    records.sort_by_key(|record| {
        let is_old = record.issue.time("created_at").is_none_or(|at| at < edge);
        let priority = record.issue.priority();
        (is_old, if is_old { 999 } else { priority })
    });
}

/// The question of `bd list --ready`.
pub(super) fn query_for_list(opened: &Opened, filter: &Filter) -> Query {
    let query = Query {
        order: Order::Oldest,
        ..filter.query()
    };
    claimable(query, opened.by.now)
}

/// For `bd list --ready`.
pub(super) fn for_list(opened: &Opened, filter: &Filter) -> Result<Vec<Record>, Refusal> {
    let mut records = opened.store.find(&query_for_list(opened, filter))?;
    hybrid(&mut records, opened.by.now);
    Ok(records)
}

/// Everything below a bead, by edges, or by name where a bead has no parent.
fn descendants(opened: &Opened, parent: &str) -> Result<HashSet<BeadId>, Refusal> {
    let mut found = HashSet::new();
    let mut open: Vec<BeadId> = BeadId::parse(parent).into_iter().collect();
    while let Some(id) = open.pop() {
        for (child, kind) in opened.store.dependents(&id)? {
            if kind == EdgeType::ParentChild && found.insert(child.clone()) {
                open.push(child);
            }
        }
    }
    let by_name = opened
        .store
        .ids_with_prefix(&format!("{parent}."), usize::MAX)?;
    for record in opened.store.get(&by_name)? {
        if record.issue.parents().next().is_none() {
            found.insert(record.issue.id().clone());
        }
    }
    Ok(found)
}

/// Takes the first that can be taken. Somebody who was faster only means that the next one is tried.
fn claim(
    call: &Call<'_>,
    opened: &mut Opened,
    filter: &Filter,
    order: Order,
) -> Result<(), Refusal> {
    for limit in [Some(FIRST), None] {
        let (records, _) = find_some(opened, filter, call.arguments, order, limit)?;
        for record in &records {
            if claims::holder(record).is_some() {
                continue;
            }
            let Ok(claimed) = claims::claim(opened, record) else {
                continue;
            };
            if call.output.is_json() {
                let items = list::with_counts(opened, &[claimed], false)?;
                return call.output.value(items);
            }
            return call
                .output
                .text(&format!("✓ Claimed issue: {}\n", feedback(&claimed.issue)));
        }
        if records.len() < FIRST {
            break;
        }
    }
    call.output
        .answer([(); 0], || "\n○ No ready work to claim\n\n".to_owned())
}

fn nothing(opened: &Opened) -> Result<String, Refusal> {
    let query = Query {
        status: StatusFilter::OneOf(vec![Status::Open.into(), Status::InProgress.into()]),
        includes_hidden: true,
        limit: Some(1),
        ..Query::default()
    };
    let text = if opened.store.find(&query)?.is_empty() {
        "\n✨ No open issues\n\n"
    } else {
        "\n✨ No ready work found (all issues have blocking dependencies)\n\n"
    };
    Ok(text.to_owned())
}

fn plain(records: &[Record]) -> String {
    let mut lines = vec![
        String::new(),
        format!(
            "📋 Ready work ({} issues with no active blockers):",
            records.len()
        ),
        String::new(),
    ];
    for (index, record) in records.iter().enumerate() {
        let issue = &record.issue;
        lines.push(format!(
            "{}. [P{}] [{}] {}: {}",
            index + 1,
            issue.priority(),
            issue.issue_type(),
            issue.id(),
            title_of(issue)
        ));
        let estimate = issue_json::estimate(issue);
        lines.extend(estimate.map(|minutes| format!("   Estimate: {minutes} min")));
        lines.extend(
            issue
                .assignee()
                .map(|name| format!("   Assignee: {}", line(name))),
        );
    }
    lines.push(String::new());
    crate::ui::lines(lines)
}

fn pretty(opened: &Opened, records: &[Record]) -> Result<String, Refusal> {
    let mut lines = Vec::new();
    for record in records {
        let mut line = text::one_line(&record.issue);
        if let Some(parent) = issue_json::parent(&record.issue)
            && let Some(parent) = opened.record(parent)?
            && parent.issue.issue_type() == IssueType::Epic
        {
            line.push_str(" ← ");
            line.push_str(&title_of(&parent.issue));
        }
        lines.push(line);
    }
    lines.push(String::new());
    lines.push(text::rule());
    lines.push(format!(
        "Ready: {} issues with no active blockers",
        records.len()
    ));
    lines.push(String::new());
    Ok(crate::ui::lines(lines) + text::legend())
}
