//! What the face may do to a bead that somebody holds, how it claims, and `bd heartbeat`.
//!
//! The real `bd` lets everybody change everything but a claim. Our store knows holders and fences: a claim of the face
//! has no process, and those yield to each other as in the real `bd`; a claim of a run has one, and only its fence
//! opens it.
//!
//! The real `bd` takes the assignee for the holder. The assignee of our own beads is a role (Z-3): it stays, it keeps nobody
//! from claiming (Z-40), and the claim alone says who holds the bead.

use beads_ralph_core::bead::{ASSIGNEE, Timestamp};
use beads_ralph_core::issue::{Edit, Record};
use beads_ralph_core::vocabulary::Status;
use beads_ralph_runtime::os::env::{self, Variable};
use beads_ralph_runtime::store::{Guard, NewClaim, StoreError};
use serde::Serialize;
use serde_json::Value;

use super::issue_json::LEASE;
use super::{
    Access, Call, Command, ID, Opened, Refusal, document_json, feedback, ids, input, issue_json,
    quoted,
};

/// Who holds a bead in the sense of the real `bd`: its assignee, unless that is a role.
pub(super) fn holder(record: &Record) -> Option<&str> {
    let assignee = record.issue.assignee().filter(|name| !name.is_empty())?;
    if is_role(assignee) {
        return holder_of_role(record);
    }
    Some(assignee)
}

/// Who fills the role that a bead is assigned to.
pub(super) fn holder_of_role(record: &Record) -> Option<&str> {
    let claim = record.claim.as_ref()?;
    let is_role = record.issue.assignee().is_some_and(is_role);
    is_role.then_some(claim.holder.run.as_str())
}

/// Whether an assignee is a role that anybody may fill.
pub(super) fn is_role(assignee: &str) -> bool {
    assignee == ASSIGNEE
}

/// Takes a bead for the actor, as `update --claim` does. The error is a sentence of the real `bd`.
pub(super) fn claim(opened: &mut Opened, record: &Record) -> Result<Record, String> {
    let actor = opened.actor().to_owned();
    let issue = &record.issue;
    let holder = holder(record).unwrap_or_default();
    let is_own = is_same_actor(holder, &actor);
    let held_by_run = record
        .claim
        .as_ref()
        .filter(|claim| claim.holder.process.is_some());
    if issue.status() == Status::InProgress && is_own && held_by_run.is_none() {
        return Ok(record.clone());
    }
    if let Some(claim) = held_by_run {
        let holder = if holder.is_empty() || is_own {
            &claim.holder.run
        } else {
            holder
        };
        return Err(format!("issue already claimed by {holder}"));
    }
    let is_pooled = || is_pool(opened, holder);
    if !holder.is_empty() && !is_own && !is_pooled().map_err(|error| error.to_string())? {
        return Err(if issue.status() == Status::Open {
            format!(
                "issue already claimed: already assigned to {} — coordinate with the holder; if their claim is abandoned (crashed agent), lease expiry will surface it for bd reclaim",
                quoted(holder)
            )
        } else {
            format!("issue already claimed by {holder}")
        });
    }
    let is_open = issue.status() == Status::Open;
    let is_active = || input::has_category(opened, issue.status(), "active");
    if !is_open && !is_active().map_err(|error| error.to_string())? {
        return Err(format!("issue not claimable: status {}", issue.status()));
    }
    if !is_open {
        // A store gives out only what is open.
        let guard = Guard {
            version: Some(record.version),
            ..Guard::forced()
        };
        let open = vec![Edit::Status(Status::Open.into())];
        opened
            .update_under(guard, record, open)
            .map_err(|error| error.to_string())?;
    }
    take(opened, record, &actor).map_err(|error| match error {
        StoreError::Held { holder, .. } => format!("issue already claimed by {}", holder.run),
        StoreError::NotClaimable { status, .. } => format!("issue not claimable: status {status}"),
        other => other.to_string(),
    })
}

/// Whether the setting `claim.pools` names an assignee: what is assigned to a pool may be claimed by anybody.
pub(super) fn is_pool(opened: &Opened, assignee: &str) -> Result<bool, StoreError> {
    let pools = opened.config("claim.pools")?.unwrap_or_default();
    let mut pools = pools.split(',').map(str::trim);
    Ok(pools.any(|pool| pool == assignee))
}

/// Ends the claim of a bead that is given to somebody else; nothing comes back when there is none of the face's to end.
pub(super) fn hand_over(
    opened: &mut Opened,
    record: &Record,
    assignee: &str,
) -> Result<Option<Record>, StoreError> {
    let Some(claim) = record.claim.as_ref() else {
        return Ok(None);
    };
    if claim.holder.process.is_some() || claim.holder.run == assignee {
        return Ok(None);
    }
    let id = record.issue.id();
    let freed = opened.signed(|store, by| store.release(id, claim.fence, by))?;
    Ok(Some(freed))
}

fn take(opened: &mut Opened, record: &Record, actor: &str) -> Result<Record, StoreError> {
    let holder = opened.holder();
    let lease_until = opened.by.now.checked_add(LEASE).unwrap_or(opened.by.now);
    let new = NewClaim {
        holder: &holder,
        lease_until,
        is_forced: true,
        instead_of: None,
    };
    let id = record.issue.id();
    let claimed = opened.signed(|store, by| store.claim(id, &new, by))?;
    let mut edits = Vec::new();
    let assignee = claimed.issue.assignee();
    if !assignee.is_some_and(|assignee| assignee == actor || is_role(assignee)) {
        edits.push(Edit::Set("assignee".to_owned(), actor.into()));
    }
    edits.extend(node().map(granted_by));
    if edits.is_empty() {
        return Ok(claimed);
    }
    opened.update_under(Guard::fenced(claimed.fence), &claimed, edits)?;
    Ok(opened.record(id)?.unwrap_or(claimed))
}

/// What this store is called among its replicas, if it has a name.
pub(super) fn node() -> Option<String> {
    let name = env::get(Variable::BeadsNodeId).or_else(|| env::get(Variable::BdNodeId))?;
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Notes which replica granted a lease.
pub(super) fn granted_by(node: String) -> Edit {
    Edit::Set("lease_granted_node".to_owned(), node.into())
}

/// Whether two names are one actor's: the real `bd` takes separators for each other.
pub(super) fn is_same_actor(assignee: &str, actor: &str) -> bool {
    assignee == actor || canonical(assignee) == canonical(actor)
}

fn canonical(name: &str) -> String {
    let is_separator = |c: char| matches!(c, '.' | '_' | '-');
    let mut text = String::new();
    let mut rest = name;
    while let Some(start) = rest.find(is_separator) {
        text.push_str(&rest[..start]);
        let after = rest[start..].trim_start_matches(is_separator);
        let run = &rest[start..rest.len() - after.len()];
        text.push(if run == "--" { '/' } else { '_' });
        rest = after;
    }
    text.push_str(rest);
    text
}

pub(super) const HEARTBEAT: Command = Command {
    name: "heartbeat",
    aliases: &["hb"],
    about: "Say that the work on a claimed bead goes on",
    positionals: ID,
    access: Access::Writes,
    run: Some(heartbeat),
    ..Command::NONE
};

fn heartbeat(call: &mut Call<'_>) -> Result<(), Refusal> {
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
    let holder = holder(record).unwrap_or_default();
    let is_own = is_same_actor(holder, opened.actor());
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
    let until = opened.by.now.checked_add(LEASE).unwrap_or(opened.by.now);
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
            document.insert("heartbeat_at".to_owned(), moment(opened.by.now));
        }
    }
    let has_node = issue_json::lease(record).is_some_and(|lease| lease.node.is_some());
    if let Some(node) = node().filter(|_| !has_node) {
        document.insert("lease_granted_node".to_owned(), node.into());
    }
    if document == *issue.document() {
        return Ok(());
    }
    // A heartbeat does not change the bead: its `updated_at` stays, or imports would take it for the later state.
    let edit = document_json::replacement(document)?;
    opened
        .update(record, vec![edit])
        .map_err(|error| error.to_string())
}
