//! Generators of what agents did.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};

use super::super::*;
use super::{filled, model, text, timestamp, unknown};

fn details() -> impl Strategy<Value = Map<String, Value>> {
    unknown()
}

pub(in crate::bead) fn dev_execution() -> impl Strategy<Value = DevExecution> {
    let extras = (
        option::of(text()),
        option::of(text()),
        option::of(text()),
        option::of(text()),
    );
    (
        1..9u32,
        text(),
        model(),
        timestamp(),
        select(DevStatus::ALL),
        extras,
    )
        .prop_map(
            |(attempt, session_id, model, time, status, extras)| DevExecution {
                attempt,
                session_id,
                agent_path: "claude".to_owned(),
                model,
                started_at: time.clone(),
                completed_at: time,
                status,
                feedback_from_qa: extras.0,
                agent_id: extras.1,
                error: extras.2,
                model_id: extras.3,
            },
        )
}

pub(in crate::bead) fn qa_execution() -> impl Strategy<Value = QaExecution> {
    let extras = (option::of(text()), option::of(text()));
    (
        1..9u32,
        text(),
        model(),
        timestamp(),
        select(QaStatus::ALL),
        details(),
        extras,
    )
        .prop_map(
            |(attempt, message, model, time, status, details, extras)| QaExecution {
                attempt,
                session_id: message.clone(),
                agent_path: String::new(),
                model,
                started_at: time.clone(),
                completed_at: time,
                status,
                message,
                details,
                agent_id: extras.0,
                model_id: extras.1,
            },
        )
}

pub(in crate::bead) fn scrum_result() -> impl Strategy<Value = ScrumResult> {
    let report =
        (text(), select(QaStatus::ALL), details()).prop_map(|(message, status, details)| {
            QaReport {
                agent_path: message.clone(),
                status,
                message,
                details,
            }
        });
    let texts = (option::of(text()), option::of(text()));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (
        texts,
        flags,
        option::of(any::<u64>()),
        any::<u32>(),
        vec(report, 0..2),
    )
        .prop_map(
            |((pr_url, error), flags, pr_number, attempt_count, qa_results)| ScrumResult {
                bead_id: BeadId::parse("bd-1").unwrap(),
                success: flags.0,
                pr_url,
                pr_number,
                bead_updated: flags.1,
                attempt_count,
                qa_results,
                error,
                fatal: flags.2,
                skipped: flags.3,
            },
        )
}

pub(in crate::bead) fn dod() -> impl Strategy<Value = Dod> {
    let contains = || option::of("[a-z]{1,4}");
    let verifier = (
        text(),
        filled(),
        any::<i32>(),
        contains(),
        contains(),
        1..900u64,
        any::<bool>(),
        (any::<bool>(), option::of(1..9u64)),
    )
        .prop_map(
            |(
                name,
                command,
                exit_code,
                stdout_contains,
                stderr_contains,
                timeout_seconds,
                go_on,
                matches,
            )| Verifier {
                name,
                command,
                expect: Expect {
                    exit_code,
                    stdout_contains,
                    stderr_contains,
                    stdout_matches: matches.0.then(|| Pattern::parse("^o[k]$").unwrap()),
                    stderr_matches: None,
                    min_tests: matches.1,
                },
                timeout_seconds,
                on_failure: if go_on {
                    OnFailure::Continue
                } else {
                    OnFailure::Stop
                },
            },
        );
    let artifacts = vec("[a-z*/]{1,8}", 0..2);
    (vec(verifier, 0..3), option::of(any::<bool>()), artifacts).prop_map(
        |(verifiers, evidence_required, artifact_paths)| Dod {
            verifiers,
            evidence_required,
            artifact_paths,
        },
    )
}
