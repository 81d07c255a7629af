//! Reading gates, and the beads that ask to be begun, from stores and files.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::gates::{Gate, Light, Why};
use crate::dod::{DodBead, DodType, Lane};
use crate::history::records::last_error;
use crate::issue::Issue;
use crate::vocabulary::{field, label, metadata};

/// The groups of a bead in a file.
pub(super) fn groups_of_document(document: &Map<String, Value>) -> BTreeSet<String> {
    let labels = document.get("labels").and_then(Value::as_array);
    let labels = labels.into_iter().flatten().filter_map(Value::as_str);
    groups(labels, Some(document))
}

/// The groups of a bead in a store.
pub(super) fn groups_of_issue(issue: &Issue) -> BTreeSet<String> {
    groups(issue.labels(), issue.metadata())
}

fn groups<'a>(
    labels: impl Iterator<Item = &'a str>,
    fields: Option<&Map<String, Value>>,
) -> BTreeSet<String> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let text_of = |key: &str| text(fields?.get(key));
    let blocked = || text(fields?.get("blocking")?.get("blocks_convoy"));
    let named = labels.filter_map(|label| label.strip_prefix(label::GROUP_PREFIX));
    // A gate says which convoy it blocks, and so belongs to it.
    let convoys = [text_of(field::CONVOY), text_of("blocks_convoy"), blocked()];
    let groups = named
        .map(str::to_owned)
        .chain(convoys.into_iter().flatten());
    groups.filter(|name| !name.trim().is_empty()).collect()
}

/// A gate of a plan with its last run and what that came to.
pub(super) fn seen(gate: Gate, issue: &Issue) -> Gate {
    let noted = |key: &str| issue.metadata()?.get(key);
    let checked_at = noted(metadata::CHECKED_AT).and_then(Value::as_str);
    let has_passed = noted("scrum_result").and_then(|it| it.get("success")?.as_bool());
    let light = match gate.light {
        Light::Red(Why::NeverRun | Why::Failed) => match has_passed {
            Some(true) => Light::Red(Why::Reopened),
            Some(false) => Light::Red(Why::Failed),
            None => gate.light,
        },
        light => light,
    };
    let closed_at = || issue.text("closed_at").filter(|_| !gate.is_red());
    let last_run = checked_at.or_else(closed_at).map(str::to_owned);
    let failure = match light {
        Light::Red(Why::Failed) => last_error(issue),
        _ => gate.failure,
    };
    Gate {
        light,
        last_run: last_run.or(gate.last_run),
        failure,
        ..gate
    }
}

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
            groups: groups_of_document(&bead.document),
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
            groups: groups_of_issue(issue),
            related: related.collect(),
        }
    }
}
