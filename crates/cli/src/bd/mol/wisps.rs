//! `bd mol wisp list` and `bd mol wisp gc`: short-lived beads, and those that nobody has touched for long.

use std::collections::HashSet;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Issue, Record, is_wisp};
use beads_ralph_core::vocabulary::Status;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::bd::arguments::go_duration;
use crate::bd::filter::INFRA_TYPES;
use crate::bd::issue_json::IssueJson;
use crate::bd::{Call, Filter, Opened, Refusal, delete, issue_json, quoted, title_of};

/// From when on a wisp counts as old in a list.
const OLD: SignedDuration = SignedDuration::from_hours(24);

/// For how long nobody must have touched what is deleted, when nobody says.
const AGE: SignedDuration = SignedDuration::from_hours(1);

/// The longest title in a list, in bytes, and what is left of a longer one.
const TITLE: usize = 44;
const SHORT_TITLE: usize = 41;

/// Statuses of work that is going on, or was put aside on purpose.
const LIVE: [Status; 5] = [
    Status::InProgress,
    Status::Blocked,
    Status::Hooked,
    Status::Deferred,
    Status::Pinned,
];

fn wisps(opened: &Opened, filter: &Filter) -> Result<Vec<Record>, Refusal> {
    let mut records = filter.find(opened)?;
    records.retain(|record| is_wisp(&record.issue));
    Ok(records)
}

fn idle(issue: &Issue, now: Timestamp) -> SignedDuration {
    now.duration_since(issue.time("updated_at").unwrap_or_default())
}

pub(super) fn list(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let opened = call.open()?;
    let filter = Filter {
        issue_type: arguments.filled("type").map(str::to_owned),
        ..Filter::default()
    };
    let mut found = wisps(&opened, &filter)?;
    found.retain(|record| arguments.is_on("all") || record.issue.status() != Status::Closed);
    found.sort_by_key(|record| std::cmp::Reverse(record.issue.time("updated_at")));
    let is_old = |record: &&Record| idle(&record.issue, opened.by.now) > OLD;
    let n_old = found.iter().filter(is_old).count();
    if call.output.is_json() {
        let wisps = found.iter().map(|it| item(it, is_old(&it)));
        return call.output.value(WispsAnswer {
            wisps: wisps.collect(),
            count: found.len(),
            old_count: Some(n_old).filter(|n| *n > 0),
        });
    }
    if found.is_empty() {
        return call.output.text("No wisps found\n");
    }
    let mut page = format!(
        "Wisps ({}):\n\n{:<12} {:<10} {:<4} {:<10} {:<46} UPDATED\n{}\n",
        found.len(),
        "ID",
        "STATUS",
        "PRI",
        "TYPE",
        "TITLE",
        "-".repeat(100)
    );
    for record in &found {
        let issue = &record.issue;
        let mark = if is_old(&record) { " ⚠" } else { "" };
        push!(
            page,
            "{:<12} {:<10} P{:<3} {:<10} {:<46} {}{mark}\n",
            issue.id().as_str(),
            issue.status(),
            issue.priority(),
            issue.issue_type(),
            shortened(&title_of(issue)),
            ago(issue.time("updated_at").unwrap_or_default(), opened.by.now)
        );
    }
    if n_old > 0 {
        push!(
            page,
            "\n⚠ {n_old} old wisp(s) (not updated in 24+ hours)\n  Hint: Use 'bd mol wisp gc' to clean up old wisps\n"
        );
    }
    call.output.text(&page)
}

#[derive(Serialize)]
struct WispsAnswer {
    wisps: Vec<IssueJson>,
    count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_count: Option<usize>,
}

#[derive(Serialize)]
struct CleanedAnswer<'c> {
    cleaned_ids: Vec<&'c str>,
    cleaned_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    candidates: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
}

fn item(record: &Record, is_old: bool) -> IssueJson {
    let item = issue_json::wisp(record);
    if is_old { item.with("old", true) } else { item }
}

fn shortened(title: &str) -> String {
    if title.len() <= TITLE {
        return title.to_owned();
    }
    let end = (0..=SHORT_TITLE)
        .rev()
        .find(|at| title.is_char_boundary(*at));
    format!("{}...", &title[..end.unwrap_or_default()])
}

/// How long ago a moment was.
fn ago(at: Timestamp, now: Timestamp) -> String {
    let past = now.duration_since(at);
    let counted = |n: i64, one: &str, many: &str| {
        let unit = if n == 1 { one } else { many };
        format!("{n} {unit} ago")
    };
    match past.as_hours() {
        _ if past.as_mins() < 1 => "just now".to_owned(),
        0 => counted(past.as_mins(), "min", "mins"),
        hours @ 1..24 => counted(hours, "hour", "hours"),
        hours if hours < 7 * 24 => counted(hours / 24, "day", "days"),
        _ => jiff::tz::Offset::UTC.to_datetime(at).date().to_string(),
    }
}

pub(super) fn sweep(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let age = match arguments.filled("age") {
        Some(given) => go_duration(given).ok_or_else(|| {
            let why = format!("time: invalid duration {}", quoted(given));
            Refusal::plain(format!("invalid --age duration: {why}"))
        })?,
        None => AGE,
    };
    let mut opened = call.open()?;
    let gone = abandoned(call, &opened, age)?;
    let is_dry = arguments.is_on("dry-run");
    if gone.is_empty() || is_dry {
        return preview(call, &gone, opened.by.now);
    }
    delete::batch(call, &mut opened, &gone)
}

/// What nobody has touched for so long, and what depends on it; not what is live.
fn abandoned(
    call: &Call<'_>,
    opened: &Opened,
    age: SignedDuration,
) -> Result<Vec<Record>, Refusal> {
    let filter = Filter {
        excluded_types: call.arguments.list("exclude-type"),
        ..Filter::default()
    };
    let live = live_statuses(opened)?;
    let is_kept = |record: &Record| {
        let issue = &record.issue;
        INFRA_TYPES.contains(&issue.issue_type())
            || issue.flag("pinned")
            || record.is_blocked
            || live.contains(issue.status())
    };
    let is_all = call.arguments.is_on("all");
    let mut gone = wisps(opened, &filter)?;
    gone.retain(|record| {
        !is_kept(record)
            && (is_all || record.issue.status() != Status::Closed)
            && idle(&record.issue, opened.by.now) > age
    });
    let mut seen: HashSet<BeadId> = gone.iter().map(|it| it.issue.id().clone()).collect();
    let mut left: Vec<BeadId> = seen.iter().cloned().collect();
    let mut below = Vec::new();
    while let Some(id) = left.pop() {
        for (other, _) in opened.store.dependents(&id)? {
            let wisp = opened.record(&other)?.filter(|it| is_wisp(&it.issue));
            if let Some(record) = wisp.filter(|_| seen.insert(other.clone())) {
                left.push(other);
                below.push(record);
            }
        }
    }
    below.retain(|record| !is_kept(record));
    below.sort_by(|a, b| a.issue.id().cmp(b.issue.id()));
    gone.extend(below);
    Ok(gone)
}

/// The statuses of live work, those of settings too.
fn live_statuses(opened: &Opened) -> Result<HashSet<String>, Refusal> {
    let own = opened.custom_statuses()?.into_iter();
    let own = own.filter(|(_, category)| matches!(category.as_str(), "wip" | "frozen"));
    let own = own.map(|(name, _)| name);
    Ok(LIVE.map(String::from).into_iter().chain(own).collect())
}

fn preview(call: &Call<'_>, gone: &[Record], now: Timestamp) -> Result<(), Refusal> {
    if call.output.is_json() {
        let ids = gone.iter().map(|it| it.issue.id().as_str());
        return call.output.value(CleanedAnswer {
            cleaned_ids: ids.collect(),
            cleaned_count: 0,
            candidates: Some(gone.len()).filter(|n| *n > 0),
            dry_run: call.arguments.is_on("dry-run").then_some(true),
        });
    }
    if gone.is_empty() {
        return call.output.text("No abandoned wisps found\n");
    }
    let n = gone.len();
    let mut page = format!("Dry run: would clean {n} abandoned wisp(s):\n\n");
    for record in gone {
        let issue = &record.issue;
        let when = ago(issue.time("updated_at").unwrap_or_default(), now);
        push!(
            page,
            "  {}: {} (last updated: {when})\n",
            issue.id(),
            title_of(issue)
        );
    }
    page.push_str("\nRun without --dry-run to delete these wisps.\n");
    call.output.text(&page)
}
