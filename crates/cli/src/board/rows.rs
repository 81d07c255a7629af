//! The list of beads: by team, or by the graph.

use std::collections::{BTreeMap, HashMap};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::chronicle::{Chronicle, Story};
use beads_ralph_core::number::SprintId;

use super::{Filter, Grouping, is_closed, is_for_person};

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Row {
    /// What the beads below it have in common.
    Heading(String),
    /// A bead, by its place in the story.
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
    // Where every bead is a team of its own, the teams say nothing.
    let has_headings = grouping == Grouping::Graph || groups.values().any(|it| it.len() > 1);
    let mut rows = Vec::new();
    for ((depth, team), mut members) in groups {
        // Beads without a number come first, and all of one number in the order of their ids, as they are told.
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

/// How many beads stand in a row before each, at the most. What waits in a circle, which no store has, stands at the beginning.
fn depths(stories: &[Story]) -> Vec<usize> {
    let places: HashMap<&BeadId, usize> = (stories.iter().enumerate())
        .map(|(at, story)| (&story.task.id, at))
        .collect();
    let mut waiting = vec![0; stories.len()];
    let mut followers = vec![Vec::new(); stories.len()];
    for (at, story) in stories.iter().enumerate() {
        for before in story.waited_for.iter().filter_map(|id| places.get(id)) {
            waiting[at] += 1;
            followers[*before].push(at);
        }
    }
    let mut depths = vec![0; stories.len()];
    let mut free: Vec<usize> = (0..stories.len()).filter(|at| waiting[*at] == 0).collect();
    while let Some(at) = free.pop() {
        for follower in &followers[at] {
            depths[*follower] = depths[*follower].max(depths[at] + 1);
            waiting[*follower] -= 1;
            if waiting[*follower] == 0 {
                free.push(*follower);
            }
        }
    }
    depths
}
