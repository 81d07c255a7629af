//! What is read of a bead, and what is refused.

use serde_json::json;

use crate::bead::{FieldError, OnFailure};
use crate::dod::*;
use crate::issue::Issue;

fn minimal(extra: &Value) -> Value {
    let mut document =
        json!({"intent": "do it", "dod": {"verifiers": [{"name": "t", "command": "true"}]}});
    for (key, value) in extra.as_object().unwrap() {
        document[key] = value.clone();
    }
    document
}

fn read_with(extra: &Value) -> DodBead {
    read(minimal(extra), Some("stem")).unwrap()
}

fn problems(document: Value) -> Vec<String> {
    let errors = read(document, Some("stem")).unwrap_err();
    errors.iter().map(FieldError::to_string).collect()
}

#[test]
fn the_three_beads_of_the_seed_are_valid() {
    let task = parse(include_bytes!("task.json"), None).unwrap();
    assert_eq!(
        (task.id.as_str(), task.kind),
        ("gt-feature-login-001", DodType::Feature)
    );
    assert_eq!((task.priority, task.lane), (1, Some(Lane::Feature)));
    assert_eq!(task.dod.evidence_required, Some(true));
    assert_eq!(task.constraints.max_iterations, Some(5));
    assert_eq!(task.constraints.time_budget.unwrap().as_secs(), 3600);
    assert!(!task.is_gate && task.warnings.is_empty());

    let gate = parse(include_bytes!("gate.json"), None).unwrap();
    assert!(gate.is_gate && gate.dod.requires_evidence());
    assert_eq!(gate.dod.verifiers[0].timeout_seconds, 30);

    let several = parse(include_bytes!("several.json"), None).unwrap();
    assert_eq!(several.dod.verifiers.len(), 4);
    assert_eq!(several.dod.verifiers[1].on_failure, OnFailure::Continue);
    assert_eq!(several.status, DodStatus::Pending);
}

#[test]
fn v_1_all_problems_are_listed_and_the_two_that_matter_are_named() {
    assert_eq!(
        problems(json!({})),
        [
            "intent: Field required (type=missing)",
            "dod.verifiers: Field required (type=missing)",
        ]
    );
    let found = problems(json!({
        "id": "../../etc/passwd", "title": 1, "intent": " ", "type": "epic", "priority": 6, "lane": "slow",
        "dod": {"verifiers": []},
        "constraints": {"max_iterations": 0, "time_budget_minutes": 0, "deadline": "soon"},
        "ralph_meta": {"retry_backoff_seconds": -1}, "status": "done",
    }));
    for path in [
        "id:",
        "title:",
        "intent:",
        "type:",
        "priority:",
        "lane:",
        "dod.verifiers:",
        "constraints.max_iterations:",
        "constraints.time_budget_minutes:",
        "constraints.deadline:",
        "ralph_meta.retry_backoff_seconds:",
        "status:",
    ] {
        assert_eq!(
            found.iter().filter(|line| line.starts_with(path)).count(),
            1,
            "{path} {found:#?}"
        );
    }
}

#[test]
fn v_1_what_is_no_object_is_refused() {
    for bytes in [
        &b"[]"[..],
        b"\"x\"",
        b"{",
        b"",
        b"\xff\xfe",
        b"{\"intent\": \"\xff\"}",
    ] {
        assert!(parse(bytes, Some("stem")).is_err(), "{bytes:?}");
    }
}

#[test]
fn v_1_a_name_never_leads_elsewhere() {
    for name in ["gt-1", "a.b_c-D9", "4"] {
        check_name(name).unwrap();
    }
    for name in [
        "",
        ".",
        "..",
        ".hidden",
        "a/b",
        "a\\b",
        "a..b",
        "-x",
        "a b",
        "é",
        "a\n",
        "nul\0",
        &"x".repeat(129),
    ] {
        assert!(check_name(name).is_err(), "{name:?}");
    }
}

#[test]
fn absent_fields_have_their_defaults() {
    let bead = parse(
        b"\xef\xbb\xbf{\"intent\": \"do it\", \"dod\": {\"verifiers\": [{\"command\": \"true\"}]}}",
        Some("my-bead"),
    )
    .unwrap();
    assert_eq!(
        (bead.id.as_str(), bead.title.as_str()),
        ("my-bead", "do it")
    );
    assert_eq!(
        (bead.kind, bead.priority, bead.status),
        (DodType::Task, 2, DodStatus::Pending)
    );
    assert_eq!(bead.backoff.as_secs(), 30);
    assert_eq!(bead.constraints, Constraints::default());
    assert_eq!(bead.dod.verifiers[0].name, "verifier 1");
    assert_eq!(
        bead.warnings,
        ["dod.verifiers.0 has no name; it is called `verifier 1`"]
    );
    let long = read_with(&json!({"intent": "é".repeat(80)}));
    assert_eq!(long.title.chars().count(), 60);
}

#[test]
fn the_words_of_both_dialects_are_read() {
    for (word, status) in [
        ("open", DodStatus::Pending),
        ("pending", DodStatus::Pending),
        ("hooked", DodStatus::InProgress),
        ("pinned", DodStatus::Blocked),
        ("closed", DodStatus::Completed),
        ("GREEN", DodStatus::Completed),
        ("RED", DodStatus::Failed),
        ("failed", DodStatus::Failed),
    ] {
        assert_eq!(read_with(&json!({"status": word})).status, status);
    }
    for lane in Lane::ALL {
        assert_eq!(read_with(&json!({"lane": lane.as_str()})).lane, Some(*lane));
    }
    assert_eq!(Lane::ALL.len(), 9);
    assert_eq!(read_with(&json!({"type": "bug"})).kind, DodType::Bugfix);
    assert_eq!(read_with(&json!({"type": "chore"})).kind, DodType::Task);
}

#[test]
fn v_2_four_ways_to_be_a_gate() {
    assert!(read_with(&json!({"type": "gate"})).is_gate);
    assert!(read_with(&json!({"lane": "gate"})).is_gate);
    assert!(read_with(&json!({"blocking": {"is_gate": true}})).is_gate);
    assert!(!read_with(&json!({"blocking": {"is_gate": false}})).is_gate);
    let flat = json!({"id": "smoke", "gate_type": "smoke", "verifier_command": "make smoke", "blocks_convoy": true, "auto_close_on_pass": false});
    let flat = read(flat, None).unwrap();
    assert!(flat.is_gate && !flat.closes_on_pass);
    assert_eq!(flat.dod.verifiers[0].command, "make smoke");
    let found = problems(json!({"verifier_command": " "}));
    assert!(found[0].starts_with("verifier_command:"), "{found:?}");
}

#[test]
fn z_28_a_bead_of_a_store_is_read_from_its_metadata() {
    let issue = Issue::without_comments(json!({
        "id": "bd-1", "title": "Smoke", "description": "Keep it green", "labels": ["gate"], "issue_type": "task", "priority": 0,
        "metadata": {
            "dod": {"verifiers": [{"name": "t", "command": "true"}]}, "lane": "hardening",
            "constraints": {"max_iterations": 4}, "ralph_meta": {"retry_backoff_seconds": 0, "total_attempts": 7},
        },
    }));
    let bead = of_issue(&issue.unwrap(), &[]).unwrap();
    assert_eq!(
        (bead.intent.as_str(), bead.is_gate),
        ("Keep it green", true)
    );
    assert_eq!(
        (bead.lane, bead.constraints.max_iterations),
        (Some(Lane::Hardening), Some(4))
    );
    assert_eq!((bead.backoff.as_secs(), bead.total_attempts()), (0, 7));
    let issue = Issue::without_comments(json!({"id": "bd-2", "title": "No checks"})).unwrap();
    let errors = of_issue(&issue, &[]).unwrap_err();
    assert_eq!(errors[0].path, "dod.verifiers");
    let default = read_with(&json!({})).dod.verifiers;
    assert_eq!(of_issue(&issue, &default).unwrap().dod.verifiers, default);
}

#[test]
fn z_31_checks_for_every_bead_are_added_but_not_to_gates() {
    let default = read_with(&json!({})).dod.verifiers;
    let bead = read_with(&json!({})).with_checks(&default);
    assert_eq!(bead.dod.verifiers.len(), 2);
    assert_eq!(
        bead.document["dod"]["verifiers"].as_array().unwrap().len(),
        1
    );
    let gate = read_with(&json!({"type": "gate"})).with_checks(&default);
    assert_eq!(gate.dod.verifiers.len(), 1);
}

#[test]
fn v_1_a_misspelt_key_of_a_check_is_refused_and_a_foreign_one_named() {
    let verifier = json!({"name": "t", "command": "true", "expect": {"stdout_contain": "x"}, "timeout_second": 3});
    let document = minimal(
        &json!({"dod": {"verifiers": [verifier], "evidence_require": true}, "constraints": {"max_iteration": 3}}),
    );
    let found = problems(document);
    for part in [
        "dod.verifiers.0.expect.stdout_contain: not known; did you mean `stdout_contains`?",
        "dod.verifiers.0.timeout_second: not known; did you mean `timeout_seconds`?",
        "dod.evidence_require: not known; did you mean `evidence_required`?",
        "constraints.max_iteration: not known; did you mean `max_iterations`?",
    ] {
        assert!(
            found.iter().any(|line| line.starts_with(part)),
            "{part} {found:#?}"
        );
    }
    let foreign = json!({"dod": {"verifiers": [{"name": "t", "command": "true", "owner": "me"}]}});
    assert_eq!(
        read_with(&foreign).warnings,
        ["`owner` in verifier is not known and ignored"]
    );
}
