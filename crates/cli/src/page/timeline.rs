//! When what ran: a line for each bead, team by team.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use beads_ralph_core::chronicle::{Chronicle, Run, Story};

use super::scale::{Scale, units};
use super::words::{escaped, lasting, short};

const LABEL: usize = 210;
const WIDTH: u32 = 1000;
const ROW: usize = 20;
const HEAD: usize = 24;

pub(super) fn draw(page: &mut String, chronicle: &Chronicle) {
    let mut teams: BTreeMap<&str, Vec<&Story>> = BTreeMap::new();
    for story in &chronicle.stories {
        if story.runs().next().is_some() {
            teams.entry(&story.task.team).or_default().push(story);
        }
    }
    page.push_str("<section>\n<h2>Timeline</h2>\n");
    if teams.is_empty() {
        page.push_str("<p>Nothing has run yet.</p>\n</section>\n");
        return;
    }
    page.push_str("<p class=\"legend\"><span class=\"key develop\"></span> agent works <span class=\"key judge\"></span> agent judges <span class=\"key verify\"></span> checks <span class=\"key other\"></span> git <span class=\"key bad\"></span> did not pass</p>\n");
    let scale = Scale::new(chronicle.began, chronicle.last, WIDTH);
    let rows = rows(teams);
    let height = HEAD + rows.len() * ROW + 6;
    let width = LABEL + WIDTH as usize + 20;
    _ = writeln!(
        page,
        "<div class=\"scroll\"><svg class=\"timeline\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"when what ran\">"
    );
    for (tenths, since) in scale.ticks() {
        let x = units(tenths + i128::try_from(LABEL * 10).unwrap_or_default());
        _ = writeln!(
            page,
            "<line class=\"tick\" x1=\"{x}\" y1=\"{HEAD}\" x2=\"{x}\" y2=\"{height}\"/><text class=\"small\" x=\"{x}\" y=\"14\">{}</text>",
            lasting(since)
        );
    }
    for (at, row) in rows.iter().enumerate() {
        one_row(page, row, HEAD + at * ROW, &scale);
    }
    page.push_str("</svg></div>\n</section>\n");
}

/// A line of the picture.
enum Row<'a> {
    /// The team whose beads follow.
    Team(&'a str),
    Bead(&'a Story),
}

/// Teams with their beads, in the order in which they began. A team of one bead needs no line of its own.
fn rows<'a>(teams: BTreeMap<&'a str, Vec<&'a Story>>) -> Vec<Row<'a>> {
    let mut teams: Vec<(&str, Vec<&Story>)> = teams.into_iter().collect();
    for (_, stories) in &mut teams {
        stories.sort_by_key(|story| story.claimed);
    }
    teams.sort_by_key(|(name, stories)| (stories.first().and_then(|it| it.claimed), *name));
    let mut rows = Vec::new();
    for (team, stories) in teams {
        if stories.len() > 1 {
            rows.push(Row::Team(team));
        }
        rows.extend(stories.into_iter().map(Row::Bead));
    }
    rows
}

fn one_row(page: &mut String, row: &Row<'_>, y: usize, scale: &Scale) {
    let story = match row {
        Row::Team(team) => {
            let team = short(team, 60);
            _ = writeln!(
                page,
                "<text class=\"team\" x=\"4\" y=\"{}\">{team}</text>",
                y + 14
            );
            return;
        }
        Row::Bead(story) => story,
    };
    let id = escaped(story.task.id.as_str());
    _ = writeln!(
        page,
        "<a href=\"#bead-{id}\"><text class=\"row\" x=\"4\" y=\"{}\">{}</text></a>",
        y + 14,
        short(story.task.id.as_str(), 30)
    );
    for run in story.runs() {
        bar(page, run, y, scale);
    }
}

fn bar(page: &mut String, run: &Run, y: usize, scale: &Scale) {
    let (from, to) = (scale.tenths(run.began), scale.tenths(run.ended));
    let label = i128::try_from(LABEL * 10).unwrap_or_default();
    let kind = match run.kind.as_str() {
        "develop" | "resolve" | "lead" => "develop",
        "judge" => "judge",
        "verify" => "verify",
        _ => "other",
    };
    let bad = if run.is_good { "" } else { " bad" };
    let time = lasting(run.ended.duration_since(run.began));
    _ = writeln!(
        page,
        "<rect class=\"bar {kind}{bad}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{} {} {}: {time}\n{}</title></rect>",
        units(from + label),
        y + 4,
        units((to - from).max(15)),
        ROW - 7,
        run.kind.as_str(),
        escaped(&run.agent),
        escaped(&run.status),
        short(&run.message, 300),
    );
}
