//! What there is, and what a formula is made of.

use serde_json::{Value, json};

use super::{BASE, own, release};
use crate::env::{TestEnv, golden, keys, strings};
use crate::snapshot::snapshot;

fn listed(env: &TestEnv) -> Vec<Value> {
    let data = env.run(&["formula", "list", "--json"]).exits(0).data();
    data["formulas"].as_array().unwrap().clone()
}

fn named<'l>(list: &'l [Value], name: &str) -> &'l Value {
    let found = list.iter().find(|one| one["name"] == name);
    found.unwrap_or_else(|| panic!("{name}: {list:#?}"))
}

#[test]
fn f_1_formulas_are_listed_without_a_store_with_their_owner() {
    let env = release();
    env.write(
        "../home/.beads/formulas/mine.formula.toml",
        BASE.replace("base", "mine"),
    );
    env.write(
        "../home/.beads/formulas/base.formula.toml",
        "hidden by the checkout's",
    );
    let list = listed(&env);
    let names: Vec<&str> = list
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "base",
            "docs-only",
            "fix-bug",
            "implement-feature",
            "mine",
            "release",
            "sprint-work-pattern"
        ]
    );
    let release = named(&list, "release");
    assert_eq!(
        keys(release),
        [
            "name",
            "type",
            "owner",
            "file",
            "steps",
            "variables",
            "description",
            "error"
        ]
    );
    assert_eq!(release["owner"], "checkout");
    assert_eq!(
        (&release["steps"], &release["variables"]),
        (&json!(7), &json!(3))
    );
    assert_eq!(release["description"], "Cut a release");
    assert_eq!(named(&list, "mine")["owner"], "user");
    assert_eq!(named(&list, "fix-bug")["owner"], "built-in");
    assert_eq!(named(&list, "base")["error"], Value::Null);
    let text = env.run(&["formula", "list"]).exits(0).stdout;
    assert!(text.starts_with("NAME"), "{text}");
    assert!(
        text.contains("release              workflow  checkout  7      3          Cut a release\n"),
        "{text}"
    );
}

#[test]
fn f_1_the_formulas_of_the_store_are_the_projects_and_found_from_below() {
    let env = release();
    env.run(&["init"]).exits(0);
    env.make_directory("deep/down");
    let output = env
        .command(&["formula", "list", "--json"])
        .at(&env.path("deep/down"))
        .run();
    let data = output.exits(0).data();
    let list = data["formulas"].as_array().unwrap();
    assert_eq!(named(list, "release")["owner"], "project");
}

#[test]
fn f_1_a_formula_that_cannot_be_read_hides_no_other() {
    let env = release();
    env.write(&own("broken.formula.toml"), "x = [");
    env.write(&own("binary.formula.json"), b"\xff\xfe");
    env.write(&own("a b.formula.toml"), BASE);
    env.make_directory(&own("folder.formula.toml"));
    env.write("../home/.beads/formulas", "no directory");
    let list = listed(&env);
    for (name, error) in [
        ("broken", "invalid TOML"),
        ("binary", "is not UTF-8 in line 1; save it as UTF-8"),
        ("a b", "is not a safe name"),
        ("folder", "folder.formula.toml"),
    ] {
        let one = named(&list, name);
        assert!(one["error"].as_str().unwrap().contains(error), "{one}");
        assert_eq!(one["steps"], Value::Null);
    }
    assert_eq!(named(&list, "release")["error"], Value::Null);
    let output = env.run(&["formula", "list"]).exits(0);
    assert!(
        output.stdout.contains("error: invalid TOML"),
        "{}",
        output.stdout
    );
    assert!(output.stderr.contains("warning: "), "{}", output.stderr);
}

#[test]
fn f_1_a_formula_is_shown_with_what_it_extends() {
    let env = release();
    let output = env.run(&["formula", "show", "release"]).exits(0);
    let text = output.stdout.replace(env.path("").as_str(), "");
    snapshot("formula-show", &text);
    let data = env
        .run(&["formula", "show", "release", "--json"])
        .exits(0)
        .data();
    let text = serde_json::to_string_pretty(&data).unwrap() + "\n";
    golden(
        "formula-show.json",
        &text.replace(env.path("").as_str(), ""),
    );
}

#[test]
fn an_expansion_and_an_aspect_are_shown_with_their_rules() {
    let env = TestEnv::new();
    env.write(
        &own("twice.formula.toml"),
        "formula = 'twice'\ntype = 'expansion'\n[[template]]\nid = '{target}.draft'\ntitle = 'Draft'\n[[template]]\nid = '{target}.final'\ntitle = 'Final'\nneeds = ['{target}.draft']\n",
    );
    env.write(
        &own("log.formula.toml"),
        "formula = 'log'\ntype = 'aspect'\n[[advice]]\ntarget = '*.final'\nafter = { id = '{step.id}-log', title = 'Log' }\n",
    );
    env.write(
        &own("main.formula.toml"),
        "formula = 'main'\n[[steps]]\nid = 'a'\ntitle = 'A'\n[compose]\naspects = ['log']\n[[compose.expand]]\ntarget = 'a'\nwith = 'twice'\n",
    );
    let shown = |name: &str| env.run(&["formula", "show", name]).exits(0).stdout;
    assert!(
        shown("twice").contains("{target}.final  Final  {target}.draft\n"),
        "{}",
        shown("twice")
    );
    assert!(
        shown("log").contains("after each *.final: {step.id}-log\n"),
        "{}",
        shown("log")
    );
    let main = shown("main");
    assert!(
        main.contains("expand a to twice\naspect log\n\nmakes 3 steps\n"),
        "{main}"
    );
    let data = env.run(&["formula", "show", "main", "--json"]).data();
    assert_eq!(
        strings(&data["files"]).len(),
        3,
        "all files that it is made of"
    );
    assert_eq!(data["makes"], 3);
}

#[test]
fn f_1_a_name_that_is_none_is_said_with_its_neighbour() {
    let env = release();
    let output = env.run(&["formula", "show", "relese"]).exits(1);
    assert!(
        output.stderr.contains("FORMULA.NOT_FOUND")
            && output.stderr.contains("did you mean `release`?")
    );
    let error = env
        .run(&["formula", "show", "../release", "--json"])
        .exits(1)
        .error();
    assert_eq!(error["code"], "FORMULA.NOT_FOUND");
    env.run(&["formula", "show"]).exits(2);
}
