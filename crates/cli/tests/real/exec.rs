//! `exec` with the real agents: the loop, and everything that can go wrong in it.

use beads_ralph_testkit::scripted_model::Login;
use serde_json::{Value, json};

use crate::world::{Ended, RealWorld};

/// Which real agent works.
#[derive(Debug, Clone, Copy)]
enum Agent {
    Claude,
    Codex,
}

impl Agent {
    fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

/// Attempt 1 makes a wrong commit, attempt 2 is told and makes the right one.
const TWO_ATTEMPTS: &str = "rules:
  - name: told
    contains: ['Exit code 1 (expected 0)']
    sessions:
      - - run: echo right >answer && git add answer && git commit -qm 'mend the answer'
        - say: It is mended.
  - name: first
    contains: ['Write the answer']
    sessions:
      - - run: echo wrong >answer && git add answer && git commit -qm 'an answer'
        - say: All done!
";

/// A scenario in which the first session of the first attempt goes wrong in some way, and the next one is right.
fn first_goes_wrong(turn: &str) -> String {
    format!(
        "rules:
  - contains: ['Write the answer']
    sessions:
      - - {turn}
      - - run: echo right >answer && git add answer && git commit -qm 'the answer'
        - say: Done.
"
    )
}

/// Works on the bead with a real agent.
#[track_caller]
fn exec(world: &RealWorld, agent: Agent, extra: &Value, args: &[&str]) -> Ended {
    exec_with(world, agent, Login::Key, extra, args)
}

#[track_caller]
fn exec_with(world: &RealWorld, agent: Agent, login: Login, extra: &Value, args: &[&str]) -> Ended {
    let mut bead = json!({
        "id": "answer", "intent": "Write the answer into the file answer, and commit it.",
        "dod": {"verifiers": [{"name": "is right", "command": "grep -qx right answer"}]},
        "constraints": {"max_iterations": 3}, "ralph_meta": {"retry_backoff_seconds": 0},
    });
    let mut adapter = world.adapter(agent.name(), login);
    let mut config = json!({"permissions": "bypass", "agents": {"default": agent.name()}});
    for (key, value) in extra.as_object().unwrap() {
        if key == "adapter" {
            for (key, value) in value.as_object().unwrap() {
                adapter[key] = value.clone();
            }
        } else if key == "deadline" {
            bead["constraints"]["deadline"] = value.clone();
        } else {
            config[key] = value.clone();
        }
    }
    world.write(".ralph/beads/answer.json", &bead.to_string());
    config["agents"]["adapters"] = json!({agent.name(): adapter});
    // Every JSON document is a YAML document.
    world.write("beads-ralph.yaml", &config.to_string());
    let args = [&["exec", "answer", "--json"], args].concat();
    world.beads_ralph(&args).run()
}

#[track_caller]
fn completed(ended: &Ended, iterations: u64) -> Value {
    let envelope: Value =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
    let is_completed = envelope["success"] == true;
    assert!(is_completed, "{envelope:#}");
    assert_eq!(envelope["data"]["iterations"], iterations, "{envelope:#}");
    envelope["data"].clone()
}

/// How one of the agent's calls ended.
#[track_caller]
fn outcome(world: &RealWorld, attempt: u32) -> Value {
    let name = format!("attempt-{attempt}/agent/outcome.json");
    let ended = world.beads_ralph(&["logs", "answer", &name]).run();
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"))
}

#[track_caller]
fn feedback_is_heard(agent: Agent) {
    let world = RealWorld::new(TWO_ATTEMPTS);
    let data = completed(&exec(&world, agent, &json!({}), &[]), 2);
    assert_eq!(world.text("answer"), "right\n");
    assert_eq!(
        world.git(&["log", "-2", "--format=%s"]),
        "mend the answer\nan answer"
    );
    let asked = world.model().asked();
    let prompts: Vec<&str> = asked.iter().map(|asked| asked.prompt.as_str()).collect();
    let is_told = |prompt: &&&str| prompt.contains("- is right: Exit code 1 (expected 0)");
    assert!(
        prompts.first().is_some_and(|prompt| !is_told(&prompt)),
        "{prompts:?}"
    );
    assert!(prompts.iter().any(|prompt| is_told(&prompt)), "{prompts:?}");
    assert_eq!(data["receipt"]["agent_calls"], 2);
    assert!(
        data["receipt"]["tokens"]["input"].as_u64().unwrap() > 0,
        "{data:#}"
    );
    let first = outcome(&world, 1);
    assert_eq!(first["status"], "ok", "{first:#}");
    assert!(
        first["session"].as_str().is_some_and(|id| id.len() == 36),
        "{first:#}"
    );
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn claude_is_told_what_failed_and_mends_it() {
    feedback_is_heard(Agent::Claude);
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn codex_is_told_what_failed_and_mends_it() {
    feedback_is_heard(Agent::Codex);
}

/// Runs a bead whose first call ends in some way, and whose second one is right.
#[track_caller]
fn goes_on_after(agent: Agent, turn: &str, extra: &Value, status: &str) -> Value {
    let world = RealWorld::new(&first_goes_wrong(turn));
    completed(&exec(&world, agent, extra, &[]), 2);
    let first = outcome(&world, 1);
    assert_eq!(first["status"], status, "{first:#}");
    first
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn claude_that_hangs_is_stopped_for_being_idle() {
    let first = goes_on_after(
        Agent::Claude,
        "hang: forever",
        &json!({"adapter": {"idle_timeout": "3s"}}),
        "timeout",
    );
    assert!(
        first["reason"].as_str().unwrap().contains("silent"),
        "{first:#}"
    );
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn codex_that_hangs_is_stopped_for_being_idle() {
    goes_on_after(
        Agent::Codex,
        "hang: forever",
        &json!({"adapter": {"idle_timeout": "3s"}}),
        "timeout",
    );
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn claude_whose_connection_is_cut_has_failed() {
    goes_on_after(
        Agent::Claude,
        "cut: midway\n          times: 3",
        &json!({}),
        "failed",
    );
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn codex_whose_connection_is_cut_has_failed() {
    goes_on_after(
        Agent::Codex,
        "cut: midway\n          times: 3",
        &json!({}),
        "failed",
    );
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn claude_at_the_limit_of_a_plan_waits_until_it_is_over() {
    let resets_at = now() + 4;
    let scenario = first_goes_wrong(&format!("fail: {{status: 429, resets_at: {resets_at}}}"));
    let world = RealWorld::new(&scenario);
    let ended = exec_with(&world, Agent::Claude, Login::Plan, &json!({}), &[]);
    // The attempt that met the limit is not counted (Z-13).
    let data = completed(&ended, 1);
    assert_eq!(data["receipt"]["agent_calls"], 2, "{data:#}");
    assert!(now() >= resets_at);
}

/// A limit without an end is waited for, and not at all where there is no time for it.
#[track_caller]
fn limit_without_end(agent: Agent) {
    let world = RealWorld::new(&first_goes_wrong("fail: {status: 429}\n          times: 9"));
    let deadline = jiff::Timestamp::from_second(now() + 50).unwrap();
    let ended = exec(
        &world,
        agent,
        &json!({"deadline": deadline.to_string()}),
        &[],
    );
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let first = outcome(&world, 1);
    assert_eq!(
        (&first["status"], &first["resets_at"]),
        (&json!("limit"), &json!(null)),
        "{first:#}"
    );
    let bead: Value = serde_json::from_str(&world.text(".ralph/beads/answer.json")).unwrap();
    assert_eq!(bead["ralph_meta"]["attempt_count"], 1);
    assert_eq!(bead["ralph_meta"]["failure_reason"], "Deadline passed");
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn claude_with_429_is_at_its_limit() {
    limit_without_end(Agent::Claude);
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn codex_with_429_is_at_its_limit() {
    limit_without_end(Agent::Codex);
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn claude_stops_at_the_budget_of_an_attempt() {
    let turn = "run: 'true'
          usage: {input: 1000000, output: 100000}
        - say: Done.";
    let first = goes_on_after(
        Agent::Claude,
        turn,
        &json!({"budgets": {"attempt": {"usd": 0.5}}}),
        "failed",
    );
    let reason = first["reason"].as_str().unwrap().to_lowercase();
    assert!(reason.contains("budget"), "{first:#}");
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn codex_stops_at_the_budget_of_a_bead() {
    let world = RealWorld::new(&TWO_ATTEMPTS.replace(
        "say: All done!",
        "say: All done!\n          usage: {input: 5000, output: 5000}",
    ));
    let ended = exec(
        &world,
        Agent::Codex,
        &json!({"budgets": {"bead": {"tokens": 4000}}}),
        &[],
    );
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stdout.contains("Budget exceeded: "), "{ended:?}");
    let envelope: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(envelope["error"]["results"]["receipt"]["agent_calls"], 1);
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn claude_that_does_not_know_its_agent_ends_the_work_at_once() {
    let world = RealWorld::new(TWO_ATTEMPTS);
    let call = json!([[
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        "--agent",
        "nobody"
    ]]);
    let ended = exec(
        &world,
        Agent::Claude,
        &json!({"adapter": {"call": call}}),
        &[],
    );
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let first = outcome(&world, 1);
    assert_eq!(first["status"], "config", "{first:#}");
    assert!(ended.stdout.contains("nobody"), "{ended:?}");
    assert_eq!(world.model().asked().len(), 0);
}

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn codex_that_does_not_know_its_options_ends_the_work_at_once() {
    let world = RealWorld::new(TWO_ATTEMPTS);
    let ended = exec(
        &world,
        Agent::Codex,
        &json!({}),
        &["--", "--no-such-option"],
    );
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert_eq!(outcome(&world, 1)["status"], "config");
    assert_eq!(world.model().asked().len(), 0);
}

#[test]
#[ignore = "needs the real claude and codex: scripts/real-tools claude codex"]
fn the_doctor_knows_the_real_agents() {
    let world = RealWorld::new(TWO_ATTEMPTS);
    for agent in [Agent::Claude, Agent::Codex] {
        let adapter = world.adapter(agent.name(), Login::Key);
        let config = json!({"permissions": "bypass", "agents": {"default": agent.name(), "adapters": {agent.name(): adapter}}});
        world.write("beads-ralph.yaml", &config.to_string());
        let ended = world.beads_ralph(&["doctor", "agents", "--json"]).run();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        assert!(ended.stdout.contains(agent.name()), "{ended:?}");
    }
}

fn now() -> i64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "limits are about the clock on the wall"
    )]
    let now = jiff::Timestamp::now();
    now.as_second()
}
