//! `replay`: makes the decisions in a run's journal again, and compares.
//!
//! Data: `{run, version, events, decisions, is_identical, first_difference: {seq, at, event, now: […], recorded: […]}|null}`; with `--show` also
//! `timeline: [{seq, at, event, decisions: [{bead, action, detail}]}]`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::engine::{
    Action, Answer, Effect, EffectId, Entry, Event, ReplayError, Trouble, replay,
};
use beads_ralph_core::text::excerpt;
use clap::Args;
use jiff::Timestamp;
use serde::Serialize;

use crate::failure::Failure;
use crate::journal::{self, Journal};
use crate::ui::table::Page;
use crate::ui::{Ui, counted};

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The run: its id, the beginning of it, `latest`, or its directory
    pub(crate) run: String,
    /// Show every decision with its reason
    #[arg(long)]
    pub(crate) show: bool,
}

pub(crate) fn run(args: &ReplayArgs, ui: &Ui) -> Result<(), Failure> {
    let journal = journal::read(&args.run)?;
    let difference = match replay(&journal.head, &journal.entries) {
        Ok(_) => None,
        Err(ReplayError::Diverged { seq, now, recorded }) => Some((seq, now, recorded)),
        Err(error @ (ReplayError::Version { .. } | ReplayError::Order { .. })) => {
            return Err(
                Failure::new(ErrorCode::ValidationConstraint, error.to_string())
                    .action("replay it with the version that wrote it"),
            );
        }
    };
    let story = Story::of(&journal);
    if args.show {
        ui.out(&story.timeline(Page::of(ui)))?;
    }
    ui.out(&summary(&journal, difference.as_ref()))?;
    let answer = || story.answer(difference.as_ref(), args.show);
    match &difference {
        None if ui.is_json() => ui.data(&answer()),
        None => Ok(()),
        Some((seq, ..)) => Err(Failure::new(
            ErrorCode::ValidationConstraint,
            format!("the decisions differ from entry {seq} on"),
        )
        .action(
            "the journal was changed, or this version decides differently from the one that wrote it",
        )
        .with_results(answer())
        .told()),
    }
}

/// Where decisions differ: the entry, what is decided now, and what was.
type Difference = (u64, Vec<Effect>, Vec<Effect>);

/// A journal, and what was asked for in it by number.
struct Story<'j> {
    journal: &'j Journal,
    asked: BTreeMap<EffectId, &'j Effect>,
}

fn n_decisions(journal: &Journal) -> usize {
    journal
        .entries
        .iter()
        .map(|entry| entry.effects.len())
        .sum()
}

fn summary(journal: &Journal, difference: Option<&Difference>) -> String {
    let head = &journal.head;
    let mut text = format!(
        "run {} of {} (beads-ralph {}): {}, {}\n",
        excerpt(&head.settings.run),
        head.at,
        excerpt(&head.version),
        counted(journal.entries.len(), "event", "events"),
        counted(n_decisions(journal), "decision", "decisions"),
    );
    match difference {
        None => text.push_str("all decisions are the same\n"),
        Some((seq, now, recorded)) => {
            _ = writeln!(text, "different from entry {seq} on:");
            for (word, effects) in [("recorded", recorded), ("now", now)] {
                let said: Vec<String> = effects.iter().map(said).collect();
                let said = if said.is_empty() {
                    "nothing".to_owned()
                } else {
                    said.join("; ")
                };
                _ = writeln!(text, "  {word}: {said}");
            }
        }
    }
    text
}

impl<'j> Story<'j> {
    fn of(journal: &'j Journal) -> Self {
        let effects = journal.entries.iter().flat_map(|entry| &entry.effects);
        Self {
            journal,
            asked: effects.map(|effect| (effect.id, effect)).collect(),
        }
    }

    /// Everything that happened, and what was decided about it.
    fn timeline(&self, page: Page) -> String {
        let began = self.journal.entries.first().map(|entry| entry.at);
        let mut text = String::new();
        for entry in &self.journal.entries {
            let line = format!(
                "{:>6}  {:>10}  {}",
                entry.seq,
                since(began, entry.at),
                self.happened(&entry.event)
            );
            _ = writeln!(text, "{}", page.line(&line));
            for effect in &entry.effects {
                let line = format!("{:>20}> {}", "", said(effect));
                _ = writeln!(text, "{}", page.line(&line));
            }
        }
        text
    }

    fn happened(&self, event: &Event) -> String {
        match event {
            Event::Answered { effect, answer } => {
                let asked = self.asked.get(effect).map_or_else(
                    || format!("effect {effect}"),
                    |asked| format!("{} {}", asked.bead, asked.action.name()),
                );
                format!("{asked}: {}", answered(answer))
            }
            other => came(other),
        }
    }

    fn answer<'a>(&'a self, difference: Option<&'a Difference>, shows: bool) -> Replayed<'a> {
        let journal = self.journal;
        let at = |seq: u64| journal.entries.iter().find(|entry| entry.seq == seq);
        Replayed {
            run: &journal.head.settings.run,
            version: &journal.head.version,
            events: journal.entries.len(),
            decisions: n_decisions(journal),
            is_identical: difference.is_none(),
            first_difference: difference.map(|(seq, now, recorded)| FirstDifference {
                seq: *seq,
                at: at(*seq).map(|entry| entry.at),
                event: at(*seq).map(|entry| self.happened(&entry.event)),
                now,
                recorded,
            }),
            timeline: shows.then(|| journal.entries.iter().map(|it| self.moment(it)).collect()),
        }
    }

    fn moment<'a>(&self, entry: &'a Entry) -> Moment<'a> {
        let decided = |effect: &'a Effect| Decision {
            bead: effect.bead.as_str(),
            action: effect.action.name(),
            detail: detail(&effect.action),
        };
        Moment {
            seq: entry.seq,
            at: entry.at,
            event: self.happened(&entry.event),
            decisions: entry.effects.iter().map(decided).collect(),
        }
    }
}

#[derive(Serialize)]
struct Replayed<'a> {
    run: &'a str,
    version: &'a str,
    events: usize,
    decisions: usize,
    is_identical: bool,
    first_difference: Option<FirstDifference<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<Vec<Moment<'a>>>,
}

#[derive(Serialize)]
struct FirstDifference<'a> {
    seq: u64,
    at: Option<Timestamp>,
    event: Option<String>,
    now: &'a [Effect],
    recorded: &'a [Effect],
}

#[derive(Serialize)]
struct Moment<'a> {
    seq: u64,
    at: Timestamp,
    event: String,
    decisions: Vec<Decision<'a>>,
}

#[derive(Serialize)]
struct Decision<'a> {
    bead: &'a str,
    action: &'static str,
    detail: String,
}

fn since(began: Option<Timestamp>, at: Timestamp) -> String {
    let passed = began.map_or(0.0, |began| at.duration_since(began).as_secs_f64());
    format!("+{passed:.3}s")
}

/// What happened besides answers.
fn came(event: &Event) -> String {
    match event {
        Event::Seen {
            tasks,
            gone,
            parked,
        } => format!(
            "the store: {}, {} gone, {} at a limit",
            counted(tasks.len(), "bead", "beads"),
            gone.len(),
            counted(parked.len(), "account", "accounts"),
        ),
        Event::Answered { effect, .. } => format!("effect {effect} was answered"),
        Event::Woke => "woken".to_owned(),
        Event::StopAsked { now: true } => "asked to stop at once".to_owned(),
        Event::StopAsked { now: false } => "asked to stop".to_owned(),
        Event::PauseAsked { is_paused: true } => "asked to pause".to_owned(),
        Event::PauseAsked { is_paused: false } => "asked to go on".to_owned(),
        Event::Adopted { fences } => format!(
            "another process goes on, with {}",
            counted(fences.len(), "bead", "beads")
        ),
    }
}

fn answered(answer: &Result<Answer, Trouble>) -> String {
    match answer {
        Err(trouble) => format!("trouble: {trouble}"),
        Ok(Answer::Claimed { fence, .. }) => format!("ours, fence {fence}"),
        Ok(Answer::NotClaimed { why, .. }) => format!("not ours: {why}"),
        Ok(Answer::Prepared {
            head, conflicts, ..
        }) if conflicts.is_empty() => {
            format!("ready at {}", head.short())
        }
        Ok(Answer::Prepared { conflicts, .. }) => format!("conflicts in {}", conflicts.join(", ")),
        Ok(Answer::Ended { report } | Answer::Led { report, .. }) => {
            format!("{} {}", report.status, report.reason)
        }
        Ok(Answer::Judged {
            verdict: Some(verdict),
            ..
        }) => format!("{}: {}", verdict.status, verdict.message),
        Ok(Answer::Judged { report, .. }) => format!("no verdict: {}", report.reason),
        Ok(Answer::Sealed {
            refused: Some(reason),
            ..
        }) => format!("refused: {reason}"),
        Ok(Answer::Sealed {
            commit, n_changed, ..
        }) => format!(
            "{} at {}",
            counted(*n_changed, "file", "files"),
            commit.short()
        ),
        Ok(Answer::Verified {
            is_green: true,
            summary,
            ..
        }) if summary.is_empty() => "green".to_owned(),
        Ok(Answer::Verified {
            is_green: true,
            summary,
            ..
        }) => format!("green: {summary}"),
        Ok(Answer::Verified { summary, .. }) => format!("red: {summary}"),
        Ok(Answer::Merged { commit }) => format!("merged by {}", commit.short()),
        Ok(Answer::Conflicted { files, .. }) => format!("conflicts in {}", files.join(", ")),
        Ok(Answer::Proposed { url, .. }) => url.clone(),
        Ok(Answer::NotProposed) => "no pull request".to_owned(),
        Ok(Answer::Done) => "done".to_owned(),
    }
}

fn said(effect: &Effect) -> String {
    let detail = detail(&effect.action);
    let gap = if detail.is_empty() { "" } else { ": " };
    format!("{} {}{gap}{detail}", effect.bead, effect.action.name())
}

/// What matters of a decision, above all its reason.
fn detail(action: &Action) -> String {
    match action {
        Action::Claim { why } => why.clone(),
        Action::Develop {
            agent,
            launch,
            feedback,
        } => {
            let after = feedback.as_ref().map_or_else(String::new, |feedback| {
                format!(", told: {}", excerpt(feedback))
            });
            format!(
                "attempt {}, agent {} ({}){after}",
                launch.attempt,
                agent + 1,
                launch.account
            )
        }
        Action::Judge { agent, launch, .. } => format!(
            "attempt {}, agent {} ({})",
            launch.attempt,
            agent + 1,
            launch.account
        ),
        Action::Resolve { launch, files, .. } => {
            format!("attempt {}, {}", launch.attempt, files.join(", "))
        }
        Action::Lead { launch, .. } => format!("attempt {} ({})", launch.attempt, launch.account),
        Action::Prepare { attempt, .. }
        | Action::Seal { attempt, .. }
        | Action::Restore { attempt, .. } => format!("attempt {attempt}"),
        Action::Verify { attempt, commit } => format!("attempt {attempt} at {}", commit.short()),
        Action::Keep { commit }
        | Action::Push { commit }
        | Action::Propose { commit, .. }
        | Action::Close { commit, .. } => commit.short().to_owned(),
        Action::Merge { commit, target } => format!("{} into {target}", commit.short()),
        Action::Block { reason, .. } => reason.clone(),
        Action::Park { account, until } => format!("{account} until {until}"),
        Action::Notify { text } => text.clone(),
        Action::Record { .. } | Action::Release { .. } | Action::CleanUp | Action::Cancel => {
            String::new()
        }
    }
}
