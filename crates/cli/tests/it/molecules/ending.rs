//! `mol squash`, `burn` and `wisp gc`.

use serde_json::{Value, json};

use super::{molecule, work};
use crate::env::{TestEnv, strings};
use crate::store::{data, error, seeded, shown};

fn wisp(root: &str, came: &str) -> String {
    molecule(
        root,
        &["look", "tell"],
        &json!({"ephemeral": true, "created_at": came}),
    )
}

fn scan() -> TestEnv {
    seeded(&wisp("bd-scan-001", "2026-01-01T20:00:00Z"))
}

fn n_beads(env: &TestEnv) -> usize {
    env.run(&["export", "--all"])
        .exits(0)
        .stdout
        .lines()
        .count()
}

#[test]
fn f_12_squash_closes_what_is_left_with_the_summary() {
    let env = work();
    env.run(&["close", "bd-work-001-plan", "--reason", "planned"])
        .exits(0);
    let squash = ["mol", "squash", "bd-work-001", "--summary", "given up"];
    let dry = data(&env, &[&squash[..], &["--dry-run"]].concat());
    assert_eq!(
        (
            &dry["changed"],
            shown(&env, "bd-work-001")["status"].as_str()
        ),
        (&json!(false), Some("open"))
    );
    let squashed = data(&env, &squash);
    assert_eq!(
        strings(&squashed["closed"]),
        ["bd-work-001-build", "bd-work-001-ship", "bd-work-001"]
    );
    assert_eq!(squashed["kept"], json!([]));
    for (id, reason) in [
        ("bd-work-001-plan", "planned"),
        ("bd-work-001-ship", "given up"),
        ("bd-work-001", "given up"),
    ] {
        let bead = shown(&env, id);
        assert_eq!(
            (&bead["status"], &bead["close_reason"]),
            (&json!("closed"), &json!(reason)),
            "{id}"
        );
    }
    assert_eq!(data(&env, &squash)["changed"], false);
}

#[test]
fn f_12_a_wisp_that_is_squashed_lasts() {
    let env = scan();
    let text = env
        .run(&["mol", "squash", "bd-scan-001", "-s", "all quiet"])
        .exits(0)
        .stdout;
    assert_eq!(
        text,
        "closed 3 beads of bd-scan-001 scan; it is not a wisp any more\n"
    );
    assert_eq!(shown(&env, "bd-scan-001").get("ephemeral"), None);
    assert_eq!(env.run(&["export"]).exits(0).stdout.lines().count(), 3);
    assert_eq!(data(&env, &["mol", "wisp", "gc"])["deleted"], json!([]));
}

#[test]
fn f_12_what_somebody_holds_is_squashed_only_by_force() {
    let env = work();
    env.run(&["claim", "bd-work-001-plan", "--holder", "ann"])
        .exits(0);
    let squash = ["mol", "squash", "bd-work-001", "--summary", "s"];
    error(&env, &squash, 4);
    assert_eq!(
        shown(&env, "bd-work-001-ship")["status"],
        "open",
        "all or nothing"
    );
    data(&env, &[&squash[..], &["--force"]].concat());
    assert_eq!(shown(&env, "bd-work-001-plan")["status"], "closed");
    env.run(&["mol", "squash", "bd-work-001", "--summary", ""])
        .exits(2);
}

#[test]
fn f_11_burn_deletes_a_wisp_with_its_steps() {
    let env = scan();
    let dry = data(&env, &["mol", "burn", "bd-scan-001", "--dry-run"]);
    let all = ["bd-scan-001-tell", "bd-scan-001-look", "bd-scan-001"];
    assert_eq!(strings(&dry["deleted"]), all);
    assert_eq!(n_beads(&env), 3);
    let burned = data(&env, &["mol", "burn", "bd-scan-001"]);
    assert_eq!(strings(&burned["deleted"]), all);
    assert_eq!(
        (&burned["burned"], &burned["kept"]),
        (&json!(["bd-scan-001"]), &json!([]))
    );
    assert_eq!(n_beads(&env), 0);
    let deleted = data(&env, &["log"]).to_string();
    assert_eq!(
        deleted.matches("\"deleted\"").count(),
        3,
        "the history stays: {deleted}"
    );
}

#[test]
fn f_11_a_poured_molecule_burns_only_by_force_and_an_unknown_id_burns_nothing() {
    let env = seeded(
        &(wisp("bd-scan-001", "2026-01-01T20:00:00Z")
            + &molecule("bd-work-001", &["plan"], &json!({}))),
    );
    let poured = error(&env, &["mol", "burn", "bd-scan-001", "bd-work-001"], 1);
    assert_eq!(poured["code"], "VALIDATION.CONSTRAINT");
    let unknown = error(&env, &["mol", "burn", "bd-scan-001", "bd-nothing"], 1);
    assert_eq!(unknown["code"], "DEPENDENCY.UNRESOLVED");
    assert_eq!(n_beads(&env), 5);
    data(&env, &["mol", "burn", "bd-work-001", "--force"]);
    assert_eq!(n_beads(&env), 3);
}

#[test]
fn f_11_a_step_that_somebody_holds_is_not_burned() {
    let env = scan();
    env.run(&["claim", "bd-scan-001-look", "--holder", "ann"])
        .exits(0);
    let held = error(&env, &["mol", "burn", "bd-scan-001"], 4);
    assert!(
        held["message"]
            .as_str()
            .unwrap()
            .contains("already claimed"),
        "{held}"
    );
    assert_eq!(n_beads(&env), 3);
    data(&env, &["mol", "burn", "bd-scan-001", "--force"]);
    assert_eq!(n_beads(&env), 0);
}

#[test]
fn f_10_gc_deletes_what_is_over_or_closed_and_says_which() {
    let lines = wisp("bd-old-001", "2025-12-31T00:00:00Z")
        + &wisp("bd-held-001", "2025-12-31T00:00:00Z")
        + &wisp("bd-done-001", "2026-01-01T20:00:00Z")
        + &wisp("bd-new-001", "2026-01-01T20:00:00Z")
        + &molecule(
            "bd-work-001",
            &["plan"],
            &json!({"created_at": "2025-01-01T00:00:00Z"}),
        );
    let env = seeded(&lines);
    env.run(&["close", "bd-done-001-look", "bd-done-001-tell"])
        .exits(0);
    env.run(&["claim", "bd-held-001-look", "--holder", "ann"])
        .exits(0);
    let wisps = |args: &[&str]| {
        let wisps = data(&env, args)["wisps"].clone();
        let wisps = wisps.as_array().unwrap().iter();
        let told = wisps.map(|wisp| {
            (
                wisp["id"].as_str().unwrap().to_owned(),
                wisp["expired"] == true,
            )
        });
        told.collect::<Vec<(String, bool)>>()
    };
    let named = |id: &str, is_over| (id.to_owned(), is_over);
    assert_eq!(
        wisps(&["mol", "wisp", "list"]),
        [
            named("bd-held-001", true),
            named("bd-old-001", true),
            named("bd-new-001", false)
        ]
    );
    assert_eq!(wisps(&["mol", "wisp", "list", "--all"]).len(), 4);
    let dry = data(&env, &["mol", "wisp", "gc", "--dry-run"]);
    assert_eq!(n_beads(&env), 14);
    let swept = data(&env, &["mol", "wisp", "gc"]);
    assert_eq!(
        (&dry["deleted"], &dry["dry_run"]),
        (&swept["deleted"], &json!(true))
    );
    assert_eq!(strings(&swept["wisps"]), ["bd-old-001", "bd-done-001"]);
    assert_eq!(strings(&swept["deleted"]).len(), 6);
    assert_eq!(swept["left"][0]["id"], "bd-held-001");
    assert_eq!(n_beads(&env), 8);
    let text = env
        .run(&["mol", "wisp", "gc", "--age", "1h"])
        .exits(0)
        .stdout;
    assert_eq!(text, "deleted 1 wisp of 3 beads: bd-new-001\n");
    env.run(&["mol", "wisp", "gc", "--age", "soon"]).exits(2);
}

#[test]
fn a_part_of_a_wisp_that_is_none_stays() {
    let env = scan();
    let kept = json!({"id": "bd-kept", "title": "t", "dependencies": [{"depends_on_id": "bd-scan-001", "type": "parent-child"}]});
    env.command(&["import", "-"])
        .stdin(kept.to_string())
        .run()
        .exits(0);
    let burned = data(&env, &["mol", "burn", "bd-scan-001"]);
    assert_eq!(burned["kept"], json!(["bd-kept"]));
    assert_eq!(
        shown(&env, "bd-kept")["dependencies"],
        Value::Array(Vec::new())
    );
}
