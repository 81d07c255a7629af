//! `bd reopen`: closed beads that are not done after all.

use beads_ralph_core::issue::Edit;
use beads_ralph_runtime::store::Write;
use serde_json::Value;

use super::call::Call;
use super::failure::Refusal;
use super::tree::{Access, Arity, Command, IDS, text as text_flag};
use super::{holding, ids, input, issue_json};

pub(super) const COMMAND: Command = Command {
    name: "reopen",
    about: "Open closed beads again",
    positionals: IDS,
    arity: Arity::AtLeast(1),
    flags: &[text_flag("reason", "Why").short('r')],
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
                    .aside(&format!("Error resolving {text}: {}\n", why.message()));
                has_failed = true;
                continue;
            }
        };
        let id = record.issue.id();
        match record.issue.status() {
            "closed" => {}
            status if input::has_category(&opened, status, "done")? => {}
            "open" => {
                call.output.aside(&format!("{id} is already open\n"));
                continue;
            }
            status => {
                call.output.aside(&format!(
                    "{id} is not closed (status: {status}); nothing to do\n"
                ));
                continue;
            }
        }
        // The real `bd` tells the reason back and keeps it nowhere that it could be shown.
        let edits = vec![
            Edit::Reopen,
            Edit::Unset("closed_by_session".to_owned()),
            Edit::Unset("defer_until".to_owned()),
        ];
        let write = Write::Update {
            id: id.clone(),
            edits,
            guard: holding::guard(&opened, &record),
        };
        if let Err(error) = opened.write(&[write]) {
            call.output
                .aside(&format!("Error reopening {id}: {error}\n"));
            has_failed = true;
            continue;
        }
        if call.output.is_json() {
            let now = opened.record(id)?.unwrap_or(record);
            reopened.push(Value::Object(issue_json::issue(&now)));
        } else {
            let why = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            call.output.text(&format!("↻ Reopened {id}{why}\n"))?;
        }
    }
    if call.output.is_json() && !reopened.is_empty() {
        call.output.value(reopened.into())?;
    }
    if has_failed {
        return Err(Refusal::silent(1));
    }
    Ok(())
}
