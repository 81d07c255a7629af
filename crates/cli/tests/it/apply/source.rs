//! What a bead knows about its sprint: how long it is thought to take (Z-41), and the line that it was made from (Z-45).

use serde_json::{Value, json};

use super::mason::mason;
use super::{applied, apply, events, plan, sprint, unapplied, unfenced};
use crate::env::{TestEnv, strings};
use crate::store::{data, shown};

fn source(env: &TestEnv, id: &str) -> (u64, String) {
    let source = &shown(env, id)["source"];
    let state = source["state"].as_str().unwrap_or_default();
    assert_eq!(
        (&source["file"], &source["column"]),
        (&json!("plan.md"), &json!(1))
    );
    (source["line"].as_u64().unwrap(), state.to_owned())
}

fn line_of(text: &str, heading: &str) -> u64 {
    let at = text.lines().position(|line| line.starts_with(heading));
    u64::try_from(at.unwrap() + 1).unwrap()
}

#[test]
fn z_45_show_leads_to_the_line_of_the_sprint_wherever_it_moved() {
    let text = plan(&[("1.1", "One"), ("1.2", "Two")]);
    let env = applied(&text);
    assert_eq!(source(&env, "bd-1-1-one"), (1, "same".to_owned()));
    let second = line_of(&text, "### Sprint 1.2");
    assert_eq!(source(&env, "bd-1-2-two"), (second, "same".to_owned()));
    let said = env.run(&["show", "bd-1-2-two"]).exits(0).stdout;
    let words = format!("  plan      plan.md:{second}:1\n");
    assert!(said.contains(&words), "{said}");

    // The lines move, and nothing of that is written into the store.
    let moved = format!("# Plan\n\nA word before.\n\n{text}");
    env.write("plan.md", &moved);
    let log = events(&env);
    let again = apply(&env, "plan.md");
    assert_eq!(again["beads_updated"], json!([]));
    assert_eq!(again["counts"]["unchanged"], 2);
    assert_eq!(events(&env), log);
    assert_eq!(source(&env, "bd-1-2-two"), (second + 4, "same".to_owned()));

    // A bead that is done does not change with the words of its sprint, and says so.
    data(&env, &["close", "bd-1-1-one"]);
    let reworded = moved.replace("### Sprint 1.1: One\n", "### Sprint 1.1: One\n\nReally.\n");
    env.write("plan.md", &reworded);
    let log = events(&env);
    let again = apply(&env, "plan.md");
    assert_eq!(again["counts"]["refused"], 0, "{again}");
    assert_eq!(events(&env), log);
    assert_eq!(source(&env, "bd-1-1-one"), (5, "changed".to_owned()));

    env.write(
        "plan.md",
        "# Plan\n\n".to_owned() + &plan(&[("1.3", "Three")]),
    );
    let (_, state) = source(&env, "bd-1-2-two");
    assert_eq!(state, "removed");
    std::fs::remove_file(env.path("plan.md")).unwrap();
    assert_eq!(source(&env, "bd-1-2-two"), (second, "unknown".to_owned()));
}

#[test]
fn z_45_applying_with_annotations_and_again_changes_nothing() {
    let env = unapplied(&plan(&[("1.1", "One"), ("1.2", "Two")]));
    data(&env, &["plan", "apply", "plan.md", "--annotate"]);
    let log = events(&env);
    let again = data(&env, &["plan", "apply", "plan.md", "--annotate"]);
    assert_eq!(again["beads_updated"], json!([]));
    assert_eq!(events(&env), log);
    let (_, state) = source(&env, "bd-1-2-two");
    assert_eq!(state, "same");
}

#[test]
fn z_45_what_needs_a_person_names_the_line() {
    let env = applied(&plan(&[("1.1", "One"), ("1.2", "Two")]));
    data(&env, &["update", "bd-1-2-two", "--status", "blocked"]);
    let blocked = data(&env, &["blocked"]);
    let line = source(&env, "bd-1-2-two").0;
    assert_eq!(blocked["beads"][0]["source"]["line"], line);
    let said = env.run(&["blocked"]).exits(0).stdout;
    assert!(
        said.contains(&format!("  plan plan.md:{line}:1\n")),
        "{said}"
    );
    let said = env.run(&["status", "--bead", "bd-1-2-two"]).exits(0).stdout;
    assert!(said.contains(&format!("plan.md:{line}:1")), "{said}");
}

fn minutes(env: &TestEnv, id: &str) -> (Value, Value) {
    let bead = shown(env, id);
    let planned = bead["metadata"]["estimated_minutes"].clone();
    (bead["estimated_minutes"].clone(), planned)
}

#[test]
fn z_41_the_estimate_is_in_the_bead_and_follows_the_plan() {
    let with = |estimate: &str| sprint("1.1", "One", estimate) + &plan(&[("1.2", "Two")]);
    let env = applied(&with("**Estimate**: 1h30m\n"));
    assert_eq!(minutes(&env, "bd-1-1-one"), (json!(90), json!(90)));
    assert_eq!(minutes(&env, "bd-1-2-two"), (Value::Null, Value::Null));
    env.write("plan.md", with("**Estimate**: 20m\n"));
    let said = env.run(&["plan", "diff", "plan.md"]).exits(0).stdout;
    assert!(said.contains("    estimated_minutes: 90 → 20\n"), "{said}");
    assert_eq!(
        strings(&apply(&env, "plan.md")["beads_updated"]),
        ["bd-1-1-one"]
    );
    assert_eq!(minutes(&env, "bd-1-1-one"), (json!(20), json!(20)));
    env.write("plan.md", with(""));
    apply(&env, "plan.md");
    assert_eq!(minutes(&env, "bd-1-1-one"), (Value::Null, Value::Null));
    assert_eq!(apply(&env, "plan.md")["beads_updated"], json!([]));
}

#[test]
fn z_41_plan_graph_simulate_and_the_store_have_one_critical_path() {
    let text = sprint("1.1", "Start", "**Estimate**: 5m\n")
        + &sprint("1.2a", "Short", "**Estimate**: 10m\n")
        + &sprint("1.2b", "Long", "**Estimate**: 2h\n")
        + &sprint("1.3", "End", "**Estimate**: 5m\n");
    let env = applied(&text);
    let graph = data(&env, &["plan", "graph", "plan.md"]);
    let path = strings(&graph["critical_path"]);
    assert_eq!(path, ["1.1", "1.2b", "1.3"]);
    for of in [
        &["simulate", "plan.md", "--fail-rate", "0"][..],
        &["simulate", "--fail-rate", "0"],
    ] {
        let links = data(&env, of)["critical_path"].take();
        let links = links.as_array().unwrap().iter();
        let links: Vec<&str> = links.map(|link| link["sprint"].as_str().unwrap()).collect();
        assert_eq!(links, path, "{of:?}");
    }
}

#[test]
fn z_41_a_molecule_takes_as_long_as_its_sprint_is_thought_to() {
    let text = sprint("1.1", "One", "**Formula**: chain\n**Estimate**: 10m\n");
    let env = unapplied(&text);
    env.write(
        ".beads/formulas/chain.formula.toml",
        "formula = 'chain'\n[[steps]]\nid = 'a'\ntitle = 'A'\n[[steps]]\nid = 'b'\ntitle = 'B'\nneeds = ['a']\n\
         [[steps]]\nid = 'c'\ntitle = 'C'\nneeds = ['b']\n",
    );
    apply(&env, "plan.md");
    let minutes = ["a", "b", "c"].map(|step| {
        let bead = shown(&env, &format!("bd-chain-001-{step}"));
        bead["estimated_minutes"].as_u64().unwrap()
    });
    assert_eq!(minutes, [4, 3, 3]);
    let source = &shown(&env, "bd-chain-001")["source"];
    assert_eq!(
        (&source["line"], &source["state"]),
        (&json!(1), &json!("same"))
    );
}

#[test]
fn z_46_beads_mason_and_plan_apply_say_that_every_bead_is_valid() {
    let env = unapplied(&plan(&[("1.1", "One"), ("1.2", "Two")]));
    let expected = json!([
        {"id": "bd-1-1-one", "valid": true, "errors": []},
        {"id": "bd-1-2-two", "valid": true, "errors": []},
    ]);
    let dry = data(&env, &["plan", "apply", "plan.md", "--dry-run"]);
    assert_eq!(dry["validation"], expected);
    let answer = unfenced(&mason(&env, &["--plan-file", "plan.md"]).exits(0));
    assert_eq!(answer["data"]["validation"], expected);
}

#[test]
fn z_10_a_long_value_is_shown_where_it_differs() {
    let long = "do the same thing as always, and ".repeat(4);
    let with = |end: &str| {
        let task = format!("{long}{end}");
        sprint("1.1", "One", "").replace("work on 1.1", &task)
    };
    let env = applied(&with("then stop"));
    env.write("plan.md", with("then go on"));
    let said = env.run(&["plan", "diff", "plan.md"]).exits(0).stdout;
    let line = said
        .lines()
        .find(|line| line.contains("dev_prompts"))
        .unwrap();
    assert!(
        line.contains("then stop\" → \"…") && line.ends_with("then go on\""),
        "{line}"
    );
}

#[test]
fn d_8_plan_graph_and_plan_build_list_in_one_order() {
    // `1.2ab` sorts before `1.2b` and waits for it.
    let env = unapplied(&plan(&[
        ("1.1", "A"),
        ("1.2a", "B"),
        ("1.2ab", "Merge C"),
        ("1.2b", "D"),
    ]));
    let graph = data(&env, &["plan", "graph", "plan.md"]);
    let listed = graph["sprints"].as_array().unwrap().iter();
    let listed: Vec<&str> = listed
        .map(|sprint| sprint["id"].as_str().unwrap())
        .collect();
    let built = data(&env, &["plan", "build", "plan.md", "--out-dir", "out"]);
    assert_eq!(listed, strings(&built["sprints_processed"]));
    assert_eq!(listed, ["1.1", "1.2a", "1.2b", "1.2ab"]);
}
