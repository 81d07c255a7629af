//! Every bead with its attempts: feedback, runs of agents, verdicts.

use std::fmt::Write as _;

use beads_ralph_core::history::{Attempt, Chronicle, Run, Story};

use super::evidence::{self, Evidence};
use super::words::{escaped, moment};
use crate::ui::format;

pub(super) fn draw(page: &mut String, chronicle: &Chronicle, evidence: &Evidence) {
    page.push_str("<section>\n<h2>Beads</h2>\n");
    for story in &chronicle.stories {
        bead(page, story, evidence);
    }
    page.push_str("</section>\n");
}

fn bead(page: &mut String, story: &Story, evidence: &Evidence) {
    let id = escaped(story.task.id.as_str());
    let class = format::state_word(&story.state);
    _ = write!(
        page,
        "<details class=\"bead\" id=\"bead-{id}\"><summary><span class=\"badge {class}\">{}</span> <b>{id}</b> {}</summary>\n<dl class=\"facts\">\n",
        escaped(class),
        escaped(&story.task.title)
    );
    let mut facts = vec![
        ("state", escaped(&format::state_words(&story.state))),
        ("sprint", escaped(&story.task.sprint)),
        ("team", escaped(&story.task.team)),
        ("branch", escaped(&story.task.branch)),
    ];
    if let Some(source) = &story.task.source {
        facts.push(("plan", escaped(&source.to_string())));
    }
    if !story.waited_for.is_empty() {
        let ids = story.waited_for.iter().map(|id| {
            let id = escaped(id.as_str());
            format!("<a href=\"#bead-{id}\">{id}</a>")
        });
        facts.push(("waited for", ids.collect::<Vec<String>>().join(", ")));
    }
    if let Some(pull) = &story.pull {
        facts.push(("pull request", link(pull)));
    }
    if let Some(commit) = &story.merged {
        facts.push(("merged by", escaped(commit.short())));
    }
    facts.push((
        "cost",
        format!(
            "{}, {} tokens",
            format::cost(&story.spent),
            format::count(story.spent.tokens)
        ),
    ));
    for (name, value) in facts {
        _ = writeln!(page, "<dt>{name}</dt><dd>{value}</dd>");
    }
    page.push_str("</dl>\n");
    for (at, attempt) in story.attempts.iter().enumerate() {
        one_attempt(page, attempt, evidence);
        let key = (story.task.id.clone(), at);
        if let Some(records) = evidence.checks.get(&key) {
            evidence::checks(page, records);
        }
    }
    for run in &story.under_way {
        let (kind, since) = (run.kind.as_str(), moment(run.began));
        let agent = escaped(&run.agent);
        _ = writeln!(page, "<p>now: {kind} {agent}, since {since}</p>");
    }
    page.push_str("</details>\n");
}

/// An address that a browser may follow; anything else is only text.
fn link(address: &str) -> String {
    let text = escaped(address);
    if address.starts_with("https://") || address.starts_with("http://") {
        format!("<a href=\"{text}\" rel=\"noreferrer\">{text}</a>")
    } else {
        text
    }
}

fn one_attempt(page: &mut String, attempt: &Attempt, evidence: &Evidence) {
    _ = write!(page, "<h4>Attempt {}", attempt.number);
    if let Some((commit, n_files)) = &attempt.sealed {
        let known = evidence.changes.get(commit);
        _ = write!(page, ": commit {}", escaped(commit.short()));
        if known.is_none() {
            _ = write!(page, ", files changed: {n_files}");
        }
        page.push_str("</h4>\n");
        if let Some(changes) = known {
            evidence::files(page, changes);
        }
    } else {
        page.push_str("</h4>\n");
    }
    if let Some(feedback) = &attempt.feedback {
        _ = writeln!(
            page,
            "<details><summary>what went wrong before</summary><pre>{}</pre></details>",
            escaped(feedback)
        );
    }
    page.push_str("<table class=\"runs\"><thead><tr><th>What</th><th>Who</th><th>Took</th><th>Cost</th><th>Came of it</th></tr></thead><tbody>\n");
    for run in &attempt.runs {
        row(page, run);
    }
    page.push_str("</tbody></table>\n");
}

fn row(page: &mut String, run: &Run) {
    let class = if run.is_good { "good" } else { "bad" };
    let who = match &run.model {
        Some(model) => format!("{} ({})", escaped(&run.agent), escaped(model)),
        None => escaped(&run.agent),
    };
    let cost = if run.kind.is_agent() {
        format::cost(&run.spent)
    } else {
        String::new()
    };
    let evidence = run.evidence.as_deref().map(escaped);
    let evidence = evidence.map_or(String::new(), |path| format!("<br><code>{path}</code>"));
    _ = writeln!(
        page,
        "<tr class=\"{class}\"><td>{}</td><td>{who}</td><td class=\"n\">{}</td><td class=\"n\">{cost}</td><td><b>{}</b> {}{evidence}</td></tr>",
        run.kind.as_str(),
        format::duration(format::between(run.began, run.ended)),
        escaped(&run.status),
        escaped(&run.message),
    );
}
