//! Pouring formulas with the program: the examples of seed 001, bad input, many at once (F-1…F-10, F-15).

mod many;
mod new;
mod seed;

use serde_json::json;

use crate::env::{TestEnv, strings};
use crate::store::{data, error};

/// A store whose project has formulas, as files below `.beads/formulas`.
#[track_caller]
fn with(formulas: &[(&str, &str)]) -> TestEnv {
    let env = TestEnv::new();
    env.make_directory(".git");
    env.run(&["init"]).exits(0);
    for (file, text) in formulas {
        env.write(&format!(".beads/formulas/{file}"), text);
    }
    env
}

/// Every bead that the store has, wisps too.
#[track_caller]
fn n_beads(env: &TestEnv) -> usize {
    let lines = env.run(&["export", "--all"]).exits(0).stdout;
    lines.lines().count()
}

const TWO: &str = "formula = 'two'\n[vars]\nv = 'x'\n[[steps]]\nid = 'a'\ntitle = 'A {{v}}'\n[[steps]]\nid = 'b'\ntitle = 'B'\nneeds = ['a']\n";

#[test]
fn f_6_a_variable_that_makes_a_title_too_long_pours_nothing() {
    let env = with(&[("two.formula.toml", TWO)]);
    let before = n_beads(&env);
    let long = format!("v={}", "x".repeat(500));
    let said = "the title has 502 bytes, and at most 500 are allowed";
    let refused = error(&env, &["mol", "pour", "two", "--var", &long], 1);
    assert!(
        refused["message"].as_str().unwrap().contains(said),
        "{refused}"
    );
    let refused = env.run(&["bd", "mol", "pour", "two", "--var", &long]);
    let refused = refused.exits(1).stderr;
    assert!(refused.contains(said), "{refused}");
    assert_eq!(n_beads(&env), before);
}

#[test]
fn f_6_steps_can_be_started_in_their_order_and_the_root_closes_with_the_last() {
    let env = with(&[("two.formula.toml", TWO)]);
    data(&env, &["mol", "pour", "two"]);
    let ready = |env: &TestEnv| -> Vec<String> {
        let ready = data(env, &["ready"]);
        let beads = ready["beads"].as_array().unwrap().iter();
        beads
            .map(|bead| bead["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ready(&env), ["bd-two-001-a"]);
    env.run(&["close", "bd-two-001-a", "--reason", "done"])
        .exits(0);
    assert_eq!(ready(&env), ["bd-two-001-b"]);
    env.run(&["close", "bd-two-001-b", "--reason", "done"])
        .exits(0);
    let root = data(&env, &["show", "bd-two-001"]);
    assert_eq!(root["beads"][0]["status"], "closed");
}

#[test]
fn f_8_a_dry_run_validates_and_takes_no_number() {
    let env = with(&[("two.formula.toml", TWO)]);
    let dry = data(&env, &["mol", "pour", "two", "--dry-run"]);
    assert_eq!(
        (&dry["dry_run"], &dry["id"], &dry["database_status"]),
        (&json!(true), &json!("bd-two-001"), &json!("dry_run"))
    );
    assert_eq!(n_beads(&env), 0);
    let missing = error(&env, &["mol", "pour", "implement-feature", "--dry-run"], 1);
    assert_eq!(missing["code"], "FORMULA.MISSING_VAR");
    let wet = data(&env, &["mol", "pour", "two"]);
    assert_eq!(
        (&wet["id"], &wet["bead_ids"], wet.get("dry_run")),
        (&dry["id"], &dry["bead_ids"], None)
    );
}

#[test]
fn f_8_assignee_and_attached_formulas() {
    let other = TWO.replace("'two'", "'other'");
    let env = with(&[("two.formula.toml", TWO), ("other.formula.toml", &other)]);
    let poured = data(
        &env,
        &[
            "mol",
            "pour",
            "two",
            "--assignee",
            "ann",
            "--attach",
            "other",
            "--attach",
            "two",
            "--var",
            "v=y",
        ],
    );
    assert_eq!(
        strings(&poured["molecules_created"]),
        ["bd-two-001", "bd-other-001", "bd-two-002"]
    );
    assert_eq!(
        (&poured["formulas_poured"], &poured["beads_created"]),
        (&json!(3), &json!(6))
    );
    let show = |id: &str| data(&env, &["show", id])["beads"][0].clone();
    assert_eq!(show("bd-two-001")["assignee"], "ann");
    for attached in ["bd-other-001", "bd-two-002"] {
        let root = show(attached);
        assert_eq!(
            root["dependencies"][0]["depends_on_id"], "bd-two-001",
            "{root}"
        );
        assert_eq!(root["dependencies"].as_array().unwrap().len(), 1);
        assert_eq!(root.get("assignee"), None);
    }
    assert_eq!(show("bd-other-001-a")["title"], "A y");
}

#[test]
fn f_9_and_f_10_wisps_vanish_and_vapor_is_warned_about() {
    let vapor = TWO.replace("[vars]", "phase = 'vapor'\n[vars]");
    let env = with(&[("two.formula.toml", &vapor)]);
    let said = env.run(&["mol", "pour", "two"]).exits(0).stderr;
    assert!(
        said.contains("warning[formula-vapor]") && said.contains("mol wisp two"),
        "{said}"
    );
    let wisp = data(&env, &["mol", "wisp", "two"]);
    assert_eq!(
        (&wisp["phase"], &wisp["warnings"], &wisp["id"]),
        (&json!("vapor"), &json!([]), &json!("bd-two-002"))
    );
    let lines = env.run(&["export"]).exits(0).stdout;
    assert_eq!(lines.lines().count(), 3, "a wisp is not exported");
    assert_eq!(n_beads(&env), 6);
    data(&env, &["mol", "burn", "bd-two-002"]);
    assert_eq!(n_beads(&env), 3);
}

#[test]
fn f_1_json_wins_over_toml_with_a_warning_and_the_project_over_the_user() {
    let json = r#"{"formula": "two", "steps": [{"id": "j", "title": "from JSON"}]}"#;
    let env = with(&[("two.formula.toml", TWO), ("two.formula.json", json)]);
    let poured = data(&env, &["mol", "pour", "two"]);
    assert_eq!(strings(&poured["bead_ids"]), ["bd-two-001-j"]);
    assert!(
        poured["warnings"][0]
            .as_str()
            .unwrap()
            .contains("two.formula.toml is there too"),
        "{poured}"
    );

    let home = env.path("home");
    env.write(
        "home/.beads/formulas/mine.formula.toml",
        TWO.replace("'two'", "'mine'"),
    );
    env.write("home/.beads/formulas/two.formula.toml", TWO);
    let at_home = |args: &[&str]| env.command(args).env("HOME", home.as_str()).run();
    assert_eq!(
        at_home(&["mol", "pour", "mine", "--json"]).exits(0).data()["id"],
        "bd-mine-001"
    );
    assert_eq!(
        strings(&at_home(&["mol", "pour", "two", "--json"]).exits(0).data()["bead_ids"]),
        ["bd-two-002-j"]
    );
}

#[test]
fn bad_formulas_and_values_write_nothing() {
    let env = with(&[
        ("broken.formula.toml", "formula = 'broken'\n[[steps]\n"),
        (
            "cycle.formula.toml",
            "formula = 'cycle'\n[[steps]]\nid = 'a'\ntitle = 'A'\nneeds = ['b']\n[[steps]]\nid = 'b'\ntitle = 'B'\nneeds = ['a']\n",
        ),
        (
            "bomb.formula.toml",
            "formula = 'bomb'\n[[steps]]\nid = 'l'\ntitle = 'L'\nloop = { count = 999999, body = [{ id = 'x', title = 'X' }] }\n",
        ),
        (
            "path.formula.toml",
            "formula = 'path'\n[[steps]]\nid = '../../etc'\ntitle = 'A'\n",
        ),
        (
            "title.formula.toml",
            "formula = 'title'\n[vars]\nv = ''\n[[steps]]\nid = 'a'\ntitle = '{{v}}'\n",
        ),
        (
            "label.formula.toml",
            "formula = 'label'\n[vars]\nv = ''\n[[steps]]\nid = 'a'\ntitle = 'A'\nlabels = ['x{{v}}']\n",
        ),
        (
            "round.formula.toml",
            "formula = 'round'\nextends = ['round']\n",
        ),
        ("two.formula.toml", TWO),
    ]);
    env.write(
        ".beads/formulas/bytes.formula.toml",
        b"formula = 'bytes'\n# \xff\n",
    );
    for (args, code) in [
        (&["mol", "pour", "broken"][..], "FORMULA.POUR_FAILED"),
        (&["mol", "pour", "cycle"], "FORMULA.POUR_FAILED"),
        (&["mol", "pour", "bomb"], "FORMULA.POUR_FAILED"),
        (&["mol", "pour", "path"], "FORMULA.POUR_FAILED"),
        (&["mol", "pour", "round"], "FORMULA.POUR_FAILED"),
        (&["mol", "pour", "bytes"], "FORMULA.POUR_FAILED"),
        (&["mol", "pour", "title"], "FORMULA.POUR_FAILED"),
        (
            &["mol", "pour", "label", "--var", "v=a,b"],
            "FORMULA.POUR_FAILED",
        ),
        (&["mol", "pour", "nope"], "FORMULA.NOT_FOUND"),
        (&["mol", "pour", "../two"], "FORMULA.NOT_FOUND"),
        (
            &["mol", "pour", "two", "--attach", "nope"],
            "FORMULA.NOT_FOUND",
        ),
        (&["mol", "pour", "two", "--var", "v"], "FORMULA.INVALID_VAR"),
        (
            &["mol", "pour", "two", "--var", "=x"],
            "FORMULA.INVALID_VAR",
        ),
        (&["mol", "wisp", "cycle"], "FORMULA.POUR_FAILED"),
    ] {
        assert_eq!(error(&env, args, 1)["code"], code, "{args:?}");
    }
    assert_eq!(n_beads(&env), 0);
    let undeclared = env
        .run(&["mol", "pour", "two", "--var", "w=1"])
        .exits(0)
        .stderr;
    assert!(
        undeclared.contains("warning[undeclared-variable]"),
        "{undeclared}"
    );
}
