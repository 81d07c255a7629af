//! Where the logs of a bead are: the evidence of `exec` and `verify` under `.ralph/`, the runs of the loop under `.beads/runs/` (Z-37), and what
//! `implement` keeps of the steps of its molecules (I-16).

use std::collections::BTreeSet;
use std::time::SystemTime;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::implement::linked_source;
use beads_ralph_core::issue::Record;
use beads_ralph_core::molecule::{Molecule, is_root};
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::app::molecules;
use beads_ralph_runtime::bead_files::Ralph;
use beads_ralph_runtime::implement::{reviews_of, work_of};
use beads_ralph_runtime::run::{RunDirectory, file_name};
use beads_ralph_runtime::{os::files, store};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use crate::args::Global;
use crate::args::here;
use crate::failure::Failure;
use crate::work;

/// A run that wrote something for the bead. What `implement` did in a molecule is one run, too.
pub(super) struct Run {
    pub(super) name: String,
    folders: Vec<Folder>,
}

struct Folder {
    /// What the names of its files begin with; nothing where a run has only one.
    prefix: String,
    path: Utf8PathBuf,
}

#[derive(Serialize)]
pub(crate) struct Log {
    #[serde(rename = "log")]
    pub(crate) name: String,
    #[serde(rename = "bytes")]
    pub(crate) n_bytes: u64,
    pub(crate) path: Utf8PathBuf,
    #[serde(skip)]
    pub(crate) written: Option<SystemTime>,
}

impl Run {
    fn in_one(name: &str, path: &Utf8Path) -> Self {
        let folder = Folder {
            prefix: String::new(),
            path: path.to_owned(),
        };
        Self {
            name: name.to_owned(),
            folders: vec![folder],
        }
    }

    /// Every file of it, in the order in which things ran.
    pub(super) fn logs(&self) -> Vec<Log> {
        let logs = self.folders.iter().flat_map(|folder| {
            let mut logs = logs_in(&folder.path);
            for log in &mut logs {
                log.name.insert_str(0, &folder.prefix);
            }
            logs
        });
        logs.collect()
    }

    fn last_written(&self) -> Option<SystemTime> {
        let modified = |folder: &Folder| folder.path.symlink_metadata().ok()?.modified().ok();
        let own = self.folders.iter().map(modified).fold(None, Ord::max);
        let logs = self.logs().into_iter();
        logs.map(|log| log.written).fold(own, Ord::max)
    }
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
    let (id, mut found) = match in_store(name, &ralph, global) {
        Ok(Some(meant)) if found.is_empty() || meant.0 == name => meant,
        // What lies in files can be shown whatever the store is like.
        Ok(_) => (name.to_owned(), found),
        Err(_) if !found.is_empty() => (name.to_owned(), found),
        Err(failure) => return Err(failure),
    };
    // Each kind is in order by itself; which of them came later is seen by the files.
    found.sort_by_cached_key(Run::last_written);
    Ok((id, found))
}

/// The bead of the store that is meant, and all of its runs.
fn in_store(
    name: &str,
    ralph: &Ralph,
    global: &Global,
) -> Result<Option<(String, Vec<Run>)>, Failure> {
    let beads = match global.open() {
        Err(failure) if failure.code() == ErrorCode::DatabaseNotInitialized => return Ok(None),
        opened => opened?,
    };
    let Some(record) = beads.meant(name)? else {
        return Ok(None);
    };
    let id = record.issue.id().to_string();
    let mut runs = runs_of(&id, ralph);
    runs.extend(implemented(&beads, &record)?);
    Ok(Some((id, runs)))
}

/// What `implement` did for a bead, a run for each molecule; of a root its molecule, and of a step only what was done in it.
fn implemented(beads: &Beads, record: &Record) -> Result<Vec<Run>, Failure> {
    let store = beads.store.as_ref();
    let mut found = molecules::of_bead(store, record.issue.id())?;
    let mut step = None;
    if let Some(root) = molecules::root_of(store, record)? {
        step = (!is_root(&record.issue)).then(|| record.issue.id());
        found.push(molecules::load(store, root)?);
    }
    let runs = found
        .iter()
        .map(|molecule| of_molecule(beads, molecule, step));
    Ok(runs.filter(|run| !run.logs().is_empty()).collect())
}

/// What was done in the steps of a molecule, or in one of them, in the order of the steps.
fn of_molecule(beads: &Beads, molecule: &Molecule, only: Option<&BeadId>) -> Run {
    let root = work::store_root(beads);
    let source = linked_source(&molecule.root().issue);
    let mut names = BTreeSet::new();
    let mut folders = Vec::new();
    let steps = molecule.steps().iter();
    for step in steps.filter(|step| only.is_none_or(|only| only == step.id())) {
        // A stage may be there twice, because somebody added a step.
        let is_first = names.insert(step.role());
        let name = if is_first {
            step.role()
        } else {
            step.id().as_str()
        };
        let work = work_of(&beads.directory, step.id());
        let reviews = source.as_ref().filter(|_| is_first);
        let reviews = reviews.map(|source| reviews_of(&root, source, step.role()));
        for (path, prefix) in [(work, ""), (reviews, "reviews/")] {
            // A link is nobody's output, and may lead anywhere.
            let path = path.filter(|it| !it.is_symlink());
            folders.extend(path.map(|path| Folder {
                prefix: format!("{name}/{prefix}"),
                path,
            }));
        }
    }
    Run {
        name: only.unwrap_or(molecule.root().issue.id()).to_string(),
        folders,
    }
}

/// What `exec`, `verify` and `run` wrote for a bead.
fn runs_of(bead: &str, ralph: &Ralph) -> Vec<Run> {
    let mut found = Vec::new();
    if beads_ralph_core::dod::check_name(bead).is_ok() {
        for run in ralph.evidence(bead).runs() {
            let name = run.path().file_name().unwrap_or_default();
            found.push(Run::in_one(name, run.path()));
        }
    }
    let place = here().ok().and_then(|here| store::find(&here).ok());
    if let (Some(place), Ok(id)) = (place, BeadId::parse(bead)) {
        for run in RunDirectory::all(&place.directory) {
            let directory = run.path().join("beads").join(file_name(&id));
            // A link is nobody's output, and may lead anywhere.
            if directory.symlink_metadata().is_ok_and(|it| it.is_dir()) {
                found.push(Run::in_one(run.id(), &directory));
            }
        }
    }
    found
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
    logs.sort_by_cached_key(|log| (order(&log.name), log.name.clone()));
    logs
}

/// What was before the first attempt comes first, the tenth after the ninth, and the agent before its checks.
fn order(name: &str) -> Vec<(bool, Vec<(String, u64)>)> {
    let part = |part: &str| (part != "before", numbered(part));
    name.split('/').map(part).collect()
}

/// The words of a name, each with the number behind it.
fn numbered(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let is_digit = |c: char| c.is_ascii_digit();
        let (word, after) = rest.split_at(rest.find(is_digit).unwrap_or(rest.len()));
        let end = after.find(|c| !is_digit(c)).unwrap_or(after.len());
        let (number, after) = after.split_at(end);
        parts.push((word.to_owned(), number.parse().unwrap_or(0)));
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_in_the_order_in_which_things_ran() {
        let mut names = [
            "verify-1/stdout",
            "tdd-green-team-iter10.run/stdout",
            "attempt-10/agent",
            "attempt-9/verify",
            "before/verify",
            "attempt-9/agent",
            "tdd-green-team-iter9.run/stdout",
        ];
        names.sort_by_key(|name| order(name));
        assert_eq!(
            names,
            [
                "before/verify",
                "attempt-9/agent",
                "attempt-9/verify",
                "attempt-10/agent",
                "tdd-green-team-iter9.run/stdout",
                "tdd-green-team-iter10.run/stdout",
                "verify-1/stdout",
            ]
        );
    }
}
