//! When a run ends, and with which exit code.

use regex::Regex;

use crate::snapshot::snapshot;
use crate::world::{DILIGENT, Setup, World, plan};

#[test]
fn l_7_a_run_without_work_ends_at_once() {
    let world = World::bare(&Setup::default());
    world.run(&["run"]).exits(0);
    let world = World::new(&Setup::default());
    world.run(&["run"]).exits(0);
    assert_eq!(world.statuses(), "1.1 closed");
    world.run(&["run"]).exits(0);
    assert_eq!(world.log(), ["dev 1.1 1", "qa 1.1 1"]);
    assert_eq!(world.runs().len(), 2);
}

#[test]
fn l_7_a_plan_is_applied_and_run_in_one_go() {
    let setup = Setup {
        plan: plan(&[("1.1", "One"), ("1.2", "Two")]),
        ..Setup::default()
    };
    let world = World::bare(&setup);
    world.run(&["run", "plan.md"]).exits(0);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed");
    world.run(&["run", "plan.md"]).exits(0);
    assert_eq!(world.log().len(), 4, "nothing is done twice");
}

#[test]
fn the_end_of_a_run_is_a_table_with_what_needs_attention() {
    let refusing = r#"
if [ "$role $sprint" = "qa 1.2" ]; then echo '{"status": "fail", "message": "not so"}'; exit 0; fi
"#;
    let world = World::new(&Setup {
        plan: plan(&[("1.1", "One"), ("1.2", "Two"), ("1.3", "Three")]),
        config: "ralph: {poll_interval: 100ms}\nretry: {max_attempts: 1}\n".to_owned(),
        agent: format!("{refusing}{DILIGENT}"),
        ..Setup::default()
    });
    let output = world.run(&["run"]).exits(1);
    let times = Regex::new(r"\d+\.\ds").unwrap();
    snapshot("run-end", &times.replace_all(&output.stdout, "N.Ns"));
}
