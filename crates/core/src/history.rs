//! What happened: the history of a run, told from its journal, and the figures of a store, counted from its beads ([`records`]).
//!
//! A journal is folded once, in the order of its entries. Nothing here decides anything: what a run decided stands in the journal, and
//! what it looks like now is the engine's to say.

pub mod records;
mod tell;

use std::collections::HashMap;

use jiff::Timestamp;

use crate::bead::BeadId;
use crate::engine::{BeadState, CommitId, Outcome, RunState, Spent, Task};
use crate::graph::{self, heaviest_path};
use crate::number::SprintId;

pub use tell::{Telling, chronicle};

/// The story of a run.
#[derive(Debug, Clone)]
pub struct Chronicle {
    /// The run's id.
    pub run: String,
    /// The program that began it.
    pub version: String,
    /// When it began.
    pub began: Timestamp,
    /// The moment of the last entry.
    pub last: Timestamp,
    /// How it ended, if it did.
    pub outcome: Option<Outcome>,
    /// What it does as a whole.
    pub state: RunState,
    /// Whether its process is gone though it is not over, which no journal says: whoever looks at the process says it.
    pub is_left: bool,
    /// How often a process died and another one went on.
    pub n_adopted: usize,
    /// How many beads could be worked on at once.
    pub width: usize,
    /// Its beads, in the order of their ids.
    pub stories: Vec<Story>,
    /// What all agents took.
    pub spent: Spent,
}

/// What was done to a bead.
#[derive(Debug, Clone)]
pub struct Story {
    /// The bead as it was first seen.
    pub task: Task,
    /// The beads that it waited for when it was first seen.
    pub waited_for: Vec<BeadId>,
    /// Where it stands at the end.
    pub state: BeadState,
    /// The number of the attempt that is or was made last; 0 before the first.
    pub attempt: u32,
    /// When it was first claimed in this run.
    pub claimed: Option<Timestamp>,
    /// When its work ended in this run.
    pub ended: Option<Timestamp>,
    /// Its attempts in this run, in their order; their numbers start over when the bead is reopened.
    pub attempts: Vec<Attempt>,
    /// What its worktree held when it was first made ready in this run.
    base: Option<CommitId>,
    /// How many of them were made before it was last ended.
    n_before: usize,
    /// What runs for it now.
    pub under_way: Vec<UnderWay>,
    /// The pull request.
    pub pull: Option<String>,
    /// The commit by which it came into the target branch.
    pub merged: Option<CommitId>,
    /// What it cost in this run.
    pub spent: Spent,
}

/// One attempt.
#[derive(Debug, Clone, Default)]
pub struct Attempt {
    /// Its number, from 1.
    pub number: u32,
    /// What went wrong before, as the agents were told.
    pub feedback: Option<String>,
    /// Everything that ran, in the order of their ends.
    pub runs: Vec<Run>,
    /// What was committed, and how many files differ from the base.
    pub sealed: Option<(CommitId, usize)>,
    /// What the work of the bead began from, where that is known.
    pub base: Option<CommitId>,
}

/// Something that ran for a while.
#[derive(Debug, Clone)]
pub struct Run {
    /// What.
    pub kind: RunKind,
    /// Who: the agent, or nothing for checks and merges.
    pub agent: String,
    /// The model, as the agent names it.
    pub model: Option<String>,
    /// When it began.
    pub began: Timestamp,
    /// When it ended.
    pub ended: Timestamp,
    /// Whether the work may go on from it.
    pub is_good: bool,
    /// How it ended, in a word.
    pub status: String,
    /// What there is to say about it.
    pub message: String,
    /// What it took.
    pub spent: Spent,
    /// Where what it printed is kept.
    pub evidence: Option<String>,
}

/// Something that runs now.
#[derive(Debug, Clone)]
pub struct UnderWay {
    /// What.
    pub kind: RunKind,
    /// Who: the agent's account, or nothing for checks and merges.
    pub agent: String,
    /// When it began.
    pub began: Timestamp,
}

crate::text::word_enum! {
    /// What ran.
    #[derive(PartialOrd, Ord)]
    pub enum RunKind {
        /// The worktree was made ready.
        Prepare = "prepare",
        /// A dev agent worked.
        Develop = "develop",
        /// An agent solved a conflict.
        Resolve = "resolve",
        /// An agent led.
        Lead = "lead",
        /// A QA agent judged.
        Judge = "judge",
        /// Checks were run.
        Verify = "verify",
        /// The work was merged, pushed or proposed.
        HandOver = "hand over",
    }
}

impl RunKind {
    /// Whether an agent ran, which takes money.
    pub fn is_agent(self) -> bool {
        matches!(
            self,
            Self::Develop | Self::Resolve | Self::Lead | Self::Judge
        )
    }
}

impl Chronicle {
    /// What was done to a bead.
    pub fn story(&self, id: &str) -> Option<&Story> {
        let at = self
            .stories
            .binary_search_by(|it| it.task.id.as_str().cmp(id));
        self.stories.get(at.ok()?)
    }
}

impl Story {
    /// A bead to which nothing was done yet.
    pub fn of(task: Task) -> Self {
        Self {
            waited_for: task.waits_for.clone(),
            state: BeadState::Ready,
            attempt: task.attempts,
            claimed: None,
            ended: None,
            attempts: Vec::new(),
            base: task.base.clone(),
            n_before: 0,
            under_way: Vec::new(),
            pull: None,
            merged: None,
            spent: Spent::default(),
            task,
        }
    }

    /// How long the work took, from its claim to its end, in milliseconds.
    pub fn took_ms(&self) -> u64 {
        let (Some(claimed), Some(ended)) = (self.claimed, self.ended) else {
            return 0;
        };
        let took = ended.duration_since(claimed).as_millis();
        u64::try_from(took).unwrap_or_default()
    }

    /// Everything that ran for it.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.attempts.iter().flat_map(|attempt| &attempt.runs)
    }
}

/// A way through the beads of a run on which each waited for the one before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// The beads, the first one first.
    pub beads: Vec<BeadId>,
    /// How long all of it is, in milliseconds.
    pub took_ms: u64,
}

/// The longest way as planned (by the minutes that were estimated) and as it was (by the time from claim to end).
pub fn critical_paths(chronicle: &Chronicle) -> (CriticalPath, CriticalPath) {
    let planned = longest(&chronicle.stories, |story| {
        story.task.weight.saturating_mul(60_000)
    });
    let actual = longest(&chronicle.stories, Story::took_ms);
    (planned, actual)
}

/// The longest way, by the sum of a weight. What waits in a circle, which no store has, is left out. Of ways that are as long as each
/// other the first in the natural order of their sprints is taken, as in the graph of a plan (Z-41).
fn longest(stories: &[Story], weight: impl Fn(&Story) -> u64) -> CriticalPath {
    let mut stories: Vec<&Story> = stories.iter().collect();
    stories.sort_by_cached_key(|story| {
        let sprint = SprintId::parse(&story.task.sprint);
        (sprint.is_none(), sprint, story.task.id.clone())
    });
    let path = heaviest_path(&before(&stories), |at| weight(stories[at]));
    let weights = path.iter().map(|at| weight(stories[*at]));
    CriticalPath {
        took_ms: weights.fold(0, u64::saturating_add),
        beads: path.iter().map(|at| stories[*at].task.id.clone()).collect(),
    }
}

/// How many beads stand in a row before each, at the most.
pub fn depths(stories: &[Story]) -> Vec<usize> {
    let stories: Vec<&Story> = stories.iter().collect();
    graph::depths(&before(&stories))
}

/// The places of the beads that each waited for; those of other runs have none.
fn before(stories: &[&Story]) -> Vec<Vec<usize>> {
    let places = stories.iter().enumerate();
    let places: HashMap<&BeadId, usize> = places.map(|(at, it)| (&it.task.id, at)).collect();
    let before = |story: &&Story| {
        let before = story.waited_for.iter();
        before.filter_map(|id| places.get(id).copied()).collect()
    };
    stories.iter().map(before).collect()
}

#[cfg(test)]
mod tests;
