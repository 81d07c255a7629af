//! What held a run up: the longest way through its beads, as it was thought to be and as it was.

use std::collections::HashMap;

use super::{Chronicle, Story};
use crate::bead::BeadId;
use crate::graph::{self, heaviest_path};
use crate::number::SprintId;

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
