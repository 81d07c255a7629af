//! Executions, results and the definition of done.

use super::*;

fn dev_execution() -> Value {
    json!({
        "attempt": 1, "session_id": "s", "agent_path": ".claude/agents/dev", "model": "sonnet",
        "started_at": "2026-02-07T10:00:00Z", "completed_at": "2026-02-07T10:15:00Z",
        "status": "completed", "feedback_from_qa": null,
    })
}

fn qa_execution() -> Value {
    json!({
        "attempt": 1, "session_id": "s", "agent_path": ".claude/agents/qa", "model": "haiku",
        "started_at": "2026-02-07T10:16:00Z", "completed_at": "2026-02-07T10:18:00Z",
        "status": "pass", "message": "ok",
    })
}

fn scrum_result() -> Value {
    json!({
        "bead_id": "bd-1", "success": true, "pr_url": null, "pr_number": null, "bead_updated": true,
        "attempt_count": 2, "error": null, "fatal": false,
    })
}

#[test]
fn b_24_executions_and_results() {
    assert!(DevExecution::from_document(&dev_execution()).is_ok());
    assert!(QaExecution::from_document(&qa_execution()).is_ok());
    let result = ScrumResult::from_document(&scrum_result()).unwrap();
    assert!(result.qa_results.is_empty() && !result.skipped);
    for (pointer, item, key, value, message) in [
        (
            "dev_agent_executions",
            dev_execution(),
            "attempt",
            json!(0),
            "attempt must be >= 1",
        ),
        (
            "dev_agent_executions",
            dev_execution(),
            "status",
            json!("pass"),
            "status must be one of",
        ),
        (
            "qa_agent_executions",
            qa_execution(),
            "attempt",
            json!(0),
            "attempt must be >= 1",
        ),
        (
            "qa_agent_executions",
            qa_execution(),
            "status",
            json!("completed"),
            "status must be one of",
        ),
    ] {
        let mut item = item;
        item[key] = value;
        let document = with(&format!("/metadata/{pointer}"), json!([item]));
        refused(
            &document,
            &format!("metadata.{pointer}.0.{key}"),
            message,
            "value_error",
        );
    }
    let mut result = scrum_result();
    result["attempt_count"] = json!(-1);
    let document = with("/metadata/scrum_result", result);
    let path = "metadata.scrum_result.attempt_count";
    refused(&document, path, "attempt_count must be >= 0", "value_error");
    let document = with("/metadata/scrum_result", json!("done"));
    refused(
        &document,
        "metadata.scrum_result",
        "valid object",
        "model_type",
    );
}

#[test]
fn v_1_a_malformed_definition_of_done_is_reported_by_path() {
    let dod = json!({
        "verifiers": [
            { "name": "a", "command": " ", "timeout_seconds": 0 },
            { "command": "true", "on_failure": "explode", "expect": { "exit_code": "0" } },
        ],
        "evidence_required": "yes",
    });
    let lines = errors(&with("/metadata/dod", dod));
    for start in [
        "metadata.dod.verifiers.0.command: command must be non-empty",
        "metadata.dod.verifiers.0.timeout_seconds: timeout_seconds must be >= 1",
        "metadata.dod.verifiers.1.on_failure: on_failure must be one of",
        "metadata.dod.verifiers.1.expect.exit_code: Input should be a valid integer",
        "metadata.dod.evidence_required: Input should be a valid boolean",
    ] {
        assert!(
            lines.iter().any(|line| line.starts_with(start)),
            "{start} {lines:?}"
        );
    }
    refused(
        &with("/metadata/dod", json!({})),
        "metadata.dod.verifiers",
        "Field required",
        "missing",
    );
}

#[test]
fn v_1_a_verifier_has_defaults() {
    let dod = Dod::from_document(&json!({ "verifiers": [
        { "command": "true", "on_failure": "retry", "expect": { "stdout_contains": "" } },
    ] }));
    let verifier = &dod.unwrap().verifiers[0];
    assert_eq!(
        (verifier.name.as_str(), verifier.timeout_seconds),
        ("verifier 1", 300)
    );
    assert_eq!(
        (verifier.on_failure, &verifier.expect),
        (OnFailure::Stop, &Expect::default())
    );
}

#[test]
fn qa_results_have_their_defaults() {
    let mut result = scrum_result();
    result["qa_results"] = json!([
        { "agent_path": "a", "status": "pass" },
        { "agent": "b", "status": "fail", "message": "m", "details": { "n": 1 } },
    ]);
    let result = ScrumResult::from_document(&result).unwrap();
    let seen: Vec<_> = result
        .qa_results
        .iter()
        .map(|qa| (qa.agent_path.as_str(), qa.message.as_str()))
        .collect();
    assert_eq!(seen, [("a", ""), ("b", "m")]);
    assert!(result.qa_results[0].details.is_empty());
    let answer = QaResult::from_document(&json!({ "status": "stop", "message": "no" })).unwrap();
    assert_eq!((answer.status, answer.details.len()), (QaStatus::Stop, 0));
    let errors = QaResult::from_document(&json!({ "status": "maybe" })).unwrap_err();
    assert_eq!(errors.len(), 2, "{errors:?}");
}
