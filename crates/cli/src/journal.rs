//! The journals of runs as commands meet them: found by the run's id, or by its directory.

use beads_ralph_core::diag::{ErrorCode, did_you_mean};
use beads_ralph_core::engine::{Entry, Head, ReplayError};
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::run::{JournalError, RunDirectory, read_journal};
use beads_ralph_runtime::store;
use camino::Utf8Path;

use crate::args::here;
use crate::failure::Failure;
use crate::ui::format::list;

pub(crate) struct Journal {
    pub(crate) head: Head,
    pub(crate) entries: Vec<Entry>,
}

/// Reads the journal of a run: by its id, the beginning of it, `latest`, or its directory.
pub(crate) fn read(run: &str) -> Result<Journal, Failure> {
    read_in(&find(run)?)
}

pub(crate) fn read_in(run: &RunDirectory) -> Result<Journal, Failure> {
    let (head, entries) = read_journal(run).map_err(unreadable)?;
    Ok(Journal { head, entries })
}

pub(crate) fn unreadable(error: JournalError) -> Failure {
    match error {
        JournalError::File(error) => Failure::from(error),
        error @ (JournalError::Line { .. } | JournalError::NoRun { .. }) => {
            Failure::new(ErrorCode::ValidationConstraint, error.to_string())
                .action("a journal that was edited cannot be used")
        }
    }
}

/// Why a journal does not lead to the decisions that stand in it.
pub(crate) fn unlike(error: &ReplayError) -> Failure {
    Failure::new(ErrorCode::ValidationConstraint, error.to_string())
        .action("use the version of beads-ralph that made the run")
}

pub(crate) fn find(run: &str) -> Result<RunDirectory, Failure> {
    let path = Utf8Path::new(run);
    if run.contains('/') && path.is_dir() {
        return Ok(RunDirectory::at(path));
    }
    let beads = store::find(&here()?)?.directory;
    RunDirectory::find(&beads, run).map_err(|_| unknown(run, &beads))
}

fn unknown(run: &str, beads: &Utf8Path) -> Failure {
    let runs = RunDirectory::all(beads);
    let names: Vec<&str> = runs.iter().map(RunDirectory::id).collect();
    let n_fitting = names.iter().filter(|name| name.starts_with(run)).count();
    let message = if n_fitting > 1 {
        format!("{n_fitting} runs start with '{}'", excerpt(run))
    } else {
        format!("unknown run '{}'", excerpt(run))
    };
    let action = match did_you_mean(run, names.iter().copied()) {
        Some(near) if n_fitting == 0 => format!("did you mean {}?", excerpt(near)),
        _ if names.is_empty() => "there are no runs yet; `beads-ralph run` starts one".to_owned(),
        _ => format!("the latest are {}", list(names.iter().rev())),
    };
    Failure::new(ErrorCode::DependencyUnresolved, message).action(action)
}
