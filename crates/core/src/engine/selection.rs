//! Which beads a run is about.

use serde::{Deserialize, Serialize};

use crate::bead::{ASSIGNEE, BeadId};
use crate::issue::Record;

/// Which beads are wanted; what is absent does not narrow.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// Only these beads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beads: Vec<BeadId>,
    /// Only of these teams.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub teams: Vec<String>,
    /// Only these sprints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sprints: Vec<String>,
    /// Only of this plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
}

impl Selection {
    /// Whether a bead is wanted.
    pub fn selects(&self, record: &Record) -> bool {
        let text = |key: &str| {
            let metadata = record.issue.metadata();
            metadata
                .and_then(|it| it.get(key)?.as_str())
                .unwrap_or_default()
        };
        let is_in = |wanted: &[String], value: &str| {
            wanted.is_empty() || wanted.iter().any(|it| it == value)
        };
        // What was given to somebody else is not for agents (L-5).
        record.issue.assignee() == Some(ASSIGNEE)
            && (self.beads.is_empty() || self.beads.contains(record.issue.id()))
            && is_in(&self.teams, text("team_name"))
            && is_in(&self.sprints, text("sprint"))
            && self
                .plan
                .as_deref()
                .is_none_or(|plan| plan == text("plan_file"))
    }
}
