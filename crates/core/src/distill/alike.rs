//! Sprints that say the same but for their number, title, branch and worktree: those could be one formula.

use std::collections::BTreeMap;

use super::text::Texts;
use super::{Path, common, document};
use crate::bead::RalphBead;
use crate::number::SprintId;

/// The fewest sprints that are worth a formula.
const FEWEST: usize = 3;

/// Groups of sprints that could be one formula, each of at least three.
pub fn alike<'b>(beads: impl IntoIterator<Item = &'b RalphBead>) -> Vec<Vec<SprintId>> {
    let mut groups: BTreeMap<String, Vec<SprintId>> = BTreeMap::new();
    for bead in beads {
        let mut texts = Texts::of(&[bead]);
        let document = document(bead);
        // With one bead everything is common, and what is its own becomes a variable.
        if let Ok(pattern) = common(&Path::default(), &[&document], &mut texts) {
            let key = pattern.to_string();
            groups
                .entry(key)
                .or_default()
                .push(bead.metadata.sprint.clone());
        }
    }
    let mut groups: Vec<Vec<SprintId>> = groups
        .into_values()
        .filter(|group| group.len() >= FEWEST)
        .collect();
    groups.sort();
    groups
}
