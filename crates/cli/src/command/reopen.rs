//! `reopen`: beads that are to be done again (contracts §7.9: the attempts are counted anew).
//!
//! Results: `{id, reopened: true, status: "open", changed: bool}` for each bead, else `{id, reopened: false, error}`.

use beads_ralph_core::issue::Edit;
use beads_ralph_runtime::store::Write;
use serde_json::{Map, json};

use super::close::one_fence_one_bead;
use crate::args::{Global, ReopenArgs};
use crate::bead_view::named;
use crate::beads::Beads;
use crate::failure::Failure;
use crate::outcomes::{self, Done};
use crate::ui::Ui;

const ATTEMPTS: &str = "attempt_count";

pub(crate) fn run(args: &ReopenArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    one_fence_one_bead(args.guard.fence, &args.ids)?;
    let mut beads = Beads::open(global)?;
    outcomes::each(&args.ids, "reopened", ui, |id| reopen(id, args, &mut beads))
}

fn reopen(id: &str, args: &ReopenArgs, beads: &mut Beads) -> Result<Done, Failure> {
    let before = beads.resolve(id)?;
    let id = before.issue.id().clone();
    if before.issue.status() == "open" {
        let data = json!({"id": id.as_str(), "status": "open", "changed": false});
        return Ok(Done::new(
            format!("{} is open already", named(&before)),
            data,
        ));
    }
    let mut edits = vec![Edit::Reopen];
    let metadata = before.issue.metadata();
    if metadata.is_some_and(|metadata| metadata.contains_key(ATTEMPTS)) {
        let anew = Map::from_iter([(ATTEMPTS.to_owned(), 0.into())]);
        edits.push(Edit::MergeMetadata(anew));
    }
    let write = Write::Update {
        id: id.clone(),
        edits,
        guard: beads.by.guard(&before, &args.guard),
    };
    let after = beads.change(write, &id)?;
    let data = json!({"id": id.as_str(), "status": after.issue.status(), "changed": true});
    Ok(Done::new(format!("reopened {}", named(&after)), data))
}
