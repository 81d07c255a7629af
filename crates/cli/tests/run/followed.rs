//! `run PLAN` follows its plan while it runs (Z-44), and says so when nothing of it is selected.

use crate::world::{DILIGENT, Setup, World, plan, sprint};

/// Dev agents of the first sprint wait for a word.
const PATIENT: &str = r#"
if [ "$role $sprint" = "dev 1.1" ]; then
  touch "$base/began"
  while ! [ -e "$base/go" ]; do sleep 0.02; done
fi
"#;

const BEFORE: [(&str, &str); 2] = [("1.1", "One"), ("1.2", "Two")];
const AFTER: [(&str, &str); 2] = [("1.1", "One"), ("1.3", "Three")];

/// The plan is one when the run begins and another one while the first sprint is worked on.
fn world(poll: &str) -> World {
    World::bare(&Setup {
        plan: plan(&BEFORE),
        config: format!("ralph: {{poll_interval: {poll}}}\n"),
        agent: format!("{PATIENT}{DILIGENT}"),
        ..Setup::default()
    })
}

fn developed(world: &World) -> Vec<String> {
    let log = world.log().into_iter();
    log.filter(|line| line.starts_with("dev")).collect()
}

#[test]
fn z_44_what_another_process_adds_is_taken_up_and_what_it_removes_is_not_begun() {
    // The store is looked at often, or too late to see the change before something is begun.
    for poll in ["100ms", "4s"] {
        let world = world(poll);
        let running = world.command(&["run", "plan.md"]).start();
        world.wait_for("began");
        world.write("plan.md", &plan(&AFTER));
        world.run(&["plan", "apply", "plan.md"]).exits(0);
        world.touch("go");
        running.end().exits(0);
        assert_eq!(
            world.statuses(),
            "1.1 closed, 1.2 open, 1.3 closed",
            "{poll}"
        );
        assert_eq!(developed(&world), ["dev 1.1 1", "dev 1.3 1"], "{poll}");
        // A later run of the same plan leaves it alone too.
        world.run(&["run", "plan.md"]).exits(0);
        assert_eq!(world.statuses(), "1.1 closed, 1.2 open, 1.3 closed");
    }
}

#[test]
fn z_44_what_was_finished_of_a_removed_sprint_is_told_at_the_end() {
    let world = world("100ms");
    let running = world.command(&["run", "plan.md"]).start();
    world.wait_for("began");
    world.write("plan.md", &plan(&[("1.2", "Two")]));
    world.run(&["plan", "apply", "plan.md"]).exits(0);
    world.touch("go");
    running.end().exits(0).says("this run: 2 beads closed");
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed");
}

#[test]
fn z_44_a_removed_sprint_that_needs_a_person_is_told_at_the_end() {
    let refusing = r#"
if [ "$role $sprint" = "qa 1.1" ]; then echo '{"status": "fail", "message": "not so"}'; exit 0; fi
"#;
    let world = World::bare(&Setup {
        plan: plan(&BEFORE),
        config: "ralph: {poll_interval: 100ms}\n".to_owned(),
        agent: format!("{PATIENT}{refusing}{DILIGENT}"),
        ..Setup::default()
    });
    let running = world.command(&["run", "plan.md"]).start();
    world.wait_for("began");
    world.write("plan.md", &plan(&[("1.2", "Two")]));
    world.run(&["plan", "apply", "plan.md"]).exits(0);
    world.touch("go");
    running
        .end()
        .exits(1)
        .says("Needs attention")
        .says("not so");
    assert_eq!(world.statuses(), "1.1 blocked, 1.2 closed");
}

#[test]
fn z_44_a_sprint_that_comes_back_is_taken_up_again() {
    let world = world("100ms");
    let running = world.command(&["run", "plan.md"]).start();
    world.wait_for("began");
    for text in [plan(&AFTER), plan(&BEFORE)] {
        world.write("plan.md", &text);
        world.run(&["plan", "apply", "plan.md"]).exits(0);
    }
    world.touch("go");
    running.end().exits(0);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed, 1.3 open");
}

#[test]
fn z_44_what_is_added_at_the_last_moment_is_taken_up() {
    let world = world("10m");
    let running = world.command(&["run", "plan.md", "--sprint", "1.1", "--sprint", "1.2"]);
    let running = running.start();
    world.wait_for("began");
    let added = sprint("2.1", "More", "");
    world.write("plan.md", &format!("{}{added}", plan(&BEFORE)));
    world.run(&["plan", "apply", "plan.md"]).exits(0);
    world.touch("go");
    running.end().exits(0);
    assert_eq!(
        world.statuses(),
        "1.1 closed, 1.2 closed, 2.1 open",
        "a choice of sprints stays what it was"
    );
    let running = world.command(&["run", "plan.md"]).start();
    running.end().exits(0);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed, 2.1 closed");
}

#[test]
fn z_44_a_run_that_looks_seldom_looks_before_it_ends() {
    let world = world("10m");
    let running = world.command(&["run", "plan.md"]).start();
    world.wait_for("began");
    let added = sprint("2.1", "More", "");
    world.write("plan.md", &format!("{}{added}", plan(&BEFORE)));
    world.run(&["plan", "apply", "plan.md"]).exits(0);
    world.touch("go");
    running.end().exits(0);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed, 2.1 closed");
}

#[test]
fn z_44_what_would_be_begun_of_a_plan_is_without_its_removed_sprints() {
    let world = world("100ms");
    world.run(&["plan", "apply", "plan.md"]).exits(0);
    world.write("plan.md", &plan(&[("1.2", "Two")]));
    let would = world.data(&["run", "plan.md", "--dry-run"]);
    let beads = would["beads"].as_array().unwrap();
    let sprints: Vec<&str> = beads
        .iter()
        .map(|bead| bead["sprint"].as_str().unwrap())
        .collect();
    assert_eq!(sprints, ["1.2"]);
}

#[test]
fn u_17_a_selection_that_selects_nothing_is_an_error() {
    let world = world("100ms");
    world.run(&["plan", "apply", "plan.md"]).exits(0);
    let asked = world.run(&["run", "--sprint", "9.9"]).exits(1);
    asked
        .says("there is no sprint '9.9' in the store")
        .says("its sprints are 1.1, 1.2");
    let asked = world.run(&["run", "plan.md", "--sprint", "1.22"]).exits(1);
    asked.says("plan.md").says("did you mean 1.2?");
    let asked = world.run(&["run", "--team", "nobody"]).exits(1);
    asked.says("there is no team 'nobody'");
    let bead = world.bead("1.1")["id"].as_str().unwrap().to_owned();
    let asked = world.run(&["run", "--bead", &bead, "--sprint", "1.2"]);
    asked.exits(1).says("nothing is selected");
    assert_eq!(world.runs(), Vec::<String>::new(), "no run was begun");
    // What is done already is no mistake.
    world.touch("go");
    world.run(&["run", "--sprint", "1.1"]).exits(0);
    world.run(&["run", "--sprint", "1.1"]).exits(0);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 open");
}

#[test]
fn section_7_9_the_status_of_a_bead_has_its_checks_and_what_it_cost() {
    let world = World::new(&Setup {
        plan: plan(&[("1.1", "One")]),
        agent: "if [ \"$role\" = dev ] && [ \"$attempt\" = 1 ]; then echo x >other; exit 0; fi\n"
            .to_owned()
            + DILIGENT,
        ..Setup::default()
    });
    world.run(&["run"]).exits(0);
    let bead = world.bead("1.1")["id"].as_str().unwrap().to_owned();
    let status = world.data(&["status", "--bead", &bead]);
    let checks = status["checks"].as_array().unwrap();
    let told: Vec<String> = checks
        .iter()
        .map(|it| format!("{} {} {}", it["attempt"], it["name"], it["result"]))
        .collect();
    assert_eq!(told, ["1 \"there\" \"failed\"", "2 \"there\" \"passed\""]);
    assert_eq!(checks[0]["command"], "test -f work/1.1.txt");
    let cost = &status["cost"];
    assert!(cost["time_ms"].as_u64().unwrap() > 0, "{status:#}");
    assert_eq!(
        cost["n_unpriced"], 4,
        "this agent does not say what it costs"
    );
    let shown = world.run(&["status", "--bead", &bead]).exits(0);
    shown
        .says("CHECK")
        .says("passed")
        .says("total: cost unknown (4 agent runs reported no cost)");
}
