//! What happened in a run, as lines for people: `[<bead>] …` (contracts §7.9).

use std::collections::BTreeMap;

use beads_ralph_core::agent::Status;
use beads_ralph_core::engine::{
    Action, AgentReport, Answer, Effect, EffectId, Entry, Event, Trouble,
};
use beads_ralph_core::text::{excerpt, visible};

use crate::ui::format::milliseconds;

/// The story of a run, told entry by entry.
#[derive(Debug)]
pub(crate) struct Story {
    asked: BTreeMap<EffectId, Effect>,
    /// Whether it is said why a bead is begun when it is.
    explains: bool,
}

impl Story {
    /// A story that says why, or does not.
    pub(crate) fn new(explains: bool) -> Self {
        Self {
            asked: BTreeMap::new(),
            explains,
        }
    }

    /// The lines of one entry.
    pub(crate) fn lines(&mut self, entry: &Entry) -> Vec<String> {
        let mut lines = Vec::new();
        match &entry.event {
            Event::Answered { effect, answer } => {
                if let Some(effect) = self.asked.remove(effect) {
                    lines.extend(
                        answered(&effect, answer)
                            .map(|text| format!("[{}] {text}", excerpt(effect.bead.as_str()))),
                    );
                }
            }
            Event::StopAsked { now: false } => {
                lines.push("stopping: agents that run may end by themselves".to_owned());
            }
            Event::StopAsked { now: true } => {
                lines.push("stopping now: agents that run are ended".to_owned());
            }
            Event::PauseAsked { is_paused: true } => {
                lines.push(
                    "paused: nothing new is begun; `beads-ralph pause --off` lets it go on"
                        .to_owned(),
                );
            }
            Event::PauseAsked { is_paused: false } => lines.push("going on".to_owned()),
            Event::Adopted { fences } => {
                let beads: Vec<&str> = fences.iter().map(|(bead, _)| bead.as_str()).collect();
                let beads = if beads.is_empty() {
                    "no beads".to_owned()
                } else {
                    visible(&beads.join(", "))
                };
                lines.push(format!("resuming {beads}"));
            }
            Event::Seen { .. } | Event::Woke => {}
        }
        for effect in &entry.effects {
            lines.extend(
                self.begun(effect)
                    .map(|text| format!("[{}] {text}", excerpt(effect.bead.as_str()))),
            );
            self.asked.insert(effect.id, effect.clone());
        }
        lines
    }

    fn begun(&self, effect: &Effect) -> Option<String> {
        match &effect.action {
            Action::Claim { why } if self.explains => Some(format!("chosen: {why}")),
            Action::Develop { launch, agent, .. } => Some(format!(
                "attempt {}: dev {} starts",
                launch.attempt,
                agent + 1
            )),
            Action::Resolve {
                launch,
                merging,
                files,
            } => {
                let files = visible(&files.join(", "));
                Some(format!(
                    "attempt {}: dev 1 starts on conflicts with {} in {files}",
                    launch.attempt,
                    excerpt(merging)
                ))
            }
            Action::Lead {
                launch,
                only_pull: false,
                ..
            } => Some(format!("attempt {}: scrum-master starts", launch.attempt)),
            Action::Lead {
                only_pull: true, ..
            } => Some("scrum-master starts again, for the pull request".to_owned()),
            Action::Judge { launch, agent, .. } => Some(format!(
                "attempt {}: QA {} starts",
                launch.attempt,
                agent + 1
            )),
            Action::Block { reason, .. } => Some(format!("needs a person: {}", visible(reason))),
            Action::Park { account, until } => Some(format!(
                "{} is at its limit until {until}",
                excerpt(account)
            )),
            _ => None,
        }
    }
}

fn answered(effect: &Effect, answer: &Result<Answer, Trouble>) -> Option<String> {
    let answer = match answer {
        Ok(answer) => answer,
        Err(trouble) => {
            return Some(format!(
                "{}: {}",
                effect.action.name(),
                visible(&trouble.message)
            ));
        }
    };
    Some(match (&effect.action, answer) {
        (_, Answer::Claimed { fence, .. }) => format!("claimed (fence {fence})"),
        (
            _,
            Answer::Prepared {
                head,
                conflicts,
                from,
                ..
            },
        ) if conflicts.is_empty() => {
            format!("worktree ready at {}, from {}", head.short(), visible(from))
        }
        (Action::Develop { agent, .. }, Answer::Ended { report }) => {
            ended(&format!("dev {}", agent + 1), report)
        }
        (_, Answer::Ended { report }) => ended("dev 1", report),
        (_, Answer::Led { report, .. }) => ended("scrum-master", report),
        (Action::Judge { agent, launch, .. }, Answer::Judged { report, verdict }) => {
            match verdict {
                Some(verdict) => {
                    let message = visible(&verdict.message);
                    format!(
                        "attempt {}: QA {} says {}: {message}",
                        launch.attempt,
                        agent + 1,
                        verdict.status
                    )
                }
                None => ended(&format!("QA {}", agent + 1), report),
            }
        }
        (
            Action::Verify { attempt, .. },
            Answer::Verified {
                is_green, summary, ..
            },
        ) => match (is_green, visible(summary)) {
            (true, warnings) if warnings.is_empty() => {
                format!("attempt {attempt}: checks passed")
            }
            (true, warnings) => format!("attempt {attempt}: checks passed; {warnings}"),
            (false, why) => format!("attempt {attempt}: checks failed: {why}"),
        },
        (Action::Merge { target, .. }, Answer::Merged { commit }) => {
            format!("merged into {target} as {}", commit.short())
        }
        (Action::Merge { target, .. }, Answer::Conflicted { files, .. }) => {
            format!("does not fit with {target}: {}", visible(&files.join(", ")))
        }
        (_, Answer::Proposed { url, .. }) => format!("pull request {url}"),
        (Action::Push { commit }, Answer::Done) => format!("pushed {}", commit.short()),
        (Action::Close { commit, .. }, Answer::Done) => format!("closed at {}", commit.short()),
        (Action::Release { .. }, Answer::Done) => "given back".to_owned(),
        _ => return None,
    })
}

fn ended(who: &str, report: &AgentReport) -> String {
    let time = milliseconds(report.spent.time_ms);
    let how = match report.status {
        Status::Ok => "done".to_owned(),
        status => format!("{status}: {}", visible(&report.reason)),
    };
    format!("{who} {how} after {time}")
}
