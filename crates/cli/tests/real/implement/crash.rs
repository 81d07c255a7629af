//! A worker that is killed, and one whose model fails for ever: there is a report all the same, and a person lets it be done again.

use serde_json::{Value, json};

use super::ground::{Ground, RED, commits, has_label, worker};

const TITLE: &str = "Add two numbers";

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn i_21_a_worker_that_crashed_waits_for_a_person_who_lets_it_be_done_again() {
    let killed = vec![json!({"run": "kill -9 $PPID"}), json!({"say": "Done."})];
    let fails = vec![json!({"fail": {"status": 500}})];
    let rule = worker("red-tests", TITLE, &[killed, fails, commits(RED, 1)]);
    let ground = Ground::new(&[rule]);
    ground.create("feature", TITLE, "", "");
    ground.completes("preflight");
    for word in ["signal 9", "500"] {
        let told = ground.needs_human("red-tests");
        crashed(&ground, &told, word);
        ground.resolve(&["--answer", "try again"]);
    }
    let told = ground.completes("red-tests");
    assert_eq!(told["gate"], "fail");
    // Each of them is a session of its own: `claude` takes no id twice.
    let sessions: std::collections::BTreeSet<String> = (ground.asked("red-tests").into_iter())
        .map(|asked| asked.session)
        .collect();
    assert_eq!(sessions.len(), 3);
}

/// The report is one of ours, and says what happened.
#[track_caller]
fn crashed(ground: &Ground, told: &Value, word: &str) {
    assert_eq!(told["status"], "failed", "{told:#}");
    let step = ground.bead(told["step"].as_str().unwrap());
    assert!(has_label(&step, "worker-audit-tdd-red-team"), "{step:#}");
    let report = std::fs::read_to_string(told["report"].as_str().unwrap()).unwrap();
    let report: Value = serde_saphyr::from_str(&report).unwrap();
    let keys: Vec<&str> = report
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(keys.len(), 5, "{report:#}");
    assert_eq!(report["status"], "failed");
    let escalation = &report["escalations"][0];
    assert_eq!(escalation["reason"], "Worker crashed", "{report:#}");
    let detail = escalation["detail"].as_str().unwrap();
    assert!(detail.contains(word), "{detail}");
}
