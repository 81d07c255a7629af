//! A bead that somebody wants to begin.

use std::collections::BTreeSet;

use serde_json::Value;

use super::group::{self};
use crate::dod::{DodBead, DodType, Lane};
use crate::issue::Issue;
use crate::vocabulary::label;

/// What the governor must know of a bead that is to be begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applicant {
    /// Its id.
    pub id: String,
    /// Whether it is a feature (G-3); nothing else is ever held back.
    pub is_feature: bool,
    /// Whether it repairs something.
    pub is_bug: bool,
    /// How urgent it is; 0 comes first.
    pub priority: i64,
    /// The groups that it belongs to.
    pub groups: BTreeSet<String>,
    /// The beads that it was made for or found at: one that mends a red gate points at it.
    pub related: BTreeSet<String>,
}

impl Applicant {
    /// A bead in a file. A gate is no feature, whatever its lane.
    pub fn of_bead(bead: &DodBead) -> Self {
        let is_feature = bead.kind == DodType::Feature || bead.lane == Some(Lane::Feature);
        Self {
            id: bead.id.clone(),
            is_feature: is_feature && !bead.is_gate,
            is_bug: bead.kind == DodType::Bugfix || bead.lane == Some(Lane::Bug),
            priority: bead.priority.into(),
            groups: group::of_document(&bead.document),
            related: BTreeSet::new(),
        }
    }

    /// A bead of a store, of whatever type: the sprints of plans too, whose lane is a label or under `metadata`.
    pub fn of_issue(issue: &Issue) -> Self {
        let lane = issue.metadata().and_then(|metadata| metadata.get("lane"));
        let lane = lane.and_then(Value::as_str);
        let is_feature = issue.issue_type() == DodType::Feature.as_str()
            || lane == Some(Lane::Feature.as_str())
            || issue.has_label(label::LANE_FEATURE);
        let related = (issue.dependencies().iter()).map(|edge| edge.target().to_string());
        Self {
            id: issue.id().to_string(),
            is_feature: is_feature && !super::is_gate(issue),
            is_bug: DodType::parse(issue.issue_type()) == Ok(DodType::Bugfix)
                || lane == Some(Lane::Bug.as_str()),
            priority: issue.priority(),
            groups: group::of_issue(issue),
            related: related.collect(),
        }
    }
}
