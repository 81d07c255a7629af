//! `bd defer`, `bd undefer` and `bd reopen`: beads that are put off, and those that come back.

use beads_ralph_core::bead::{BeadId, Timestamp};
use beads_ralph_core::issue::{Condition, Edit, Moment, Query, Record, StatusFilter};
use beads_ralph_core::vocabulary::Status;
use beads_ralph_runtime::store::Write;
use jiff::SignedDuration;

use super::{
    Access, Arguments, Call, Command, IDS, Opened, Refusal, create, ids, input, inside_run,
    issue_json, quoted, string, times,
};

pub(super) const COMMAND: Command = Command {
    name: "defer",
    about: "Put beads off",
    positionals: IDS,
    flags: &[
        string("reason", "Why; it is added to the notes"),
        string(
            "until",
            "When they come back by themselves: +1h, tomorrow, next monday, 2025-01-15",
        ),
    ],
    access: Access::Writes,
    run: Some(defer),
    ..Command::NONE
};

pub(super) const UNDO: Command = Command {
    name: "undefer",
    about: "Bring back beads that were put off",
    positionals: IDS,
    access: Access::Writes,
    run: Some(undefer),
    ..Command::NONE
};

fn defer(call: &mut Call<'_>) -> Result<(), Refusal> {
    let mut opened = call.open()?;
    let until = until(call, &opened)?;
    let reason = reason(call.arguments)?;
    let records = resolve(&opened, &call.arguments.words)?;
    let mut changed = Vec::new();
    for record in &records {
        let mut edits = vec![
            Edit::Status(Status::Deferred.into()),
            Edit::Unset("closed_by_session".to_owned()),
        ];
        edits.extend(reason.clone().map(Edit::AppendNotes));
        if let Some(until) = until {
            let until = Timestamp::from_instant(until).as_str().into();
            edits.push(Edit::Set("defer_until".to_owned(), until));
        }
        let id = record.issue.id();
        match write(&mut opened, id, edits) {
            Err(why) => call
                .output
                .stderr(&format!("Error deferring {id}: {why}\n")),
            Ok(now) => {
                if !call.output.is_json() {
                    call.output.text(&format!("* Deferred {id}\n"))?;
                }
                changed.push(now);
            }
        }
    }
    answer(call, &changed)
}

fn until(call: &Call<'_>, opened: &Opened) -> Result<Option<jiff::Timestamp>, Refusal> {
    let Some(given) = call.arguments.filled("until") else {
        return Ok(None);
    };
    let Some(at) = times::parse(given, opened.by.now) else {
        return Err(Refusal::plain(format!(
            "invalid --until format {}. Examples: +1h, tomorrow, next monday, 2025-01-15",
            quoted(given)
        )));
    };
    if at < opened.by.now && !call.output.is_json() {
        let warning = create::past(at).replace("--defer", "--until");
        call.output.stderr(&warning);
    }
    Ok(Some(at))
}

fn reason(arguments: &Arguments) -> Result<Option<String>, Refusal> {
    match arguments.text("reason").map(str::trim) {
        Some("") => Err(Refusal::plain("reason cannot be empty")),
        reason => Ok(reason.map(str::to_owned)),
    }
}

fn undefer(call: &mut Call<'_>) -> Result<(), Refusal> {
    let mut opened = call.open()?;
    let records = resolve(&opened, &call.arguments.words)?;
    let mut changed = Vec::new();
    for record in &records {
        let (id, status) = (record.issue.id(), record.issue.status());
        if status != Status::Deferred {
            call.output
                .stderr(&format!("{id} is not deferred (status: {status})\n"));
            continue;
        }
        let edits = vec![
            Edit::Status(Status::Open.into()),
            Edit::Unset("defer_until".to_owned()),
        ];
        match write(&mut opened, id, edits) {
            Err(why) => call
                .output
                .stderr(&format!("Error undeferring {id}: {why}\n")),
            Ok(now) => {
                if !call.output.is_json() {
                    call.output
                        .text(&format!("* Undeferred {id} (now open)\n"))?;
                }
                changed.push(now);
            }
        }
    }
    answer(call, &changed)
}

/// The beads that were named: all of them, or nothing is done.
fn resolve(opened: &Opened, words: &[String]) -> Result<Vec<Record>, Refusal> {
    let resolve = |word: &String| ids::resolve(opened, word);
    let records = words.iter().map(resolve).collect::<Result<_, _>>();
    records.map_err(|why| Refusal::plain(why.to_string()))
}

/// Brings back what was put off until a moment that is over. Whoever may only read leaves it as it is.
pub(super) fn wake(call: &Call<'_>, opened: &mut Opened) -> Result<(), Refusal> {
    if call.arguments.is_on("readonly") || inside_run::Caller::here() != inside_run::Caller::Outside
    {
        return Ok(());
    }
    let just_after = opened.by.now + SignedDuration::from_nanos(1);
    let query = Query {
        status: StatusFilter::OneOf(vec![Status::Deferred.into()]),
        conditions: vec![Condition::Before(Moment::Deferred, just_after)],
        includes_hidden: true,
        ..Query::default()
    };
    let records = opened.store.find(&query)?;
    let back = [
        Edit::Status(Status::Open.into()),
        Edit::Unset("defer_until".to_owned()),
    ];
    let batch: Vec<Write> = (records.iter())
        .map(|record| opened.change(record, back.to_vec()))
        .collect();
    if batch.is_empty() {
        return Ok(());
    }
    Ok(opened.write(&batch)?)
}

/// Changes a bead as it is now: it may have been named twice.
fn write(opened: &mut Opened, id: &BeadId, edits: Vec<Edit>) -> Result<Record, String> {
    let gone = || format!("issue {id} not found");
    let record = opened.record(id).map_err(|error| error.to_string())?;
    let updated = opened.update(&record.ok_or_else(gone)?, edits);
    let now = updated.and_then(|()| opened.record(id));
    now.map_err(|error| error.to_string())?.ok_or_else(gone)
}

fn answer(call: &Call<'_>, changed: &[Record]) -> Result<(), Refusal> {
    if !call.output.is_json() || changed.is_empty() {
        return Ok(());
    }
    call.output.value(issue_json::issues(changed))
}

pub(super) const REOPEN: Command = Command {
    name: "reopen",
    about: "Open closed beads again",
    positionals: IDS,
    flags: &[string("reason", "Why").short('r')],
    access: Access::Writes,
    run: Some(reopen),
    ..Command::NONE
};

fn reopen(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let mut opened = call.open()?;
    let reason = arguments.filled("reason");
    let mut reopened = Vec::new();
    let mut has_failed = false;
    for text in &arguments.words {
        let record = match ids::resolve(&opened, text) {
            Ok(record) => record,
            Err(why) => {
                call.output
                    .stderr(&format!("Error resolving {text}: {why}\n"));
                has_failed = true;
                continue;
            }
        };
        let id = record.issue.id();
        let status = record.issue.status();
        if status != Status::Closed && !input::has_category(&opened, status, "done")? {
            call.output.stderr(&if status == Status::Open {
                format!("{id} is already open\n")
            } else {
                format!("{id} is not closed (status: {status}); nothing to do\n")
            });
            continue;
        }
        // The real `bd` tells the reason back and keeps it nowhere that it could be shown.
        let edits = vec![
            Edit::Reopen,
            Edit::Unset("closed_by_session".to_owned()),
            Edit::Unset("defer_until".to_owned()),
        ];
        if let Err(error) = opened.update(&record, edits) {
            call.output
                .stderr(&format!("Error reopening {id}: {error}\n"));
            has_failed = true;
            continue;
        }
        if call.output.is_json() {
            let now = opened.record(id)?.unwrap_or(record);
            reopened.push(issue_json::issue(&now));
        } else {
            let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            call.output.text(&format!("↻ Reopened {id}{why}\n"))?;
        }
    }
    if call.output.is_json() && !reopened.is_empty() {
        call.output.value(reopened)?;
    }
    if has_failed {
        return Err(Refusal::silent(1));
    }
    Ok(())
}
