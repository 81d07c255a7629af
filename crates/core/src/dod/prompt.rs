//! The prompt of an agent (V-11).

use std::fmt::Write as _;

use serde_json::Value;

use super::DodBead;
use crate::bead::Verifier;
use crate::check::{CheckRecord, failures_in};
use crate::text::visible;
use crate::vocabulary::{metadata, ralph_meta};

/// The longest reason of a failure that goes into a prompt; all of it is in the evidence.
const MAX_REASON: usize = 2000;

/// How much of a failed check's output goes into a prompt: its end, where the error mostly is.
const MAX_OUTPUT: usize = 3000;

/// What went wrong before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    /// The check, or the agent.
    pub name: String,
    /// Why it failed.
    pub reason: String,
    /// What it said.
    pub output: String,
}

impl Feedback {
    /// What failed among some checks.
    pub fn of(records: &[CheckRecord]) -> Vec<Self> {
        let failed = records.iter().filter(|it| !it.passed && !it.skipped);
        let feedback = |record: &CheckRecord| Self {
            name: record.name.clone(),
            reason: record.reason.clone().unwrap_or_default(),
            output: format!("{}{}", record.stdout, record.stderr),
        };
        failed.map(feedback).collect()
    }

    /// What an earlier run noted in a bead.
    pub fn noted(bead: &DodBead) -> Vec<Self> {
        let noted = bead.meta(ralph_meta::VERIFIER_RESULTS).map(failures_in);
        let feedback = |(name, reason)| Self {
            name,
            reason,
            output: String::new(),
        };
        noted.into_iter().flatten().map(feedback).collect()
    }
}

/// The prompt for a bead, with what went wrong before; an agent in a separate worktree must commit (Z-29).
pub fn prompt(bead: &DodBead, must_commit: bool, failures: &[Feedback]) -> String {
    let mut text = format!("# {}\n\n{}\n", bead.title.trim(), bead.intent.trim());
    push_checks(&mut text, &bead.dod.verifiers);
    if must_commit {
        text.push_str("\nCommit all of your work: the checks are run on what is committed, and on nothing else.\n");
    }
    if !failures.is_empty() {
        text.push_str("\n## Previous failures\n\n");
        for failure in failures {
            let reason = from_start(&visible(&failure.reason), MAX_REASON);
            _ = writeln!(text, "- {}: {reason}", failure.name);
            push_output(&mut text, &failure.output);
        }
        text.push_str(FIND_THE_CAUSE);
    }
    if let Some(constraints) = bead
        .document
        .get(metadata::CONSTRAINTS)
        .filter(|it| !is_empty(it))
    {
        _ = writeln!(text, "\n## Constraints\n\n{constraints}");
    }
    text.push_str(
        "\nDo not claim completion before all verifiers pass. Run them yourself before you stop.\n",
    );
    text
}

/// How what went wrong before is concluded, in every prompt.
pub(crate) const FIND_THE_CAUSE: &str = "\nFind the cause and mend it; do not change the checks.\n";

/// The checks that decide when the work is done, in every prompt.
pub(crate) fn push_checks(text: &mut String, checks: &[Verifier]) {
    text.push_str("\n## Definition of Done\n\nThese commands are run after you, by a program; all of them must succeed:\n\n");
    for check in checks {
        _ = writeln!(text, "- {}: {}", check.name, check.command);
    }
}

fn from_start(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(most)])
}

/// The end of some output, indented, so that nothing in it can be taken for a heading of the prompt.
fn push_output(text: &mut String, output: &str) {
    let start = output.len().saturating_sub(MAX_OUTPUT);
    let end = &output[output.ceil_char_boundary(start)..];
    for line in end.lines().filter(|line| !line.trim().is_empty()) {
        _ = writeln!(text, "      {}", visible(line));
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        value => value.is_null(),
    }
}
