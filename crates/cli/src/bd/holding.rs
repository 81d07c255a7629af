//! What the face may do to a bead that somebody holds, and how it claims.
//!
//! The real `bd` lets everybody change everything but a claim. Our store knows holders and fences: a claim of the face
//! has no process, and those yield to each other as in the real `bd`; a claim of a run has one, and only its fence
//! opens it.

use beads_ralph_core::issue::{Edit, Record};
use beads_ralph_runtime::store::{Guard, NewClaim, Stamp, StoreError, Write};

use super::arguments::quoted;
use super::call::Opened;
use super::issue_json::LEASE;

/// The guard under which the face writes into a bead.
pub(super) fn guard(opened: &Opened, record: &Record) -> Guard {
    match &record.claim {
        // Somebody without a process, or nobody: as the real `bd`, whoever writes last is right.
        None => forced(),
        Some(claim) if claim.holder.process.is_none() && claim.holder.run == opened.actor() => {
            Guard::fenced(claim.fence)
        }
        Some(claim) if claim.holder.process.is_none() => forced(),
        Some(_) => Guard::default(),
    }
}

fn forced() -> Guard {
    Guard {
        is_forced: true,
        ..Guard::default()
    }
}

/// Takes a bead for the actor, as `update --claim` does. The error is a sentence of the real `bd`.
pub(super) fn claim(opened: &mut Opened, record: &Record) -> Result<Record, String> {
    let actor = opened.actor().to_owned();
    let issue = &record.issue;
    let assignee = issue.assignee().unwrap_or_default();
    let is_own = is_same_actor(assignee, &actor);
    let held_by_run = record
        .claim
        .as_ref()
        .filter(|claim| claim.holder.process.is_some());
    if issue.status() == "in_progress" && is_own && held_by_run.is_none() {
        return Ok(record.clone());
    }
    if let Some(claim) = held_by_run {
        let holder = if assignee.is_empty() || is_own {
            &claim.holder.run
        } else {
            assignee
        };
        return Err(format!("issue already claimed by {holder}"));
    }
    if !assignee.is_empty() && !is_own {
        return Err(if issue.status() == "open" {
            format!(
                "issue already claimed: already assigned to {} — coordinate with the holder; if their claim is abandoned (crashed agent), lease expiry will surface it for bd reclaim",
                quoted(assignee)
            )
        } else {
            format!("issue already claimed by {assignee}")
        });
    }
    if issue.status() != "open" {
        return Err(format!("issue not claimable: status {}", issue.status()));
    }
    take(opened, record, &actor).map_err(|error| match error {
        StoreError::Held { holder, .. } => format!("issue already claimed by {}", holder.run),
        StoreError::NotClaimable { status, .. } => format!("issue not claimable: status {status}"),
        other => other.to_string(),
    })
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
    let actor = opened.actor().to_owned();
    let by = Stamp {
        actor: &actor,
        at: opened.now,
    };
    let freed = opened.store.release(record.issue.id(), claim.fence, by)?;
    Ok(Some(freed))
}

fn take(opened: &mut Opened, record: &Record, actor: &str) -> Result<Record, StoreError> {
    let holder = opened.holder();
    let lease_until = opened.now.checked_add(LEASE).unwrap_or(opened.now);
    let new = NewClaim {
        holder: &holder,
        lease_until,
        is_forced: true,
        instead_of: None,
    };
    let by = Stamp {
        actor,
        at: opened.now,
    };
    let id = record.issue.id();
    let claimed = opened.store.claim(id, &new, by)?;
    if claimed.issue.assignee() == Some(actor) {
        return Ok(claimed);
    }
    let write = Write::Update {
        id: id.clone(),
        edits: vec![Edit::Set("assignee".to_owned(), actor.into())],
        guard: Guard::fenced(claimed.fence),
    };
    opened.write(&[write])?;
    Ok(opened.record(id)?.unwrap_or(claimed))
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
