//! Z-18: inside a unit the face only reads, but for a leader with its fence.

use super::{answer, bd, done, world};
use crate::env::{Output, TestEnv};

/// A call from inside a unit.
fn inside(env: &TestEnv, variables: &[(&str, &str)], args: &[&str]) -> Output {
    let args: Vec<&str> = ["bd"].into_iter().chain(args.iter().copied()).collect();
    let mut call = env.command(&args).env("BEADS_RALPH_UNIT", "mark");
    for (name, value) in variables {
        call = call.env(name, value);
    }
    call.run()
}

#[test]
fn z_18_inside_a_unit_the_face_is_read_only() {
    let env = world();
    done(&env, &["create", "A", "--id", "tt-1"]);
    let agent = [("BEADS_RALPH_BEAD", "tt-1"), ("BEADS_RALPH_FENCE", "")];
    for reading in [
        &["show", "tt-1"][..],
        &["list"],
        &["ready"],
        &["version"],
        &["query", "status=open"],
        &["epic", "status"],
        &["gate", "list"],
        &["prime"],
        &["quickstart"],
        &["help"],
    ] {
        inside(&env, &agent, reading).exits(0);
    }
    for writing in [
        &["create", "x"][..],
        &["update", "tt-1", "--title", "x"],
        &["update", "tt-1", "--append-notes", "x"],
        &["close", "tt-1"],
        &["reopen", "tt-1"],
        &["delete", "tt-1", "--force"],
        &["ready", "--claim"],
        &["heartbeat", "tt-1"],
        &["reclaim"],
        &["init"],
        &["note", "tt-1", "x"],
        &["defer", "tt-1"],
        &["undefer", "tt-1"],
        &["duplicate", "tt-1", "--of", "tt-2"],
        &["supersede", "tt-1", "--with", "tt-2"],
        &["epic", "close-eligible"],
        &["gate", "create", "--blocks", "tt-1"],
        &["gate", "resolve", "tt-1"],
        &["gate", "add-waiter", "tt-1", "x"],
        &["gate", "check"],
        &["purge", "--force"],
        &["create", "-f", "plan.md"],
        &["--sandbox", "--db", ".beads", "create", "x"],
    ] {
        let refused = inside(&env, &agent, writing).exits(1);
        assert!(
            refused.stderr.contains("read-only inside a run"),
            "{refused:?}"
        );
        assert!(
            refused.stderr.contains("report"),
            "it says what to do instead: {refused:?}"
        );
    }
    assert_eq!(answer(&env, &["show", "tt-1"])[0]["title"], "A");
}

#[test]
fn z_18_a_leader_writes_into_its_own_bead_under_its_fence() {
    let env = world();
    done(&env, &["create", "A", "--id", "tt-1"]);
    done(&env, &["create", "B", "--id", "tt-2"]);
    let process = std::process::id().to_string();
    env.run(&["claim", "tt-1", "--pid", &process]).exits(0);
    let leader = [("BEADS_RALPH_BEAD", "tt-1"), ("BEADS_RALPH_FENCE", "1")];
    inside(&env, &leader, &["update", "tt-1", "--set-metadata", "k=v"]).exits(0);
    assert_eq!(answer(&env, &["show", "tt-1"])[0]["metadata"]["k"], "v");
    inside(&env, &leader, &["note", "tt-1", "half done"]).exits(0);
    assert_eq!(answer(&env, &["show", "tt-1"])[0]["notes"], "half done");
    inside(&env, &leader, &["note", "tt-2", "half done"]).exits(1);
    let refused = inside(&env, &leader, &["update", "tt-2", "--title", "x"]).exits(1);
    assert!(
        refused.stderr.contains("writes into is tt-2, not tt-1"),
        "{refused:?}"
    );
    for kept in [
        &["close", "tt-1"][..],
        &["update", "tt-1", "-s", "closed"],
        &["update", "tt-1", "--claim"],
        &["create", "x"],
    ] {
        let refused = inside(&env, &leader, kept).exits(1);
        assert!(
            refused.stderr.contains("read-only inside a run"),
            "{refused:?}"
        );
    }
    let stale = [("BEADS_RALPH_BEAD", "tt-1"), ("BEADS_RALPH_FENCE", "7")];
    let refused = inside(&env, &stale, &["update", "tt-1", "--set-metadata", "k=w"]).exits(1);
    assert!(refused.stderr.contains("fence 7 is stale"), "{refused:?}");
}

#[test]
fn z_18_what_a_run_holds_is_not_changed_from_outside() {
    let env = world();
    done(&env, &["create", "A", "--id", "tt-1"]);
    let process = std::process::id().to_string();
    env.run(&["claim", "tt-1", "--pid", &process, "--holder", "run-1"])
        .exits(0);
    for args in [
        &["update", "tt-1", "--title", "x"][..],
        &["update", "tt-1", "--claim"],
        &["close", "tt-1", "--force"],
        &["delete", "tt-1", "--force"],
    ] {
        let refused = bd(&env, args).exits(1);
        assert!(refused.stderr.contains("run-1"), "{refused:?}");
    }
    done(
        &env,
        &[
            "update",
            "tt-1",
            "--append-notes",
            "a remark is always welcome",
        ],
    );
}

#[test]
fn z_18_a_ready_list_inside_a_unit_wakes_nothing() {
    let env = world();
    done(&env, &["create", "A", "--id", "tt-1"]);
    done(&env, &["defer", "tt-1", "--until", "2020-01-01"]);
    let agent = [("BEADS_RALPH_BEAD", "tt-1"), ("BEADS_RALPH_FENCE", "")];
    inside(&env, &agent, &["ready"]).exits(0);
    done(&env, &["--readonly", "ready"]);
    assert_eq!(answer(&env, &["show", "tt-1"])[0]["status"], "deferred");
    assert_eq!(answer(&env, &["ready"])[0]["id"], "tt-1");
    assert_eq!(answer(&env, &["show", "tt-1"])[0]["status"], "open");
}
