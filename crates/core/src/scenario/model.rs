//! What a scenario is made of, and which turn comes next.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

/// What a scripted model does, by what it is asked.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "super::read::ScenarioDocument")]
pub struct Scenario {
    /// The rules, of which the first that fits counts.
    pub(super) rules: Vec<Rule>,
}

impl Scenario {
    /// The rules, of which the first that fits counts.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The first rule that fits a prompt, and its number, counted from 0.
    pub fn rule_for(&self, prompt: &str) -> Option<(usize, &Rule)> {
        let mut rules = self.rules.iter().enumerate();
        rules.find(|(_, rule)| rule.fits(prompt))
    }
}

/// What is done about some prompts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "super::read::RuleDocument")]
pub struct Rule {
    /// Its name in logs; empty when it has none.
    pub name: String,
    /// What a prompt must have, all of it.
    pub contains: Vec<String>,
    /// What a prompt must not have, any of it.
    pub lacks: Vec<String>,
    /// At least one.
    pub(super) sessions: Vec<Session>,
}

impl Rule {
    /// Whether the rule is for a prompt.
    pub fn fits(&self, prompt: &str) -> bool {
        self.contains.iter().all(|text| prompt.contains(text))
            && !self.lacks.iter().any(|text| prompt.contains(text))
    }

    /// The session that serves the n-th conversation, counted from 1: the n-th, or the last.
    pub fn session(&self, n: usize) -> &Session {
        let last = self.sessions.len() - 1;
        &self.sessions[n.saturating_sub(1).min(last)]
    }
}

/// What happens in one conversation: at least one turn, and the last is not a command, which would be asked for again and
/// again.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Vec<super::read::TurnDocument>")]
pub struct Session {
    pub(super) turns: Vec<Turn>,
}

impl Session {
    /// The turns in their order, each as often as it is to happen.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }
}

/// One answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// What happens.
    pub action: Action,
    /// What it costs.
    pub usage: Usage,
    /// How long the model thinks first.
    pub delay: Duration,
}

/// What happens in a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A command of the shell is run.
    Run(String),
    /// The conversation ends with a text.
    Say(String),
    /// The conversation ends with structured output.
    Report(Value),
    /// The request is refused.
    Fail(Failure),
    /// Nothing happens, for this long or for ever; then the connection is cut.
    Hang(Option<Duration>),
    /// The connection is cut.
    Cut(Cut),
    /// Something comes that the protocol does not know.
    Garbage(String),
}

/// How a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The status of HTTP, from 400 to 599.
    pub status: u16,
    /// After how many seconds to try again.
    pub retry_after: Option<u64>,
    /// When the plan's limit ends, in seconds since 1970.
    pub resets_at: Option<i64>,
    /// The message.
    pub message: String,
}

impl Failure {
    /// Whether programs try again by themselves, as the real ones do also after a 401.
    pub fn is_retried(&self) -> bool {
        self.resets_at.is_none() && matches!(self.status, 401 | 408 | 409 | 429 | 500..)
    }
}

/// When a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cut {
    /// Before the first byte of the answer.
    Before,
    /// In the middle of the answer.
    Midway,
}

/// The tokens of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Read, not from a cache.
    #[serde(default)]
    pub input: u64,
    /// Written.
    #[serde(default)]
    pub output: u64,
    /// Read from a cache.
    #[serde(default)]
    pub cache_read: u64,
    /// Read, and put into a cache.
    #[serde(default)]
    pub cache_write: u64,
}

impl Usage {
    /// Nothing.
    pub const NONE: Self = Self {
        input: 0,
        output: 0,
        cache_read: 0,
        cache_write: 0,
    };
}

/// What a turn costs that does not say so: little, but something, so that sums can be told from nothing.
impl Default for Usage {
    fn default() -> Self {
        Self {
            input: 100,
            output: 20,
            ..Self::NONE
        }
    }
}

/// Where a conversation stands in its session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionProgress {
    /// How many commands had given their results when it was last asked.
    n_results: usize,
    /// How often it was asked with so many results.
    n_asked: usize,
}

impl SessionProgress {
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
    progress: SessionProgress,
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
                progress: SessionProgress::default(),
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
