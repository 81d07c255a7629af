//! What a run's journal says about the world: how long everything took, and what came of it.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::bead::BeadId;
use crate::engine::{Action, AgentReport, Answer, Effect, EffectId, Entry, Event, Trouble};

/// What a duration and an answer belong to, whatever happens to other beads meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The bead.
    pub bead: BeadId,
    /// The kind of action.
    pub kind: &'static str,
    /// The attempt; 0 for what belongs to none.
    pub attempt: u32,
    /// Which agent of the bead.
    pub agent: usize,
    /// The how manyth time that it was asked for.
    pub nth: u32,
}

/// Counts what is asked for.
#[derive(Debug, Default)]
pub(super) struct Counter(BTreeMap<(BeadId, &'static str, u32, usize), u32>);

impl Counter {
    pub(super) fn key(&mut self, effect: &Effect) -> Key {
        let action = &effect.action;
        let (bead, kind) = (effect.bead.clone(), action.name());
        let (attempt, agent) = (action.attempt().unwrap_or(0), agent(action));
        let nth = self
            .0
            .entry((bead.clone(), kind, attempt, agent))
            .or_default();
        *nth += 1;
        Key {
            bead,
            kind,
            attempt,
            agent,
            nth: *nth,
        }
    }
}

fn agent(action: &Action) -> usize {
    match action {
        Action::Develop { agent, .. } | Action::Judge { agent, .. } => *agent,
        _ => 0,
    }
}

/// What came of an effect.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    pub(super) issued_at: Timestamp,
    pub(super) took: SignedDuration,
    /// Whose account an agent used.
    pub(super) account: Option<String>,
    /// The entry of the answer.
    pub(super) seq: u64,
    pub(super) answer: Result<Answer, Trouble>,
}

/// Something that was asked for and not answered yet.
struct Asked {
    key: Key,
    at: Timestamp,
    account: Option<String>,
}

impl Memory {
    /// The answer, had it been asked for at another time.
    pub(super) fn answer_at(&self, issued_at: Timestamp) -> Result<Answer, Trouble> {
        let mut answer = self.answer.clone();
        let late = issued_at.duration_since(self.issued_at);
        if let Ok(
            Answer::Ended { report } | Answer::Judged { report, .. } | Answer::Led { report, .. },
        ) = &mut answer
        {
            move_report(report, late);
        }
        answer
    }
}

fn move_report(report: &mut AgentReport, late: SignedDuration) {
    let moved = |at: Timestamp| at.checked_add(late).unwrap_or(at);
    report.started_at = moved(report.started_at);
    report.ended_at = moved(report.ended_at);
    report.resets_at = report.resets_at.map(moved);
}

/// What a run's journal says about the world.
#[derive(Debug, Clone)]
pub struct Recorded {
    began: Timestamp,
    /// What was never answered stands there without a memory.
    memories: BTreeMap<Key, Option<Memory>>,
    /// What happened besides answers.
    others: Vec<(Timestamp, u64, Event)>,
}

impl Recorded {
    /// Reads it off a journal; nothing when nothing happened in it.
    pub fn new(entries: &[Entry]) -> Option<Self> {
        let mut recorded = Self {
            began: entries.first()?.at,
            memories: BTreeMap::new(),
            others: Vec::new(),
        };
        let mut pending: BTreeMap<EffectId, Asked> = BTreeMap::new();
        let mut counter = Counter::default();
        for entry in entries {
            recorded.take_event(entry, &mut pending);
            let asked = entry.effects.iter();
            for effect in asked.filter(|effect| effect.action != Action::Cancel) {
                let asked = Asked {
                    key: counter.key(effect),
                    at: entry.at,
                    account: effect.action.launch().map(|it| it.account.clone()),
                };
                // Asked for again: the first time was never answered.
                if let Some(asked) = pending.insert(effect.id, asked) {
                    recorded.memories.insert(asked.key, None);
                }
            }
        }
        for asked in pending.into_values() {
            recorded.memories.insert(asked.key, None);
        }
        Some(recorded)
    }

    fn take_event(&mut self, entry: &Entry, pending: &mut BTreeMap<EffectId, Asked>) {
        match &entry.event {
            Event::Answered { effect, answer } => {
                // An answer that came twice is nobody's; it happens again as it did.
                let Some(asked) = pending.remove(effect) else {
                    let event = entry.event.clone();
                    return self.others.push((entry.at, entry.seq, event));
                };
                let memory = Memory {
                    issued_at: asked.at,
                    took: entry.at.duration_since(asked.at),
                    account: asked.account,
                    seq: entry.seq,
                    answer: (**answer).clone(),
                };
                self.memories.insert(asked.key, Some(memory));
            }
            event => self.others.push((entry.at, entry.seq, event.clone())),
        }
    }

    /// When the run began.
    pub fn began(&self) -> Timestamp {
        self.began
    }

    /// The beads as they were when the run began.
    pub fn tasks(&self) -> Vec<crate::engine::Task> {
        let seen = self.others.iter().find_map(|(_, _, event)| match event {
            Event::Seen { tasks, .. } => Some(tasks.clone()),
            _ => None,
        });
        seen.unwrap_or_default()
    }

    pub(super) fn others(&self) -> &[(Timestamp, u64, Event)] {
        &self.others
    }

    /// What came of something, if it was done in that run; nothing inside when it was never answered.
    pub(super) fn memory(&self, key: &Key) -> Option<&Option<Memory>> {
        self.memories.get(key)
    }

    /// Everything that was answered.
    pub(super) fn answered(&self) -> impl Iterator<Item = (&Key, &Memory)> {
        (self.memories.iter()).filter_map(|(key, memory)| Some((key, memory.as_ref()?)))
    }
}
