//! The report in an agent's answer (L-4), and a QA agent's verdict (L-17).

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::agent::{Outcome, Status};
use crate::bead::{QaResult, QaStatus};

const FENCE: &str = "```";

/// A report that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// What it says.
    pub value: Value,
    /// The session, where the text was a program's own JSON around the answer.
    pub session: Option<String>,
}

impl Report {
    /// Fills in the bead's id where the agent forgot it (L-4).
    #[must_use]
    pub fn with_bead_id(mut self, id: &str) -> Self {
        if let Value::Object(members) = &mut self.value {
            members.entry("bead_id").or_insert_with(|| id.into());
        }
        self
    }
}

crate::text::word_enum! {
    /// Why the report is missing.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ReportFault {
        /// No JSON.
        NoJson = "its answer has no JSON",
        /// A block of JSON is not closed.
        Unclosed = "the block of JSON in its answer is not closed",
        /// What should be JSON is none.
        Invalid = "the JSON in its answer is not valid",
    }
}

/// Finds the report in a text (L-4): a program's own JSON with a string `result` is unwrapped; then the first
/// fenced block of JSON counts, else the whole text.
pub fn report_in(text: &str) -> Result<Report, ReportFault> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if let Ok(Value::Object(members)) = serde_json::from_str(text)
        && let Some(Value::String(result)) = members.get("result")
    {
        let session = members.get("session_id").and_then(Value::as_str);
        return Ok(Report {
            value: value_in(result.trim())?,
            session: session.map(str::to_owned),
        });
    }
    Ok(Report {
        value: value_in(text)?,
        session: None,
    })
}

fn value_in(text: &str) -> Result<Value, ReportFault> {
    if let Some(block) = first_block(text) {
        return value_of_block(block);
    }
    serde_json::from_str(text).map_err(|_| {
        if text.starts_with(['{', '[']) {
            ReportFault::Invalid
        } else {
            ReportFault::NoJson
        }
    })
}

/// What follows the opening of the first fenced block of JSON.
fn first_block(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let (_, after) = rest.split_once(FENCE)?;
        let is_json = after
            .get(..4)
            .is_some_and(|word| word.eq_ignore_ascii_case("json"));
        if is_json {
            let block = &after[4..];
            if block
                .chars()
                .next()
                .is_none_or(|next| !next.is_alphanumeric())
            {
                return Some(block);
            }
        }
        rest = after;
    }
}

/// Reads the value first and looks for the fence after it: a string inside may hold a fence too.
fn value_of_block(block: &str) -> Result<Value, ReportFault> {
    let broken = |rest: &str| {
        if rest.contains(FENCE) {
            ReportFault::Invalid
        } else {
            ReportFault::Unclosed
        }
    };
    let mut values = serde_json::Deserializer::from_str(block).into_iter::<Value>();
    let Some(Ok(value)) = values.next() else {
        return Err(broken(block));
    };
    let rest = &block[values.byte_offset()..];
    if rest.trim_start().starts_with(FENCE) {
        Ok(value)
    } else {
        Err(broken(rest))
    }
}

/// The verdict of a QA agent's run (L-17). A bad answer or a failed run is a verdict too: a
/// failure with fixed words. That the account is at its limit, or that the agent cannot be run at all, says nothing about
/// the work: then the status is given back.
pub fn qa_result(outcome: &Outcome, limit: Duration) -> Result<QaResult, Status> {
    let fail = |message: String| {
        Ok(QaResult {
            status: QaStatus::Fail,
            message,
            details: Map::new(),
        })
    };
    match outcome.status {
        Status::Limit | Status::Auth | Status::Config | Status::Killed => Err(outcome.status),
        Status::Timeout => fail(format!(
            "QA agent timed out after {} minutes",
            minutes(limit)
        )),
        _ if outcome.report_fault.is_some() => fail(fault_message(outcome.report_fault)),
        Status::Failed | Status::Denied | Status::Crashed | Status::NoResult => {
            fail(format!("QA agent gave no verdict: {}", outcome.reason))
        }
        Status::Ok => {
            let found = match &outcome.report {
                Some(report) => Ok(report.clone()),
                None => report_in(outcome.text.as_deref().unwrap_or_default())
                    .map(|report| report.value),
            };
            match found {
                Ok(report) => verdict(report)
                    .map_or_else(|| fail("QA agent missing required fields".to_owned()), Ok),
                Err(fault) => fail(fault_message(Some(fault))),
            }
        }
    }
}

fn fault_message(fault: Option<ReportFault>) -> String {
    let message = match fault {
        Some(ReportFault::NoJson) | None => "QA agent did not return JSON",
        Some(ReportFault::Unclosed | ReportFault::Invalid) => "QA agent returned invalid JSON",
    };
    message.to_owned()
}

fn verdict(report: Value) -> Option<QaResult> {
    let Value::Object(mut members) = report else {
        return None;
    };
    let status = QaStatus::parse(members.get("status")?.as_str()?).ok()?;
    let message = members.get("message")?.as_str()?.to_owned();
    let details = match members.shift_remove("details") {
        Some(Value::Object(details)) => details,
        _ => Map::new(),
    };
    Some(QaResult {
        status,
        message,
        details,
    })
}

/// Minutes as people say them: whole ones where they are.
fn minutes(limit: Duration) -> String {
    let seconds = limit.as_secs();
    if seconds.is_multiple_of(60) {
        (seconds / 60).to_string()
    } else {
        format!("{:.1}", limit.as_secs_f64() / 60.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(text: &str) -> Result<Value, ReportFault> {
        report_in(text).map(|report| report.value)
    }

    #[test]
    fn l_4_a_report_is_found_where_the_contract_says() {
        let a = Ok(json!({"a": 1}));
        for text in [
            "{\"a\":1}",
            "\u{feff}  {\"a\": 1}\n",
            "```json\n{\"a\": 1}\n```",
            "Here it is:\n\n```json\n{\n  \"a\": 1\n}\n```\nand\n```json\n{\"a\": 2}\n```",
            "```JSON {\"a\": 1} ``` done",
            "```rust\nfn x() {}\n```\n   ```json\r\n{\"a\":1}\r\n   ```",
            "```json5\n{a: 2}\n```\n```json\n{\"a\":1}\n```",
        ] {
            assert_eq!(found(text), a, "{text}");
        }
        assert_eq!(
            found("```json\n{\"m\": \"see ```x``` there\"}\n```"),
            Ok(json!({"m": "see ```x``` there"}))
        );
    }

    #[test]
    fn l_4_a_programs_own_wrapper_is_opened_and_its_session_kept() {
        let wrapped = json!({"type": "result", "session_id": "s-1", "result": "Fine.\n```json\n{\"a\": 1}\n```"});
        let report = report_in(&wrapped.to_string()).unwrap();
        assert_eq!(report.value, json!({"a": 1}));
        assert_eq!(report.session.as_deref(), Some("s-1"));
        let own = json!({"result": {"a": 1}});
        assert_eq!(
            found(&own.to_string()),
            Ok(own),
            "only a result that is a text is a wrapper"
        );
        let empty = json!({"result": "no JSON here"});
        assert_eq!(found(&empty.to_string()), Err(ReportFault::NoJson));
    }

    #[test]
    fn l_4_what_is_no_report_says_why() {
        for (text, fault) in [
            ("", ReportFault::NoJson),
            ("All done!", ReportFault::NoJson),
            ("```\n{\"a\":1}\n```", ReportFault::NoJson),
            ("```json\n{\"a\": 1}\n", ReportFault::Unclosed),
            ("```json\n{\"a\": ", ReportFault::Unclosed),
            ("```json", ReportFault::Unclosed),
            ("```json\n{\"a\": 1,}\n```", ReportFault::Invalid),
            ("```json\n{\"a\": 1} trailing\n```", ReportFault::Invalid),
            (
                "```json\nnot json\n```\n```json\n{\"a\":1}\n```",
                ReportFault::Invalid,
            ),
            ("{\"a\": 1", ReportFault::Invalid),
            ("{\"a\":1}{\"b\":2}", ReportFault::Invalid),
        ] {
            assert_eq!(found(text), Err(fault), "{text}");
        }
    }

    #[test]
    fn l_4_a_missing_bead_id_is_filled_in() {
        let report = |text: &str| report_in(text).unwrap().with_bead_id("bd-1").value;
        assert_eq!(report("{\"a\":1}"), json!({"a": 1, "bead_id": "bd-1"}));
        assert_eq!(report("{\"bead_id\":\"bd-2\"}"), json!({"bead_id": "bd-2"}));
        assert_eq!(report("[1]"), json!([1]));
    }

    fn outcome(status: Status, text: &str) -> Outcome {
        Outcome {
            text: Some(text.to_owned()),
            ..Outcome::new(status, "why".to_owned())
        }
    }

    #[test]
    fn l_17_a_qa_answer_is_a_verdict() {
        let text =
            "```json\n{\"status\": \"stop\", \"message\": \"no\", \"details\": {\"n\": 1}}\n```";
        let result = qa_result(&outcome(Status::Ok, text), Duration::from_mins(10)).unwrap();
        assert_eq!(
            (result.status, result.message.as_str()),
            (QaStatus::Stop, "no")
        );
        assert_eq!(Value::from(result.details), json!({"n": 1}));
        let by_field = Outcome {
            report: Some(json!({"status": "pass", "message": "good"})),
            ..outcome(Status::Ok, "anything")
        };
        let result = qa_result(&by_field, Duration::from_mins(10)).unwrap();
        assert_eq!(result.status, QaStatus::Pass);
    }

    #[test]
    fn l_17_faults_of_a_qa_answer_have_fixed_words() {
        let message = |outcome: &Outcome, limit: Duration| {
            let result = qa_result(outcome, limit).unwrap();
            assert_eq!(result.status, QaStatus::Fail);
            result.message
        };
        let ten = Duration::from_mins(10);
        for (text, expected) in [
            ("Looks good to me!", "QA agent did not return JSON"),
            ("", "QA agent did not return JSON"),
            (
                "```json\n{\"status\": \"pass\"",
                "QA agent returned invalid JSON",
            ),
            ("{\"status\": pass}", "QA agent returned invalid JSON"),
            ("{\"status\": \"pass\"}", "QA agent missing required fields"),
            ("{\"message\": \"x\"}", "QA agent missing required fields"),
            (
                "{\"status\": \"PASS\", \"message\": \"x\"}",
                "QA agent missing required fields",
            ),
            (
                "{\"status\": \"good\", \"message\": \"x\"}",
                "QA agent missing required fields",
            ),
            (
                "{\"status\": true, \"message\": \"x\"}",
                "QA agent missing required fields",
            ),
            ("[]", "QA agent missing required fields"),
        ] {
            assert_eq!(message(&outcome(Status::Ok, text), ten), expected, "{text}");
        }
        let late = outcome(
            Status::Timeout,
            "{\"status\": \"pass\", \"message\": \"x\"}",
        );
        assert_eq!(message(&late, ten), "QA agent timed out after 10 minutes");
        let ninety = Duration::from_secs(90);
        assert_eq!(
            message(&late, ninety),
            "QA agent timed out after 1.5 minutes"
        );
        let failed = outcome(Status::Failed, "{\"status\": \"pass\", \"message\": \"x\"}");
        assert_eq!(
            message(&failed, ten),
            "QA agent gave no verdict: why",
            "a pass needs a message"
        );
    }

    #[test]
    fn l_17_what_says_nothing_about_the_work_is_no_verdict() {
        for status in [Status::Limit, Status::Auth, Status::Config, Status::Killed] {
            assert_eq!(
                qa_result(&outcome(status, ""), Duration::from_mins(1)),
                Err(status)
            );
        }
    }
}
