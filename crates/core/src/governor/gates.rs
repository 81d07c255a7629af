//! All gates of a project, and what they allow (G-3…G-5).

use std::fmt;

use super::applicant::Applicant;
use super::gate::{Gate, Holds};
use crate::text::excerpt;

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
    /// These gates, by id. Of two with one id the first counts, as it is the one that is found by its id.
    pub fn new(gates: impl IntoIterator<Item = Gate>) -> Self {
        let mut gates: Vec<Gate> = gates.into_iter().collect();
        gates.sort_by(|a, b| a.id.cmp(&b.id));
        gates.dedup_by(|later, first| later.id == first.id);
        Self { gates }
    }

    /// All of them, by id.
    pub fn all(&self) -> &[Gate] {
        &self.gates
    }

    /// The gates that hold features back, as far as they count for a group; without one, all of them.
    pub fn standing<'a>(&'a self, group: Option<&'a str>) -> impl Iterator<Item = &'a Gate> {
        (self.gates.iter())
            .filter(|gate| gate.holds == Holds::Features)
            .filter(move |gate| group.is_none_or(|group| gate.groups.contains(group)))
    }

    /// Whether a bead may be begun (G-3).
    pub fn permission(&self, applicant: &Applicant) -> Result<(), Denied> {
        if !applicant.is_feature {
            return Ok(());
        }
        let red = self.counting(applicant).filter(|gate| gate.is_red());
        let red: Vec<String> = red.map(|gate| gate.id.clone()).collect();
        if red.is_empty() {
            Ok(())
        } else {
            Err(Denied { red })
        }
    }

    /// The gates that count for a bead (G-4): for one of a group only those of the group, for any other all. A group that has no gate
    /// of its own is no way around the others: then those of no group count.
    fn counting<'a>(&'a self, applicant: &'a Applicant) -> impl Iterator<Item = &'a Gate> {
        let is_own = |gate: &Gate| !gate.groups.is_disjoint(&applicant.groups);
        let has_own = self.standing(None).any(is_own);
        self.standing(None).filter(move |gate| {
            let counts = if applicant.groups.is_empty() {
                true
            } else if has_own {
                is_own(gate)
            } else {
                gate.groups.is_empty()
            };
            // Neither could ever begin.
            counts && !gate.awaits.contains(&applicant.id)
        })
    }

    /// Sorts beads by what to do first (G-5): what mends a red gate, and bugs; then by priority, then by id.
    pub fn order(&self, beads: &mut [Applicant]) {
        beads.sort_by_cached_key(|bead| (!self.is_urgent(bead), bead.priority, bead.id.clone()));
    }

    fn is_urgent(&self, bead: &Applicant) -> bool {
        let mut red = self.gates.iter().filter(|gate| gate.is_red());
        let mends = |gate: &Gate| gate.awaits.contains(&bead.id) || bead.related.contains(&gate.id);
        bead.is_bug || red.any(mends)
    }
}
