//! Where the store is found (Z-26), and what is said when it cannot be used.

use super::{data, error, five, ids, seeded};
use crate::env::{TestEnv, is_root};

const DATABASE: &str = ".beads/beads-ralph.db";

#[test]
fn without_a_store_every_command_says_how_to_make_one() {
    let env = TestEnv::new();
    for args in [
        &["ready"][..],
        &["list"],
        &["show", "a"],
        &["search", "a"],
        &["stats"],
        &["log"],
        &["claim", "a"],
        &["heartbeat", "a", "--fence", "1"],
        &["release", "a"],
        &["recover"],
        &["close", "a"],
        &["reopen", "a"],
        &["update", "a", "--title", "t"],
        &["label", "list", "a"],
        &["dep", "list", "a"],
        &["comment", "a", "t"],
        &["import", "-"],
        &["export"],
    ] {
        let error = error(&env, args, 3);
        assert_eq!(error["code"], "DATABASE.NOT_INITIALIZED", "{args:?}");
        let action = error["suggested_action"].as_str().unwrap();
        assert!(action.contains("beads-ralph init"), "{args:?}: {action}");
    }
    assert!(env.names(".").is_empty(), "nothing is made in passing");
}

#[test]
fn z_26_a_linked_worktree_uses_the_store_of_the_main_one() {
    let env = TestEnv::new();
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"];
        let args: Vec<&str> = identity.iter().chain(args).copied().collect();
        env.tool("git", &args).run().exits(0);
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    git(&["worktree", "add", "-q", "../linked"]);
    let linked = env.path("../linked").canonicalize_utf8().unwrap();
    env.command(&["init"]).at(&linked).run().exits(0);
    assert_eq!(env.names("."), [".beads", ".git", "beads-ralph.yaml"]);
    env.command(&["import", "-"])
        .stdin(super::FIVE)
        .run()
        .exits(0);
    let listed = env.command(&["list", "--json"]).at(&linked).run().data();
    assert_eq!(ids(&listed), ["bd-c", "bd-a", "bd-b", "bd-d"]);
    std::fs::create_dir(env.path("below")).unwrap();
    let below = env
        .command(&["list", "--json"])
        .at(&env.path("below"))
        .run();
    assert_eq!(below.data(), listed);
}

#[test]
fn beads_dir_names_the_store() {
    let env = TestEnv::new();
    let there = env.path("there");
    let run = |args: &[&str]| env.command(args).env("BEADS_DIR", there.as_str()).run();
    run(&["init"]).exits(0);
    assert!(there.join("beads-ralph.db").is_file() && !env.path(".beads").exists());
    run(&["list"]).exits(0);
    env.run(&["list"]).exits(3);
}

/// Asserts how a store that cannot be used is met, and that the file is left as it is.
#[track_caller]
fn unusable(env: &TestEnv, says: &str, action: &str) {
    for args in [&["list"][..], &["claim", "bd-a"], &["init"]] {
        let error = error(env, args, 3);
        assert!(
            error["message"].as_str().unwrap().contains(says),
            "{args:?}: {error}"
        );
        let suggested = error["suggested_action"].as_str().unwrap();
        assert!(suggested.contains(action), "{args:?}: {error}");
    }
}

#[test]
fn a_store_that_is_a_directory_or_gone_is_refused() {
    let env = five();
    std::fs::remove_file(env.path(DATABASE)).unwrap();
    unusable(&env, "missing", "doctor");
    env.make_directory(DATABASE);
    unusable(&env, "directory", "doctor");
}

#[test]
fn a_store_that_was_cut_is_damaged_and_not_made_anew() {
    for length in [0, 100, 5000] {
        let env = five();
        // What is in the log beside the file would mend it.
        for name in ["beads-ralph.db-wal", "beads-ralph.db-shm"] {
            drop(std::fs::remove_file(env.path(".beads").join(name)));
        }
        let bytes = env.read(DATABASE);
        assert!(bytes.len() > 5000);
        env.write(DATABASE, &bytes[..length]);
        unusable(&env, "damaged", "doctor");
        assert_eq!(env.read(DATABASE).len(), length);
    }
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let env = five();
    std::fs::remove_file(env.path(DATABASE)).unwrap();
    let other = rusqlite::Connection::open(env.path(DATABASE)).unwrap();
    other
        .execute_batch("CREATE TABLE t (a); PRAGMA user_version = 1; PRAGMA application_id = 7")
        .unwrap();
    drop(other);
    unusable(&env, "another program", "doctor");
    env.write(
        DATABASE,
        "this is a text and no database at all, however long it may be",
    );
    unusable(&env, "damaged", "doctor");
}

#[test]
fn a_store_of_a_newer_program_is_refused() {
    let env = five();
    let mut bytes = env.read(DATABASE);
    bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
    env.write(DATABASE, &bytes);
    unusable(&env, "format 99", "newer beads-ralph");
}

#[test]
fn a_store_that_may_not_be_written_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let env = five();
    if is_root(&env) {
        return;
    }
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(env.path(DATABASE), mode(0o444)).unwrap();
    let refused = error(&env, &["claim", "bd-a"], 3);
    assert_eq!(refused["code"], "IO.PERMISSION_DENIED");
}

#[test]
fn the_actor_is_the_flag_then_the_variable_then_the_user() {
    let env = seeded("{\"id\":\"a\",\"title\":\"t\"}\n");
    let say = |flag: &[&str], vars: &[(&str, &str)]| {
        let args: Vec<&str> = ["comment", "a", "hi", "--json"]
            .iter()
            .chain(flag)
            .copied()
            .collect();
        let mut command = env.command(&args);
        for (name, value) in vars {
            command = command.env(name, value);
        }
        command.run().data()["comment"]["author"].clone()
    };
    let both = [("BEADS_ACTOR", "actor"), ("USER", "user")];
    assert_eq!(say(&["--actor", "flag"], &both), "flag");
    assert_eq!(say(&[], &both), "actor");
    assert_eq!(say(&[], &both[1..]), "user");
    assert_eq!(say(&[], &[]), "unknown");
    let log = data(&env, &["log", "a"]);
    assert_eq!(log["events"][1]["actor"], "flag");
}
