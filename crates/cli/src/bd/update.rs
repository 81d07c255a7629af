//! `bd update`: changes of some beads, each for itself.

mod change;

use beads_ralph_core::issue::{Edit, Record};
use beads_ralph_core::vocabulary::{Status, field};
use beads_ralph_runtime::store::StoreError;
use serde::Serialize;

use super::input::DESCRIBING;
use super::{
    Access, Arguments, Arity, Call, Command, Flag, Opened, Refusal, claims, feedback, go_json, ids,
    issue_json, list_of, many, quoted, string, switch, texts,
};

use change::Changes;

pub(super) const COMMAND: Command = Command {
    name: "update",
    about: "Change beads",
    positionals: &[many("id")],
    arity: Arity::Any,
    flags: FLAGS,
    shared: DESCRIBING,
    not_served: &["await-id", "history", "no-history"],
    exclusive: &[
        &["stdin", "body-file"],
        &["stdin", "description-file"],
        &["stdin", "description"],
        &["stdin", "body"],
        &["stdin", "message"],
        &["design", "design-file"],
        &["force", "if-assignee"],
    ],
    access: Access::Writes,
    run: Some(run),
    ..Command::NONE
};

const FLAGS: &[Flag] = &[
    string("acceptance-criteria", "The same as --acceptance"),
    list_of("add-label", "Add labels"),
    string("append-notes", "Add a line to the notes"),
    string("assignee", "Who it is for; empty for nobody").short('a'),
    switch("claim", "Take it: it is yours and in progress"),
    string(
        "defer",
        "Hide it from `bd ready` until then; empty for no longer",
    ),
    string("due", "When it is due; empty for never"),
    switch("ephemeral", "Make it one that does not last"),
    switch(
        "force",
        "Take it from another holder, or close it although something is open",
    ),
    string("if-assignee", "Only if it is for this one"),
    string("if-status", "Only if it has this status"),
    string("metadata", "Keys for its metadata as JSON, or @file"),
    string("notes", "Notes in the place of those that are there"),
    string("parent", "What it is a part of; empty for nothing"),
    switch("persistent", "Make it one that lasts"),
    list_of("remove-label", "Remove labels"),
    string("session", "The session in which it is closed"),
    list_of("set-labels", "Labels in the place of those that are there"),
    texts("set-metadata", "Set one key of the metadata: key=value"),
    string("status", "Its status").short('s'),
    texts("unset-metadata", "Remove one key of the metadata"),
];

/// The exit code when every failure was a guard that no longer held.
const GUARD_MISMATCH: u8 = 13;

/// Why one bead was not changed.
#[derive(Serialize)]
struct Failed {
    id: String,
    error: String,
    #[serde(rename = "guard_mismatch", skip_serializing_if = "std::ops::Not::not")]
    is_guard: bool,
}

#[derive(Serialize)]
struct Report<'f> {
    error: &'f str,
    failed: &'f [Failed],
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_version: Option<u64>,
}

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    if arguments.words.is_empty() {
        return Err(no_id());
    }
    if let Some(word) = arguments.words.iter().find(|word| word.contains('=')) {
        return Err(Refusal::json(format!(
            "positional argument {} contains '=', which no issue id does — this is a mis-typed flag value; repeat the flag per pair, e.g. --set-metadata a=1 --set-metadata b=2",
            quoted(word)
        )));
    }
    let mut opened = call.open()?;
    let changes = Changes::read(&opened, arguments, call.output)?;
    if changes.is_empty() && !arguments.is_on("claim") {
        return call.output.text("No updates specified\n");
    }
    changes.check_guards(&opened, arguments)?;
    let mut updated = Vec::new();
    let mut failures: Vec<Failed> = Vec::new();
    let mut warnings = Vec::new();
    for id in &arguments.words {
        match update_one(&mut opened, id, &changes, arguments) {
            Ok(done) => {
                warnings.extend(done.warning);
                if call.output.is_json() {
                    updated.push(issue_json::issue(&done.record));
                } else {
                    call.output.say(&format!(
                        "✓ Updated issue: {}\n",
                        feedback(&done.record.issue)
                    ))?;
                }
            }
            Err((message, failed)) => {
                call.output.stderr(&format!("{message}\n"));
                failures.push(failed);
            }
        }
    }
    for warning in warnings {
        call.output.stderr(&warning);
    }
    if call.output.is_json() && !updated.is_empty() {
        call.output.value(updated)?;
    }
    if failures.is_empty() {
        return Ok(());
    }
    Err(report(call, &failures))
}

/// The error when no id was given: a last touched bead is not remembered here.
pub(super) fn no_id() -> Refusal {
    Refusal::json(
        "no issue ID provided (the last-touched fallback only applies in interactive sessions; pass an explicit issue ID or set BD_LAST_TOUCHED_FALLBACK=1)",
    )
}

/// The error about an unknown status.
pub(super) fn invalid_status(what: &str, status: &str) -> Refusal {
    Refusal::json(format!(
        "invalid {what} {} (built-in: open, in_progress, blocked, deferred, closed, pinned, hooked; or configure custom statuses via 'bd config set status.custom')",
        quoted(status)
    ))
}

struct Done {
    record: Record,
    warning: Option<String>,
}

fn update_one(
    opened: &mut Opened,
    id: &str,
    changes: &Changes,
    arguments: &Arguments,
) -> Result<Done, (String, Failed)> {
    let failed = |message: String, error: String| {
        let failed = Failed {
            id: id.to_owned(),
            error,
            is_guard: false,
        };
        (message, failed)
    };
    let record = ids::resolve(opened, id).map_err(|why| {
        failed(
            format!("Error resolving {id}: {why}"),
            format!("resolving issue: {why}"),
        )
    })?;
    if let Some(why) = refused(opened, &record, id, changes, arguments) {
        return Err(failed(why.clone(), why));
    }
    let wrong = |why: Wrong| {
        let (why, is_guard) = match why {
            Wrong::Guard(why) => (why, true),
            Wrong::Other(why) => (why, false),
        };
        let failed = Failed {
            id: id.to_owned(),
            error: format!("updating issue: {why}"),
            is_guard,
        };
        (format!("Error updating {id}: {why}"), failed)
    };
    let old_notes = record.issue.text("notes").unwrap_or_default().to_owned();
    let record = apply(opened, record, changes, arguments).map_err(wrong)?;
    let is_replaced =
        changes.notes().is_some_and(|notes| notes != old_notes) && !old_notes.is_empty();
    let warning = is_replaced.then(|| {
        format!("warning: {id}: --notes replaced existing notes (use --append-notes to preserve history)\n")
    });
    Ok(Done { record, warning })
}

/// Why a bead must not be touched, as the real `bd` says it.
fn refused(
    opened: &Opened,
    record: &Record,
    id: &str,
    changes: &Changes,
    arguments: &Arguments,
) -> Option<String> {
    let issue = &record.issue;
    if let Some(why) = template(record, id) {
        return Some(why);
    }
    let assignee = changes.assignee()?;
    let is_free =
        arguments.is_on("claim") || arguments.is_on("force") || arguments.has("if-assignee");
    let holder = claims::holder(record)?;
    let is_own =
        claims::is_same_actor(holder, opened.actor()) || claims::is_same_actor(holder, assignee);
    let is_pooled = claims::is_pool(opened, holder).unwrap_or(false);
    if is_free || is_own || is_pooled || issue.status() != Status::InProgress {
        return None;
    }
    Some(format!(
        "cannot reassign {id}: held by {} (in_progress); coordinate with the holder (bd mail {holder}) — pass --force only if their claim is abandoned (crashed agent, expired lease), or use bd reclaim",
        quoted(holder)
    ))
}

/// Why a template must not be touched, as the real `bd` says it.
pub(super) fn template(record: &Record, id: &str) -> Option<String> {
    record.issue.flag("is_template").then(|| {
        format!(
            "cannot modify template {id}: templates are read-only; use 'bd mol pour' to create a work item"
        )
    })
}

enum Wrong {
    /// The bead is not as the guard says.
    Guard(String),
    Other(String),
}

fn apply(
    opened: &mut Opened,
    record: Record,
    changes: &Changes,
    arguments: &Arguments,
) -> Result<Record, Wrong> {
    let other = |error: StoreError| Wrong::Other(error.to_string());
    let mut record = record;
    Changes::check_expected(&record, arguments).map_err(Wrong::Guard)?;
    changes.check_values(opened).map_err(Wrong::Other)?;
    let edits = changes
        .edits(opened, &record, arguments)
        .map_err(Wrong::Other)?;
    if arguments.is_on("claim") {
        record = claims::claim(opened, &record).map_err(Wrong::Other)?;
    }
    let mut edits = edits;
    if let Some(assignee) = changes.assignee()
        && let Some(freed) = claims::hand_over(opened, &record, assignee).map_err(other)?
    {
        // The bead stays in progress, and whoever it is for now has said nothing yet.
        let has_status = edits
            .iter()
            .any(|edit| matches!(edit, Edit::Status(_) | Edit::Close(_)));
        if !has_status {
            edits.push(Edit::Status(Status::InProgress.into()));
        }
        record = freed;
    }
    let holder = record.issue.assignee();
    if record.claim.is_none() && changes.assignee().is_some_and(|name| Some(name) != holder) {
        // The lease was that of whoever it was for.
        edits.extend(field::LEASE.map(|field| Edit::Unset(field.to_owned())));
    }
    if !edits.is_empty() {
        let mut guard = opened.guard(&record);
        // Whoever looked at a bead to decide must find it as it was.
        let is_guarded = arguments.has("if-assignee") || arguments.has("if-status");
        if is_guarded {
            guard.version = Some(record.version);
        }
        let updated = opened.update_under(guard, &record, edits);
        updated.map_err(|error| match error {
            StoreError::Guard { .. } if is_guarded => Wrong::Guard(error.to_string()),
            StoreError::Cycle(_) => {
                Wrong::Other("adding dependency would create a cycle".to_owned())
            }
            error => Wrong::Other(error.to_string()),
        })?;
    }
    let now = opened.record(record.issue.id()).map_err(other)?;
    Ok(now.unwrap_or(record))
}

fn report(call: &Call<'_>, failures: &[Failed]) -> Refusal {
    let total = call.arguments.words.len();
    let message = format!("{} of {total} issues failed to update", failures.len());
    if call.output.is_json() {
        // The keys stay in this order, which those of other answers do not.
        let is_envelope = call.output.is_envelope;
        let report = Report {
            error: &message,
            failed: failures,
            schema_version: (!is_envelope).then_some(go_json::SCHEMA_VERSION),
        };
        let payload = if is_envelope {
            go_json::wrapped(report, true)
        } else {
            go_json::value(report)
        };
        call.output
            .encoded_stderr(&format!("{}\n", go_json::encode_line(&payload)));
    } else {
        call.output.stderr(&format!("Error: {message}\n"));
        for failure in failures {
            call.output
                .stderr(&format!("  {}: {}\n", failure.id, failure.error));
        }
    }
    let is_all_guards = failures.iter().all(|failure| failure.is_guard);
    Refusal::silent(if is_all_guards { GUARD_MISMATCH } else { 1 })
}
