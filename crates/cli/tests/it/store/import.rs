//! `import` and `export`: the lines of `bd`, there and back.

use serde_json::json;

use super::{FIVE, data, error, five, seeded, shown};
use crate::env::{NOW, TestEnv, strings};

/// A line with everything that a line can have, and with what nobody knows.
const RICH: &str = "{\"_type\":\"issue\",\"id\":\"bd-rich\",\"title\":\"T \\u001b[0m\",\"odd\":{\"z\":1.50,\"a\":[1e+400,-0.0]},\"status\":\"closed\",\"priority\":1,\"closed_at\":\"2026-06-02T08:00:00Z\",\"created_at\":\"2026-06-01 12:00:00\",\"updated_at\":\"2026-06-02T08:00:00.123456+02:00\",\"labels\":[\"b\",\"a\"],\"dependencies\":[{\"issue_id\":\"bd-rich\",\"depends_on_id\":\"bd-gone\",\"type\":\"blocks\",\"metadata\":\"{}\",\"odd\":true},{\"issue_id\":\"bd-rich\",\"depends_on_id\":\"external:x:y\",\"type\":\"tracks\"}],\"comments\":[{\"id\":7,\"issue_id\":\"bd-rich\",\"author\":\"bob\",\"text\":\"hi\",\"odd\":null}],\"metadata\":{\"k\":null},\"claim_fence\":4,\"dependency_count\":1,\"dependent_count\":0,\"comment_count\":1}\n";

#[track_caller]
fn import(env: &TestEnv, lines: &str) -> serde_json::Value {
    let output = env.command(&["import", "-", "--json"]).stdin(lines).run();
    output.exits(0).data()
}

#[test]
fn z_21_a_round_trip_gives_the_same_bytes() {
    let env = seeded(RICH);
    assert_eq!(env.run(&["export"]).exits(0).stdout, RICH);
    env.command(&["import", "-"]).stdin(FIVE).run().exits(0);
    env.command(&["import", "-"])
        .stdin(
            "{\"_type\":\"memory\",\"key\":\"k/\\u00e9\",\"value\":\"v\\n\"}\n{\"_schema\":1}\n\n",
        )
        .run()
        .exits(0);
    env.run(&["claim", "bd-a"]).exits(0);
    env.run(&["comment", "bd-b", "said"]).exits(0);
    env.run(&["export", "-o", "all.jsonl"]).exits(0);
    let first = env.text("all.jsonl");
    assert!(
        first.ends_with("{\"_type\":\"memory\",\"key\":\"k/é\",\"value\":\"v\\n\"}\n"),
        "{first}"
    );
    let other = seeded(&first);
    assert_eq!(other.run(&["export"]).exits(0).stdout, first);
    assert_eq!(
        data(&other, &["export"])["lines"].as_array().unwrap().len(),
        7
    );
    assert_eq!(
        shown(&other, "bd-a")["fence"],
        1,
        "z_2: the fence moves with the bead"
    );
    let again = import(&other, &first);
    assert_eq!(
        (&again["unchanged"], &again["created"]),
        (&json!(6), &json!([]))
    );
}

#[test]
fn a_line_is_new_changed_the_same_or_stale() {
    let env = five();
    let line = |id: &str, title: &str, at: &str| {
        format!("{{\"id\":\"{id}\",\"title\":\"{title}\",\"updated_at\":\"{at}\"}}\n")
    };
    let lines = [
        line("bd-a", "Newer", "2026-01-03T00:00:00Z"),
        line("bd-b", "Older", "2025-01-01T00:00:00Z"),
        line("bd-new", "New", "2026-01-01T00:00:00Z"),
    ];
    let report = import(&env, &lines.concat());
    assert_eq!(strings(&report["updated"]), ["bd-a"]);
    assert_eq!(strings(&report["stale"]), ["bd-b"]);
    assert_eq!(strings(&report["created"]), ["bd-new"]);
    assert_eq!(shown(&env, "bd-b")["title"], "Beta");
    let alpha = shown(&env, "bd-a");
    assert_eq!(
        (&alpha["title"], &alpha["updated_at"]),
        (&json!("Newer"), &json!("2026-01-03T00:00:00Z"))
    );
    let again = import(&env, &lines.concat());
    assert_eq!(
        (&again["unchanged"], &again["updated"]),
        (&json!(2), &json!([]))
    );
    // What the other side changes after that is still newer than what came from it.
    let later = import(&env, &line("bd-a", "Newest", "2026-01-03T00:00:01Z"));
    assert_eq!(strings(&later["updated"]), ["bd-a"]);
}

#[test]
fn comments_are_added_once() {
    let env = five();
    let line = "{\"id\":\"bd-e\",\"title\":\"Epsilon\",\"status\":\"closed\",\"closed_at\":\"2026-01-01T12:00:00Z\",\"close_reason\":\"done\",\"created_at\":\"2026-01-01T00:00:04Z\",\"updated_at\":\"2026-01-01T12:00:00Z\",\"comments\":[{\"author\":\"bob\",\"text\":\"well done\",\"created_at\":\"2026-01-01T13:00:00Z\",\"id\":\"u\"},{\"author\":\"eve\",\"text\":\"more\",\"created_at\":\"2026-01-01T14:00:00Z\"}]}\n";
    assert_eq!(strings(&import(&env, line)["updated"]), ["bd-e"]);
    let bead = shown(&env, "bd-e");
    assert_eq!(
        (&bead["comment_count"], &bead["updated_at"]),
        (&json!(2), &json!("2026-01-01T12:00:00Z"))
    );
    assert_eq!(import(&env, line)["unchanged"], 1);
}

#[test]
fn what_somebody_holds_is_left_alone() {
    let env = five();
    env.run(&["claim", "bd-a", "--actor", "alice"]).exits(0);
    let line = "{\"id\":\"bd-a\",\"title\":\"Theirs\",\"updated_at\":\"2026-02-01T00:00:00Z\",\"claim_fence\":9}\n";
    let report = import(&env, line);
    assert_eq!(report["refused"][0]["id"], "bd-a");
    assert!(
        report["refused"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("already claimed by alice")
    );
    assert_eq!(
        report["fences_kept"],
        json!([{"id": "bd-a", "fence": 1, "in_file": 9}])
    );
    assert_eq!(
        (&shown(&env, "bd-a")["title"], &shown(&env, "bd-a")["fence"]),
        (&json!("Alpha"), &json!(1))
    );
    let output = env.command(&["import", "-"]).stdin(line).run().exits(0);
    assert!(
        output.stderr.contains("already claimed by alice")
            && output.stderr.contains("keeps 1 here")
    );
}

#[test]
fn every_bad_line_is_named_and_nothing_is_imported() {
    let env = seeded("");
    let deep = format!(
        "{{\"id\":\"deep\",\"title\":\"t\",\"metadata\":{{\"a\":{}1{}}}}}",
        "[".repeat(110),
        "]".repeat(110)
    );
    let deeper = format!(
        "{{\"id\":\"deep\",\"title\":\"t\",\"metadata\":{{\"a\":{}1{}}}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let lines = [
        "{\"id\":\"good\",\"title\":\"t\"}",
        "{\"id\":",
        "[]",
        "{\"id\":\"a b\",\"title\":\"t\",\"priority\":\"high\"}",
        "{\"title\":\"t\"}",
        "{\"id\":\"x\",\"title\":7,\"labels\":\"l\",\"dependencies\":{},\"metadata\":[],\"created_at\":\"soon\"}",
        "{\"id\":\"good\",\"title\":\"again\"}",
        &deep,
        &deeper,
        "{\"id\":\"f\",\"title\":\"t\",\"claim_fence\":18446744073709551615}",
    ];
    env.write(
        "in.jsonl",
        [lines.join("\n").as_bytes(), b"\n{\"id\":\"\xff\"}"].concat(),
    );
    let output = env.run(&["import", "in.jsonl"]).exits(1);
    for number in 2..=11 {
        assert!(
            output.stderr.contains(&format!("in.jsonl:{number}: ")),
            "{number}: {}",
            output.stderr
        );
    }
    assert!(!output.stderr.contains("in.jsonl:1:"));
    assert!(
        output
            .stderr
            .contains("in.jsonl:7: id: 'good' stands on line 1 already")
    );
    let error = error(&env, &["import", "in.jsonl"], 1);
    assert!(error["details"].as_str().unwrap().lines().count() >= 10);
    assert_eq!(env.run(&["export"]).exits(0).stdout, "");
    assert_eq!(
        super::error(&env, &["import", "absent.jsonl"], 3)["code"],
        "IO.FILE_NOT_FOUND"
    );
    assert_eq!(
        super::error(&env, &["import"], 3)["code"],
        "IO.FILE_NOT_FOUND"
    );
}

#[test]
fn codes_follow_the_kind_of_mistake() {
    let env = seeded("");
    for (line, code) in [
        ("{\"title\":\"t\"}", "VALIDATION.MISSING_FIELD"),
        (
            "{\"id\":\"a\",\"title\":\"t\",\"priority\":\"x\"}",
            "VALIDATION.BEAD_SCHEMA",
        ),
        (
            "{\"id\":\"a\",\"title\":\"t\"}\n{\"id\":\"a\",\"title\":\"t\"}",
            "DEPENDENCY.DUPLICATE_ID",
        ),
        (
            "{\"id\":\"a\",\"title\":\"t\",\"dependencies\":[\"b\"]}\n{\"id\":\"b\",\"title\":\"t\",\"dependencies\":[\"a\"]}",
            "DEPENDENCY.CYCLE_DETECTED",
        ),
    ] {
        let output = env
            .command(&["import", "-", "--json"])
            .stdin(line)
            .run()
            .exits(1);
        assert_eq!(output.error_code(), code, "{line}");
    }
    assert_eq!(data(&env, &["stats"])["total"], 0);
}

#[test]
fn a_dry_run_changes_nothing() {
    let env = five();
    env.write("in.jsonl", "\u{feff}{\"id\":\"n\",\"title\":\"t\"}\r\n{\"_type\":\"memory\",\"key\":\"k\",\"value\":\"v\"}\n");
    let before = env.run(&["export"]).stdout;
    let report = data(&env, &["import", "in.jsonl", "--dry-run"]);
    assert_eq!(
        (&report["dry_run"], &report["created"], &report["memories"]),
        (&json!(true), &json!(["n"]), &json!(1))
    );
    assert!(
        env.run(&["import", "in.jsonl", "--dry-run"])
            .stdout
            .starts_with("would import from in.jsonl: 1 created")
    );
    assert_eq!(env.run(&["export"]).stdout, before);
    env.run(&["import", "in.jsonl"]).exits(0);
    assert_ne!(env.run(&["export"]).stdout, before);
}

#[test]
fn an_export_replaces_its_file_in_one_step() {
    let env = five();
    env.write("out.jsonl", "old");
    let report = data(&env, &["export", "-o", "out.jsonl"]);
    assert_eq!(
        report,
        json!({"file": "out.jsonl", "beads": 5, "memories": 0})
    );
    let lines = env.text("out.jsonl");
    let ids: Vec<serde_json::Value> = (lines.lines())
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].take())
        .collect();
    assert_eq!(ids, ["bd-a", "bd-b", "bd-c", "bd-d", "bd-e"]);
    assert_eq!(
        env.names("."),
        [".beads", ".ralph", "beads-ralph.yaml", "out.jsonl"]
    );
    assert_eq!(
        error(&env, &["export", "-o", "no/such/out.jsonl"], 3)["code"],
        "IO.FILE_NOT_FOUND"
    );
    error(&env, &["export", "-o", ".beads"], 3);
}

#[test]
fn an_imported_status_needs_no_claim() {
    let env = five();
    let report = import(
        &env,
        &format!(
            "{{\"id\":\"bd-a\",\"title\":\"Alpha\",\"status\":\"in_progress\",\"updated_at\":\"{NOW}\"}}\n"
        ),
    );
    assert_eq!(strings(&report["updated"]), ["bd-a"]);
    assert_eq!(shown(&env, "bd-a")["status"], "in_progress");
}

#[test]
fn a_line_that_is_not_later_replaces_nothing() {
    let env = five();
    env.run(&["export", "-o", "before.jsonl"]).exits(0);
    env.run(&["close", "bd-a"]).exits(0);
    env.run(&["export", "-o", "closed.jsonl"]).exits(0);
    env.run(&["reopen", "bd-a"]).exits(0);
    // All of that happened within one second.
    let same = data(&env, &["import", "closed.jsonl"]);
    assert_eq!(strings(&same["stale"]), ["bd-a"]);
    assert_eq!(
        same["stale_reasons"],
        json!([{"id": "bd-a", "reason": "same_time"}])
    );
    assert_eq!(shown(&env, "bd-a")["status"], "open");
    let timeless = import(&env, "{\"id\":\"bd-e\",\"title\":\"Epsilon\"}\n");
    assert_eq!(strings(&timeless["stale"]), ["bd-e"]);
    assert_eq!(timeless["stale_reasons"][0]["reason"], "no_time");
    assert_eq!(shown(&env, "bd-e")["status"], "closed");
    let older = env.run(&["import", "before.jsonl"]).exits(0);
    assert!(
        older
            .stderr
            .contains("bd-a is older in the file than here, and was left alone"),
        "{}",
        older.stderr
    );
}

#[test]
fn overwrite_replaces_whatever_the_time_but_not_what_is_held() {
    let env = five();
    env.run(&["claim", "bd-d", "--actor", "alice"]).exits(0);
    let lines = concat!(
        "{\"id\":\"bd-e\",\"title\":\"Timeless\"}\n",
        "{\"id\":\"bd-b\",\"title\":\"Older\",\"updated_at\":\"2025-01-01T00:00:00Z\"}\n",
        "{\"id\":\"bd-d\",\"title\":\"Held\"}\n",
    );
    let output = env
        .command(&["import", "-", "--overwrite", "--json"])
        .stdin(lines)
        .run();
    let report = output.exits(0).data();
    assert_eq!(strings(&report["updated"]), ["bd-e", "bd-b"]);
    assert_eq!(report["stale"], json!([]));
    assert_eq!(report["refused"][0]["id"], "bd-d");
    for (id, title) in [("bd-e", "Timeless"), ("bd-b", "Older"), ("bd-d", "Delta")] {
        assert_eq!(shown(&env, id)["title"], title);
    }
    assert_ne!(shown(&env, "bd-e")["status"], "closed");
}
