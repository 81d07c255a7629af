//! The gates of a project as they stand: those in files and those of the store alike (contracts §8.5, Z-28).
//!
//! Core decides what a gate means; here gates are only found. A file that cannot be read and may be a gate counts as a red one.

use std::io::ErrorKind;

use beads_ralph_core::dod::{self, DodBead, DodType, parse_json};
use beads_ralph_core::gate::{Gate, Gates, is_gate};
use beads_ralph_core::issue::{Order, Query, StatusFilter};
use beads_ralph_core::vocabulary::label;
use camino::Utf8Path;
use serde_json::Map;

use crate::bead_files::{BeadFile, BeadFileError, Ralph, json_files};
use crate::check;
use crate::os::files::{self, FileError};
use crate::store::{Store, StoreError};

/// All gates of a project. Those in files come first, as they do when a bead is looked for by its id.
pub fn gates(ralph: &Ralph, store: Option<&dyn Store>) -> Result<Gates, StoreError> {
    let stored = store.map(stored).transpose()?.unwrap_or_default();
    Ok(Gates::new(filed(ralph).into_iter().chain(stored)))
}

pub fn filed(ralph: &Ralph) -> Vec<Gate> {
    let mut gates = Vec::new();
    for place in ralph.all_places() {
        gates.extend(hidden(&place));
        let is_for_gates = place == ralph.gates();
        let files = json_files(&place);
        gates.extend(files.iter().filter_map(|path| gate(path, is_for_gates)));
    }
    gates
}

/// A directory that is there and cannot be listed may hold red gates.
fn hidden(place: &Utf8Path) -> Option<Gate> {
    let error = place.read_dir_utf8().err()?;
    let is_there = error.kind() != ErrorKind::NotFound;
    let parts: Vec<&str> = place.components().map(|part| part.as_str()).collect();
    let name = parts[parts.len().saturating_sub(2)..].join("/");
    is_there.then(|| Gate::unreadable(&name, &error.to_string()))
}

fn gate(path: &Utf8Path, is_for_gates: bool) -> Option<Gate> {
    match BeadFile::read(path) {
        Ok(file) => (file.bead().is_gate).then(|| current(Gate::of_bead(file.bead()), file.bead())),
        // It was moved meanwhile.
        Err(BeadFileError::File(FileError::NotFound { .. })) => None,
        Err(error) => unusable(path, is_for_gates, &error.to_string()),
    }
}

/// An invalid bead: a red gate if it lies among the gates, says that it is one, or cannot be read.
fn unusable(path: &Utf8Path, is_for_gates: bool, reason: &str) -> Option<Gate> {
    let stem = path.file_stem().unwrap_or_default();
    let unreadable = || Gate::unreadable(stem, reason);
    let document = files::read(path).ok();
    match document.and_then(|bytes| parse_json(&bytes).ok()) {
        None => Some(unreadable()),
        Some(document) => {
            let none = Map::new();
            let document = document.as_object().unwrap_or(&none);
            let gate = Gate::of_invalid(document, stem, reason);
            gate.or_else(|| is_for_gates.then(unreadable))
        }
    }
}

/// The gates of a store, closed ones too. Most have the label; others say so in their metadata, or by their type.
pub fn stored(store: &dyn Store) -> Result<Vec<Gate>, StoreError> {
    let all = Query {
        status: StatusFilter::Any,
        order: Order::Id,
        ..Query::default()
    };
    let metadata = |key: &str| Query {
        metadata_keys: vec![key.to_owned()],
        ..all.clone()
    };
    let labelled = Query {
        labels_all: vec![label::GATE.to_owned()],
        ..all.clone()
    };
    let in_lane = Query {
        metadata: vec![("lane".to_owned(), "gate".to_owned())],
        ..all.clone()
    };
    let typed = Query {
        types: vec![DodType::Gate.as_str().to_owned()],
        ..metadata("dod")
    };
    let mut gates = Vec::new();
    for query in [labelled, in_lane, metadata("blocking"), typed] {
        let records = store.find(&query)?;
        let found = records.iter().filter(|record| is_gate(&record.issue));
        gates.extend(found.map(|record| {
            let gate = Gate::of_issue(&record.issue);
            match dod::of_issue(&record.issue, &[]) {
                Ok(bead) => current(gate, &bead),
                Err(_) => gate,
            }
        }));
    }
    // One that is found twice is still one.
    gates.sort_by(|a, b| a.id.cmp(&b.id));
    gates.dedup_by(|later, first| later.id == first.id);
    Ok(gates)
}

/// A gate as its checks are now: with others than those that passed it is red.
fn current(gate: Gate, bead: &DodBead) -> Gate {
    gate.with_checks_of(bead, check::definition)
}
