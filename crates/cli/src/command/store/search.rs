//! `search`: beads by the words in their id, title, description and notes.
//!
//! Data: `{"beads": […], "more": bool}`.

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::{Query, StatusFilter};
use clap::Args;

use super::list::{find, statuses};
use crate::args::Global;
use crate::beads::Beads;
use crate::failure::Failure;
use crate::ui::Ui;

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words that all stand in the id, title, description or notes
    #[arg(required = true)]
    pub(crate) words: Vec<String>,
    /// Only with one of these statuses; without it, whatever the status
    #[arg(short, long, value_name = "STATUSES", value_delimiter = ',')]
    pub(crate) status: Vec<String>,
    /// How many to show at the most; 0 shows all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

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
