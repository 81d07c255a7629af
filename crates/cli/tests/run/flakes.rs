//! Whose fault a red check is, in a run (`verify.flaky_retries`).

use rustix::process::Signal;
use serde_json::Value;

use crate::world::{Setup, World, sprint, wait_until};

/// What the second sprint is checked by besides its own check. What the first one made, what is copied into worktrees, what sets them up and the
/// ports must be there on the base too, else the regression would look like something old.
const PLANTED: &str = "\
- flaky: `f=../../seen; if [ -e $f ]; then rm $f; else touch $f; exit 1; fi`
  - on failure: continue
- old: `test -e never`
  - on failure: continue
- regression: `test -f work/1.1.txt -a -f .env -a -f ready -a -n \"$PORT\" -a ! -e broken`
  - on failure: continue
";

const CONFIG: &str = "\
ralph: {poll_interval: 100ms}
verify: {flaky_retries: 1}
worktrees: {copy: [.env], setup: 'cp .env ready', ports: 1}
integration: none
";

/// Breaks something in its first attempt at the second sprint, and mends everything in the second one.
const CARELESS: &str = r#"
if [ "$role" = dev ]; then
  cat >"$base/prompt-$sprint-$attempt"
  mkdir -p work && echo "the work of $bead" >"work/$sprint.txt"
  case "$sprint $attempt" in
    "1.2 1") touch broken ;;
    "1.2 2") rm broken; touch never ;;
  esac
else
  echo '{"status": "pass", "message": "fine"}'
fi
"#;

const OLD: &str = "old: Exit code 1 (expected 0); it fails on a clean checkout of the commit that the work began from too: it was red before this work, or needs something that is not committed";
const REGRESSION: &str = "regression: Exit code 1 (expected 0); it passes on the commit that the work began from: a regression";
const FLAKY: &str = "flaky: passed at try 2, after: Exit code 1 (expected 0); it passes at one time and not at another: a flaky check";

fn world() -> World {
    let second = sprint("1.2", "House", "");
    let plan = format!(
        "# Plan: a test\n\n{}{}\n{PLANTED}",
        sprint("1.1", "Ground", ""),
        second.trim_end()
    );
    let world = World::bare(&Setup {
        plan,
        config: CONFIG.to_owned(),
        agent: CARELESS.to_owned(),
        ..Setup::default()
    });
    world.write(".gitignore", ".env\nready\n");
    world.git(&["add", ".gitignore"]);
    world.git(&["commit", "--quiet", "-m", "ignore"]);
    world.write(".env", "SECRET=1\n");
    world.run(&["plan", "apply", "plan.md"]).exits(0);
    world
}

/// The checks of an attempt at the second sprint, as the run keeps them: name, whether it passed, cause.
#[track_caller]
fn told(world: &World, attempt: u32) -> Vec<(String, bool, Option<String>)> {
    let bead = world.bead("1.2")["id"].as_str().unwrap().to_owned();
    let run = world.runs().pop().unwrap();
    let path = run.join(format!("beads/{bead}/attempt-{attempt}/checks/checks.json"));
    let records: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let records = records.as_array().unwrap().iter();
    let text = |it: &Value| it.as_str().map(str::to_owned);
    records
        .map(|it| {
            (
                text(&it["name"]).unwrap(),
                it["passed"] == true,
                text(&it["cause"]),
            )
        })
        .collect()
}

fn expected(all: &[(&str, bool, Option<&str>)]) -> Vec<(String, bool, Option<String>)> {
    let owned = |(name, passed, cause): &(&str, bool, Option<&str>)| {
        ((*name).to_owned(), *passed, cause.map(str::to_owned))
    };
    all.iter().map(owned).collect()
}

#[test]
fn z_22_in_a_run_a_flaky_check_one_that_was_red_before_and_a_regression_are_told_apart() {
    let world = world();
    let worktrees = || world.git(&["worktree", "list"]).lines().count();
    assert_eq!(worktrees(), 1);
    world.run(&["run"]).exits(0).says(FLAKY);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed");
    assert_eq!(worktrees(), 3, "the base leaves nothing");
    let first = [
        ("there", true, None),
        ("flaky", true, Some("flaky")),
        ("old", false, Some("red_on_base")),
        ("regression", false, Some("regression")),
    ];
    assert_eq!(told(&world, 1), expected(&first));
    let second = [
        ("there", true, None),
        ("flaky", true, Some("flaky")),
        ("old", true, None),
        ("regression", true, None),
    ];
    assert_eq!(told(&world, 2), expected(&second));

    let prompt = std::fs::read_to_string(world.base.join("prompt-1.2-2")).unwrap();
    let bead = world.bead("1.2");
    let comments = bead["comments"].to_string();
    let page = world.run(&["report", "--output", "-"]).exits(0).stdout;
    for words in [OLD, REGRESSION, FLAKY] {
        assert!(prompt.contains(words), "{words}: {prompt}");
        assert!(comments.contains(words), "{words}: {comments}");
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(
        comments.contains(&format!("; {FLAKY}")) && page.contains(&format!("<b>green</b> {FLAKY}")),
        "what is green with a warning says so: {comments}"
    );

    let data = world.data(&["qa-report"]);
    let flaky = &data["flaky_checks"];
    assert_eq!(flaky.as_array().map(Vec::len), Some(1), "{data}");
    assert_eq!(
        (&flaky[0]["check"], &flaky[0]["runs"], &flaky[0]["flaky"]),
        (&"flaky".into(), &2.into(), &2.into())
    );
}

#[test]
fn z_22_a_bead_that_is_given_up_says_whose_fault_it_is() {
    let world = world();
    world.agent(&CARELESS.replace("rm broken; touch never", "date +%N >never.txt"));
    let config = world.read("beads-ralph.yaml");
    world.write(
        "beads-ralph.yaml",
        &format!("{config}retry: {{max_attempts: 2}}\n"),
    );
    world.run(&["run"]).exits(1);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 blocked");
    let id = world.bead("1.2")["id"].as_str().unwrap().to_owned();
    let status = world.data(&["status", "--bead", &id]);
    let error = status["last_error"].as_str().unwrap();
    for words in [OLD, REGRESSION] {
        assert!(error.contains(words), "{words}: {error}");
    }
}

/// Two sprints at once, the first of which is checked by this command too.
fn with_check(command: &str) -> World {
    let first = sprint("1.1a", "Broken", "");
    let plan = format!(
        "# Plan: a test\n\n{}\n- tool: `{command}`\n\n{}",
        first.trim_end(),
        sprint("1.1b", "Fine", "")
    );
    World::new(&Setup {
        plan,
        config: "ralph: {poll_interval: 100ms}\nverify: {flaky_retries: 1}\nintegration: none\nnetwork: {max_retries: 1, retry_backoff: constant}\n".to_owned(),
        ..Setup::default()
    })
}

/// How often agents were called for a sprint.
fn n_calls(world: &World, sprint: &str) -> usize {
    let log = world.log();
    let of = log.iter().filter(|line| line.contains(sprint));
    of.count()
}

#[test]
fn z_22_a_check_that_cannot_be_run_anywhere_asks_a_person_and_no_agent() {
    let world = with_check("no-such-tool");
    world.run(&["run"]).exits(1);
    assert_eq!(world.statuses(), "1.1a blocked, 1.1b closed");
    let error = world.error_of("1.1a");
    assert!(
        error.contains("the checks could not be run: tool: Exit code 127 (expected 0); ")
            && error.contains("look at the environment"),
        "{error}"
    );
    assert_eq!(n_calls(&world, "1.1a"), 2, "dev and QA: {:?}", world.log());
    let bead = world.bead("1.1a");
    let directory = world.runs().pop().unwrap();
    let id = bead["id"].as_str().unwrap();
    let attempt = directory.join(format!("beads/{id}/attempt-1"));
    assert!(
        attempt.join("checks-2").exists() && !attempt.join("checks-3").exists(),
        "it was tried again as often as it may be"
    );
}

#[test]
fn z_22_what_is_mended_while_a_run_waits_costs_no_attempt() {
    let world = with_check("true");
    // Two tries here and two on the base are killed; then it goes.
    let tool = format!(
        "n={}/n; echo x >>$n; [ $(wc -l <$n) -gt 4 ] || kill -9 $$",
        world.base
    );
    let config = world.read("beads-ralph.yaml");
    let config = config.replace(
        "flaky_retries: 1",
        &format!("flaky_retries: 1, default: ['{tool}']"),
    );
    world.write("beads-ralph.yaml", &config);
    world.run(&["run", "--max-parallel", "1"]).exits(0);
    assert_eq!(world.statuses(), "1.1a closed, 1.1b closed");
    assert_eq!(n_calls(&world, "1.1a"), 2, "{:?}", world.log());
}

#[test]
fn l_9_making_the_base_ready_ends_with_everything_else() {
    let world = World::new(&Setup {
        config: "verify: {flaky_retries: 1, default: ['false']}\n".to_owned(),
        ..Setup::default()
    });
    let config = world.read("beads-ralph.yaml");
    // Only the base is in a directory of this name.
    let hang = format!(
        "case $PWD in */base) touch {}/hangs; sleep 600;; esac",
        world.base
    );
    world.write(
        "beads-ralph.yaml",
        &format!("{config}worktrees: {{setup: '{hang}'}}\n"),
    );
    let running = world.command(&["run"]).start();
    world.wait_for("hangs");
    for is_now in [false, true] {
        running.signal(Signal::INT);
        wait_until("it has heard", || {
            let journal = world.journal();
            let mut events = journal.iter().map(|entry| &entry["event"]["stop_asked"]);
            events.any(|event| event["now"] == is_now)
        });
    }
    running.end().exits(130);
    wait_until("nobody is left", || world.processes().is_empty());
    assert_eq!(world.statuses(), "1.1 open");
}
