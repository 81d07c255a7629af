//! The whole loop on the database of the real `bd`: a plan of twelve sprints in all five patterns, two of which QA sends back once, and
//! two that do not fit together; the orchestrator is killed in the middle and started again.

use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt as _;

use serde_json::Value;

use crate::world::World;

/// Sequential, parallel, merged, tracks that part and meet: number, title, and what it comes after.
const SPRINTS: [(&str, &str, &[&str]); 12] = [
    ("1.1", "Foundation", &[]),
    ("1.2a", "Reader", &["1.1"]),
    ("1.2b", "Writer", &["1.1"]),
    ("1.3", "Integration", &["1.2a", "1.2b"]),
    ("2.1", "Commands", &["1.3"]),
    ("3a.1", "Server", &["2.1"]),
    ("3a.2a", "Cache", &["3a.1"]),
    ("3a.2b", "Log", &["3a.1"]),
    ("3b.1", "Client", &["2.1"]),
    ("3b.2", "Retries", &["3b.1"]),
    ("4.1", "Both", &["3a.2a", "3a.2b", "3b.2"]),
    ("4.2", "Manual", &["4.1"]),
];

/// The sprints that QA sends back once.
const SENT_BACK: [&str; 2] = ["1.2b", "3a.1"];

/// The sprints that touch the same line of one file.
const CLASHING: [&str; 2] = ["1.2a", "1.2b"];

const CONFIG: &str = r#"permissions: bypass
disk: {check_before_start: false}
ralph: {poll_interval: 200ms}
agents:
  default: scripted
  adapters:
    scripted: {options: ["--scenario", "scenario.yaml"]}
"#;

fn plan() -> String {
    let mut plan = "# Plan: twelve sprints\n\n".to_owned();
    for (number, title, after) in SPRINTS {
        let slug = format!("{number}-{title}").to_lowercase().replace('.', "-");
        let after: Vec<String> = after
            .iter()
            .map(|sprint| format!("Sprint {sprint}"))
            .collect();
        let after = if after.is_empty() {
            "none".to_owned()
        } else {
            after.join(", ")
        };
        _ = write!(
            plan,
            "### Sprint {number}: {title}\n\n\
             **Worktree**: `../worktrees/{slug}`\n**Branch**: `feature/{slug}`\n**Source Branch**: `main`\n\
             **Dependencies**: {after}\n\n\
             **Dev Agents**:\n- `claude` (sonnet) - {title}\n\n\
             **QA Agents**:\n- `claude` (haiku) - look at {title}\n\n\
             **Tasks**:\n- Write sprints/{number}.txt\n\n\
             **Verifiers**:\n- there: `test -f sprints/{number}.txt`\n\n"
        );
    }
    plan
}

/// A session that runs a command and says that it is done.
fn acts(command: &str) -> String {
    format!("run: {command:?}\n        - say: done")
}

fn scenario() -> String {
    let mut text = "rules:\n".to_owned();
    let mut rule = |contains: &str, sessions: &[String]| {
        _ = write!(text, "  - contains: [{contains:?}]\n    sessions:\n");
        for session in sessions {
            _ = write!(text, "      - - {session}\n");
        }
    };
    let both = "printf 'a\\nb\\n' >index.txt && git add --all && git commit --quiet --no-edit";
    rule("A merge with conflicts", &[acts(both)]);
    let verdict = |status: &str| format!("report: {{status: {status}, message: \"so it is\"}}");
    for (number, title, _) in SPRINTS {
        let judgement = format!("# QA: {title}");
        if SENT_BACK.contains(&number) {
            rule(&judgement, &[verdict("fail"), verdict("pass")]);
        } else {
            rule(&judgement, &[verdict("pass")]);
        }
        let clash = if CLASHING.contains(&number) {
            format!(" && echo {number} >index.txt")
        } else {
            String::new()
        };
        let work = format!(
            "mkdir -p sprints && echo {number} >>sprints/{number}.txt{clash} && git add --all && git commit --quiet --message {number}"
        );
        rule(&format!("Sprint: {number}\n"), &[acts(&work)]);
    }
    text
}

fn ground() -> World {
    let world = World::new();
    world.write("plan.md", &plan());
    world.write("scenario.yaml", &scenario());
    world.write("beads-ralph.yaml", CONFIG);
    world.ralph(&["init"]);
    world.git(&["add", "--all"]);
    world.git(&["commit", "--quiet", "--message=plan"]);
    world
}

/// What the real program says about a bead.
fn shown(world: &World, id: &str) -> Value {
    let printed: Value = serde_json::from_str(&world.bd(&["show", id, "--json"])).unwrap();
    printed[0].clone()
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn z_3_a_plan_of_twelve_sprints_is_killed_and_runs_to_the_end_on_the_real_bd() {
    let world = ground();
    let killed = world
        .command(
            env!("CARGO_BIN_EXE_beads-ralph"),
            &["run", "plan.md", "--integration=merge"],
        )
        .env("BEADS_RALPH_DIE_AT", "60")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&killed.stderr);
    assert_eq!(killed.status.signal(), Some(9), "{said}");
    world.ralph(&["run", "plan.md", "--integration=merge"]);

    let beads: Vec<Value> =
        serde_json::from_str(&world.bd(&["list", "--all", "--limit=0", "--json"])).unwrap();
    assert_eq!(beads.len(), SPRINTS.len());
    for bead in &beads {
        assert_eq!(bead["status"], "closed", "{bead:#}");
        let shown = shown(&world, bead["id"].as_str().unwrap());
        let metadata = &shown["metadata"];
        let number = metadata["sprint"].as_str().unwrap();
        let n_attempts = metadata["dev_agent_executions"].as_array().unwrap().len();
        let n_expected = if SENT_BACK.contains(&number) { 2 } else { 1 };
        assert!(n_attempts >= n_expected, "{number}: {metadata:#}");
        assert!(
            metadata["qa_agent_executions"]
                .as_array()
                .is_some_and(|all| !all.is_empty())
        );
        assert!(metadata["verified_commit"].is_string(), "{metadata:#}");
    }
    let merged = world.git(&["ls-tree", "-r", "--name-only", "ralph/plan"]);
    for (number, _, _) in SPRINTS {
        assert!(
            merged.contains(&format!("sprints/{number}.txt")),
            "{merged}"
        );
    }
    assert_eq!(world.bd(&["ready", "--json"]).trim(), "[]");
}
