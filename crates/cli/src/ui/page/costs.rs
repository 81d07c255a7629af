//! What it cost, by agent and by bead, and the beads that held everything up.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use beads_ralph_core::engine::Spent;
use beads_ralph_core::history::{Chronicle, CriticalPath, Story};

use super::words::escaped;
use crate::ui::format::{self, count, milliseconds};

const MAX_BEADS: usize = 20;

pub(super) fn draw(page: &mut String, chronicle: &Chronicle, paths: &(CriticalPath, CriticalPath)) {
    page.push_str("<section>\n<h2>What held it up</h2>\n<div class=\"columns\">\n");
    path(
        page,
        "As planned, a minute for what nobody estimated",
        &paths.0,
    );
    path(page, "As it was", &paths.1);
    page.push_str("</div>\n</section>\n<section>\n<h2>Cost</h2>\n<div class=\"columns\">\n");
    by_agent(page, chronicle);
    by_bead(page, chronicle);
    page.push_str("</div>\n</section>\n");
}

fn path(page: &mut String, title: &str, path: &CriticalPath) {
    let time = milliseconds(path.took_ms);
    _ = write!(page, "<div><h3>{title}: {time}</h3>\n<ol class=\"path\">\n");
    for id in &path.beads {
        let id = escaped(id.as_str());
        _ = writeln!(page, "<li><a href=\"#bead-{id}\">{id}</a></li>");
    }
    page.push_str("</ol></div>\n");
}

fn by_agent(page: &mut String, chronicle: &Chronicle) {
    let mut agents: BTreeMap<(&str, &str), (usize, usize, Spent)> = BTreeMap::new();
    for run in chronicle.stories.iter().flat_map(Story::runs) {
        if run.kind.is_agent() {
            let model = run.model.as_deref().unwrap_or_default();
            let agent = agents.entry((&run.agent, model)).or_default();
            agent.0 += 1;
            agent.1 += usize::from(!run.is_good);
            agent.2.add(&run.spent);
        }
    }
    page.push_str("<table><thead><tr><th>Agent</th><th>Model</th><th>Runs</th><th>Not passed</th><th>Tokens</th><th>Cost</th></tr></thead><tbody>\n");
    for ((agent, model), (n, n_bad, spent)) in agents {
        _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td class=\"n\">{n}</td><td class=\"n\">{n_bad}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            escaped(agent),
            escaped(model),
            count(spent.tokens),
            format::cost(&spent)
        );
    }
    page.push_str("</tbody></table>\n");
}

fn by_bead(page: &mut String, chronicle: &Chronicle) {
    let mut stories: Vec<&Story> = chronicle.stories.iter().collect();
    stories.sort_by_key(|it| std::cmp::Reverse((it.spent.micros, it.spent.tokens)));
    page.push_str("<table><thead><tr><th>Bead</th><th>Attempts</th><th>Tokens</th><th>Cost</th></tr></thead><tbody>\n");
    // A bead that agents worked on counts, even if its cost is unknown.
    stories.retain(|it| !it.attempts.is_empty());
    for story in stories.iter().take(MAX_BEADS) {
        let id = escaped(story.task.id.as_str());
        _ = writeln!(
            page,
            "<tr><td><a href=\"#bead-{id}\">{id}</a></td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            story.attempts.len(),
            count(story.spent.tokens),
            format::cost(&story.spent)
        );
    }
    if stories.len() > MAX_BEADS {
        let more = stories.len() - MAX_BEADS;
        _ = writeln!(page, "<tr><td colspan=\"4\">{more} more</td></tr>");
    }
    page.push_str("</tbody></table>\n");
}
