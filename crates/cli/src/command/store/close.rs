//! `close`: beads that are done.
//!
//! Results: `{id, closed: true, changed: bool, unblocked: [ids], completed: [ids]}` for each bead, else `{id, closed: false, error}`.
//! `completed` has the molecules whose last step it was (F-14).

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::{Blocker, Edit, Fence, Record};
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::store::{Guard, Write};
use clap::Args;
use serde_json::json;

use crate::args::{Global, GuardArgs};
use crate::beads::{Beads, until_settled};
use crate::failure::Failure;
use crate::molecules;
use crate::ui::Ui;
use crate::ui::bead_view::{named, word};
use crate::ui::outcomes::{self, Done};

#[derive(Debug, Args)]
pub(crate) struct CloseArgs {
    /// The beads
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Why
    #[arg(short, long, value_name = "TEXT", default_value = "Closed")]
    pub(crate) reason: String,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

pub(crate) fn run(args: &CloseArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    one_fence_one_bead(args.guard.fence, &args.ids)?;
    let mut beads = Beads::open(global)?;
    outcomes::each(&args.ids, "closed", ui, |id| close(id, args, &mut beads))
}

/// A fence belongs to one claim of one bead.
pub(crate) fn one_fence_one_bead(fence: Option<Fence>, ids: &[String]) -> Result<(), Failure> {
    if fence.is_some() && ids.len() > 1 {
        return Err(Failure::new(
            ErrorCode::ValidationConstraint,
            "--fence goes with one bead: every claim has its own",
        )
        .action("name one bead at a time")
        .exit_with(2));
    }
    Ok(())
}

fn close(id: &str, args: &CloseArgs, beads: &mut Beads) -> Result<Done, Failure> {
    let (before, waiting, open, after) = until_settled(|| {
        let before = beads.resolve(id)?;
        if !args.guard.force {
            refuse_while_waiting(&before, beads)?;
        }
        let waiting = still_waiting(before.issue.id(), beads)?;
        let open = molecules::open_above(&*beads.store, &before)?;
        let after = write(&before, args, beads)?;
        Ok(after.map(|after| (before, waiting, open, after)))
    })?;
    let id = before.issue.id();
    let is_changed = after.version != before.version;
    let mut unblocked = Vec::new();
    for other in waiting {
        if !beads.record(&other)?.is_blocked {
            unblocked.push(other.to_string());
        }
    }
    let mut said = if is_changed {
        format!("closed {}", named(&after))
    } else {
        format!("{} was closed already", named(&after))
    };
    if !unblocked.is_empty() {
        let ids: Vec<String> = unblocked.iter().map(|id| excerpt(id)).collect();
        said = format!("{said}\n  no longer held back: {}", ids.join(", "));
    }
    let completed = molecules::closed_of(&*beads.store, &open)?;
    for root in &completed {
        said = format!("{said}\n  closed {}: all its steps are", named(root));
    }
    let completed: Vec<&str> = (completed.iter())
        .map(|root| root.issue.id().as_str())
        .collect();
    let data = json!({
        "id": id.as_str(), "changed": is_changed, "unblocked": unblocked, "completed": completed,
    });
    Ok(Done::new(said, data))
}

/// Closes a bead if it is still what was looked at: a dependency may have come meanwhile.
fn write(before: &Record, args: &CloseArgs, beads: &mut Beads) -> Result<Option<Record>, Failure> {
    let write = Write::Update {
        id: before.issue.id().clone(),
        edits: vec![Edit::Close(args.reason.clone())],
        guard: Guard {
            version: (!args.guard.force).then_some(before.version),
            // What it waits for may be opened again between looking and writing.
            is_free: !args.guard.force,
            ..beads.by.guard(before, &args.guard)
        },
    };
    beads.change_as_seen(before, write)
}

/// The beads that depend on one and are held back now.
fn still_waiting(id: &BeadId, beads: &Beads) -> Result<Vec<BeadId>, Failure> {
    let dependents = beads.store.dependents(id)?;
    let ids: Vec<BeadId> = dependents.into_iter().map(|(id, _)| id).collect();
    let records = beads.store.get(&ids)?.into_iter();
    Ok(records
        .filter(|record| record.is_blocked)
        .map(|record| record.issue.id().clone())
        .collect())
}

/// Refuses to close what still waits for something.
pub(crate) fn refuse_while_waiting(record: &Record, beads: &Beads) -> Result<(), Failure> {
    let id = record.issue.id();
    let blockers = beads.store.blockers(id)?;
    if blockers.is_empty() {
        return Ok(());
    }
    let listed: Vec<String> = blockers.iter().map(described).collect();
    Err(Failure::new(
        ErrorCode::ValidationConstraint,
        format!(
            "bead {} cannot be closed: it waits for {}",
            excerpt(id.as_str()),
            listed
                .iter()
                .take(5)
                .cloned()
                .collect::<Vec<_>>()
                .join(", ")
        ),
    )
    .details(listed.join("\n"))
    .action("close what it waits for first, or pass --force"))
}

fn described(blocker: &Blocker) -> String {
    format!(
        "{} ({})",
        excerpt(blocker.id.as_str()),
        word(blocker.waiting)
    )
}

#[cfg(test)]
mod tests {
    use beads_ralph_core::issue::Dependency;
    use beads_ralph_core::vocabulary::EdgeType;

    use super::*;

    #[test]
    fn a_dependency_that_comes_between_looking_and_closing_is_noticed() {
        let mut beads = Beads::in_memory(&["a", "b"]);
        let guard = GuardArgs {
            fence: None,
            force: false,
        };
        let args = CloseArgs {
            ids: vec!["a".to_owned()],
            reason: "done".to_owned(),
            guard,
        };
        let before = beads.resolve("a").unwrap();
        refuse_while_waiting(&before, &beads).unwrap();
        let target = BeadId::parse("b").unwrap();
        let edge = Dependency::new(target, EdgeType::Blocks).unwrap();
        let wait = Write::Update {
            id: before.issue.id().clone(),
            edits: vec![Edit::AddDependency(edge)],
            guard: Guard::default(),
        };
        beads.store.write(&[wait], beads.by.stamp()).unwrap();
        assert_eq!(write(&before, &args, &mut beads).unwrap(), None);
        assert!(
            close("a", &args, &mut beads).is_err(),
            "it looks again, and sees"
        );
    }
}
