//! Durations, money, counts, lists and states as people read them: one form of each, on every terminal and page.

use std::time::Duration;

use beads_ralph_core::engine::{BeadState, End, Outcome, Spent};
use beads_ralph_core::text::{excerpt, list_first};
use jiff::Timestamp;
use serde::Serialize;

/// How many names a list has at the most; the others are counted.
const MAX_NAMED: usize = 10;

const MICROS_PER_CENT: u64 = 10_000;

/// `1.5s`, `2m05s`, `1h02m`.
pub(crate) fn duration(time: Duration) -> String {
    match time.as_secs() {
        0..60 => format!("{}.{}s", time.as_secs(), time.subsec_millis() / 100),
        _ => elapsed(time),
    }
}

/// A duration that is drawn while it grows: without the tenths, which nobody can read.
pub(crate) fn elapsed(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

pub(crate) fn milliseconds(milliseconds: u64) -> String {
    duration(Duration::from_millis(milliseconds))
}

pub(crate) fn seconds(seconds: f64) -> String {
    duration(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// How long something took. A clock that was set back makes it nothing.
pub(crate) fn between(began: Timestamp, ended: Timestamp) -> Duration {
    Duration::try_from(ended.duration_since(began)).unwrap_or_default()
}

/// `$0.0042`, `$1.23`, `$1,234.50`: a run of a small model may cost less than a cent.
pub(crate) fn money(micros: u64) -> String {
    let dollars = count(micros / 1_000_000);
    let rest = micros % 1_000_000;
    match micros {
        1..100_000 => format!("$0.{:04}", rest / 100),
        _ => format!("${dollars}.{:02}", rest / MICROS_PER_CENT),
    }
}

/// Money as receipts and models have it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast saturates, and nobody spends so much"
)]
pub(crate) fn dollars(usd: f64) -> String {
    money((usd * 1e6).round() as u64)
}

/// What something cost, as far as agents reported it.
pub(crate) fn cost(spent: &Spent) -> String {
    match (spent.micros, spent.n_unpriced) {
        (0, 1..) => "unknown".to_owned(),
        (micros, 0) => money(micros),
        (micros, _) => format!("at least {}", money(micros)),
    }
}

/// Cost, tokens and time in one phrase.
pub(crate) fn spending(spent: &Spent) -> String {
    let unpriced = match spent.n_unpriced {
        0 => String::new(),
        n => format!(
            " ({} reported no cost)",
            counted(n as usize, "agent run", "agent runs")
        ),
    };
    format!(
        "cost {}{unpriced}, {} tokens, agents ran for {}",
        cost(spent),
        count(spent.tokens),
        milliseconds(spent.time_ms)
    )
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// A number with commas between thousands.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Names, made harmless: `a, b, c and 3 more`.
pub(crate) fn list(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    list_of(names, MAX_NAMED)
}

/// Names, no more than a number of them.
pub(crate) fn list_of(names: impl IntoIterator<Item = impl AsRef<str>>, most: usize) -> String {
    let names: Vec<_> = names.into_iter().collect();
    list_first(&names, most, |name| excerpt(name.as_ref()))
}

/// In one word, for programs and as a class of the page.
pub(crate) fn state_word(state: &BeadState) -> &'static str {
    match state {
        BeadState::Waiting { .. } | BeadState::HeldBack { .. } => "waiting",
        BeadState::Ready => "ready",
        BeadState::Working { .. } => "working",
        BeadState::Held { .. } => "held",
        BeadState::Blocked | BeadState::Ended(End::NeedsPerson { .. }) => "needs_person",
        BeadState::Closed | BeadState::Ended(End::Closed { .. }) => "closed",
        BeadState::Ended(End::Released) => "released",
        BeadState::Ended(End::Lost { .. }) => "lost",
    }
}

pub(crate) fn state_words(state: &BeadState) -> String {
    match state {
        BeadState::Waiting { on } => format!("waits for {}", on.join(", ")),
        BeadState::HeldBack { why } => why.clone(),
        BeadState::Ready => "ready".to_owned(),
        BeadState::Working { phase, .. } => phase.as_str().to_owned(),
        BeadState::Held { by } => format!("held by {by}"),
        BeadState::Blocked => "needs attention".to_owned(),
        BeadState::Closed => "closed earlier".to_owned(),
        BeadState::Ended(End::Closed { .. }) => "closed".to_owned(),
        BeadState::Ended(End::NeedsPerson { reason }) => format!("needs attention: {reason}"),
        BeadState::Ended(End::Released) => "released".to_owned(),
        BeadState::Ended(End::Lost { reason }) => format!("taken by another holder: {reason}"),
    }
}

/// How a run ended, in words, for people.
pub(crate) fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::NeedsPerson => "needs attention".to_owned(),
        other => other.as_str().replace('_', " "),
    }
}

/// A command to type next, and what for.
#[derive(Debug, Serialize)]
pub(crate) struct Next {
    pub(crate) command: String,
    pub(crate) purpose: &'static str,
}

impl Next {
    pub(crate) fn new(command: impl Into<String>, purpose: &'static str) -> Self {
        Self {
            command: command.into(),
            purpose,
        }
    }
}

/// Commands to type next, one a line.
pub(crate) fn next_steps(steps: &[Next], indent: &str) -> String {
    let width = steps.iter().map(|next| next.command.chars().count());
    let width = width.max().unwrap_or(0);
    let line =
        |Next { command, purpose }: &Next| format!("{indent}{command:<width$}  # {purpose}\n");
    steps.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_units_at_the_most() {
        for (time, expected) in [
            (0, "0.0s"),
            (1_560, "1.5s"),
            (59_999, "59.9s"),
            (125_000, "2m05s"),
            (3_723_000, "1h02m"),
            (360_000_000, "100h00m"),
        ] {
            assert_eq!(milliseconds(time), expected);
        }
        assert_eq!(elapsed(Duration::from_millis(1_560)), "1s");
    }

    #[test]
    fn money_says_what_is_not_known() {
        let spent = |micros, n_unpriced| Spent {
            micros,
            n_unpriced,
            ..Spent::default()
        };
        for (micros, n_unpriced, expected) in [
            (0, 0, "$0.00"),
            (4_200, 0, "$0.0042"),
            (1_239_999, 0, "$1.23"),
            (1_234_500_000, 0, "$1,234.50"),
            (0, 2, "unknown"),
            (1_000_000, 1, "at least $1.00"),
        ] {
            assert_eq!(cost(&spent(micros, n_unpriced)), expected);
        }
        assert_eq!(
            spending(&spent(1_000_000, 1)),
            "cost at least $1.00 (1 agent run reported no cost), 0 tokens, agents ran for 0.0s"
        );
    }

    #[test]
    fn lists_end_where_nobody_reads_on() {
        assert_eq!(list(["a", "b"]), "a, b");
        assert_eq!(list_of(["a", "b", "c\n"], 2), "a, b and 1 more");
        assert_eq!(list(Vec::<String>::new()), "");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(12), "12");
    }
}
