//! The report that is written in the place of one that is missing or cannot be used (I-20, I-21).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::model::{Escalation, Report, Status};

/// The reason when a worker ended badly or left no report.
pub const CRASHED: &str = "Worker crashed";

/// The reason when a report cannot be used.
pub const MALFORMED: &str = "Worker emitted malformed report";

/// A report that says that a worker failed, and its text.
pub fn synthetic(reason: &str, detail: &str) -> (Report, String) {
    let mut report = Report::new(Status::Failed);
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
mod tests {
    use super::*;

    #[test]
    fn i_21_a_synthetic_report_is_exactly_the_contracts() {
        let (report, text) = synthetic(CRASHED, "exit code 1\n\"quoted\"");
        assert_eq!(
            text,
            "status: failed\nevidence: {}\nescalations:\n  - reason: \"Worker crashed\"\n    detail: \"exit code 1\\n\\\"quoted\\\"\"\ndiscovered_work: []\ncommits: []\n"
        );
        let read = super::super::read(&text, &crate::implement::Agent::TddRedTeam).unwrap();
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
