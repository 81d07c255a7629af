//! What a run writes into a bead, and what an agent is asked.

use serde_json::json;

use crate::bead::Timestamp;
use crate::check::CheckRecord;
use crate::dod::*;

const NOW: &str = "2026-01-02T03:04:05Z";

fn bead() -> DodBead {
    let document = json!({
        "id": "x", "intent": "do it", "odd": [1], "status": "open", "artifacts": {"logs": []},
        "dod": {"verifiers": [{"name": "t", "command": "true", "owner": 2}, {"name": "u", "command": "false"}]},
        "constraints": {"allowed_dirs": ["src"], "max_iterations": 3},
        "ralph_meta": {"attempt_count": 4, "failure_reason": "old", "odd": 3},
    });
    read(document, None).unwrap()
}

fn record(bead: &DodBead, n: usize) -> CheckRecord {
    let verifier: &Verifier = &bead.dod.verifiers[n];
    CheckRecord::skipped(verifier, String::new(), &Timestamp::parse(NOW).unwrap())
}

#[test]
fn v_10_a_run_writes_its_own_keys_and_leaves_the_others() {
    let bead = bead();
    let mut progress = RunProgress::begun(bead.total_attempts());
    progress.attempt_count = 2;
    let failed = CheckRecord {
        skipped: false,
        reason: Some("Exit code 1 (expected 0)".to_owned()),
        ..record(&bead, 1)
    };
    progress.checked(vec![failed]);
    let now = Timestamp::parse(NOW).unwrap();
    let written = progress.written_into(&bead.document, "beads-ralph 1", &now);
    assert_eq!(
        (&written["odd"], &written["artifacts"]),
        (&json!([1]), &json!({"logs": []}))
    );
    assert_eq!(written["dod"], bead.document["dod"]);
    assert_eq!(
        (&written["status"], &written["last_updated"]),
        (&json!("in_progress"), &json!(NOW))
    );
    let meta = &written["ralph_meta"];
    assert_eq!(
        (
            &meta["attempt_count"],
            &meta["total_attempts"],
            &meta["odd"]
        ),
        (&json!(2), &json!(6), &json!(3))
    );
    assert_eq!(meta["last_failure_summary"], "u: Exit code 1 (expected 0)");
    assert_eq!(meta["verifier_results"][0]["name"], "u");
    assert_eq!(
        meta.get("failure_reason"),
        None,
        "what an earlier run said is over"
    );
    assert_eq!(read(written, None).unwrap().total_attempts(), 6);
}

#[test]
fn v_11_the_prompt_has_everything_that_an_agent_needs() {
    let bead = bead();
    let first = prompt(&bead, false, &[]);
    for part in [
        "do it",
        "- t: true\n",
        "- u: false\n",
        "\"allowed_dirs\":[\"src\"]",
        "Do not claim completion before all verifiers pass",
    ] {
        assert!(first.contains(part), "{part}\n{first}");
    }
    assert!(!first.contains("Previous failures") && !first.contains("Commit all"));
    let feedback = |name: &str, reason: &str, output: &str| Feedback {
        name: name.to_owned(),
        reason: reason.to_owned(),
        output: output.to_owned(),
    };
    let noise = "# noise\n".repeat(2000);
    let failures = [
        feedback(
            "u",
            "Exit code 1 (expected 0)",
            "# not a heading\n\u{1b}[31mred\n",
        ),
        feedback("v", &"x".repeat(9000), &noise),
    ];
    let second = prompt(&bead, true, &failures);
    assert!(
        second.contains(
            "## Previous failures\n\n- u: Exit code 1 (expected 0)\n      # not a heading\n"
        ),
        "{second}"
    );
    assert!(
        !second.contains('\u{1b}') && second.len() < 12_000,
        "{}",
        second.len()
    );
}

#[test]
fn v_11_what_an_earlier_run_noted_is_told_again() {
    let noted = json!([{"Name": "t", "Passed": false, "Reason": "slow"}]);
    let document = json!({"intent": "x", "dod": {"verifiers": [{"command": "true"}]}, "ralph_meta": {"verifier_results": noted}});
    let bead = read(document, Some("x")).unwrap();
    assert!(prompt(&bead, false, &Feedback::noted(&bead)).contains("- t: slow\n"));
}
