//! `patrol` (contracts §8.6): what is run, what is filed, what is closed.

use serde_json::{Value, json};

use crate::dod::wait_for;
use crate::env::TestEnv;

const UNIT: &str = "[PATROL] Unit tests failing";
const LOG: &str = ".ralph/patrol/20260102-030405-unit.log";

/// A project whose unit tests pass when there is a file `good`, and whose build always does.
#[track_caller]
fn project() -> TestEnv {
    let env = TestEnv::new();
    env.make_directory(".git");
    env.run(&["init"]).exits(0);
    env.write(
        "beads-ralph.yaml",
        "patrol: {unit: 'echo looked; echo why >&2; test -e good', build: 'true'}\n",
    );
    env
}

#[track_caller]
fn patrol(env: &TestEnv) -> Vec<Value> {
    let data = env.run(&["patrol", "--once", "--json"]).exits(0).data();
    data["checks"].as_array().unwrap().clone()
}

/// The beads with a title, whatever their status.
#[track_caller]
fn titled(env: &TestEnv, title: &str) -> Vec<Value> {
    let data = env.run(&["list", "--all", "--json"]).exits(0).data();
    let beads = data["beads"].as_array().unwrap_or_else(|| panic!("{data}"));
    let titled = beads.iter().filter(|bead| bead["title"] == title);
    titled.cloned().collect()
}

#[test]
fn g_7_a_failure_is_filed_once_and_closed_when_it_is_mended() {
    let env = project();
    let checks = patrol(&env);
    assert_eq!(checks[0]["done"], "filed", "{checks:?}");
    assert_eq!(checks[0]["log"], LOG);
    assert_eq!(checks[1]["passed"], true);
    assert_eq!(env.text(LOG), "looked\nwhy\n");
    assert_eq!(
        env.names(".ralph/patrol").len(),
        1,
        "what passed leaves no log"
    );
    let [bead] = titled(&env, UNIT).try_into().unwrap();
    let id = bead["id"].as_str().unwrap().to_owned();
    assert_eq!(
        (&bead["priority"], &bead["issue_type"]),
        (&json!(0), &json!("bug"))
    );
    let text = env.run(&["show", &id]).exits(0).stdout;
    assert!(text.contains(LOG), "{text}");

    let checks = patrol(&env);
    assert_eq!(
        (&checks[0]["done"], &checks[0]["log"]),
        (&json!("known"), &Value::Null)
    );
    assert_eq!(
        env.names(".ralph/patrol").len(),
        1,
        "what is known leaves no second log"
    );
    let told = env.run(&["patrol", "--once"]).exits(0).stdout;
    assert!(told.starts_with("unit failed: Exit code 1"), "{told}");
    assert_eq!(titled(&env, UNIT).len(), 1);
    env.run(&["verify", &id]).exits(1);

    env.write("good", "");
    env.run(&["verify", &id]).exits(0);
    let checks = patrol(&env);
    assert_eq!(
        (&checks[0]["done"], &checks[0]["beads"]),
        (&json!("closed"), &json!([id]))
    );
    let [bead] = titled(&env, UNIT).try_into().unwrap();
    assert_eq!(bead["status"], "closed");
    let reason = bead["close_reason"].as_str().unwrap();
    assert!(reason.ends_with("passes again"), "{reason}");
    assert_eq!(patrol(&env)[0]["done"], "nothing");

    std::fs::remove_file(env.path("good")).unwrap();
    patrol(&env);
    assert_eq!(
        titled(&env, UNIT).len(),
        2,
        "what breaks again is a new bead"
    );
}

#[test]
fn g_7_a_bead_that_somebody_works_on_is_left_to_them() {
    let env = project();
    let checks = patrol(&env);
    let id = checks[0]["beads"][0].as_str().unwrap();
    env.run(&["claim", id]).exits(0);
    env.write("good", "");
    let checks = patrol(&env);
    assert_eq!(checks[0]["held"], json!([id]), "{checks:?}");
    assert_eq!(titled(&env, UNIT)[0]["status"], "in_progress");
}

#[test]
fn g_7_a_dead_claim_is_nobody_at_work() {
    let env = project();
    let checks = patrol(&env);
    let id = checks[0]["beads"][0].as_str().unwrap();
    let mut worker = env.tool("sleep", &["60"]).spawn();
    let pid = worker.id().to_string();
    env.run(&["claim", id, "--pid", &pid]).exits(0);
    env.write("good", "");
    assert_eq!(patrol(&env)[0]["held"], json!([id]));
    worker.kill().unwrap();
    worker.wait().unwrap();
    let checks = patrol(&env);
    assert_eq!(
        (&checks[0]["beads"], &checks[0]["held"]),
        (&json!([id]), &json!([]))
    );
    assert_eq!(titled(&env, UNIT)[0]["status"], "closed");
}

#[test]
fn g_7_patrols_at_the_same_time_file_one_bead() {
    let env = project();
    // Each waits in its check until all of them are there, so that they file at the same time.
    let meet = "echo x >>met; while [ $(wc -l <met) -lt 4 ]; do sleep 0.01; done; false";
    env.write("beads-ralph.yaml", format!("patrol: {{unit: '{meet}'}}\n"));
    let patrols: Vec<_> = (0..4)
        .map(|_| env.command(&["patrol", "--once", "--json"]).spawn())
        .collect();
    for patrol in patrols {
        crate::env::Output::of(patrol, "patrol".to_owned()).exits(0);
    }
    assert_eq!(titled(&env, UNIT).len(), 1);
    assert_eq!(
        env.names(".ralph/patrol").len(),
        1,
        "the log of the one that filed"
    );
}

#[test]
fn g_6_a_dry_run_says_what_is_found_and_writes_nothing() {
    let env = TestEnv::new();
    env.make_directory(".git");
    env.run(&["init"]).exits(0);
    env.run(&["patrol", "--dry-run"]).exits(1);
    env.write("Cargo.toml", "");
    env.write("go.mod", "");
    let output = env.run(&["patrol", "--dry-run"]).exits(0).stdout;
    assert_eq!(
        output,
        "would run unit: go test ./... && cargo test\nwould run build: go build ./... && cargo build\n"
    );
    assert_eq!(env.names(".ralph/patrol"), Vec::<String>::new());
    assert_eq!(titled(&env, UNIT), Vec::<Value>::new());
}

#[test]
fn g_6_a_check_that_takes_too_long_has_failed() {
    let env = project();
    env.write(
        "beads-ralph.yaml",
        "patrol: {unit: 'sleep 60', timeout: 1s}\n",
    );
    let checks = patrol(&env);
    let reason = checks[0]["reason"].as_str().unwrap();
    assert!(reason.contains("timed out"), "{reason}");
}

#[test]
fn g_6_without_once_it_goes_on_until_it_is_interrupted() {
    let env = project();
    let line = "patrol: {unit: 'echo x >>looks; [ $(wc -l <looks) -lt 3 ] || touch thrice', interval: 10ms}\n";
    env.write("beads-ralph.yaml", line);
    let child = env.command(&["patrol", "--json"]).spawn();
    wait_for(&env, "thrice");
    let pid = child.id().to_string();
    env.tool("kill", &[&pid]).run().exits(0);
    let data = crate::env::Output::of(child, "patrol".to_owned())
        .exits(0)
        .data();
    assert!(data["cycles"].as_u64().unwrap() >= 2, "{data}");
}
