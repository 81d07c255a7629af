//! `search`: beads by the words in their id, title, description and notes.
//!
//! Data: `{"beads": […], "more": bool}`.

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::{Query, StatusFilter};

use super::list::{find, statuses};
use crate::args::{Global, SearchArgs};
use crate::beads::Beads;
use crate::failure::Failure;
use crate::ui::Ui;

pub(crate) fn run(args: &SearchArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let words = args.words.join(" ");
    if words.trim().is_empty() {
        return Err(Failure::new(
            ErrorCode::ValidationConstraint,
            "there are no words to look for",
        )
        .action("name at least one word"));
    }
    let beads = Beads::open(global)?;
    let query = Query {
        status: statuses(&args.status).unwrap_or(StatusFilter::Any),
        text: Some(words),
        ..Query::default()
    };
    let listed = find(&beads, query, args.limit)?;
    if listed.records.is_empty() && !ui.is_json() {
        ui.say("no bead has all of these words\n");
        return Ok(());
    }
    listed.show(&beads, ui)
}
