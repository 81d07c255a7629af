//! The user's git repository, as the loop over many beads needs it: the [`Repository`] over real git.
//!
//! Git is called through units, with everything that the user may have set and that would get in the way put aside (`call`). The
//! main checkout is never touched. Everything looks before it acts, so that doing it again does nothing, from whatever state a
//! crash left. Several threads, and several processes, may use one repository at once.
//!
//! Limits: submodules are not checked out into worktrees, because that may need a network and a login; a `worktrees.setup`
//! command can do it. Merging into the target branch needs git 2.38. Who is at work in a worktree is only seen where there
//! is `/proc`.

mod add;
mod call;
mod checkout;
mod copied;
mod errors;
mod guard;
mod index;
mod integrate;
mod locks;
mod preflight;
mod prepare;
mod refs;
mod remote;
mod restore;
mod seal;
mod site;
mod status;
mod user_settings;
mod view;
mod worktrees;

pub use self::refs::Change;
pub use self::user_settings::{Identity, Person, branch_of};
pub(crate) use self::worktrees::{Sight, hold, look};
pub(crate) use copied::copy_into;
pub(crate) use view::View;
pub use worktrees::Worktree;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::{CommitId, Trouble};
use camino::{Utf8Path, Utf8PathBuf};

use crate::os::process::Units;
use crate::ports::{Integrated, Origin, Place, Prepared, Repository, Sealed, State};
use crate::repo::shown;
use call::{Call, Caller};
use site::Linked;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// What is copied from the main checkout into worktrees: paths and patterns from its root (`worktrees.copy`).
    pub copy: Vec<String>,
    pub remote: String,
    /// How long the remote may take to answer one call.
    pub network_limit: Duration,
    /// How long what was fetched counts as new.
    pub fetch_every: Duration,
    /// Names of variables that filters and the like must not have, when git starts them for work on a bead.
    pub withhold: Vec<String>,
    /// How old a lock must be that counts as left although a git lives that could be its owner.
    pub stale_lock: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            copy: Vec::new(),
            remote: "origin".to_owned(),
            network_limit: Duration::from_mins(2),
            fetch_every: remote::FETCH_EVERY,
            withhold: Vec::new(),
            stale_lock: locks::STALE,
        }
    }
}

/// What was learned and stays true.
#[derive(Debug, Default)]
struct Memory {
    /// Whether the first commit is in the history of the second.
    ancestry: HashMap<(CommitId, CommitId), bool>,
    /// The files that differ between two commits: each attempt asks for the same several times.
    changes: HashMap<(CommitId, CommitId), seal::Between>,
}

/// When a branch was fetched, and what kept it from coming.
type Fetched = HashMap<String, (Instant, Option<String>)>;

#[derive(Debug)]
pub struct Git {
    caller: Caller<Arc<Units>>,
    root: Utf8PathBuf,
    /// The git directory that all worktrees share.
    common: Utf8PathBuf,
    is_shallow: bool,
    settings: Settings,
    identity: OnceLock<Identity>,
    remote: OnceLock<Option<String>>,
    network: OnceLock<BTreeMap<String, String>>,
    memory: Mutex<Memory>,
    fetched: Mutex<Fetched>,
    adding: Mutex<()>,
    integrating: Mutex<()>,
    /// Whether git converts line endings in all files for this user.
    converts: OnceLock<bool>,
}

impl Git {
    pub fn open(units: Arc<Units>, root: &Utf8Path, settings: Settings) -> Result<Self, Trouble> {
        let caller = Caller::new(units);
        let arguments = [
            "rev-parse",
            "--path-format=absolute",
            "--git-common-dir",
            "--is-shallow-repository",
        ];
        let said = caller.act(&Call::new(root, &arguments).for_run())?;
        let answer = said.line();
        let Some((common, is_shallow)) = answer.rsplit_once('\n') else {
            let root = shown(root);
            return Err(Trouble::for_run(format!(
                "git cannot find the repository of {root} is"
            )));
        };
        Ok(Self {
            caller: caller.in_repository(root, Utf8Path::new(common), &settings)?,
            root: root.to_owned(),
            common: Utf8PathBuf::from(common),
            is_shallow: is_shallow == "true",
            settings,
            identity: OnceLock::new(),
            remote: OnceLock::new(),
            network: OnceLock::new(),
            memory: Mutex::default(),
            fetched: Mutex::default(),
            adding: Mutex::default(),
            integrating: Mutex::default(),
            converts: OnceLock::new(),
        })
    }

    pub fn is_shallow(&self) -> bool {
        self.is_shallow
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock that a git which was killed may have left on a branch.
    fn branch_lock(&self, branch: &str) -> Utf8PathBuf {
        self.common.join(format!("{}.lock", refs::branch(branch)))
    }
}

impl Repository for Git {
    fn branch(&self, name: &str) -> Result<Option<CommitId>, Trouble> {
        self.resolve(&refs::branch(name))
    }

    fn prepare(&self, place: &Place, origin: &Origin) -> Result<Prepared, Trouble> {
        self.at(&place.worktree, || self.prepare_place(place, origin))
    }

    fn seal(&self, place: &Place, base: &CommitId, message: &str) -> Result<Sealed, Trouble> {
        self.at(&place.worktree, || self.seal_place(place, base, message))
    }

    fn changed_files(&self, base: &CommitId, commit: &CommitId) -> Result<Vec<String>, Trouble> {
        self.files_between(base, commit)
    }

    fn state(&self, place: &Place) -> Result<State, Trouble> {
        let (linked, status, dirt) = self.at(&place.worktree, || {
            guard::mend_head(&place.worktree, &self.common, &place.branch);
            let linked = Linked::at(&place.worktree, &self.common)?;
            let status = self.caller.look(&linked)?;
            let dirt = status.dirt(&copied::of(&linked));
            let dirt = dirt.or_else(|| linked.is_in_the_middle());
            if dirt.is_none() {
                self.put_as_checked_out(&linked)?;
            }
            Ok((linked, status, dirt))
        })?;
        match status.head {
            Some(head) => Ok(State {
                branch: status.branch,
                head,
                dirt,
            }),
            None => Err(Trouble::for_bead(format!(
                "the worktree {} has no commit",
                shown(&linked.path)
            ))),
        }
    }

    fn restore(
        &self,
        place: &Place,
        commit: &CommitId,
        attempt: u32,
    ) -> Result<Option<CommitId>, Trouble> {
        self.at(&place.worktree, || {
            self.restore_place(place, commit, attempt)
        })
    }

    fn keep(&self, bead: &BeadId, commit: &CommitId) -> Result<(), Trouble> {
        self.set_ref(&refs::verified(bead), commit)
    }

    fn kept(&self, bead: &BeadId) -> Result<Option<CommitId>, Trouble> {
        self.resolve(&refs::verified(bead))
    }

    fn is_in(&self, commit: &CommitId, head: &CommitId) -> Result<bool, Trouble> {
        self.contains(head, commit)
    }

    fn integrate(
        &self,
        target: &str,
        source: &str,
        commit: &CommitId,
        message: &str,
    ) -> Result<Integrated, Trouble> {
        self.integrate_commit(target, source, commit, message)
    }

    fn push(&self, branch: &str, commit: &CommitId) -> Result<(), Trouble> {
        self.push_commit(branch, commit)
    }

    fn remove(&self, place: &Place) -> Result<(), Trouble> {
        self.at(&place.worktree, || self.remove_place(place))
    }
}
