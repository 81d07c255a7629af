//! A store that cannot be written just now: the disk is full, or another process keeps it.

use std::io::Write as _;

use rusqlite::{Connection, TransactionBehavior};
use serde_json::json;

use super::five;

/// A shell in which files cannot grow beyond so many blocks of 512 bytes, as on a full disk. The signal is ignored, so
/// that the program meets the error.
const FULL: &str = "trap '' XFSZ; ulimit -f 400; exec \"$0\" import big.jsonl --json";

#[test]
fn a_full_disk_in_mid_transaction_leaves_the_store_as_it_was() {
    let env = five();
    let before = env.run(&["export"]).exits(0).stdout;
    let mut lines = Vec::new();
    for number in 0..200 {
        let line =
            json!({"id": format!("big-{number}"), "title": "t", "description": "x".repeat(5000)});
        writeln!(lines, "{line}").unwrap();
    }
    env.write("big.jsonl", String::from_utf8(lines).unwrap());
    let program = env!("CARGO_BIN_EXE_beads-ralph");
    let output = env.tool("sh", &["-c", FULL, program]).run();
    assert_eq!(
        output.error_code(),
        "DATABASE.INSERT_FAILED",
        "{}",
        output.stdout
    );
    output.exits(1);
    assert_eq!(env.run(&["export"]).exits(0).stdout, before);
    env.run(&["doctor"]).exits(0);
    env.run(&["import", "big.jsonl"]).exits(0);
}

#[test]
fn a_stuck_process_is_a_timeout_for_writers_and_nothing_to_readers() {
    let env = five();
    let mut stuck = Connection::open(env.path(".beads/beads-ralph.db")).unwrap();
    let transaction = stuck
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .unwrap();
    let writer = env.command(&["update", "bd-a", "--title", "Other", "--json"]);
    let output = writer.env("BEADS_RALPH_STORE_TIMEOUT", "50ms").run();
    assert_eq!(output.error_code(), "DATABASE.TIMEOUT");
    output.exits(1);
    env.run(&["show", "bd-a"]).exits(0);
    drop(transaction);
    env.run(&["update", "bd-a", "--title", "Other"]).exits(0);
}

#[test]
fn a_timeout_that_is_none_is_refused() {
    let env = five();
    let output = env
        .command(&["list"])
        .env("BEADS_RALPH_STORE_TIMEOUT", "soon")
        .run()
        .exits(1);
    assert!(
        output.stderr.contains("BEADS_RALPH_STORE_TIMEOUT"),
        "{}",
        output.stderr
    );
}

#[test]
fn init_waits_for_others_as_long_as_it_is_told() {
    let env = five();
    let lock = std::fs::File::open(env.path(".beads/beads-ralph.lock")).unwrap();
    lock.lock().unwrap();
    let init = |timeout: &str| {
        let init = env.command(&["init", "--json"]);
        init.env("BEADS_RALPH_STORE_TIMEOUT", timeout).run()
    };
    let busy = init("50ms").error();
    assert_eq!(busy["code"], "DATABASE.TIMEOUT");
    drop(lock);
    init("50ms").exits(0);
    let refused = init("soon").error();
    assert!(refused["message"].as_str().unwrap().contains("soon"));
}

#[test]
fn init_with_a_timeout_that_is_none_makes_nothing() {
    let env = crate::env::TestEnv::new();
    let init = env.command(&["init"]);
    let init = init.env("BEADS_RALPH_STORE_TIMEOUT", "soon").run().exits(1);
    assert!(init.stderr.contains("BEADS_RALPH_STORE_TIMEOUT"));
    assert!(!env.path(".beads").exists());
}
