//! `close`, `reopen` and `retry`: beads that are done, or are to be done again.
//!
//! Results of `close`: `{id, closed: true, changed: bool, unblocked: [ids], completed: [ids]}` for each bead, where `completed` has the molecules
//! whose last step it was (F-14). Results of `reopen` and `retry`: `{id, reopened|retried: true, status: "open", changed: bool}`. A bead that
//! failed has `{id, closed|reopened|retried: false, error}`.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::Record;
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::app::beads::{Close, Deed, refuse_retry};
use clap::Args;
use serde::Serialize;

use crate::args::{Global, GuardArgs, one_fence_one_bead};
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::named;
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

#[derive(Debug, Args)]
pub(crate) struct ReopenArgs {
    /// The beads
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RetryArgs {
    /// The beads; their attempts are counted from zero, and their history is kept
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

pub(crate) fn close(args: &CloseArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Result<'r> {
        id: &'r BeadId,
        changed: bool,
        unblocked: Vec<&'r BeadId>,
        completed: Vec<&'r BeadId>,
    }
    one_fence_one_bead(args.guard.fence, &args.ids)?;
    let mut beads = global.open()?;
    let close = Close {
        reason: args.reason.clone(),
        authority: args.guard.authority(),
        ignores_blockers: args.guard.force,
        ..Close::default()
    };
    outcomes::each(&args.ids, "closed", ui, |id| {
        let seen = beads.resolve(id)?;
        let closed = beads.close(seen, &close)?;
        let (bead, is_changed) = (&closed.bead.after, closed.bead.is_changed());
        let mut said = if is_changed {
            format!("closed {}", named(bead))
        } else {
            format!("{} is already closed", named(bead))
        };
        let unblocked: Vec<&BeadId> = ids(&closed.unblocked).collect();
        if !unblocked.is_empty() {
            let ids: Vec<String> = unblocked.iter().map(|id| excerpt(id.as_str())).collect();
            said = format!("{said}\n  unblocked: {}", ids.join(", "));
        }
        for root in &closed.completed {
            said = format!("{said}\n  closed {}: all its steps are closed", named(root));
        }
        let data = Result {
            id: bead.issue.id(),
            changed: is_changed,
            unblocked,
            completed: ids(&closed.completed).collect(),
        };
        Ok(Done::new(said, data))
    })
}

fn ids(records: &[Record]) -> impl Iterator<Item = &BeadId> {
    records.iter().map(|record| record.issue.id())
}

pub(crate) fn reopen(args: &ReopenArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    one_fence_one_bead(args.guard.fence, &args.ids)?;
    let mut beads = global.open()?;
    outcomes::each(&args.ids, "reopened", ui, |id| {
        let seen = beads.resolve(id)?;
        Ok(opened(
            "reopened",
            &beads.reopen(seen, args.guard.authority())?,
        ))
    })
}

pub(crate) fn retry(args: &RetryArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    one_fence_one_bead(args.guard.fence, &args.ids)?;
    let mut beads = global.open()?;
    outcomes::each(&args.ids, "retried", ui, |id| {
        let seen = beads.resolve(id)?;
        refuse_retry(&seen)?;
        Ok(opened(
            "to be retried:",
            &beads.reopen(seen, args.guard.authority())?,
        ))
    })
}

/// What became of a bead that is open now.
pub(crate) fn opened(verb: &str, deed: &Deed) -> Done {
    #[derive(Serialize)]
    struct Opened<'r> {
        id: &'r BeadId,
        status: &'r str,
        changed: bool,
    }
    let (record, said) = match deed {
        Deed::Nothing(record) => (record, format!("{} is already open", named(record))),
        Deed::Opened(record) => (record, format!("{verb} {}", named(record))),
    };
    let opened = Opened {
        id: record.issue.id(),
        status: record.issue.status(),
        changed: matches!(deed, Deed::Opened(_)),
    };
    Done::new(said, opened)
}
