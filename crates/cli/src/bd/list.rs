//! `bd list`: beads by what is known about them.

mod tree_view;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Issue, Order, Query, Record};
use beads_ralph_core::vocabulary::{EdgeType, IssueType, Status};

use super::filter::{INFRA_TYPES, SORTS};
use super::issue_json::IssueJson;
use super::{
    Arguments, Call, Command, Filter, Flag, Opened, Refusal, defer, filter, input, issue_json,
    list_of, number, quoted, ready, string, switch, text, texts,
};

#[rustfmt::skip]
const NOT_SERVED: &[&str] = &[
    "defer-after", "defer-before", "deferred", "deps", "due-after", "due-before", "external-contains", "external-ref",
    "filter-parent", "format", "label-pattern", "label-regex", "long", "max-rows", "mol-type", "no-pinned", "offset",
    "overdue", "pinned", "repo", "skip-labels", "spec", "state", "watch", "wisp-type",
];

pub(super) const COMMAND: Command = Command {
    name: "list",
    about: "List beads",
    flags: FLAGS,
    not_served: NOT_SERVED,
    run: Some(run),
    ..Command::NONE
};

const FLAGS: &[Flag] = &[
    switch("all", "Closed ones too"),
    string("assignee", "For whom").short('a'),
    switch("brief", "Leave the long texts out"),
    string("closed-after", "Closed after a moment"),
    string("closed-before", "Closed before a moment"),
    string("created-after", "Created after a moment"),
    string("created-before", "Created before a moment"),
    string("desc-contains", "With this in the description"),
    switch("empty-description", "Without a description"),
    list_of("exclude-label", "Without any of these labels"),
    list_of("exclude-type", "Of none of these types"),
    switch("flat", "One line for each, without a tree"),
    string("has-metadata-key", "With this key in the metadata"),
    string("id", "One of these ids"),
    switch("include-gates", "Gates too"),
    switch("include-infra", "Bookkeeping of other programs too"),
    switch("include-templates", "Templates too"),
    list_of("label", "With all of these labels").short('l'),
    list_of("label-any", "With one of these labels"),
    number("limit", "How many at the most; 0 means all").short('n'),
    texts(
        "metadata-field",
        "With this value in the metadata: key=value",
    ),
    switch("no-assignee", "For nobody"),
    switch("no-labels", "Without labels"),
    switch("no-pager", "No pager; there is none in any case"),
    switch("no-parent", "Not a part of anything"),
    string("notes-contains", "With this in the notes"),
    string("parent", "Parts of this one"),
    switch("pretty", "As a tree"),
    string("priority", "With this priority").short('p'),
    string("priority-max", "With this priority number or a smaller one"),
    string("priority-min", "With this priority number or a greater one"),
    switch("ready", "That can be started"),
    switch("reverse", "The other way round").short('r'),
    string(
        "sort",
        "By priority, created, updated, closed, status, id, title, type or assignee",
    ),
    string("status", "With one of these statuses, or all").short('s'),
    string("title", "With this in the title"),
    string("title-contains", "With this in the title"),
    switch("tree", "As a tree (default; --tree=false for none)"),
    string("type", "Of this type").short('t'),
    string("updated-after", "Changed after a moment"),
    string("updated-before", "Changed before a moment"),
];

/// Words that people type for flags.
const MISTAKEN: [&str; 9] = [
    "ready", "tree", "flat", "all", "long", "watch", "pretty", "pinned", "overdue",
];

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    if !arguments.words.is_empty() {
        return Err(words(&arguments.words));
    }
    let mut opened = call.open()?;
    let sort = arguments.filled("sort").unwrap_or_default();
    let filter = read(&opened, arguments)?;
    if !sort.is_empty() && !SORTS.contains(&sort) {
        return Err(Refusal::plain(format!(
            "invalid sort field {} (valid: {})",
            quoted(sort),
            SORTS.join(", ")
        )));
    }
    check_ready_scope(arguments)?;
    let is_ready = arguments.is_on("ready");
    if is_ready {
        defer::wake(call, &mut opened)?;
    }
    let parent = arguments.filled("parent");
    if let Some(parent) = parent.filter(|_| !is_ready && is_page(call)) {
        if arguments.is_on("brief") {
            return Err(Refusal::plain(
                "--parent with --pretty cannot be combined with --brief; the hierarchical walk is a different query",
            ));
        }
        return call.output.text(&tree_view::below(&opened, parent)?);
    }
    let limit = limit(arguments);
    let is_reversed = arguments.is_on("reverse");
    if !is_ready && matches!(sort, "" | "priority") && !is_reversed {
        let query = Query {
            order: Order::PrioritySeconds,
            // One more tells that there are more.
            limit: limit.map(|limit| limit.saturating_add(1)),
            ..filter.query()
        };
        return show(call, &opened, limit, |see| opened.each(&query, see));
    }
    let mut records = if is_ready {
        ready::for_list(&opened, &filter)?
    } else {
        filter.find(&opened)?
    };
    // `--ready` has its own order unless another is asked for.
    if !is_ready || !sort.is_empty() {
        filter::sort(&mut records, sort, is_reversed);
    }
    records.truncate(limit.map_or(usize::MAX, |limit| limit.saturating_add(1)));
    show(call, &opened, limit, |see| {
        records.into_iter().try_for_each(see)
    })
}

/// From how many bytes on lines are printed on.
const PRINTED_AT_ONCE: usize = 64 * 1024;

/// Whether people are shown a tree, and not JSON or lines.
fn is_page(call: &Call<'_>) -> bool {
    !call.output.is_json() && is_tree(call.arguments)
}

/// Who is shown the beads of a list, one after the other.
type See<'s> = &'s mut dyn FnMut(Record) -> Result<(), Refusal>;

/// Shows beads as they come, so that a long list is never held as a whole.
fn show(
    call: &Call<'_>,
    opened: &Opened,
    limit: Option<usize>,
    each: impl FnOnce(See<'_>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let limit = limit.unwrap_or(usize::MAX);
    let mut n_seen = 0;
    let mut is_within = || {
        n_seen += 1;
        n_seen <= limit
    };
    if call.output.is_json() {
        let is_brief = arguments.is_on("brief");
        let mut list = call.output.list();
        each(&mut |record| {
            if is_within() {
                list.items(&with_counts(opened, &[record], is_brief)?)?;
            }
            Ok(())
        })?;
        return list.end();
    }
    if !is_tree(arguments) {
        let mut pending = String::new();
        each(&mut |record| {
            if is_within() {
                pending.push_str(&flat_line(opened, &record)?);
                pending.push('\n');
            }
            if pending.len() >= PRINTED_AT_ONCE {
                call.output.text(&pending)?;
                pending.clear();
            }
            Ok(())
        })?;
        return call.output.text(&pending);
    }
    let mut tree = tree_view::Tree::default();
    each(&mut |record| {
        if is_within() {
            tree.add(&record.issue);
        }
        Ok(())
    })?;
    let is_cut = n_seen > limit;
    call.output
        .text(&tree.page(is_cut, arguments.is_on("ready")))
}

/// Whether the beads are drawn as a tree, which they are unless that is turned off.
fn is_tree(arguments: &Arguments) -> bool {
    let is_off = arguments.has("tree") && !arguments.is_on("tree") || arguments.is_on("flat");
    arguments.is_on("pretty") || !is_off
}

fn words(words: &[String]) -> Refusal {
    let mistaken = words.iter().find(|word| MISTAKEN.contains(&word.as_str()));
    Refusal::plain(match mistaken {
        Some(word) => format!(
            "unknown argument {}; did you mean \"--{word}\" or 'bd {word}'?",
            quoted(word)
        ),
        None => {
            "bd list does not accept positional arguments; use flags instead (see bd list --help)"
                .to_owned()
        }
    })
}

fn limit(arguments: &Arguments) -> Option<usize> {
    let is_unlimited = arguments.is_on("all") || crate::ui::page_width().is_none();
    arguments.limit(if is_unlimited { 0 } else { 50 })
}

fn read(opened: &Opened, arguments: &Arguments) -> Result<Filter, Refusal> {
    let mut filter = Filter::default();
    filter.read_priorities(arguments)?;
    if arguments.filled("parent").is_some() && arguments.is_on("no-parent") {
        return Err(Refusal::plain(
            "--parent and --no-parent are mutually exclusive",
        ));
    }
    filter.read_common(arguments, opened.by.now)?;
    filter.read_metadata(arguments)?;
    filter.parent = arguments.filled("parent").map(str::to_owned);
    filter.has_no_parent = arguments.is_on("no-parent");
    read_statuses(opened, arguments, &mut filter)?;
    read_types(opened, arguments, &mut filter)?;
    Ok(filter)
}

fn read_statuses(
    opened: &Opened,
    arguments: &Arguments,
    filter: &mut Filter,
) -> Result<(), Refusal> {
    let given = arguments.filled("status").unwrap_or_default();
    let parts: Vec<String> = (given.split(',').map(|part| part.trim().to_owned()))
        .filter(|_| !given.is_empty())
        .collect();
    let is_all = matches!(parts.as_slice(), [only] if only == "all");
    let (is_ready, wants_all) = (arguments.is_on("ready"), arguments.is_on("all"));
    let custom = opened.custom_statuses()?;
    if is_ready {
        filter.statuses = vec![Status::Open.into()];
    } else if !parts.is_empty() && !is_all {
        for part in &parts {
            if !input::is_status(opened, part)? {
                return Err(invalid_status(part, parts.len() > 1, &custom));
            }
        }
        filter.statuses.clone_from(&parts);
    }
    if parts.is_empty() && !wants_all && !is_ready {
        let done = custom
            .iter()
            .filter(|(_, category)| matches!(category.as_str(), "done" | "frozen"));
        filter.excluded_statuses = vec![Status::Closed.into(), Status::Pinned.into()];
        filter
            .excluded_statuses
            .extend(done.map(|(name, _)| name.clone()));
    }
    let selects_pinned = parts
        .iter()
        .any(|part| *part == Status::Pinned || *part == Status::Hooked)
        || (is_all && !is_ready);
    filter.hides_pinned = !selects_pinned && !wants_all;
    Ok(())
}

pub(super) fn invalid_status(
    status: &str,
    is_one_of_many: bool,
    custom: &[(String, String)],
) -> Refusal {
    if is_one_of_many && status == "all" {
        return Refusal::plain("status \"all\" cannot be combined with other statuses");
    }
    let mut custom: Vec<&str> = custom.iter().map(|(name, _)| name.as_str()).collect();
    custom.sort_unstable();
    let known = Status::ALL.iter().map(|status| status.as_str());
    let valid: Vec<&str> = known.chain(custom).collect();
    let among = if is_one_of_many {
        " in multi-status filter"
    } else {
        ""
    };
    Refusal::plain(format!(
        "invalid status {}{among} (valid: {})",
        quoted(status),
        valid.join(", ")
    ))
}

fn read_types(opened: &Opened, arguments: &Arguments, filter: &mut Filter) -> Result<(), Refusal> {
    let wanted = arguments.filled("type").map(input::known_type);
    if let Some(kind) = &wanted
        && !input::is_type(opened, kind)?
    {
        let mut valid = "bug, feature, task, epic, chore, decision".to_owned();
        for custom in opened.custom_types()? {
            valid.push_str(", ");
            valid.push_str(&custom);
        }
        return Err(Refusal::plain(format!(
            "invalid issue type {} (valid: {valid})",
            quoted(kind)
        )));
    }
    let kind = wanted.as_deref().unwrap_or_default();
    let is_infra = INFRA_TYPES.contains(&kind);
    filter.hides_templates = !arguments.is_on("include-templates");
    if !arguments.is_on("include-gates") && kind != IssueType::Gate {
        filter.excluded_types.push(IssueType::Gate.into());
    }
    let hides_infra = !arguments.is_on("include-infra") && !is_infra;
    if hides_infra {
        filter.excluded_types.extend(INFRA_TYPES.map(str::to_owned));
    }
    filter.hides_ephemeral = hides_infra;
    let excluded = arguments.list("exclude-type");
    let excluded = excluded
        .iter()
        .map(|kind| kind.trim())
        .filter(|kind| !kind.is_empty());
    filter
        .excluded_types
        .extend(excluded.map(input::known_type));
    filter.issue_type = wanted;
    Ok(())
}

/// `--ready` asks another question, which knows fewer flags.
fn check_ready_scope(arguments: &Arguments) -> Result<(), Refusal> {
    if !arguments.is_on("ready") {
        return Ok(());
    }
    let named: Vec<String> = [
        ("IDFilter", "id"),
        ("TitleSearch", "title"),
        ("TitleContains", "title-contains"),
        ("DescContains", "desc-contains"),
        ("NotesContains", "notes-contains"),
        ("CreatedAfter", "created-after"),
        ("CreatedBefore", "created-before"),
        ("UpdatedAfter", "updated-after"),
        ("UpdatedBefore", "updated-before"),
        ("ClosedAfter", "closed-after"),
        ("ClosedBefore", "closed-before"),
        ("EmptyDesc", "empty-description"),
        ("NoLabels", "no-labels"),
        ("NoParent", "no-parent"),
        ("PriorityMin", "priority-min"),
        ("PriorityMax", "priority-max"),
    ]
    .into_iter()
    .filter(|(_, flag)| arguments.filled(flag).is_some_and(|value| value != "false"))
    .map(|(name, flag)| format!("{name} (--{flag})"))
    .collect();
    if named.is_empty() {
        return Ok(());
    }
    Err(Refusal::plain(format!(
        "validation failed: --ready cannot filter on {}; the blocker-aware ready query carries only part of the list vocabulary, so answering would return every ready issue rather than the ones asked for — drop --ready, or drop what it cannot carry",
        named.join(", ")
    )))
}

/// Beads with what is counted about them.
pub(super) fn with_counts(
    opened: &Opened,
    records: &[Record],
    is_brief: bool,
) -> Result<Vec<IssueJson>, Refusal> {
    let mut issues = issue_json::with_counts(opened, records)?;
    if is_brief {
        issues = issues.into_iter().map(issue_json::brief).collect();
    }
    Ok(issues)
}

fn flat_line(opened: &Opened, record: &Record) -> Result<String, Refusal> {
    let issue = &record.issue;
    let (mut blocked_by, mut blocks) = (Vec::new(), Vec::new());
    for edge in issue.dependencies() {
        if is_waited_for(edge.kind()) && is_open(opened, edge.target())? {
            blocked_by.push(edge.target().to_string());
        }
    }
    if issue.status() != Status::Closed {
        for (other, kind) in opened.store.dependents(issue.id())? {
            if is_waited_for(&kind) && is_open(opened, &other)? {
                blocks.push(other.to_string());
            }
        }
    }
    let mut around = Vec::new();
    around.extend(issue_json::parent(issue).map(|parent| format!("parent: {parent}")));
    if !blocked_by.is_empty() {
        around.push(format!("blocked by: {}", blocked_by.join(", ")));
    }
    if !blocks.is_empty() {
        around.push(format!("blocks: {}", blocks.join(", ")));
    }
    let around = if around.is_empty() {
        String::new()
    } else {
        format!(" ({})", around.join(", "))
    };
    if text::is_agent() {
        return Ok(format!("{}: {}{around}", issue.id(), text::title_of(issue)));
    }
    let status = if !blocked_by.is_empty() && issue.status() == Status::Open {
        Status::Blocked.as_str()
    } else {
        issue.status()
    };
    Ok(flat_text(issue, status, &around))
}

fn flat_text(issue: &Issue, status: &str, around: &str) -> String {
    let (assignee, labels) = text::marks(issue);
    let pin = if issue.flag("pinned") { "📌 " } else { "" };
    format!(
        "{} {pin}{} [P{}] [{}]{assignee}{labels} - {}{around}",
        text::icon(status),
        issue.id(),
        issue.priority(),
        issue.issue_type(),
        text::title_of(issue)
    )
}

fn is_waited_for(kind: &str) -> bool {
    matches!(
        EdgeType::known(kind),
        Some(EdgeType::Blocks | EdgeType::ConditionalBlocks | EdgeType::WaitsFor)
    )
}

fn is_open(opened: &Opened, id: &BeadId) -> Result<bool, Refusal> {
    let status = opened.store.statuses(std::slice::from_ref(id))?.pop();
    Ok(status
        .flatten()
        .is_some_and(|status| status != Status::Closed))
}
