//! `bd close`: beads that are done.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Dependency, Edit, Order, Query, Record, StatusFilter};
use beads_ralph_core::vocabulary::{EdgeType, Status};
use beads_ralph_runtime::app::beads::{Authority, Close, claimable};
use serde::Serialize;

use super::issue_json::IssueJson;
use super::update::no_id;
use super::{
    Access, Arguments, Arity, Call, Command, Opened, Refusal, claims, env_session, feedback, ids,
    input, issue_json, many, quoted, string, switch, texts,
};

pub(super) const COMMAND: Command = Command {
    name: "close",
    aliases: &["done"],
    about: "Close beads",
    positionals: &[many("id")],
    arity: Arity::Any,
    flags: &[
        switch("claim-next", "Take the next bead that can be started"),
        string("comment", "The same as --reason"),
        switch("force", "Close it although something is open").short('f'),
        string("message", "The same as --reason").short('m'),
        texts("reason", "Why; one for all, or one for each").short('r'),
        string(
            "reason-file",
            "Take the reason from a file, or from - for standard input",
        ),
        string("resolution", "The same as --reason"),
        string("session", "The session in which it is closed"),
        switch("suggest-next", "Show what can be started now"),
    ],
    not_served: &["continue", "no-auto"],
    access: Access::Writes,
    run: Some(run),
    ..Command::NONE
};

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    if arguments.words.is_empty() {
        return Err(no_id());
    }
    let mut opened = call.open()?;
    let (reasons, wanted) = reasons(arguments).map_err(Refusal::json)?;
    if arguments.is_on("suggest-next") && wanted.len() > 1 {
        return Err(Refusal::json(
            "--suggest-next only works when closing a single issue",
        ));
    }
    let mut records = Vec::new();
    for id in &wanted {
        let record = ids::find(&opened, "resolving ID", id)?;
        records.push(record);
    }
    let mut closed = Vec::new();
    for (index, record) in records.iter().enumerate() {
        let reason = reasons.get(index).or_else(|| reasons.first());
        let reason = reason.map_or("Closed", String::as_str);
        match close_one(call, &mut opened, record, reason) {
            Err(why) => call.output.stderr(&format!("{why}\n")),
            Ok(now) => {
                if !call.output.is_json() {
                    let issue = feedback(&now.issue);
                    call.output.say(&format!("✓ Closed {issue}: {reason}\n"))?;
                }
                closed.push(now);
            }
        }
    }
    if closed.is_empty() {
        return Err(Refusal::silent(1));
    }
    finish(call, &mut opened, &closed)
}

/// The reasons, and the ids: `done ID REASON` has the reason at the end.
fn reasons(arguments: &Arguments) -> Result<(Vec<String>, Vec<String>), String> {
    let mut wanted = arguments.words.clone();
    let given = arguments.texts("reason").iter();
    let mut reasons: Vec<String> = given.filter(|reason| !reason.is_empty()).cloned().collect();
    if reasons.is_empty() {
        let other = ["resolution", "message", "comment"].map(|flag| arguments.filled(flag));
        reasons.extend(other.into_iter().flatten().next().map(str::to_owned));
    }
    if let Some(path) = arguments.text("reason-file") {
        if !reasons.is_empty() {
            return Err(
                "cannot specify both --reason-file and --reason/--resolution/--message/--comment"
                    .to_owned(),
            );
        }
        let path_shown = quoted(path);
        let body =
            input::body(path).map_err(|why| format!("reading reason file {path_shown}: {why}"))?;
        if body.trim().is_empty() {
            return Err(format!(
                "--reason-file {path_shown} is empty; close reason is required"
            ));
        }
        reasons = vec![body];
    }
    if reasons.is_empty() && arguments.called_as == "done" && wanted.len() >= 2 {
        reasons.extend(wanted.pop());
    }
    if reasons.len() > 1 && reasons.len() != wanted.len() {
        return Err(format!(
            "got {} close reasons for {} issue IDs; provide exactly one shared reason or one reason per issue",
            reasons.len(),
            wanted.len()
        ));
    }
    Ok((reasons, wanted))
}

fn close_one(
    call: &Call<'_>,
    opened: &mut Opened,
    record: &Record,
    reason: &str,
) -> Result<Record, String> {
    let issue = &record.issue;
    let id = issue.id();
    let is_forced = call.arguments.is_on("force");
    if issue.status() == Status::Closed {
        let _ = open_children(opened, id, is_forced)?;
        // Its molecule may have been left open by somebody who was cut off.
        write(call, opened, record, reason)?;
        return Ok(record.clone());
    }
    if issue.flag("is_template") {
        return Err(format!(
            "cannot modify template {id}: templates are read-only; use 'bd mol pour' to create a work item"
        ));
    }
    if !is_forced && (issue.flag("pinned") || issue.status() == Status::Pinned) {
        return Err(format!(
            "cannot modify pinned issue {id} (use --force to override)"
        ));
    }
    if let Some(holder) = claims::holder(record)
        && !is_forced
        && !claims::is_same_actor(holder, opened.actor())
    {
        return Err(format!(
            "cannot close {id}: assignee is {}, actor is {}; reclaim or use --force to override",
            quoted(holder),
            quoted(opened.actor())
        ));
    }
    let n_open = check(opened, record, is_forced).map_err(|why| with_way_out(&why))?;
    write(call, opened, record, reason)?;
    if n_open > 0 {
        call.output.stderr(&format!(
            "warning: closing {id} with {n_open} open child issue(s) still active\n"
        ));
    }
    let now = opened.record(id).map_err(|error| error.to_string())?;
    now.ok_or_else(|| format!("{id} is gone"))
}

/// Closes a bead, and says which molecules closed with it (F-14).
fn write(
    call: &Call<'_>,
    opened: &mut Opened,
    record: &Record,
    reason: &str,
) -> Result<(), String> {
    let id = record.issue.id();
    let is_open = record.issue.status() != Status::Closed;
    let session = env_session(call.arguments).filter(|_| is_open);
    let session = session.map(|name| Edit::Set("closed_by_session".to_owned(), name.into()));
    let close = Close {
        reason: reason.to_owned(),
        edits: session.into_iter().collect(),
        authority: Authority::Shared,
        ignores_blockers: true,
    };
    let closed = opened.close(record.clone(), &close);
    let closed = closed.map_err(|error| format!("Error closing {id}: {error}"))?;
    for root in closed.completed.iter().filter(|_| !call.output.is_json()) {
        let root = feedback(&root.issue);
        let message = format!("✓ Auto-closed completed molecule {root}\n");
        call.output
            .say(&message)
            .map_err(|why| why.message().to_owned())?;
    }
    Ok(())
}

const BLOCKED: &str = "cannot close blocked issue: ";

/// `close` names the way out of a refusal.
fn with_way_out(why: &str) -> String {
    if why.starts_with(BLOCKED) {
        return format!("{why} (use --force to override)");
    }
    why.to_owned()
}

/// Whether a bead may be closed: nothing below it is open, and nothing holds it back. Gives how many are open below it.
pub(super) fn check(opened: &Opened, record: &Record, is_forced: bool) -> Result<usize, String> {
    let id = record.issue.id();
    let n_open = open_children(opened, id, is_forced)?;
    if !is_forced {
        let blockers = opened
            .store
            .blockers(id)
            .map_err(|error| error.to_string())?;
        let mut blockers: Vec<String> = blockers
            .iter()
            .map(|blocker| named_blocker(record, &blocker.id))
            .collect();
        blockers.sort_unstable();
        if !blockers.is_empty() {
            return Err(format!(
                "{BLOCKED}{id} is blocked by [{}]",
                blockers.join(" ")
            ));
        }
    }
    Ok(n_open)
}

/// A blocker as the real `bd` names it: with the type of the edge unless it is a plain one.
fn named_blocker(record: &Record, blocker: &BeadId) -> String {
    let mut edges = record.issue.dependencies().iter();
    let edge = edges.find(|edge| edge.target() == blocker);
    match edge.map(Dependency::kind) {
        Some(kind) if kind != EdgeType::Blocks => format!("{blocker} ({kind})"),
        _ => blocker.to_string(),
    }
}

fn open_children(opened: &Opened, id: &BeadId, is_forced: bool) -> Result<usize, String> {
    let children = (opened.children(id))
        .and_then(|children| opened.store.get(&children))
        .map_err(|error| error.to_string())?;
    let is_open = |child: &&Record| child.issue.status() != Status::Closed;
    let n_open = children.iter().filter(is_open).count();
    if n_open > 0 && !is_forced {
        return Err(format!(
            "cannot close {id}: {n_open} open child issue(s); close children first or use --force to override"
        ));
    }
    Ok(n_open)
}

/// What `--suggest-next` and `--claim-next` add to the answer.
#[derive(Serialize)]
struct Answer {
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed: Option<IssueJson>,
    closed: Vec<IssueJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unblocked: Option<Vec<IssueJson>>,
}

/// Prints what else happened when beads were closed.
fn finish(call: &Call<'_>, opened: &mut Opened, closed: &[Record]) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let is_json = call.output.is_json();
    if arguments.is_on("suggest-next")
        && let [only] = closed
    {
        let unblocked = unblocked_by(opened, only.issue.id())?;
        if !unblocked.is_empty() && is_json {
            return call.output.value(Answer {
                claimed: None,
                closed: issue_json::issues(closed),
                unblocked: Some(issue_json::issues(&unblocked)),
            });
        }
        if !unblocked.is_empty() {
            let mut page = String::from("\nNewly unblocked:\n");
            for record in &unblocked {
                let (issue, priority) = (feedback(&record.issue), record.issue.priority());
                push!(page, "  • {issue} (P{priority})\n");
            }
            call.output.text(&page)?;
        }
    }
    let mut claimed = None;
    if arguments.is_on("claim-next") {
        claimed = claim_next(opened)?;
        if !is_json {
            call.output.say(&match &claimed {
                Some(record) => format!(
                    "✓ Auto-claimed next ready issue: {} (P{})\n",
                    feedback(&record.issue),
                    record.issue.priority()
                ),
                None => "\n✨ No ready issues available to claim.\n".to_owned(),
            })?;
        }
    }
    match claimed {
        _ if !is_json => Ok(()),
        Some(record) => call.output.value(Answer {
            claimed: Some(issue_json::with_edges(&record)),
            closed: issue_json::issues(closed),
            unblocked: None,
        }),
        None => call.output.value(issue_json::issues(closed)),
    }
}

/// What waited for a bead and can be started now.
fn unblocked_by(opened: &Opened, id: &BeadId) -> Result<Vec<Record>, Refusal> {
    let dependents = opened.store.dependents(id)?;
    let blocked = dependents
        .into_iter()
        .filter(|(_, kind)| kind == EdgeType::Blocks);
    let blocked: Vec<BeadId> = blocked.map(|(other, _)| other).collect();
    let mut records = opened.store.get(&blocked)?;
    records.retain(|record| record.issue.status() != Status::Closed && !record.is_blocked);
    records.sort_by_key(|record| record.issue.priority());
    Ok(records)
}

/// How many are looked at first to claim one of them.
const FIRST: usize = 50;

fn claim_next(opened: &mut Opened) -> Result<Option<Record>, Refusal> {
    let query = Query {
        status: StatusFilter::OneOf(vec![Status::Open.into()]),
        order: Order::PriorityOldest,
        ..Query::default()
    };
    let query = claimable(query, opened.by.now);
    for limit in [Some(FIRST), None] {
        let query = Query {
            limit,
            ..query.clone()
        };
        for record in opened.store.find(&query)? {
            if claims::holder(&record).is_some() {
                continue;
            }
            if let Ok(claimed) = claims::claim(opened, &record) {
                return Ok(Some(claimed));
            }
        }
    }
    Ok(None)
}
