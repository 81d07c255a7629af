//! The examples of seed 001 (FR-6, FR-7, FR-10, Example 3).

use std::fmt::Write as _;

use serde_json::json;

use super::{n_beads, with};
use crate::env::strings;
use crate::store::{data, error};

const WORK_SPRINT: &str = r#"{
  "formula": "work-sprint", "description": "Standard work sprint with dev/QA loop", "version": 1, "type": "workflow", "phase": "liquid",
  "vars": {
    "sprint_id": {"description": "Sprint identifier", "required": true, "pattern": "^\\d+[a-z]*\\.\\d+[a-z]*$"},
    "title": {"description": "Sprint title", "required": true},
    "worktree": {"description": "Worktree path", "required": true}
  },
  "steps": [{"id": "work", "title": "{{title}}", "description": "Sprint {{sprint_id}} work", "type": "task", "priority": 1}]
}"#;

#[test]
fn f_7_the_basic_pour_of_fr_7() {
    let env = with(&[]);
    let answer = data(
        &env,
        &[
            "mol",
            "pour",
            "sprint-work-pattern",
            "--var",
            "sprint_id=1.2a",
            "--var",
            "sprint_title=Example Work Bead",
            "--var",
            "worktree_path=../beads-ralph-worktrees/feature/1-2a-work",
            "--var",
            "branch=feature/1-2a-work",
        ],
    );
    assert_eq!(
        (&answer["id"], &answer["steps_created"]),
        (&json!("bd-sprint-work-pattern-001"), &json!(1))
    );
    let bead = &data(&env, &["show", "bd-sprint-work-pattern-001-work"])["beads"][0];
    assert_eq!(bead["title"], "Example Work Bead");
    assert_eq!(
        bead["description"],
        "Sprint 1.2a work in worktree ../beads-ralph-worktrees/feature/1-2a-work"
    );
    assert_eq!(strings(&bead["labels"]), ["sprint-1.2a", "stage-work"]);
    assert_eq!(
        (&bead["assignee"], &bead["priority"], &bead["issue_type"]),
        (
            &json!("beads-ralph-scrum-master"),
            &json!(1),
            &json!("task")
        )
    );
}

#[test]
fn e_4_the_reply_of_example_3_and_the_next_number() {
    let env = with(&[("work-sprint.formula.json", WORK_SPRINT)]);
    let pour = |sprint: &str, title: &str| {
        let sprint_id = format!("sprint_id={sprint}");
        let title = format!("title={title}");
        data(
            &env,
            &[
                "mol",
                "pour",
                "work-sprint",
                "--var",
                &sprint_id,
                "--var",
                &title,
                "--var",
                "worktree=../w",
            ],
        )
    };
    let first = pour("2.1", "Backend API Layer");
    for (key, value) in [
        ("mode", json!("formula")),
        ("formulas_poured", json!(1)),
        ("molecules_created", json!(["bd-work-sprint-001"])),
        ("beads_created", json!(1)),
        ("bead_ids", json!(["bd-work-sprint-001-work"])),
        ("database_status", json!("poured")),
    ] {
        assert_eq!(first[key], value, "{key}");
    }
    assert_eq!(
        pour("2.2", "Frontend Components")["molecules_created"],
        json!(["bd-work-sprint-002"])
    );
}

#[test]
fn e_4_the_reply_of_fr_10_with_five_steps() {
    let five = "formula = 'sprint-work-pattern'\n[[steps]]\nid = 'work'\ntitle = 'W'\n[[steps]]\nid = 'qa-1'\ntitle = 'Q1'\nneeds = ['work']\n\
                [[steps]]\nid = 'qa-2'\ntitle = 'Q2'\nneeds = ['work']\n[[steps]]\nid = 'merge'\ntitle = 'M'\nneeds = ['qa-1', 'qa-2']\n\
                [[steps]]\nid = 'pr'\ntitle = 'P'\nneeds = ['merge']\n";
    let env = with(&[("sprint-work-pattern.formula.toml", five)]);
    let answer = data(&env, &["mol", "pour", "sprint-work-pattern"]);
    assert_eq!(
        (
            &answer["formulas_created"],
            &answer["formulas_poured"],
            &answer["beads_created"]
        ),
        (&json!(0), &json!(1), &json!(5))
    );
    assert_eq!(
        strings(&answer["bead_ids"]),
        ["work", "qa-1", "qa-2", "merge", "pr"]
            .map(|step| format!("bd-sprint-work-pattern-001-{step}"))
    );
}

#[test]
fn the_failures_of_fr_7_have_their_codes() {
    let env = with(&[("work-sprint.formula.json", WORK_SPRINT)]);
    let bad_id = [
        "mol",
        "pour",
        "work-sprint",
        "--var",
        "sprint_id=1-2",
        "--var",
        "title=t",
        "--var",
        "worktree=w",
    ];
    let invalid = error(&env, &bad_id, 1);
    assert_eq!(invalid["code"], "FORMULA.INVALID_VAR");
    assert!(
        invalid["details"]
            .as_str()
            .unwrap()
            .contains("work-sprint.formula.json:4"),
        "{invalid}"
    );
    let missing = error(
        &env,
        &["mol", "pour", "work-sprint", "--var", "sprint_id=1.2"],
        1,
    );
    assert_eq!(missing["code"], "FORMULA.MISSING_VAR");
    let details = missing["details"].as_str().unwrap();
    assert!(
        details.contains("`title`") && details.contains("`worktree`"),
        "all of them at once: {missing}"
    );
    assert_eq!(
        error(&env, &["mol", "pour", "wrk-sprint"], 1)["code"],
        "FORMULA.NOT_FOUND"
    );
    assert_eq!(n_beads(&env), 0);
}

/// A formula of seed 004's shape: `name` and `title` on each step, and the variables that the seed passes.
fn of_seed_4(formula: &str, variable: &str, stages: &[&str]) -> String {
    let mut text = format!(
        "formula = '{formula}'\n[vars.{variable}]\nrequired = true\n[vars.bead-id]\nrequired = true\n"
    );
    let mut before: Option<&str> = None;
    for stage in stages {
        let needs = before.map_or(String::new(), |stage| format!("needs = ['{stage}']\n"));
        _ = write!(
            text,
            "[[steps]]\nid = '{stage}'\nname = '{stage}'\ntitle = '[{stage}] {{{{{variable}}}}}'\n\
             description = 'For {{{{bead-id}}}}; the template `{{{{step_output}}}}` is filled in later.'\n{needs}"
        );
        before = Some(stage);
    }
    text
}

#[test]
fn z_43_formulas_of_the_shape_of_seed_4_are_poured() {
    for (formula, variable, stages) in [
        (
            "implement-feature",
            "feature",
            &["red-tests", "green-loop", "review-cycle"][..],
        ),
        ("fix-bug", "bug", &["diagnose", "red-tests", "green-loop"]),
        ("docs-only", "topic", &["docs-edits"]),
    ] {
        let file = format!("{formula}.formula.toml");
        let text = of_seed_4(formula, variable, stages);
        let env = with(&[(file.as_str(), text.as_str())]);
        let value = format!("{variable}=A thing");
        let poured = env
            .run(&[
                "mol",
                "pour",
                formula,
                "--var",
                &value,
                "--var",
                "bead-id=bd-7",
                "--json",
            ])
            .exits(0);
        let answer = poured.data();
        assert_eq!(answer["steps_created"], stages.len());
        let step = &data(&env, &["show", &format!("bd-{formula}-001-{}", stages[0])])["beads"][0];
        assert_eq!(step["title"], format!("[{}] A thing", stages[0]));
        assert_eq!(step["metadata"]["name"], stages[0]);
        assert_eq!(
            step["description"],
            "For bd-7; the template `{{step_output}}` is filled in later."
        );
        env.run(&["formula", "check", formula]).exits(0);
        let strict = error(&env, &["formula", "check", "--strict", formula], 1);
        assert_eq!(strict["code"], "FORMULA.MISSING_VAR");
    }
}
