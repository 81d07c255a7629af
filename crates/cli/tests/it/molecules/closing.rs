//! F-14 and F-10 through the commands: roots that close with their last step, wisps that are over.

use serde_json::json;

use super::{molecule, work};
use crate::env::strings;
use crate::store::{data, ids, seeded, shown};

#[test]
fn f_14_the_last_step_closes_the_molecule_and_close_says_so() {
    let env = work();
    for step in ["plan", "build"] {
        let id = format!("bd-work-001-{step}");
        let closed = data(&env, &["close", &id]);
        assert_eq!(closed["results"][0]["completed"], json!([]));
    }
    assert_eq!(shown(&env, "bd-work-001")["status"], "open");
    let text = env.run(&["close", "bd-work-001-ship"]).exits(0).stdout;
    assert!(
        text.contains("closed bd-work-001 work: all its steps are"),
        "{text}"
    );
    let root = shown(&env, "bd-work-001");
    assert_eq!(
        (&root["status"], &root["close_reason"]),
        (&json!("closed"), &json!("all steps complete"))
    );
}

#[test]
fn f_14_a_changed_status_and_the_bd_face_close_it_too() {
    let env = work();
    env.run(&["close", "bd-work-001-plan", "bd-work-001-build"])
        .exits(0);
    env.run(&["update", "bd-work-001-ship", "--status", "closed"])
        .exits(0);
    assert_eq!(shown(&env, "bd-work-001")["status"], "closed");
    let env = work();
    env.run(&["close", "bd-work-001-plan", "bd-work-001-build"])
        .exits(0);
    let said = env
        .run(&["bd", "close", "bd-work-001-ship"])
        .exits(0)
        .stdout;
    assert_eq!(
        said,
        "✓ Auto-closed completed molecule bd-work-001 — work\n✓ Closed bd-work-001-ship — Do ship: Closed\n"
    );
}

#[test]
fn f_14_closing_a_closed_step_again_completes_what_was_left_open() {
    let env = work();
    env.run(&[
        "close",
        "bd-work-001-plan",
        "bd-work-001-build",
        "bd-work-001-ship",
    ])
    .exits(0);
    env.run(&["reopen", "bd-work-001"]).exits(0);
    let again = data(&env, &["close", "bd-work-001-ship"]);
    assert_eq!(again["results"][0]["changed"], false);
    assert_eq!(strings(&again["results"][0]["completed"]), ["bd-work-001"]);
}

#[test]
fn f_10_wisps_are_not_exported_unless_all_is_asked_for() {
    let wisp = molecule("bd-scan-001", &["look"], &json!({"ephemeral": true}));
    let env = seeded(&(molecule("bd-work-001", &["plan"], &json!({})) + &wisp));
    let lines = |args: &[&str]| {
        let text = env.run(args).exits(0).stdout;
        (text.lines().count(), text.contains("bd-scan-001"))
    };
    assert_eq!(lines(&["export"]), (2, false));
    assert_eq!(lines(&["export", "--all"]), (4, true));
    assert_eq!(lines(&["bd", "export"]), (2, false));
}

#[test]
fn f_10_a_wisp_that_is_over_is_never_ready() {
    let wisp = |root: &str, came: &str| {
        molecule(
            root,
            &["look"],
            &json!({"ephemeral": true, "created_at": came}),
        )
    };
    let env = seeded(
        &(wisp("bd-new-001", "2026-01-01T20:00:00Z") + &wisp("bd-old-001", "2025-12-01T00:00:00Z")),
    );
    assert!(ids(&data(&env, &["ready"])).is_empty());
    for more in [&[][..], &["--include-deferred"]] {
        let args = [&["bd", "ready", "--include-ephemeral", "--json"], more].concat();
        let ready = env.run(&args).exits(0).stdout;
        assert!(ready.contains("bd-new-001-look"), "{ready}");
        assert!(!ready.contains("bd-old-001-look"), "{ready}");
    }
}
