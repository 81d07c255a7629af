//! `formula new`: from nothing, and from sprints of a plan (F-15, FR-6, Z-27).

use serde_json::{Value, json};

use super::{n_beads, with};
use crate::apply::sprint;
use crate::env::{TestEnv, strings};
use crate::store::{data, error};

fn planned() -> TestEnv {
    let env = with(&[]);
    env.write(
        "plan.md",
        sprint("2.1", "Backend", "") + &sprint("2.2", "Frontend", "") + &sprint("2.3", "Docs", ""),
    );
    env
}

#[test]
fn f_15_a_new_formula_is_that_of_seed_001() {
    let env = with(&[]);
    let made = data(&env, &["formula", "new", "mine"]);
    assert_eq!(
        (&made["formulas_created"], &made["path"]),
        (&json!(1), &json!(".beads/formulas/mine.formula.json"))
    );
    let formula = env.json(".beads/formulas/mine.formula.json");
    let names: Vec<&String> = formula["vars"].as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "sprint_id",
            "sprint_title",
            "worktree_path",
            "branch",
            "dev_agent",
            "dev_model"
        ]
    );
    assert_eq!(
        formula["vars"]["dev_agent"]["default"],
        "python-backend-dev"
    );
    assert_eq!(
        formula["vars"]["dev_model"]["enum"],
        json!(["haiku", "sonnet", "opus"])
    );
    assert_eq!(formula["steps"][0]["id"], "work");
    env.run(&["formula", "check", "mine"]).exits(0);
    assert_ne!(
        env.run(&["formula", "new", "mine"]).code,
        Some(0),
        "what is there is kept"
    );
    env.run(&["formula", "new", "mine", "--force"]).exits(0);
    for name in ["../x", "", "a b"] {
        assert_ne!(env.run(&["formula", "new", name]).code, Some(0), "{name}");
    }
}

#[test]
fn z_27_sprints_become_a_formula_whose_pours_give_their_beads_back() {
    let env = planned();
    data(&env, &["plan", "apply", "plan.md"]);
    let made = data(
        &env,
        &[
            "formula",
            "new",
            "task",
            "--from-plan",
            "plan.md",
            "--sprints",
            "2.1,2.2,2.3",
        ],
    );
    for (sprint, bead) in [
        ("2.1", "bd-2-1-backend"),
        ("2.2", "bd-2-2-frontend"),
        ("2.3", "bd-2-3-docs"),
    ] {
        let mut args = vec!["mol".to_owned(), "pour".to_owned(), "task".to_owned()];
        for (name, value) in made["values"][sprint].as_object().unwrap() {
            args.extend([
                "--var".to_owned(),
                format!("{name}={}", value.as_str().unwrap()),
            ]);
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let poured = data(&env, &args);
        let id = strings(&poured["bead_ids"])[0].to_owned();
        assert_eq!(essence(&env, &id), essence(&env, bead));
    }
}

/// A bead without id, parent and root, and without what a plan and a pour note of their own.
fn essence(env: &TestEnv, id: &str) -> Value {
    let mut bead = data(env, &["show", id])["beads"][0].clone();
    let map = bead.as_object_mut().unwrap();
    let own = [
        "id",
        "parent",
        "dependencies",
        "dependents",
        "dependency_count",
        "dependent_count",
        "created_at",
        "updated_at",
        "created_by",
        "version",
        "is_blocked",
        "blockers",
        "source",
    ];
    for key in own {
        map.shift_remove(key);
    }
    map.retain(|_, value| !value.is_null());
    let metadata = map["metadata"].as_object_mut().unwrap();
    for key in ["stage", "plan_applied", "source_map"] {
        metadata.shift_remove(key);
    }
    map["labels"]
        .as_array_mut()
        .unwrap()
        .retain(|label| label != "stage-work");
    let sorted: std::collections::BTreeMap<String, Value> = map.clone().into_iter().collect();
    json!(sorted)
}

#[test]
fn f_16_a_plan_uses_the_formula_that_was_made_from_it() {
    let env = planned();
    env.run(&["formula", "new", "task", "--from-plan", "plan.md"])
        .exits(0);
    env.write("next.md", sprint("3.1", "Search", "**Formula**: task\n"));
    let answer = data(&env, &["plan", "apply", "next.md"]);
    assert_eq!(answer["molecules_created"], json!(["bd-task-001"]));
    let bead = &data(&env, &["show", "bd-task-001-work"])["beads"][0];
    assert_eq!(
        (&bead["title"], &bead["metadata"]["sprint"]),
        (&json!("Search"), &json!("3.1"))
    );
    assert_eq!(
        strings(&bead["labels"]),
        ["phase-03", "sprint-3-1", "stage-work"]
    );
}

#[test]
fn fr_6_plan_check_hints_at_sprints_that_could_be_one_formula() {
    let env = with(&[]);
    let same = |id: &str, title: &str| {
        sprint(id, title, "").replace(&format!("work on {id}"), "write the tests first")
    };
    env.write(
        "plan.md",
        same("2.1", "Backend") + &same("2.2", "Frontend") + &same("2.3", "Docs"),
    );
    let said = env.run(&["plan", "check", "plan.md"]).exits(0);
    assert!(
        said.stderr
            .contains("--from-plan plan.md --sprints 2.1,2.2,2.3"),
        "{}",
        said.stderr
    );
    let checked = data(&env, &["plan", "check", "plan.md"]);
    assert_eq!(
        checked["plans"][0]["could_be_formulas"],
        json!([["2.1", "2.2", "2.3"]])
    );
}

#[test]
fn z_47_plan_check_notes_sprints_that_share_their_shape_and_the_formula_can_be_made() {
    let env = with(&[]);
    let like = |id: &str, title: &str, what: &str| {
        let tasks = format!("write the tests of the {what}\n- make the tests of the {what} pass");
        sprint(id, title, "").replace(&format!("work on {id}"), &tasks)
    };
    let estimate = "\n**Estimate**: 20m\n";
    env.write(
        "plan.md",
        like("2.1", "Backend", "server")
            + estimate
            + &like("2.2", "Frontend", "page")
            + &like("2.3", "Docs", "manual"),
    );
    let said = env.run(&["plan", "check", "plan.md"]).exits(0);
    let line = "formula new NAME --from-plan plan.md --sprints 2.1,2.2,2.3";
    assert!(said.stderr.contains("share their shape"), "{}", said.stderr);
    assert!(said.stderr.contains(line), "{}", said.stderr);
    let made = data(
        &env,
        &[
            "formula",
            "new",
            "x",
            "--from-plan",
            "plan.md",
            "--sprints",
            "2.1,2.2,2.3",
        ],
    );
    assert_eq!(made["formulas_created"], 1);
}

#[test]
fn sprints_that_cannot_be_one_formula_are_told_apart() {
    let env = planned();
    env.write(
        "odd.md",
        sprint("1.1", "One", "")
            + &sprint("1.2", "Two", "").replace("**Verifiers**", "- and more\n\n**Verifiers**"),
    );
    let unlike = error(&env, &["formula", "new", "x", "--from-plan", "odd.md"], 1);
    assert_eq!(unlike["code"], "FORMULA.POUR_FAILED");
    assert!(
        unlike["message"]
            .as_str()
            .unwrap()
            .contains("sprint 1.2 is not like sprint 1.1"),
        "{unlike}"
    );
    assert_eq!(
        error(
            &env,
            &[
                "formula",
                "new",
                "x",
                "--from-plan",
                "plan.md",
                "--sprints",
                "9.9"
            ],
            1
        )["code"],
        "DEPENDENCY.UNRESOLVED"
    );
    assert_eq!(n_beads(&env), 0);
}
