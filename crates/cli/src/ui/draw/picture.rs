//! Boxes and lines for a terminal, laid out by `ascii-dag`.

use super::chart::Chart;
use super::label::{Charset, char_columns, columns, label};
use ascii_dag::{Direction, Graph, LayoutConfig, RenderOptions};

// Beyond these a picture is no longer read but scrolled past; a list says more.
const MAX_NODES: usize = 60;
const MAX_EDGES: usize = 240;

// What is tried, from generous to bare ids close together: columns of a title, and between nodes.
const SIZES: [(usize, usize); 9] = [
    (40, 3),
    (30, 3),
    (24, 3),
    (18, 3),
    (14, 3),
    (10, 3),
    (7, 3),
    (0, 3),
    (0, 1),
];

// Stands behind a wide character while the picture is laid out, because the layout takes every
// character for one column. A noncharacter, so no title has it; `clean` removes it anyway.
const FILLER: char = '\u{fdd0}';

/// The picture, or nothing if the graph is too large or does not fit the width even with bare ids.
pub(super) fn picture(chart: &Chart, width: usize, charset: Charset) -> Option<String> {
    if chart.len() == 0 || chart.len() > MAX_NODES || chart.n_edges() > MAX_EDGES {
        return None;
    }
    SIZES.iter().find_map(|(title_columns, spacing)| {
        let labels: Vec<String> = (0..chart.len())
            .map(|at| padded(&label(chart, at, *title_columns, charset)))
            .collect();
        let drawn = draw(chart, &labels, *spacing, charset);
        let fits = drawn.lines().all(|line| columns(line) <= width);
        fits.then_some(drawn)
    })
}

fn draw(chart: &Chart, labels: &[String], spacing: usize, charset: Charset) -> String {
    let mut layout = Graph::new();
    for (at, label) in labels.iter().enumerate() {
        layout.add_node(at, label.as_str());
    }
    for (at, before) in chart.before.iter().enumerate() {
        for to in before {
            layout.add_edge(*to, at, None);
        }
    }
    let mut config = LayoutConfig::quality();
    config.direction = Direction::TopDown;
    config.node_spacing = spacing;
    let options = match charset {
        Charset::Unicode => RenderOptions::plain(),
        Charset::Ascii => RenderOptions::ascii(),
    };
    let drawn = layout
        .compute_layout_with_config(&config)
        .render_string(&options);
    flush_left(&drawn.replace(FILLER, ""))
}

// One column per character, and no character without a column.
fn padded(label: &str) -> String {
    let mut padded = String::with_capacity(label.len());
    for character in label.chars() {
        match char_columns(character) {
            0 => {}
            1 => padded.push(character),
            _ => padded.extend([character, FILLER]),
        }
    }
    padded
}

// Without the common margin, trailing blanks and empty lines at the ends.
fn flush_left(drawn: &str) -> String {
    let lines: Vec<&str> = drawn.lines().map(str::trim_end).collect();
    let filled = || lines.iter().filter(|line| !line.is_empty());
    let margin = filled()
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0);
    let mut text = String::new();
    for line in filled() {
        text.push_str(&line[margin..]);
        text.push('\n');
    }
    text
}
