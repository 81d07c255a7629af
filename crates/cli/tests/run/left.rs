//! Agents and checks that outlive both the orchestrator and their shim: the next run ends them before it uses their worktree again.

use rustix::process::Signal;

use crate::world::{DILIGENT, Setup, World, plan, signal_to, wait_until};

/// The first time it does not end, does not listen, and litters its worktree. Later it looks for itself.
const STUBBORN: &str = r#"
stubborn() {
  if [ -e "$base/stubborn" ]; then
    if grep -q '^State:.[^ZX]' "/proc/$(cat "$base/stubborn")/status" 2>/dev/null; then echo "$1" >>"$base/both"; fi
    return
  fi
  trap '' TERM HUP INT
  mkdir -p work
  echo $$ >"$base/stubborn.new" && mv "$base/stubborn.new" "$base/stubborn"
  while :; do echo junk >>work/junk.txt; sleep 0.01; done
}
"#;

/// Kills the orchestrator and its shims, so that nobody ends what they watched over.
fn kill_with_shims(pid: u32) {
    let children = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let children =
        children.map(|task| std::fs::read_to_string(task.unwrap().path().join("children")));
    let shims: Vec<u32> = children
        .flat_map(|list| {
            list.unwrap_or_default()
                .split_whitespace()
                .map(|pid| pid.parse().unwrap())
                .collect::<Vec<u32>>()
        })
        .collect();
    assert!(!shims.is_empty(), "something runs");
    for &shim in &shims {
        signal_to(shim, Signal::STOP);
    }
    signal_to(pid, Signal::KILL);
    for &shim in &shims {
        signal_to(shim, Signal::KILL);
    }
}

#[track_caller]
fn left_running(agent: &str, config: &str) -> World {
    let setup = Setup {
        plan: plan(&[("1.1", "One"), ("1.2", "Two")]),
        config: format!("integration: merge\nralph: {{poll_interval: 200ms}}\n{config}"),
        agent: format!("{STUBBORN}{agent}"),
        ..Setup::default()
    };
    let world = World::new(&setup);
    let check = format!("#!/bin/sh\nbase=$(dirname \"$0\")\n{STUBBORN}\nstubborn check\n");
    world.program("check.sh", &check);
    let first = world.command(&["run"]).start();
    world.wait_for("stubborn");
    kill_with_shims(first.pid);
    assert_eq!(first.end().code, None);
    assert!(!world.processes().is_empty(), "it outlived everybody");
    let again = world.run(&["run"]).exits(0);
    assert!(
        again.stderr.contains("of its processes that were left"),
        "{again:#?}"
    );
    assert!(!world.base.join("both").exists(), "never two at once");
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed");
    wait_until("nobody is left", || world.processes().is_empty());
    let files = world.git(&["ls-tree", "-r", "--name-only", "ralph/plan", "work"]);
    assert_eq!(files, "work/1.1.txt\nwork/1.2.txt", "no litter");
    world
}

#[test]
fn z_7_a_dev_agent_that_was_left_is_ended_and_what_it_did_is_kept() {
    let agent = format!("[ $role = dev ] && stubborn dev\n{DILIGENT}");
    let world = left_running(&agent, "");
    let kept = world.git(&[
        "for-each-ref",
        "--format=%(refname)",
        "refs/beads-ralph/**/interrupted/*",
    ]);
    assert_eq!(kept, "refs/beads-ralph/bd-1-1-one/interrupted/1", "Z-39");
    let files = world.git(&["ls-tree", "-r", "--name-only", &kept, "work"]);
    assert_eq!(files, "work/junk.txt");
    assert_eq!(
        world.log()[..2],
        ["dev 1.1 1", "dev 1.1 1"],
        "the attempt keeps its number"
    );
}

#[test]
fn z_7_a_judge_that_was_left_is_ended_and_judges_again() {
    let agent = format!("[ $role = qa ] && stubborn qa\n{DILIGENT}");
    let world = left_running(&agent, "");
    assert_eq!(
        world.log()[..3],
        ["dev 1.1 1", "qa 1.1 1", "qa 1.1 1"],
        "Z-39: the dev agent's work counts"
    );
}

#[test]
fn z_7_a_check_that_was_left_is_ended_and_run_again() {
    let world = left_running(DILIGENT, "verify: {default: ['../../check.sh']}\n");
    assert_eq!(
        world.log(),
        ["dev 1.1 1", "qa 1.1 1", "dev 1.2 1", "qa 1.2 1"],
        "Z-39"
    );
}

#[test]
fn z_4_what_recover_put_back_is_gone_on_with_where_it_was() {
    let wait = "if [ $role = qa ]; then touch \"$base/judging\"; while ! [ -e \"$base/go\" ]; do sleep 0.02; done; fi\n";
    let world = World::new(&Setup {
        agent: format!("{wait}{DILIGENT}"),
        ..Setup::default()
    });
    let running = world.command(&["run"]).start();
    world.wait_for("judging");
    running.signal(Signal::KILL);
    running.end();
    world.run(&["status"]).exits(0).says("(gone)");
    world
        .run(&["recover"])
        .exits(0)
        .says("1 bead put back to open")
        .says("`beads-ralph run` resumes it");
    assert_eq!(world.statuses(), "1.1 open");
    world.touch("go");
    world.run(&["run"]).exits(0);
    assert_eq!(world.statuses(), "1.1 closed");
    let (log, dev) = (world.log(), "dev 1.1 1".to_owned());
    let n_dev = log.iter().filter(|line| **line == dev).count();
    assert_eq!(
        n_dev, 1,
        "what was made is judged, and not made again: {log:?}"
    );
}
