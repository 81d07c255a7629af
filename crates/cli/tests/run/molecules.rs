//! Sprints with a formula in the loop (F-16, Z-27): their steps are done one after the other, and who waits for the sprint waits
//! for all of them.

use serde_json::Value;

use crate::world::{Setup, World, sprint};

const STAGES: &str = r#"
formula = "stages"
[[steps]]
id = "design"
title = "Design {{sprint_title}}"
[[steps]]
id = "build"
title = "Build {{sprint_title}}"
description = "Build it as designed."
needs = ["design"]
"#;

/// Adds a line for every bead that it works on.
const LEDGER: &str = r#"
if [ "$role" = dev ]; then
  mkdir -p work && echo "$bead" >>"work/$sprint.txt"
  ls work >>"$base/seen" && echo "$bead" >>"$base/order"
else
  echo '{"status": "pass", "message": "fine"}'
fi
"#;

fn world(config: &str) -> World {
    let plan = sprint("1.1", "Ground", "")
        + &sprint("1.2", "House", "**Formula**: stages\n")
        + &sprint("1.3", "Garden", "");
    let setup = Setup {
        plan: format!("# Plan: a test\n\n{plan}"),
        agent: LEDGER.to_owned(),
        config: format!("ralph: {{poll_interval: 100ms}}\n{config}"),
        ..Setup::default()
    };
    let world = World::bare(&setup);
    world.write(".beads/formulas/stages.formula.toml", STAGES);
    world
}

fn order(world: &World) -> Vec<String> {
    let text = std::fs::read_to_string(world.base.join("order")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn show(world: &World, id: &str) -> Value {
    let output = world.run(&["show", id, "--json"]).exits(0);
    let answer: Value = serde_json::from_str(&output.stdout).unwrap();
    answer["data"]["beads"][0].clone()
}

#[test]
fn f_16_a_plan_with_a_formula_runs_to_its_end() {
    for config in ["", "integration: merge\n"] {
        let world = world(config);
        world.run(&["run", "plan.md"]).exits(0);
        let expected = [
            "bd-1-1-ground",
            "bd-stages-001-design",
            "bd-stages-001-build",
            "bd-1-3-garden",
        ];
        assert_eq!(order(&world), expected);
        for id in expected.iter().chain(&["bd-stages-001"]) {
            assert_eq!(show(&world, id)["status"], "closed", "{id}");
        }
        let garden = world.git(&["show", "feature/1-3-garden:work/1.2.txt"]);
        assert_eq!(
            garden, "bd-stages-001-design\nbd-stages-001-build",
            "the garden stands on the house"
        );
        world.run(&["run", "plan.md"]).exits(0);
        assert_eq!(order(&world).len(), 4, "nothing is done twice");
    }
}

#[test]
fn z_4_a_run_with_a_molecule_is_killed_and_goes_on() {
    for at in [10, 25, 40] {
        let world = world("");
        let killed = world
            .command(&["run", "plan.md"])
            .env("BEADS_RALPH_DIE_AT", &at.to_string());
        let killed = killed.output(crate::world::LONG);
        if killed.code != Some(0) {
            world.run(&["run"]).exits(0);
        }
        for id in [
            "bd-stages-001",
            "bd-stages-001-design",
            "bd-stages-001-build",
            "bd-1-3-garden",
        ] {
            assert_eq!(show(&world, id)["status"], "closed", "{id} killed at {at}");
        }
        let house = world.git(&["show", "feature/1-2-house:work/1.2.txt"]);
        assert_eq!(
            house, "bd-stages-001-design\nbd-stages-001-build",
            "killed at {at}"
        );
    }
}

const FAMILY: &str = r#"
formula = "stages"
[[steps]]
id = "build"
title = "Build"
[[steps]]
id = "parts"
title = "Parts"
needs = ["build"]
[[steps.children]]
id = "c1"
title = "C1"
[[steps.children]]
id = "c2"
title = "C2"
needs = ["c1"]
[[steps]]
id = "after"
title = "After"
needs = ["parts"]
[[steps]]
id = "more"
title = "More"
needs = ["after"]
waits_for = "children-of(parts)"
"#;

#[test]
fn f_14_steps_with_parts_are_done_in_one_run() {
    let world = world("");
    world.write(".beads/formulas/stages.formula.toml", FAMILY);
    world.run(&["run", "plan.md"]).exits(0);
    let steps = ["build", "c1", "c2", "after", "more"].map(|step| format!("bd-stages-001-{step}"));
    assert_eq!(order(&world)[1..6], steps);
    assert_eq!(show(&world, "bd-stages-001-parts")["status"], "closed");
    assert_eq!(show(&world, "bd-1-3-garden")["status"], "closed");
}

#[test]
fn z_27_what_only_people_do_needs_a_person_and_the_work_is_not_lost() {
    let world = world("");
    let sign_off = format!(
        "{STAGES}[[steps]]\nid = \"sign\"\ntitle = \"Sign\"\nassignee = \"tess\"\nneeds = [\"build\"]\n[[steps]]\nid = \"gated\"\ntitle = \"G\"\ngate = {{ type = \"human\" }}\n"
    );
    world.write(".beads/formulas/stages.formula.toml", &sign_off);
    let output = world.run(&["run", "plan.md"]).exits(1);
    assert!(
        output.stderr.contains("bd-stages-001-sign")
            && output.stderr.contains("bd-stages-001-gate-gated"),
        "{}",
        output.stderr
    );
    let blocked = world.run(&["blocked"]).exits(0).stdout;
    assert!(
        blocked.contains("bd-stages-001-sign") && blocked.contains("bd-stages-001-gate-gated"),
        "{blocked}"
    );
    world
        .run(&[
            "close",
            "bd-stages-001-sign",
            "bd-stages-001-gate-gated",
            "--reason",
            "fine",
        ])
        .exits(0);
    world.run(&["run"]).exits(0);
    assert_eq!(show(&world, "bd-1-3-garden")["status"], "closed");
    let garden = world.git(&["show", "feature/1-3-garden:work/1.2.txt"]);
    assert!(
        garden.contains("bd-stages-001-build"),
        "the garden stands on the house: {garden}"
    );
}

#[test]
fn a_dry_run_of_a_plan_does_not_begin_what_is_done() {
    let world = world("");
    world.run(&["plan", "apply", "plan.md"]).exits(0);
    world
        .run(&["close", "bd-1-1-ground", "--reason", "done"])
        .exits(0);
    let output = world.run(&["run", "plan.md", "--dry-run"]).exits(0);
    assert!(
        !output.stdout.contains("bd-1-1-ground") && output.stdout.contains("bd-stages-001-design"),
        "{}",
        output.stdout
    );
}
