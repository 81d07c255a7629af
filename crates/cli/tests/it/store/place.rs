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

#[track_caller]
fn git(env: &TestEnv, args: &[&str]) {
    let options = [
        ["-c", "user.name=a"],
        ["-c", "user.email=a@b.c"],
        ["-c", "protocol.file.allow=always"],
    ];
    let args: Vec<&str> = options.iter().flatten().chain(args).copied().collect();
    env.tool("git", &args).run().exits(0);
}

/// Asserts where the store is that a command finds, or that it finds none.
#[track_caller]
fn finds(env: &TestEnv, from: &str, expected: Option<&str>) {
    let from = env.path(from);
    let output = env.command(&["doctor", "--json"]).at(&from).run();
    match expected {
        Some(expected) => {
            let data = output.exits(0).data();
            let path = env.path(expected).canonicalize_utf8().unwrap();
            assert_eq!(
                data["store"],
                path.join("beads-ralph.db").as_str(),
                "{from}"
            );
        }
        None => assert_eq!(output.error_code(), "DATABASE.NOT_INITIALIZED", "{from}"),
    }
}

#[track_caller]
fn init_at(env: &TestEnv, at: &str) {
    env.command(&["init"]).at(&env.path(at)).run().exits(0);
}

#[test]
fn z_26_a_linked_worktree_uses_the_store_of_the_main_one() {
    let env = TestEnv::new();
    let git = |args: &[&str]| git(&env, args);
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    git(&["worktree", "add", "-q", "../linked"]);
    let linked = env.path("../linked").canonicalize_utf8().unwrap();
    env.command(&["init"]).at(&linked).run().exits(0);
    assert_eq!(
        env.names("."),
        [".beads", ".git", ".ralph", "beads-ralph.yaml"]
    );
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
fn z_26_the_worktrees_of_a_bare_repository_share_one_store() {
    let env = TestEnv::new();
    git(&env, &["init", "-q", "seed"]);
    git(
        &env,
        &["-C", "seed", "commit", "-q", "--allow-empty", "-m", "1"],
    );
    git(&env, &["clone", "-q", "--bare", "seed", "repo.git"]);
    // A store around them is not theirs.
    init_at(&env, ".");
    for name in ["w1", "w2"] {
        let path = format!("../{name}");
        git(&env, &["-C", "repo.git", "worktree", "add", "-q", &path]);
        finds(&env, name, None);
    }
    env.make_directory("w1/below");
    init_at(&env, "w1/below");
    for from in ["w1", "w1/below", "w2", "repo.git", "repo.git/worktrees/w1"] {
        finds(&env, from, Some("repo.git/.beads"));
    }
    assert_eq!(
        env.names("w1"),
        [".git", ".ralph", "beads-ralph.yaml", "below"]
    );
    assert_eq!(env.names("w2"), [".git"]);
    env.write("w2/.beads/beads-ralph.json", "a copy that was committed");
    finds(&env, "w2", Some("repo.git/.beads"));
}

#[test]
fn z_26_a_bare_repository_beside_its_worktrees_has_one_store() {
    let env = TestEnv::new();
    let seed = env.path("seed");
    git(&env, &["init", "-q", "seed"]);
    git(
        &env,
        &["-C", "seed", "commit", "-q", "--allow-empty", "-m", "1"],
    );
    git(&env, &["clone", "-q", "--bare", "seed", "project/.bare"]);
    env.write("project/.git", "gitdir: ./.bare\n");
    git(&env, &["-C", "project", "worktree", "add", "-q", "w1"]);
    git(
        &env,
        &[
            "-C",
            "project/w1",
            "submodule",
            "--quiet",
            "add",
            seed.as_str(),
            "sub",
        ],
    );
    init_at(&env, "project/w1");
    for from in ["project", "project/w1", "project/w1/sub", "project/.bare"] {
        finds(&env, from, Some("project/.bare/.beads"));
    }
}

#[test]
fn z_26_a_submodule_and_its_worktrees_use_the_store_of_the_repository_around() {
    let env = TestEnv::new();
    for name in ["seed", "outer"] {
        git(&env, &["init", "-q", name]);
        git(
            &env,
            &["-C", name, "commit", "-q", "--allow-empty", "-m", "1"],
        );
    }
    git(
        &env,
        &[
            "-C",
            "outer",
            "submodule",
            "--quiet",
            "add",
            "../seed",
            "sub",
        ],
    );
    git(
        &env,
        &["-C", "outer/sub", "worktree", "add", "-q", "../../linked"],
    );
    init_at(&env, "outer/sub");
    for from in ["outer", "outer/sub", "linked", "outer/.git/modules"] {
        finds(&env, from, Some("outer/.beads"));
    }
    finds(&env, "seed", None);
}

#[test]
fn z_26_a_git_directory_that_lies_apart_has_the_store_of_all_worktrees() {
    let env = TestEnv::new();
    git(&env, &["init", "-q", "--separate-git-dir=apart", "main"]);
    git(
        &env,
        &["-C", "main", "commit", "-q", "--allow-empty", "-m", "1"],
    );
    git(&env, &["-C", "main", "worktree", "add", "-q", "../linked"]);
    init_at(&env, "main");
    for from in ["main", "linked"] {
        finds(&env, from, Some("apart/.beads"));
    }
}

#[test]
fn z_26_bd_in_a_worktree_of_a_bare_repository_is_recognised() {
    let env = TestEnv::new();
    git(&env, &["init", "-q", "--bare", "repo.git"]);
    env.write("w1/.git", "gitdir: ../repo.git\n");
    env.write("w1/.beads/metadata.json", "{}");
    for args in [&["list", "--json"][..], &["init", "--json"]] {
        let output = env.command(args).at(&env.path("w1")).run();
        assert_eq!(output.error_code(), "DATABASE.CLI_NOT_FOUND", "{args:?}");
    }
    assert!(!env.path("repo.git/.beads").exists());
}

#[test]
fn z_26_a_repository_never_uses_a_store_above_it() {
    let env = TestEnv::new();
    init_at(&env, ".");
    env.make_directory("plain/below");
    git(&env, &["init", "-q", "inner"]);
    env.make_directory("inner/below");
    finds(&env, "plain/below", Some(".beads"));
    for from in ["inner", "inner/below", "inner/.git"] {
        finds(&env, from, None);
    }
    init_at(&env, "inner/below");
    finds(&env, "inner/below", Some("inner/.beads"));
    // Links that lead nowhere, or to themselves.
    env.write("lost/.git", "gitdir: ../nowhere\n");
    env.write("circle/.git", "gitdir: git\n");
    env.write("circle/git/HEAD", "");
    env.write("circle/git/commondir", ".\n");
    for lost in ["lost", "circle"] {
        finds(&env, lost, None);
        init_at(&env, lost);
        finds(&env, lost, Some(&format!("{lost}/.beads")));
    }
}

#[test]
fn z_26_what_is_no_store_hides_none_above() {
    for with_git in [false, true] {
        let env = TestEnv::new();
        if with_git {
            git(&env, &["init", "-q"]);
        }
        init_at(&env, ".");
        env.make_directory("empty/.beads");
        env.write("export/.beads/issues.jsonl", "");
        for from in ["empty", "export", "empty/.beads"] {
            finds(&env, from, Some(".beads"));
        }
        env.write("theirs/.beads/config.yaml", "");
        let theirs = env.command(&["list", "--json"]).at(&env.path("theirs"));
        assert_eq!(theirs.run().error_code(), "DATABASE.CLI_NOT_FOUND");
    }
}

#[test]
fn z_26_a_directory_with_the_settings_of_bd_is_not_ours() {
    let env = TestEnv::new();
    env.write(".beads/config.yaml", "issue-prefix: x\n");
    let refused = error(&env, &["init"], 3);
    assert_eq!(refused["code"], "DATABASE.CLI_NOT_FOUND");
    assert_eq!(env.names(".beads"), ["config.yaml"]);
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
    let newer = rusqlite::Connection::open(env.path(DATABASE)).unwrap();
    let step = "CREATE TABLE invented_later (a); PRAGMA user_version = 99";
    newer.execute_batch(step).unwrap();
    drop(newer);
    unusable(&env, "format 99", "newer beads-ralph");
}

#[test]
fn a_format_number_that_is_not_what_was_written_is_damage() {
    let env = five();
    let mut bytes = env.read(DATABASE);
    bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
    env.write(DATABASE, &bytes);
    unusable(&env, "damaged", "doctor");
    env.run(&["doctor", "--repair"]).exits(0);
    env.run(&["show", "bd-a"]).exits(0);
}

#[test]
fn a_store_that_may_not_be_written_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let env = five();
    if is_root(&env) {
        // Mode bits do not bind root; a directory where the file of the latest changes should be does.
        env.make_directory(&format!("{DATABASE}-wal"));
    } else {
        let read_only = std::fs::Permissions::from_mode(0o444);
        std::fs::set_permissions(env.path(DATABASE), read_only).unwrap();
    }
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
