//! Folding a journal into a story.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use super::{Attempt, Chronicle, Run, RunKind, Story, UnderWay};
use crate::agent::Status;
use crate::bead::{BeadId, QaStatus};
use crate::engine::{
    Action, AgentReport, Answer, BeadView, Effect, EffectId, Entry, Event, Head, Replay,
    ReplayError, Spent, Trouble,
};

/// The story of a run that was recorded.
pub fn chronicle<'a>(
    head: &Head,
    entries: impl IntoIterator<Item = &'a Entry>,
) -> Result<Chronicle, ReplayError> {
    let mut telling = Telling::begin(head.clone())?;
    for entry in entries {
        telling.hear(entry)?;
    }
    Ok(telling.told())
}

/// The story of a run while it is written: entry by entry, and told at any moment.
#[derive(Debug)]
pub struct Telling {
    head: Head,
    replay: Replay,
    teller: Teller,
    last: Timestamp,
}

impl Telling {
    /// Before the first entry.
    pub fn begin(head: Head) -> Result<Self, ReplayError> {
        Ok(Self {
            replay: Replay::begin(&head)?,
            teller: Teller::default(),
            last: head.at,
            head,
        })
    }

    /// Takes the next entry.
    pub fn hear(&mut self, entry: &Entry) -> Result<(), ReplayError> {
        self.replay.hear(entry)?;
        self.teller.hear(entry);
        self.last = entry.at;
        Ok(())
    }

    /// The story so far.
    pub fn told(&self) -> Chronicle {
        let engine = self.replay.engine();
        let view = engine.view();
        let mut seen: HashMap<String, BeadView> = (view.beads.into_iter())
            .map(|bead| (bead.id.clone(), bead))
            .collect();
        let mut stories: Vec<Story> = self.teller.stories.values().cloned().collect();
        for story in &mut stories {
            if let Some(bead) = seen.remove(story.task.id.as_str()) {
                story.state = bead.state;
                story.attempt = bead.attempt;
            }
        }
        for effect in engine.outstanding() {
            let story = stories.iter_mut().find(|it| it.task.id == effect.bead);
            if let Some(story) = story {
                story.under_way.extend(self.teller.under_way(effect));
            }
        }
        Chronicle {
            run: self.head.settings.run.clone(),
            version: self.head.version.clone(),
            began: self.head.at,
            last: self.last,
            outcome: engine.outcome(),
            state: view.state,
            is_left: false,
            n_adopted: self.teller.n_adopted,
            width: self.head.settings.max_parallel,
            stories,
            spent: view.spent,
        }
    }
}

/// What is known while a journal is read.
#[derive(Debug, Default)]
pub(super) struct Teller {
    pub(super) stories: BTreeMap<BeadId, Story>,
    asked: HashMap<EffectId, (Effect, Timestamp)>,
    n_adopted: usize,
}

impl Teller {
    pub(super) fn hear(&mut self, entry: &Entry) {
        match &entry.event {
            Event::Seen { tasks, .. } => {
                for task in tasks {
                    let story = || Story::of(task.clone());
                    self.stories.entry(task.id.clone()).or_insert_with(story);
                }
            }
            Event::Answered { effect, answer } => {
                if let Some((effect, began)) = self.asked.remove(effect) {
                    self.answered(&effect, began, entry.at, answer);
                }
            }
            Event::Adopted { .. } => self.n_adopted += 1,
            Event::Woke | Event::StopAsked { .. } | Event::PauseAsked { .. } => {}
        }
        for effect in &entry.effects {
            self.asked.insert(effect.id, (effect.clone(), entry.at));
        }
    }

    fn answered(
        &mut self,
        effect: &Effect,
        began: Timestamp,
        at: Timestamp,
        answer: &Result<Answer, Trouble>,
    ) {
        let Some(story) = self.stories.get_mut(&effect.bead) else {
            return;
        };
        story.note(effect, at, answer);
        let Some(run) = run(effect, (began, at), answer) else {
            return;
        };
        if run.kind.is_agent() {
            story.spent.add(&run.spent);
        }
        let attempt = story.attempt_of(effect.action.attempt());
        if attempt.feedback.is_none() {
            attempt.feedback = feedback(&effect.action).map(str::to_owned);
        }
        attempt.runs.push(run);
    }

    fn under_way(&self, effect: &Effect) -> Option<UnderWay> {
        let (_, began) = self.asked.get(&effect.id)?;
        let agent = effect.action.launch().map(|launch| launch.account.clone());
        Some(UnderWay {
            kind: kind(&effect.action)?,
            agent: agent.unwrap_or_default(),
            began: *began,
        })
    }
}

impl Story {
    /// The attempt with a number; what belongs to none belongs to the last.
    pub(super) fn attempt_of(&mut self, number: Option<u32>) -> &mut Attempt {
        let now = self.attempts.get(self.n_before..).unwrap_or_default();
        let last = now.last().map_or(1, |attempt| attempt.number);
        let number = number.unwrap_or(last);
        // A bead that was reopened counts its attempts from 1 again: the earlier ones stay as they were.
        let mut attempts = self.attempts.iter().enumerate().skip(self.n_before);
        let at = attempts.find(|(_, it)| it.number == number);
        let at = at.map(|(at, _)| at);
        let at = at.unwrap_or_else(|| {
            self.attempts.push(Attempt {
                number,
                ..Attempt::default()
            });
            self.attempts.len() - 1
        });
        &mut self.attempts[at]
    }

    /// What an answer says about the bead itself.
    pub(super) fn note(
        &mut self,
        effect: &Effect,
        at: Timestamp,
        answer: &Result<Answer, Trouble>,
    ) {
        let Ok(answer) = answer else {
            return;
        };
        match answer {
            Answer::Claimed { .. } => {
                self.claimed.get_or_insert(at);
                self.ended = None;
            }
            Answer::Sealed {
                commit, n_changed, ..
            } => {
                let (number, base) = (effect.action.attempt(), self.base.clone());
                let attempt = self.attempt_of(number);
                attempt.sealed = Some((commit.clone(), *n_changed));
                attempt.base = base;
            }
            Answer::Prepared { head, .. } => {
                self.base.get_or_insert_with(|| head.clone());
            }
            Answer::Merged { commit } => self.merged = Some(commit.clone()),
            Answer::Proposed { url, .. } => self.pull = Some(url.clone()),
            Answer::Done => match effect.action {
                Action::Close { .. } | Action::Block { .. } => {
                    self.ended = Some(at);
                    self.n_before = self.attempts.len();
                }
                Action::Release { .. } => self.ended = Some(at),
                _ => {}
            },
            _ => {}
        }
    }
}

fn feedback(action: &Action) -> Option<&str> {
    match action {
        Action::Develop { feedback, .. } | Action::Lead { feedback, .. } => feedback.as_deref(),
        _ => None,
    }
}

/// What is worth a bar: agents, checks, merges.
fn kind(action: &Action) -> Option<RunKind> {
    match action {
        Action::Merge { .. } | Action::Push { .. } | Action::Propose { .. } => {
            Some(RunKind::HandOver)
        }
        _ => RunKind::parse(action.name()),
    }
}

fn run(
    effect: &Effect,
    (began, ended): (Timestamp, Timestamp),
    answer: &Result<Answer, Trouble>,
) -> Option<Run> {
    let kind = kind(&effect.action)?;
    let plain = |is_good: bool, status: &str, message: String| Run {
        kind,
        agent: String::new(),
        model: None,
        began,
        ended,
        is_good,
        status: status.to_owned(),
        message,
        spent: Spent::default(),
        evidence: None,
    };
    Some(match answer {
        Err(trouble) => plain(false, "trouble", trouble.message.clone()),
        Ok(Answer::Judged { report, verdict }) => {
            let run = of_agent(kind, report);
            match verdict {
                Some(verdict) => Run {
                    is_good: verdict.status == QaStatus::Pass,
                    status: verdict.status.as_str().to_owned(),
                    message: verdict.message.clone(),
                    ..run
                },
                None => Run {
                    is_good: false,
                    ..run
                },
            }
        }
        Ok(Answer::Ended { report } | Answer::Led { report, .. }) => of_agent(kind, report),
        Ok(Answer::Verified {
            is_green, summary, ..
        }) => plain(
            *is_green,
            if *is_green { "green" } else { "red" },
            summary.clone(),
        ),
        Ok(Answer::Prepared {
            conflicts, from, ..
        }) => plain(conflicts.is_empty(), "prepared", from.clone()),
        Ok(Answer::Conflicted { files, .. }) => plain(false, "conflict", files.join(", ")),
        Ok(Answer::Proposed { url, .. }) => plain(true, "proposed", url.clone()),
        Ok(Answer::Merged { commit }) => plain(true, "merged", commit.short().to_owned()),
        Ok(_) => plain(true, "done", String::new()),
    })
}

fn of_agent(kind: RunKind, report: &AgentReport) -> Run {
    Run {
        kind,
        agent: report.agent.clone(),
        model: report
            .model_id
            .clone()
            .or_else(|| Some(report.model.as_str().to_owned())),
        began: report.started_at,
        ended: report.ended_at,
        is_good: report.status == Status::Ok,
        status: report.status.as_str().to_owned(),
        message: report.reason.clone(),
        spent: report.spent,
        evidence: report.evidence.clone(),
    }
}
