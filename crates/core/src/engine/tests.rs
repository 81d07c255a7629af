//! What the engine decides, told in events and effects.

mod again;
mod attempts;
mod ends;
mod gates;
mod limits;
mod order;
mod recovery;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::Map;

use super::*;
use crate::agent::Status;
use crate::bead::{BeadId, Model, QaReport, QaStatus};
use crate::issue::Fence;

/// Settings under which nothing gets in the way.
pub(crate) fn settings() -> Settings {
    Settings {
        run: "run-1".to_owned(),
        selection: Selection::default(),
        seed: 1,
        max_parallel: 4,
        poll_ms: 5000,
        max_tries: 2,
        max_limit_tries: 2,
        backoff: Backoff::Exponential,
        limit_backoff: Backoff::Exponential,
        max_pull_tries: 2,
        integration: Integration::None,
        leader: Leader::Native,
        order: Order::Urgency,
        caps: Caps::default(),
        cleans_up: false,
        watches: false,
        is_once: false,
    }
}

pub(crate) fn id(name: &str) -> BeadId {
    BeadId::parse(name).unwrap()
}

fn commit(name: &str) -> CommitId {
    CommitId(name.to_owned())
}

/// A bead that waits for others.
pub(crate) fn task(name: &str, waits_for: &[&str]) -> Task {
    Task {
        id: id(name),
        title: name.to_owned(),
        sprint: "1.1".to_owned(),
        team: format!("team-{name}"),
        priority: 1,
        weight: 1,
        branch: format!("feature/{name}"),
        worktree: format!("../{name}"),
        is_merge: false,
        standing: TaskState::Open,
        waits_for: waits_for.iter().map(|name| id(name)).collect(),
        is_put_off: false,
        is_gate: false,
        source: None,
        held_back: None,
        fault: None,
        developers: vec!["claude".to_owned()],
        judges: vec!["claude".to_owned()],
        leader: Some("claude".to_owned()),
        attempts: 0,
        max_attempts: 3,
        has_checks: true,
        spent: Spent::default(),
        sealed: None,
        feedback: None,
        base: None,
    }
}

fn report(status: Status) -> AgentReport {
    AgentReport {
        agent: "dev".to_owned(),
        model: Model::Sonnet,
        model_id: None,
        session: "s".to_owned(),
        started_at: Timestamp::UNIX_EPOCH,
        ended_at: Timestamp::UNIX_EPOCH,
        status,
        reason: status.to_string(),
        spent: Spent {
            micros: 100,
            ..Spent::default()
        },
        resets_at: None,
        evidence: None,
    }
}

fn judged(status: QaStatus, message: &str) -> Answer {
    Answer::Judged {
        report: report(Status::Ok),
        verdict: Some(Verdict {
            status,
            message: message.to_owned(),
            details: Map::new(),
        }),
    }
}

/// What an effect comes to when all goes well.
fn well(effect: &Effect) -> Answer {
    let made = commit(&format!("{}-{}", effect.bead, effect.id));
    match &effect.action {
        Action::Claim { .. } => Answer::Claimed {
            fence: Fence(1),
            task: Box::new(task(effect.bead.as_str(), &[])),
        },
        Action::Prepare { .. } => Answer::Prepared {
            head: commit("base"),
            conflicts: Vec::new(),
            merging: None,
            from: String::new(),
            is_anew: false,
        },
        Action::Develop { .. } | Action::Resolve { .. } => Answer::Ended {
            report: report(Status::Ok),
        },
        Action::Lead { .. } => Answer::Led {
            report: report(Status::Ok),
            is_success: true,
            is_fatal: false,
            error: None,
            qa_results: vec![QaReport {
                agent_path: "qa".to_owned(),
                status: QaStatus::Pass,
                message: "fine".to_owned(),
                details: Map::new(),
            }],
        },
        Action::Seal { .. } => Answer::Sealed {
            commit: made.clone(),
            tree: format!("tree-{made}"),
            n_changed: 1,
            unresolved: Vec::new(),
            refused: None,
        },
        Action::Judge { .. } => judged(QaStatus::Pass, "fine"),
        Action::Verify { commit, .. } => Answer::Verified {
            commit: commit.clone(),
            is_green: true,
            summary: String::new(),
            is_cut_off: false,
        },
        Action::Merge { .. } => Answer::Merged { commit: made },
        Action::Propose { .. } => Answer::Proposed {
            url: "https://example.com/o/r/pull/7".to_owned(),
            number: 7,
        },
        Action::Restore { .. }
        | Action::Record { .. }
        | Action::Keep { .. }
        | Action::Push { .. }
        | Action::Close { .. }
        | Action::Block { .. }
        | Action::Release { .. }
        | Action::CleanUp
        | Action::Park { .. }
        | Action::Notify { .. }
        | Action::Cancel => Answer::Done,
    }
}

/// What becomes of an effect in a test: nothing special, something else, or no answer at all.
enum Fate {
    Well,
    Else(Box<Result<Answer, Trouble>>),
    Silence,
}

/// An engine that takes what a test wants to happen.
struct Stage {
    engine: Engine,
    now: Timestamp,
    pending: Vec<Effect>,
    /// Everything that was asked for: the bead and the name of the action.
    asked: Vec<(String, &'static str)>,
    effects: Vec<Effect>,
    counts: BTreeMap<(String, &'static str), usize>,
}

impl Stage {
    fn new(settings: Settings, tasks: Vec<Task>) -> Self {
        let mut stage = Self {
            engine: Engine::new(settings),
            now: Timestamp::UNIX_EPOCH,
            pending: Vec::new(),
            asked: Vec::new(),
            effects: Vec::new(),
            counts: BTreeMap::new(),
        };
        stage.tell(&Event::Seen {
            tasks,
            gone: Vec::new(),
            parked: Vec::new(),
        });
        stage
    }

    fn tell(&mut self, event: &Event) {
        for effect in self.engine.handle(self.now, event) {
            self.asked
                .push((effect.bead.to_string(), effect.action.name()));
            self.effects.push(effect.clone());
            if effect.action != Action::Cancel {
                self.pending.push(effect);
            }
        }
    }

    fn answer(&mut self, effect: &Effect, answer: Result<Answer, Trouble>) {
        self.pending.retain(|pending| pending.id != effect.id);
        self.tell(&Event::Answered {
            effect: effect.id,
            answer: Box::new(answer),
        });
    }

    /// Plays until nothing is left to answer or to wait for. The fate of an effect is chosen by it and by the how manyth of its kind
    /// it is for its bead, from 1.
    fn play(&mut self, fate: impl Fn(&Effect, usize) -> Fate) -> Option<Outcome> {
        for _ in 0..10_000 {
            let next = self.pending.iter().position(|effect| {
                let key = (effect.bead.to_string(), effect.action.name());
                let n = self.counts.get(&key).copied().unwrap_or(0) + 1;
                !matches!(fate(effect, n), Fate::Silence)
            });
            if let Some(next) = next {
                let effect = self.pending[next].clone();
                let key = (effect.bead.to_string(), effect.action.name());
                let n = self.counts.entry(key).or_default();
                *n += 1;
                let answer = match fate(&effect, *n) {
                    Fate::Well | Fate::Silence => Ok(well(&effect)),
                    Fate::Else(answer) => *answer,
                };
                self.answer(&effect, answer);
            } else if let Some(wake) = self.engine.next_wake() {
                self.now = self.now.max(wake);
                self.tell(&Event::Woke);
            } else {
                break;
            }
        }
        self.engine.outcome()
    }

    fn play_well(&mut self) -> Option<Outcome> {
        self.play(|_, _| Fate::Well)
    }

    /// What was asked for a bead, in order.
    fn story(&self, bead: &str) -> Vec<&'static str> {
        let of_bead = self.asked.iter().filter(|(id, _)| id == bead);
        of_bead.map(|(_, action)| *action).collect()
    }

    fn times(&self, bead: &str, action: &str) -> usize {
        let story = self.story(bead);
        story.iter().filter(|name| **name == action).count()
    }

    fn state(&self, bead: &str) -> BeadState {
        let view = self.engine.view();
        let bead = view.beads.into_iter().find(|it| it.id == bead);
        bead.unwrap().state
    }

    fn pass(&mut self, seconds: i64) {
        self.now += SignedDuration::from_secs(seconds);
        self.tell(&Event::Woke);
    }

    /// The action of a bead that was asked for last under a name.
    fn last(&self, bead: &str, name: &str) -> Effect {
        let mut of_bead = self.effects.iter().filter(|it| it.bead.as_str() == bead);
        let last = of_bead.rfind(|it| it.action.name() == name);
        last.unwrap_or_else(|| panic!("{bead} was never asked to {name}"))
            .clone()
    }
}

fn otherwise(answer: Answer) -> Fate {
    Fate::Else(Box::new(Ok(answer)))
}

fn trouble(trouble: Trouble) -> Fate {
    Fate::Else(Box::new(Err(trouble)))
}

fn is_closed(state: &BeadState) -> bool {
    matches!(state, BeadState::Ended(End::Closed { .. }))
}

fn reason(state: &BeadState) -> &str {
    match state {
        BeadState::Ended(End::NeedsPerson { reason }) => reason,
        other => panic!("{other:?}"),
    }
}
