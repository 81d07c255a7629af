//! What held a run up: the longest way through its beads, as it was thought to be and as it was.

use std::collections::{BTreeMap, HashMap};

use super::{Chronicle, Story};
use crate::bead::BeadId;

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

/// The longest way, by the sum of a weight. What waits in a circle, which no store has, is left out.
fn longest(stories: &[Story], weight: impl Fn(&Story) -> u64) -> CriticalPath {
    let known: HashMap<&BeadId, &Story> = stories.iter().map(|it| (&it.task.id, it)).collect();
    let mut waiting: BTreeMap<&BeadId, usize> = BTreeMap::new();
    let mut followers: HashMap<&BeadId, Vec<&BeadId>> = HashMap::new();
    for story in stories {
        let before = story.waited_for.iter().filter(|id| known.contains_key(id));
        let mut n = 0;
        for id in before {
            followers.entry(id).or_default().push(&story.task.id);
            n += 1;
        }
        waiting.insert(&story.task.id, n);
    }
    let mut free: Vec<&BeadId> = (waiting.iter().filter(|(_, n)| **n == 0))
        .map(|(id, _)| *id)
        .collect();
    free.reverse();
    let mut length: HashMap<&BeadId, (u64, Option<&BeadId>)> = HashMap::new();
    let mut best: Option<(u64, &BeadId)> = None;
    while let Some(id) = free.pop() {
        let before = length.get(id).copied().unwrap_or((0, None));
        let own = known.get(id).map_or(0, |story| weight(story));
        let whole = before.0.saturating_add(own);
        length.insert(id, (whole, before.1));
        if best.is_none_or(|(most, _)| whole > most) {
            best = Some((whole, id));
        }
        for follower in followers.get(id).into_iter().flatten() {
            let so_far = length.entry(follower).or_insert((0, None));
            if so_far.1.is_none() || whole > so_far.0 {
                *so_far = (whole, Some(id));
            }
            if let Some(n) = waiting.get_mut(follower) {
                *n -= 1;
                if *n == 0 {
                    free.push(follower);
                }
            }
        }
    }
    let Some((took_ms, last)) = best else {
        return CriticalPath::default();
    };
    let mut beads = vec![last.clone()];
    let mut at = last;
    while let Some((_, Some(before))) = length.get(at) {
        beads.push((*before).clone());
        at = before;
    }
    beads.reverse();
    CriticalPath { beads, took_ms }
}
