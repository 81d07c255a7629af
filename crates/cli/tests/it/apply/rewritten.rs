//! Plans that change after they were applied (Z-10): the store follows where it may, and says where it may not.

use serde_json::{Value, json};

use super::{applied, apply, differences, events, export, plan, sprint, waits_for};
use crate::env::{DEMO, TestEnv, strings};
use crate::store::{data, shown};

const THREE: [(&str, &str); 3] = [("1.1", "One"), ("1.2", "Two"), ("1.3", "Three")];

/// What applying the plan would do now.
fn diff(env: &TestEnv) -> Value {
    data(env, &["plan", "diff", "plan.md"])
}

#[test]
fn z_10_applying_twice_changes_nothing() {
    let env = applied(DEMO);
    let log = events(&env);
    for args in [
        &["plan", "apply", "plan.md"][..],
        &["plan", "apply", "plan.md", "--actor", "somebody-else"],
        &["plan", "apply", "./plan.md"],
        &["plan", "apply", env.path("plan.md").as_str()],
    ] {
        let answer = data(&env, args);
        assert_eq!(differences(&answer), [""; 0]);
        assert_eq!(answer["counts"]["unchanged"], 9);
    }
    assert_eq!(events(&env), log);
    let said = env.run(&["plan", "apply", "plan.md"]).exits(0);
    assert_eq!(said.stdout, "");
    assert_eq!(
        said.stderr,
        "plan.md applied: 0 new, 0 changed, 9 unchanged\n"
    );
}

#[test]
fn z_10_a_removed_sprint_is_reported_and_untouched() {
    let env = applied(&plan(&THREE));
    env.write("plan.md", plan(&THREE[..2]));
    let (log, before) = (events(&env), export(&env));
    let answer = apply(&env, "plan.md");
    assert_eq!(differences(&answer), ["removed bd-1-3-three"]);
    assert_eq!(answer["differences"][0]["status"], "open");
    assert_eq!((events(&env), export(&env)), (log, before));
    let said = env.run(&["plan", "apply", "plan.md"]).exits(0);
    assert!(
        said.stdout
            .contains("no longer in the plan; the bead stays open"),
        "{said:#?}"
    );
    let filtered = data(&env, &["plan", "diff", "plan.md", "--sprint-filter", "1.1"]);
    assert_eq!(
        differences(&filtered),
        [""; 0],
        "a filter says nothing about the others"
    );
    data(&env, &["close", "bd-1-3-three", "--force"]);
    assert_eq!(
        differences(&diff(&env)),
        [""; 0],
        "what is done needs no sprint"
    );
    env.write("plan.md", plan(&THREE));
    assert_eq!(
        differences(&diff(&env)),
        [""; 0],
        "the sprint came back, and so did its bead"
    );
}

#[test]
fn z_10_claimed_and_closed_beads_are_only_reported() {
    let env = applied(&plan(&[
        ("1.1", "One"),
        ("1.2a", "Left"),
        ("1.2b", "Right"),
        ("1.3", "Last"),
    ]));
    data(&env, &["close", "bd-1-1-one"]);
    data(&env, &["claim", "bd-1-2a-left"]);
    // Where the sprint stands now is found in the plan and is not part of the bead.
    let bead = |id: &str| {
        let mut shown = shown(&env, id);
        shown.as_object_mut().unwrap().remove("source");
        shown
    };
    let kept = [bead("bd-1-1-one"), bead("bd-1-2a-left")];
    env.write(
        "plan.md",
        plan(&[
            ("1.1", "Uno"),
            ("1.2a", "Links"),
            ("1.2b", "Rechts"),
            ("1.3", "Last"),
        ]),
    );
    let answer = apply(&env, "plan.md");
    assert_eq!(
        differences(&answer),
        [
            "refused (closed) bd-1-1-one",
            "refused (claimed) bd-1-2a-left",
            "changed bd-1-2b-right"
        ]
    );
    assert_eq!([bead("bd-1-1-one"), bead("bd-1-2a-left")], kept);
    assert_eq!(shown(&env, "bd-1-2b-right")["title"], "Rechts");
    let log = events(&env);
    assert_eq!(differences(&apply(&env, "plan.md")).len(), 2);
    assert_eq!(events(&env), log);
    let said = env.run(&["plan", "apply", "plan.md"]).exits(0);
    assert!(
        said.stdout
            .contains("refused, because the bead is claimed\n    title: \"Left\" → \"Links\""),
        "{said:#?}"
    );
    assert!(said.stderr.contains("2 refused"), "{said:#?}");
    data(&env, &["release", "bd-1-2a-left"]);
    assert_eq!(
        strings(&apply(&env, "plan.md")["beads_updated"]),
        ["bd-1-2a-left"]
    );
    data(&env, &["reopen", "bd-1-1-one"]);
    assert_eq!(
        strings(&apply(&env, "plan.md")["beads_updated"]),
        ["bd-1-1-one"]
    );
}

#[test]
fn z_10_what_people_added_survives() {
    let env =
        applied(&(sprint("1.1", "One", "**Labels**: from-plan\n") + &sprint("1.2", "Two", "")));
    env.command(&["import", "-"])
        .stdin(r#"{"id":"bd-hand","title":"h"}"#)
        .run()
        .exits(0);
    data(&env, &["label", "add", "bd-1-1-one", "by-hand"]);
    data(&env, &["dep", "add", "bd-1-1-one", "bd-hand"]);
    data(
        &env,
        &[
            "update",
            "bd-1-1-one",
            "--notes",
            "look here",
            "--priority",
            "3",
        ],
    );
    data(&env, &["comment", "bd-1-1-one", "said by hand"]);
    assert_eq!(differences(&diff(&env)), [""; 0]);
    env.write(
        "plan.md",
        sprint("1.1", "Uno", "") + &sprint("1.2", "Two", ""),
    );
    assert_eq!(
        strings(&apply(&env, "plan.md")["beads_updated"]),
        ["bd-1-1-one"]
    );
    let bead = shown(&env, "bd-1-1-one");
    assert_eq!(bead["title"], "Uno");
    assert_eq!(
        bead["labels"],
        json!(["phase-01", "sprint-1-1", "by-hand"]),
        "only the plan's own label went"
    );
    assert_eq!(waits_for(&env, "bd-1-1-one"), ["bd-hand"]);
    assert_eq!(
        (&bead["notes"], &bead["priority"]),
        (&json!("look here"), &json!(3))
    );
    assert_eq!(bead["comments"][0]["text"], "said by hand");
}

#[test]
fn z_10_a_sprint_in_the_middle_changes_what_waits_for_it() {
    let env = applied(&plan(&[("1.1", "One"), ("1.3", "Three"), ("1.5", "Five")]));
    data(&env, &["close", "bd-1-1-one"]);
    data(&env, &["claim", "bd-1-3-three"]);
    env.write(
        "plan.md",
        plan(&[
            ("1.1", "One"),
            ("1.2", "Two"),
            ("1.3", "Three"),
            ("1.4", "Four"),
            ("1.5", "Five"),
        ]),
    );
    let answer = apply(&env, "plan.md");
    assert_eq!(
        differences(&answer),
        [
            "new bd-1-2-two",
            "refused (claimed) bd-1-3-three",
            "new bd-1-4-four",
            "changed bd-1-5-five"
        ]
    );
    assert_eq!(
        waits_for(&env, "bd-1-3-three"),
        ["bd-1-1-one"],
        "somebody works on it"
    );
    assert_eq!(waits_for(&env, "bd-1-4-four"), ["bd-1-3-three"]);
    assert_eq!(waits_for(&env, "bd-1-5-five"), ["bd-1-4-four"]);
    let log = events(&env);
    apply(&env, "plan.md");
    assert_eq!(events(&env), log);
}

#[test]
fn z_10_a_filter_applies_only_what_it_names() {
    let env = applied(&plan(&THREE));
    env.write(
        "plan.md",
        plan(&[("1.1", "Uno"), ("1.2", "Due"), ("1.4", "Four")]),
    );
    let answer = data(
        &env,
        &["plan", "apply", "plan.md", "--sprint-filter", "1.1,1.4"],
    );
    assert_eq!(
        differences(&answer),
        ["changed bd-1-1-one", "new bd-1-4-four"]
    );
    assert_eq!(strings(&answer["sprints_processed"]), ["1.1", "1.4"]);
    assert_eq!(shown(&env, "bd-1-2-two")["title"], "Two");
    assert_eq!(
        waits_for(&env, "bd-1-4-four"),
        ["bd-1-2-two"],
        "the id of the store, not of the new title"
    );
}

#[test]
fn z_10_sprints_that_are_done_can_be_left_out() {
    let text = sprint("1.1", "One", "**Status**: ✅ COMPLETED\n") + &sprint("1.2", "Two", "");
    let env = super::unapplied(&text);
    let answer = data(&env, &["plan", "apply", "plan.md", "--skip-completed"]);
    assert_eq!(differences(&answer), ["new bd-1-2-two"]);
    assert_eq!(differences(&apply(&env, "plan.md")), ["new bd-1-1-one"]);
    assert_eq!(
        differences(&data(
            &env,
            &["plan", "diff", "plan.md", "--skip-completed"]
        )),
        [""; 0]
    );
}
