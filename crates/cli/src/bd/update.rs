//! `bd update`: changes of some beads, each for itself.

mod change;

use beads_ralph_core::issue::{Edit, Record};
use beads_ralph_core::vocabulary::field;
use beads_ralph_runtime::store::{StoreError, Write};
use serde_json::{Value, json};

use super::arguments::{Arguments, quoted};
use super::call::{Call, Opened};
use super::failure::Refusal;
use super::tree::{
    Access, Arity, Command, Flag, Positional, list_of, number, switch, text as text_flag, texts,
};
use super::{holding, ids, issue_json, output, text};

use change::Changes;

pub(super) const COMMAND: Command = Command {
    name: "update",
    about: "Change beads",
    positionals: &[Positional {
        name: "id",
        is_required: true,
        is_many: true,
    }],
    arity: Arity::Any,
    flags: FLAGS,
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
    text_flag("acceptance", "What must be true in the end"),
    text_flag("acceptance-criteria", "The same as --acceptance"),
    list_of("add-label", "Add labels"),
    switch(
        "allow-empty-description",
        "Take an empty description from a file or a pipe",
    ),
    text_flag("append-notes", "Add a line to the notes"),
    text_flag("assignee", "Who it is for; empty for nobody").short('a'),
    text_flag("body", "The same as --description"),
    text_flag(
        "body-file",
        "Take the description from a file, or from - for standard input",
    ),
    switch("claim", "Take it: it is yours and in progress"),
    text_flag(
        "defer",
        "Hide it from `bd ready` until then; empty for no longer",
    ),
    text_flag("description", "What is to be done").short('d'),
    text_flag("description-file", "The same as --body-file"),
    text_flag("design", "How it is to be done"),
    text_flag(
        "design-file",
        "Take the design from a file, or from - for standard input",
    ),
    text_flag("due", "When it is due; empty for never"),
    switch("ephemeral", "Make it one that does not last"),
    number("estimate", "How many minutes it takes").short('e'),
    text_flag("external-ref", "What it is called elsewhere"),
    switch(
        "force",
        "Take it from another holder, or close it although something is open",
    ),
    text_flag("if-assignee", "Only if it is for this one"),
    text_flag("if-status", "Only if it has this status"),
    text_flag("message", "The same as --description").short('m'),
    text_flag("metadata", "Keys for its metadata as JSON, or @file"),
    text_flag("notes", "Notes in the place of those that are there"),
    text_flag("parent", "What it is a part of; empty for nothing"),
    switch("persistent", "Make it one that lasts"),
    text_flag("priority", "0-4 or P0-P4, 0 is most urgent").short('p'),
    list_of("remove-label", "Remove labels"),
    text_flag("session", "The session in which it is closed"),
    list_of("set-labels", "Labels in the place of those that are there"),
    texts("set-metadata", "Set one key of the metadata: key=value"),
    text_flag("spec-id", "The specification it follows"),
    text_flag("status", "Its status").short('s'),
    switch("stdin", "Take the description from standard input"),
    text_flag("title", "Its title"),
    text_flag("type", "Its type").short('t'),
    texts("unset-metadata", "Remove one key of the metadata"),
];

/// The exit code when every failure was a guard that no longer held.
const GUARD_MISMATCH: u8 = 13;

/// Why one bead was not changed.
struct Failed {
    id: String,
    error: String,
    is_guard: bool,
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
                    updated.push(Value::Object(issue_json::issue(&done.record)));
                } else {
                    call.output.say(&format!(
                        "✓ Updated issue: {}\n",
                        text::feedback(&done.record.issue)
                    ))?;
                }
            }
            Err((said, failed)) => {
                call.output.aside(&format!("{said}\n"));
                failures.push(failed);
            }
        }
    }
    for warning in warnings {
        call.output.aside(&warning);
    }
    if call.output.is_json() && !updated.is_empty() {
        call.output.value(updated.into())?;
    }
    if failures.is_empty() {
        return Ok(());
    }
    Err(report(call, &failures))
}

/// What is said when no id was given: nothing is taken for granted here.
pub(super) fn no_id() -> Refusal {
    Refusal::json(
        "no issue ID provided (the last-touched fallback only applies in interactive sessions; pass an explicit issue ID or set BD_LAST_TOUCHED_FALLBACK=1)",
    )
}

/// What is said of a status that there is not.
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
    let failed = |said: String, error: String| {
        let failed = Failed {
            id: id.to_owned(),
            error,
            is_guard: false,
        };
        (said, failed)
    };
    let record = ids::resolve(opened, id).map_err(|why| {
        let why = why.message();
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
    let holder = holding::holder(record)?;
    let is_own =
        holding::is_same_actor(holder, opened.actor()) || holding::is_same_actor(holder, assignee);
    let is_pooled = holding::is_pool(opened, holder).unwrap_or(false);
    if is_free || is_own || is_pooled || issue.status() != "in_progress" {
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
        record = holding::claim(opened, &record).map_err(Wrong::Other)?;
    }
    let mut edits = edits;
    if let Some(assignee) = changes.assignee()
        && let Some(freed) = holding::hand_over(opened, &record, assignee).map_err(other)?
    {
        // The bead stays in progress, and whoever it is for now has said nothing yet.
        let has_status = edits
            .iter()
            .any(|edit| matches!(edit, Edit::Status(_) | Edit::Close(_)));
        if !has_status {
            edits.push(Edit::Status("in_progress".to_owned()));
        }
        record = freed;
    }
    let holder = record.issue.assignee();
    if record.claim.is_none() && changes.assignee().is_some_and(|name| Some(name) != holder) {
        // The lease was that of whoever it was for.
        edits.extend(field::LEASE.map(|field| Edit::Unset(field.to_owned())));
    }
    if !edits.is_empty() {
        let mut guard = holding::guard(opened, &record);
        // Whoever looked at a bead to decide must find it as it was.
        let is_guarded = arguments.has("if-assignee") || arguments.has("if-status");
        if is_guarded {
            guard.version = Some(record.version);
        }
        let write = Write::Update {
            id: record.issue.id().clone(),
            edits,
            guard,
        };
        opened.write(&[write]).map_err(|error| match error {
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
        let failed = failures.iter().map(|failure| {
            let mut object = json!({"id": failure.id, "error": failure.error});
            if failure.is_guard {
                object["guard_mismatch"] = true.into();
            }
            object
        });
        let inner = json!({"error": message, "failed": failed.collect::<Vec<_>>()});
        let payload = if call.output.is_envelope {
            json!({"data": inner, "schema_version": 1})
        } else {
            json!({"error": inner["error"], "failed": inner["failed"], "schema_version": 1})
        };
        call.output
            .encoded_aside(&format!("{}\n", output::encode_line(&payload)));
    } else {
        call.output.aside(&format!("Error: {message}\n"));
        for failure in failures {
            call.output
                .aside(&format!("  {}: {}\n", failure.id, failure.error));
        }
    }
    let is_all_guards = failures.iter().all(|failure| failure.is_guard);
    Refusal::silent(if is_all_guards { GUARD_MISMATCH } else { 1 })
}
