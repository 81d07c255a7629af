//! What waits for what, for every type of dependency as `bd` defines it.
//!
//! An issue is held back by an edge that blocks, by open children of what it waits for, and by a parent
//! that is itself held back. A dependency on an id that does not exist holds back (contracts §0.1). What
//! is closed or pinned is not held back by anything.
//!
//! A wisp is a short-lived issue that expires a day after it was made (F-10): it is no longer offered as work, and `mol wisp gc`
//! removes it.

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::Record;
use super::dependency::Effect;
use super::model::Issue;
use super::query::Query;
use crate::bead::BeadId;
use crate::vocabulary::Status;

/// What a status means to those that wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Not done: whatever blocks on it waits.
    Pending,
    /// Done.
    Closed,
    /// Kept for ever; nothing waits for it.
    Pinned,
}

impl Standing {
    /// The meaning of a status; an unknown word is pending.
    pub fn of(status: &str) -> Self {
        match Status::known(status) {
            Some(Status::Closed) => Self::Closed,
            Some(Status::Pinned) => Self::Pinned,
            _ => Self::Pending,
        }
    }
}

/// What can be asked about the issues around one.
pub trait Neighbours {
    /// Why it could not be answered.
    type Error;

    /// How an issue stands; nothing when there is no such issue.
    fn standing(&self, id: &BeadId) -> Result<Option<Standing>, Self::Error>;

    /// How the children of an issue stand.
    fn children(&self, id: &BeadId) -> Result<Vec<Standing>, Self::Error>;

    /// Whether an issue is held back itself.
    fn is_blocked(&self, id: &BeadId) -> Result<bool, Self::Error>;
}

/// Something that holds an issue back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Blocker {
    /// The issue that is depended on.
    pub id: BeadId,
    /// What is being waited for.
    pub waiting: Waiting,
}

/// What is being waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Waiting {
    /// That it is closed.
    #[serde(rename = "open")]
    ForIt,
    /// That there is such an issue at all.
    #[serde(rename = "missing")]
    Missing,
    /// That its children are closed, or one of them.
    #[serde(rename = "children")]
    ForChildren,
    /// That it is no longer held back itself.
    #[serde(rename = "parent")]
    ForParent,
}

impl Waiting {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ForIt => "open",
            Self::Missing => "missing",
            Self::ForChildren => "children",
            Self::ForParent => "parent",
        }
    }
}

/// Everything that holds an issue back now, in the order of its dependencies.
pub fn blockers<N: Neighbours>(issue: &Issue, world: &N) -> Result<Vec<Blocker>, N::Error> {
    if issue.standing() != Standing::Pending {
        return Ok(Vec::new());
    }
    let mut blockers = Vec::new();
    for edge in issue.dependencies() {
        let id = edge.target();
        let waiting = match edge.effect() {
            Effect::None => None,
            Effect::Blocks => match world.standing(id)? {
                None => Some(Waiting::Missing),
                Some(Standing::Pending) => Some(Waiting::ForIt),
                Some(Standing::Closed | Standing::Pinned) => None,
            },
            Effect::WaitsForChildren | Effect::WaitsForAnyChild
                if world.standing(id)?.is_none() =>
            {
                Some(Waiting::Missing)
            }
            Effect::WaitsForChildren | Effect::WaitsForAnyChild
                if edge.waits_for_target() && world.standing(id)? == Some(Standing::Pending) =>
            {
                Some(Waiting::ForIt)
            }
            Effect::WaitsForChildren => {
                let children = world.children(id)?;
                children
                    .contains(&Standing::Pending)
                    .then_some(Waiting::ForChildren)
            }
            Effect::WaitsForAnyChild => {
                let children = world.children(id)?;
                let is_waiting =
                    children.contains(&Standing::Pending) && !children.contains(&Standing::Closed);
                is_waiting.then_some(Waiting::ForChildren)
            }
            Effect::Parent => world.is_blocked(id)?.then_some(Waiting::ForParent),
        };
        blockers.extend(waiting.map(|waiting| Blocker {
            id: id.clone(),
            waiting,
        }));
    }
    Ok(blockers)
}

/// Types of `bd` that are bookkeeping and not work.
pub const NOT_WORK: [&str; 7] = [
    "merge-request",
    "gate",
    "molecule",
    "message",
    "agent",
    "role",
    "rig",
];

/// Types that lists leave out unless they are asked for.
pub const HIDDEN: [&str; 5] = ["gate", "agent", "rig", "role", "message"];

/// Whether a list leaves an issue out unless it is asked for: templates and bookkeeping.
pub fn is_hidden(issue: &Issue) -> bool {
    issue.flag("is_template") || HIDDEN.contains(&issue.issue_type())
}

/// Whether an issue can be started now. `is_parent_deferred` says whether something that it is a part of
/// is put off at that moment.
pub fn is_ready(record: &Record, query: &Query, now: Timestamp, is_parent_deferred: bool) -> bool {
    let issue = &record.issue;
    let is_put_off =
        is_parent_deferred || issue.time("defer_until").is_some_and(|until| until > now);
    let is_asked_for = query.types.iter().any(|kind| kind == issue.issue_type());
    issue.status() == Status::Open
        && !record.is_blocked
        && (!is_put_off || query.includes_deferred)
        && !issue.flag("pinned")
        && (!is_wisp(issue) || (query.includes_ephemeral && !is_expired(issue, now)))
        && (is_asked_for || !NOT_WORK.contains(&issue.issue_type()))
}

/// For how long a wisp counts.
pub const WISP_LIFETIME: SignedDuration = SignedDuration::from_hours(24);

/// Whether an issue is short-lived.
pub fn is_wisp(issue: &Issue) -> bool {
    issue.flag("ephemeral")
}

/// When a wisp is over; nothing for what is none, and for one that does not say when it came.
pub fn expiry(issue: &Issue) -> Option<Timestamp> {
    let created = issue.time("created_at").filter(|_| is_wisp(issue))?;
    // One from the end of time never is.
    created.checked_add(WISP_LIFETIME).ok()
}

/// Whether an issue is a wisp that is over.
pub fn is_expired(issue: &Issue, now: Timestamp) -> bool {
    expiry(issue).is_some_and(|until| until <= now)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn f_10_a_wisp_is_over_a_day_after_it_came() {
        let issue = |more| {
            let mut document = json!({"id": "a", "title": "t"});
            document
                .as_object_mut()
                .unwrap()
                .extend(serde_json::from_value::<serde_json::Map<_, _>>(more).unwrap());
            Issue::without_comments(document).unwrap()
        };
        let came = "2026-01-01T00:00:00Z";
        let wisp = issue(json!({"ephemeral": true, "created_at": came}));
        let at = |hours| came.parse::<Timestamp>().unwrap() + SignedDuration::from_mins(hours);
        assert!(!is_expired(&wisp, at(24 * 60 - 1)));
        assert!(is_expired(&wisp, at(24 * 60)));
        for never in [
            json!({"created_at": came}),
            json!({"ephemeral": false, "created_at": came}),
            json!({"ephemeral": true}),
            json!({"ephemeral": true, "created_at": "9999-12-30T12:00:00Z"}),
        ] {
            assert!(!is_expired(&issue(never.clone()), at(9_000_000)), "{never}");
        }
    }
}
