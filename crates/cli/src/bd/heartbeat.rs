//! `bd heartbeat`: the work on a claimed bead goes on.

use beads_ralph_core::bead::Timestamp;
use beads_ralph_core::issue::Record;
use beads_ralph_runtime::store::Write;
use serde_json::{Value, json};

use super::call::{Call, Opened};
use super::failure::Refusal;
use super::issue_json::{self, LEASE};
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
    call.output.text(&format!(
        "✓ Heartbeat {} (lease refreshed)\n",
        text::feedback(&record.issue)
    ))
}

fn beat(opened: &mut Opened, record: &Record) -> Result<(), String> {
    let issue = &record.issue;
    let holder = holding::holder(record).unwrap_or_default();
    let is_own = holding::is_same_actor(holder, opened.actor());
    if !holder.is_empty() && !is_own {
        return Err(format!("issue already claimed by {holder}"));
    }
    if issue.status() != "in_progress" || !is_own {
        return Err(format!(
            "issue not claimable: {} status {}",
            issue.id(),
            issue.status()
        ));
    }
    let until = opened.now.checked_add(LEASE).unwrap_or(opened.now);
    let mut document = issue.document().clone();
    match &record.claim {
        Some(claim) if claim.holder.process.is_some() => {
            return Err(format!("issue already claimed by {}", claim.holder.run));
        }
        Some(claim) => {
            let beaten = opened.store.heartbeat(issue.id(), claim.fence, until);
            beaten.map_err(|error| error.to_string())?;
        }
        // Whoever set it in progress by hand, or took it elsewhere, has a lease from now on.
        None => {
            let moment = |at| Value::from(Timestamp::from_instant(at).as_str());
            document.insert("lease_expires_at".to_owned(), moment(until));
            document.insert("heartbeat_at".to_owned(), moment(opened.now));
        }
    }
    let has_node = issue_json::lease(record).is_some_and(|lease| lease.node.is_some());
    if let Some(node) = holding::node().filter(|_| !has_node) {
        document.insert("lease_granted_node".to_owned(), node.into());
    }
    if document == *issue.document() {
        return Ok(());
    }
    // A sign of life is no change of the bead: its `updated_at` stays, or imports would take it for the later state.
    let edit = holding::replaced(document)?;
    let write = Write::Update {
        id: issue.id().clone(),
        edits: vec![edit],
        guard: holding::guard(opened, record),
    };
    opened.write(&[write]).map_err(|error| error.to_string())
}
