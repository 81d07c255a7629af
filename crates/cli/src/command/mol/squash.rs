//! `mol squash`: the end of a molecule whose record stays (F-12).
//!
//! What is left of it is closed with the summary as the reason, in one step. A wisp lasts from then on. Data: `{"molecule": id,
//! "summary", "closed": [ids], "kept": [ids], "changed": bool, "dry_run": bool}`; `kept` has what is no wisp any more.

use beads_ralph_core::issue::{Edit, Record, Standing, is_wisp};
use beads_ralph_core::molecule::Molecule;
use beads_ralph_runtime::app::beads::{Authority, Beads, until_settled};
use beads_ralph_runtime::store::{Guard, StoreError, Write};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Value, json};

use super::load;
use crate::args::Global;
use crate::failure::Failure;
use crate::ui::bead_view::named;
use crate::ui::{Ui, counted};

#[derive(Debug, Args)]
pub(crate) struct SquashArgs {
    /// The root of the molecule
    pub(crate) id: String,
    /// What came of it
    #[arg(short, long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) summary: String,
    /// Also when somebody holds one of its steps
    #[arg(long)]
    pub(crate) force: bool,
    /// Say what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

pub(super) fn run(args: &SquashArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = global.open()?;
    let molecule = until_settled(|| squash(args, &mut beads))?;
    let ids = |records: Vec<&Record>| -> Vec<String> {
        let ids = records.iter().map(|record| record.issue.id().to_string());
        ids.collect()
    };
    let closed = ids(molecule.unfinished().collect());
    let kept = ids(molecule.all().filter(|it| is_wisp(&it.issue)).collect());
    let is_changed = !closed.is_empty() || !kept.is_empty();
    if ui.is_json() {
        return ui.data(&json!({
            "molecule": molecule.root().issue.id().as_str(),
            "summary": args.summary,
            "closed": closed,
            "kept": kept,
            "changed": is_changed && !args.dry_run,
            "dry_run": args.dry_run,
        }));
    }
    let root = named(molecule.root());
    let deed = if args.dry_run {
        "would close"
    } else {
        "closed"
    };
    ui.out(&if is_changed {
        let n_beads = counted(closed.len(), "bead", "beads");
        let lasts = if kept.is_empty() {
            ""
        } else {
            "; it is no wisp any more"
        };
        format!("{deed} {n_beads} of {root}{lasts}\n")
    } else {
        format!("{root} was closed already\n")
    })
}

/// Closes what is left, and gives the molecule as it was before. `None` when something changed meanwhile.
fn squash(args: &SquashArgs, beads: &mut Beads) -> Result<Option<Molecule>, Failure> {
    let molecule = load(beads, &args.id)?;
    let batch: Vec<Write> = (molecule.all())
        .filter_map(|record| ending(record, args, beads))
        .collect();
    if args.dry_run || batch.is_empty() {
        return Ok(Some(molecule));
    }
    match beads.store.write(&batch, beads.by.stamp()) {
        Ok(_) => {}
        Err(StoreError::Guard { .. } | StoreError::NotFound(_)) => return Ok(None),
        Err(error @ StoreError::Held { .. }) => {
            let failure = Failure::from(error);
            return Err(
                failure.action("wait for the holder, or pass --force to close it all the same")
            );
        }
        Err(error) => return Err(error.into()),
    }
    // A step that came meanwhile is ended too.
    let is_over = load(beads, &args.id)?.unfinished().next().is_none();
    Ok(is_over.then_some(molecule))
}

/// What is to be done to one bead of it, if anything.
fn ending(record: &Record, args: &SquashArgs, beads: &Beads) -> Option<Write> {
    let issue = &record.issue;
    let mut edits = Vec::new();
    if issue.standing() != Standing::Closed {
        edits.push(Edit::Close(args.summary.clone()));
    }
    if issue.document().get("ephemeral") == Some(&Value::Bool(true)) {
        edits.push(Edit::Unset("ephemeral".to_owned()));
    }
    let authority = if args.force {
        Authority::Forced
    } else {
        Authority::Own
    };
    (!edits.is_empty()).then(|| Write::Update {
        id: issue.id().clone(),
        edits,
        guard: Guard {
            version: (!args.force).then_some(record.version),
            ..beads.by.guard(record, authority)
        },
    })
}
