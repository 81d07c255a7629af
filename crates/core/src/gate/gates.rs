//! All gates of a project, and what they allow (G-3…G-5).

use std::collections::BTreeSet;
use std::fmt;

use super::applicant::Applicant;
use super::model::{Gate, Holds};
use crate::text::excerpt;

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
