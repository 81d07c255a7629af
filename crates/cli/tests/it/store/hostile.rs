//! Texts that would steer a terminal, and documents that are too big or too deep.

use super::{data, error, five, seeded, shown};
use crate::env::{Output, TestEnv};

/// Everything that must not reach a terminal: escape, bell, carriage return, a C1 control, a direction mark, a
/// joiner that cannot be seen.
const EVIL: &str = "\u{1b}[31mred\u{7}\r\u{9b}2J\u{202e}\u{200b}";

#[track_caller]
fn harmless(output: &Output) {
    for text in [&output.stdout, &output.stderr] {
        let bad = text
            .chars()
            .find(|c| *c != '\n' && beads_ralph_core::text::is_unprintable(*c));
        assert_eq!(bad, None, "{output:#?}");
    }
}

fn evil_store() -> TestEnv {
    let line = serde_json::json!({
        "id": "evil", "title": EVIL, "description": EVIL, "notes": EVIL, "acceptance_criteria": EVIL,
        "assignee": EVIL, "owner": EVIL, "issue_type": EVIL, "external_ref": EVIL, "created_by": EVIL,
        "metadata": {EVIL: {EVIL: EVIL}, "list": [EVIL]},
        "dependencies": [{"depends_on_id": EVIL, "type": "blocks", "odd": EVIL}],
        "comments": [{"author": EVIL, "text": EVIL, "created_at": EVIL}],
        EVIL: EVIL,
    });
    let memory = serde_json::json!({"_type": "memory", "key": EVIL, "value": EVIL});
    seeded(&format!(
        "{line}\n{memory}\n{{\"id\":\"free\",\"title\":\"t\"}}\n"
    ))
}

#[test]
fn nothing_from_a_store_steers_a_terminal() {
    let env = evil_store();
    for args in [
        &["list"][..],
        &["list", "--blocked"],
        &["ready"],
        &["show", "evil", "--comments"],
        &["search", "red"],
        &["stats"],
        &["log"],
        &["log", "evil"],
        &["dep", "list", "evil"],
        &["dep", "tree", "evil"],
        &["label", "list", "evil"],
        &["claim", "evil"],
        &["close", "evil"],
        &["claim", "free", "--actor", EVIL],
        &["claim", "free"],
        &["list"],
        &["show", "free"],
        &["release", "free"],
        &["close", "free"],
        &["heartbeat", "free", "--fence", "7"],
        &["recover"],
        &["update", "evil", "--title", EVIL, "--append-notes", EVIL],
        &["update", "evil", "--if-status", EVIL, "--title", "t"],
        &["comment", "evil", EVIL],
        &["log", "--limit", "5"],
        &["show", EVIL],
        &["dep", "add", "free", EVIL],
        &["label", "add", "free", EVIL],
        &["export", "-o", "out"],
    ] {
        harmless(&env.run(args));
        harmless(&env.command(args).env("LANG", "C").run());
    }
    let text = env.run(&["show", "evil"]).stdout;
    assert!(text.contains("\\u{1b}[31mred"), "{text}");
    let bead = shown(&env, "evil");
    assert_eq!(bead["metadata"]["list"][0], EVIL, "what was kept is whole");
}

#[test]
fn names_that_could_not_be_typed_are_refused() {
    let env = seeded("");
    for line in [
        serde_json::json!({"id": EVIL, "title": "t"}),
        serde_json::json!({"id": "a", "title": "t", "labels": [EVIL]}),
        serde_json::json!({"id": "a", "title": "t", "status": EVIL}),
        serde_json::json!({"id": "../a", "title": "t"}),
        serde_json::json!({"id": "-a", "title": "t"}),
        serde_json::json!({"id": "a".repeat(256), "title": "t"}),
    ] {
        let output = env
            .command(&["import", "-"])
            .stdin(format!("{line}\n"))
            .run()
            .exits(1);
        harmless(&output);
        assert!(output.stderr.contains("<stdin>:1: "), "{}", output.stderr);
    }
}

#[test]
fn tables_are_ascii_where_the_locale_is() {
    let env = seeded("{\"id\":\"a\",\"title\":\"日本語 é\",\"dependencies\":[\"é\"]}\n");
    for args in [
        &["list"][..],
        &["list", "--blocked"],
        &["dep", "tree", "a"],
        &["stats"],
    ] {
        let output = env.command(args).env("LANG", "C").run().exits(0);
        assert!(output.stdout.is_ascii(), "{}", output.stdout);
    }
}

#[test]
fn a_bead_may_be_big_but_not_without_end() {
    let env = five();
    let big = "x".repeat(5 << 20);
    env.write("big.json", format!("{{\"big\":\"{big}\"}}"));
    env.run(&["update", "bd-a", "--metadata", "@big.json"])
        .exits(0);
    let text = env.run(&["show", "bd-a"]).exits(0).stdout;
    assert!(text.len() < 4000, "people see the start of it");
    assert!(env.run(&["log", "bd-a"]).exits(0).stdout.len() < 4000);
    assert_eq!(
        shown(&env, "bd-a")["metadata"]["big"]
            .as_str()
            .unwrap()
            .len(),
        big.len()
    );
    let bigger = "x".repeat(10 << 20);
    env.write("big.json", format!("{{\"more\":\"{bigger}\"}}"));
    let refused = error(&env, &["update", "bd-a", "--metadata", "@big.json"], 1);
    assert!(refused["message"].as_str().unwrap().len() < 1000);
    env.write(
        "in.jsonl",
        format!("{{\"id\":\"n\",\"title\":\"t\",\"metadata\":{{\"more\":\"{bigger}\"}}}}"),
    );
    let refused = error(&env, &["import", "in.jsonl"], 1);
    assert!(
        refused["details"]
            .as_str()
            .unwrap()
            .starts_with("in.jsonl:1: ")
    );
    let (title, text) = ("t".repeat(500), "d".repeat(1 << 20));
    env.write(
        "in.jsonl",
        format!("{{\"id\":\"n\",\"title\":\"{title}\",\"description\":\"{text}\"}}"),
    );
    env.run(&["import", "in.jsonl"]).exits(0);
    assert!(env.run(&["list"]).exits(0).stdout.len() < 4000);
    assert!(env.run(&["close", "n"]).exits(0).stdout.len() < 4000);
}

#[test]
fn deep_metadata_is_refused() {
    let env = five();
    for depth in [110, 200, 100_000] {
        env.write(
            "deep.json",
            format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth)),
        );
        let refused = error(&env, &["update", "bd-a", "--metadata", "@deep.json"], 1);
        assert!(
            refused["code"].as_str().unwrap().starts_with("VALIDATION."),
            "{refused}"
        );
    }
    assert_eq!(data(&env, &["show", "bd-a"])["beads"][0]["version"], 1);
}
