//! `human`: what waits for a person, from `run` and from `implement` alike (contracts §9.10, §9.11, Z-36), one file for each command.
//!
//! A bead of `implement` waits when it is labelled `human`, and so is the step that could not be done; `merge-ready` waits to be merged; a bead of `run`
//! waits when it was given up; a gate of a plan waits to be closed. What is closed waits for nobody.

mod list;
mod resolve;
mod show;
mod waiting;

use std::collections::HashSet;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::implement::{self};
use beads_ralph_core::issue::{Query, Record, Standing, StatusFilter};
use beads_ralph_core::molecule::Molecule;
use beads_ralph_core::vocabulary::label;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::app::molecules;
use beads_ralph_runtime::store::{Store, StoreError};
use clap::Subcommand;

use self::resolve::HumanResolveArgs;
use self::show::HumanShowArgs;
use crate::args::Global;
use crate::command::inspect::blocked::people_parts;
use crate::failure::Failure;
use crate::ui::Ui;
use waiting::{Kind, Waiting};

#[derive(Debug, Subcommand)]
pub(crate) enum HumanCommand {
    /// List what waits for a person, the longest wait first
    List,
    /// Show why something waits for a person, the evidence, and the commands to type next
    Show(HumanShowArgs),
    /// Record the answer and go on: the step is done again, or gone past
    Resolve(HumanResolveArgs),
}

pub(crate) fn run(command: &HumanCommand, global: &Global, ui: &Ui) -> Result<(), Failure> {
    match command {
        HumanCommand::List => list::run(global, ui),
        HumanCommand::Show(args) => show::run(args, global, ui),
        HumanCommand::Resolve(args) => resolve::run(args, global, ui),
    }
}

/// Whether a bead, or the bead whose step it is, waits for a person because of `implement`.
pub(super) fn is_of_implement(store: &dyn Store, record: &Record) -> Result<bool, StoreError> {
    let bead = bead_of(store, record)?;
    let found = waiting_for(store, bead, None)?;
    Ok(found.is_some_and(|waiting| waiting.kind == Kind::Implement))
}

/// Everything that waits for a person, the longest wait first.
fn all(store: &dyn Store) -> Result<Vec<Waiting>, Failure> {
    let query = Query::default();
    let blocked = Query {
        status: StatusFilter::OneOf(vec!["blocked".to_owned()]),
        ..query.clone()
    };
    let asked = Query {
        labels_any: vec![label::HUMAN.to_owned(), label::MERGE_READY.to_owned()],
        ..query
    };
    let parts = people_parts(store)?;
    let part_ids: HashSet<BeadId> = (parts.iter()).map(|it| it.issue.id().clone()).collect();
    let mut candidates = store.find(&blocked)?;
    candidates.extend(store.find(&asked)?);
    candidates.extend(parts);
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for record in candidates {
        let bead = bead_of(store, &record)?;
        if seen.insert(bead.issue.id().clone()) {
            found.extend(waiting_for(store, bead, Some(&part_ids))?);
        }
    }
    found.sort_by_key(|waiting| (waiting.since(), waiting.record.issue.id().clone()));
    Ok(found)
}

/// What a text of a person names, and whether it waits.
fn named(beads: &Beads, text: &str) -> Result<(Record, Option<Waiting>), Failure> {
    let store = &*beads.store;
    let bead = bead_of(store, &beads.resolve(text)?)?;
    let parts = people_parts(store)?;
    let parts = parts.iter().map(|it| it.issue.id().clone()).collect();
    let waiting = waiting_for(store, bead.clone(), Some(&parts))?;
    Ok((bead, waiting))
}

/// The bead that is worked on by a step or a molecule; any other bead is it itself, and so is the step of one that is gone or closed.
fn bead_of(store: &dyn Store, record: &Record) -> Result<Record, StoreError> {
    let source = molecules::source_of(store, record)?;
    let open = source.filter(|source| source.issue.standing() != Standing::Closed);
    Ok(open.unwrap_or_else(|| record.clone()))
}

/// Whether a bead waits, and for what. `parts` are the parts of plans that people do, where they are of interest.
fn waiting_for(
    store: &dyn Store,
    record: Record,
    parts: Option<&HashSet<BeadId>>,
) -> Result<Option<Waiting>, StoreError> {
    let issue = &record.issue;
    if issue.standing() == Standing::Closed {
        return Ok(None);
    }
    let molecules = molecules::of_bead(store, issue.id())?;
    let is_flagged = issue.has_label(label::HUMAN);
    let is_step_flagged = (molecules.iter().flat_map(Molecule::unfinished))
        .any(|record| record.issue.has_label(label::HUMAN));
    let is_implemented = !molecules.is_empty()
        || issue.has_label(label::IMPLEMENTATION_READY)
        || implement::is_noted(issue);
    let is_part = parts.is_some_and(|parts| parts.contains(issue.id()));
    let kind = if is_step_flagged || (is_flagged && is_implemented) {
        Kind::Implement
    } else if issue.has_label(label::MERGE_READY) {
        Kind::Merge
    } else if is_flagged || issue.status() == "blocked" {
        Kind::Run
    } else if is_part {
        Kind::Gate
    } else {
        return Ok(None);
    };
    Ok(Some(Waiting {
        record,
        kind,
        molecules,
    }))
}
