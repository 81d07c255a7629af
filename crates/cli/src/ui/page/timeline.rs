//! When what ran: a line for each bead, team by team.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use beads_ralph_core::history::{Chronicle, RunKind, Story};
use jiff::Timestamp;

use super::words::{escaped, short};
use crate::ui::format::{between, duration, elapsed};

const LABEL: usize = 210;
const WIDTH: u32 = 1000;
const ROW: usize = 20;
const HEAD: usize = 24;

pub(super) fn draw(page: &mut String, chronicle: &Chronicle) {
    let mut teams: BTreeMap<&str, Vec<&Story>> = BTreeMap::new();
    for story in &chronicle.stories {
        if story.runs().next().is_some() || !story.under_way.is_empty() {
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
            elapsed(since)
        );
    }
    for (at, row) in rows.iter().enumerate() {
        one_row(page, row, HEAD + at * ROW, &scale);
    }
    page.push_str("</svg></div>\n</section>\n");
}

enum Row<'a> {
    /// The team whose beads follow.
    Team(&'a str),
    Bead(&'a Story),
}

/// Teams with their beads, in the order in which they began. A team of one bead needs no separate line.
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
        let time = duration(between(run.began, run.ended));
        let status = escaped(&run.status);
        let (agent, said) = (escaped(&run.agent), short(&run.message, 300));
        let bar = Bar {
            class: format!(
                "{}{}",
                class(run.kind),
                if run.is_good { "" } else { " bad" }
            ),
            from: scale.tenths(run.began),
            to: scale.tenths(run.ended),
            words: format!("{} {agent} {status}: {time}\n{said}", run.kind.as_str()),
        };
        bar.draw(page, y);
    }
    for run in &story.under_way {
        let bar = Bar {
            class: format!("{} now", class(run.kind)),
            from: scale.tenths(run.began),
            to: scale.end(),
            words: format!("{} {} runs", run.kind.as_str(), escaped(&run.agent)),
        };
        bar.draw(page, y);
    }
}

fn class(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Develop | RunKind::Resolve | RunKind::Lead => "develop",
        RunKind::Judge => "judge",
        RunKind::Verify => "verify",
        RunKind::Prepare | RunKind::HandOver => "other",
    }
}

/// Something that took a while; its words are safe.
struct Bar {
    class: String,
    from: i128,
    to: i128,
    words: String,
}

impl Bar {
    fn draw(&self, page: &mut String, y: usize) {
        let label = i128::try_from(LABEL * 10).unwrap_or_default();
        let (x, width) = (self.from + label, (self.to - self.from).max(15));
        _ = writeln!(
            page,
            "<rect class=\"bar {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>",
            self.class,
            units(x),
            y + 4,
            units(width),
            ROW - 7,
            self.words
        );
    }
}

const STEPS: [u64; 14] = [
    1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14_400, 28_800, 86_400, 604_800,
];

const MAX_TICKS: u64 = 10;

/// From moments to places on a line.
#[derive(Debug, Clone, Copy)]
struct Scale {
    began: Timestamp,
    milliseconds: i128,
    width: i128,
}

impl Scale {
    fn new(began: Timestamp, last: Timestamp, width: u32) -> Self {
        let length = last.duration_since(began).as_millis().max(1);
        Self {
            began,
            milliseconds: length,
            width: width.into(),
        }
    }

    /// Where a moment is, in tenths of a unit, so that short runs are not all at one place.
    fn tenths(&self, at: Timestamp) -> i128 {
        let since = at.duration_since(self.began).as_millis();
        (since * self.width * 10 / self.milliseconds).clamp(0, self.width * 10)
    }

    fn end(&self) -> i128 {
        self.width * 10
    }

    /// Where ticks are, with the time since the beginning.
    fn ticks(&self) -> Vec<(i128, Duration)> {
        let seconds = u64::try_from(self.milliseconds / 1000).unwrap_or(u64::MAX);
        let fits = |step: &&u64| seconds / **step <= MAX_TICKS;
        let step = STEPS.iter().find(fits).copied();
        let step = step.unwrap_or_else(|| (seconds / MAX_TICKS).max(1));
        let moments = (0..=seconds / step).map(|n| Duration::from_secs(n * step));
        moments
            .map(|since| {
                let since_ms = i128::try_from(since.as_millis()).unwrap_or(i128::MAX);
                (since_ms * self.width * 10 / self.milliseconds, since)
            })
            .collect()
    }
}

/// Tenths of a unit, as SVG has them.
fn units(tenths: i128) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn a_line_has_few_ticks_whatever_it_covers() {
        let began = Timestamp::UNIX_EPOCH;
        for seconds in [0, 1, 59, 3600, 100_000, 40_000_000] {
            let scale = Scale::new(began, began + SignedDuration::from_secs(seconds), 1000);
            let n = scale.ticks().len();
            assert!((1..=12).contains(&n), "{n} ticks for {seconds} s");
            assert_eq!(scale.tenths(began), 0);
        }
        let scale = Scale::new(began, began + SignedDuration::from_secs(100), 1000);
        assert_eq!(scale.tenths(began + SignedDuration::from_secs(50)), 5000);
        assert_eq!(scale.tenths(began + SignedDuration::from_secs(500)), 10_000);
        assert_eq!(units(5005), "500.5");
    }
}
