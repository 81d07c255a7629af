//! `label`: adds, removes and lists labels.
//!
//! Data: `{bead, version, changed}` after a change; `{id, labels: […]}` for the list.

use beads_ralph_core::issue::Edit;
use beads_ralph_core::text::visible;
use beads_ralph_runtime::store::Write;
use clap::{Args, Subcommand};
use serde_json::json;

use super::update;
use crate::args::{Global, GuardArgs};
use crate::beads::Beads;
use crate::failure::Failure;
use crate::ui::{Ui, lines};

#[derive(Debug, Subcommand)]
pub(crate) enum LabelCommand {
    /// Add labels to a bead
    Add(LabelArgs),
    /// Remove labels from a bead
    Remove(LabelArgs),
    /// Print the labels of a bead
    List {
        /// The bead
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct LabelArgs {
    /// The bead
    pub(crate) id: String,
    /// The labels
    #[arg(required = true, value_name = "LABEL")]
    pub(crate) labels: Vec<String>,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

pub(crate) fn run(command: &LabelCommand, global: &Global, ui: &Ui) -> Result<(), Failure> {
    match command {
        LabelCommand::Add(args) => {
            let labels = update::labels(&args.labels)?;
            let edits = labels.into_iter().map(Edit::AddLabel).collect();
            change(args, edits, global, ui)
        }
        LabelCommand::Remove(args) => {
            let edits = args.labels.iter().cloned().map(Edit::RemoveLabel).collect();
            change(args, edits, global, ui)
        }
        LabelCommand::List { id } => list(id, global, ui),
    }
}

fn change(args: &LabelArgs, edits: Vec<Edit>, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = Beads::open(global)?;
    let before = beads.resolve(&args.id)?;
    let write = Write::Update {
        id: before.issue.id().clone(),
        edits,
        guard: beads.by.guard(&before, &args.guard),
    };
    update::report(&before, write, &mut beads, ui)
}

fn list(id: &str, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let record = Beads::open(global)?.resolve(id)?;
    let labels: Vec<&str> = record.issue.labels().collect();
    if ui.is_json() {
        return ui.data(&json!({"id": record.issue.id().as_str(), "labels": labels}));
    }
    ui.out(&lines(labels.iter().map(|label| visible(label))))
}
