//! The `bd` face over our store: what agents, skills and the seeds' own calls meet.
//!
//! That it is the real `bd`'s surface, to the letter, is shown by the differential test, which needs the real program.

mod changing;
mod claims;
mod creating;
mod global;
mod hostile;
mod inside_run;
mod looking;

use serde_json::Value;

use crate::env::{Output, TestEnv};

/// A world with an empty store whose ids begin with `tt`.
#[track_caller]
fn world() -> TestEnv {
    let env = TestEnv::new();
    let init = ["bd", "init", "--prefix", "tt", "-q"];
    env.run(&init).exits(0);
    env
}

/// A call of the face.
#[track_caller]
fn bd(env: &TestEnv, args: &[&str]) -> Output {
    let args: Vec<&str> = ["bd"].into_iter().chain(args.iter().copied()).collect();
    env.command(&args).env("BEADS_ACTOR", "ann").run()
}

/// A call that succeeds, and what it answers in JSON.
#[track_caller]
fn answer(env: &TestEnv, args: &[&str]) -> Value {
    let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    value(&bd(env, &args).exits(0))
}

/// What a call printed, as JSON.
#[track_caller]
fn value(output: &Output) -> Value {
    serde_json::from_str(&output.stdout).expect("JSON")
}

/// A call that succeeds and of which nothing is wanted.
#[track_caller]
fn done(env: &TestEnv, args: &[&str]) {
    drop(bd(env, args).exits(0));
}

/// The ids in a list.
fn ids(list: &Value) -> Vec<&str> {
    let items = list.as_array().expect("a list").iter();
    items
        .map(|item| item["id"].as_str().expect("an id"))
        .collect()
}

#[test]
fn z_26_the_version_tells_our_binary_from_the_real_one() {
    let env = TestEnv::new();
    let version = answer(&env, &["version"]);
    assert_eq!(version["build"], "beads-ralph");
    assert_eq!(version["version"], "1.3.0");
    assert_eq!(
        bd(&env, &["--version"]).exits(0).stdout,
        "bd version 1.3.0 (beads-ralph)\n"
    );
}

#[test]
fn z_26_a_store_of_the_real_bd_is_never_worked_on() {
    let env = TestEnv::new();
    env.write(".beads/metadata.json", "{}");
    let refused = bd(&env, &["list"]).exits(1);
    assert!(refused.stderr.contains("kept by bd"), "{}", refused.stderr);
    assert_eq!(
        env.names(".beads"),
        ["metadata.json"],
        "nothing was made beside it"
    );
}

#[test]
fn z_20_without_a_store_the_words_are_those_of_bd() {
    let env = TestEnv::new();
    for args in [&["list"][..], &["show", "x"], &["create", "x"]] {
        let refused = bd(&env, args).exits(1);
        assert!(
            refused
                .stderr
                .starts_with("Error: no beads database found\nHint: "),
            "{refused:?}"
        );
        assert_eq!(refused.stdout, "");
    }
}

#[test]
fn z_24_what_is_not_served_says_so_and_what_nobody_knows_too() {
    let env = world();
    let refused = |args: &[&str]| bd(&env, args).exits(1).stderr;
    assert!(
        refused(&["list", "--watch"])
            .starts_with("Error: beads-ralph's bd does not serve --watch; ")
    );
    assert!(
        refused(&["dolt"]).starts_with("Error: beads-ralph's bd does not serve the command dolt; ")
    );
    assert_eq!(
        refused(&["list", "--frob"]),
        "Error: unknown flag: --frob\n"
    );
    assert_eq!(
        refused(&["frob"]),
        "Error: unknown command \"frob\" for \"bd\"\nRun 'bd --help' for usage.\n"
    );
    assert_eq!(
        refused(&["show", "-z"]),
        "Error: unknown shorthand flag: 'z' in -z\n"
    );
    assert_eq!(
        refused(&["update", "a", "--title"]),
        "Error: flag needs an argument: --title\n"
    );
    assert_eq!(
        refused(&["reopen"]),
        "Error: requires at least 1 arg(s), only received 0\n"
    );
}

#[test]
fn z_24_the_tree_describes_every_command_and_its_flags() {
    let env = TestEnv::new();
    let tree = value(&bd(&env, &["__tree"]).exits(0));
    let commands = tree["commands"].as_array().unwrap();
    let create = commands
        .iter()
        .find(|command| command["path"][0] == "create")
        .unwrap();
    let flags = create["flags"].as_array().unwrap();
    let priority = flags
        .iter()
        .find(|flag| flag["long"] == "priority")
        .unwrap();
    assert_eq!(
        (&priority["short"], &priority["takes_value"]),
        (&"p".into(), &true.into())
    );
    assert!(commands.len() >= 12, "{}", commands.len());
}

#[test]
fn z_24_the_program_is_bd_by_its_name() {
    let env = world();
    done(&env, &["create", "A", "--id", "tt-1"]);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_beads-ralph"), env.path("bd")).unwrap();
    let program = env.path("bd");
    let shown = env
        .tool(program.as_str(), &["show", "tt-1", "--short"])
        .run()
        .exits(0);
    assert_eq!(shown.stdout, "○ tt-1 P2 A\n");
}

#[test]
fn the_readonly_flag_refuses_what_writes() {
    let env = world();
    let refused = bd(&env, &["--readonly", "create", "x"]).exits(1);
    assert_eq!(
        refused.stderr,
        "Error: operation 'create' is not allowed in read-only mode\n"
    );
    let refused = bd(&env, &["ready", "--claim", "--readonly"]).exits(1);
    assert_eq!(
        refused.stderr,
        "Error: operation 'ready --claim' is not allowed in read-only mode\n"
    );
    done(&env, &["--readonly", "ready"]);
}

#[test]
fn init_does_not_touch_a_store_that_is_there() {
    let env = world();
    done(&env, &["create", "A", "--id", "tt-1"]);
    let refused = bd(&env, &["init"]).exits(1);
    assert!(
        refused.stderr.contains("already initialized"),
        "{}",
        refused.stderr
    );
    done(&env, &["init", "--init-if-missing"]);
    assert_eq!(ids(&answer(&env, &["list"])), ["tt-1"]);
}
