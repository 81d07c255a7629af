//! The record beside a worker's report, by which a later dispatcher knows whose it is (Z-36), and the paths of everything that a
//! dispatcher writes.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::implement::report_folder;
use beads_ralph_core::issue::Fence;
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::claim::Held;
use crate::config::Config;
use crate::os::files::{self, FileError};
use crate::ports::Place;

const SUFFIX: &str = "dispatch.json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WorkRecord {
    pub(super) fence: u64,
    /// The last claim that may still decide about its work: later ones were made because a dispatcher was gone before it could.
    pub(super) through: u64,
    pub(super) mark: String,
    /// What was checked out when it began.
    pub(super) head: Option<String>,
    /// Whether it ended well, so that its report is whole.
    #[serde(default)]
    pub(super) is_ended: bool,
    /// What was checked out when it had ended; what others do to it later is not its work.
    #[serde(default)]
    pub(super) candidate: Option<String>,
    /// The claim with which the step was given back before anybody could say what came of it.
    #[serde(default)]
    pub(super) given_back: Option<u64>,
}

impl WorkRecord {
    /// The record of a worker that begins now.
    pub(super) fn new(held: &Held, mark: &str, head: Option<String>) -> Self {
        Self {
            fence: held.fence.0,
            through: held.fence.0,
            mark: mark.to_owned(),
            head,
            is_ended: false,
            candidate: None,
            given_back: None,
        }
    }

    pub(super) fn beside(report: &Utf8Path) -> Utf8PathBuf {
        report.with_extension(SUFFIX)
    }

    /// The record at a path; nothing when there is none that can be read.
    pub(super) fn read(path: &Utf8Path) -> Option<Self> {
        let bytes = files::read(path).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    pub(super) fn write(&self, path: &Utf8Path) -> Result<(), FileError> {
        files::write_atomic(path, &files::to_json(self))
    }

    /// Whether nobody has decided about the work yet, so that whoever holds the step now does.
    pub(super) fn is_undecided(&self, held: &Held) -> bool {
        self.fence < held.fence.0 && held.fence.0 <= self.through
    }

    /// Hands what is undecided on to the next claim, before it is made: a dispatcher that is gone right after it loses no work.
    pub(super) fn hand_on(folder: &Utf8Path, last: Fence, is_left: bool) {
        for (path, record) in Self::all_of(folder, last) {
            if is_left || record.given_back == Some(last.0) {
                let through = last.0.saturating_add(1);
                // Where that cannot be noted the work is done again.
                drop(Self { through, ..record }.write(&path));
            }
        }
    }

    /// Notes something about the worker at a path, if there is a record.
    pub(super) fn amend(path: &Utf8Path, change: impl FnOnce(&mut Self)) -> Result<(), FileError> {
        match Self::read(path) {
            Some(mut record) => {
                change(&mut record);
                record.write(path)
            }
            None => Ok(()),
        }
    }

    /// Notes that the step is given back with a claim.
    pub(super) fn give_back(folder: &Utf8Path, fence: Fence) {
        for (path, record) in Self::all_of(folder, fence) {
            let given_back = Some(fence.0);
            let record = Self {
                given_back,
                ..record
            };
            drop(record.write(&path));
        }
    }

    /// The records in a folder about which a claim decides.
    fn all_of(folder: &Utf8Path, fence: Fence) -> Vec<(Utf8PathBuf, Self)> {
        let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
        let paths = entries.map(camino::Utf8DirEntry::into_path);
        let paths = paths.filter(|path| path.as_str().ends_with(SUFFIX));
        let records = paths.filter_map(|path| Some((path.clone(), Self::read(&path)?)));
        records
            .filter(|(_, record)| (record.fence..=record.through).contains(&fence.0))
            .collect()
    }
}

const NAMESPACE: Uuid = Uuid::from_u128(0x27ec_e4fd_4a06_49bf_a921_bf07_ecb0_dc10);

/// The id of the session for a stage of a bead: the same for the same stage.
pub fn session_id(source: &str, stage: &str) -> String {
    named(&format!("{source}:{stage}"))
}

/// The id of a later session for the same stage: an agent takes no id twice.
pub(super) fn later_session_id(source: &str, stage: &str, what: &str) -> String {
    named(&format!("{source}:{stage}:{what}"))
}

fn named(name: &str) -> String {
    Uuid::new_v5(&NAMESPACE, name.as_bytes()).to_string()
}

/// Where worktrees are made, from the root.
pub(super) const WORKTREES: &str = ".claude/worktrees";

/// The branch that work is merged into when the configuration names none.
const TARGET: &str = "ralph/implement";

/// Where the artefacts of reviews are, from the root.
pub(super) const ARTEFACTS: &str = ".ralf";

/// Where the work of a bead is, from the path of its worktree: the branch is named by its last two parts.
pub(super) fn place_of(bead: &BeadId, worktree: &Utf8Path) -> Option<Place> {
    let name = worktree.file_name()?;
    let folder = worktree.parent()?.file_name()?;
    Some(Place {
        bead: bead.clone(),
        branch: format!("{folder}/{name}"),
        worktree: worktree.to_owned(),
    })
}

/// The same for a worktree that lies where this program makes them; others are somebody else's.
pub fn own_place(root: &Utf8Path, bead: &BeadId, worktree: &Utf8Path) -> Option<Place> {
    let below = worktree.strip_prefix(root.join(WORKTREES)).ok()?;
    let mut parts = below.components();
    let is_made_so = parts.all(|it| matches!(it, Utf8Component::Normal(_)));
    place_of(bead, worktree).filter(|_| is_made_so && below.components().count() == 2)
}

pub fn target_of(config: &Config) -> &str {
    config.integration.target.as_deref().unwrap_or(TARGET)
}

/// Where prompts, output, reports and checks of a step are kept, below the directory of the store. None for an id that cannot be a path.
pub fn work_of(beads: &Utf8Path, step: &BeadId) -> Option<Utf8PathBuf> {
    report_folder(step).ok().map(|folder| beads.join(folder))
}

/// Where the reviews of a stage are kept, below the root of the main worktree.
pub fn reviews_of(root: &Utf8Path, source: &BeadId, stage: &str) -> Utf8PathBuf {
    let session = session_id(source.as_str(), stage);
    root.join(ARTEFACTS).join(session)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i_41_the_ids_of_the_contract() {
        assert_eq!(
            session_id("proj-42", "preflight"),
            "dd2cbd7c-554a-5ad9-8470-aa6e93ffd1e7"
        );
        assert_eq!(
            session_id("7bk.19.3", "red-tests"),
            "d02b7ec8-e3bd-5839-bab2-134a2a447b6c"
        );
    }

    #[test]
    fn i_16_what_was_written_is_found_by_bead_and_stage() {
        let id = |text: &str| BeadId::parse(text).unwrap();
        let (root, beads) = (Utf8Path::new("/r"), Utf8Path::new("/r/.beads"));
        assert_eq!(
            work_of(beads, &id("bd-1")).unwrap(),
            "/r/.beads/worker-audit/bd-1"
        );
        assert_eq!(work_of(beads, &id("a..b")), None);
        assert_eq!(
            reviews_of(root, &id("proj-42"), "preflight"),
            "/r/.ralf/dd2cbd7c-554a-5ad9-8470-aa6e93ffd1e7"
        );
        let place = place_of(&id("p-1"), Utf8Path::new("/r/w/fix/p-1-x")).unwrap();
        assert_eq!(place.branch, "fix/p-1-x");
        assert_eq!(place_of(&id("p-1"), Utf8Path::new("/")), None);
        let own = |path: &str| own_place(root, &id("p-1"), Utf8Path::new(path)).is_some();
        assert!(own("/r/.claude/worktrees/fix/p-1-x"));
        for others in [
            "/r",
            "/r/fix/p-1-x",
            "/r/.claude/worktrees/x",
            "/r/.claude/worktrees/../x",
            "/r/.claude/worktrees/a/b/c",
        ] {
            assert!(!own(others), "{others}");
        }
    }
}
