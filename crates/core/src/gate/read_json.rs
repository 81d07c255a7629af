//! Reading gates, and the beads that ask to be begun, from stores and files.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{Gate, Holds, Light, Why};
use crate::bead::{FieldError, IssueType, Verifier};
use crate::dod::{self, DodBead, DodStatus, DodType, Lane};
use crate::history::records::last_error;
use crate::issue::Issue;
use crate::vocabulary::{Status, field, label, metadata, ralph_meta};

impl Gate {
    /// A gate in a file.
    pub fn of_bead(bead: &DodBead) -> Self {
        Self {
            id: bead.id.clone(),
            title: bead.title.clone(),
            light: light(bead),
            holds: Holds::Features,
            groups: groups_of_document(&bead.document),
            awaits: BTreeSet::new(),
            last_run: last_run(bead),
            failure: failure(bead),
        }
    }

    /// A gate in a store. One that has no checks to run can never be green by a run.
    pub fn of_issue(issue: &Issue) -> Self {
        let is_planned = IssueType::parse(issue.issue_type()).is_ok();
        let edges = issue.dependencies().iter();
        let awaits = edges.filter(|edge| edge.waits_for_target());
        let gate = match dod::of_issue(issue, &[]) {
            Ok(bead) => Self::of_bead(&bead),
            Err(errors) => {
                let meta = issue.metadata().and_then(|it| it.get(metadata::RALPH_META));
                let gate = Self::unreadable(issue.id().as_str(), &listed(&errors));
                if issue.status() == Status::Closed {
                    gate.passed(meta.filter(|_| !is_planned))
                } else {
                    gate
                }
            }
        };
        let gate = if is_planned {
            with_last_run(gate, issue)
        } else {
            gate
        };
        Self {
            title: issue.title().to_owned(),
            holds: if is_planned {
                Holds::Dependents
            } else {
                Holds::Features
            },
            groups: groups_of_issue(issue),
            awaits: awaits.map(|edge| edge.target().to_string()).collect(),
            ..gate
        }
    }

    /// A gate in a file that is not valid; nothing where the document does not mean to be one. As in a store, one that is completed counts.
    pub fn of_invalid(document: &Map<String, Value>, stem: &str, reason: &str) -> Option<Self> {
        if !dod::means_gate(document) {
            return None;
        }
        let text = |key: &str| document.get(key).and_then(Value::as_str);
        let gate = Self {
            groups: groups_of_document(document),
            ..Self::unreadable(text(field::ID).unwrap_or(stem), reason)
        };
        Some(match text(field::STATUS).map(DodStatus::parse) {
            Some(Ok(DodStatus::Completed)) => gate.passed(document.get(metadata::RALPH_META)),
            _ => gate,
        })
    }

    /// One that is done, and whose checks cannot be read: where it is noted which ones passed, they are others now.
    fn passed(self, meta: Option<&Value>) -> Self {
        if digests(meta).is_empty() {
            return Self {
                light: Light::Green,
                failure: None,
                ..self
            };
        }
        Self {
            light: Light::Red(Why::Changed),
            ..self
        }
    }

    /// The same, but red where it passed with other checks than the bead has now. A gate of which nobody noted what was run stays as it is, and so does
    /// one of a plan, whose checks are noted elsewhere.
    #[must_use]
    pub fn with_checks_of(self, bead: &DodBead, digest: impl Fn(&Verifier) -> String) -> Self {
        let noted = digests(bead.document.get(metadata::RALPH_META));
        let is_known = self.holds == Holds::Features && !noted.is_empty();
        let now: BTreeSet<String> = bead.dod.verifiers.iter().map(digest).collect();
        if self.is_red() || !is_known || now.iter().eq(noted) {
            return self;
        }
        Self {
            light: Light::Red(Why::Changed),
            ..self
        }
    }

    /// A gate of which only its name is known. It is red: what cannot be read cannot be green.
    pub fn unreadable(id: &str, reason: &str) -> Self {
        Self {
            id: id.to_owned(),
            title: id.to_owned(),
            light: Light::Red(Why::Unreadable),
            holds: Holds::Features,
            groups: BTreeSet::new(),
            awaits: BTreeSet::new(),
            last_run: None,
            failure: Some(reason.to_owned()),
        }
    }
}

/// The digests of the checks that were run last, as they were noted.
fn digests(meta: Option<&Value>) -> BTreeSet<&str> {
    let results = meta.and_then(|meta| meta.get(ralph_meta::VERIFIER_RESULTS)?.as_array());
    let results = results.map(Vec::as_slice).unwrap_or_default().iter();
    results
        .filter_map(|it| it.get("verifier_sha256")?.as_str())
        .filter(|digest| !digest.is_empty())
        .collect()
}

fn listed(errors: &[FieldError]) -> String {
    let errors: Vec<String> = errors.iter().map(FieldError::to_string).collect();
    errors.join("; ")
}

/// Green is what passed: a gate that closes is closed then, one that stays open has it noted (G-2).
fn light(bead: &DodBead) -> Light {
    let noted = bead.meta(ralph_meta::GATE_STATUS).and_then(Value::as_str);
    let is_run = noted.is_some() || bead.meta(ralph_meta::VERIFIER_RESULTS).is_some();
    match bead.status {
        DodStatus::Completed => Light::Green,
        DodStatus::Pending if noted == Some("green") && !bead.closes_on_pass => Light::Green,
        DodStatus::InProgress => Light::Red(Why::Running),
        DodStatus::Pending if noted == Some("green") => Light::Red(Why::Reopened),
        DodStatus::Pending | DodStatus::Blocked if !is_run => Light::Red(Why::NeverRun),
        DodStatus::Pending | DodStatus::Blocked | DodStatus::Failed => Light::Red(Why::Failed),
    }
}

fn last_run(bead: &DodBead) -> Option<String> {
    let results = bead
        .meta(ralph_meta::VERIFIER_RESULTS)
        .and_then(Value::as_array);
    let first = results.and_then(|results| results.first());
    // The other dialect writes its keys in capitals (V-9).
    let time = first.and_then(|it| it.get("timestamp").or_else(|| it.get("Timestamp")));
    let time = time.or_else(|| bead.meta(ralph_meta::LAST_ATTEMPT));
    time.and_then(Value::as_str).map(str::to_owned)
}

fn failure(bead: &DodBead) -> Option<String> {
    let noted = |key| bead.meta(key).and_then(Value::as_str);
    let failure =
        noted(ralph_meta::LAST_FAILURE_SUMMARY).or_else(|| noted(ralph_meta::FAILURE_REASON));
    failure.map(str::to_owned)
}

/// The groups of a bead in a file.
pub(super) fn groups_of_document(document: &Map<String, Value>) -> BTreeSet<String> {
    let labels = document.get(field::LABELS).and_then(Value::as_array);
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
pub(super) fn with_last_run(gate: Gate, issue: &Issue) -> Gate {
    let noted = |key: &str| issue.metadata()?.get(key);
    let checked_at = noted(metadata::CHECKED_AT).and_then(Value::as_str);
    let has_passed = noted(metadata::SCRUM_RESULT).and_then(|it| it.get("success")?.as_bool());
    let light = match gate.light {
        Light::Red(Why::NeverRun | Why::Failed) => match has_passed {
            Some(true) => Light::Red(Why::Reopened),
            Some(false) => Light::Red(Why::Failed),
            None => gate.light,
        },
        light => light,
    };
    let closed_at = || issue.text(field::CLOSED_AT).filter(|_| !gate.is_red());
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
    /// The beads that it was made for or found at: one that fixes a red gate points at it.
    pub related: BTreeSet<String>,
}

impl Applicant {
    /// A bead in a file. A gate is never a feature, whatever its lane.
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
        let lane = issue
            .metadata()
            .and_then(|metadata| metadata.get(metadata::LANE));
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
