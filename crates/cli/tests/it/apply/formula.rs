//! Sprints with a formula (F-16, Z-27).

use serde_json::{Value, json};

use super::{apply, refused, sprint, unapplied};
use crate::env::{TestEnv, strings};
use crate::store::data;

const WORK: &str = r#"{
  "formula": "work-sprint", "description": "Standard work sprint with dev/QA loop", "version": 1,
  "vars": {
    "sprint_id": {"required": true, "pattern": "^\\d+[a-z]*\\.\\d+[a-z]*$"},
    "title": {"required": true},
    "worktree": {"required": true},
    "extra": {"default": "none"}
  },
  "steps": [{"id": "work", "title": "{{title}}", "description": "Sprint {{sprint_id}} in {{worktree}} ({{extra}})",
             "type": "task", "priority": 1, "labels": ["sprint-{{sprint_id}}"], "metadata": {"own": "{{sprint_id}}"}}]
}"#;

const STAGES: &str = r#"
formula = "stages"
[[steps]]
id = "design"
title = "Design {{sprint_title}}"
[[steps]]
id = "build"
title = "Build {{sprint_title}} with {{dev_agent}} on {{dev_model}}"
description = "Build it as designed."
needs = ["design"]
[[steps]]
id = "sign-off"
title = "Sign off"
type = "decision"
assignee = "ann"
needs = ["build"]
"#;

fn formula_plan() -> String {
    sprint("1.1", "Ground", "")
        + &sprint("1.2", "House", "**Formula**: work-sprint\n")
        + &sprint("1.3", "Roof", "**Formula**: stages\n")
        + &sprint("1.4", "Garden", "")
}

fn with_formulas(plan: &str) -> TestEnv {
    let env = unapplied(plan);
    env.write(".beads/formulas/work-sprint.formula.json", WORK);
    env.write(".beads/formulas/stages.formula.toml", STAGES);
    env
}

fn show(env: &TestEnv, id: &str) -> Value {
    data(env, &["show", id])["beads"][0].clone()
}

fn edges(bead: &Value) -> Vec<String> {
    let edges = bead["dependencies"].as_array().unwrap().iter();
    let edge = |edge: &Value| {
        let (kind, target) = (
            edge["type"].as_str().unwrap(),
            edge["depends_on_id"].as_str().unwrap(),
        );
        format!("{kind} {target}")
    };
    edges.map(edge).collect()
}

#[test]
fn f_16_a_sprint_with_a_formula_is_poured() {
    let env = with_formulas(&formula_plan());
    let answer = apply(&env, "plan.md");
    assert_eq!(answer["mode"], "mixed");
    assert_eq!(answer["formulas_poured"], 2);
    assert_eq!(
        strings(&answer["molecules_created"]),
        ["bd-work-sprint-001", "bd-stages-001"]
    );
    assert_eq!(
        answer["beads_created"], 6,
        "the molecules are not counted: {answer}"
    );
    assert_eq!(
        strings(&answer["sprints_processed"]),
        ["1.1", "1.2", "1.3", "1.4"]
    );

    let root = show(&env, "bd-work-sprint-001");
    assert_eq!(
        (&root["issue_type"], &root["title"]),
        (&json!("molecule"), &json!("work-sprint"))
    );
    let work = show(&env, "bd-work-sprint-001-work");
    assert_eq!(work["issue_type"], "beads-ralph-work");
    assert_eq!(work["title"], "House");
    assert_eq!(work["description"], "Sprint 1.2 in ../wt/1-2 (none)");
    assert_eq!(work["metadata"]["stage"], "work");
    assert_eq!(work["metadata"]["own"], "1.2");
    assert_eq!(work["metadata"]["branch"], "feature/1-2");
    assert_eq!(
        edges(&work),
        ["blocks bd-1-1-ground", "parent-child bd-work-sprint-001"]
    );
    let labels = strings(&work["labels"]);
    for label in ["sprint-1-2", "sprint-1.2", "stage-work"] {
        assert!(labels.contains(&label), "{labels:?}");
    }
}

#[test]
fn z_27_steps_begin_where_the_sprint_does_and_others_wait_for_the_root() {
    let env = with_formulas(&formula_plan());
    apply(&env, "plan.md");
    let design = show(&env, "bd-stages-001-design");
    assert_eq!(
        edges(&design),
        ["blocks bd-work-sprint-001", "parent-child bd-stages-001"]
    );
    assert_eq!(strings(&design["metadata"]["dev_prompts"]), ["work on 1.3"]);
    let build = show(&env, "bd-stages-001-build");
    assert_eq!(build["title"], "Build Roof with claude on sonnet");
    assert_eq!(
        build["issue_type"], "beads-ralph-work",
        "the loop does what comes later too"
    );
    assert_eq!(
        strings(&build["metadata"]["dev_prompts"]),
        ["Build it as designed."]
    );
    assert_eq!(
        edges(&build),
        ["blocks bd-stages-001-design", "parent-child bd-stages-001"]
    );
    let sign_off = show(&env, "bd-stages-001-sign-off");
    assert_eq!(
        (&sign_off["issue_type"], &sign_off["assignee"]),
        (&json!("decision"), &json!("ann"))
    );
    assert_eq!(
        edges(&show(&env, "bd-1-4-garden")),
        ["blocks bd-stages-001"]
    );
}

#[test]
fn z_10_a_poured_sprint_is_found_again_and_follows_its_plan() {
    let env = with_formulas(&formula_plan());
    apply(&env, "plan.md");
    let again = apply(&env, "plan.md");
    assert_eq!(again["beads_created"], 0, "{again}");
    assert_eq!(again["beads_updated"], json!([]), "{again}");
    assert_eq!(again["mode"], "direct");

    env.write(
        "plan.md",
        formula_plan()
            .replace("House", "Villa")
            .replace("`feature/1-2`", "`feature/villa`"),
    );
    let changed = apply(&env, "plan.md");
    assert_eq!(
        strings(&changed["beads_updated"]),
        ["bd-work-sprint-001", "bd-work-sprint-001-work"],
        "the root notes that the sprint's text is another"
    );
    let work = show(&env, "bd-work-sprint-001-work");
    assert_eq!(
        (&work["title"], &work["metadata"]["branch"]),
        (&json!("Villa"), &json!("feature/villa"))
    );

    env.write("plan.md", sprint("1.1", "Ground", ""));
    let removed = data(&env, &["plan", "diff", "plan.md"]);
    let text = removed.to_string();
    assert!(
        text.contains("bd-work-sprint-001\"") && !text.contains("bd-work-sprint-001-work"),
        "{text}"
    );
}

#[test]
fn f_16_annotations_name_the_molecule_and_values_can_be_given() {
    let env = with_formulas(&formula_plan());
    data(
        &env,
        &[
            "plan",
            "apply",
            "plan.md",
            "--annotate",
            "--var",
            "extra=more",
        ],
    );
    assert!(
        env.text("plan.md")
            .contains("<!-- beads-ralph: bd-work-sprint-001 -->")
    );
    assert!(
        show(&env, "bd-work-sprint-001-work")["description"]
            .as_str()
            .unwrap()
            .ends_with("(more)")
    );
    let again = apply(&env, "plan.md");
    assert_eq!(again["beads_created"], 0);
}

#[test]
fn f_16_a_formula_that_cannot_be_poured_is_said_at_its_place() {
    for (formula, code) in [
        ("work-sprnt", "FORMULA.NOT_FOUND"),
        ("bad", "FORMULA.POUR_FAILED"),
        ("needy", "FORMULA.MISSING_VAR"),
    ] {
        let env = with_formulas(&sprint(
            "1.2",
            "House",
            &format!("**Formula**: {formula}\n"),
        ));
        env.write(".beads/formulas/bad.formula.toml", "formula = 'bad'\n");
        env.write(
            ".beads/formulas/needy.formula.toml",
            "formula = 'needy'\n[vars.x]\nrequired = true\n[[steps]]\nid = 'a'\ntitle = 'A'\n",
        );
        assert_eq!(
            refused(&env, &["plan", "apply", "plan.md"]),
            code,
            "{formula}"
        );
        let said = env.run(&["plan", "apply", "plan.md"]).exits(1);
        assert!(
            said.stderr.contains(formula) && said.stderr.contains("plan.md:6"),
            "{}",
            said.stderr
        );
    }
}

#[test]
fn f_16_a_sprint_does_not_wait_for_a_molecule_without_a_number() {
    let env = with_formulas(&formula_plan());
    let refused = env
        .run(&[
            "plan",
            "apply",
            "plan.md",
            "--sprint-filter",
            "1.3",
            "--json",
        ])
        .exits(1);
    assert_eq!(refused.error_code(), "DEPENDENCY.UNRESOLVED");
    data(
        &env,
        &["plan", "apply", "plan.md", "--sprint-filter", "1.1,1.2"],
    );
    data(
        &env,
        &["plan", "apply", "plan.md", "--sprint-filter", "1.3"],
    );
    assert_eq!(
        edges(&show(&env, "bd-stages-001-design"))[0],
        "blocks bd-work-sprint-001"
    );
}

#[test]
fn f_16_a_bead_does_not_become_a_molecule_nor_a_molecule_a_bead() {
    let env = with_formulas(&formula_plan());
    apply(&env, "plan.md");
    env.write(
        "plan.md",
        formula_plan().replace("**Formula**: work-sprint\n", ""),
    );
    assert_eq!(
        refused(&env, &["plan", "apply", "plan.md"]),
        "VALIDATION.CONSTRAINT"
    );
    env.write(
        "plan.md",
        formula_plan().replace(
            "**Branch**: `feature/1-1`",
            "**Formula**: stages\n**Branch**: `feature/1-1`",
        ),
    );
    assert_eq!(
        refused(&env, &["plan", "apply", "plan.md"]),
        "VALIDATION.CONSTRAINT"
    );
}

#[test]
fn f_16_the_next_molecule_has_the_next_number() {
    let env = with_formulas(&formula_plan());
    apply(&env, "plan.md");
    env.write(
        "other.md",
        sprint("2.1", "A", "**Formula**: stages\n")
            + &sprint("2.2", "B", "**Formula**: stages\n**Bead ID**: bd-own\n"),
    );
    let answer = apply(&env, "other.md");
    assert_eq!(
        strings(&answer["molecules_created"]),
        ["bd-stages-002", "bd-own"]
    );
    assert_eq!(answer["mode"], "formula");
    assert_eq!(show(&env, "bd-own-design")["metadata"]["sprint"], "2.2");
}

#[test]
fn z_10_a_formula_that_changed_adds_its_steps_whole() {
    let env = with_formulas(&sprint("1.3", "Roof", "**Formula**: stages\n"));
    apply(&env, "plan.md");
    let more = STAGES.replace(
        "[[steps]]\nid = \"sign-off\"",
        "[[steps]]\nid = \"extra\"\ntitle = \"Extra\"\nneeds = [\"audit\"]\ngate = { type = \"human\" }\n[[steps]]\nid = \"audit\"\ntitle = \"Audit\"\ntype = \"decision\"\n[[steps]]\nid = \"sign-off\"",
    );
    env.write(".beads/formulas/stages.formula.toml", more);
    let changed = apply(&env, "plan.md");
    assert_eq!(
        strings(&changed["bead_ids"]),
        [
            "bd-stages-001-gate-extra",
            "bd-stages-001-extra",
            "bd-stages-001-audit"
        ],
        "{changed}"
    );
    let extra = show(&env, "bd-stages-001-extra");
    for edge in edges(&extra) {
        let target = edge.split(' ').next_back().unwrap().to_owned();
        env.run(&["show", &target]).exits(0);
    }
    let root = show(&env, "bd-stages-001");
    assert_eq!(
        strings(&root["metadata"]["steps"]),
        ["design", "build", "extra", "audit", "sign-off"]
    );
    assert_eq!(apply(&env, "plan.md")["beads_updated"], json!([]));
}

#[test]
fn f_16_another_formula_for_a_sprint_is_refused() {
    let env = with_formulas(&formula_plan());
    apply(&env, "plan.md");
    env.write(
        "plan.md",
        formula_plan().replace("**Formula**: stages", "**Formula**: work-sprint"),
    );
    assert_eq!(
        refused(&env, &["plan", "apply", "plan.md"]),
        "VALIDATION.CONSTRAINT"
    );
}

#[test]
fn z_10_an_annotated_molecule_survives_a_new_number_and_a_move() {
    let env = with_formulas(&formula_plan());
    data(&env, &["plan", "apply", "plan.md", "--annotate"]);
    let text = env
        .text("plan.md")
        .replace("### Sprint 1.3: Roof", "### Sprint 1.9: Roof");
    env.write("plan.md", &text);
    let renumbered = data(&env, &["plan", "apply", "plan.md"]);
    assert_eq!(renumbered["beads_created"], 0, "{renumbered}");
    assert_eq!(show(&env, "bd-stages-001")["metadata"]["sprint"], "1.9");
    env.write("moved.md", &text);
    std::fs::remove_file(env.path("plan.md")).unwrap();
    let moved = data(&env, &["plan", "apply", "moved.md"]);
    assert_eq!(moved["beads_created"], 0, "{moved}");
    assert_eq!(
        show(&env, "bd-stages-001")["metadata"]["plan_file"],
        "moved.md"
    );
}

#[test]
fn f_16_values_that_were_given_are_remembered() {
    let env = with_formulas(&sprint("1.2", "House", "**Formula**: needy\n"));
    env.write(
        ".beads/formulas/needy.formula.toml",
        "formula = 'needy'\n[vars.x]\nrequired = true\n[[steps]]\nid = 'a'\ntitle = 'A {{x}}'\n",
    );
    env.run(&["plan", "check", "plan.md"]).exits(1);
    env.run(&["plan", "check", "plan.md", "--var", "x=1"])
        .exits(0);
    let poured = data(&env, &["plan", "apply", "plan.md", "--var", "x=1"]);
    assert_eq!(poured["database_status"], "poured");
    let again = apply(&env, "plan.md");
    assert_eq!(
        (&again["beads_created"], &again["beads_updated"]),
        (&json!(0), &json!([])),
        "{again}"
    );
    assert_eq!(show(&env, "bd-needy-001-a")["title"], "A 1");
}

#[test]
fn z_10_changes_of_a_done_molecule_are_told_and_left_alone() {
    let env = with_formulas(&sprint("1.2", "House", "**Formula**: work-sprint\n"));
    apply(&env, "plan.md");
    env.run(&["close", "bd-work-sprint-001-work", "--reason", "done"])
        .exits(0);
    assert_eq!(show(&env, "bd-work-sprint-001")["status"], "closed");
    env.write(
        "plan.md",
        sprint("1.2", "Villa", "**Formula**: work-sprint\n"),
    );
    let said = env.run(&["plan", "apply", "plan.md"]).exits(0);
    assert!(said.stderr.contains("1 refused"), "{}", said.stderr);
    assert_eq!(show(&env, "bd-work-sprint-001-work")["title"], "House");
}
