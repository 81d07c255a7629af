//! Performing a scenario: which turn comes next.

use std::collections::BTreeMap;

use super::model::{Action, Rule, Scenario, Session, Turn};

/// Where a conversation stands in its session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// How many commands had given their results when it was last asked.
    n_results: usize,
    /// How often it was asked with so many results.
    n_asked: usize,
}

impl Progress {
    /// The number of the turn that is next, counted from 0, when so many commands have given their results.
    ///
    /// Whoever asks again before a command's result is there gets the same command; after any other turn he gets the next
    /// one, and after the last one the last again.
    pub fn next(&mut self, session: &Session, n_results: usize) -> usize {
        if self.n_results != n_results {
            *self = Self {
                n_results,
                n_asked: 0,
            };
        }
        let turns = session.turns();
        let last = turns.len() - 1;
        let mut next = first_after(turns, n_results).min(last);
        for _ in 0..self.n_asked {
            if next == last || is_command(&turns[next]) {
                break;
            }
            next += 1;
        }
        self.n_asked += 1;
        next
    }
}

/// The turn after so many commands.
fn first_after(turns: &[Turn], n_commands: usize) -> usize {
    let commands = turns
        .iter()
        .enumerate()
        .filter(|(_, turn)| is_command(turn));
    let mut ends = commands.map(|(position, _)| position + 1);
    match n_commands.checked_sub(1) {
        None => 0,
        Some(n) => ends.nth(n).unwrap_or(turns.len()),
    }
}

fn is_command(turn: &Turn) -> bool {
    matches!(turn.action, Action::Run(_))
}

/// A scenario that is being performed, in any number of conversations at once.
#[derive(Debug)]
pub struct Play {
    scenario: Scenario,
    /// How many conversations each rule has served.
    n_served: Vec<usize>,
    conversations: BTreeMap<String, Conversation>,
}

#[derive(Debug)]
struct Conversation {
    rule: usize,
    n_session: usize,
    progress: Progress,
}

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cue<'play> {
    /// By which rule.
    pub rule: &'play Rule,
    /// The how-many-th conversation of that rule this is, counted from 1.
    pub n_session: usize,
    /// The how-many-th turn of the session this is, counted from 1.
    pub n_turn: usize,
    /// The turn.
    pub turn: &'play Turn,
}

impl Play {
    /// A performance that has not begun.
    pub fn new(scenario: Scenario) -> Self {
        Self {
            n_served: vec![0; scenario.rules().len()],
            conversations: BTreeMap::new(),
            scenario,
        }
    }

    /// What is to be done in a conversation in which so many commands have given their results; nothing when no rule fits.
    /// The prompt counts when the conversation begins: it belongs to one rule and one session from then on.
    pub fn next(&mut self, conversation: &str, prompt: &str, n_results: usize) -> Option<Cue<'_>> {
        if !self.conversations.contains_key(conversation) {
            let (rule, _) = self.scenario.rule_for(prompt)?;
            self.n_served[rule] += 1;
            let begun = Conversation {
                rule,
                n_session: self.n_served[rule],
                progress: Progress::default(),
            };
            self.conversations.insert(conversation.to_owned(), begun);
        }
        let current = self.conversations.get_mut(conversation)?;
        let rule = &self.scenario.rules()[current.rule];
        let session = rule.session(current.n_session);
        let next = current.progress.next(session, n_results);
        Some(Cue {
            rule,
            n_session: current.n_session,
            n_turn: next + 1,
            turn: &session.turns()[next],
        })
    }
}
