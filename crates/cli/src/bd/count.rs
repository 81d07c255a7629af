//! `bd count` and `bd status`: how many beads there are, in groups, and at a glance.

use std::collections::BTreeMap;

use beads_ralph_core::issue::{Grouping, Query, StatusFilter};
use beads_ralph_core::vocabulary::Status;
use serde::Serialize;

use super::filter::MATCHING;
use super::{Call, Command, Filter, Flag, Opened, Refusal, number, ready, string, switch};

const FLAGS: &[Flag] = &[
    switch("by-assignee", "In groups by assignee"),
    switch("by-label", "In groups by label"),
    switch("by-priority", "In groups by priority"),
    switch("by-status", "In groups by status"),
    switch("by-type", "In groups by type"),
    string("id", "Only these, with commas between them"),
    switch("include-infra", "Bookkeeping and short-lived beads too"),
    number("priority", "Only those of a priority").short('p'),
    number("priority-max", "Only those of at most this priority number"),
    number(
        "priority-min",
        "Only those of at least this priority number",
    ),
    string("status", "Only those with a status").short('s'),
    string("title", "Only those with a text in the title"),
    string("title-contains", "Only those with a text in the title"),
];

pub(super) const COMMAND: Command = Command {
    name: "count",
    about: "Count beads",
    flags: FLAGS,
    shared: MATCHING,
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
    let filter = read_filter(call, opened.by.now)?;
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

pub(super) const STATUS: Command = Command {
    name: "status",
    aliases: &["stats"],
    about: "How many beads are where",
    flags: &[
        switch("all", "All beads, as in any case"),
        switch("assigned", "Only those for whoever asks"),
        switch("no-activity", "Without recent changes, as in any case"),
        switch("no-blocked", "Without what waits for others"),
    ],
    run: Some(status),
    ..Command::NONE
};

#[derive(Serialize)]
struct StatusAnswer {
    summary: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_count_skipped: Option<bool>,
}

/// How many beads there are of each kind; null for what was not counted.
#[derive(Debug, Default, Serialize)]
struct Summary {
    total_issues: usize,
    open_issues: usize,
    in_progress_issues: usize,
    closed_issues: usize,
    blocked_issues: Option<usize>,
    deferred_issues: usize,
    ready_issues: Option<usize>,
    pinned_issues: usize,
    epics_eligible_for_closure: usize,
    average_lead_time_hours: usize,
}

fn status(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let summary = if call.arguments.is_on("assigned") {
        of_actor(&opened)?
    } else {
        of_all(&opened, call.arguments.is_on("no-blocked"))?
    };
    if call.output.is_json() {
        return call.output.value(StatusAnswer {
            blocked_count_skipped: summary.blocked_issues.is_none().then_some(true),
            summary,
        });
    }
    call.output.text(&summary.to_text())
}

fn of_all(opened: &Opened, is_without_blocked: bool) -> Result<Summary, Refusal> {
    let filter = Filter {
        hides_ephemeral: true,
        ..Filter::default()
    };
    let query = filter.query();
    let mut summary = counted(opened, &query)?;
    let not_pinned = Filter {
        hides_pinned: true,
        ..filter
    };
    let n_not_pinned = opened.store.count(&not_pinned.query())?;
    summary.pinned_issues = summary.total_issues.saturating_sub(n_not_pinned);
    if !is_without_blocked {
        let n_blocked = opened.store.count(&Query {
            status: StatusFilter::Unfinished,
            is_blocked: Some(true),
            ..query
        })?;
        summary.blocked_issues = Some(n_blocked);
        summary.ready_issues = Some(summary.open_issues.saturating_sub(n_blocked));
    }
    Ok(summary)
}

fn of_actor(opened: &Opened) -> Result<Summary, Refusal> {
    let actor = opened.actor().to_owned();
    let own = |statuses| Filter {
        assignee: Some(actor.clone()),
        statuses,
        ..Filter::default()
    };
    let mut summary = counted(opened, &own(Vec::new()).query())?;
    let blocked = own(vec![Status::Blocked.into()]);
    summary.blocked_issues = Some(opened.store.count(&blocked.query())?);
    let open = own(vec![Status::Open.into()]);
    let ready = ready::query_for_list(opened, &open);
    summary.ready_issues = Some(opened.store.count(&ready)?);
    Ok(summary)
}

fn counted(opened: &Opened, query: &Query) -> Result<Summary, Refusal> {
    let counts = opened.store.count_by(query, Grouping::Status)?;
    let count = |status: Status| counts.get(status.as_str()).copied().unwrap_or_default();
    Ok(Summary {
        total_issues: counts.values().sum(),
        open_issues: count(Status::Open),
        in_progress_issues: count(Status::InProgress),
        closed_issues: count(Status::Closed),
        deferred_issues: count(Status::Deferred),
        ..Summary::default()
    })
}

impl Summary {
    fn to_text(&self) -> String {
        let known = |n: Option<usize>| n.map_or("(skipped)".to_owned(), |n| n.to_string());
        let (blocked, ready) = (known(self.blocked_issues), known(self.ready_issues));
        let (all, open, in_progress) =
            (self.total_issues, self.open_issues, self.in_progress_issues);
        let pinned = match self.pinned_issues {
            0 => String::new(),
            n => format!("\nExtended:\n  Pinned:                 {n}\n"),
        };
        format!(
            "\n📊 Issue Database Status\n\nSummary:\n  Total Issues:           {all}\n  Open:                   {open}\n  In Progress:            {in_progress}\n  Blocked:                {blocked}\n  Closed:                 {}\n  Ready to Work:          {ready}\n{pinned}\nFor more details, use 'bd list' to see individual issues.\n\n",
            self.closed_issues
        )
    }
}
