//! `bd reopen`: closed beads that are not done after all.

use beads_ralph_core::issue::Edit;
use beads_ralph_core::vocabulary::Status;

use super::{Access, Arity, Call, Command, IDS, Refusal, ids, input, issue_json, string};

pub(super) const COMMAND: Command = Command {
    name: "reopen",
    about: "Open closed beads again",
    positionals: IDS,
    arity: Arity::AtLeast(1),
    flags: &[string("reason", "Why").short('r')],
    access: Access::Writes,
    run: Some(run),
    ..Command::NONE
};

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
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
                    .aside(&format!("Error resolving {text}: {why}\n"));
                has_failed = true;
                continue;
            }
        };
        let id = record.issue.id();
        let status = record.issue.status();
        if status != Status::Closed && !input::has_category(&opened, status, "done")? {
            call.output.aside(&if status == Status::Open {
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
                .aside(&format!("Error reopening {id}: {error}\n"));
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
