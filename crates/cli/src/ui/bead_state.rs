//! Where a bead of a run stands: in one word for programs and style sheets, and in words for people.

use beads_ralph_core::engine::{BeadState, End};

/// In one word, for programs and as a class of the page.
pub(crate) fn word(state: &BeadState) -> &'static str {
    match state {
        BeadState::Waiting { .. } | BeadState::HeldBack { .. } => "waiting",
        BeadState::Ready => "ready",
        BeadState::Working { .. } => "working",
        BeadState::Held { .. } => "held",
        BeadState::Blocked | BeadState::Ended(End::NeedsPerson { .. }) => "needs_person",
        BeadState::Closed | BeadState::Ended(End::Closed { .. }) => "closed",
        BeadState::Ended(End::Released) => "released",
        BeadState::Ended(End::Lost { .. }) => "lost",
    }
}

/// In words, for people.
pub(crate) fn words(state: &BeadState) -> String {
    match state {
        BeadState::Waiting { on } => format!("waits for {}", on.join(", ")),
        BeadState::HeldBack { why } => why.clone(),
        BeadState::Ready => "ready".to_owned(),
        BeadState::Working { phase, .. } => phase.as_str().to_owned(),
        BeadState::Held { by } => format!("held by {by}"),
        BeadState::Blocked => "needs a person".to_owned(),
        BeadState::Closed => "closed before".to_owned(),
        BeadState::Ended(End::Closed { .. }) => "closed".to_owned(),
        BeadState::Ended(End::NeedsPerson { reason }) => format!("needs a person: {reason}"),
        BeadState::Ended(End::Released) => "given back".to_owned(),
        BeadState::Ended(End::Lost { reason }) => format!("became somebody else's: {reason}"),
    }
}
