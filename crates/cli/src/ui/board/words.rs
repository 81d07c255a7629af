//! The words of the board: beads and their states, as short as a terminal is narrow.

use beads_ralph_core::engine::{BeadState, End, Spent};
use beads_ralph_core::history::{Chronicle, Story};
use jiff::Timestamp;

use crate::ui::format::{self, between, elapsed};

/// A bead by its sprint and its title; by its id where it has none.
pub(super) fn name(story: &Story) -> String {
    let task = &story.task;
    format!("{} {}", number(story), task.title)
        .trim()
        .to_owned()
}

/// The sprint's number; the id where there is none.
pub(super) fn number(story: &Story) -> &str {
    match story.task.sprint.as_str() {
        "" => story.task.id.as_str(),
        sprint => sprint,
    }
}

/// Where a bead stands, in a few words.
pub(super) fn state(told: &Chronicle, story: &Story, now: Timestamp) -> String {
    match &story.state {
        BeadState::Waiting { on } => match on.as_slice() {
            [one] => format!("waits for {}", told.story(one).map_or(one.as_str(), number)),
            _ => format!("waits for {} beads", on.len()),
        },
        BeadState::HeldBack { .. } => "held back".to_owned(),
        BeadState::Ready => "ready".to_owned(),
        BeadState::Working {
            waiting: Some(_), ..
        } => format!("waiting {}", attempt(story)),
        BeadState::Working { phase, since, .. } => {
            let time = elapsed(between(*since, now));
            format!("{} {} {time}", phase.as_str(), attempt(story))
        }
        BeadState::Held { .. } => "held by others".to_owned(),
        BeadState::Blocked | BeadState::Ended(End::NeedsPerson { .. }) => {
            "needs attention".to_owned()
        }
        BeadState::Closed | BeadState::Ended(End::Closed { .. }) => "closed".to_owned(),
        BeadState::Ended(End::Released) => "released".to_owned(),
        BeadState::Ended(End::Lost { .. }) => "taken by others".to_owned(),
    }
}

pub(super) fn attempt(story: &Story) -> String {
    format!("{}/{}", story.attempt, story.task.max_attempts)
}

pub(super) fn cost(spent: &Spent) -> String {
    match format::cost(spent).as_str() {
        "unknown" => "cost unknown".to_owned(),
        cost => cost.to_owned(),
    }
}
