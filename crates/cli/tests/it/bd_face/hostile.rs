//! Beads are text of others. Nothing in them may steer the terminal of whoever looks at them (C-11).

use serde_json::{Value, json};

use super::{done, value, world};
use crate::env::{Output, TestEnv};

/// Sets the window's title, rings, changes colours in two ways, turns the direction of the text, and begins a line of its own.
const HOSTILE: &str = "evil\u{1b}]0;owned\u{7}\u{9b}31m\u{1b}[2J\u{202e}\u{8}\r\nforged";

/// A store in which everything that takes any text has hostile text.
fn hostile() -> TestEnv {
    let env = world();
    let bead = |id: &str, status: &str| {
        let mut bead = json!({
            "id": id, "title": HOSTILE, "status": status, "priority": 1, "issue_type": "task",
            "description": HOSTILE, "design": HOSTILE, "acceptance_criteria": HOSTILE, "notes": HOSTILE,
            "assignee": HOSTILE, "owner": HOSTILE, "created_by": HOSTILE, "external_ref": HOSTILE,
            "spec_id": HOSTILE, "created_at": "2024-01-01T00:00:00Z", "updated_at": "2024-01-01T00:00:00Z",
            "metadata": {HOSTILE: HOSTILE, "list": [HOSTILE]},
            "comments": [{"author": HOSTILE, "text": HOSTILE, "created_at": "2024-01-01T00:00:00Z"}],
            "lease_granted_node": HOSTILE, "lease_expires_at": "2024-01-01T00:00:00Z",
        });
        if status == "closed" {
            bead["close_reason"] = HOSTILE.into();
            bead["closed_at"] = "2024-01-02T00:00:00Z".into();
        }
        bead
    };
    let mut beads = vec![
        bead("tt-open", "open"),
        bead("tt-held", "in_progress"),
        bead("tt-done", "closed"),
        bead("tt-late", "deferred"),
    ];
    let mut epic = bead("tt-epic", "open");
    epic["issue_type"] = "epic".into();
    let mut root = bead("tt-mol", "open");
    root["issue_type"] = "molecule".into();
    let mut child = bead("tt-mol.1", "open");
    child["dependencies"] = json!([
        {"issue_id": "tt-mol.1", "depends_on_id": "tt-mol", "type": "parent-child"},
        {"issue_id": "tt-mol.1", "depends_on_id": "tt-open", "type": "blocks"},
    ]);
    let mut wisp = bead("tt-wisp", "open");
    wisp["ephemeral"] = true.into();
    let mut human = bead("tt-ask", "open");
    human["labels"] = json!(["human", "implementation-ready"]);
    for bead in [&mut human, &mut wisp] {
        bead.as_object_mut().unwrap().remove("assignee");
    }
    beads.extend([epic, root, child, wisp, human]);
    let lines: Vec<String> = beads.iter().map(Value::to_string).collect();
    env.write("beads.jsonl", &(lines.join("\n") + "\n"));
    done(&env, &["import", "beads.jsonl"]);
    env
}

/// Nothing in an output steers a terminal, and no line was begun by somebody else.
#[track_caller]
fn is_harmless(call: &[&str], output: &Output) {
    for text in [&output.stdout, &output.stderr] {
        // Bold words of our own, as the real `bd` has them.
        let text = text.replace("\u{1b}[1m[READY]\u{1b}[m", "");
        let text = text.replace("\u{1b}[1m[BLOCKED]\u{1b}[m", "");
        let is_bad = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!text.contains(is_bad), "{call:?} printed {text:?}");
    }
}

/// Every command of the face's argument tree.
fn commands(env: &TestEnv) -> Vec<Vec<String>> {
    let tree = value(&env.run(&["bd", "__tree"]).exits(0));
    let commands = tree["commands"].as_array().unwrap();
    let path = |command: &Value| serde_json::from_value(command["path"].clone()).unwrap();
    commands.iter().map(path).collect()
}

fn face(env: &TestEnv, words: &[&str]) -> Output {
    let call: Vec<&str> = ["bd"].into_iter().chain(words.iter().copied()).collect();
    env.command(&call)
        .env("BEADS_ACTOR", HOSTILE)
        .env("BEADS_NODE_ID", "here")
        .run()
}

#[test]
fn c_11_no_command_of_the_face_prints_text_of_others_raw() {
    let env = hostile();
    // Those that remove things come last, and see a separate store.
    let is_last =
        |path: &[String]| matches!(path[0].as_str(), "delete" | "init" | "close" | "purge");
    let mut commands = commands(&env);
    // What it prints is JSON, which stays as it is.
    commands.retain(|path| path[0] != "export");
    let (last, first): (Vec<_>, Vec<_>) = commands.into_iter().partition(|path| is_last(path));
    for path in first.iter().chain(&last) {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let mut calls = vec![path.clone(), [&path[..], &[HOSTILE]].concat()];
        for id in ["tt-open", "tt-held", "tt-mol"] {
            calls.push([&path[..], &[id]].concat());
        }
        calls.push([&path[..], &["tt-ask", HOSTILE]].concat());
        for call in calls {
            is_harmless(&call, &face(&env, &call));
        }
    }
}

#[test]
fn c_11_no_way_of_listing_prints_text_of_others_raw() {
    let env = hostile();
    for call in [
        &["list", "--long"][..],
        &["list", "--flat"],
        &["list", "--all", "--pretty"],
        &["list", "--tree"],
        &["list", "--format", "dot"],
        &["list", "--format", "digraph"],
        &["list", "--assignee", HOSTILE],
        &["ready", "--plain"],
        &["ready", "--label", "human"],
        &["ready", "--claim"],
        &["ready", "--type", HOSTILE],
        &["ready", "--sort", HOSTILE],
        &["show", "tt-held", "--short"],
        &["show", "tt-open", "--refs"],
        &["show", "tt-mol", "--children"],
        &["show", "tt-open", "tt-done", "tt-nope\u{1b}"],
        &["search", "evil", "--long"],
        &["search", "evil"],
        &["count", "--by-assignee"],
        &["blocked"],
        &["stale", "--days", "1"],
        &["status", "--assigned"],
        &["reclaim"],
        &["reclaim", "--any-replica"],
        &["dep", "tree", "tt-mol.1"],
        &["dep", "list", "tt-mol.1"],
        &["dep", "list", "tt-open", "--direction", "up"],
        &["dep", "add", "tt-open", "tt-mol.1"],
        &["comments", "tt-open"],
        &["human", "list"],
        &["human", "respond", "tt-ask", "--response", HOSTILE],
        &["mol", "show", "tt-mol"],
        &["mol", "current", "tt-mol"],
        &["mol", "current", "--for", HOSTILE],
        &["mol", "progress", "tt-mol"],
        &["mol", "stale"],
        &["mol", "wisp", "list"],
        &["mol", "burn", "tt-mol", "--dry-run"],
        &["mol", "squash", "tt-mol", "--dry-run"],
        &["create", HOSTILE],
        &["create", HOSTILE, "--dry-run", "--assignee", HOSTILE],
        &["create", "x", "--type", HOSTILE],
        &["create", "x", "--id", HOSTILE],
        &["create", "x", "--labels", HOSTILE],
        &["update", "tt-open", "--title", HOSTILE],
        &["update", "tt-open", "--status", HOSTILE],
        &["update", "tt-open", "--claim"],
        &["update", "tt-open", "--if-assignee", "x", "--title", "y"],
        &["config", "set", "custom.key", HOSTILE],
        &["config", "get", "custom.key"],
        &["config", "list"],
        &["import", HOSTILE],
        &["delete", "tt-open"],
        &["delete", "tt-open", "--force"],
        &["close", "tt-held"],
        &[
            "close",
            "tt-held",
            "--force",
            "--reason",
            HOSTILE,
            "--suggest-next",
        ],
        &["close", "tt-ask", "--claim-next"],
        &["reopen", "tt-done", "--reason", HOSTILE],
        &["nonsense\u{1b}"],
        &["list", "--nonsense\u{1b}"],
    ] {
        is_harmless(call, &face(&env, call));
    }
}

#[test]
fn c_11_a_title_takes_one_line() {
    let env = hostile();
    for call in [
        &["list", "--flat"][..],
        &["ready"],
        &["show", "tt-held"],
        &["search", "evil"],
        &["query", "status=in_progress", "--long"],
    ] {
        let printed = face(&env, call).exits(0).stdout;
        let mut titles = printed
            .lines()
            .take_while(|line| !line.contains("DESCRIPTION"));
        assert!(
            !titles.any(|line| line.starts_with("forged")),
            "{call:?}: {printed}"
        );
    }
}

#[test]
fn c_11_json_says_what_is_there() {
    let env = hostile();
    let shown = super::answer(&env, &["show", "tt-held"]);
    assert_eq!(shown[0]["title"], HOSTILE);
    let exported = face(&env, &["export"]).exits(0).stdout;
    let line = exported
        .lines()
        .find(|line| line.contains("tt-held"))
        .unwrap();
    let bead: Value = serde_json::from_str(line).unwrap();
    assert_eq!(
        (&bead["title"], &bead["notes"]),
        (&HOSTILE.into(), &HOSTILE.into())
    );
}

#[test]
fn c_11_our_own_commands_do_not_either() {
    let env = hostile();
    for call in [
        &["list"][..],
        &["list", "--status", "any"],
        &["list", "--limit", "2"],
        &["ready"],
        &["show", "tt-open"],
        &["show", "tt-held"],
        &["show", "tt-done"],
        &["blocked"],
        &["search", "evil"],
        &["log"],
        &["log", "tt-open"],
        &["stats"],
        &["status"],
        &["human", "list"],
        &["mol", "list"],
        &["mol", "show", "tt-mol"],
        &["mol", "current", "tt-mol"],
        &["mol", "progress", "tt-mol"],
        &["mol", "stale"],
        &["wisp", "list"],
        &["gate", "list"],
        &["gate", "check"],
        &["doctor"],
        &["claim", "tt-ask"],
        &["claim", "tt-held"],
        &["comment", "tt-open", HOSTILE],
        &["update", "tt-open", "--title", HOSTILE],
        &["update", "tt-open", "--assignee", HOSTILE],
        &["create", HOSTILE],
        &["close", "tt-open", "--reason", HOSTILE],
        &["reopen", "tt-done"],
        &["dep", "tree", "tt-mol.1"],
        &["show", HOSTILE],
        &["list", "--label", HOSTILE],
    ] {
        let output = env.run(call);
        is_harmless(call, &output);
    }
}
