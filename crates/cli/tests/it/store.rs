//! The commands for people over a store: one file for each kind.

mod change;
mod claim;
mod dep;
mod hostile;
mod import;
mod init;
mod limits;
mod looking;
mod place;
mod query;
mod trouble;

use serde_json::Value;

use crate::env::{Output, TestEnv};

/// Five beads: `a` is free, `b` waits for it, `c` for something that is not there; `d` is a part of `a`; `e` is closed.
pub(crate) const FIVE: &str = r#"{"id":"bd-a","title":"Alpha","priority":1,"issue_type":"feature","labels":["x","y"],"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","metadata":{"team_name":"red","attempt_count":2}}
{"id":"bd-b","title":"Beta","priority":2,"assignee":"somebody","labels":["y"],"dependencies":["bd-a"],"created_at":"2026-01-01T00:00:01Z","updated_at":"2026-01-01T00:00:01Z","description":"First line.\nSecond line.","acceptance_criteria":"It works."}
{"id":"bd-c","title":"Gamma","priority":0,"dependencies":[{"depends_on_id":"bd-absent","type":"blocks"}],"created_at":"2026-01-01T00:00:02Z","updated_at":"2026-01-01T00:00:02Z"}
{"id":"bd-d","title":"Delta","priority":3,"issue_type":"bug","dependencies":[{"depends_on_id":"bd-a","type":"parent-child"}],"created_at":"2026-01-01T00:00:03Z","updated_at":"2026-01-01T00:00:03Z"}
{"id":"bd-e","title":"Epsilon","status":"closed","closed_at":"2026-01-01T12:00:00Z","close_reason":"done","created_at":"2026-01-01T00:00:04Z","updated_at":"2026-01-01T12:00:00Z","comments":[{"author":"bob","text":"well done","created_at":"2026-01-01T13:00:00Z"}]}
"#;

/// A world with a store that holds these lines.
#[track_caller]
pub(crate) fn seeded(lines: &str) -> TestEnv {
    let env = TestEnv::new();
    env.run(&["init"]).exits(0);
    env.command(&["import", "-"]).stdin(lines).run().exits(0);
    env
}

/// A world with the five beads.
#[track_caller]
pub(crate) fn five() -> TestEnv {
    seeded(FIVE)
}

/// What a command answers with `--json`.
#[track_caller]
pub(crate) fn data(env: &TestEnv, args: &[&str]) -> Value {
    with_json(env, args).exits(0).data()
}

/// What a command fails with, and its exit code.
#[track_caller]
pub(crate) fn error(env: &TestEnv, args: &[&str], exit_code: i32) -> Value {
    with_json(env, args).exits(exit_code).error()
}

#[track_caller]
pub(crate) fn with_json(env: &TestEnv, args: &[&str]) -> Output {
    let args: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    env.run(&args)
}

/// The bead as `show --json` has it.
#[track_caller]
pub(crate) fn shown(env: &TestEnv, id: &str) -> Value {
    data(env, &["show", id])["beads"][0].take()
}

/// The ids of the beads of an answer.
#[track_caller]
pub(crate) fn ids(data: &Value) -> Vec<&str> {
    let beads = data["beads"].as_array().expect("beads").iter();
    beads
        .map(|bead| bead["id"].as_str().expect("an id"))
        .collect()
}
