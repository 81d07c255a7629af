//! One check, judged while its command runs.

use std::time::Duration;

use super::stream::{Decoder, Lines, Search};
use super::test_count::TestCounter;
use crate::bead::{Expect, Pattern};
use crate::text::excerpt;

/// What the shell says when there is no such command.
const NOT_FOUND: i32 = 127;

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// With this code.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It took longer than it may.
    TimedOut(Duration),
    /// It could not be started.
    NotStarted(String),
    /// It was stopped because somebody wanted everything to stop.
    Cancelled,
    /// How is not known, or not all of its output is: the reason.
    Lost(String),
}

impl Finish {
    /// The code as a shell would give it (V-6).
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(*code),
            Self::Signalled(signal) => Some(128 + signal),
            Self::TimedOut(_) | Self::NotStarted(_) | Self::Cancelled | Self::Lost(_) => None,
        }
    }
}

/// What is looked for in one stream.
#[derive(Debug)]
struct Sought<'a> {
    decoder: Decoder,
    lines: Lines,
    contains: Option<Search>,
    matches: Option<&'a Pattern>,
    is_matched: bool,
    counter: Option<TestCounter>,
}

impl<'a> Sought<'a> {
    fn new(contains: Option<&str>, matches: Option<&'a Pattern>, has_counter: bool) -> Self {
        Self {
            decoder: Decoder::default(),
            lines: Lines::default(),
            contains: contains.map(Search::new),
            matches,
            is_matched: false,
            counter: has_counter.then(TestCounter::default),
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        // Most checks look for nothing, and then gigabytes of output cost nothing here.
        if self.contains.is_some() || self.wants_lines() {
            let mut decoder = std::mem::take(&mut self.decoder);
            self.text(&decoder.push(bytes));
            self.decoder = decoder;
        }
    }

    fn finish(&mut self) {
        let rest = self.decoder.finish();
        self.text(&rest);
        let mut lines = std::mem::take(&mut self.lines);
        lines.finish(|line| self.line(line));
    }

    fn text(&mut self, text: &str) {
        if let Some(search) = &mut self.contains {
            search.push(text);
        }
        if self.wants_lines() {
            let mut lines = std::mem::take(&mut self.lines);
            lines.push(text, |line| self.line(line));
            self.lines = lines;
        }
    }

    fn wants_lines(&self) -> bool {
        self.counter.is_some() || (self.matches.is_some() && !self.is_matched)
    }

    fn line(&mut self, line: &str) {
        if let Some(counter) = &mut self.counter {
            counter.line(line);
        }
        let matches = self.matches.is_some_and(|pattern| pattern.is_match(line));
        self.is_matched |= matches;
    }

    fn lacks(&self) -> Option<&str> {
        let search = self.contains.as_ref()?;
        (!search.is_found).then(|| search.needle())
    }

    fn mismatch(&self) -> Option<&'a Pattern> {
        self.matches.filter(|_| !self.is_matched)
    }
}

/// Judges a command by all that it writes and by how it ends.
#[derive(Debug)]
pub struct Judge<'a> {
    expect: &'a Expect,
    stdout: Sought<'a>,
    stderr: Sought<'a>,
}

impl<'a> Judge<'a> {
    /// Somebody who knows what is expected.
    pub fn new(expect: &'a Expect) -> Self {
        let counts = expect.min_tests.is_some();
        let (out, err) = (&expect.stdout_contains, &expect.stderr_contains);
        Self {
            expect,
            stdout: Sought::new(out.as_deref(), expect.stdout_matches.as_ref(), counts),
            stderr: Sought::new(err.as_deref(), expect.stderr_matches.as_ref(), counts),
        }
    }

    /// A piece of standard output.
    pub fn stdout(&mut self, bytes: &[u8]) {
        self.stdout.push(bytes);
    }

    /// A piece of standard error.
    pub fn stderr(&mut self, bytes: &[u8]) {
        self.stderr.push(bytes);
    }

    /// Why the check failed, or nothing. The first thing that is wrong is the reason (V-6).
    pub fn finish(mut self, finish: &Finish) -> Option<String> {
        self.stdout.finish();
        self.stderr.finish();
        ended_badly(finish, self.expect.exit_code).or_else(|| self.missing())
    }

    fn missing(&self) -> Option<String> {
        let lacks = |stream: &str, sought: &Sought<'_>| {
            let needle = sought.lacks()?;
            Some(format!("{stream} does not contain: {needle}"))
        };
        let mismatch = |stream: &str, sought: &Sought<'_>| {
            let pattern = sought.mismatch()?;
            Some(format!("{stream} does not match: {}", pattern.as_str()))
        };
        lacks("stdout", &self.stdout)
            .or_else(|| lacks("stderr", &self.stderr))
            .or_else(|| mismatch("stdout", &self.stdout))
            .or_else(|| mismatch("stderr", &self.stderr))
            .or_else(|| self.too_few_tests())
    }

    fn too_few_tests(&self) -> Option<String> {
        let least = self.expect.min_tests?;
        let counters = [&self.stdout.counter, &self.stderr.counter];
        let counts: Vec<u64> = (counters.into_iter().flatten())
            .filter_map(TestCounter::n_tests)
            .collect();
        if counts.is_empty() {
            return Some(format!(
                "No test summary found (expected at least {least} tests; cargo test, nextest and pytest are understood)"
            ));
        }
        let n_tests = counts.iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
        (n_tests < least).then(|| format!("Tests run: {n_tests} (expected at least {least})"))
    }
}

/// What is wrong with how a command ended. A command that was not found and one that was killed never pass, whatever is
/// expected of them: nothing was checked.
fn ended_badly(finish: &Finish, expected: i32) -> Option<String> {
    match finish {
        Finish::Exited(NOT_FOUND) if expected == NOT_FOUND => Some(format!(
            "Exit code {NOT_FOUND}: the command was not found, so nothing was checked"
        )),
        Finish::Exited(code) if *code == expected => None,
        Finish::Signalled(signal) if 128 + signal == expected => {
            Some(format!("Killed by signal {signal}, so nothing was checked"))
        }
        Finish::Exited(_) | Finish::Signalled(_) => {
            let code = finish.exit_code().unwrap_or_default();
            Some(format!("Exit code {code} (expected {expected})"))
        }
        Finish::TimedOut(limit) => Some(format!(
            "Verifier timed out after {}s",
            limit.as_secs_f64().ceil()
        )),
        Finish::NotStarted(reason) => Some(format!("Exception: {reason}")),
        Finish::Cancelled => Some("Cancelled".to_owned()),
        Finish::Lost(reason) => Some(format!("Result lost: {}", excerpt(reason))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::bead::Dod;

    fn judged(expect: &Value, stdout: &str, finish: &Finish) -> Option<String> {
        let dod = json!({"verifiers": [{"command": "x", "expect": expect}]});
        let dod = Dod::from_document(&dod).unwrap();
        let mut judge = Judge::new(&dod.verifiers[0].expect);
        for byte in stdout.bytes() {
            judge.stdout(&[byte]);
        }
        judge.finish(finish)
    }

    fn reason(expect: &Value, stdout: &str) -> Option<String> {
        judged(expect, stdout, &Finish::Exited(0))
    }

    #[test]
    fn v_6_the_first_failing_check_is_the_reason() {
        let all = json!({"exit_code": 3, "stdout_contains": "a", "stderr_contains": "b"});
        let code = judged(&all, "", &Finish::Exited(0));
        assert_eq!(code.as_deref(), Some("Exit code 0 (expected 3)"));
        let out = judged(&all, "", &Finish::Exited(3));
        assert_eq!(out.as_deref(), Some("stdout does not contain: a"));
        let err = judged(&all, "xax", &Finish::Exited(3));
        assert_eq!(err.as_deref(), Some("stderr does not contain: b"));
    }

    #[test]
    fn v_6_the_table_of_endings() {
        let ended = |finish: &Finish| judged(&json!({}), "", finish);
        for (finish, reason) in [
            (Finish::Exited(0), None),
            (Finish::Exited(127), Some("Exit code 127 (expected 0)")),
            (Finish::Signalled(9), Some("Exit code 137 (expected 0)")),
            (
                Finish::TimedOut(Duration::from_secs(30)),
                Some("Verifier timed out after 30s"),
            ),
            (
                Finish::NotStarted("no shell".to_owned()),
                Some("Exception: no shell"),
            ),
            (Finish::Cancelled, Some("Cancelled")),
        ] {
            assert_eq!(ended(&finish).as_deref(), reason, "{finish:?}");
        }
    }

    #[test]
    fn what_was_not_run_never_passes_even_if_it_is_expected() {
        let ended = |code: i32, finish: &Finish| judged(&json!({"exit_code": code}), "", finish);
        assert!(ended(127, &Finish::Exited(127)).is_some());
        assert!(ended(137, &Finish::Signalled(9)).is_some());
        assert!(ended(0, &Finish::Lost("the disk is full".to_owned())).is_some());
        assert_eq!(ended(3, &Finish::Exited(3)), None);
    }

    #[test]
    fn v_7_contains_is_literal_and_minds_the_case() {
        assert_eq!(
            reason(&json!({"stdout_contains": "HI"}), "hi\n").as_deref(),
            Some("stdout does not contain: HI")
        );
        assert_eq!(
            reason(&json!({"stdout_contains": "[x]*"}), "a [x]* b"),
            None
        );
        assert!(reason(&json!({"stdout_contains": "[x]"}), "x").is_some());
        assert_eq!(reason(&json!({"stdout_contains": null}), ""), None);
        assert_eq!(reason(&json!({"stdout_contains": ""}), ""), None);
    }

    #[test]
    fn a_pattern_must_match_a_line() {
        let expect = json!({"stdout_matches": "^ok: [0-9]+$"});
        assert_eq!(reason(&expect, "first\r\nok: 12\r\nlast"), None);
        assert_eq!(reason(&expect, "ok: 12"), None);
        assert_eq!(
            reason(&expect, "not ok: 12").as_deref(),
            Some("stdout does not match: ^ok: [0-9]+$")
        );
    }

    #[test]
    fn no_tests_run_is_no_pass() {
        let expect = json!({"min_tests": 1});
        let none = "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(
            reason(&expect, none).as_deref(),
            Some("Tests run: 0 (expected at least 1)")
        );
        assert!(reason(&expect, "").is_some_and(|why| why.starts_with("No test summary")));
        assert_eq!(reason(&expect, &none.replacen('0', "2", 1)), None);
    }
}
