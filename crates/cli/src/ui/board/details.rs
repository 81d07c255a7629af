//! Everything about the selected bead, line by line.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::{BeadState, Spent};
use beads_ralph_core::history::{Attempt, Chronicle, Run, RunKind, Story};
use beads_ralph_core::text::visible;
use jiff::Timestamp;

use super::words;
use crate::ui::format::{self, between, duration, elapsed, list_of};

const MAX_NAMED: usize = 6;

/// The lines about a bead; texts of others are made harmless here.
pub(super) fn details(told: &Chronicle, story: &Story, now: Timestamp) -> Vec<String> {
    let task = &story.task;
    let mut facts = vec![task.id.to_string()];
    if story.attempt > 0 {
        facts.push(format!("attempt {}", words::attempt(story)));
    }
    if story.spent != Spent::default() {
        facts.push(words::cost(&story.spent));
    }
    facts.extend([task.branch.clone(), task.team.clone()]);
    facts.retain(|fact| !fact.is_empty());
    let mut lines = vec![facts.join(", "), standing(story, now)];
    let waits = named(told, story.waited_for.iter(), now);
    lines.extend(waits.map(|names| format!("after {names}")));
    let behind = told
        .stories
        .iter()
        .filter(|it| it.waited_for.contains(&task.id));
    let behind = named(told, behind.map(|it| &it.task.id), now);
    lines.extend(behind.map(|names| format!("before {names}")));
    lines.extend(story.pull.iter().map(|url| format!("proposed as {url}")));
    lines.extend(story.attempts.iter().filter_map(tried));
    lines.into_iter().map(|line| visible(&line)).collect()
}

fn standing(story: &Story, now: Timestamp) -> String {
    match &story.state {
        BeadState::Working {
            phase,
            since,
            waiting,
        } => {
            let time = elapsed(between(*since, now));
            if let Some(why) = waiting {
                return format!("waits since {time}: {why}");
            }
            let agents = story.under_way.iter().map(|it| it.agent.as_str());
            let agents = agents.filter(|it| !it.is_empty()).collect::<Vec<_>>();
            match agents.as_slice() {
                [] => format!("{} since {time}", phase.as_str()),
                agents => format!("{} since {time} ({})", phase.as_str(), agents.join(", ")),
            }
        }
        state => match (story.claimed, story.ended) {
            (Some(claimed), Some(ended)) => {
                let took = duration(between(claimed, ended));
                format!("{} after {took}", format::state_words(state))
            }
            _ => format::state_words(state),
        },
    }
}

/// Some beads with where they stand; nothing when there are none.
fn named<'b>(
    told: &Chronicle,
    ids: impl Iterator<Item = &'b BeadId>,
    now: Timestamp,
) -> Option<String> {
    let name = |id: &BeadId| {
        told.story(id.as_str()).map_or_else(
            || id.to_string(),
            |story| {
                format!(
                    "{} ({})",
                    words::number(story),
                    words::state(told, story, now)
                )
            },
        )
    };
    let names = list_of(ids.map(name), MAX_NAMED);
    (!names.is_empty()).then_some(names)
}

/// An attempt in a line: what ran, how it ended, and the message if it failed; nothing before the first run.
fn tried(attempt: &Attempt) -> Option<String> {
    let is_worth_it =
        |run: &&Run| !run.is_good || !matches!(run.kind, RunKind::Prepare | RunKind::HandOver);
    let runs: Vec<String> = attempt.runs.iter().filter(is_worth_it).map(ran).collect();
    let number = attempt.number;
    (!runs.is_empty()).then(|| format!("attempt {number}: {}", runs.join("; ")))
}

fn ran(run: &Run) -> String {
    let took = duration(between(run.began, run.ended));
    let who = match run.agent.as_str() {
        "" => String::new(),
        agent => format!(" {agent}"),
    };
    let why = match run.message.trim() {
        message if !run.is_good && !message.is_empty() => format!(" ({message})"),
        _ => String::new(),
    };
    format!("{}{who} {} {took}{why}", run.kind.as_str(), run.status)
}
