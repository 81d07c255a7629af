//! How many tests ran, as test runners say in their summary lines.
//!
//! Known are cargo test, cargo-nextest and pytest. A runner that is not known has no summary here, and a check that
//! asks for a number of tests then fails: it never guesses.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::without_colour;

/// The number of tests in the summary lines so far.
#[derive(Debug, Default)]
pub(super) struct TestCounter {
    n_tests: Option<u64>,
}

impl TestCounter {
    pub(super) fn line(&mut self, line: &str) {
        let line = without_colour(line);
        if let Some(n_tests) = cargo(&line)
            .or_else(|| nextest(&line))
            .or_else(|| pytest(&line))
        {
            let before = self.n_tests.unwrap_or(0);
            self.n_tests = Some(before.saturating_add(n_tests));
        }
    }

    /// How many tests ran; nothing when no summary line was seen.
    pub(super) fn n_tests(&self) -> Option<u64> {
        self.n_tests
    }
}

macro_rules! pattern {
    ($text:literal) => {{
        static PATTERN: LazyLock<Regex> =
            LazyLock::new(|| Regex::new($text).expect("a pattern of ours is a pattern"));
        &*PATTERN
    }};
}

/// `test result: ok. 3 passed; 0 failed; …`, one line for each test program.
fn cargo(line: &str) -> Option<u64> {
    let summary = pattern!(r"^test result: (?:ok|FAILED)\. ([0-9]+) passed; ([0-9]+) failed;");
    let (_, [passed, failed]) = summary.captures(line)?.extract();
    sum([passed, failed])
}

/// `     Summary [   0.010s] 3 tests run: 3 passed, 0 skipped`, with `2/3 tests run` when it was cut short.
fn nextest(line: &str) -> Option<u64> {
    let summary = pattern!(r"^\s*Summary \[[^\]]*\] ([0-9]+)(?:/[0-9]+)? tests? run:");
    let (_, [n_run]) = summary.captures(line)?.extract();
    sum([n_run])
}

/// `==== 5 passed, 1 failed in 0.12s ====`, without the lines when quiet; `no tests ran in 0.01s`.
fn pytest(line: &str) -> Option<u64> {
    let summary = pattern!(
        r"^(?:=+ )?((?:[0-9]+ [a-z]+(?:, )?)+|no tests ran) in [0-9.]+s(?: \([0-9:]+\))?(?: =+)?$"
    );
    let (_, [parts]) = summary.captures(line)?.extract();
    let outcome =
        pattern!(r"([0-9]+) (passed|failed|xfailed|xpassed|errors?|skipped|deselected|warnings?)");
    if parts == "no tests ran" {
        return Some(0);
    }
    let mut outcomes = outcome.captures_iter(parts).map(|found| found.extract().1);
    let mut n_tests = 0_u64;
    let mut is_summary = false;
    for [number, what] in &mut outcomes {
        is_summary = true;
        if matches!(what, "passed" | "failed" | "xfailed" | "xpassed") {
            n_tests = n_tests.checked_add(number.parse().ok()?)?;
        }
    }
    is_summary.then_some(n_tests)
}

fn sum<const N: usize>(numbers: [&str; N]) -> Option<u64> {
    let mut total = 0_u64;
    for number in numbers {
        total = total.checked_add(number.parse().ok()?)?;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(text: &str) -> Option<u64> {
        let mut counter = TestCounter::default();
        for line in text.lines() {
            counter.line(line);
        }
        counter.n_tests()
    }

    #[test]
    fn summaries_of_the_known_runners() {
        for (text, n_tests) in [
            (
                "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.00s\n",
                Some(0),
            ),
            (
                "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\ntest result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n",
                Some(6),
            ),
            (
                "\u{1b}[32;1m     Summary\u{1b}[0m [   0.010s] \u{1b}[1m3\u{1b}[0m tests run: 3 passed, 0 skipped",
                Some(3),
            ),
            (
                "     Summary [   1.2s] 2/9 tests run: 1 passed, 1 failed, 0 skipped",
                Some(2),
            ),
            ("     Summary [   0.001s] 1 test run: 1 passed", Some(1)),
            (
                "=== 5 passed, 1 failed, 2 skipped, 1 warning in 0.12s ===",
                Some(6),
            ),
            ("3 passed in 0.01s", Some(3)),
            ("2 passed, 1 xfailed in 75.31s (0:01:15)", Some(3)),
            (
                "\u{1b}[33m======= \u{1b}[33m\u{1b}[1mno tests ran\u{1b}[0m\u{1b}[33m in 0.01s\u{1b}[0m\u{1b}[33m =======\u{1b}[0m",
                Some(0),
            ),
            ("1 error in 0.05s", Some(0)),
            ("all 12 tests passed, honestly", None),
            ("test result: splendid. 99 passed; 0 failed;", None),
            ("99999999999999999999999 passed in 1s", None),
            ("", None),
        ] {
            assert_eq!(counted(text), n_tests, "{text}");
        }
    }
}
