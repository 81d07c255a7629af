//! The governor: while a gate is red, no feature is begun (contracts §8.5, "no green, no features").
//!
//! A [`Gate`] is read from a bead, and is red unless its last run passed: what nobody has run holds features back as well (G-1). [`Gates`] answers whether an
//! [`Applicant`] may be begun, and gives the order of work. Nothing is run here, and nothing is found: that is for others.

mod read_json;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use crate::text::excerpt;

pub use crate::dod::is_gate;
pub use read_json::Applicant;

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
    /// The groups that it belongs to. A gate of none counts for features of no group, and for those of groups without a gate.
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

crate::text::word_enum! {
    /// Why a gate is red.
    pub enum Why {
        /// Nobody has run it.
        NeverRun = "never run",
        /// It was run, and did not pass.
        Failed = "failed",
        /// It is being run, or was before a crash.
        Running = "being run",
        /// It passed, and was opened again.
        Reopened = "opened again",
        /// It passed, with other checks than it has now.
        Changed = "its checks changed since it last ran",
        /// It cannot be read.
        Unreadable = "cannot be read",
    }
}

crate::text::word_enum! {
    /// Whom a gate holds back while it is red.
    pub enum Holds {
        /// Every feature that it counts for.
        Features = "features",
        /// What depends on it, by its edges: a sprint of a plan has its place among the others, and would else hold back what it waits for.
        Dependents = "dependents",
    }
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

impl Gate {
    /// Whether it is red.
    pub fn is_red(&self) -> bool {
        self.light != Light::Green
    }
}

/// The note about a gate that is red while another one of its name is green.
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

    /// The gates that count for features of some groups (G-4): only those of the groups, and for features of no group all. For a group
    /// without a gate those of no group count, so that it is no way around the others.
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

    /// By what beads are sorted (G-5): first what fixes a red gate, and bugs; then by priority, then by id.
    pub fn rank(&self, bead: &Applicant) -> (bool, i64, String) {
        (!self.is_urgent(bead), bead.priority, bead.id.clone())
    }

    fn is_urgent(&self, bead: &Applicant) -> bool {
        let mut red = self.gates.iter().filter(|gate| gate.is_red());
        let mends = |gate: &Gate| gate.awaits.contains(&bead.id) || bead.related.contains(&gate.id);
        bead.is_bug || red.any(mends)
    }
}
