//! What the rules found in the objects that a program printed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::Is;
use super::rule::{Counter, Field, Reading, Rule, Source};
use crate::agent::reader::MAX_TEXT;
use crate::agent::{Pointer, Price, Status, Tokens};

/// No id that we know is longer.
const MAX_ID: usize = 1000;

/// How many denials are kept; an agent that goes on trying is not worth a longer list.
const MAX_DENIALS: usize = 100;

/// Later than any count of seconds: a time in milliseconds.
const MILLISECONDS: f64 = 1e11;

/// What the rules found so far.
#[derive(Debug)]
pub(in crate::agent) struct Observed<'r> {
    reading: &'r Reading,
    /// The last value of `once` for each rule that has it.
    once: Vec<Option<Value>>,
    counters: BTreeMap<Counter, f64>,
    estimates: BTreeMap<Counter, f64>,
    pub(in crate::agent) session: Option<String>,
    pub(in crate::agent) model_id: Option<String>,
    pub(in crate::agent) text: Option<String>,
    pub(in crate::agent) error: Option<String>,
    pub(in crate::agent) report: Option<Value>,
    pub(in crate::agent) resets_at: Option<Timestamp>,
    /// Denials that were told on the way; the list of a last word is better.
    denials: Vec<String>,
    last_denials: Vec<String>,
    n_pending: usize,
    pub(in crate::agent) activity: Option<String>,
    pub(in crate::agent) suspect: Option<Status>,
    pub(in crate::agent) last_word: Option<LastWord>,
}

/// What a program said last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::agent) struct LastWord {
    pub(in crate::agent) status: Status,
    pub(in crate::agent) is_retryable: Option<bool>,
    /// How many things it had started and waited for when it said so.
    pub(in crate::agent) n_pending: usize,
}

/// What a run has spent so far, as far as that can be seen.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SpentSoFar {
    /// How often the model was asked.
    pub turns: Option<u64>,
    /// Tokens of all kinds.
    pub tokens: Tokens,
    /// US dollars.
    pub usd: Option<f64>,
}

/// What one object says, before it counts.
#[derive(Default)]
struct Word {
    ends: Option<Status>,
    retry: Option<bool>,
    denials: Vec<String>,
}

impl<'r> Observed<'r> {
    pub(in crate::agent) fn new(reading: &'r Reading) -> Self {
        Self {
            reading,
            once: vec![None; reading.rules.len()],
            counters: BTreeMap::new(),
            estimates: BTreeMap::new(),
            session: None,
            model_id: None,
            text: None,
            error: None,
            report: None,
            resets_at: None,
            denials: Vec::new(),
            last_denials: Vec::new(),
            n_pending: 0,
            activity: None,
            suspect: None,
            last_word: None,
        }
    }

    /// Applies all rules to an object.
    pub(in crate::agent) fn event(&mut self, value: &Value) {
        let reading = self.reading;
        let mut word = Word::default();
        for (at, rule) in reading.rules.iter().enumerate() {
            if holds(&rule.when, value) && self.is_new(at, rule, value) {
                self.apply(rule, value, &mut word);
            }
        }
        let denials = match word.ends {
            Some(_) => &mut self.last_denials,
            None => &mut self.denials,
        };
        for denial in word.denials {
            if denials.len() < MAX_DENIALS && !denials.contains(&denial) {
                denials.push(denial);
            }
        }
        if let Some(status) = word.ends {
            // What is reported now includes what was counted on the way.
            let Self {
                counters,
                estimates,
                ..
            } = self;
            estimates.retain(|counter, _| !counters.contains_key(counter));
            self.last_word = Some(LastWord {
                status,
                is_retryable: word.retry,
                n_pending: self.n_pending,
            });
        }
    }

    /// What it was not allowed to do, each once.
    pub(in crate::agent) fn denials(&self) -> &[String] {
        if self.last_denials.is_empty() {
            &self.denials
        } else {
            &self.last_denials
        }
    }

    /// Whether it has said its last word, and waits for nothing.
    pub(in crate::agent) fn is_over(&self) -> bool {
        self.last_word.is_some_and(|last| last.n_pending == 0)
    }

    fn is_new(&mut self, at: usize, rule: &Rule, value: &Value) -> bool {
        let Some(once) = &rule.once else {
            return true;
        };
        let found = once.first(value);
        if found.is_some() && found == self.once[at].as_ref() {
            return false;
        }
        self.once[at] = found.cloned();
        true
    }

    fn apply(&mut self, rule: &Rule, value: &Value, word: &mut Word) {
        match &rule.each {
            None => self.apply_to(rule, value, word),
            Some(each) => {
                for item in items(each, value) {
                    if holds(&rule.of, item) {
                        self.apply_to(rule, item, word);
                    }
                }
            }
        }
    }

    fn apply_to(&mut self, rule: &Rule, value: &Value, word: &mut Word) {
        for (field, source) in &rule.take {
            self.take(*field, source, value);
        }
        for (field, source) in &rule.add {
            match field.counter() {
                Some(counter) => add(&mut self.counters, counter, source, value),
                None => self.append(source, value),
            }
        }
        for (counter, source) in &rule.estimate {
            add(&mut self.estimates, *counter, source, value);
        }
        if let Some(said) = rule.say.as_ref().and_then(|say| say.of(value)) {
            self.activity = Some(said);
        }
        if let Some(denied) = rule.deny.as_ref().and_then(|deny| deny.of(value)) {
            word.denials.push(denied);
        }
        if let Some(suspect) = rule.suspect {
            self.suspect = suspect.status();
        }
        if let Some(pending) = &rule.pending {
            self.n_pending = items(pending, value).len();
        }
        if rule.goes_on {
            self.last_word = None;
        }
        if word.ends.is_none() {
            word.ends = rule.ends;
        }
        if word.retry.is_none() {
            word.retry = rule.retry;
        }
    }

    fn take(&mut self, field: Field, source: &Source, value: &Value) {
        if let Some(counter) = field.counter() {
            if let Some(number) = source.number(value) {
                self.counters.insert(counter, number);
            }
            return;
        }
        match field {
            Field::Session => replace(&mut self.session, id(source, value)),
            Field::ModelId => replace(&mut self.model_id, id(source, value)),
            Field::Text => replace(&mut self.text, source.text(value)),
            Field::Error => replace(&mut self.error, source.text(value)),
            Field::Report => replace(&mut self.report, source.value(value).cloned()),
            Field::ResetsAt => replace(&mut self.resets_at, source.value(value).and_then(time)),
            Field::Turns
            | Field::Cost
            | Field::InputTokens
            | Field::OutputTokens
            | Field::CacheReadTokens
            | Field::CacheWriteTokens
            | Field::ReasoningTokens => {}
        }
    }

    /// Adds a piece to the answer, which some programs print in pieces.
    fn append(&mut self, source: &Source, value: &Value) {
        if let Some(piece) = source.text(value) {
            let text = self.text.get_or_insert_default();
            if text.len() + piece.len() <= MAX_TEXT {
                text.push_str(&piece);
            }
        }
    }

    /// Whether tokens were reported, and not only counted on the way.
    pub(in crate::agent) fn has_tokens(&self) -> bool {
        let mut counters = self.counters.keys();
        counters.any(|counter| !matches!(counter, Counter::Turns | Counter::Cost))
    }

    /// Whether there are tokens that were only counted on the way.
    pub(in crate::agent) fn has_estimate(&self) -> bool {
        let mut counters = self.estimates.keys();
        counters.any(|counter| !matches!(counter, Counter::Turns | Counter::Cost))
    }

    /// What was reported, and what was counted since.
    fn count(&self, counter: Counter) -> Option<f64> {
        let (reported, counted) = (self.counters.get(&counter), self.estimates.get(&counter));
        match (reported, counted) {
            (None, None) => None,
            (reported, counted) => Some(reported.unwrap_or(&0.0) + counted.unwrap_or(&0.0)),
        }
    }

    /// The tokens that were reported, and those that were counted since.
    pub(in crate::agent) fn tokens(&self) -> Tokens {
        let count = |counter: Counter| self.count(counter).map_or(0, whole);
        let mut tokens = Tokens {
            input: count(Counter::InputTokens),
            output: count(Counter::OutputTokens),
            cache_read: count(Counter::CacheReadTokens),
            cache_write: count(Counter::CacheWriteTokens),
            reasoning: count(Counter::ReasoningTokens),
        };
        if self.reading.is_cache_in_input {
            let cached = tokens.cache_read.saturating_add(tokens.cache_write);
            tokens.input = tokens.input.saturating_sub(cached);
        }
        tokens
    }

    /// The turns that were reported, and those that were counted since.
    pub(in crate::agent) fn turns(&self) -> Option<u64> {
        self.count(Counter::Turns).map(whole)
    }

    /// The money that was reported.
    pub(in crate::agent) fn cost(&self) -> Option<f64> {
        self.count(Counter::Cost)
    }

    /// What was spent so far. Before the last word of a program whose counters are those of a whole session, nothing is known.
    pub(in crate::agent) fn spent(&self, price: Option<Price>) -> SpentSoFar {
        let is_known = !(self.reading.is_cumulative && self.has_tokens());
        let tokens = if is_known {
            self.tokens()
        } else {
            Tokens::default()
        };
        let computed = || {
            let price = price.filter(|_| tokens.total() > 0)?;
            Some(price.of(&tokens))
        };
        SpentSoFar {
            turns: self.turns(),
            tokens,
            usd: self.cost().or_else(computed),
        }
    }
}

impl Reading {
    /// What an object says to people about the agent, a line for each thing; nothing when it says none.
    pub fn said(&self, object: &Value) -> Vec<String> {
        let mut said = Vec::new();
        for rule in self.rules.iter().filter(|rule| holds(&rule.when, object)) {
            let Some(say) = &rule.say else { continue };
            match &rule.each {
                None => said.extend(say.of(object)),
                Some(each) => {
                    let items = items(each, object).into_iter();
                    let fitting = items.filter(|item| holds(&rule.of, item));
                    said.extend(fitting.filter_map(|item| say.of(item)));
                }
            }
        }
        said
    }
}

fn holds(conditions: &BTreeMap<Pointer, Is>, value: &Value) -> bool {
    let mut conditions = conditions.iter();
    conditions.all(|(place, is)| is.holds(place.first(value)))
}

fn items<'v>(each: &Pointer, value: &'v Value) -> Vec<&'v Value> {
    let lists = each.find(value).into_iter();
    lists
        .flat_map(|list| match list {
            Value::Array(items) => items.iter().collect::<Vec<_>>(),
            Value::Object(members) => members.values().collect(),
            _ => Vec::new(),
        })
        .collect()
}

fn add(counters: &mut BTreeMap<Counter, f64>, counter: Counter, source: &Source, value: &Value) {
    if let Some(number) = source.number(value) {
        *counters.entry(counter).or_default() += number;
    }
}

fn replace<T>(slot: &mut Option<T>, found: Option<T>) {
    if found.is_some() {
        *slot = found;
    }
}

fn id(source: &Source, value: &Value) -> Option<String> {
    let text = source.text(value)?;
    Some(text.chars().take(MAX_ID).collect())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is not negative, and what is larger than a count can be is cut to the largest"
)]
fn whole(number: f64) -> u64 {
    number as u64
}

/// A time as programs write it: seconds or milliseconds since 1970, or a text.
fn time(value: &Value) -> Option<Timestamp> {
    if let Some(text) = value.as_str() {
        return text.parse().ok();
    }
    let number = value.as_f64().filter(|number| *number > 0.0)?;
    let seconds = if number > MILLISECONDS {
        number / 1000.0
    } else {
        number
    };
    Timestamp::from_second(i64::try_from(whole(seconds)).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reading(yaml: &str) -> Reading {
        serde_saphyr::from_str(yaml).unwrap()
    }

    #[test]
    fn counters_are_taken_added_and_estimated() {
        let reading = reading(
            "rules:
  - when: {/t: step}
    once: /id
    estimate: {turns: 1, output_tokens: /n}
  - when: {/t: end}
    take: {turns: /turns}
    add: {output_tokens: /by/*/n}
    ends: ok
",
        );
        let mut seen = Observed::new(&reading);
        for event in [
            json!({"t": "step", "id": "a", "n": 5}),
            json!({"t": "step", "id": "a", "n": 5}),
            json!({"t": "step", "id": "b", "n": 7}),
            json!({"t": "step", "n": 1}),
            json!({"t": "step", "n": -9}),
        ] {
            seen.event(&event);
        }
        assert_eq!((seen.turns(), seen.tokens().output), (Some(4), 13));
        assert!(seen.has_estimate() && !seen.has_tokens());
        seen.event(&json!({"t": "end", "turns": 9, "by": {"x": {"n": 2}, "y": {"n": 3}}}));
        seen.event(&json!({"t": "end", "by": {"x": {"n": 2}}}));
        assert_eq!((seen.turns(), seen.tokens().output), (Some(9), 7));
        assert!(!seen.has_estimate());
        seen.event(&json!({"t": "step", "id": "c", "n": 5}));
        assert_eq!(
            (seen.turns(), seen.tokens().output),
            (Some(10), 12),
            "another round"
        );
        assert!(seen.has_estimate());
    }

    #[test]
    fn the_first_end_of_an_object_and_the_last_of_several_counts() {
        let reading = reading(
            "rules:
  - {when: {/t: end, /bad: true}, ends: failed, retry: false}
  - {when: {/t: end}, ends: ok}
",
        );
        let mut seen = Observed::new(&reading);
        seen.event(&json!({"t": "end", "bad": true}));
        assert_eq!(seen.last_word.unwrap().status, Status::Failed);
        assert_eq!(seen.last_word.unwrap().is_retryable, Some(false));
        seen.event(&json!({"t": "end"}));
        assert_eq!(seen.last_word.unwrap().status, Status::Ok);
    }

    #[test]
    fn times_are_seconds_or_milliseconds_or_texts() {
        let expected = "2026-11-15T15:50:23Z".parse().ok();
        for value in [
            json!(1_794_757_823),
            json!(1_794_757_823_000_u64),
            json!("2026-11-15T15:50:23Z"),
        ] {
            assert_eq!(time(&value), expected, "{value}");
        }
        for value in [json!(0), json!(-5), json!("soon"), json!(1e300), json!({})] {
            assert_eq!(time(&value), None, "{value}");
        }
    }
}
