//! `doctor`: what it finds in a damaged store, what `--repair` brings back, and what it says about the rest.

use beads_ralph_runtime::os::files;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::apply::{applied, apply, events, export, plan};
use crate::env::{TestEnv, strings};
use crate::snapshot::snapshot;
use crate::store::{data, error, shown};

const STORE: &str = ".beads/beads-ralph.db";
const THREE: [(&str, &str); 3] = [("1.1", "One"), ("1.2", "Two"), ("1.3", "Three")];
const IDS: [&str; 3] = ["bd-1-1-one", "bd-1-2-two", "bd-1-3-three"];

/// A store of three beads, one of which has a longer history.
fn three() -> TestEnv {
    let env = applied(&plan(&THREE));
    data(&env, &["claim", IDS[0]]);
    data(&env, &["comment", IDS[0], "half done"]);
    data(&env, &["label", "add", IDS[0], "by-hand"]);
    env
}

/// Changes one byte of a text wherever it stands in the file; pages that are not in use may hold copies.
#[track_caller]
fn flip(env: &TestEnv, text: &str) {
    let mut bytes = env.read(STORE);
    let places: Vec<usize> = (0..bytes.len())
        .filter(|at| bytes[*at..].starts_with(text.as_bytes()))
        .collect();
    assert!(!places.is_empty(), "{text} is not in the file");
    for at in places {
        bytes[at + text.len() - 2] ^= 1;
    }
    env.write(STORE, bytes);
}

/// Changes rows behind the program's back, against the triggers too.
#[track_caller]
fn tamper(env: &TestEnv, sql: &str) {
    let database = Connection::open(env.path(STORE)).unwrap();
    database
        .execute_batch(&format!("DROP TRIGGER events_are_not_changed; {sql}"))
        .unwrap();
}

/// The beads of the store as an export has them, whatever the order of their keys.
fn beads(env: &TestEnv) -> Vec<Value> {
    let lines = export(env);
    let beads = lines.lines().map(serde_json::from_str);
    beads.collect::<Result<_, _>>().unwrap()
}

/// What the doctor finds; it must find something, and must not change anything.
#[track_caller]
fn findings(env: &TestEnv) -> Vec<String> {
    let before = std::fs::read(env.path(STORE)).ok();
    let found = error(env, &["doctor"], 3);
    assert_eq!(
        std::fs::read(env.path(STORE)).ok(),
        before,
        "looking changes nothing"
    );
    let action = found["suggested_action"].as_str().unwrap();
    assert!(action.contains("doctor --repair"), "{action}");
    let details = found["details"].as_str().unwrap();
    details.lines().map(str::to_owned).collect()
}

/// Repairs the store without loss.
#[track_caller]
fn repaired(env: &TestEnv, more: &[&str]) -> Value {
    let answer = data(env, &[&["doctor", "--repair"], more].concat());
    assert_eq!(answer["is_healthy"], true);
    assert_eq!(answer["repaired"]["lost"], json!([]));
    env.run(&["doctor"]).exits(0);
    answer
}

/// Repairs a store that has lost something.
#[track_caller]
fn lost(env: &TestEnv) -> Value {
    let found = error(env, &["doctor", "--repair"], 1);
    assert_eq!(found["code"], "DEPENDENCY.UNRESOLVED");
    let action = found["suggested_action"].as_str().unwrap();
    assert!(
        action.contains("import") && action.contains("plan apply"),
        "{action}"
    );
    env.run(&["doctor"]).exits(0);
    found
}

#[test]
fn a_healthy_store_is_left_alone() {
    let env = three();
    let before = env.read(STORE);
    let said = env.run(&["doctor"]).exits(0);
    snapshot("doctor", &said.stdout.replace(env.path("").as_str(), ""));
    let answer = data(&env, &["doctor", "--repair"]);
    assert_eq!(
        (&answer["is_healthy"], &answer["repaired"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(env.read(STORE), before);
    assert!(
        !env.names(".beads")
            .iter()
            .any(|name| name.contains("damaged"))
    );
}

#[test]
fn a_flipped_byte_in_a_row_is_found_and_mended_from_history() {
    let env = three();
    let (before, log) = (beads(&env), events(&env));
    flip(&env, "\"title\":\"Two\"");
    let found = findings(&env);
    assert_eq!(
        found,
        ["the row bd-1-2-two of issues is not what was written"],
        "each finding once"
    );
    for args in [
        &["show", IDS[1]][..],
        &["list"],
        &["plan", "apply", "plan.md"],
        &["export"],
    ] {
        let refused = error(&env, args, 3);
        assert!(
            refused["suggested_action"]
                .as_str()
                .unwrap()
                .contains("beads-ralph doctor"),
            "{refused}"
        );
    }
    assert_eq!(
        shown(&env, IDS[0])["title"],
        "One",
        "what is whole can be read"
    );
    let said = env.run(&["doctor"]).exits(3);
    assert!(
        said.stderr.starts_with("damage: the row bd-1-2-two"),
        "{said:#?}"
    );
    let damaged = env.read(STORE);
    let answer = repaired(&env, &[]);
    assert_eq!(strings(&answer["repaired"]["from_history"]), [IDS[1]]);
    let kept = answer["repaired"]["kept"].as_str().unwrap();
    assert_eq!(
        files::read(kept.into()).unwrap(),
        damaged,
        "the damaged file is kept"
    );
    assert_eq!(
        (beads(&env), events(&env)),
        (before, log),
        "nothing is missing, nothing is new"
    );
}

#[test]
fn a_damaged_index_is_found_and_mended() {
    let env = three();
    let before = export(&env);
    let database = Connection::open(env.path(STORE)).unwrap();
    let number = |sql: &str| -> usize {
        let number: i64 = database.query_row(sql, [], |row| row.get(0)).unwrap();
        usize::try_from(number).unwrap()
    };
    let page = number("SELECT rootpage FROM sqlite_schema WHERE name = 'events_by_issue'");
    let size = number("PRAGMA page_size");
    drop(database);
    let mut bytes = env.read(STORE);
    bytes[page * size - 40..page * size].fill(0);
    env.write(STORE, bytes);
    assert!(!findings(&env).is_empty());
    assert_eq!(repaired(&env, &[])["repaired"]["from_history"], json!([]));
    assert_eq!(export(&env), before);
}

#[test]
fn a_damaged_header_is_found_and_mended() {
    let env = three();
    let before = export(&env);
    let mut bytes = env.read(STORE);
    bytes[68] ^= 1;
    env.write(STORE, bytes);
    assert_eq!(findings(&env), ["its mark is not what was written"]);
    repaired(&env, &[]);
    assert_eq!(export(&env), before);
}

#[test]
fn a_database_of_another_program_is_not_touched() {
    let env = three();
    std::fs::remove_file(env.path(STORE)).unwrap();
    let other = Connection::open(env.path(STORE)).unwrap();
    other
        .execute_batch("CREATE TABLE t (a); PRAGMA user_version = 1")
        .unwrap();
    drop(other);
    let before = env.read(STORE);
    for args in [&["doctor"][..], &["doctor", "--repair"], &["ready"]] {
        let found = error(&env, args, 3);
        assert!(
            found["message"]
                .as_str()
                .unwrap()
                .contains("another program"),
            "{found}"
        );
    }
    assert_eq!(env.read(STORE), before);
}

#[test]
fn a_store_without_its_file_comes_back_from_the_export() {
    for (what, file) in [
        ("gone", None),
        ("empty", Some(vec![])),
        ("garbage", Some(vec![0x5a; 9000])),
        ("cut", None),
    ] {
        let env = three();
        let before = export(&env);
        let cut = env.read(STORE)[..5000].to_vec();
        data(&env, &["export", "-o", ".beads/issues.jsonl"]);
        match file.or((what == "cut").then_some(cut)) {
            Some(bytes) => env.write(STORE, bytes),
            None => std::fs::remove_file(env.path(STORE)).unwrap(),
        }
        let found = findings(&env);
        assert_eq!(found.len(), 1, "{what}: {found:?}");
        for args in [&["ready"][..], &["plan", "apply", "plan.md"], &["init"]] {
            let refused = error(&env, args, 3);
            let action = refused["suggested_action"].as_str().unwrap();
            assert!(action.contains("beads-ralph doctor"), "{what}: {refused}");
        }
        let answer = repaired(&env, &[]);
        assert_eq!(strings(&answer["repaired"]["from_export"]), IDS, "{what}");
        assert_eq!(
            answer["repaired"]["kept"].is_null(),
            what == "gone",
            "{answer}"
        );
        // A claim is no part of an export: whoever held the bead has to claim it again.
        assert_eq!(unfenced(&export(&env)), unfenced(&before), "{what}");
        assert_eq!(shown(&env, IDS[0])["claim"], Value::Null);
        assert_eq!(shown(&env, IDS[0])["comments"][0]["text"], "half done");
    }
}

#[test]
fn the_export_can_be_named() {
    let env = three();
    let before = export(&env);
    env.write("elsewhere.jsonl", &before);
    env.write(".beads/issues.jsonl", "this is not read");
    env.write(STORE, "garbage");
    let absent = error(&env, &["doctor", "--repair", "--from", "absent.jsonl"], 3);
    assert_eq!(absent["code"], "IO.FILE_NOT_FOUND");
    let bad = error(&env, &["doctor", "--repair"], 1);
    assert!(
        bad["message"].as_str().unwrap().contains("issues.jsonl:1:"),
        "{bad}"
    );
    assert_eq!(env.text(STORE), "garbage", "nothing was done yet");
    let answer = repaired(&env, &["--from", "elsewhere.jsonl"]);
    assert_eq!(strings(&answer["repaired"]["from_export"]), IDS);
    assert_eq!(unfenced(&export(&env)), unfenced(&before));
    env.run(&["doctor", "--from", "elsewhere.jsonl"]).exits(2);
}

#[test]
fn beads_that_cannot_be_brought_back_are_named() {
    let env = three();
    tamper(
        &env,
        "UPDATE issues SET document = replace(document, 'One', 'Own') WHERE id = 'bd-1-1-one'; \
         UPDATE events SET after = replace(after, 'One', 'Own') WHERE issue_id = 'bd-1-1-one' AND version = 1; \
         UPDATE issues SET document = replace(document, 'Two', 'Tow') WHERE id = 'bd-1-2-two'; \
         UPDATE events SET after = replace(after, 'Two', 'Tow') WHERE issue_id = 'bd-1-2-two';",
    );
    assert!(findings(&env).len() >= 4);
    let found = lost(&env);
    assert!(
        found["message"]
            .as_str()
            .unwrap()
            .contains("2 beads are lost"),
        "{found}"
    );
    assert_eq!(found["details"], "bd-1-1-one\nbd-1-2-two");
    let repaired = &found["results"]["repaired"];
    assert_eq!(strings(&repaired["lost"]), IDS[..2]);
    assert!(repaired["kept"].is_string(), "{found}");
    assert_eq!(
        data(&env, &["ready"])["beads"],
        json!([]),
        "the last one waits for what is gone"
    );
    // The way out that the error names.
    let answer = apply(&env, "plan.md");
    assert_eq!(strings(&answer["bead_ids"]), IDS[..2]);
    assert_eq!(answer["counts"]["unchanged"], 1);
    env.run(&["doctor"]).exits(0);
    assert_eq!(shown(&env, IDS[0])["version"], 1, "a new life");
}

#[test]
fn people_are_told_what_is_lost() {
    let env = three();
    tamper(
        &env,
        "UPDATE issues SET document = replace(document, 'Two', 'Tow') WHERE id = 'bd-1-2-two'; \
         UPDATE events SET after = replace(after, 'Two', 'Tow') WHERE issue_id = 'bd-1-2-two';",
    );
    let said = env.run(&["doctor", "--repair"]).exits(1);
    assert!(
        said.stdout
            .contains("is whole again: 2 beads\n  the damaged file is kept as "),
        "{said:#?}"
    );
    assert!(
        said.stderr
            .contains("1 bead is lost, and nothing but the names is left: bd-1-2-two"),
        "{said:#?}"
    );
}

#[test]
fn a_store_that_has_lost_everything_says_so() {
    for file in [None, Some(vec![0x5a; 9000])] {
        let env = three();
        match file {
            Some(bytes) => env.write(STORE, bytes),
            None => std::fs::remove_file(env.path(STORE)).unwrap(),
        }
        let found = lost(&env);
        assert!(
            found["message"]
                .as_str()
                .unwrap()
                .contains("no bead was left"),
            "{found}"
        );
        assert_eq!(apply(&env, "plan.md")["beads_created"], 3);
    }
}

#[test]
fn looking_over_needs_nobody_to_stop() {
    let env = three();
    let open = beads_ralph_runtime::store::SqliteStore::open(&env.path(STORE)).unwrap();
    env.run(&["doctor"]).exits(0);
    drop(open);
}

#[test]
fn the_doctor_needs_a_store_of_our_own() {
    let env = TestEnv::new();
    assert_eq!(
        error(&env, &["doctor"], 3)["code"],
        "DATABASE.NOT_INITIALIZED"
    );
    env.write(".beads/metadata.json", "{}");
    assert_eq!(
        error(&env, &["doctor"], 3)["code"],
        "DATABASE.CLI_NOT_FOUND"
    );
    assert_eq!(
        error(&env, &["doctor", "--repair"], 3)["code"],
        "DATABASE.CLI_NOT_FOUND"
    );
}

#[test]
fn memories_that_are_gone_come_back_from_the_export() {
    let env = three();
    let memory = |key: &str, value: &str| {
        format!("{{\"_type\":\"memory\",\"key\":\"{key}\",\"value\":\"{value}\"}}\n")
    };
    let both = memory("one", "first") + &memory("two", "second");
    let remember = |lines: &str| env.command(&["import", "-"]).stdin(lines).run().exits(0);
    remember(&both);
    env.run(&["export", "-o", ".beads/issues.jsonl"]).exits(0);
    remember(&memory("two", "newer"));
    tamper(
        &env,
        "UPDATE controls SET value = '\"?\"' WHERE key = 'memory/one'",
    );
    let answer = repaired(&env, &[]);
    assert_eq!(answer["repaired"]["memories"], json!(["one"]));
    let lines = export(&env);
    assert!(
        lines.ends_with(&(memory("one", "first") + &memory("two", "newer"))),
        "what is there is newer than the export: {lines}"
    );
}

/// An export without its fences, which leap when nobody knows how many were given out.
fn unfenced(export: &str) -> Vec<Value> {
    let lines = export.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("claim_fence");
        line
    });
    lines.collect()
}

/// Z-2: whoever was given a fence before the store was lost finds it stale afterwards.
#[test]
fn z_2_a_fence_of_the_past_is_stale_after_a_repair_from_an_older_export() {
    let env = three();
    env.write(".beads/issues.jsonl", export(&env));
    env.run(&["release", IDS[0], "--force"]).exits(0);
    env.run(&["--actor", "old", "claim", IDS[0]]).exits(0);
    let old = shown(&env, IDS[0])["fence"].to_string();
    env.write(STORE, "");
    repaired(&env, &[]);
    env.run(&["reopen", IDS[0]]);
    env.run(&["--actor", "new", "claim", IDS[0]]).exits(0);
    let refused = error(&env, &["close", IDS[0], "--fence", &old], 1);
    assert!(
        refused["message"].as_str().unwrap().contains("stale"),
        "{refused}"
    );
}
