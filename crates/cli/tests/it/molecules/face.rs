//! `bd mol …`: what is ours beside the real `bd`'s answers, and what its data allow.

use serde_json::{Value, json};

use super::{molecule, work};
use crate::env::TestEnv;
use crate::store::{seeded, shown};

fn bd(env: &TestEnv, args: &[&str]) -> Value {
    let args = [&["bd"], args, &["--json"]].concat();
    serde_json::from_str(&env.run(&args).exits(0).stdout).expect("JSON")
}

/// The step that the seeds look for: the first element that is not closed.
fn meant(env: &TestEnv) -> [Value; 4] {
    let current = bd(env, &["mol", "current", "bd-work-001"]);
    ["id", "status", "title", "role"].map(|key| current[0][key].clone())
}

#[test]
fn z_24_mol_current_has_the_step_that_is_meant() {
    let env = work();
    let plan = ["bd-work-001-plan", "open", "Do plan", "plan"].map(Value::from);
    assert_eq!(meant(&env), plan);
    env.run(&["bd", "update", "bd-work-001-plan", "--claim"])
        .exits(0);
    assert_eq!(meant(&env)[1], "in_progress");
    env.run(&["bd", "close", "bd-work-001-plan"]).exits(0);
    assert_eq!(meant(&env)[3], "build");
    env.run(&["bd", "update", "bd-work-001-build", "--status", "blocked"])
        .exits(0);
    assert_eq!(
        meant(&env),
        [Value::Null, "blocked".into(), Value::Null, Value::Null]
    );
    env.run(&[
        "bd",
        "close",
        "--force",
        "bd-work-001-build",
        "bd-work-001-ship",
    ])
    .exits(0);
    assert_eq!(
        meant(&env),
        [Value::Null, "closed".into(), Value::Null, Value::Null]
    );
}

#[test]
fn z_24_steps_are_in_the_order_of_the_formula() {
    let env = seeded(&molecule("bd-work-001", &["zeta", "alpha"], &json!({})));
    let shown = bd(&env, &["mol", "show", "bd-work-001"]);
    let issues = shown["issues"].as_array().expect("issues").iter();
    let ids: Vec<&str> = issues
        .map(|issue| issue["id"].as_str().expect("an id"))
        .collect();
    assert_eq!(
        ids,
        ["bd-work-001", "bd-work-001-zeta", "bd-work-001-alpha"]
    );
}

#[test]
fn a_step_that_a_run_holds_is_neither_burned_nor_squashed() {
    let env = seeded(&molecule(
        "bd-scan-001",
        &["look"],
        &json!({"ephemeral": true}),
    ));
    let me = std::process::id().to_string();
    env.run(&[
        "claim",
        "bd-scan-001-look",
        "--holder",
        "run-1",
        "--pid",
        &me,
    ])
    .exits(0);
    for args in [
        &["bd", "mol", "burn", "bd-scan-001", "--force"][..],
        &["bd", "mol", "squash", "bd-scan-001"],
    ] {
        let refused = env.run(args).exits(1);
        assert!(refused.stderr.contains("claimed"), "{refused:?}");
    }
    assert_eq!(shown(&env, "bd-scan-001-look")["status"], "in_progress");
    let several = env
        .run(&["bd", "mol", "burn", "bd-scan-001", "bd-x"])
        .exits(1);
    assert!(
        several
            .stderr
            .contains("does not serve burning several molecules"),
        "{several:?}"
    );
}

#[test]
fn f_7_what_the_face_pours_is_worked_on_by_the_face() {
    let env = seeded("");
    let formula = "formula = \"pair\"\n[[steps]]\nid = \"plan\"\ntitle = \"Plan {{name}}\"\n[[steps]]\nid = \"build\"\ntitle = \"Build\"\nneeds = [\"plan\"]\n[vars.name]\nrequired = true\n";
    env.write(".beads/formulas/pair.formula.toml", formula);
    let poured = bd(&env, &["mol", "pour", "pair", "--var", "name=it"]);
    assert_eq!(
        poured,
        json!({
            "attached": 0, "created": 3, "phase": "liquid", "schema_version": 1,
            "new_epic_id": "bd-pair-001", "id": "bd-pair-001", "steps_created": 2,
            "bead_ids": ["bd-pair-001-plan", "bd-pair-001-build"],
            "id_mapping": {
                "pair": "bd-pair-001",
                "pair.plan": "bd-pair-001-plan",
                "pair.build": "bd-pair-001-build",
            },
        })
    );
    let current = |id: &str| bd(&env, &["mol", "current", id])[0]["role"].clone();
    assert_eq!(current("bd-pair-001"), "plan");
    env.run(&["bd", "close", "bd-pair-001-plan"]).exits(0);
    assert_eq!(current("bd-pair-001"), "build");
    env.run(&["bd", "close", "bd-pair-001-build"]).exits(0);
    assert_eq!(shown(&env, "bd-pair-001")["status"], "closed");
    let wisp = bd(
        &env,
        &["mol", "wisp", "pair", "--var", "name=it", "--root-only"],
    );
    assert_eq!(wisp["bead_ids"], json!([]));
    assert_eq!(shown(&env, "bd-pair-002")["ephemeral"], true);
}

#[test]
fn f_5_what_only_we_refuse_is_said_by_the_face_and_nothing_is_poured() {
    let env = seeded("");
    env.write(
        ".beads/formulas/odd.formula.toml",
        "formula = \"odd\"\n[[steps]]\nid = \"one\"\ntitle = \"One {{nobody}}\"\nneedz = [\"two\"]\n",
    );
    let ended = env.run(&["bd", "mol", "pour", "odd"]).exits(1);
    for part in ["formula \"odd\" cannot be poured", "needz", "nobody"] {
        assert!(ended.stderr.contains(part), "{ended:?}");
    }
    assert_eq!(bd(&env, &["list", "--all"]), json!([]));
}
