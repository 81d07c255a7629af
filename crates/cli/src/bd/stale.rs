//! `bd stale`: beads that nobody has touched for long.

use std::ops::ControlFlow;

use beads_ralph_core::issue::{Moment, Order, Query, Record};
use beads_ralph_core::vocabulary::Status;
use jiff::{SignedDuration, Timestamp};

use super::issue_json::LEASE;
use super::{Call, Command, Filter, Refusal, issue_json, list_of, number, string, title_of};

/// After how many days, and how many beads, when nobody says.
const DAYS: i64 = 30;
const LIMIT: i64 = 50;

/// The statuses that can be asked for.
const ALLOWED: [Status; 4] = [
    Status::Open,
    Status::InProgress,
    Status::Blocked,
    Status::Deferred,
];

pub(super) const COMMAND: Command = Command {
    name: "stale",
    about: "Beads that nobody has touched for long",
    flags: &[
        number("days", "Not updated for this many days (default 30)").short('d'),
        list_of("exclude-label", "Not those with one of these labels"),
        list_of("label", "Only those with all of these labels").short('l'),
        list_of("label-any", "Only those with one of these labels"),
        number("limit", "At most so many (default 50)").short('n'),
        string("status", "open, in_progress, blocked or deferred").short('s'),
    ],
    run: Some(run),
    ..Command::NONE
};

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let days = arguments.number("days").unwrap_or(DAYS);
    if days < 1 {
        return Err(Refusal::json("--days must be at least 1"));
    }
    let statuses = match arguments.filled("status") {
        None => vec![Status::Open.into(), Status::InProgress.into()],
        Some(status) if ALLOWED.iter().any(|allowed| status == *allowed) => vec![status.to_owned()],
        Some(status) => {
            return Err(Refusal::json(format!(
                "invalid status '{status}'. Valid values: open, in_progress, blocked, deferred"
            )));
        }
    };
    let opened = call.open()?;
    let age = SignedDuration::from_hours(days.saturating_mul(24).min(100_000_000));
    let cutoff = opened.by.now.checked_sub(age).unwrap_or(Timestamp::MIN);
    let filter = Filter {
        statuses,
        hides_ephemeral: true,
        before: vec![(Moment::Touched, cutoff)],
        ..Filter::labelled(arguments)
    };
    let query = Query {
        order: Order::Stalest,
        ..filter.query()
    };
    let limit = call.arguments.limit(LIMIT);
    let mut records = Vec::new();
    opened.store.visit(&query, &mut |record| {
        if is_stale(&record, cutoff) {
            records.push(record);
        }
        if limit.is_some_and(|limit| records.len() == limit) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    if call.output.is_json() {
        return call.output.value(issue_json::issues(&records));
    }
    call.output.text(&shown(&records, days, opened.by.now))
}

fn updated(record: &Record) -> Option<Timestamp> {
    Moment::Touched.of(&record.issue)
}

/// Whoever holds a bead and says so keeps it fresh.
fn is_stale(record: &Record, cutoff: Timestamp) -> bool {
    let beat = record.claim.as_ref().map(|claim| {
        let beat = claim.lease_until.checked_sub(LEASE);
        beat.unwrap_or(claim.claimed_at).max(claim.claimed_at)
    });
    updated(record).is_some_and(|at| at < cutoff) && beat.is_none_or(|beat| beat < cutoff)
}

fn shown(records: &[Record], days: i64, now: Timestamp) -> String {
    if records.is_empty() {
        return "\n✨ No stale issues found (all active)\n\n".to_owned();
    }
    let n = records.len();
    let mut text = format!("\n⏰ Stale issues ({n} not updated in {days}+ days):\n\n");
    for (index, record) in records.iter().enumerate() {
        let issue = &record.issue;
        let age = updated(record).map_or(0, |at| now.duration_since(at).as_hours() / 24);
        let (number, priority, id) = (index + 1, issue.priority(), issue.id());
        let (title, status) = (title_of(issue), issue.status());
        push!(
            text,
            "{number}. [P{priority}] {id}: {title}\n   Status: {status}, Last updated: {age} days ago\n"
        );
        if let Some(assignee) = issue.assignee().filter(|name| !name.is_empty()) {
            push!(text, "   Assignee: {assignee}\n");
        }
        text.push('\n');
    }
    text
}
