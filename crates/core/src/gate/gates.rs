//! The gates of a project: whether each is green, since when and what failed (G-1), and what all of them allow (G-3…G-5).

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use super::read_json::{self, Applicant};
use crate::bead::{FieldError, IssueType, Verifier};
use crate::dod::{self, DodBead, DodStatus};
use crate::issue::Issue;
use crate::text::excerpt;

/// A condition that others wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// Whether it is green.
    pub light: Light,
    /// Whom it holds back.
    pub holds: Holds,
    /// The groups that it belongs to. A gate of none counts for features of no group, and for those of groups that have no gate of their own.
    pub groups: BTreeSet<String>,
    /// The beads that it waits for itself.
    pub awaits: BTreeSet<String>,
    /// When its checks last began.
    pub last_run: Option<String>,
    /// What failed.
    pub failure: Option<String>,
}

/// Whether a gate is green.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Light {
    /// Its last run passed.
    Green,
    /// Anything else.
    Red(Why),
}

/// Why a gate is red.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Nobody has run it.
    NeverRun,
    /// It was run, and did not pass.
    Failed,
    /// It is being run, or was when the power went.
    Running,
    /// It passed, and was opened again.
    Reopened,
    /// It passed, with other checks than it has now.
    Changed,
    /// It cannot be read, so that nobody knows.
    Unreadable,
}

/// Whom a gate holds back while it is red.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Every feature that it counts for.
    Features,
    /// What depends on it, by its edges: a sprint of a plan has its place among the others, and would else hold back what it waits for.
    Dependents,
}

impl Light {
    /// The word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Red(_) => "red",
        }
    }
}

impl Why {
    /// The words for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NeverRun => "never run",
            Self::Failed => "failed",
            Self::Running => "being run",
            Self::Reopened => "opened again",
            Self::Changed => "its checks changed since it last ran",
            Self::Unreadable => "cannot be read",
        }
    }
}

impl Holds {
    /// The word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Features => "features",
            Self::Dependents => "dependents",
        }
    }
}

impl Gate {
    /// A gate in a file.
    pub fn of_bead(bead: &DodBead) -> Self {
        Self {
            id: bead.id.clone(),
            title: bead.title.clone(),
            light: light(bead),
            holds: Holds::Features,
            groups: read_json::groups_of_document(&bead.document),
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
                let meta = issue.metadata().and_then(|it| it.get("ralph_meta"));
                let gate = Self::unreadable(issue.id().as_str(), &listed(&errors));
                match issue.status() {
                    "closed" => gate.passed(meta.filter(|_| !is_planned)),
                    _ => gate,
                }
            }
        };
        let gate = if is_planned {
            read_json::seen(gate, issue)
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
            groups: read_json::groups_of_issue(issue),
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
            groups: read_json::groups_of_document(document),
            ..Self::unreadable(text("id").unwrap_or(stem), reason)
        };
        Some(match text("status").map(DodStatus::parse) {
            Some(Ok(DodStatus::Completed)) => gate.passed(document.get("ralph_meta")),
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
        let noted = digests(bead.document.get("ralph_meta"));
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

    /// Whether it is red.
    pub fn is_red(&self) -> bool {
        self.light != Light::Green
    }
}

/// The digests of the checks that were run last, as they were noted.
fn digests(meta: Option<&Value>) -> BTreeSet<&str> {
    let results = meta.and_then(|meta| meta.get("verifier_results")?.as_array());
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
    let noted = bead.meta("gate_status").and_then(Value::as_str);
    let is_run = noted.is_some() || bead.meta("verifier_results").is_some();
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
    let results = bead.meta("verifier_results").and_then(Value::as_array);
    let first = results.and_then(|results| results.first());
    // The other dialect writes its keys in capitals (V-9).
    let time = first.and_then(|it| it.get("timestamp").or_else(|| it.get("Timestamp")));
    let time = time.or_else(|| bead.meta("last_attempt"));
    time.and_then(Value::as_str).map(str::to_owned)
}

fn failure(bead: &DodBead) -> Option<String> {
    let noted = |key| bead.meta(key).and_then(Value::as_str);
    let failure = noted("last_failure_summary").or_else(|| noted("failure_reason"));
    failure.map(str::to_owned)
}

/// What is said of a gate that is red while another one of its name is green.
const TWINS: &str = "another gate has this id and is green; give one of them another name";

/// All gates of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gates {
    gates: Vec<Gate>,
}

/// That a bead may not be begun, and which gates hold it back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// The ids of the red gates, at least one.
    pub red: Vec<String>,
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let red: Vec<String> = self.red.iter().map(|id| excerpt(id)).collect();
        write!(f, "Gates are RED: {}", red.join(", "))
    }
}

impl Gates {
    /// These gates, by id. Of two with one id a red one counts, else the first: that somebody made another of the same name turns nothing green.
    pub fn new(gates: impl IntoIterator<Item = Gate>) -> Self {
        let mut gates: Vec<Gate> = gates.into_iter().collect();
        gates.sort_by(|a, b| (&a.id, !a.is_red()).cmp(&(&b.id, !b.is_red())));
        gates.dedup_by(|later, first| {
            let is_same = later.id == first.id;
            if is_same && first.is_red() && !later.is_red() {
                let failure = first.failure.iter().map(String::as_str);
                let failure: Vec<&str> = failure.chain([TWINS]).collect();
                first.failure = Some(failure.join("; "));
            }
            is_same
        });
        Self { gates }
    }

    /// All of them, by id.
    pub fn all(&self) -> &[Gate] {
        &self.gates
    }

    /// The gates that hold features back.
    pub fn standing(&self) -> impl Iterator<Item = &Gate> {
        (self.gates.iter()).filter(|gate| gate.holds == Holds::Features)
    }

    /// The gates that count for features of some groups (G-4): only those of the groups, and for features of no group all. A group that has no
    /// gate of its own is no way around the others: then those of no group count.
    pub fn counting(&self, groups: &BTreeSet<String>) -> impl Iterator<Item = &Gate> {
        let is_own = |gate: &Gate| !gate.groups.is_disjoint(groups);
        let has_own = self.standing().any(is_own);
        self.standing().filter(move |gate| {
            if groups.is_empty() {
                true
            } else if has_own {
                is_own(gate)
            } else {
                gate.groups.is_empty()
            }
        })
    }

    /// Whether a bead may be begun (G-3).
    pub fn permission(&self, applicant: &Applicant) -> Result<(), Denied> {
        if !applicant.is_feature {
            return Ok(());
        }
        let counting = self.counting(&applicant.groups);
        // Neither a gate nor what it waits for could ever begin.
        let counting = counting.filter(|gate| !gate.awaits.contains(&applicant.id));
        let red = counting.filter(|gate| gate.is_red());
        let red: Vec<String> = red.map(|gate| gate.id.clone()).collect();
        if red.is_empty() {
            Ok(())
        } else {
            Err(Denied { red })
        }
    }

    /// Sorts beads by what to do first.
    pub fn order(&self, beads: &mut [Applicant]) {
        beads.sort_by_cached_key(|bead| self.rank(bead));
    }

    /// By what beads are sorted (G-5): first what mends a red gate, and bugs; then by priority, then by id.
    pub fn rank(&self, bead: &Applicant) -> (bool, i64, String) {
        (!self.is_urgent(bead), bead.priority, bead.id.clone())
    }

    fn is_urgent(&self, bead: &Applicant) -> bool {
        let mut red = self.gates.iter().filter(|gate| gate.is_red());
        let mends = |gate: &Gate| gate.awaits.contains(&bead.id) || bead.related.contains(&gate.id);
        bead.is_bug || red.any(mends)
    }
}
