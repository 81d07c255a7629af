//! A run as one page of HTML that needs nothing else: no network, no other file.
//!
//! Everything that comes from beads, agents and checks is text of others: it is escaped, and the page allows nothing from elsewhere.

mod beads;
mod costs;
mod evidence;
mod graph;
mod timeline;
mod words;

use std::fmt::Write as _;

use beads_ralph_core::engine::{BeadState, End, Outcome, RunState};
use beads_ralph_core::history::{Chronicle, critical_paths};

pub(crate) use self::evidence::Evidence;
use self::words::{escaped, moment};
use crate::ui::format::{self, between, cost, count, duration};

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

pub(crate) fn html(chronicle: &Chronicle, evidence: &Evidence) -> String {
    let paths = critical_paths(chronicle);
    let title = escaped(&chronicle.run);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    );
    head(&mut page, chronicle);
    graph::draw(&mut page, chronicle, &paths.1);
    timeline::draw(&mut page, chronicle);
    costs::draw(&mut page, chronicle, &paths);
    beads::draw(&mut page, chronicle, evidence);
    _ = write!(
        page,
        "<footer>beads-ralph {}</footer>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        escaped(&chronicle.version)
    );
    page
}

fn head(page: &mut String, chronicle: &Chronicle) {
    let (word, class) = match (&chronicle.outcome, &chronicle.state) {
        (Some(outcome), _) => (format::outcome(outcome), outcome.as_str()),
        (None, _) if chronicle.is_left => ("left: its process is dead".to_owned(), "needs_person"),
        (None, RunState::Paused) => ("paused".to_owned(), "working"),
        (None, _) => ("under way".to_owned(), "working"),
    };
    let n = |class: &str| {
        let stories = chronicle.stories.iter();
        stories
            .filter(|it| format::state_word(&it.state) == class)
            .count()
    };
    let n_attempts: usize = chronicle.stories.iter().map(|it| it.attempts.len()).sum();
    let (began, took) = (
        moment(chronicle.began),
        duration(between(chronicle.began, chronicle.last)),
    );
    _ = write!(
        page,
        "<header>\n<h1>{} <span class=\"badge {class}\">{word}</span></h1>\n<p>{began}, {took}</p>\n<dl class=\"cards\">\n",
        escaped(&chronicle.run)
    );
    let mut cards = vec![
        ("beads", chronicle.stories.len().to_string()),
        ("closed", n("closed").to_string()),
        ("need attention", n("needs_person").to_string()),
        ("attempts", n_attempts.to_string()),
        ("cost", cost(&chronicle.spent)),
        ("tokens", count(chronicle.spent.tokens)),
        ("at once", chronicle.width.to_string()),
    ];
    if chronicle.n_adopted > 0 {
        cards.push(("taken over", chronicle.n_adopted.to_string()));
    }
    for (name, value) in cards {
        _ = writeln!(page, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
    page.push_str("</dl>\n");
    if let Some(Outcome::Fatal(reason)) = &chronicle.outcome {
        let reason = escaped(reason);
        _ = writeln!(
            page,
            "<section class=\"person\"><h2>Everything stopped</h2><p>{reason}</p></section>"
        );
    }
    waiting(page, chronicle);
    page.push_str("</header>\n");
}

/// What needs attention comes first: it is why somebody opens the page in the morning.
fn waiting(page: &mut String, chronicle: &Chronicle) {
    let mut lines = String::new();
    for story in &chronicle.stories {
        if let BeadState::Ended(End::NeedsPerson { reason }) = &story.state {
            let id = escaped(story.task.id.as_str());
            _ = writeln!(
                lines,
                "<li><a href=\"#bead-{id}\">{id}</a> {}: {}</li>",
                escaped(&story.task.title),
                escaped(reason)
            );
        }
    }
    if !lines.is_empty() {
        _ = write!(
            page,
            "<section class=\"person\">\n<h2>Needs attention</h2>\n<ul>\n{lines}</ul>\n</section>\n"
        );
    }
}
