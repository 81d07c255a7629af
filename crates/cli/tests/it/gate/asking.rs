//! Who must ask the gates, for which group, and in which order work is taken (G-3…G-5).

use serde_json::{Value, json};

use super::{bead, import, with_store};

#[test]
fn g_3_implement_asks_for_all_that_was_not_begun() {
    let env = with_store();
    crate::dod::git_repository(&env);
    env.run(&["gate", "create", "smoke", "--verifier", "false"])
        .exits(0);
    import(&env, &bead("bd-1", &json!({"status": "in_progress"})));
    env.run(&["gate", "enforce"]).exits(0);
    for (id, status) in [
        ("bd-2", "hooked"),
        ("bd-3", "deferred"),
        ("bd-4", "in_progress"),
    ] {
        import(&env, &bead(id, &json!({"status": status})));
    }
    for id in ["bd-1", "bd-2", "bd-3", "bd-4"] {
        let told = env.run(&["implement", id, "--json"]).exits(0).data();
        assert_eq!(told["ending"], "waiting", "{id}: {told}");
        assert_eq!(told["message"], "Gates are RED: smoke", "{id}");
        assert_eq!(told["molecule"], Value::Null, "{id}");
    }
}

#[test]
fn g_3_implement_goes_on_with_what_was_begun() {
    let env = with_store();
    crate::dod::git_repository(&env);
    import(&env, &bead("bd-1", &json!({"status": "in_progress"})));
    let root = json!({"id": "bd-m", "title": "implement-feature", "issue_type": "molecule", "labels": ["for-bead-bd-1"]});
    import(&env, &root);
    env.run(&["gate", "create", "smoke", "--verifier", "false"])
        .exits(0);
    let told = env
        .run(&["implement", "bd-1", "--dry-run", "--json"])
        .exits(0)
        .data();
    assert_ne!(told["message"], "Gates are RED: smoke", "{told}");
    assert_eq!(told["molecule"], "bd-m", "{told}");
}

#[test]
fn g_4_check_of_a_group_says_what_its_features_hear() {
    let env = with_store();
    env.run(&["gate", "create", "smoke", "--verifier", "false"])
        .exits(0);
    import(&env, &bead("bd-1", &json!({"labels": ["group-red"]})));
    import(&env, &bead("bd-2", &json!({})));
    env.run(&["gate", "check", "bd-1"]).exits(1);
    let asked = ["gate", "check", "--group", "red", "--json"];
    let denied = env.run(&asked).exits(1).json();
    assert_eq!(denied["error"]["message"], "Gates are RED: smoke");
    assert_eq!(denied["error"]["results"]["held"], json!(["bd-1"]));
    env.run(&[
        "gate",
        "create",
        "own",
        "--group",
        "red",
        "--verifier",
        "true",
    ])
    .exits(0);
    env.run(&["gate", "run", "own"]).exits(0);
    env.run(&["gate", "check", "bd-1"]).exits(0);
    env.run(&asked).exits(0);
}

#[test]
fn g_4_a_group_that_nobody_knows_is_no_green_one() {
    let env = with_store();
    env.run(&[
        "gate",
        "create",
        "pay",
        "--group",
        "payments",
        "--verifier",
        "true",
    ])
    .exits(0);
    env.run(&["gate", "run"]).exits(0);
    env.run(&["gate", "check", "--group", "payments"]).exits(0);
    let unknown = env.run(&["gate", "check", "--group", "payment"]).exits(1);
    for part in ["'payment'", "did you mean payments?"] {
        assert!(unknown.stderr.contains(part), "{part}: {unknown:#?}");
    }
    // A bead is enough, also one in a file, and the gates of no group count for it.
    let file = json!({"intent": "x", "type": "feature", "convoy": "mail", "dod": {"verifiers": [{"name": "t", "command": "true"}]}});
    env.write(".ralph/beads/x.json", file.to_string());
    env.run(&["gate", "check", "--group", "mail"]).exits(0);
}

#[test]
fn g_5_drive_takes_repairs_first_while_a_gate_is_red() {
    let env = with_store();
    crate::dod::git_repository(&env);
    env.run(&["gate", "create", "smoke", "--verifier", "test -e works"])
        .exits(0);
    let ready = |id: &str, kind: &str, priority: u8| {
        let more =
            json!({"labels": ["implementation-ready"], "issue_type": kind, "priority": priority});
        import(&env, &bead(id, &more));
    };
    ready("bd-1", "task", 0);
    ready("bd-2", "bug", 2);
    ready("bd-3", "bug", 1);
    let queue = || -> Vec<String> {
        let data = env.run(&["drive", "--dry-run", "--json"]).exits(0).data();
        let queue = data["queue"].as_array().unwrap().iter();
        queue
            .map(|it| it["source"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(queue(), ["bd-3", "bd-2", "bd-1"]);
    // I-40, when nothing is to be mended first.
    env.write("works", "");
    env.run(&["gate", "run"]).exits(0);
    assert_eq!(queue(), ["bd-1", "bd-3", "bd-2"]);
}
