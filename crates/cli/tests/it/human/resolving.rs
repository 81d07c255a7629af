//! Answers to what `implement` asked.

use serde_json::json;

use super::{
    FAILED, ROOT, changed, failed, flag, is_flagged, notes, poured, status, step, waiting,
};
use crate::env::Output;
use crate::store::{data, error, seeded, shown};

#[test]
fn z_36_a_failed_step_is_done_again_and_both_labels_go() {
    let env = failed();
    let red = step("red-tests");
    env.run(&["update", &red, "--append-notes", "RALF-IT-ITER:3/3"])
        .exits(0);
    let resolved = data(
        &env,
        &[
            "human",
            "resolve",
            "proj-1",
            "--answer",
            "cargo is there now",
            "--actor",
            "ann",
        ],
    );
    assert_eq!(
        (&resolved["kind"], &resolved["resolved"]),
        (&json!("implement"), &json!(true))
    );
    assert_eq!(
        changed(&resolved),
        [json!(["proj-1", "open"]), json!([red, "open"])]
    );
    assert!(!is_flagged(&env, "proj-1") && !is_flagged(&env, &red));
    assert_eq!(
        notes(&env, "proj-1"),
        format!("mine\n{FAILED}\nhuman: cargo is there now (ann)")
    );
    assert_eq!(
        notes(&env, &red),
        format!("{FAILED}\nRALF-IT-ITER:3/3\nhuman: cargo is there now (ann)\nRALF-IT-ITER:0/0")
    );
    let current = data(&env, &["mol", "current", ROOT]);
    assert!(current.to_string().contains(&red), "{current}");
    assert!(waiting(&env).is_empty());
}

#[test]
fn z_36_the_root_that_closed_with_the_last_step_is_open_again() {
    let env = poured();
    for stage in [
        "red-tests",
        "green-loop",
        "quality-sweep",
        "verify-ac",
        "create-pr",
        "review-cycle",
    ] {
        env.run(&["close", &step(stage)]).exits(0);
    }
    let last = step("merge-or-handoff");
    flag(&env, "proj-1", FAILED);
    flag(&env, &last, FAILED);
    env.run(&["close", &last]).exits(0);
    assert_eq!(status(&env, ROOT), "closed");
    assert_eq!(waiting(&env)[0]["stage"], "merge-or-handoff");
    env.run(&["human", "resolve", "proj-1"]).exits(0);
    assert_eq!(
        (status(&env, ROOT), status(&env, &last)),
        (json!("open"), json!("open"))
    );
    let note = notes(&env, &last);
    assert!(note.contains("\nhuman: resolved ("), "{note}");
}

#[test]
fn z_36_accept_goes_past_a_closed_step() {
    let env = failed();
    let red = step("red-tests");
    let resolved = data(
        &env,
        &[
            "human",
            "resolve",
            "proj-1",
            "--accept",
            "--answer",
            "no tests needed",
        ],
    );
    assert_eq!(resolved["accepted"], true);
    assert_eq!(
        changed(&resolved),
        [json!(["proj-1", "open"]), json!([red, "closed"])]
    );
    assert!(!is_flagged(&env, "proj-1") && !is_flagged(&env, &red));
    assert!(notes(&env, &red).contains("human: no tests needed ("));
    let current = data(&env, &["mol", "current", ROOT]).to_string();
    assert!(current.contains(&step("green-loop")), "{current}");
}

#[test]
fn z_36_accept_closes_a_step_that_was_never_begun() {
    let env = poured();
    let red = step("red-tests");
    flag(&env, "proj-1", "implement-bead: no worktree");
    flag(&env, &red, "implement-bead: no worktree");
    env.write("answer.txt", "  skip it\n");
    // The step's own id will do.
    env.run(&[
        "human",
        "resolve",
        &red,
        "--accept",
        "--answer-file",
        "answer.txt",
    ])
    .exits(0);
    let bead = shown(&env, &red);
    assert_eq!(
        (&bead["status"], &bead["close_reason"]),
        (&json!("closed"), &json!("accepted: skip it"))
    );
    assert!(!is_flagged(&env, "proj-1"));
}

#[test]
fn z_36_the_id_of_the_step_or_of_the_molecule_will_do() {
    for id in [step("red-tests"), ROOT.to_owned()] {
        let env = failed();
        let resolved = data(&env, &["human", "resolve", &id]);
        assert_eq!(resolved["id"], "proj-1");
        assert!(!is_flagged(&env, "proj-1"));
        assert_eq!(status(&env, &step("red-tests")), "open");
    }
}

#[test]
fn i_30_a_bead_without_a_molecule_goes_on_with_the_answer() {
    let env = seeded(
        r#"{"id":"proj-2","title":"Two formulas","labels":["formula-docs-only","formula-fix-bug"]}"#,
    );
    flag(
        &env,
        "proj-2",
        "implement-bead: multiple formula-* labels detected",
    );
    let row = waiting(&env).remove(0);
    assert_eq!(
        (&row["kind"], &row["step"], &row["molecule"]),
        (&json!("implement"), &json!(null), &json!(null))
    );
    env.run(&["human", "resolve", "proj-2", "--answer", "it is a bug"])
        .exits(0);
    assert!(!is_flagged(&env, "proj-2"));
    assert!(notes(&env, "proj-2").contains("\nhuman: it is a bug ("));
    assert_eq!(status(&env, "proj-2"), "open");
}

#[test]
fn z_36_an_answer_is_given_once() {
    let env = failed();
    env.run(&["human", "resolve", "proj-1"]).exits(0);
    let before = [shown(&env, "proj-1"), shown(&env, &step("red-tests"))];
    let again = data(&env, &["human", "resolve", "proj-1"]);
    assert_eq!(
        (&again["resolved"], &again["kind"], &again["changed"]),
        (&json!(false), &json!(null), &json!([]))
    );
    let said = env.run(&["human", "resolve", &step("red-tests")]).exits(0);
    assert!(
        said.stdout
            .contains("proj-1 Add search does not wait for a person"),
        "{said:?}"
    );
    assert_eq!(
        before,
        [shown(&env, "proj-1"), shown(&env, &step("red-tests"))]
    );
}

#[test]
fn z_36_what_is_held_is_left_alone() {
    let env = poured();
    let red = step("red-tests");
    flag(&env, "proj-1", "implement-bead: x");
    flag(&env, &red, "implement-bead: x");
    env.run(&["claim", &red, "--holder", "somebody", "--actor", "bob"])
        .exits(0);
    let error = error(&env, &["human", "resolve", "proj-1"], 4);
    assert!(error["message"].to_string().contains("somebody"), "{error}");
    assert!(is_flagged(&env, "proj-1"), "nothing was changed");
    assert!(!notes(&env, "proj-1").contains("human:"));
}

#[test]
fn z_36_an_answer_must_say_something() {
    let env = failed();
    env.write("empty", " \n");
    error(
        &env,
        &["human", "resolve", "proj-1", "--answer-file", "empty"],
        1,
    );
    error(
        &env,
        &["human", "resolve", "proj-1", "--answer-file", "none"],
        3,
    );
    error(&env, &["human", "resolve", "nope"], 1);
    env.run(&[
        "human",
        "resolve",
        "proj-1",
        "--answer",
        "a",
        "--answer-file",
        "b",
    ])
    .exits(2);
    assert!(is_flagged(&env, "proj-1"));
}

#[test]
fn z_36_of_many_answers_at_once_one_is_taken() {
    let env = failed();
    let answers: Vec<_> = (0..6)
        .map(|_| {
            env.command(&["human", "resolve", "proj-1", "--json"])
                .spawn()
        })
        .collect();
    let n_taken = answers.into_iter().map(|child| {
        let ended = Output::of(child, "human resolve".to_owned()).exits(0);
        usize::from(ended.data()["resolved"] == true)
    });
    assert_eq!(n_taken.sum::<usize>(), 1);
    for id in ["proj-1", &step("red-tests")] {
        assert_eq!(notes(&env, id).matches("human: ").count(), 1, "{id}");
    }
}
