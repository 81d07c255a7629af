//! `mol current`, `show`, `progress` and `ready`.

use serde_json::{Value, json};

use super::{molecule, work};
use crate::env::strings;
use crate::store::{data, error, seeded};

fn roles(steps: &Value) -> Vec<&str> {
    let steps = steps.as_array().expect("steps").iter();
    steps
        .map(|step| step["role"].as_str().expect("a role"))
        .collect()
}

#[test]
fn f_13_current_is_the_step_in_progress_else_what_can_be_started() {
    let env = work();
    let current = |status: &str| {
        let data = data(&env, &["mol", "current", "bd-work-001"]);
        assert_eq!(
            (&data["molecule"], &data["status"]),
            (&json!("bd-work-001"), &json!(status))
        );
        data["current"].clone()
    };
    let plan =
        json!({"id": "bd-work-001-plan", "title": "Do plan", "status": "open", "role": "plan"});
    assert_eq!(current("open"), json!([plan]));
    env.run(&["claim", "bd-work-001-plan"]).exits(0);
    assert_eq!(current("open")[0]["status"], "in_progress");
    env.run(&["close", "bd-work-001-plan"]).exits(0);
    assert_eq!(roles(&current("open")), ["build"]);
    env.run(&["close", "bd-work-001-build", "bd-work-001-ship"])
        .exits(0);
    assert_eq!(current("closed"), json!([]));
    let said = env.run(&["mol", "current", "bd-work-001"]).exits(0).stderr;
    assert_eq!(said, "all steps of bd-work-001 work are closed\n");
}

#[test]
fn f_13_current_for_people_names_step_id_and_title() {
    let env = work();
    let text = env.run(&["mol", "current", "bd-work-001"]).exits(0).stdout;
    assert_eq!(
        text,
        "STEP  ID                STATUS  TITLE\nplan  bd-work-001-plan  open    Do plan\n"
    );
    env.run(&["update", "bd-work-001-plan", "--status", "blocked"])
        .exits(0);
    let said = env.run(&["mol", "current", "bd-work-001"]).exits(0).stderr;
    assert!(
        said.contains("no step of bd-work-001 work is ready"),
        "{said}"
    );
}

#[test]
fn show_has_every_step_with_its_place_and_what_it_waits_for() {
    let env = work();
    env.run(&["claim", "bd-work-001-plan", "--holder", "ann"])
        .exits(0);
    let shown = data(&env, &["mol", "show", "bd-work-001"]);
    assert_eq!(
        (&shown["formula"], &shown["wisp"], &shown["expires_at"]),
        (&json!("work"), &json!(false), &Value::Null)
    );
    assert_eq!(roles(&shown["steps"]), ["plan", "build", "ship"]);
    assert_eq!(
        shown["steps"][0],
        json!({
            "id": "bd-work-001-plan", "title": "Do plan", "status": "in_progress", "role": "plan",
            "place": "current", "gate": false, "waits_for": [], "holder": "ann",
        })
    );
    assert_eq!(shown["steps"][1]["place"], "pending");
    assert_eq!(shown["steps"][1]["waits_for"][0]["id"], "bd-work-001-plan");
    let text = env.run(&["mol", "show", "bd-work-001"]).exits(0).stdout;
    assert!(
        text.starts_with("bd-work-001 work (open)\n0 of 3 steps done\n"),
        "{text}"
    );
    assert!(
        text.contains("pending  ship   bd-work-001-ship   Do ship   bd-work-001-build"),
        "{text}"
    );
}

#[test]
fn progress_counts_one_molecule_or_all_that_are_not_closed() {
    let one = molecule("bd-work-001", &["plan", "build"], &json!({}));
    let env = seeded(&(one + &molecule("bd-fix-001", &["look"], &json!({}))));
    env.run(&["close", "bd-work-001-plan"]).exits(0);
    let all = data(&env, &["mol", "progress"]);
    assert_eq!(
        all["molecules"],
        json!([
            {"id": "bd-fix-001", "title": "fix", "status": "open", "total": 1, "done": 0, "in_progress": 0, "ready": 1, "percent": 0},
            {"id": "bd-work-001", "title": "work", "status": "open", "total": 2, "done": 1, "in_progress": 0, "ready": 1, "percent": 50},
        ])
    );
    env.run(&["close", "bd-fix-001-look"]).exits(0);
    let text = env.run(&["mol", "progress"]).exits(0).stdout;
    assert!(
        text.contains("bd-work-001  open    1/2") && !text.contains("bd-fix-001"),
        "{text}"
    );
    let closed = data(&env, &["mol", "progress", "bd-fix-001"]);
    assert_eq!(closed["molecules"][0]["percent"], 100);
}

#[test]
fn f_10_ready_lists_steps_of_molecules_and_of_wisps_that_are_not_over() {
    let wisp = |root: &str, came: &str| {
        molecule(
            root,
            &["look"],
            &json!({"ephemeral": true, "created_at": came}),
        )
    };
    let lines = molecule("bd-work-001", &["plan", "build"], &json!({}))
        + &wisp("bd-new-001", "2026-01-01T20:00:00Z")
        + &wisp("bd-old-001", "2025-12-01T00:00:00Z");
    let env = seeded(&lines);
    let ready = data(&env, &["mol", "ready"]);
    let found: Vec<&str> = ready["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["id"].as_str().unwrap())
        .collect();
    assert_eq!(found, ["bd-new-001-look", "bd-work-001-plan"]);
    assert_eq!(ready["steps"][1]["molecule"], "bd-work-001");
    let one = data(&env, &["mol", "ready", "bd-work-001"]);
    assert_eq!(roles(&one["steps"]), ["plan"]);
}

#[test]
fn what_is_no_molecule_is_refused_with_a_hint() {
    let env = work();
    let refused = error(&env, &["mol", "show", "bd-work-001-plan"], 1);
    assert_eq!(refused["code"], "VALIDATION.CONSTRAINT");
    assert_eq!(
        refused["suggested_action"],
        "it is a step of bd-work-001: name that"
    );
    let unknown = error(&env, &["mol", "current", "bd-nothing"], 1);
    assert_eq!(unknown["code"], "DEPENDENCY.UNRESOLVED");
    assert!(strings(&data(&env, &["mol", "wisp", "list"])["wisps"]).is_empty());
}
