//! Gates, permission and the order of work, rule by rule.

use serde_json::{Value, json};

use super::*;
use crate::dod;
use crate::issue::Issue;

fn bead(more: &Value) -> dod::DodBead {
    let mut document = json!({"id": "g", "intent": "be green", "type": "gate",
        "dod": {"verifiers": [{"name": "v", "command": "true"}]}});
    let fields = more.as_object().unwrap().clone();
    document.as_object_mut().unwrap().extend(fields);
    dod::read(document, None).unwrap()
}

fn light(more: &Value) -> Light {
    Gate::of_bead(&bead(more)).light
}

fn gate(id: &str, is_green: bool, more: &Value) -> Gate {
    let status = if is_green { "completed" } else { "pending" };
    let mut document = json!({"id": id, "status": status});
    let fields = more.as_object().unwrap().clone();
    document.as_object_mut().unwrap().extend(fields);
    Gate::of_bead(&bead(&document))
}

fn issue(more: &Value) -> Issue {
    let mut document = json!({"id": "x", "title": "x"});
    let fields = more.as_object().unwrap().clone();
    document.as_object_mut().unwrap().extend(fields);
    Issue::without_comments(document).unwrap()
}

fn applicant(more: &Value) -> Applicant {
    Applicant::of_issue(&issue(more))
}

#[test]
fn g_1_only_a_gate_that_passed_is_green() {
    for status in ["completed", "closed", "GREEN"] {
        assert_eq!(light(&json!({"status": status})), Light::Green, "{status}");
    }
    let red = [
        (json!({}), Why::NeverRun),
        (json!({"status": "open"}), Why::NeverRun),
        (json!({"status": "RED"}), Why::Failed),
        (json!({"status": "in_progress"}), Why::Running),
        (json!({"ralph_meta": {"gate_status": "red"}}), Why::Failed),
        (
            json!({"ralph_meta": {"gate_status": "green"}}),
            Why::Reopened,
        ),
        (
            json!({"status": "failed", "ralph_meta": {"gate_status": "green"}}),
            Why::Failed,
        ),
    ];
    for (document, why) in red {
        assert_eq!(light(&document), Light::Red(why), "{document}");
    }
}

#[test]
fn g_1_a_gate_that_cannot_be_read_is_red() {
    let gate = Gate::of_issue(&issue(&json!({"labels": ["gate"]})));
    assert_eq!(gate.light, Light::Red(Why::Unreadable));
    assert!(gate.failure.unwrap().contains("dod.verifiers"));
    let closed =
        json!({"labels": ["gate"], "status": "closed", "closed_at": "2026-01-02T03:04:05Z"});
    assert_eq!(Gate::of_issue(&issue(&closed)).light, Light::Green);
}

#[test]
fn g_1_a_gate_that_passed_with_other_checks_is_red() {
    let digest = |verifier: &crate::bead::Verifier| verifier.name.clone();
    let light = |noted: &Value| {
        let results = json!({"status": "completed", "ralph_meta": {"verifier_results": noted}});
        let bead = bead(&results);
        Gate::of_bead(&bead).with_checks_of(&bead, digest).light
    };
    let same = json!([{"verifier_sha256": "v"}, {"verifier_sha256": ""}]);
    // Where nothing is noted, nobody can tell.
    for noted in [same, json!([]), json!([{"Name": "v"}])] {
        assert_eq!(light(&noted), Light::Green, "{noted}");
    }
    let more = json!([{"verifier_sha256": "v"}, {"verifier_sha256": "w"}]);
    for noted in [more, json!([{"verifier_sha256": "w"}])] {
        assert_eq!(light(&noted), Light::Red(Why::Changed), "{noted}");
    }
    let mut closed = json!({"labels": ["gate"], "status": "closed", "closed_at": "2026-01-02T03:04:05Z",
        "metadata": {"dod": {"verifiers": "x"}, "ralph_meta": {"verifier_results": [{"verifier_sha256": "v"}]}}});
    let read = |document: &Value| Gate::of_issue(&issue(document)).light;
    assert_eq!(read(&closed), Light::Red(Why::Changed));
    closed["metadata"]["ralph_meta"] = json!({});
    assert_eq!(read(&closed), Light::Green);
}

#[test]
fn v_11_a_gate_of_a_plan_says_what_run_noted() {
    let of = |status: &str, metadata: &Value| {
        let mut metadata = metadata.clone();
        metadata["dod"] = json!({"verifiers": [{"name": "v", "command": "true"}]});
        Gate::of_issue(&issue(
            &json!({"issue_type": "beads-ralph-work", "labels": ["gate"], "status": status,
            "closed_at": (status == "closed").then_some("2026-01-02T03:04:05Z"), "metadata": metadata}),
        ))
    };
    let red = json!({"scrum_result": {"success": false, "error": "v: no"}, "checked_at": "then"});
    for status in ["blocked", "open"] {
        let gate = of(status, &red);
        assert_eq!(gate.light, Light::Red(Why::Failed));
        assert_eq!(gate.failure.as_deref(), Some("v: no"));
        assert_eq!(gate.last_run.as_deref(), Some("then"));
    }
    let green =
        json!({"scrum_result": {"success": true}, "ralph_meta": {"last_attempt": "before"}});
    let gate = of("closed", &green);
    assert_eq!(gate.light, Light::Green);
    assert_eq!(gate.last_run.as_deref(), Some("2026-01-02T03:04:05Z"));
    assert_eq!(of("open", &green).light, Light::Red(Why::Reopened));
    assert_eq!(of("open", &json!({})).light, Light::Red(Why::NeverRun));
}

#[test]
fn g_1_a_file_that_is_not_valid_is_a_red_gate_if_it_means_to_be_one() {
    let read = |document: &Value| Gate::of_invalid(document.as_object().unwrap(), "stem", "odd");
    for document in [
        json!({"type": "gate"}),
        json!({"lane": "gate"}),
        json!({"blocking": {"is_gate": true}}),
        json!({"verifier_command": 1}),
    ] {
        let gate = read(&document).unwrap();
        assert_eq!((gate.id.as_str(), gate.is_red()), ("stem", true));
    }
    let done = json!({"type": "gate", "id": "g", "status": "completed", "convoy": "pay"});
    let gate = read(&done).unwrap();
    assert_eq!((gate.id.as_str(), gate.light), ("g", Light::Green));
    assert!(gate.groups.contains("pay"));
    assert_eq!(read(&json!({"type": "task", "dod": {}})), None);
}

#[test]
fn g_1_of_two_gates_with_one_id_the_red_one_counts() {
    let (green, red) = (
        || gate("smoke", true, &json!({})),
        || gate("smoke", false, &json!({})),
    );
    for gates in [[green(), red()], [red(), green()]] {
        let gates = Gates::new(gates);
        assert_eq!(gates.all().len(), 1);
        assert!(gates.all()[0].is_red());
        let failure = gates.all()[0].failure.as_deref();
        assert!(failure.unwrap().contains("another gate has this id"));
    }
}

#[test]
fn z_28_whoever_works_on_a_gate_and_whoever_counts_it_agree() {
    let checks = json!({"verifiers": [{"name": "v", "command": "true"}]});
    let planned = "beads-ralph-work";
    for (fields, is_one) in [
        (
            json!({"labels": ["gate"], "metadata": {"dod": checks}}),
            true,
        ),
        (json!({"metadata": {"lane": "gate", "dod": checks}}), true),
        (
            json!({"metadata": {"blocking": {"is_gate": true}, "dod": checks}}),
            true,
        ),
        (
            json!({"issue_type": "gate", "metadata": {"dod": checks}}),
            true,
        ),
        (json!({"metadata": {"lane": "bug", "dod": checks}}), false),
        (
            json!({"issue_type": planned, "metadata": {"lane": "gate", "dod": checks}}),
            false,
        ),
    ] {
        let issue = issue(&fields);
        assert_eq!(is_gate(&issue), is_one, "{fields}");
        let bead = dod::of_issue(&issue, &[]).unwrap();
        assert_eq!(bead.is_gate, is_one, "{fields}");
    }
    assert!(!is_gate(&issue(&json!({"issue_type": "gate"}))));
}

#[test]
fn g_2_a_gate_that_stays_open_is_green_by_its_note() {
    let open = |gate_status: &str| json!({"blocking": {"auto_close_on_pass": false}, "ralph_meta": {"gate_status": gate_status}});
    assert_eq!(light(&open("green")), Light::Green);
    assert_eq!(light(&open("red")), Light::Red(Why::Failed));
}

#[test]
fn g_2_when_it_ran_and_what_failed_are_told() {
    let results = json!([{"name": "v", "timestamp": "2026-01-02T03:04:05Z"}]);
    let meta = json!({"gate_status": "red", "verifier_results": results, "last_failure_summary": "v: Exit code 1"});
    let gate = Gate::of_bead(&bead(&json!({"ralph_meta": meta})));
    assert_eq!(gate.last_run.as_deref(), Some("2026-01-02T03:04:05Z"));
    assert_eq!(gate.failure.as_deref(), Some("v: Exit code 1"));
}

#[test]
fn g_3_features_alone_are_held_back_by_a_red_gate() {
    let gates = Gates::new([
        gate("smoke", false, &json!({})),
        gate("lint", true, &json!({})),
        gate("build", false, &json!({})),
    ]);
    for feature in [
        json!({"issue_type": "feature"}),
        json!({"issue_type": "task", "metadata": {"lane": "feature"}}),
        json!({"issue_type": "task", "labels": ["lane-feature"]}),
    ] {
        let denied = gates.permission(&applicant(&feature)).unwrap_err();
        assert_eq!(
            denied.to_string(),
            "Gates are RED: build, smoke",
            "{feature}"
        );
    }
    for other in [
        json!({"issue_type": "task"}),
        json!({"issue_type": "bug"}),
        json!({"issue_type": "task", "labels": ["gate"], "metadata": {"lane": "feature"}}),
    ] {
        assert_eq!(gates.permission(&applicant(&other)), Ok(()), "{other}");
    }
}

#[test]
fn g_3_beads_in_files_are_features_by_type_or_lane() {
    let is_feature = |more: &Value| {
        let mut document = json!({"type": "task"});
        document
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        Applicant::of_bead(&bead(&document)).is_feature
    };
    assert!(is_feature(&json!({"type": "feature"})));
    assert!(is_feature(&json!({"lane": "feature"})));
    assert!(!is_feature(&json!({"lane": "bug"})));
    assert!(!is_feature(&json!({"type": "gate", "lane": "feature"})));
}

#[test]
fn g_3_green_gates_and_no_gates_hold_nothing_back() {
    let feature = applicant(&json!({"issue_type": "feature"}));
    assert_eq!(Gates::default().permission(&feature), Ok(()));
    let green = Gates::new([gate("smoke", true, &json!({}))]);
    assert_eq!(green.permission(&feature), Ok(()));
}

#[test]
fn g_4_of_a_group_only_its_own_gates_count() {
    let gates = Gates::new([
        gate("all", false, &json!({})),
        gate("pay", true, &json!({"labels": ["group-pay"]})),
        gate(
            "mail",
            false,
            &json!({"blocking": {"blocks_convoy": "mail"}}),
        ),
    ]);
    let red = |more: &Value| match gates.permission(&applicant(more)) {
        Ok(()) => Vec::new(),
        Err(denied) => denied.red,
    };
    let feature = |more: &Value| {
        let mut document = json!({"issue_type": "feature"});
        document
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        red(&document)
    };
    assert_eq!(feature(&json!({})), ["all", "mail"]);
    assert!(feature(&json!({"labels": ["group-pay"]})).is_empty());
    assert_eq!(feature(&json!({"metadata": {"convoy": "mail"}})), ["mail"]);
    // A group without a gate is no way around the others.
    assert_eq!(feature(&json!({"labels": ["group-new"]})), ["all"]);
    // Whoever asks for a group hears the same.
    let counting = |group: &str| -> Vec<String> {
        let groups = [group.to_owned()].into();
        let counting = gates.counting(&groups);
        counting.map(|gate| gate.id.clone()).collect()
    };
    assert_eq!(counting("pay"), ["pay"]);
    assert_eq!(counting("new"), ["all"]);
}

#[test]
fn g_4_a_gate_holds_nothing_back_that_it_waits_for() {
    let waits = json!({"id": "g", "issue_type": "task", "labels": ["gate"],
        "dependencies": [{"issue_id": "g", "depends_on_id": "x", "type": "blocks"}]});
    let gates = Gates::new([Gate::of_issue(&issue(&waits))]);
    assert_eq!(
        gates.permission(&applicant(&json!({"issue_type": "feature"}))),
        Ok(())
    );
    let other = json!({"id": "y", "issue_type": "feature"});
    assert!(gates.permission(&applicant(&other)).is_err());
}

#[test]
fn g_4_a_gate_of_a_plan_holds_by_its_edges_alone() {
    let planned = json!({"id": "g", "issue_type": "beads-ralph-work", "labels": ["gate"]});
    let gates = Gates::new([Gate::of_issue(&issue(&planned))]);
    assert!(gates.all()[0].is_red());
    assert_eq!(
        gates.permission(&applicant(&json!({"issue_type": "feature"}))),
        Ok(())
    );
}

#[test]
fn g_5_fixes_and_bugs_come_before_features() {
    let gates = Gates::new([gate("smoke", false, &json!({}))]);
    let fix = json!({"id": "fix", "priority": 3, "issue_type": "task",
        "dependencies": [{"issue_id": "fix", "depends_on_id": "smoke", "type": "discovered-from"}]});
    let mut beads = [
        applicant(&json!({"id": "feature", "priority": 0, "issue_type": "feature"})),
        applicant(&json!({"id": "b", "priority": 1, "issue_type": "task"})),
        applicant(&json!({"id": "a", "priority": 1, "issue_type": "task"})),
        applicant(&json!({"id": "bug", "priority": 2, "issue_type": "bug"})),
        applicant(&fix),
    ];
    gates.order(&mut beads);
    let ids: Vec<&str> = beads.iter().map(|bead| bead.id.as_str()).collect();
    assert_eq!(ids, ["bug", "fix", "feature", "a", "b"]);
}
