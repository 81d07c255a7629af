//! A worker's report (W-1…W-6): one YAML file, read with places and within bounds.
//!
//! Only what W-6 requires makes a report malformed; every other fault of the contract is a warning with its line and column, and the
//! report is used as far as it goes.

mod read;
mod schema_json;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

pub use read::{Fault, Malformed, Read, read};
pub use schema_json::schemas;

/// The largest report.
pub const MAX_REPORT_BYTES: usize = 1024 * 1024;

crate::text::word_enum! {
    /// How the work on a stage ended.
    pub enum ReportStatus {
        /// The stage's own success criterion is met.
        Complete = "complete",
        /// A person decides.
        NeedsHuman = "needs_human",
        /// It did not work.
        Failed = "failed",
    }
}

/// A report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How it ended.
    pub status: ReportStatus,
    /// What was run.
    pub evidence: Evidence,
    /// What a person is to know.
    pub escalations: Vec<Escalation>,
    /// Work that was found on the way.
    pub discovered: Vec<Discovered>,
    /// What was committed.
    pub commits: Vec<Commit>,
    /// The cause of a bug, of a `bug-diagnoser`.
    pub root_cause_note: Option<String>,
    /// How to see the bug, of a `bug-diagnoser`.
    pub reproduction_steps: Option<String>,
    /// What a `docs-edits-team` did.
    pub docs_edits: Option<DocsEdits>,
    /// What a `pr-comment-fixer-team` did.
    pub comment_fix: Option<CommentFix>,
}

impl Report {
    /// A report that says nothing but how it ended.
    pub fn new(status: ReportStatus) -> Self {
        Self {
            status,
            evidence: Evidence::default(),
            escalations: Vec::new(),
            discovered: Vec::new(),
            commits: Vec::new(),
            root_cause_note: None,
            reproduction_steps: None,
            docs_edits: None,
            comment_fix: None,
        }
    }
}

/// What was run, each where it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The tests.
    pub tests: Option<Block>,
    /// The build.
    pub build: Option<Block>,
    /// The linter.
    pub lint: Option<Block>,
    /// The type checker.
    pub typecheck: Option<Block>,
}

impl Evidence {
    /// The blocks that are there, with their names.
    pub fn blocks(&self) -> impl Iterator<Item = (&'static str, &Block)> {
        let all = [
            ("tests", &self.tests),
            ("build", &self.build),
            ("lint", &self.lint),
            ("typecheck", &self.typecheck),
        ];
        all.into_iter()
            .filter_map(|(name, block)| Some((name, block.as_ref()?)))
    }
}

/// One thing that was run, or skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What.
    pub command: String,
    /// How it ended; none when that is not known.
    pub exit_code: Option<i64>,
    /// Whether it was not run.
    pub is_skipped: bool,
    /// How many tests passed and failed, of `tests`.
    pub counts: TestCounts,
    /// The required keys that it lacks.
    pub missing: Vec<&'static str>,
}

/// How many tests passed and failed; none where nobody could count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TestCounts {
    /// Those that passed.
    pub passing: Option<u64>,
    /// Those that failed.
    pub failing: Option<u64>,
}

/// Something for a person to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escalation {
    /// In a word.
    pub reason: String,
    /// In full.
    pub detail: String,
}

crate::text::word_enum! {
    /// What discovered work is.
    pub enum DiscoveredType {
        /// Something is wrong.
        Bug = "bug",
        /// Something is to be done.
        Task = "task",
        /// Something is to be tidied up.
        Chore = "chore",
    }
}

/// Work that was found on the way (W-4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovered {
    /// What is to be done.
    pub title: String,
    /// What it is.
    pub kind: DiscoveredType,
    /// How urgent it is.
    pub priority: u8,
    /// More about it.
    pub detail: String,
}

/// A commit: 40 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit(pub String);

/// What a `docs-edits-team` did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocsEdits {
    /// The files that it changed.
    pub files_changed: Vec<String>,
    /// Its commit, if it made one.
    pub commit: Option<Commit>,
    /// What it did.
    pub summary: String,
    /// What it left out, and why.
    pub skipped: Vec<(String, String)>,
}

crate::text::word_enum! {
    /// What a comment of a review is worth.
    pub enum Classification {
        /// It is right.
        Fix = "FIX",
        /// It is wrong.
        Skip = "SKIP",
        /// A person decides.
        Escalate = "ESCALATE",
    }
}

crate::text::word_enum! {
    /// What was done about a comment.
    pub enum CommentAction {
        /// The fault was fixed now.
        CommittedFix = "COMMITTED_FIX",
        /// The fault was fixed before.
        AlreadyAddressed = "ALREADY_ADDRESSED",
        /// Nothing.
        NoAction = "NO_ACTION",
    }
}

/// What a `pr-comment-fixer-team` did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommentFix {
    /// What the comment is worth.
    pub classification: Classification,
    /// What was done about it.
    pub action: CommentAction,
}

crate::text::word_enum! {
    /// What the evidence shows.
    pub enum EvidenceGate {
        /// Nothing was run.
        NotApplicable = "n/a",
        /// Something that was run failed.
        Fail = "fail",
        /// Something was skipped.
        Partial = "partial",
        /// All that was run succeeded.
        Pass = "pass",
    }
}

/// Derives the gate; an exit code that is not known counts as a failure.
pub fn gate(evidence: &Evidence) -> EvidenceGate {
    let blocks = || evidence.blocks().map(|(_, block)| block);
    if blocks().next().is_none() {
        EvidenceGate::NotApplicable
    } else if blocks().any(|block| !block.is_skipped && block.exit_code != Some(0)) {
        EvidenceGate::Fail
    } else if blocks().any(|block| block.is_skipped) {
        EvidenceGate::Partial
    } else {
        EvidenceGate::Pass
    }
}

/// The most items of discovered work, and the most escalations.
const MAX_ITEMS: usize = 50;

/// The longest title of a bead; stores refuse longer ones.
const MAX_TITLE: usize = 300;

/// The longest text that goes into the notes of a bead; all of it is in the report.
const MAX_DETAIL: usize = 8 * 1024;

impl Report {
    /// The same within bounds. What was left out is said.
    pub(super) fn bounded(mut self) -> (Self, Vec<String>) {
        let mut left_out = Vec::new();
        let n = self.discovered.len();
        if n > MAX_ITEMS {
            left_out.push(format!(
                "`discovered_work` has {n} items; only the first {MAX_ITEMS} become beads"
            ));
            self.discovered.truncate(MAX_ITEMS);
        }
        let n = self.escalations.len();
        if n > MAX_ITEMS {
            left_out.push(format!(
                "only the first {MAX_ITEMS} of {n} escalations are kept"
            ));
            self.escalations.truncate(MAX_ITEMS);
        }
        for item in &mut self.discovered {
            item.bound();
        }
        for Escalation { reason, detail } in &mut self.escalations {
            *reason = shortened(&plain(reason), MAX_TITLE);
            *detail = shortened(&plain(detail), MAX_DETAIL);
        }
        (self, left_out)
    }
}

impl Discovered {
    /// A title is one line that every store takes; what does not fit stands in the detail.
    fn bound(&mut self) {
        let title = plain(&self.title).replace(['\n', '\t'], " ");
        let detail = plain(&self.detail);
        self.title = shortened(title.trim(), MAX_TITLE);
        let is_whole = self.title == title.trim();
        let detail = if is_whole {
            detail
        } else {
            format!("{title}\n\n{detail}")
        };
        self.detail = shortened(&detail, MAX_DETAIL);
    }
}

/// A text without characters that steer terminals, or that a store cannot keep.
fn plain(text: &str) -> String {
    let is_kept = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    text.chars().filter(is_kept).collect()
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The reason when a worker ended badly or left no report.
pub const CRASHED: &str = "Worker crashed";

/// The reason when a report cannot be used.
pub const MALFORMED: &str = "Worker emitted malformed report";

/// A report that says that a worker failed, and its text.
pub fn synthetic(reason: &str, detail: &str) -> (Report, String) {
    let mut report = Report::new(ReportStatus::Failed);
    report.escalations.push(Escalation {
        reason: reason.to_owned(),
        detail: detail.to_owned(),
    });
    // JSON texts are YAML texts, and need no thought about quotes.
    let text = format!(
        "status: failed\nevidence: {{}}\nescalations:\n  - reason: {}\n    detail: {}\ndiscovered_work: []\ncommits: []\n",
        serde_json::Value::from(reason),
        serde_json::Value::from(detail)
    );
    (report.bounded().0, text)
}

/// Raw bytes in a detail: as they are where they are UTF-8, else in base64 with a note.
pub fn raw_detail(what: &str, bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => format!("{what}\n{text}"),
        Err(_) => format!("{what}\n(not UTF-8; base64)\n{}", STANDARD.encode(bytes)),
    }
}

#[cfg(test)]
mod bounds_tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::implement::Agent;

    #[test]
    fn w_4_what_goes_into_beads_is_bounded_and_plain() {
        let mut text = String::from(
            "status: failed\nescalations: [{reason: \"a\\0b\", detail: \"x\\u001b[1m\"}]\ndiscovered_work:\n",
        );
        for n in 0..60 {
            let title = "t".repeat(400);
            _ = writeln!(
                text,
                "- {{title: \"{title}{n}\", type: bug, priority: 1, detail: d}}"
            );
        }
        let read = read(&text, &Agent::TddGreenTeam).unwrap();
        assert_eq!(read.report.discovered.len(), MAX_ITEMS);
        let item = &read.report.discovered[0];
        assert_eq!(item.title.chars().count(), MAX_TITLE + 1);
        assert!(item.detail.starts_with(&"t".repeat(400)));
        let escalation = &read.report.escalations[0];
        assert_eq!(
            (escalation.reason.as_str(), escalation.detail.as_str()),
            ("ab", "x[1m")
        );
        assert!(
            read.faults
                .iter()
                .any(|fault| fault.message.contains("60 items"))
        );
    }
}

#[cfg(test)]
mod synthetic_tests {
    use super::*;

    #[test]
    fn i_21_a_synthetic_report_is_exactly_the_contracts() {
        let (report, text) = synthetic(CRASHED, "exit code 1\n\"quoted\"");
        assert_eq!(
            text,
            "status: failed\nevidence: {}\nescalations:\n  - reason: \"Worker crashed\"\n    detail: \"exit code 1\\n\\\"quoted\\\"\"\ndiscovered_work: []\ncommits: []\n"
        );
        let read = super::read(&text, &crate::implement::Agent::TddRedTeam).unwrap();
        assert_eq!(read.report, report);
        assert!(read.faults.is_empty(), "{:?}", read.faults);
    }

    #[test]
    fn i_21_bytes_that_are_no_text_are_base64() {
        for (bytes, encoded) in [
            (&b"\xff"[..], "/w=="),
            (b"\xff\xfe", "//4="),
            (b"\xff\xfe\xfd", "//79"),
            (b"\xff\xfe\xfdM", "//79TQ=="),
        ] {
            assert!(raw_detail("x", bytes).ends_with(encoded), "{bytes:?}");
        }
        assert_eq!(raw_detail("parse error", b"text"), "parse error\ntext");
    }
}

#[cfg(test)]
mod tests;
