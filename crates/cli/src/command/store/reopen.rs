//! `reopen`: beads that are to be done again (contracts §7.9: the attempts are counted anew).
//!
//! Results: `{id, reopened: true, status: "open", changed: bool}` for each bead, else `{id, reopened: false, error}`.

use beads_ralph_core::issue::{Edit, Record};
use beads_ralph_core::vocabulary::label;
use beads_ralph_core::watchdog;
use beads_ralph_runtime::store::Write;
use clap::Args;
use serde_json::{Map, json};

use super::close::one_fence_one_bead;
use crate::args::{Global, GuardArgs};
use crate::beads::Beads;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::named;
use crate::ui::outcomes::{self, Done};

#[derive(Debug, Args)]
pub(crate) struct ReopenArgs {
    /// The beads
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

const ATTEMPTS: &str = "attempt_count";

pub(crate) fn run(args: &ReopenArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    one_fence_one_bead(args.guard.fence, &args.ids)?;
    let mut beads = Beads::open(global)?;
    outcomes::each(&args.ids, "reopened", ui, |id| {
        let before = beads.resolve(id)?;
        open_again(&before, "reopened", &args.guard, &mut beads)
    })
}

/// Opens a bead, counts its attempts and restarts anew and asks no person any more; its history stays.
pub(crate) fn open_again(
    before: &Record,
    deed: &str,
    guard: &GuardArgs,
    beads: &mut Beads,
) -> Result<Done, Failure> {
    let id = before.issue.id().clone();
    let is_for_person = before.issue.has_label(label::HUMAN);
    if before.issue.status() == "open" && !is_for_person {
        let data = json!({"id": id.as_str(), "status": "open", "changed": false});
        let said = format!("{} is open already", named(before));
        return Ok(Done::new(said, data));
    }
    let write = Write::Update {
        id: id.clone(),
        edits: opening(before),
        guard: beads.by.guard(before, guard),
    };
    let after = beads.change(write, &id)?;
    let data = json!({"id": id.as_str(), "status": after.issue.status(), "changed": true});
    Ok(Done::new(format!("{deed} {}", named(&after)), data))
}

/// What opens a bead again.
pub(crate) fn opening(before: &Record) -> Vec<Edit> {
    let mut edits = vec![Edit::Reopen];
    if before.issue.has_label(label::HUMAN) {
        edits.push(Edit::RemoveLabel(label::HUMAN.to_owned()));
    }
    let metadata = before.issue.metadata();
    if metadata.is_some_and(|metadata| metadata.contains_key(ATTEMPTS)) {
        let anew = Map::from_iter([(ATTEMPTS.to_owned(), 0.into())]);
        edits.push(Edit::MergeMetadata(anew));
    }
    edits.extend(watchdog::forgiven(&before.issue));
    edits
}
