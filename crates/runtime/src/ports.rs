//! What the loop asks of git and of the place where pull requests are.
//!
//! Whatever reaches the outside is asked for here, so that a simulation can stand in for it. Everything may be asked twice:
//! after a crash it is unknown whether the first call had its effect. So each of these looks before it acts, and a second call does nothing.

use beads_ralph_core::bead::{AgentSpec, BeadId, QaReport, RalphBead};
use beads_ralph_core::engine::{AgentReport, CommitId, EffectId, Launch, Trouble, Verdict};
use beads_ralph_core::issue::Fence;
use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub bead: BeadId,
    pub branch: String,
    pub worktree: Utf8PathBuf,
}

/// What a bead starts from (Z-6, contracts §7.6).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub source: String,
    pub wanted: Vec<Wanted>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    pub name: String,
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
    pub conflicts: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    pub commit: CommitId,
    /// Its tree: equal trees are equal work.
    pub tree: String,
    /// The files that differ from the base.
    pub changed_files: Vec<String>,
    /// Files with conflicts that nobody solved; then nothing was committed.
    pub unresolved: Vec<String>,
    /// Why the work cannot be taken as it is, such as a repository inside it (C-2).
    pub refused: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The branch that is checked out, unless HEAD is detached.
    pub branch: Option<String>,
    pub head: CommitId,
    /// Why that is not all: something is not committed.
    pub dirt: Option<String>,
}

/// What became of a commit that was to go into the target branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Integrated {
    /// It is merged, now or before.
    In { commit: CommitId, was_there: bool },
    /// These files do not fit together with what is there; nothing was changed.
    Conflict {
        target: CommitId,
        files: Vec<String>,
    },
}

/// The user's git repository.
///
/// The main checkout is never touched: neither its files nor its index nor its HEAD.
pub trait Repository: Send + Sync {
    fn branch(&self, name: &str) -> Result<Option<CommitId>, Trouble>;

    /// Makes a bead's worktree ready: there, on its branch, with everything that is wanted merged in, one by one (L-15, L-21). A
    /// worktree that is there and on the branch is used again. At the first conflict it stops, with the conflict in the worktree;
    /// called again after the conflict was sealed it goes on.
    fn prepare(&self, place: &Place, origin: &Origin) -> Result<Prepared, Trouble>;

    /// Commits what was left uncommitted (never ignored files, nor those that we copied in), and says what there is (Z-5). Commits
    /// nothing while conflicts are unsolved.
    fn seal(&self, place: &Place, base: &CommitId, message: &str) -> Result<Sealed, Trouble>;

    fn changed_files(&self, base: &CommitId, commit: &CommitId) -> Result<Vec<String>, Trouble>;

    fn state(&self, place: &Place) -> Result<State, Trouble>;

    /// Makes a worktree be exactly a commit again; ignored files stay. The previous state is kept reachable first, under
    /// `refs/beads-ralph/<bead>/interrupted/<n>`, where `n` is the attempt, unless nothing would be lost (Z-39). Answers with what was kept.
    fn restore(
        &self,
        place: &Place,
        commit: &CommitId,
        attempt: u32,
    ) -> Result<Option<CommitId>, Trouble>;

    /// Keeps a verified commit reachable as `refs/beads-ralph/<bead>/verified` (Z-6); git cannot hold a ref and others below it.
    fn keep(&self, bead: &BeadId, commit: &CommitId) -> Result<(), Trouble>;

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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequest {
    pub url: String,
    pub number: u64,
    pub state: PullState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullState {
    Open,
    Merged,
    Closed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub request: PullRequest,
    pub head: CommitId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPullRequest {
    pub title: String,
    pub body: String,
    pub head: String,
    pub base: String,
}

pub trait Forge: Send + Sync {
    /// The pull requests of a branch, in any state, newest first (Z-12).
    fn find(&self, branch: &str) -> Result<Vec<Found>, Trouble>;

    /// The pull request for a commit: an open one follows its branch; a merged or closed one counts only for this very commit.
    fn find_for(&self, branch: &str, commit: &CommitId) -> Result<Option<PullRequest>, Trouble> {
        let fits = |it: &Found| it.request.state == PullState::Open || it.head == *commit;
        let found = self.find(branch)?.into_iter().find(fits);
        Ok(found.map(|found| found.request))
    }

    /// Makes a pull request.
    fn create(&self, new: &NewPullRequest) -> Result<PullRequest, Trouble>;
}

#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    pub bead: &'a RalphBead,
    pub place: &'a Place,
    pub effect: EffectId,
    pub fence: Option<Fence>,
    pub launch: &'a Launch,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    pub is_green: bool,
    pub summary: String,
    pub is_cut_off: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    pub is_success: bool,
    pub is_fatal: bool,
    pub error: Option<String>,
    pub qa_results: Vec<QaReport>,
}

pub trait Executor: Send + Sync {
    /// Whose account an agent uses; limits hold for accounts.
    fn account(&self, spec: &AgentSpec) -> String;

    /// Makes a new worktree fit to be worked in; whether there was anything to do.
    fn set_up(&self, bead: &RalphBead, place: &Place) -> Result<bool, Trouble>;

    fn develop(
        &self,
        job: Job<'_>,
        agent: usize,
        feedback: Option<&str>,
    ) -> Result<AgentReport, Trouble>;

    fn resolve(
        &self,
        job: Job<'_>,
        merging: &str,
        files: &[String],
    ) -> Result<AgentReport, Trouble>;

    fn lead(
        &self,
        job: Job<'_>,
        only_pull: bool,
        feedback: Option<&str>,
    ) -> Result<(AgentReport, Claimed), Trouble>;

    /// Lets a QA agent judge; without a verdict it was kept from judging.
    fn judge(
        &self,
        job: Job<'_>,
        agent: usize,
        changed_files: &[String],
    ) -> Result<(AgentReport, Option<Verdict>), Trouble>;

    /// Runs the checks of a bead on a commit. That it is checked out, and nothing else, is looked at by whoever asks, before and after. `base`
    /// is what the work began from: it shows whether a red check was red before.
    fn verify(
        &self,
        bead: &RalphBead,
        place: &Place,
        attempt: u32,
        commit: &CommitId,
        base: Option<&CommitId>,
    ) -> Result<Checked, Trouble>;

    fn cancel(&self, bead: &BeadId);

    /// Ends everything that runs, and whatever is about to.
    fn stop_all(&self) {}

    fn notify(&self, text: &str) -> Result<(), Trouble>;
}
