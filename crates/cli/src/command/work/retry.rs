//! `retry`: beads that were given up, tried again: open, with attempts counted anew and nobody asked (contracts §7.9).
//!
//! Results: `{id, retried: true, status: "open", changed: bool}` for each bead, else `{id, retried: false, error}`.

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::Record;
use beads_ralph_core::text::excerpt;
use clap::Args;

use crate::args::{Global, GuardArgs};
use crate::beads::Beads;
use crate::command::store::close::one_fence_one_bead;
use crate::command::store::reopen::open_again;
use crate::failure::Failure;
use crate::ui::{Ui, outcomes};

#[derive(Debug, Args)]
pub(crate) struct RetryArgs {
    /// The beads; their attempts are counted anew, and their history stays
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

pub(crate) fn run(args: &RetryArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    one_fence_one_bead(args.guard.fence, &args.ids)?;
    let mut beads = Beads::open(global)?;
    outcomes::each(&args.ids, "retried", ui, |id| {
        let before = beads.resolve(id)?;
        refuse_others(&before)?;
        open_again(&before, "to be tried again:", &args.guard, &mut beads)
    })
}

/// Only what was given up can be tried again; what is done or being done is for other commands.
pub(crate) fn refuse_others(record: &Record) -> Result<(), Failure> {
    let id = excerpt(record.issue.id().as_str());
    let (message, action) = match record.issue.status() {
        "closed" => (
            format!("bead {id} is closed"),
            format!("to have it done once more: beads-ralph reopen {id}"),
        ),
        "in_progress" if record.claim.is_none() => (
            format!("bead {id} is in progress, and no holder is recorded"),
            "if nobody works on it: beads-ralph recover --unheld".to_owned(),
        ),
        // Somebody who holds it is named by the store, which refuses.
        _ => return Ok(()),
    };
    Err(Failure::new(ErrorCode::ValidationConstraint, message).action(action))
}
