//! What holds a run up: what waits for a person, for a limit, for a gate, or for somebody else.

use std::collections::{BTreeMap, HashMap, HashSet};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::{BeadState, End};
use beads_ralph_core::history::{Chronicle, Story};

use super::{is_closed, words};

/// For how many it is said what waits behind them: no screen shows more, and each of them is a walk through the graph.
const MAX_COUNTED: usize = 10;

/// Why something does not continue, in words, and whether it waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Blocker {
    pub(super) text: String,
    pub(super) is_for_person: bool,
}

/// Everything that holds a run up; what waits for a person comes first.
pub(super) fn blockers(told: &Chronicle) -> Vec<Blocker> {
    let mut people = Vec::new();
    let mut others = Vec::new();
    let mut gates: BTreeMap<&str, usize> = BTreeMap::new();
    for story in &told.stories {
        match &story.state {
            BeadState::Ended(End::NeedsPerson { reason }) => people.push((story, reason.as_str())),
            BeadState::Blocked => people.push((story, "needed attention before this run")),
            BeadState::Working {
                waiting: Some(why), ..
            } => others.push(format!("{}: {why}", words::name(story))),
            BeadState::Held { by } => {
                others.push(format!("{}: held by {by}", words::name(story)));
            }
            BeadState::HeldBack { why } => *gates.entry(why).or_default() += 1,
            _ => {}
        }
    }
    let gates = gates
        .into_iter()
        .map(|(why, n)| format!("{why}: {n} held back"));
    let blocker = |is_for_person: bool| {
        move |text: String| Blocker {
            text,
            is_for_person,
        }
    };
    let followers = Followers::of(told);
    let people = people.into_iter().enumerate();
    let people = people.map(|(at, (story, reason))| {
        let behind = if at < MAX_COUNTED {
            followers.words(story)
        } else {
            String::new()
        };
        format!("{}: {reason}{behind}", words::name(story))
    });
    let mut all: Vec<Blocker> = people.map(blocker(true)).collect();
    all.extend(gates.chain(others).map(blocker(false)));
    all
}

/// Who waits for whom, among what is not closed.
struct Followers<'t>(HashMap<&'t BeadId, Vec<&'t BeadId>>);

impl<'t> Followers<'t> {
    fn of(told: &'t Chronicle) -> Self {
        let mut followers: HashMap<&BeadId, Vec<&BeadId>> = HashMap::new();
        for story in told.stories.iter().filter(|it| !is_closed(it)) {
            for before in &story.waited_for {
                followers.entry(before).or_default().push(&story.task.id);
            }
        }
        Self(followers)
    }

    /// How many wait for a bead, directly or not.
    fn n_behind(&self, id: &BeadId) -> usize {
        let mut found = HashSet::from([id]);
        let mut pending = vec![id];
        while let Some(before) = pending.pop() {
            for follower in self.0.get(before).into_iter().flatten() {
                if found.insert(follower) {
                    pending.push(follower);
                }
            }
        }
        found.len() - 1
    }

    fn words(&self, story: &Story) -> String {
        match self.n_behind(&story.task.id) {
            0 => String::new(),
            n => format!(" ({n} behind it)"),
        }
    }
}
