//! Gates in a run (contracts §8.5): those of a plan, and those that hold features back.

use serde_json::{Value, json};

use crate::world::{Setup, World, plan, sprint};

/// A sprint that nobody works on.
fn gate(number: &str, check: &str) -> String {
    let slug = number.replace('.', "-");
    format!(
        "### Sprint {number}: Green\n\n\
         **Type**: gate\n**Worktree**: `../worktrees/gate-{slug}`\n**Branch**: `gate/{slug}`\n**Source Branch**: `main`\n\n\
         **Verifiers**:\n- green: `{check}`\n\n"
    )
}

fn gated(check: &str) -> Setup {
    let parts = [
        sprint("1.1", "First", ""),
        gate("1.2", check),
        sprint("1.3", "Last", ""),
    ];
    Setup {
        plan: format!("# Plan: a test\n\n{}", parts.concat()),
        ..Setup::default()
    }
}

#[test]
fn v_11_a_gate_of_a_plan_checks_what_it_waits_for_and_calls_nobody() {
    let world = World::new(&gated("test -f work/1.1.txt && ! test -f work/1.3.txt"));
    world.run(&["run"]).exits(0);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed, 1.3 closed");
    assert!(
        !world.log().iter().any(|line| line.contains(" 1.2 ")),
        "{:?}",
        world.log()
    );
    // What comes after the gate starts from what was green.
    let files = world.git(&["ls-tree", "-r", "--name-only", "feature/1-3-last"]);
    assert!(files.contains("work/1.1.txt"), "{files}");
    let labels = world.bead("1.2")["labels"].to_string();
    assert!(labels.contains("\"gate\""), "{labels}");
    let gates = world.data(&["gate", "list"]);
    assert_eq!(gates["gates"][0]["holds"], "dependents");
    assert_eq!(gates["gates"][0]["state"], "green");
}

#[test]
fn v_11_a_red_gate_of_a_plan_is_for_a_person_and_is_run_again_by_retry() {
    let world = World::new(&gated("test -f ../../mended"));
    let ran = world.run(&["run"]).exits(1);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 blocked, 1.3 open");
    assert!(
        ran.stdout
            .contains("the gate is red: the checks failed: green"),
        "{ran:#?}"
    );
    let blocked = world.run(&["blocked"]).exits(0).stdout;
    assert!(blocked.contains("the gate is red"), "{blocked}");
    world.program("mended", "");
    let id = world.bead("1.2")["id"].as_str().unwrap().to_owned();
    world.run(&["retry", &id]).exits(0);
    world.run(&["run"]).exits(0);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed, 1.3 closed");
}

#[test]
fn v_11_a_gate_of_a_plan_is_run_by_run_alone() {
    let world = World::new(&gated("true"));
    let id = world.bead("1.2")["id"].as_str().unwrap().to_owned();
    let worktree = ["worktree", "add", "../worktrees/gate-1-2", "-b", "gate/1-2"];
    world.git(&worktree);
    for command in [
        &["exec", &id][..],
        &["exec", &id, "--force"],
        &["exec", &id, "--verify-only"],
        &["gate", "run", &id],
    ] {
        let refused = world.run(command).exits(1);
        let expected = "is run on the work that it waits for";
        assert!(refused.stderr.contains(expected), "{refused:#?}");
    }
    world.run(&["exec", &id, "--dry-run"]).exits(0);
    world.run(&["verify", &id]).exits(0);
    assert_eq!(world.statuses(), "1.1 open, 1.2 open, 1.3 open");
}

/// What `gate list` says of the one gate.
#[track_caller]
fn listed(world: &World) -> Value {
    world.data(&["gate", "list"])["gates"][0].clone()
}

/// What `gate run` says of a gate that it refuses.
#[track_caller]
fn refused(world: &World, id: &str) -> Value {
    let refused = world.run(&["gate", "run", id, "--json"]).exits(1);
    let envelope: Value = serde_json::from_str(&refused.stdout).unwrap();
    envelope["error"]["results"]["gates"][0].clone()
}

#[test]
fn v_11_what_is_said_of_a_gate_of_a_plan_is_what_run_saw() {
    let world = World::new(&gated("test -f ../../mended"));
    let before = listed(&world);
    assert_eq!(
        (&before["why"], &before["last_run"]),
        (&json!("never run"), &Value::Null)
    );
    world.run(&["run"]).exits(1);
    let red = listed(&world);
    assert_eq!(red["why"], "failed");
    let failure = red["failure"].as_str().unwrap();
    assert!(failure.contains("the checks failed: green"), "{red}");
    assert!(red["last_run"].is_string(), "{red}");
    // Nothing else runs it, and what asks a person stays on the list.
    let id = world.bead("1.2")["id"].as_str().unwrap().to_owned();
    assert_eq!(refused(&world, &id)["state"], "red");
    assert_eq!(listed(&world), red);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 blocked, 1.3 open");
    for command in [&["human", "list"][..], &["blocked"]] {
        let list = world.run(command).exits(0).stdout;
        assert!(list.contains(&id), "{command:?}: {list}");
    }
    // It is no gate that holds features back, and that is what is said.
    let expected = "hold only the sprints behind them";
    let checked = world.run(&["gate", "check"]).exits(0);
    assert!(checked.stdout.contains(expected), "{checked:#?}");
    let ran = world.run(&["gate", "run"]).exits(0);
    assert!(ran.stderr.contains(expected), "{ran:#?}");
    let long_ago = r#"{"checked_at": "2020-01-01T00:00:00Z"}"#;
    world.run(&["update", &id, "--metadata", long_ago]).exits(0);
    assert_eq!(listed(&world)["last_run"], "2020-01-01T00:00:00Z");
    world.program("mended", "");
    world.run(&["retry", &id]).exits(0);
    world.run(&["run"]).exits(0);
    let green = listed(&world);
    assert_eq!(green["state"], "green");
    assert_ne!(green["last_run"], "2020-01-01T00:00:00Z");
    assert!(green["last_run"].is_string(), "{green}");
    assert_eq!(refused(&world, &id)["state"], "green");
}

fn with_feature() -> Setup {
    let parts = [
        sprint("1a.1", "Task", ""),
        sprint("1b.1", "New", "**Labels**: lane-feature\n"),
    ];
    Setup {
        plan: format!("# Plan: a test\n\n{}", parts.concat()),
        ..Setup::default()
    }
}

const RED: &str = r#"{"gate_type": "smoke", "verifier_command": "test -f mended"}"#;

#[test]
fn g_3_a_red_gate_holds_the_features_of_a_run_back() {
    let world = World::new(&with_feature());
    world.write(".ralph/gates/smoke.json", RED);
    let ran = world.run(&["run"]).exits(0);
    assert_eq!(world.statuses(), "1a.1 closed, 1b.1 open");
    assert!(ran.stdout.contains("Gates are RED: smoke"), "{ran:#?}");
    let blocked = world.data(&["blocked"]);
    assert_eq!(blocked["beads"][0]["gates"], "Gates are RED: smoke");
    let status = world.run(&["status"]).exits(0).stdout;
    assert!(
        status.contains("held back") && status.contains("Gates are RED: smoke"),
        "{status}"
    );
    world.write("mended", "");
    world.run(&["gate", "run"]).exits(0);
    world.run(&["run"]).exits(0);
    assert_eq!(world.statuses(), "1a.1 closed, 1b.1 closed");
    assert_eq!(
        world.data(&["blocked"])["beads"].as_array().unwrap().len(),
        0
    );
}

#[test]
fn g_3_what_is_held_back_goes_on_when_the_gate_turns_green_meanwhile() {
    let setup = Setup {
        // The judge of the first sprint waits until somebody has begun the second one.
        agent: r#"
if [ "$role" = dev ]; then
  mkdir -p work && echo "the work of $bead" >"work/$sprint.txt"
  [ "$sprint" = 1a.1 ] && (cd "$base/repo" && touch mended && "$base/gate.sh")
  exit 0
fi
while [ "$sprint" = 1a.1 ] && ! grep -q '^dev 1b.1' "$base/log"; do sleep 0.1; done
echo '{"status": "pass", "message": "fine"}'
"#
        .to_owned(),
        ..with_feature()
    };
    let world = World::new(&setup);
    let green =
        r#"{"gate_type": "smoke", "verifier_command": "test -f mended", "status": "completed"}"#;
    world.write(".ralph/gates/smoke.json", RED);
    let script = format!(
        "#!/bin/sh\necho '{green}' >.ralph/gates/new && mv .ralph/gates/new .ralph/gates/smoke.json\n"
    );
    world.program("gate.sh", &script);
    world.run(&["run"]).exits(0);
    assert_eq!(world.statuses(), "1a.1 closed, 1b.1 closed");
    assert_eq!(world.log()[0], "dev 1a.1 1");
}

#[test]
fn g_3_nothing_but_features_is_held_back() {
    let setup = Setup {
        plan: plan(&[("1.1", "Only One")]),
        ..Setup::default()
    };
    let world = World::new(&setup);
    world.write(".ralph/gates/smoke.json", RED);
    world.run(&["run"]).exits(0);
    assert_eq!(world.statuses(), "1.1 closed");
}
