//! What the loop asks of git and of the place where pull requests are.
//!
//! Whatever reaches the outside is asked for here, so that a simulation can stand in for it. Everything may be asked twice:
//! after a crash nobody knows whether the first time was heard. So each of these looks before it acts, and doing it again does nothing.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::{CommitId, Trouble};
use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

/// Where a bead is worked on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The bead.
    pub bead: BeadId,
    /// Its branch.
    pub branch: String,
    /// Its worktree; absolute.
    pub worktree: Utf8PathBuf,
}

/// What a bead starts from (Z-6, contracts §7.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The source branch.
    pub source: String,
    /// What must be in it before the work begins, in that order.
    pub wanted: Vec<Wanted>,
}

/// One thing that must be in a branch before the work begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The bead or the branch, for messages.
    pub name: String,
    /// The commit.
    pub commit: CommitId,
}

/// A worktree that is ready, or one with a conflict that somebody must solve first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prepared {
    /// What is checked out: everything that is wanted, unless there are conflicts.
    pub head: CommitId,
    /// Which branch or remote branch it started from, in words.
    pub from: String,
    /// What is being merged while there are conflicts.
    pub merging: Option<Wanted>,
    /// The files with conflicts, from the root of the worktree.
    pub conflicts: Vec<String>,
}

/// What an attempt made, all of it committed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    /// The commit.
    pub commit: CommitId,
    /// Its tree: equal trees are equal work.
    pub tree: String,
    /// The files that differ from the base.
    pub changed_files: Vec<String>,
    /// Files with conflicts that nobody solved; then nothing was committed.
    pub unresolved: Vec<String>,
}

/// What a worktree looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// What is checked out.
    pub head: CommitId,
    /// Why that is not all: something is not committed.
    pub dirt: Option<String>,
}

/// What became of a commit that was to go into the target branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Integrated {
    /// It is in; this is the target's head, and whether it was there before.
    In {
        /// The commit by which it came in.
        commit: CommitId,
        /// Whether it was there already.
        was_there: bool,
    },
    /// These files do not fit together with what is there; nothing was changed.
    Conflict {
        /// The target's head.
        target: CommitId,
        /// The files.
        files: Vec<String>,
    },
}

/// The user's git repository.
///
/// The main checkout is never touched: neither its files nor its index nor its HEAD.
pub trait Repository: Send + Sync {
    /// The head of a local branch.
    fn branch(&self, name: &str) -> Result<Option<CommitId>, Trouble>;

    /// Makes a bead's worktree ready: there, on its branch, with everything that is wanted merged in, one by one (L-15, L-21). A
    /// worktree that is there and on the branch is used again. At the first conflict it stops, with the conflict in the worktree;
    /// called again after the conflict was sealed it goes on.
    fn prepare(&self, place: &Place, origin: &Origin) -> Result<Prepared, Trouble>;

    /// Commits what was left uncommitted (never ignored files, nor those that we copied in), and says what there is (Z-5). Commits
    /// nothing while conflicts are unsolved.
    fn seal(&self, place: &Place, base: &CommitId, message: &str) -> Result<Sealed, Trouble>;

    /// What the worktree looks like now.
    fn state(&self, place: &Place) -> Result<State, Trouble>;

    /// Makes a worktree be exactly a commit again; ignored files stay. What was there is kept reachable first, under
    /// `refs/beads-ralph/<bead>/interrupted/<n>`, where `n` is the attempt, unless nothing would be lost (Z-39). Answers with what was kept.
    fn restore(
        &self,
        place: &Place,
        commit: &CommitId,
        attempt: u32,
    ) -> Result<Option<CommitId>, Trouble>;

    /// Keeps a verified commit reachable as `refs/beads-ralph/<bead>/verified` (Z-6); git cannot hold a ref and others below it.
    fn keep(&self, bead: &BeadId, commit: &CommitId) -> Result<(), Trouble>;

    /// The verified commit of a bead.
    fn kept(&self, bead: &BeadId) -> Result<Option<CommitId>, Trouble>;

    /// Whether a commit is in another one's history.
    fn is_in(&self, commit: &CommitId, head: &CommitId) -> Result<bool, Trouble>;

    /// Merges a commit into the target branch, which is made from the source branch when it is not there (Z-11). Never rebases, never
    /// moves a branch that is checked out somewhere.
    fn integrate(
        &self,
        target: &str,
        source: &str,
        commit: &CommitId,
        message: &str,
    ) -> Result<Integrated, Trouble>;

    /// Pushes exactly a commit to a branch of the remote (Z-5).
    fn push(&self, branch: &str, commit: &CommitId) -> Result<(), Trouble>;

    /// Removes a worktree that has nothing to lose; its branch stays.
    fn remove(&self, place: &Place) -> Result<(), Trouble>;
}

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequest {
    /// Its address.
    pub url: String,
    /// Its number.
    pub number: u64,
    /// Where it stands.
    pub state: PullState,
}

/// Where a pull request stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullState {
    /// It waits.
    Open,
    /// It was merged.
    Merged,
    /// It was closed without being merged.
    Closed,
}

/// What there is for a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The pull request.
    pub request: PullRequest,
    /// The commit that it proposes.
    pub head: CommitId,
}

/// What a new pull request says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPullRequest {
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
    /// The branch that it proposes.
    pub head: String,
    /// The branch that it is for.
    pub base: String,
}

/// Where pull requests are.
pub trait Forge: Send + Sync {
    /// The pull requests of a branch, in any state, newest first (Z-12).
    fn find(&self, branch: &str) -> Result<Vec<Found>, Trouble>;

    /// Makes a pull request.
    fn create(&self, new: &NewPullRequest) -> Result<PullRequest, Trouble>;
}
