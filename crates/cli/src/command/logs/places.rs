//! Where the logs of a bead are: the evidence of `exec` and `verify` under `.ralph/`, and the runs of the loop under `.beads/runs/` (Z-37).

use std::time::SystemTime;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_runtime::ralph::Ralph;
use beads_ralph_runtime::run::{RunDirectory, file_name};
use beads_ralph_runtime::{files, store};
use camino::{Utf8Path, Utf8PathBuf};

use crate::args::Global;
use crate::beads::{Beads, here};
use crate::failure::Failure;
use crate::work;

/// A run that wrote something for the bead.
pub(super) struct Run {
    pub(super) name: String,
    pub(super) directory: Utf8PathBuf,
}

/// A file of a run.
pub(crate) struct Log {
    pub(crate) name: String,
    pub(crate) path: Utf8PathBuf,
    pub(crate) n_bytes: u64,
    pub(crate) written: Option<SystemTime>,
}

/// The bead that is meant and its runs, oldest first. A name under which something was written is taken as it is; any other may be
/// the first parts of an id of the store.
pub(super) fn find(name: &str, global: &Global) -> Result<(String, Vec<Run>), Failure> {
    let ralph = work::project()?;
    let own_name = beads_ralph_core::dod::check_name(name);
    if let Err(invalid) = own_name {
        let pattern = ErrorCode::ValidationInvalidPattern;
        return Err(Failure::new(pattern, invalid.to_string()));
    }
    let found = runs_of(name, &ralph);
    if !found.is_empty() {
        return Ok((name.to_owned(), found));
    }
    let beads = match Beads::open(global) {
        Err(failure) if failure.code() == ErrorCode::DatabaseNotInitialized => None,
        opened => Some(opened?),
    };
    let meant = beads.map(|beads| beads.meant(name)).transpose()?.flatten();
    let id = meant.map_or_else(|| name.to_owned(), |record| record.issue.id().to_string());
    let found = runs_of(&id, &ralph);
    Ok((id, found))
}

fn runs_of(bead: &str, ralph: &Ralph) -> Vec<Run> {
    let mut found = Vec::new();
    if beads_ralph_core::dod::check_name(bead).is_ok() {
        for run in ralph.evidence(bead).runs() {
            found.push(Run {
                name: run.path().file_name().unwrap_or_default().to_owned(),
                directory: run.path().to_owned(),
            });
        }
    }
    let place = here().ok().and_then(|here| store::find(&here).ok());
    if let (Some(place), Ok(id)) = (place, BeadId::parse(bead)) {
        for run in RunDirectory::all(&place.directory) {
            let directory = run.path().join("beads").join(file_name(&id));
            // A link is nobody's output, and may lead anywhere.
            if directory.symlink_metadata().is_ok_and(|it| it.is_dir()) {
                let name = run.id().to_owned();
                found.push(Run { name, directory });
            }
        }
    }
    // Both kinds are in order by themselves; which of the two came later is seen by the files.
    found.sort_by_cached_key(|run| last_written(&run.directory));
    found
}

/// When anything in a directory was last written.
fn last_written(directory: &Utf8Path) -> Option<SystemTime> {
    let own = directory.symlink_metadata().ok()?.modified().ok();
    let logs = logs_in(directory).into_iter();
    logs.map(|log| log.written).fold(own, Ord::max)
}

/// Every file below a directory, in the order in which things ran. Links are nobody's log, and may lead anywhere.
pub(crate) fn logs_in(root: &Utf8Path) -> Vec<Log> {
    let mut logs = Vec::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        let entries = directory.read_dir_utf8().into_iter().flatten().flatten();
        for entry in entries {
            let path = entry.path().to_owned();
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            if metadata.is_dir() {
                pending.push(path);
            } else if let Ok(name) = path.strip_prefix(root)
                && metadata.is_file()
            {
                logs.push(Log {
                    name: files::plain_name(name.as_str()).to_owned(),
                    n_bytes: metadata.len(),
                    written: metadata.modified().ok(),
                    path,
                });
            }
        }
    }
    logs.sort_by_key(|log| order(&log.name));
    logs
}

/// What was before the first attempt comes first, the tenth after the ninth, and the agent before its checks.
fn order(name: &str) -> (Vec<(bool, String, usize)>, String) {
    let part = |part: &str| {
        let digits = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = part[digits.len()..].parse().unwrap_or(0);
        (part != "before", digits.to_owned(), number)
    };
    (name.split('/').map(part).collect(), name.to_owned())
}
