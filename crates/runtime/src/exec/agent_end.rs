//! How the loop takes the end of an agent's call.

use beads_ralph_core::agent::{Outcome, Status};
use beads_ralph_core::dod::AgentEnd;

use crate::work_dir::Snapshot;

pub(super) fn agent_end(outcome: &Outcome, before: &Snapshot, after: &Snapshot) -> AgentEnd {
    let reason = || outcome.reason.clone();
    let has_changed = before != after;
    match outcome.status {
        // What was forbidden will be forbidden again.
        Status::Ok if !has_changed && !outcome.denials.is_empty() => AgentEnd::Hopeless(format!(
            "The agent was not allowed to work: {}",
            outcome.denials.join(", ")
        )),
        Status::Ok => AgentEnd::Done { has_changed },
        Status::Limit => AgentEnd::Limit {
            resets_at: outcome.resets_at,
            reason: reason(),
        },
        Status::Auth | Status::Config => AgentEnd::Hopeless(reason()),
        Status::Denied if !has_changed => AgentEnd::Hopeless(reason()),
        Status::Denied
        | Status::Failed
        | Status::Timeout
        | Status::Killed
        | Status::Crashed
        | Status::NoResult => AgentEnd::Failed(reason()),
    }
}
