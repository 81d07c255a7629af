//! The graph of a run's beads: what waited for what, in layers from left to right.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::history::{Chronicle, CriticalPath, Story, depths};

use super::words::{escaped, short};
use crate::ui::format;

const WIDTH: usize = 190;
const HEIGHT: usize = 40;
const ACROSS: usize = 250;
const DOWN: usize = 54;
const MARGIN: usize = 14;

/// The width of a page, and the widest picture that can still be read when it has that width.
const NARROW: usize = 1100;
const WIDE: usize = 1900;

/// Draws the graph; the beads that held everything up stand out.
pub(super) fn draw(page: &mut String, chronicle: &Chronicle, path: &CriticalPath) {
    let places = places(&chronicle.stories);
    let critical: HashSet<&BeadId> = path.beads.iter().collect();
    let columns = places
        .values()
        .map(|(column, _)| column + 1)
        .max()
        .unwrap_or(0);
    let rows = places.values().map(|(_, row)| row + 1).max().unwrap_or(0);
    let (width, height) = (columns * ACROSS + MARGIN, rows * DOWN + MARGIN);
    // What is a little too wide for a page is made smaller, and what is much too wide can be scrolled.
    let class = if (NARROW..=WIDE).contains(&width) {
        "graph fits"
    } else {
        "graph"
    };
    _ = write!(
        page,
        "<section>\n<h2>Graph</h2>\n<div class=\"scroll\"><svg class=\"{class}\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"what waited for what\">\n"
    );
    for story in &chronicle.stories {
        edges(page, story, &places, &critical);
    }
    for story in &chronicle.stories {
        if let Some(place) = places.get(&story.task.id) {
            node(page, story, *place, critical.contains(&story.task.id));
        }
    }
    page.push_str("</svg></div>\n</section>\n");
}

/// Column and row of every bead: the column after the last bead that it waited for, the rows by id.
fn places(stories: &[Story]) -> HashMap<BeadId, (usize, usize)> {
    let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
    let mut places = HashMap::new();
    for (story, column) in stories.iter().zip(depths(stories)) {
        let row = rows.entry(column).or_default();
        places.insert(story.task.id.clone(), (column, *row));
        *row += 1;
    }
    places
}

fn corner((column, row): (usize, usize)) -> (usize, usize) {
    (MARGIN + column * ACROSS, MARGIN + row * DOWN)
}

fn edges(
    page: &mut String,
    story: &Story,
    places: &HashMap<BeadId, (usize, usize)>,
    critical: &HashSet<&BeadId>,
) {
    let Some(place) = places.get(&story.task.id) else {
        return;
    };
    let (x, y) = corner(*place);
    for before in &story.waited_for {
        let Some(from) = places.get(before) else {
            continue;
        };
        let is_critical = critical.contains(before) && critical.contains(&story.task.id);
        let class = if is_critical { "edge critical" } else { "edge" };
        let (left, top) = corner(*from);
        let (x1, y1) = (left + WIDTH, top + HEIGHT / 2);
        let (x2, y2) = (x, y + HEIGHT / 2);
        let half = x1.midpoint(x2);
        _ = writeln!(
            page,
            "<path class=\"{class}\" d=\"M{x1} {y1}C{half} {y1} {half} {y2} {x2} {y2}\"/>"
        );
    }
}

fn node(page: &mut String, story: &Story, place: (usize, usize), is_critical: bool) {
    let (x, y) = corner(place);
    let id = escaped(story.task.id.as_str());
    let class = format::state_word(&story.state);
    let critical = if is_critical { " critical" } else { "" };
    let (title, words) = (&story.task.title, format::state_words(&story.state));
    _ = writeln!(
        page,
        "<a href=\"#bead-{id}\"><g class=\"node {class}{critical}\"><title>{id}: {}\n{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\"/><text x=\"{}\" y=\"{}\">{}</text><text class=\"small\" x=\"{}\" y=\"{}\">{}</text></g></a>",
        escaped(title),
        escaped(&words),
        x + 10,
        y + 17,
        short(title, 25),
        x + 10,
        y + 32,
        short(story.task.id.as_str(), 30),
    );
}
