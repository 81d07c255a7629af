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
    for (team, mut stories) in teams {
        stories.sort_by_key(|story| story.claimed);
        one_team(page, team, &stories, &scale);
    }
    page.push_str("</section>\n");
}

fn one_team(page: &mut String, team: &str, stories: &[&Story], scale: &Scale) {
    let height = HEAD + stories.len() * ROW + 6;
    let width = LABEL + WIDTH as usize + 20;
    _ = write!(
        page,
        "<h3>{}</h3>\n<div class=\"scroll\"><svg class=\"timeline\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"when what ran\">\n",
        escaped(team)
    );
    for (tenths, since) in scale.ticks() {
        let x = units(tenths + i128::try_from(LABEL * 10).unwrap_or_default());
        _ = writeln!(
            page,
            "<line class=\"tick\" x1=\"{x}\" y1=\"{HEAD}\" x2=\"{x}\" y2=\"{height}\"/><text class=\"small\" x=\"{x}\" y=\"14\">{}</text>",
            lasting(since)
        );
    }
    for (at, story) in stories.iter().enumerate() {
        let y = HEAD + at * ROW;
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
    page.push_str("</svg></div>\n");
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
