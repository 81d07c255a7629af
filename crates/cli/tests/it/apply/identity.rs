//! Which bead is whose (Z-10): the plan's file and the number decide, then the annotation.

use serde_json::{Value, json};

use super::{applied, apply, differences, events, plan, refused, waits_for};
use crate::env::{TestEnv, strings};
use crate::store::{data, error, ids, shown};

const THREE: [(&str, &str); 3] = [("1.1", "One"), ("1.2", "Two"), ("1.3", "Three")];

/// What applying the plan would do now.
fn diff(env: &TestEnv) -> Value {
    data(env, &["plan", "diff", "plan.md"])
}

#[test]
fn z_10_a_plan_has_one_name_from_everywhere() {
    for in_repository in [true, false] {
        let env = TestEnv::new();
        if in_repository {
            env.make_directory(".git");
        }
        env.make_directory("plans/old");
        env.run(&["init"]).exits(0);
        env.write("plans/plan.md", plan(&THREE));
        apply(&env, "plans/plan.md");
        let log = events(&env);
        let absolute = env.path("plans/plan.md");
        let places = [
            ("plans", "plan.md"),
            ("plans", "./plan.md"),
            ("plans/old", "../plan.md"),
            (".", "plans/old/../plan.md"),
            ("plans/old", absolute.as_str()),
        ];
        for (from, path) in places {
            let args = ["plan", "apply", path, "--json"];
            let answer = env.command(&args).at(&env.path(from)).run().exits(0).data();
            assert_eq!(answer["counts"]["unchanged"], 3, "{path} from {from}");
        }
        assert_eq!(events(&env), log);
    }
}

#[test]
fn z_10_a_new_title_keeps_the_id() {
    let env = applied(&plan(&THREE));
    env.write(
        "plan.md",
        plan(&[("1.1", "One"), ("1.2", "Second"), ("1.3", "Three")]),
    );
    let answer = apply(&env, "plan.md");
    assert_eq!(differences(&answer), ["changed bd-1-2-two"]);
    assert_eq!(strings(&answer["beads_updated"]), ["bd-1-2-two"]);
    let bead = shown(&env, "bd-1-2-two");
    assert_eq!(bead["title"], "Second");
    assert_eq!(bead["metadata"]["plan_section"], "### Sprint 1.2: Second");
    assert_eq!(waits_for(&env, "bd-1-3-three"), ["bd-1-2-two"]);
    assert_eq!(differences(&diff(&env)), [""; 0]);
}

#[test]
fn z_10_a_renumbered_sprint_keeps_its_bead_by_its_annotation() {
    let env = applied(&plan(&THREE));
    data(&env, &["plan", "apply", "plan.md", "--annotate"]);
    env.write(
        "plan.md",
        env.text("plan.md")
            .replace("Sprint 1.3: Three", "Sprint 2.1: Three"),
    );
    let answer = apply(&env, "plan.md");
    assert_eq!(differences(&answer), ["changed bd-1-3-three"]);
    let bead = shown(&env, "bd-1-3-three");
    assert_eq!(bead["metadata"]["sprint"], "2.1");
    assert_eq!(bead["labels"], json!(["phase-02", "sprint-2-1"]));
    assert_eq!(ids(&data(&env, &["list"])).len(), 3);
    assert_eq!(differences(&diff(&env)), [""; 0]);
}

#[test]
fn z_10_a_renumbered_sprint_without_annotation_is_a_new_one() {
    let env = applied(&plan(&THREE));
    env.write(
        "plan.md",
        plan(&[("1.1", "One"), ("1.2", "Two"), ("1.4", "Three")]),
    );
    let answer = apply(&env, "plan.md");
    assert_eq!(
        differences(&answer),
        ["new bd-1-4-three", "removed bd-1-3-three"]
    );
}

#[test]
fn z_10_a_moved_plan_keeps_its_beads() {
    let env = applied(&plan(&THREE));
    data(&env, &["plan", "apply", "plan.md", "--annotate"]);
    std::fs::rename(env.path("plan.md"), env.path("moved.md")).unwrap();
    let answer = apply(&env, "moved.md");
    assert_eq!(answer["counts"]["changed"], 3);
    assert_eq!(
        shown(&env, "bd-1-1-one")["metadata"]["plan_file"],
        "moved.md"
    );
    let log = events(&env);
    apply(&env, "moved.md");
    assert_eq!(events(&env), log);
}

#[test]
fn z_10_a_moved_plan_without_annotations_is_told_the_way() {
    let env = applied(&plan(&THREE));
    std::fs::rename(env.path("plan.md"), env.path("moved.md")).unwrap();
    assert_eq!(
        refused(&env, &["plan", "apply", "moved.md"]),
        "DEPENDENCY.DUPLICATE_ID"
    );
    let found = error(&env, &["plan", "apply", "moved.md"], 1);
    let action = found["suggested_action"].as_str().unwrap();
    assert!(
        action.contains("if this is plan.md under a new name"),
        "{action}"
    );
    assert!(
        action.contains("`beads-ralph plan annotate moved.md`"),
        "{action}"
    );
    env.run(&["plan", "annotate", "moved.md"]).exits(0);
    assert_eq!(apply(&env, "moved.md")["counts"]["changed"], 3);
}

#[test]
fn z_10_a_copied_plan_is_in_conflict() {
    let env = applied(&plan(&THREE));
    data(&env, &["plan", "apply", "plan.md", "--annotate"]);
    env.write("copy.md", env.text("plan.md"));
    assert_eq!(
        refused(&env, &["plan", "apply", "copy.md"]),
        "DEPENDENCY.DUPLICATE_ID"
    );
    let found = error(&env, &["plan", "apply", "copy.md"], 1);
    let message = found["message"].as_str().unwrap();
    assert!(message.contains("3 ids are taken"), "{message}");
    assert!(message.contains("sprint 1.1 of plan.md"), "{message}");
    assert_eq!(found["details"].as_str().unwrap().lines().count(), 3);
    assert!(
        !found["suggested_action"]
            .as_str()
            .unwrap()
            .contains("annotate"),
        "{found}"
    );
    let seen = data(&env, &["plan", "diff", "copy.md"]);
    assert_eq!(seen["counts"]["conflicts"], 3);
    assert_eq!(
        differences(&diff(&env)),
        [""; 0],
        "the original is not touched"
    );
}

#[test]
fn z_10_plan_annotate_writes_the_ids_of_the_store() {
    let env = applied(&plan(&THREE));
    env.write(
        "plan.md",
        plan(&[("1.1", "Uno"), ("1.2", "Two"), ("1.4", "New")]),
    );
    env.run(&["plan", "annotate", "plan.md"]).exits(0);
    let text = env.text("plan.md");
    for line in [
        "1.1: Uno\n<!-- beads-ralph: bd-1-1-one -->",
        "1.4: New\n<!-- beads-ralph: bd-1-4-new -->",
    ] {
        assert!(text.contains(line), "{text}");
    }
    // Without the store nobody knows better.
    std::fs::remove_dir_all(env.path(".beads")).unwrap();
    env.run(&["plan", "annotate", "plan.md"]).exits(0);
    assert!(
        env.text("plan.md")
            .contains("1.1: Uno\n<!-- beads-ralph: bd-1-1-uno -->")
    );
}
