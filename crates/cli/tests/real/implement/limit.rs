//! An account at its limit: that is no fault of the work, nobody is asked, and the stage is done later.

use beads_ralph_testkit::scripted_model::Login;
use serde_json::{Value, json};

use super::ground::{Ground, RED, Terms, commits, has_label, worker};

const TITLE: &str = "Add two numbers";

/// Long after every test.
const RESETS_AT: i64 = 4_102_444_800;

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn z_13_a_limit_is_no_end_of_a_stage() {
    for (login, failure) in [
        (Login::Plan, json!({"status": 429, "resets_at": RESETS_AT})),
        (Login::Key, json!({"status": 429, "retry_after": 1})),
    ] {
        refused(login, &failure);
    }
}

#[track_caller]
fn refused(login: Login, failure: &Value) {
    let limited = vec![json!({"fail": failure})];
    let rule = worker("red-tests", TITLE, &[limited, commits(RED, 1)]);
    let terms = Terms {
        login,
        ..Terms::default()
    };
    let ground = Ground::with(&[rule], &terms);
    ground.create("feature", TITLE, "", "");
    let told = ground.completes("preflight");
    let before = ground.source();
    let ended = ground.program(&["implement", "proj-1", "--json"]).run();
    assert_ne!(ended.code, Some(0), "{ended:#?}");
    let envelope: Value = serde_json::from_str(&ended.stdout).unwrap();
    let message = envelope["error"]["message"].as_str().unwrap();
    assert!(message.contains("limit"), "{envelope:#}");
    if login == Login::Plan {
        let action = envelope["error"]["suggested_action"].as_str().unwrap();
        assert!(action.contains("2100-01-01T00:00:00Z"), "{envelope:#}");
    }
    assert_eq!(ground.source(), before, "nothing is flagged");
    let step = told["step"]
        .as_str()
        .unwrap()
        .replace("preflight", "red-tests");
    let step = ground.bead(&step);
    assert_eq!(step["status"], "open", "{step:#}");
    assert!(!has_label(&step, "human"), "{step:#}");
    ground.completes("red-tests");
}
