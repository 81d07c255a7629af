//! The journals of runs as commands meet them: found by the run's id or its beginning, as `latest`, or by their path.

use beads_ralph_core::diag::{ErrorCode, did_you_mean};
use beads_ralph_core::engine::Journal;
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::run::RunDirectory;
use beads_ralph_runtime::{files, store};
use camino::{Utf8Path, Utf8PathBuf};

use crate::beads::here;
use crate::failure::Failure;
use crate::ui::quoted;

/// Where a store keeps its runs.
const RUNS: &str = "runs";

/// The name of a run's journal.
const FILE: &str = "journal.jsonl";

/// How many runs an error names at the most.
const MAX_NAMED: usize = 10;

/// Reads the journal of a run: by its id or the beginning of it, as `latest`, by its directory, or its file.
pub(crate) fn read(run: &str) -> Result<Journal, Failure> {
    let path = find(run)?;
    let bytes = files::read(&path)?;
    let text = String::from_utf8_lossy(&bytes);
    Journal::read(&text).map_err(|fault| {
        let message = format!("{}: {fault}", quoted(&path));
        Failure::new(ErrorCode::ValidationConstraint, message).action(
            "a journal is written by `beads-ralph run` alone; one that was changed is of no use",
        )
    })
}

fn find(run: &str) -> Result<Utf8PathBuf, Failure> {
    let named = Utf8Path::new(run);
    if named.is_dir() {
        return Ok(named.join(FILE));
    }
    if named.is_file() {
        return Ok(named.to_owned());
    }
    let beads = store::find(&here()?)?.directory;
    match RunDirectory::find(&beads, run) {
        Ok(found) if !run.is_empty() => Ok(found.journal()),
        _ => Err(unknown(run, &beads.join(RUNS))),
    }
}

fn unknown(run: &str, runs: &Utf8Path) -> Failure {
    let mut names: Vec<String> = (runs.read_dir_utf8().into_iter().flatten())
        .filter_map(|entry| Some(entry.ok()?.file_name().to_owned()))
        .collect();
    names.sort();
    let message = format!("there is no run '{}'", excerpt(run));
    let action = match did_you_mean(run, names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {}?", excerpt(near)),
        None if names.is_empty() => "there are none yet; `beads-ralph run` makes one".to_owned(),
        None => {
            let last = names.iter().rev().take(MAX_NAMED);
            let last: Vec<String> = last.map(|name| excerpt(name)).collect();
            format!("the latest are {}", last.join(", "))
        }
    };
    Failure::new(ErrorCode::DependencyUnresolved, message).action(action)
}
