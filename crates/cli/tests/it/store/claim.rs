//! `claim`, `heartbeat`, `release` and `recover` (L-11, Z-2, Z-3, Z-4).

use serde_json::json;

use super::{data, error, five, shown, with_json};
use crate::env::{Output, TestEnv, keys};

/// An hour and a second after the moment that tests fix.
const LATER: &str = "1767326646";

#[track_caller]
fn at_later(env: &TestEnv, args: &[&str]) -> Output {
    env.command(args).env("SOURCE_DATE_EPOCH", LATER).run()
}

#[test]
fn l_11_a_claim_gives_a_fence_and_a_lease() {
    let env = five();
    let results = data(
        &env,
        &["claim", "bd-a", "--actor", "alice", "--lease", "30m"],
    );
    let result = &results["results"][0];
    assert_eq!(
        (&result["id"], &result["claimed"]),
        (&json!("bd-a"), &json!(true))
    );
    assert_eq!(
        (&result["fence"], &result["lease_until"]),
        (&json!(1), &json!("2026-01-02T03:34:05Z"))
    );
    assert_eq!(result["holder"]["run"], "alice");
    let bead = shown(&env, "bd-a");
    assert_eq!(
        (&bead["status"], &bead["claim"]["holder"]["run"]),
        (&json!("in_progress"), &json!("alice"))
    );
    assert!(bead["assignee"].is_null(), "z_3: the role stays");
    let text = env.run(&["show", "bd-a"]).exits(0).stdout;
    assert!(
        text.contains("in_progress, held by alice on ")
            && text.contains("lease until 2026-01-02T03:34:05Z"),
        "{text}"
    );
    for wrong in ["0s", "soon", "-5m"] {
        env.run(&["claim", "bd-d", &format!("--lease={wrong}")])
            .exits(2);
    }
    error(&env, &["claim", "bd-d", "--lease", "9999999999h"], 1);
}

#[test]
fn l_11_of_many_claimers_one_wins() {
    let env = five();
    let children: Vec<_> = (0..8)
        .map(|n| {
            env.command(&["claim", "bd-a", "--actor", &format!("a{n}")])
                .spawn()
        })
        .collect();
    let ended: Vec<Output> = (children.into_iter())
        .map(|child| Output::of(child, "claim".to_owned()))
        .collect();
    assert_eq!(
        ended.iter().filter(|output| output.code == Some(0)).count(),
        1
    );
    for lost in ended.iter().filter(|output| output.code != Some(0)) {
        assert_eq!(lost.code, Some(4));
        assert!(lost.stderr.contains("already claimed"), "{lost:#?}");
    }
}

#[test]
fn l_12_each_of_several_is_tried_and_a_loss_is_exit_code_4() {
    let env = five();
    env.run(&["claim", "bd-a"]).exits(0);
    let error = error(&env, &["claim", "bd-a", "bd-d", "bd-b", "nobody"], 4);
    let results = &error["results"];
    assert!(
        results[0]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("already claimed")
    );
    assert_eq!(
        (&results[1]["claimed"], &results[1]["fence"]),
        (&json!(true), &json!(1))
    );
    assert_eq!(results[2]["error"]["code"], "VALIDATION.CONSTRAINT");
    assert_eq!(results[3]["error"]["code"], "DEPENDENCY.UNRESOLVED");
    assert_eq!(keys(&results[3]), ["id", "claimed", "error"]);
    assert_eq!(results[3]["claimed"], false);
    assert_eq!(
        error["message"].as_str().unwrap().split(':').next(),
        Some("3 of 4 beads failed")
    );
    let output = env.run(&["claim", "bd-a", "bd-d"]).exits(4);
    assert_eq!(
        output.stderr.matches("already claimed").count(),
        2,
        "{}",
        output.stderr
    );
}

#[test]
fn what_cannot_be_claimed_says_why() {
    let env = five();
    let refused = error(&env, &["claim", "bd-b"], 1);
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("waits for bd-a")
    );
    assert_eq!(
        data(&env, &["claim", "bd-b", "--force"])["results"][0]["claimed"],
        true
    );
    let closed = error(&env, &["claim", "bd-e"], 1);
    assert!(closed["message"].as_str().unwrap().contains("closed"));
    let process = error(&env, &["claim", "bd-a", "--pid", "4194999"], 1);
    assert!(
        process["message"]
            .as_str()
            .unwrap()
            .contains("process 4194999 does not exist")
    );
}

#[test]
fn ready_can_claim() {
    let env = five();
    let first = data(&env, &["ready", "--claim", "--holder", "run-1"]);
    assert_eq!(
        (&first["claimed"]["id"], &first["claimed"]["fence"]),
        (&json!("bd-a"), &json!(1))
    );
    assert_eq!(first["claimed"]["title"], "Alpha");
    let second = env.run(&["ready", "--claim"]).exits(0).stdout;
    assert!(second.starts_with("claimed bd-d Delta"), "{second}");
    assert!(data(&env, &["ready", "--claim"])["claimed"].is_null());
    assert!(
        env.run(&["ready", "--claim"])
            .exits(0)
            .stderr
            .contains("nothing is ready")
    );
    env.run(&["ready", "--holder", "x"]).exits(2);
}

#[test]
fn z_2_fences_rise_and_a_stale_one_does_nothing() {
    let env = five();
    env.run(&["claim", "bd-a"]).exits(0);
    env.run(&["release", "bd-a"]).exits(0);
    assert_eq!(data(&env, &["claim", "bd-a"])["results"][0]["fence"], 2);
    for args in [
        &["heartbeat", "bd-a", "--fence", "1"][..],
        &["release", "bd-a", "--fence", "1"],
        &["close", "bd-a", "--fence", "1"],
        &["update", "bd-a", "--title", "t", "--fence", "1"],
        &["reopen", "bd-a", "--fence", "1"],
    ] {
        let error = error(&env, args, 1);
        assert!(
            error["message"]
                .as_str()
                .unwrap()
                .contains("fence 1 is stale"),
            "{args:?}: {error}"
        );
    }
    assert_eq!(shown(&env, "bd-a")["status"], "in_progress");
    env.run(&["close", "bd-a", "--fence", "2"]).exits(0);
    env.run(&["reopen", "bd-a"]).exits(0);
    assert_eq!(data(&env, &["claim", "bd-a"])["results"][0]["fence"], 3);
}

#[test]
fn a_heartbeat_moves_the_lease_and_never_back() {
    let env = five();
    env.run(&["claim", "bd-a"]).exits(0);
    let beat = |lease: &str| {
        data(
            &env,
            &["heartbeat", "bd-a", "--fence", "1", "--lease", lease],
        )["lease_until"]
            .clone()
    };
    assert_eq!(beat("2h"), "2026-01-02T05:04:05Z");
    assert_eq!(beat("1m"), "2026-01-02T05:04:05Z");
    assert_eq!(shown(&env, "bd-a")["version"], 2, "no change of the bead");
    env.run(&["heartbeat", "bd-a"]).exits(2);
}

#[test]
fn release_is_for_the_holder() {
    let env = five();
    env.run(&["claim", "bd-a", "--actor", "alice"]).exits(0);
    let refused = error(&env, &["release", "bd-a", "--actor", "bob"], 4);
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("already claimed by alice")
    );
    assert_eq!(shown(&env, "bd-a")["status"], "in_progress");
    let released = data(&env, &["release", "bd-a", "--actor", "alice"]);
    assert_eq!(
        released["results"][0],
        json!({"id": "bd-a", "released": true, "fence": 1})
    );
    env.run(&["claim", "bd-a", "--holder", "run-7"]).exits(0);
    env.run(&["release", "bd-a", "--holder", "run-7"]).exits(0);
    env.run(&["claim", "bd-a", "--holder", "run-8"]).exits(0);
    env.run(&["release", "bd-a", "--force"]).exits(0);
    let nothing = error(&env, &["release", "bd-a"], 1);
    assert!(nothing["message"].as_str().unwrap().contains("not claimed"));
    env.run(&["release", "bd-a", "bd-b", "--fence", "1"])
        .exits(2);
}

#[test]
fn z_4_recover_takes_back_what_a_dead_process_held() {
    let env = five();
    let mut child = env.tool("sleep", &["600"]).spawn();
    let pid = child.id().to_string();
    env.run(&["claim", "bd-a", "--pid", &pid, "--holder", "run-1"])
        .exits(0);
    // The process lives, so the lease does not matter.
    let left = at_later(&env, &["recover", "--json"]).data();
    assert_eq!(left["recovered"], json!([]));
    assert_eq!(
        left["left"][0]["why"],
        format!("its process {pid} is alive")
    );
    child.kill().unwrap();
    child.wait().unwrap();
    let dry = data(&env, &["recover", "--dry-run"]);
    assert_eq!(dry["recovered"][0]["why"], "its process is dead");
    assert_eq!(shown(&env, "bd-a")["status"], "in_progress");
    let done = data(&env, &["recover"]);
    assert_eq!(
        (
            &done["recovered"][0]["id"],
            &done["recovered"][0]["holder"]["run"]
        ),
        (&json!("bd-a"), &json!("run-1"))
    );
    let bead = shown(&env, "bd-a");
    assert_eq!(
        (&bead["status"], &bead["fence"]),
        (&json!("open"), &json!(1))
    );
    assert_eq!(data(&env, &["recover"])["recovered"], json!([]));
}

#[test]
fn z_4_without_a_process_the_lease_decides() {
    let env = five();
    env.run(&["claim", "bd-a", "--lease", "1h"]).exits(0);
    env.run(&["claim", "bd-d", "--lease", "2h"]).exits(0);
    let early = env.run(&["recover"]).exits(0).stdout;
    assert!(
        early.contains(
            "left bd-a Alpha: held by unknown, its lease holds until 2026-01-02T04:04:05Z"
        ),
        "{early}"
    );
    let late = at_later(&env, &["recover"]).exits(0).stdout;
    assert!(
        late.contains("recovered bd-a Alpha: its lease is over"),
        "{late}"
    );
    assert!(late.contains("left bd-d"), "{late}");
    assert!(
        late.ends_with("1 bead put back to open, 1 left as they are\n"),
        "{late}"
    );
    let stale = with_json(&env, &["heartbeat", "bd-a", "--fence", "1"])
        .exits(1)
        .error();
    assert!(
        stale["suggested_action"]
            .as_str()
            .unwrap()
            .starts_with("stop")
    );
}

#[test]
fn what_is_in_progress_without_a_holder_is_left_to_people() {
    let env = super::seeded("{\"id\":\"a\",\"title\":\"t\",\"status\":\"in_progress\"}\n");
    let left = data(&env, &["recover"]);
    assert!(
        left["left"][0]["why"]
            .as_str()
            .unwrap()
            .contains("no holder is recorded")
    );
    let lost = error(&env, &["claim", "a"], 4);
    assert!(
        lost["suggested_action"]
            .as_str()
            .unwrap()
            .contains("reopen")
    );
    env.run(&["reopen", "a"]).exits(0);
    env.run(&["claim", "a"]).exits(0);
}

#[test]
fn z_2_a_claim_of_a_program_is_released_with_its_fence_only() {
    let env = five();
    let pid = std::process::id().to_string();
    env.run(&["claim", "bd-a", "--actor", "alice", "--pid", &pid])
        .exits(0);
    for name in ["--actor", "--holder"] {
        let refused = error(&env, &["release", "bd-a", name, "alice"], 4);
        let action = refused["suggested_action"].as_str().unwrap();
        assert!(action.contains("--fence"), "{action}");
    }
    assert_eq!(shown(&env, "bd-a")["status"], "in_progress");
    env.run(&["release", "bd-a", "--fence", "1"]).exits(0);
}

#[test]
fn recover_opens_what_nobody_holds_only_when_told_to() {
    let env = super::seeded(
        "{\"id\":\"a\",\"title\":\"t\",\"status\":\"in_progress\",\"metadata\":{\"attempt_count\":2}}\n{\"id\":\"b\",\"title\":\"t\"}\n",
    );
    env.run(&["claim", "b"]).exits(0);
    let left = env.run(&["recover"]).exits(0).stdout;
    assert!(left.contains("recover --unheld"), "{left}");
    let dry = data(&env, &["recover", "--unheld", "--dry-run"]);
    assert_eq!(dry["recovered"][0]["id"], "a");
    assert_eq!(shown(&env, "a")["status"], "in_progress");
    let done = data(&env, &["recover", "--unheld"]);
    assert_eq!(
        (&done["recovered"][0]["id"], &done["recovered"][0]["holder"]),
        (&json!("a"), &json!(null))
    );
    assert_eq!(done["left"][0]["id"], "b", "its lease holds");
    let bead = shown(&env, "a");
    assert_eq!(
        (&bead["status"], &bead["metadata"]["attempt_count"]),
        (&json!("open"), &json!(2))
    );
    env.run(&["claim", "a"]).exits(0);
}

#[test]
fn people_find_what_they_hold() {
    let env = five();
    env.run(&["--actor", "ann", "claim", "bd-a"]).exits(0);
    for args in [
        &["--actor", "ann", "list", "--mine"][..],
        &["list", "--holder", "ann"],
    ] {
        let listed = data(&env, args);
        let ids: Vec<&str> = listed["beads"]
            .as_array()
            .unwrap()
            .iter()
            .map(|bead| bead["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, ["bd-a"], "{args:?}");
    }
    assert_eq!(
        data(&env, &["--actor", "bob", "list", "--mine"])["beads"],
        serde_json::json!([])
    );
}
