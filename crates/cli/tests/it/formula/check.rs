//! Every mistake, in every file that a formula is made of.

use super::{BASE, RELEASE, own, release};
use crate::env::{TestEnv, keys};
use crate::snapshot::snapshot;

/// The formulas with a mistake in each, and one that is no TOML.
fn mistakes() -> TestEnv {
    let env = TestEnv::new();
    let release = RELEASE
        .replace("to {{channel}}", "to {{chanel}}")
        .replace("needs = [\"try\"]", "needs = [\"try\", \"biuld\"]");
    env.write(&own("release.formula.toml"), release);
    env.write(&own("base.formula.toml"), format!("{BASE}depend_on = []\n"));
    env.write(&own("broken.formula.toml"), "x = [\n");
    env
}

fn without_root(env: &TestEnv, text: &str) -> String {
    text.replace(env.path("").as_str(), "")
}

#[test]
fn z_20_every_mistake_is_drawn_once_with_its_place() {
    let env = mistakes();
    let output = env.run(&["formula", "check"]).exits(1);
    snapshot("formula-check", &without_root(&env, &output.stdout));
    let said = without_root(&env, &output.stderr);
    assert_eq!(
        said,
        ".beads/formulas/base.formula.toml: 1 step, 1 error, 0 warnings\n\
         .beads/formulas/broken.formula.toml: 1 error, 0 warnings\n\
         .beads/formulas/release.formula.toml: 7 steps, 1 error, 1 warning\n"
    );
}

#[test]
fn z_20_one_line_each_and_json() {
    let env = mistakes();
    let output = env
        .run(&["formula", "check", "--format", "short", "release"])
        .exits(1);
    assert_eq!(
        without_root(&env, &output.stdout),
        ".beads/formulas/release.formula.toml:37:33: warning[undeclared-placeholder]: `{{chanel}}` names no variable of the formula and stays as it is\n\
         .beads/formulas/base.formula.toml:9:1: error[FORMULA.POUR_FAILED]: a step has no field `depend_on`\n"
    );
    let error = env
        .run(&["formula", "check", "--format", "json"])
        .exits(1)
        .error();
    let found: Vec<(u64, u64, &str)> = (error["diagnostics"].as_array().unwrap().iter())
        .map(|one| {
            assert_eq!(
                keys(one),
                [
                    "code",
                    "severity",
                    "message",
                    "file",
                    "line",
                    "column",
                    "end_line",
                    "end_column",
                    "help",
                    "fix",
                    "label"
                ]
            );
            (
                one["line"].as_u64().unwrap(),
                one["column"].as_u64().unwrap(),
                one["code"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (9, 1, "FORMULA.POUR_FAILED"),
            (1, 6, "FORMULA.POUR_FAILED"),
            (37, 33, "undeclared-placeholder"),
        ]
    );
    assert_eq!(error["code"], "FORMULA.POUR_FAILED");
    assert!(
        error["details"]
            .as_str()
            .unwrap()
            .contains("base.formula.toml:9: "),
        "{error}"
    );
}

#[test]
fn f_5_a_misspelt_need_and_a_misspelt_variable_are_said_together() {
    let env = mistakes();
    env.write(&own("base.formula.toml"), BASE);
    let error = env
        .run(&["formula", "check", "release", "--strict", "--json"])
        .exits(1)
        .error();
    let details = error["details"].as_str().unwrap();
    assert!(
        details.contains("no variable `chanel`")
            && details.contains("needs `biuld`, which does not exist"),
        "{details}"
    );
}

#[test]
fn z_38_a_foreign_formula_is_read_with_warnings() {
    let env = release();
    env.write(&own("base.formula.toml"), format!("{BASE}owner = 'me'\n"));
    env.run(&["formula", "check", "release"]).exits(1);
    env.run(&["formula", "show", "release"]).exits(1);
    env.run(&["formula", "graph", "release"]).exits(1);
    let data = env
        .run(&["formula", "check", "--lenient", "--json", "release"])
        .exits(0)
        .data();
    assert_eq!(keys(&data), ["formulas", "diagnostics"]);
    assert_eq!(
        keys(&data["formulas"][0]),
        ["name", "file", "steps", "errors", "warnings"]
    );
    assert_eq!(data["formulas"][0]["warnings"], 1);
    assert_eq!(data["diagnostics"][0]["code"], "formula-field");
    let output = env
        .run(&["formula", "show", "--lenient", "release"])
        .exits(0);
    assert!(
        output.stderr.contains("a step has no field `owner`"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_formula_without_a_mistake_leads_on() {
    let env = release();
    let output = env.run(&["formula", "check", "release"]).exits(0);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.ends_with(
        "release.formula.toml: 7 steps, no problems\nnext: beads-ralph formula graph release\n"
    ));
    let output = TestEnv::new().run(&["formula", "check"]).exits(0);
    assert!(
        output.stderr.contains("you have no formula to check"),
        "{}",
        output.stderr
    );
    env.run(&["formula", "check", "implement-feature"]).exits(0);
}

#[test]
fn f_1_a_file_anywhere_is_checked_with_its_siblings() {
    let env = TestEnv::new();
    env.write("drafts/release.formula.toml", RELEASE);
    env.write("drafts/base.formula.toml", BASE);
    // Another formula of the same name on the search path is not the one that was asked for.
    env.write(&own("release.formula.toml"), "x = [");
    env.write(&own("base.formula.toml"), "x = [");
    let output = env
        .run(&["formula", "check", "drafts/release.formula.toml"])
        .exits(0);
    assert_eq!(
        output.stderr,
        "drafts/release.formula.toml: 7 steps, no problems\n"
    );
    let beside = env
        .command(&["formula", "check", "release.formula.toml"])
        .at(&env.path("drafts"))
        .run();
    beside.exits(0);
    let missing = env
        .run(&["formula", "check", "drafts/none.formula.toml", "--json"])
        .exits(3);
    assert_eq!(missing.error_code(), "IO.FILE_NOT_FOUND");
    env.write("drafts/release.toml", RELEASE);
    let other = env
        .run(&["formula", "check", "drafts/release.toml"])
        .exits(1);
    assert!(
        other
            .stderr
            .contains("call it NAME.formula.toml or NAME.formula.json"),
        "{}",
        other.stderr
    );
}

#[test]
fn a_fatal_failure_decides_and_the_others_are_told() {
    let env = mistakes();
    let output = env
        .run(&["formula", "check", "base", "nothing", "/none.formula.json"])
        .exits(3);
    assert!(output.stdout.contains("depend_on"));
    assert!(
        output.stderr.contains("unknown formula `nothing`"),
        "{}",
        output.stderr
    );
    assert!(
        output.stderr.contains("/none.formula.json does not exist"),
        "{}",
        output.stderr
    );
}

#[test]
fn f_1_of_two_files_the_json_is_read_with_a_warning() {
    let env = TestEnv::new();
    env.write(&own("base.formula.toml"), "x = [");
    env.write(
        &own("base.formula.json"),
        r#"{"formula": "base", "steps": [{"id": "a", "title": "A"}]}"#,
    );
    let output = env.run(&["formula", "check", "base"]).exits(0);
    assert!(
        output
            .stdout
            .contains("base.formula.toml is there too, and is not read"),
        "{}",
        output.stdout
    );
}
