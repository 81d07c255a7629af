//! The list of beads: by team, or by the graph.

use std::collections::BTreeMap;

use beads_ralph_core::history::{Chronicle, depths};
use beads_ralph_core::number::SprintId;

use super::{Filter, Grouping, is_closed, is_for_person};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Row {
    /// What the beads below it have in common.
    Heading(String),
    Bead(usize),
}

/// The lines of the list. A group of which nothing is shown has no heading.
pub(super) fn rows(told: &Chronicle, grouping: Grouping, filter: Filter) -> Vec<Row> {
    let depths = depths(&told.stories);
    let mut groups: BTreeMap<(usize, &str), Vec<usize>> = BTreeMap::new();
    for (at, story) in told.stories.iter().enumerate() {
        let is_shown = match filter {
            Filter::All => true,
            Filter::Unfinished => !is_closed(story),
            Filter::ForPeople => is_for_person(story),
        };
        let key = match grouping {
            Grouping::Teams => (0, story.task.team.as_str()),
            Grouping::Graph => (depths[at], ""),
        };
        if is_shown {
            groups.entry(key).or_default().push(at);
        }
    }
    let numbers: Vec<Option<SprintId>> = (told.stories.iter())
        .map(|story| SprintId::parse(&story.task.sprint))
        .collect();
    // If every bead has a separate team, the teams tell nothing.
    let has_headings = grouping == Grouping::Graph || groups.values().any(|it| it.len() > 1);
    let mut rows = Vec::new();
    for ((depth, team), mut members) in groups {
        // Beads without a number come first; those of one number are in the order of their ids.
        members.sort_by_key(|at| numbers[*at].as_ref().map(SprintId::key));
        if has_headings {
            rows.push(Row::Heading(match grouping {
                Grouping::Teams => team.to_owned(),
                Grouping::Graph => format!("wave {}", depth + 1),
            }));
        }
        rows.extend(members.into_iter().map(Row::Bead));
    }
    rows
}
