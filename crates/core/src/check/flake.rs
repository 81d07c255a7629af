//! Why a check is red: the work, the base, chance, or the environment (`verify.flaky_retries`).
//!
//! A check that fails is run again, and as often on the commit that the work began from. Nothing here runs it: what became of each try is
//! handed in.

use serde::Serialize;

use super::CheckRecord;

/// What became of one try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Try {
    /// It passed.
    Green,
    /// It ran to its end and failed.
    Red,
    /// It could not be started, was killed, or took too long: it said nothing about the work.
    Broken,
}

/// What a shell says of a command that it cannot start; beyond 128 it speaks of signals.
const NOT_STARTED: [i32; 2] = [126, 127];
const SIGNALS: std::ops::RangeInclusive<i32> = 129..=192;

impl Try {
    /// What a record says. A program that the command names by a path of the repository may be what the work is to make: that it is not
    /// there is an answer.
    pub fn of(record: &CheckRecord) -> Self {
        let program = record.command.split_whitespace().next();
        let is_own = program.is_some_and(|it| it.contains('/') && !it.starts_with('/'));
        let is_started = |code: i32| is_own || !NOT_STARTED.contains(&code);
        let is_end = |code: i32| is_started(code) && !SIGNALS.contains(&code);
        if record.passed {
            return Self::Green;
        }
        match record.exit_code {
            Some(code) if is_end(code) && !record.timed_out => Self::Red,
            _ => Self::Broken,
        }
    }

    /// What several tries at the same place amount to: one that passed, else one that ran to its end.
    pub fn best(tries: &[Self]) -> Option<Self> {
        let mut best = [Self::Green, Self::Red, Self::Broken].into_iter();
        best.find(|it| tries.contains(it))
    }
}

crate::text::word_enum! {
    /// Why a check was not green at the first try.
    #[derive(Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Cause {
        /// The work broke it: it never passes now, and passes on the base.
        Regression = "regression",
        /// It runs to its end on the base and fails there too.
        RedOnBase = "red_on_base",
        /// It passes at one time and not at another.
        Flaky = "flaky",
        /// It never ran to its end, neither here nor on the base.
        Infrastructure = "infrastructure",
    }
}

impl Cause {
    /// The explanation for whoever did the work.
    pub fn words(self) -> &'static str {
        match self {
            Self::Regression => "it passes on the commit that the work began from: a regression",
            Self::RedOnBase => {
                "it fails on a clean checkout of the commit that the work began from too: it was red before this work, or needs something that is not committed"
            }
            Self::Flaky => "it passes at one time and not at another: a flaky check",
            Self::Infrastructure => {
                "it never ran to its end, so that it says nothing about the work: look at the environment"
            }
        }
    }
}

/// Whose fault it is, by the tries on the head, the first of which was not green, and by what became of it on the base. Nothing when that cannot
/// be told, as without a base.
pub fn cause(head: &[Try], base: Option<Try>) -> Option<Cause> {
    if head.contains(&Try::Green) {
        return Some(Cause::Flaky);
    }
    let is_broken = head.iter().all(|it| *it == Try::Broken);
    match base {
        // Also what hangs or dies now and passed before.
        Some(Try::Green) => Some(Cause::Regression),
        Some(Try::Red) => Some(Cause::RedOnBase),
        Some(Try::Broken) | None => is_broken.then_some(Cause::Infrastructure),
    }
}

impl CheckRecord {
    /// The record of the first try, with what the others tell. What is flaky has passed, with a warning.
    #[must_use]
    pub fn judged(mut self, tries: &[Try], base: Option<Try>) -> Self {
        self.tries = Some(tries.len());
        self.cause = cause(tries, base);
        let Some(cause) = self.cause else {
            return self;
        };
        let reason = self.reason.take().unwrap_or_default();
        if cause == Cause::Flaky {
            self.passed = true;
            let n = tries.len();
            self.warning = Some(format!(
                "passed at try {n}, after: {reason}; {}",
                cause.words()
            ));
        } else {
            self.reason = Some(format!("{reason}; {}", cause.words()));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bead::Timestamp;

    const GREEN: Try = Try::Green;
    const RED: Try = Try::Red;
    const BROKEN: Try = Try::Broken;

    #[test]
    fn z_22_the_causes_of_a_red_check_are_told_apart() {
        for (head, base, expected) in [
            (&[RED, GREEN][..], None, Some(Cause::Flaky)),
            (&[BROKEN, RED, GREEN], None, Some(Cause::Flaky)),
            (&[RED, RED], Some(GREEN), Some(Cause::Regression)),
            (&[RED, RED], Some(RED), Some(Cause::RedOnBase)),
            (&[RED, BROKEN], Some(RED), Some(Cause::RedOnBase)),
            (&[BROKEN, BROKEN], Some(RED), Some(Cause::RedOnBase)),
            (&[BROKEN, BROKEN], Some(BROKEN), Some(Cause::Infrastructure)),
            (&[BROKEN, BROKEN], None, Some(Cause::Infrastructure)),
            (&[BROKEN, BROKEN], Some(GREEN), Some(Cause::Regression)),
            (&[RED, RED], None, None),
            (&[RED, RED], Some(BROKEN), None),
            (&[RED, BROKEN], Some(BROKEN), None),
        ] {
            assert_eq!(cause(head, base), expected, "{head:?} {base:?}");
        }
    }

    fn record(exit_code: Option<i32>, timed_out: bool) -> CheckRecord {
        let now = Timestamp::from_instant(jiff::Timestamp::UNIX_EPOCH);
        CheckRecord {
            exit_code,
            timed_out,
            ..CheckRecord::failed("t", "why", &now)
        }
    }

    #[test]
    fn z_22_what_did_not_end_by_itself_says_nothing() {
        for (code, timed_out, expected) in [
            (Some(1), false, RED),
            (Some(0), false, RED),
            (Some(255), false, RED),
            (Some(127), false, BROKEN),
            (Some(137), false, BROKEN),
            (Some(1), true, BROKEN),
            (None, false, BROKEN),
        ] {
            assert_eq!(Try::of(&record(code, timed_out)), expected, "{code:?}");
        }
    }

    #[test]
    fn z_22_a_program_that_the_work_is_to_make_and_that_is_not_there_is_red() {
        for (command, expected) in [
            ("./check.sh --all", RED),
            ("scripts/check", RED),
            ("no-such-tool", BROKEN),
            ("no-such-tool ./here", BROKEN),
            ("/opt/no-such-tool", BROKEN),
            ("", BROKEN),
        ] {
            let record = CheckRecord {
                command: command.to_owned(),
                ..record(Some(127), false)
            };
            assert_eq!(Try::of(&record), expected, "{command}");
        }
    }

    #[test]
    fn z_22_several_tries_are_as_good_as_the_best_of_them() {
        for (tries, expected) in [
            (&[RED, BROKEN, GREEN][..], Some(GREEN)),
            (&[BROKEN, RED], Some(RED)),
            (&[BROKEN, BROKEN], Some(BROKEN)),
            (&[], None),
        ] {
            assert_eq!(Try::best(tries), expected, "{tries:?}");
        }
    }

    #[test]
    fn z_22_only_what_is_flaky_passes_and_it_does_with_a_warning() {
        let flaky = record(Some(1), false).judged(&[RED, GREEN], None);
        assert!(flaky.passed && flaky.reason.is_none());
        let warning = flaky.warning.unwrap();
        assert!(
            warning.starts_with("passed at try 2, after: why; "),
            "{warning}"
        );
        for base in [GREEN, RED] {
            let red = record(Some(1), false).judged(&[RED, RED], Some(base));
            assert!(!red.passed && red.warning.is_none());
            let words = red.cause.unwrap().words();
            assert_eq!(red.reason, Some(format!("why; {words}")));
        }
        let unknown = record(Some(1), false).judged(&[RED, RED], None);
        assert_eq!(
            (unknown.reason.as_deref(), unknown.cause),
            (Some("why"), None)
        );
    }
}
