//! Runs of every kind, decided once more from their journals: `replay` and `simulate --from-run`.

use rustix::process::Signal;

use crate::world::{DILIGENT, Setup, World, plan, wait_until};

/// The same decisions again; `simulate` launches the same, too, where nobody meddled.
#[track_caller]
fn decides_the_same(world: &World, is_undisturbed: bool) {
    let runs = world.runs();
    for run in &runs {
        let name = run.file_name().unwrap();
        let replayed = world.data(&["replay", name]);
        assert_eq!(replayed["is_identical"], true, "{replayed:#}");
        if is_undisturbed {
            let simulated = world.data(&["simulate", "--from-run", name]);
            assert_eq!(simulated["recorded"]["is_identical"], true, "{simulated:#}");
        }
    }
}

fn world(sprints: &[(&str, &str)], agent: &str, config: &str) -> World {
    World::new(&Setup {
        plan: plan(sprints),
        agent: agent.to_owned(),
        config: format!("ralph: {{poll_interval: 100ms}}\n{config}"),
        ..Setup::default()
    })
}

const FOUR: [(&str, &str); 4] = [
    ("1.1", "One"),
    ("1.2a", "Two"),
    ("1.2b", "Three"),
    ("1.3", "Four"),
];

#[test]
fn z_4_a_run_without_trouble_is_decided_the_same_again() {
    for config in [
        "integration: merge\n",
        "integration: none\nworktrees: {cleanup_on_complete: true}\n",
    ] {
        let world = world(&FOUR, DILIGENT, config);
        world.run(&["run"]).exits(0);
        decides_the_same(&world, true);
    }
}

#[test]
fn z_4_a_run_with_failures_of_all_sorts_is_decided_the_same_again() {
    let agent = r#"
case $role$sprint$attempt in
  dev1.11) exit 1 ;;
  qa1.2a1) echo '{"status": "fail", "message": "no"}'; exit ;;
  qa1.2b*) echo nonsense; exit ;;
  dev1.2b*) mkdir -p work; date +%N >work/1.2b.txt; exit ;;
  dev1.2a2) touch more.txt ;;
esac
"#;
    let world = world(&FOUR, &format!("{agent}{DILIGENT}"), "");
    world.run(&["run"]).exits(1);
    assert_eq!(
        world.statuses(),
        "1.1 closed, 1.2a closed, 1.2b blocked, 1.3 open"
    );
    decides_the_same(&world, true);
}

#[test]
fn z_4_a_run_that_a_judge_stopped_is_decided_the_same_again() {
    let agent =
        r#"[ $role$sprint = qa1.2a ] && { echo '{"status": "stop", "message": "no"}'; exit; }"#;
    let world = world(&FOUR, &format!("{agent}\n{DILIGENT}"), "");
    world.run(&["run"]).exits(3);
    decides_the_same(&world, true);
}

#[test]
fn z_4_a_run_with_conflicts_is_decided_the_same_again() {
    let agent = r#"
if [ "$role" = dev ]; then
  if grep -q '<<<<<<<' shared.txt; then grep -v '^[<=>]' shared.txt >solved; mv solved shared.txt; exit 0; fi
  echo "$bead" >>shared.txt
fi
"#;
    let world = world(&FOUR, &format!("{agent}{DILIGENT}"), "integration: merge\n");
    world.run(&["run"]).exits(0);
    let is_conflict = |line: &serde_json::Value| {
        line["event"]["answered"]["answer"]["Ok"]["conflicted"].is_object()
    };
    assert!(world.journal().iter().any(is_conflict), "there was one");
    decides_the_same(&world, true);
}

#[test]
fn z_4_runs_that_were_killed_stopped_and_paused_are_decided_the_same_again() {
    let wait = "if [ $role = dev ]; then touch \"$base/began-$sprint\"; while ! [ -e \"$base/go\" ]; do sleep 0.02; done; fi\n";
    let world = world(&FOUR, &format!("{wait}{DILIGENT}"), "");
    let start = || {
        let running = world.command(&["run"]).start();
        world.wait_for("began-1.1");
        running
    };
    let running = start();
    running.signal(Signal::KILL);
    running.end();
    std::fs::remove_file(world.base.join("began-1.1")).unwrap();
    let running = start();
    world.run(&["stop", "--now"]).exits(0);
    running.end().exits(0);
    std::fs::remove_file(world.base.join("began-1.1")).unwrap();
    let running = start();
    running.signal(Signal::TERM);
    wait_until("it has heard", || {
        world
            .journal()
            .iter()
            .any(|entry| entry["event"]["stop_asked"].is_object())
    });
    world.touch("go");
    running.end().exits(0);
    world.run(&["pause"]).exits(0);
    let running = world.command(&["run"]).start();
    wait_until("it has heard", || {
        world
            .journal()
            .iter()
            .any(|entry| entry["event"]["pause_asked"].is_object())
    });
    world.run(&["pause", "--off"]).exits(0);
    running.end().exits(0);
    world.run(&["run"]).exits(0);
    assert_eq!(
        world.runs().len(),
        4,
        "killed and stopped, stopped, paused, idle"
    );
    decides_the_same(&world, false);
}

#[test]
fn z_13_a_run_at_its_limits_is_decided_the_same_again() {
    let agent = r#"
if ! [ -e "$base/limited" ]; then touch "$base/limited"; echo "{\"type\": \"limit\", \"at\": $(($(date +%s) + 2))}"; exit 1; fi
if [ "$role" = dev ]; then mkdir -p work && echo x >work/$sprint.txt; fi
echo '{"type": "done", "text": "{\"status\": \"pass\", \"message\": \"fine\"}"}'
"#;
    let world = World::new(&Setup {
        plan: plan(&FOUR),
        agent: agent.to_owned(),
        adapter: crate::agents::LIMITS.to_owned(),
        ..Setup::default()
    });
    world.run(&["run"]).exits(0);
    decides_the_same(&world, true);
}
