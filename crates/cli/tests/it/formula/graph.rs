//! What a formula makes, as pictures and JSON.

use super::{own, release};
use crate::env::{TestEnv, golden, keys, strings};
use crate::snapshot::snapshot;

#[test]
fn the_pictures_of_a_formula_are_as_they_were() {
    let env = release();
    for (format, file) in [
        ("mermaid", "formula-graph.mmd"),
        ("dot", "formula-graph.dot"),
        ("json", "formula-graph.json"),
    ] {
        let output = env
            .run(&["formula", "graph", "--format", format, "release"])
            .exits(0);
        golden(file, &output.stdout);
        assert_eq!(output.stderr, "");
    }
    let text = env.run(&["formula", "graph", "release"]).exits(0);
    snapshot("formula-graph", &text.stdout);
}

#[test]
fn f_3_values_decide_what_is_made() {
    let env = release();
    let data = env
        .run(&[
            "formula",
            "graph",
            "release",
            "--var",
            "version=1.2.3",
            "--var",
            "try=no",
            "--json",
        ])
        .exits(0)
        .data();
    assert_eq!(
        keys(&data),
        ["formula", "steps", "waves", "critical_path", "warnings"]
    );
    let steps = data["steps"].as_array().unwrap();
    let ids: Vec<&str> = steps
        .iter()
        .map(|step| step["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        ["tests", "build", "linux", "mac", "gate-mac", "publish"]
    );
    assert_eq!(steps[5]["title"], "Publish 1.2.3 to stable");
    assert_eq!(
        strings(&steps[5]["needs"]),
        ["build"],
        "what the omitted loop needed"
    );
    assert_eq!(
        strings(&data["critical_path"]),
        ["tests", "gate-mac", "mac", "build", "publish"]
    );
}

#[test]
fn f_3_f_4_values_are_checked_as_with_a_pour() {
    let env = release();
    let error = |vars: &[&str]| {
        let args = [&["formula", "graph", "release", "--json"], vars].concat();
        env.run(&args).exits(1).error()
    };
    assert_eq!(error(&["--var", "try=no"])["code"], "FORMULA.MISSING_VAR");
    assert_eq!(
        error(&["--var", "version=1"])["code"],
        "FORMULA.INVALID_VAR"
    );
    assert_eq!(error(&["--var", "version"])["code"], "FORMULA.INVALID_VAR");
    assert_eq!(
        error(&["--var", "version=1.2.3", "--var", "channel=alpha"])["code"],
        "FORMULA.INVALID_VAR"
    );
}

#[test]
fn only_a_workflow_makes_steps() {
    let env = TestEnv::new();
    env.write(
        &own("x.formula.toml"),
        "formula = 'x'\ntype = 'expansion'\n[[template]]\nid = '{target}'\ntitle = 'T'\n",
    );
    let output = env.run(&["formula", "graph", "x"]).exits(1);
    assert!(
        output.stderr.contains("of type expansion"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_hostile_title_stays_a_title() {
    let env = TestEnv::new();
    env.write(
        &own("x.formula.json"),
        r#"{"formula": "x", "steps": [{"id": "a", "title": "A\"]\nn9 --> n1; \u001b[31m"}]}"#,
    );
    for format in ["text", "mermaid", "dot"] {
        let drawn = env
            .run(&["formula", "graph", "x", "--format", format])
            .exits(0)
            .stdout;
        assert!(
            !drawn.contains('\u{1b}') && !drawn.contains("\nn9"),
            "{drawn}"
        );
    }
    let shown = env.run(&["formula", "show", "x"]).exits(0).stdout;
    assert!(!shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn a_formula_of_many_steps_is_a_list() {
    let env = TestEnv::new();
    env.write(&own("x.formula.toml"), "formula = 'x'\n[[steps]]\nid = 'l'\ntitle = 'L'\nloop = { count = 5000, body = [{ id = 'a', title = 'A' }] }\n");
    let drawn = env.run(&["formula", "graph", "x"]).exits(0).stdout;
    assert!(
        drawn.starts_with("wave 1\n  l.iter1.a A\nwave 2\n  l.iter2.a A (waits for l.iter1.a)\n")
    );
    assert!(drawn.contains("wave 5000\n"));
    env.run(&["formula", "graph", "x", "--format", "dot"])
        .exits(0);
}
