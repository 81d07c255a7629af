//! Limits that the system sets for a process, and titles without end: told as what they are, and nothing is lost.

use serde_json::json;

use super::five;
use crate::apply::plan;
use crate::env::{Output, TestEnv};

const PROGRAM: &str = env!("CARGO_BIN_EXE_beads-ralph");

/// Runs the program under a limit of the shell.
#[track_caller]
fn limited(env: &TestEnv, limit: &str, args: &[&str]) -> Output {
    let script = format!("ulimit {limit}; exec \"$0\" \"$@\"");
    let words = [&["-c", &script, PROGRAM], args].concat();
    env.tool("sh", &words).run()
}

/// Whether it was done; if not, the limit is named, and nothing else is blamed.
#[track_caller]
fn is_done(output: &Output, limit: &str) -> bool {
    if output.code == Some(0) {
        return true;
    }
    assert!(
        output.stderr.contains(limit) && !output.stderr.contains("panicked"),
        "{output:#?}"
    );
    false
}

#[test]
fn a_limit_of_open_files_is_named_and_loses_nothing() {
    let env = five();
    env.write("plan.md", plan(&[("1.1", "One")]));
    for args in [
        &["comment", "bd-a", "hello"][..],
        &["list"],
        &["plan", "apply", "plan.md"],
        &["show", "bd-a"],
    ] {
        // Fewer are not enough for the system to start a program at all.
        let done = (5..=20).map(|n| {
            let output = limited(&env, &format!("-n {n}"), args);
            is_done(&output, &format!("too many open files (limit {n})"))
        });
        let done: Vec<bool> = done.collect();
        assert!(done.contains(&false) && done.contains(&true), "{args:?}");
    }
    env.run(&["doctor"]).exits(0);
}

#[test]
fn a_limit_of_file_sizes_is_named_and_loses_nothing() {
    let env = five();
    let line = |n: usize| {
        let bead = json!({"id": format!("big-{n}"), "title": "t", "description": "x".repeat(2000)});
        format!("{bead}\n")
    };
    env.write("big.jsonl", (0..100).map(line).collect::<String>());
    let before = env.run(&["export"]).exits(0).stdout;
    // In blocks of 512 bytes.
    for n in [1, 10, 100, 200, 300, 400] {
        let output = limited(&env, &format!("-f {n}"), &["import", "big.jsonl"]);
        assert!(!is_done(&output, "file size limit"), "{n}: {output:#?}");
        assert_eq!(env.run(&["export"]).exits(0).stdout, before, "{n}");
        env.run(&["doctor"]).exits(0);
    }
    let output = limited(&env, "-f 1", &["export", "--output", "out.jsonl"]);
    assert!(!is_done(&output, "file size limit"), "{output:#?}");
    assert!(!env.path("out.jsonl").exists(), "half a file is none");
    env.run(&["import", "big.jsonl"]).exits(0);
}

#[test]
fn a_title_without_end_is_refused_where_it_comes_in() {
    let env = five();
    let before = env.run(&["export"]).exits(0).stdout;
    let long = "word ".repeat(40_000);
    let refusal = "200000 bytes, and at most 500 are allowed";
    env.write("plan.md", plan(&[("1.1", "One"), ("1.2", &long)]));
    for command in [["plan", "check"], ["plan", "apply"]] {
        let output = env.run(&[&command[..], &["plan.md"]].concat()).exits(1);
        let said = format!("{}{}", output.stdout, output.stderr);
        assert!(
            said.contains("sprint 1.2: the title has 1999"),
            "{command:?}"
        );
        assert!(said.contains("plan.md:"), "it has a place");
        assert!(said.len() < 5000, "it is not repeated as a whole");
    }
    env.write(
        "long.jsonl",
        format!("{}\n", json!({"id": "bd-z", "title": long})),
    );
    let output = env.run(&["import", "long.jsonl"]).exits(1);
    assert!(
        output.stderr.contains("long.jsonl:1: title: "),
        "{output:#?}"
    );
    assert!(output.stderr.contains(refusal), "{output:#?}");
    let long = "x".repeat(100_000);
    let output = env.run(&["update", "bd-a", "--title", &long]).exits(1);
    assert!(output.stderr.contains("at most 500"), "{output:#?}");
    let args = [
        "create-bead",
        "--intent",
        "x",
        "--verifier",
        "true",
        "--title",
        &long,
    ];
    let output = env.run(&args).exits(1);
    assert!(output.stderr.contains("at most 500"), "{output:#?}");
    assert_eq!(env.run(&["export"]).exits(0).stdout, before);
}
