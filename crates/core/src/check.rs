//! Whether a command did what a check expects of it (contracts §8.2).
//!
//! Output is judged as it comes, so that a check sees all of it however much there is. Nothing here runs a command:
//! whoever does hands in the bytes and how it ended.

mod flake;
mod judge;
mod stream;
mod test_count;

use serde::Serialize;
use serde_json::Value;

use crate::bead::{Timestamp, Verifier};

pub use flake::{Cause, Try, cause};
pub use judge::{Finish, Judge};

/// What became of one check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckRecord {
    /// The check's name.
    pub name: String,
    /// Whether all that was expected came about.
    pub passed: bool,
    /// Why not.
    pub reason: Option<String>,
    /// The command's exit code, if it has one.
    pub exit_code: Option<i32>,
    /// Whether it took too long.
    pub timed_out: bool,
    /// Whether it was not run because one before it failed.
    pub skipped: bool,
    /// The beginning and the end of its standard output.
    pub stdout: String,
    /// The same of its standard error.
    pub stderr: String,
    /// How long it took.
    pub duration_ms: u64,
    /// When it began.
    pub timestamp: Timestamp,
    /// The command.
    pub command: String,
    /// The SHA-256 of the check's definition, so that nobody can say that another one passed.
    pub verifier_sha256: String,
    /// The commit that was checked out, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// How many processes it left behind, which were killed.
    #[serde(skip_serializing_if = "is_zero")]
    pub leaked: usize,
    /// Where all of standard output is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout_kept: Option<Kept>,
    /// Where all of standard error is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr_kept: Option<Kept>,
    /// How often it was run here, where one that fails is run again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tries: Option<usize>,
    /// Why it was not green at the first try, where that can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// What should be looked at although it passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
}

/// Where output is kept, and how it can be told that it is still the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// The file.
    pub path: String,
    /// How much there was.
    pub bytes: u64,
    /// The SHA-256 of all that there was.
    pub sha256: String,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands out references"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl CheckRecord {
    /// The longest output that goes into a bead (V-9); all of it is in the files.
    pub const MAX_OUTPUT: usize = 4 * 1024;

    /// Something that must hold beside the checks and does not: that everything is committed, that evidence is kept.
    pub fn failed(name: &str, reason: &str, now: &Timestamp) -> Self {
        Self {
            name: name.to_owned(),
            passed: false,
            reason: Some(reason.to_owned()),
            exit_code: None,
            timed_out: false,
            skipped: false,
            stdout: String::new(),
            stderr: String::new(),
            duration_ms: 0,
            timestamp: now.clone(),
            command: String::new(),
            verifier_sha256: String::new(),
            commit: None,
            leaked: 0,
            stdout_kept: None,
            stderr_kept: None,
            tries: None,
            cause: None,
            warning: None,
        }
    }

    /// A check that was not run because one before it failed (V-8).
    pub fn skipped(verifier: &Verifier, sha256: String, now: &Timestamp) -> Self {
        Self {
            reason: None,
            skipped: true,
            command: verifier.command.clone(),
            verifier_sha256: sha256,
            ..Self::failed(&verifier.name, "", now)
        }
    }

    /// What to print beside its name: why it failed, or what should be looked at.
    pub fn remark(&self) -> Option<&str> {
        self.reason.as_deref().or(self.warning.as_deref())
    }

    /// Output as it goes into a bead: not longer than it may be, cut in the middle, because what matters is mostly said
    /// at the end.
    pub fn output(text: &str) -> String {
        if text.len() <= Self::MAX_OUTPUT {
            return text.to_owned();
        }
        let mark = "\n[…]\n";
        let room = Self::MAX_OUTPUT - mark.len();
        let head = &text[..text.floor_char_boundary(room / 4)];
        let tail = &text[text.ceil_char_boundary(text.len() - (room - room / 4))..];
        format!("{head}{mark}{tail}")
    }
}

/// Whether every check passed. Without any check nothing passed (V-8).
pub fn is_green(records: &[CheckRecord]) -> bool {
    !records.is_empty() && records.iter().all(|record| record.passed)
}

/// The failures in one line: `name: reason; name: reason`.
pub fn summary(records: &[CheckRecord]) -> String {
    let failed: Vec<String> = (records.iter())
        .filter(|record| !record.passed && !record.skipped)
        .map(|record| {
            let reason = record.reason.as_deref().unwrap_or("failed");
            format!("{}: {reason}", record.name)
        })
        .collect();
    failed.join("; ")
}

/// Why the checks say nothing about the work: what is red of them never ran to its end because of the environment. Nothing when they are green,
/// or red for any other reason.
pub fn no_verdict(records: &[CheckRecord]) -> Option<String> {
    let mut red = (records.iter()).filter(|record| !record.passed && !record.skipped);
    let is_known = red.any(|record| record.cause != Some(Cause::Infrastructure));
    let red = summary(records);
    (!is_known && !red.is_empty()).then(|| format!("the checks could not be run: {red}"))
}

/// What should be looked at although it passed, in one line: `name: warning; name: warning`.
pub fn warnings(records: &[CheckRecord]) -> String {
    let warned: Vec<String> = (records.iter())
        .filter_map(|record| Some(format!("{}: {}", record.name, record.warning.as_ref()?)))
        .collect();
    warned.join("; ")
}

/// The failures, then what should be looked at although it passed, in one line; nothing when there is nothing to say.
pub fn verdict(records: &[CheckRecord]) -> String {
    let mut said = vec![summary(records), warnings(records)];
    said.retain(|it| !it.is_empty());
    said.join("; ")
}

/// The failures in records that a bead carries, ours or in the spelling of older scripts (`Name`, `Passed`, `Reason`).
pub fn failures_in(records: &Value) -> Vec<(String, String)> {
    let text = |record: &Value, keys: [&str; 2]| {
        let value = keys.iter().find_map(|key| record.get(key)?.as_str());
        value.map(str::to_owned)
    };
    let is = |record: &Value, keys: [&str; 2]| {
        let value = keys.iter().find_map(|key| record.get(key)?.as_bool());
        value.unwrap_or(false)
    };
    let records = records.as_array().map(Vec::as_slice).unwrap_or_default();
    let failed = records.iter().filter(|record| {
        record.is_object()
            && !is(record, ["passed", "Passed"])
            && !is(record, ["skipped", "Skipped"])
    });
    failed
        .map(|record| {
            let name = text(record, ["name", "Name"]);
            let reason = text(record, ["reason", "Reason"]);
            (
                name.unwrap_or_else(|| "verifier".to_owned()),
                reason.unwrap_or_else(|| "failed".to_owned()),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn v_9_output_in_a_bead_is_cut_in_the_middle() {
        assert_eq!(CheckRecord::output("short"), "short");
        let long = format!("begin{}the end", "é".repeat(5000));
        let cut = CheckRecord::output(&long);
        assert!(cut.len() <= CheckRecord::MAX_OUTPUT);
        assert!(cut.starts_with("begin") && cut.ends_with("the end") && cut.contains("[…]"));
    }

    #[test]
    fn v_9_records_of_older_scripts_are_read_too() {
        let records = json!([
            {"name": "a", "passed": true, "reason": null},
            {"name": "b", "passed": false, "reason": "Exit code 1 (expected 0)"},
            {"name": "c", "passed": false, "skipped": true},
            {"Name": "d", "Passed": false, "Reason": "slow", "Stdout": "", "Stderr": "", "Timestamp": ""},
            {"Name": "e", "Passed": true},
            "noise",
        ]);
        let expected = [("b", "Exit code 1 (expected 0)"), ("d", "slow")];
        let expected = expected.map(|(name, reason)| (name.to_owned(), reason.to_owned()));
        assert_eq!(failures_in(&records), expected);
        assert_eq!(failures_in(&json!("none")), []);
    }

    #[test]
    fn z_22_a_verdict_says_what_failed_and_then_what_passed_with_a_warning() {
        let now = Timestamp::from_instant(jiff::Timestamp::UNIX_EPOCH);
        let red = CheckRecord::failed("red", "why", &now);
        let flaky = CheckRecord {
            name: "flaky".to_owned(),
            passed: true,
            reason: None,
            warning: Some("at try 2".to_owned()),
            ..red.clone()
        };
        let fine = CheckRecord {
            warning: None,
            ..flaky.clone()
        };
        let all = [flaky.clone(), red, fine.clone()];
        assert_eq!(verdict(&all), "red: why; flaky: at try 2");
        assert_eq!(verdict(&[flaky]), "flaky: at try 2");
        assert_eq!(verdict(&[fine]), "");
    }

    #[test]
    fn z_22_checks_that_are_red_because_of_the_surroundings_alone_are_no_verdict() {
        let now = Timestamp::from_instant(jiff::Timestamp::UNIX_EPOCH);
        let red = |name: &str, cause| CheckRecord {
            cause,
            ..CheckRecord::failed(name, "why", &now)
        };
        let broken = red("broken", Some(Cause::Infrastructure));
        let green = CheckRecord {
            passed: true,
            ..red("green", None)
        };
        let skipped = CheckRecord {
            skipped: true,
            ..red("skipped", None)
        };
        let said = no_verdict(&[green.clone(), broken.clone(), skipped.clone()]);
        let expected = "the checks could not be run: broken: why";
        assert_eq!(said.as_deref(), Some(expected));
        for cause in [None, Some(Cause::Regression), Some(Cause::RedOnBase)] {
            assert_eq!(no_verdict(&[broken.clone(), red("red", cause)]), None);
        }
        assert_eq!(no_verdict(&[green, skipped]), None);
        assert_eq!(no_verdict(&[]), None);
    }

    #[test]
    fn v_8_nothing_checked_is_not_green() {
        assert!(!is_green(&[]));
    }
}
