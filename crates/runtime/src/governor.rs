//! The gates of a project as they stand: those in files and those of the store alike (contracts §8.5, Z-28).
//!
//! What a gate means is decided in core; here they are only found. A file among the gates that cannot be read is a red gate: nobody knows what it would say.

use std::io::ErrorKind;

use beads_ralph_core::governor::{GATE_LABEL, Gate, Gates};
use beads_ralph_core::issue::{Order, Query, StatusFilter};

use crate::ralph::{BeadFile, Ralph};
use crate::store::{Store, StoreError};

/// All gates of a project. Those in files come first, as they do when a bead is looked for by its id.
pub fn gates(ralph: &Ralph, store: Option<&dyn Store>) -> Result<Gates, StoreError> {
    let stored = store.map(stored).transpose()?.unwrap_or_default();
    Ok(Gates::new(filed(ralph).into_iter().chain(stored)))
}

/// The gates in files.
pub fn filed(ralph: &Ralph) -> Vec<Gate> {
    let place = ralph.gates();
    let gate = |path: &camino::Utf8PathBuf| match BeadFile::read(path) {
        Ok(file) if file.bead().is_gate => Some(Gate::of_bead(file.bead())),
        Ok(_) => None,
        // Elsewhere it may be any bead, and whoever works on it is told.
        Err(error) if path.parent() == Some(&place) => {
            let id = path.file_stem().unwrap_or_default();
            Some(Gate::unreadable(id, &error.to_string()))
        }
        Err(_) => None,
    };
    // Gates that cannot even be listed may be red.
    let hidden = match place.read_dir_utf8() {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Some(Gate::unreadable(".ralph/gates", &error.to_string()))
        }
        _ => None,
    };
    let gates = ralph.bead_files();
    gates.iter().filter_map(gate).chain(hidden).collect()
}

/// The gates of a store, closed ones too.
pub fn stored(store: &dyn Store) -> Result<Vec<Gate>, StoreError> {
    let records = store.find(&Query {
        status: StatusFilter::Any,
        labels_all: vec![GATE_LABEL.to_owned()],
        order: Order::Id,
        ..Query::default()
    })?;
    let gates = records.iter().map(|record| Gate::of_issue(&record.issue));
    Ok(gates.collect())
}
