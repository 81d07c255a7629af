//! `simulate` and `replay`: runs that are played, and runs that are decided once more.

use beads_ralph_core::engine::{
    Backoff, Caps, Head, Integration, Leader, Order, Settings, Task, TaskState,
};
use beads_ralph_core::simulate::{Play, Source, WorldModel};
use serde_json::{Value, json};

use crate::env::{TestEnv, keys};
use crate::snapshot::snapshot;

/// All times fixed, nothing goes wrong.
const FIXED: [&str; 8] = [
    "--dev-minutes",
    "10",
    "--qa-minutes",
    "2",
    "--check-minutes",
    "0",
    "--fail-rate",
    "0",
];

fn simulate(env: &TestEnv, args: &[&str]) -> Value {
    let mut all = vec!["simulate", "--json", "--rounds", "20"];
    all.extend(args);
    env.run(&all).exits(0).data()
}

#[test]
fn a_plan_is_played_without_a_store_and_the_same_seed_gives_the_same_answer() {
    let env = TestEnv::with_demo();
    let data = simulate(&env, &["plan.md", "--workers", "2"]);
    assert_eq!(
        keys(&data),
        [
            "beads",
            "workers",
            "rounds",
            "seed",
            "learned_from",
            "makespan_minutes",
            "critical_path_minutes",
            "utilisation",
            "cost_usd",
            "attempts",
            "closed",
            "endings",
            "first_in_first_out",
            "critical_path",
            "recorded"
        ]
    );
    assert_eq!(
        (data["beads"].as_u64(), data["workers"].as_u64()),
        (Some(9), Some(2))
    );
    assert_eq!(data["recorded"], Value::Null);
    assert_eq!(data, simulate(&env, &["plan.md", "--workers", "2"]));
    let other = simulate(&env, &["plan.md", "--workers", "2", "--seed", "2"]);
    assert_ne!(data["makespan_minutes"], other["makespan_minutes"]);
    assert_eq!(env.names("."), ["plan.md"], "nothing is left behind");
}

#[test]
fn more_workers_are_faster_up_to_the_longest_chain() {
    let env = TestEnv::with_demo();
    let of = |workers: &str| {
        let mut args = vec!["plan.md", "--workers", workers];
        args.extend(FIXED);
        simulate(&env, &args)
    };
    let (one, many) = (of("1"), of("9"));
    let middle = |data: &Value, figure: &str| data[figure]["p50"].as_f64().unwrap();
    assert!(middle(&one, "makespan_minutes") > middle(&many, "makespan_minutes"));
    assert!(middle(&one, "makespan_minutes") > 9.0 * 12.0);
    assert!(middle(&many, "makespan_minutes") >= middle(&many, "critical_path_minutes"));
    let chain = many["critical_path"].as_array().unwrap();
    assert_eq!(
        keys(&chain[0]),
        ["bead", "sprint", "title", "minutes", "share"]
    );
    assert_eq!(chain[0]["sprint"], "1.1");
    assert_eq!(chain.last().unwrap()["sprint"], "3.2");
}

#[test]
fn people_get_tables() {
    let env = TestEnv::with_demo();
    let output = env
        .run(&["simulate", "plan.md", "--rounds", "5", "--quiet"])
        .exits(0);
    snapshot("simulate", &output.stdout);
    assert_eq!(output.stderr, "");
}

#[test]
fn a_sprint_filter_leaves_the_rest_as_done() {
    let env = TestEnv::with_demo();
    let data = simulate(&env, &["plan.md", "--sprint-filter", "3.1,3.2"]);
    assert_eq!(data["beads"], 2);
    assert_eq!(data["closed"]["p50"], 2.0);
}

#[test]
fn z_14_a_store_is_played_and_teaches_what_its_runs_took() {
    let env = TestEnv::with_demo();
    env.run(&["init", "--permissions", "sandbox"]).exits(0);
    // An estimate counts for more than what was learned (Z-41).
    let plan = String::from_utf8(env.read("plan.md")).unwrap();
    let lines = plan.lines().filter(|line| !line.contains("**Estimate**"));
    env.write("plan.md", lines.collect::<Vec<&str>>().join("\n") + "\n");
    env.run(&["plan", "apply", "plan.md"]).exits(0);
    let data = simulate(&env, &[]);
    assert_eq!(
        (&data["beads"], &data["learned_from"]),
        (&json!(9), &json!(0))
    );
    let beads = env.run(&["list", "--json"]).exits(0).data();
    let id = beads["beads"][0]["id"].as_str().unwrap();
    let executions = json!({"dev_agent_executions": [{
        "attempt": 1, "session_id": "s", "agent_path": ".claude/agents/a.md", "model": "sonnet",
        "started_at": "2026-01-01T00:00:00Z", "completed_at": "2026-01-01T01:40:00Z", "status": "completed",
        "feedback_from_qa": null,
    }]});
    env.run(&["update", id, "--metadata", &executions.to_string()])
        .exits(0);
    let learned = simulate(&env, &["--fail-rate", "0"]);
    assert_eq!(learned["learned_from"], 1);
    let middle = |data: &Value| data["makespan_minutes"]["p50"].as_f64().unwrap();
    assert!(middle(&learned) > 100.0 && middle(&learned) > middle(&data));
    let guessed = simulate(&env, &["--no-history", "--fail-rate", "0"]);
    assert_eq!(guessed["learned_from"], 0);
}

#[test]
fn bad_numbers_and_missing_stores_are_refused() {
    let env = TestEnv::with_demo();
    env.run(&["simulate", "plan.md", "--dev-minutes", "soon"])
        .exits(2);
    env.run(&["simulate", "plan.md", "--fail-rate", "2"])
        .exits(2);
    env.run(&["simulate", "plan.md", "--workers", "0"]).exits(2);
    env.run(&["simulate"]).exits(3);
    env.run(&["replay", "no-such-run"]).exits(3);
}

/// A world with a recorded run.
fn recorded() -> (TestEnv, Vec<String>) {
    let env = TestEnv::new();
    env.run(&["init", "--permissions", "sandbox"]).exits(0);
    let settings = Settings {
        selection: beads_ralph_core::engine::Selection::default(),
        run: "r-1".to_owned(),
        seed: 3,
        max_parallel: 2,
        poll_ms: 5000,
        max_tries: 5,
        max_limit_tries: 5,
        backoff: Backoff::Exponential,
        limit_backoff: Backoff::Exponential,
        max_pull_tries: 2,
        integration: Integration::None,
        leader: Leader::Native,
        order: Order::Urgency,
        caps: Caps::default(),
        cleans_up: false,
        watches: false,
        is_once: false,
    };
    let tasks: Vec<Task> = (1..=6).map(task).collect();
    let round = Play {
        settings: settings.clone(),
        tasks,
        model: &WorldModel::default(),
        source: Source::Drawn,
        seed: 3,
        began: jiff::Timestamp::UNIX_EPOCH,
    }
    .run();
    let head = Head::new(settings, "0.1.0", "mark", jiff::Timestamp::UNIX_EPOCH);
    let mut lines = vec![serde_json::to_string(&head).unwrap()];
    lines.extend(
        round
            .entries
            .iter()
            .map(|it| serde_json::to_string(it).unwrap()),
    );
    (env, lines)
}

fn task(n: u64) -> Task {
    let id = |n: u64| format!("bd-1-{n}").parse_id();
    Task {
        id: id(n),
        title: format!("Title {n}"),
        sprint: format!("1.{n}"),
        team: "t".to_owned(),
        priority: 1,
        weight: 1,
        branch: format!("feature/{n}"),
        worktree: format!("../{n}"),
        is_merge: false,
        standing: TaskState::Open,
        waits_for: if n > 2 { vec![id(n - 2)] } else { Vec::new() },
        is_put_off: false,
        is_gate: false,
        source: None,
        held_back: None,
        fault: None,
        developers: vec!["claude".to_owned()],
        judges: vec!["claude".to_owned()],
        leader: None,
        attempts: 0,
        max_attempts: 3,
        has_checks: true,
        spent: beads_ralph_core::engine::Spent::default(),
        sealed: None,
        feedback: None,
        base: None,
    }
}

trait ParseId {
    fn parse_id(&self) -> beads_ralph_core::bead::BeadId;
}

impl ParseId for String {
    fn parse_id(&self) -> beads_ralph_core::bead::BeadId {
        beads_ralph_core::bead::BeadId::parse(self).unwrap()
    }
}

#[test]
fn z_4_a_recorded_run_decides_the_same_again_and_can_be_told() {
    let (env, lines) = recorded();
    env.write(".beads/runs/r-1/journal.jsonl", lines.join("\n") + "\n");
    let data = env.run(&["replay", "r-1", "--json"]).exits(0).data();
    assert_eq!(data["is_identical"], true);
    assert_eq!(data["events"], lines.len() - 1);
    let output = env.run(&["replay", "r-1", "--show"]).exits(0);
    for part in [
        "bd-1-1 claim: priority 1",
        "1 of 2 running",
        "all decisions are the same",
    ] {
        assert!(output.stdout.contains(part), "{part}: {}", output.stdout);
    }
    let path = env.path(".beads/runs/r-1");
    env.run(&["replay", path.as_str()]).exits(0);
    env.run(&["replay", "latest"]).exits(0);
    let misspelt = env.run(&["replay", "r-2"]).exits(1);
    assert!(
        misspelt.stderr.contains("did you mean r-1"),
        "{}",
        misspelt.stderr
    );

    let data = simulate(&env, &["--from-run", "r-1"]);
    assert_eq!(data["recorded"]["is_identical"], true, "{data}");
    assert!(data["recorded"]["launches"].as_u64().unwrap() >= 18);
    let wider = simulate(&env, &["--from-run", "r-1", "--workers", "6"]);
    assert_eq!(wider["workers"], 6);
}

#[test]
fn z_4_a_journal_that_was_changed_is_told_where() {
    let (env, mut lines) = recorded();
    lines[1] = lines[1].replacen("\"bead\":\"bd-1-1\"", "\"bead\":\"bd-1-2\"", 1);
    env.write(".beads/runs/r-1/journal.jsonl", lines.join("\n") + "\n");
    let output = env.run(&["replay", "r-1"]).exits(1);
    assert!(
        output.stdout.contains("different from entry 1 on"),
        "{}",
        output.stdout
    );
    let error = env.run(&["replay", "r-1", "--json"]).exits(1).error();
    assert_eq!(error["results"]["first_difference"]["seq"], 1);
    lines[3] = "{".to_owned();
    env.write(".beads/runs/r-1/journal.jsonl", lines.join("\n") + "\n");
    let output = env.run(&["replay", "r-1"]).exits(1);
    assert!(output.stderr.contains("line 4 of "), "{}", output.stderr);
    lines[0] = lines[0].replacen("\"engine\":1", "\"engine\":999", 1);
    lines.truncate(2);
    env.write(".beads/runs/r-1/journal.jsonl", lines.join("\n") + "\n");
    let output = env.run(&["replay", "r-1"]).exits(1);
    assert!(output.stderr.contains("engine 999"), "{}", output.stderr);
}
