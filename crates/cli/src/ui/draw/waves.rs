//! What can run side by side, as lines of text.

use std::fmt::Write as _;

use super::chart::Chart;
use super::label::{Charset, columns, cut, id, label};

// How many names a line has of those that a box waits for, and how many of either end of a
// critical path.
const MAX_AWAITED: usize = 8;
const MAX_PATH_END: usize = 12;

// How much of a title the table shows.
const TABLE_TITLE_COLUMNS: usize = 40;

/// One line for each wave: `wave 2: 1.2a UI; 1.2b API`, wrapped to the width.
pub(super) fn table(chart: &Chart, width: usize, charset: Charset) -> String {
    let mut text = String::new();
    for (at, wave) in chart.waves.iter().enumerate() {
        let member = |at: &usize| label(chart, *at, TABLE_TITLE_COLUMNS, charset);
        let members: Vec<String> = wave.iter().map(member).collect();
        wrap(
            &mut text,
            &format!("wave {}: ", at + 1),
            &members,
            "; ",
            (width, charset),
        );
    }
    text
}

/// Each wave with its boxes, one a line, and what they wait for.
pub(super) fn list(chart: &Chart, width: usize, charset: Charset) -> String {
    let mut text = String::new();
    for (at, wave) in chart.waves.iter().enumerate() {
        _ = writeln!(text, "wave {}", at + 1);
        for member in wave {
            // The title gives way first, because ids and dependencies are the point of the list.
            let room = width.saturating_sub(columns(&id(chart, *member, charset)) + 2);
            let awaited = awaited(chart, *member, room, charset);
            let room = room.saturating_sub(columns(&awaited) + 1);
            let label = label(chart, *member, room, charset);
            let line = cut(&format!("  {label}{awaited}"), width, charset);
            _ = writeln!(text, "{line}");
        }
    }
    text
}

// What a box waits for, with as many names as fit the columns.
fn awaited(chart: &Chart, at: usize, room: usize, charset: Charset) -> String {
    let edges = &chart.before[at];
    if edges.is_empty() {
        return String::new();
    }
    let named = edges.iter().take(MAX_AWAITED);
    let mut ids: Vec<String> = named.map(|to| id(chart, *to, charset)).collect();
    loop {
        let more = if edges.len() > ids.len() {
            format!(" and {} more", edges.len() - ids.len())
        } else {
            String::new()
        };
        let words = format!(" (waits for {}{more})", ids.join(", "));
        if columns(&words) <= room || ids.len() == 1 {
            return words;
        }
        ids.pop();
    }
}

/// The critical path: `critical path: 1.1 → 1.2a → 1.3`, wrapped to the width.
pub(super) fn critical_line(chart: &Chart, width: usize, charset: Charset) -> String {
    let critical = &chart.critical;
    let n_hidden = critical.len().saturating_sub(2 * MAX_PATH_END);
    let hidden = MAX_PATH_END..MAX_PATH_END + n_hidden;
    let mut steps = Vec::new();
    for (at, node) in critical.iter().enumerate() {
        if !hidden.contains(&at) {
            steps.push(id(chart, *node, charset));
        } else if at == hidden.start {
            steps.push(format!("{} ({n_hidden} more)", charset.ellipsis()));
        }
    }
    let mut text = String::new();
    if !steps.is_empty() {
        wrap(
            &mut text,
            "critical path: ",
            &steps,
            charset.arrow(),
            (width, charset),
        );
    }
    text
}

// Items behind a heading, a separator between them; lines after the first are indented by two. Only an
// item that is wider than a line is cut.
fn wrap(
    text: &mut String,
    head: &str,
    items: &[String],
    separator: &str,
    (width, charset): (usize, Charset),
) {
    let mut line = head.to_owned();
    for (at, item) in items.iter().enumerate() {
        let tail = if at + 1 < items.len() { separator } else { "" };
        let tail_columns = columns(tail.trim_end());
        if at > 0 && columns(&line) + columns(item) + tail_columns > width {
            _ = writeln!(text, "{}", line.trim_end());
            "  ".clone_into(&mut line);
        }
        let room = width.saturating_sub(columns(&line) + tail_columns);
        line.push_str(&cut(item, room, charset));
        line.push_str(tail);
    }
    _ = writeln!(text, "{}", line.trim_end());
}
