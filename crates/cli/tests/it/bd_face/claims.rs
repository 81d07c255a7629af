//! Who holds a bead: claims of beads that are for a role (Z-3, Z-40), what is left to people (Z-42), and leases that travel.

use serde_json::{Value, json};

use super::{answer, bd, done, ids, value, world};
use crate::env::{Output, TestEnv};

/// The assignee of every bead that a plan makes.
const ROLE: &str = "beads-ralph-scrum-master";

/// A call of somebody.
#[track_caller]
fn of(actor: &str, env: &TestEnv, args: &[&str]) -> Output {
    let args: Vec<&str> = ["bd", "--actor", actor]
        .into_iter()
        .chain(args.iter().copied())
        .collect();
    env.run(&args)
}

fn for_the_role() -> TestEnv {
    let env = world();
    done(&env, &["create", "A", "--id", "tt-1", "--assignee", ROLE]);
    env
}

#[test]
fn z_40_what_is_for_the_role_can_be_claimed_by_anybody() {
    let env = for_the_role();
    let claimed = answer(&env, &["update", "tt-1", "--claim"]);
    assert_eq!(claimed[0]["status"], "in_progress");
    assert_eq!(claimed[0]["assignee"], ROLE, "the role stays (Z-3)");
    assert_eq!(claimed[0]["held_by"], "ann");
    done(&env, &["update", "tt-1", "--claim"]);
    let refused = of("bob", &env, &["update", "tt-1", "--claim"]).exits(1);
    let first = refused.stderr.lines().next().unwrap();
    assert_eq!(first, "Error updating tt-1: issue already claimed by ann");
    let page = bd(&env, &["show", "tt-1"]).exits(0).stdout;
    assert!(page.contains("Held by: ann"), "{page}");
}

#[test]
fn z_40_ready_claims_what_is_for_the_role() {
    let env = for_the_role();
    done(
        &env,
        &["create", "B", "--id", "tt-0", "-p", "0", "-a", "carl"],
    );
    let claimed = answer(&env, &["ready", "--claim"]);
    assert_eq!(
        (&claimed[0]["id"], &claimed[0]["held_by"]),
        (&"tt-1".into(), &"ann".into())
    );
    assert_eq!(
        answer(&env, &["ready", "--claim"]),
        json!([]),
        "tt-0 is carl's"
    );
}

#[test]
fn z_40_only_the_holder_goes_on_with_it() {
    let env = for_the_role();
    done(&env, &["update", "tt-1", "--claim"]);
    for (call, said) in [
        (&["heartbeat", "tt-1"][..], "issue already claimed by ann"),
        (
            &["close", "tt-1"],
            "cannot close tt-1: assignee is \"ann\", actor is \"bob\"",
        ),
        (
            &["update", "tt-1", "-a", "bob"],
            "cannot reassign tt-1: held by \"ann\"",
        ),
    ] {
        let refused = of("bob", &env, call).exits(1);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
    done(&env, &["heartbeat", "tt-1"]);
    done(&env, &["update", "tt-1", "--status", "open"]);
    let claimed = of("bob", &env, &["update", "tt-1", "--claim", "--json"]).exits(0);
    assert_eq!(value(&claimed)[0]["held_by"], "bob");
    let closed = of("bob", &env, &["close", "tt-1", "--json"]).exits(0);
    assert_eq!(value(&closed)[0]["assignee"], ROLE);
    assert_eq!(value(&closed)[0].get("held_by"), None);
}

#[test]
fn z_40_our_own_claim_and_the_face_see_the_same_holder() {
    let env = for_the_role();
    env.run(&["--actor", "carl", "claim", "tt-1"]).exits(0);
    let refused = bd(&env, &["update", "tt-1", "--claim"]).exits(1);
    assert!(
        refused.stderr.contains("issue already claimed by carl"),
        "{}",
        refused.stderr
    );
    env.run(&["--actor", "carl", "release", "tt-1"]).exits(0);
    done(&env, &["update", "tt-1", "--claim"]);
    let shown = env.run(&["show", "tt-1", "--json"]).exits(0).data();
    assert_eq!(shown["beads"][0]["claim"]["holder"]["run"], "ann");
}

#[test]
fn z_40_an_export_says_nothing_of_the_holder_but_the_lease() {
    let env = for_the_role();
    done(&env, &["update", "tt-1", "--claim"]);
    let exported: Value = serde_json::from_str(&bd(&env, &["export"]).exits(0).stdout).unwrap();
    assert_eq!(exported.get("held_by"), None);
    assert_eq!(exported["assignee"], ROLE);
    assert_eq!(exported["lease_expires_at"], "2026-01-02T03:09:05Z");
}

#[test]
fn z_42_what_waits_for_a_person_is_not_ready() {
    let env = world();
    done(&env, &["create", "A", "--id", "tt-1", "--labels", "human"]);
    done(&env, &["create", "B", "--id", "tt-2"]);
    let ready = |args: &[&str]| {
        let list = answer(&env, args);
        ids(&list)
            .iter()
            .map(|id| (*id).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ready(&["ready"]), ["tt-2"]);
    assert_eq!(ready(&["list", "--ready"]), ["tt-2"]);
    assert_eq!(
        ready(&["ready", "--label", "human"]),
        ["tt-1"],
        "who asks for it gets it"
    );
    assert_eq!(ready(&["ready", "--label-any", "human,x"]), ["tt-1"]);
    assert_eq!(ready(&["ready", "--claim"]), ["tt-2"]);
    assert_eq!(ready(&["ready", "--claim"]), [""; 0]);
    let own = env.run(&["ready", "--json"]).exits(0).data();
    assert_eq!(own["beads"], json!([]), "our own ready does the same");
}

fn leased(env: &TestEnv) {
    let bead = |id: &str, until: &str| {
        json!({
            "id": id, "title": "L", "status": "in_progress", "priority": 2, "issue_type": "task",
            "assignee": "bob", "created_at": "2024-01-01T00:00:00Z", "updated_at": "2024-01-01T00:00:00Z",
            "lease_expires_at": until, "heartbeat_at": "2024-01-01T00:00:00Z", "lease_granted_node": "north",
        })
    };
    let (old, new) = (
        bead("tt-old", "2024-01-01T00:05:00Z"),
        bead("tt-new", "2099-01-01T00:00:00Z"),
    );
    env.write("leases.jsonl", format!("{old}\n{new}\n"));
    done(env, &["import", "leases.jsonl"]);
}

fn exported(env: &TestEnv, id: &str) -> Value {
    let lines = bd(env, &["export"]).exits(0).stdout;
    let mut beads = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    beads.find(|bead: &Value| bead["id"] == id).unwrap()
}

#[test]
fn a_lease_travels_and_ends_with_the_claim() {
    let env = world();
    leased(&env);
    let bead = exported(&env, "tt-new");
    assert_eq!(bead["lease_expires_at"], "2099-01-01T00:00:00Z");
    assert_eq!(bead["heartbeat_at"], "2024-01-01T00:00:00Z");
    assert_eq!(bead["lease_granted_node"], "north");
    of("bob", &env, &["heartbeat", "tt-new"]).exits(0);
    let beaten = exported(&env, "tt-new");
    assert_eq!(beaten["heartbeat_at"], "2026-01-02T03:04:05Z");
    assert_eq!(
        beaten["updated_at"], "2024-01-01T00:00:00Z",
        "a sign of life is no change"
    );
    of("bob", &env, &["close", "tt-new"]).exits(0);
    let closed = exported(&env, "tt-new");
    for key in ["lease_expires_at", "heartbeat_at", "lease_granted_node"] {
        assert_eq!(closed.get(key), None, "{key}");
    }
}

#[test]
fn a_lease_of_another_replica_is_left_to_it() {
    let env = world();
    leased(&env);
    let south = |args: &[&str]| {
        let args: Vec<&str> = ["bd"].into_iter().chain(args.iter().copied()).collect();
        env.command(&args)
            .env("BEADS_NODE_ID", "south")
            .run()
            .exits(0)
    };
    let kept = south(&["reclaim"]);
    assert_eq!(kept.stdout, "✓ No stale leases to reclaim\n");
    assert!(kept.stderr.starts_with("reclaim: skipped 1 stale lease granted by another replica — \"north\" (1), not this node (\"south\")."), "{}", kept.stderr);
    let taken = south(&["reclaim", "--any-replica"]);
    assert!(
        taken.stdout.contains("tt-old (was held by bob)"),
        "{}",
        taken.stdout
    );
    let open = exported(&env, "tt-old");
    assert_eq!(
        (&open["status"], open.get("assignee")),
        (&"open".into(), None)
    );
    south(&["--actor", "bob", "update", "tt-old", "--claim"]);
    assert_eq!(exported(&env, "tt-old")["lease_granted_node"], "south");
}

#[test]
fn a_pool_of_the_settings_may_be_claimed_from() {
    let env = world();
    done(&env, &["create", "A", "--id", "tt-1", "--assignee", "crew"]);
    bd(&env, &["update", "tt-1", "--claim"]).exits(1);
    done(&env, &["config", "set", "claim.pools", "other, crew"]);
    let claimed = answer(&env, &["update", "tt-1", "--claim"]);
    assert_eq!(
        claimed[0]["assignee"], "ann",
        "a pool is no role: the real bd puts the actor in its place"
    );
}
