//! `bd heartbeat`: the work on a claimed bead goes on.

use beads_ralph_core::issue::Record;
use serde_json::json;

use super::call::{Call, Opened};
use super::failure::Refusal;
use super::issue_json::LEASE;
use super::tree::{Access, Arity, Command, ID};
use super::{holding, ids, text};

pub(super) const COMMAND: Command = Command {
    name: "heartbeat",
    aliases: &["hb"],
    about: "Say that the work on a claimed bead goes on",
    positionals: ID,
    arity: Arity::Exactly(1),
    access: Access::Writes,
    run: Some(run),
    ..Command::NONE
};

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let mut opened = call.open()?;
    let text = call.arguments.words.first().map_or("", String::as_str);
    let record = ids::resolve(&opened, text)
        .map_err(|why| Refusal::json(format!("resolving {text}: {}", why.message())))?;
    let id = record.issue.id();
    beat(&mut opened, &record).map_err(|why| Refusal::json(format!("heartbeat {id}: {why}")))?;
    if call.output.is_json() {
        return call.output.value(json!({
            "id": id.as_str(), "owner": opened.actor(), "status": "heartbeat",
        }));
    }
    call.output.raw(&format!(
        "✓ Heartbeat {} (lease refreshed)\n",
        text::feedback(&record.issue)
    ))
}

fn beat(opened: &mut Opened, record: &Record) -> Result<(), String> {
    let issue = &record.issue;
    let assignee = issue.assignee().unwrap_or_default();
    if issue.status() != "in_progress" {
        return Err(format!(
            "issue not claimable: {} status {}",
            issue.id(),
            issue.status()
        ));
    }
    if !holding::is_same_actor(assignee, opened.actor()) {
        return Err(format!("issue already claimed by {assignee}"));
    }
    let Some(claim) = &record.claim else {
        return Err(format!("issue not claimable: {} has no lease", issue.id()));
    };
    if claim.holder.process.is_some() {
        return Err(format!("issue already claimed by {}", claim.holder.run));
    }
    let until = opened.now.checked_add(LEASE).unwrap_or(opened.now);
    let beaten = opened.store.heartbeat(issue.id(), claim.fence, until);
    beaten.map(drop).map_err(|error| error.to_string())
}
