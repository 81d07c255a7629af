//! `bd heartbeat`: the work on a claimed bead goes on.

use beads_ralph_core::bead::Timestamp;
use beads_ralph_core::issue::Record;
use beads_ralph_core::vocabulary::Status;
use beads_ralph_runtime::store::Write;
use serde::Serialize;
use serde_json::Value;

use super::issue_json::LEASE;
use super::{
    Access, Arity, Call, Command, ID, Opened, Refusal, claims, document_json, feedback, ids,
    issue_json,
};

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
    let record = ids::find(&opened, "resolving", text)?;
    let id = record.issue.id();
    beat(&mut opened, &record).map_err(|why| Refusal::json(format!("heartbeat {id}: {why}")))?;
    let answer = Heartbeat {
        id: id.as_str(),
        owner: opened.actor(),
        status: "heartbeat",
    };
    call.output.answer(answer, || {
        let issue = feedback(&record.issue);
        format!("✓ Heartbeat {issue} (lease refreshed)\n")
    })
}

#[derive(Serialize)]
struct Heartbeat<'h> {
    id: &'h str,
    owner: &'h str,
    status: &'static str,
}

fn beat(opened: &mut Opened, record: &Record) -> Result<(), String> {
    let issue = &record.issue;
    let holder = claims::holder(record).unwrap_or_default();
    let is_own = claims::is_same_actor(holder, opened.actor());
    if !holder.is_empty() && !is_own {
        return Err(format!("issue already claimed by {holder}"));
    }
    if issue.status() != Status::InProgress || !is_own {
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
    if let Some(node) = claims::node().filter(|_| !has_node) {
        document.insert("lease_granted_node".to_owned(), node.into());
    }
    if document == *issue.document() {
        return Ok(());
    }
    // A heartbeat does not change the bead: its `updated_at` stays, or imports would take it for the later state.
    let edit = document_json::replacement(document)?;
    let write = Write::Update {
        id: issue.id().clone(),
        edits: vec![edit],
        guard: claims::guard(opened, record),
    };
    opened.write(&[write]).map_err(|error| error.to_string())
}
