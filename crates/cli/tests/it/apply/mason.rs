//! The seeds' own spelling, `beads-mason --plan-file … --sprint-filter …`, and seed 001's examples.

use camino::Utf8PathBuf;
use serde_json::{Value, json};

use super::{events, export, plan, unapplied, unfenced, waits_for};
use crate::env::{Output, TestEnv, keys, strings};
use crate::store::{data, ids, shown};

pub(super) const PLAN: &str = "pm/2026-02-08-implementation-plan.md";

/// Example 1's section, word for word.
const EXAMPLE_1: &str = "\
### Sprint 1.1: Core Schema Validation Script

**Worktree**: `../beads-ralph-worktrees/feature/1-1-schema-validator`
**Branch**: `feature/1-1-schema-validator`
**Source Branch**: `develop`

**Dev Agents**:
- `python-backend-dev` (sonnet)

**QA Agents**:
- `qa-python-tests` (haiku) - Run pytest with >90% coverage

**Tasks**:
- Create scripts/bead_schema.py with pydantic models
- Create scripts/validate-bead-schema.py CLI tool
- Create comprehensive test suite

";

/// Runs the program under the seeds' name, by way of a link.
pub(super) fn mason(env: &TestEnv, args: &[&str]) -> Output {
    let link = link(env);
    env.tool(link.as_str(), args).run()
}

#[cfg(unix)]
fn link(env: &TestEnv) -> Utf8PathBuf {
    let link = env.path("../home/beads-mason");
    if !link.exists() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_beads-ralph"), &link).unwrap();
    }
    link
}

#[cfg(not(unix))]
fn link(env: &TestEnv) -> Utf8PathBuf {
    let link = env.path("../home/beads-mason.exe");
    if !link.exists() {
        std::fs::copy(env!("CARGO_BIN_EXE_beads-ralph"), &link).unwrap();
    }
    link
}

#[track_caller]
fn inserted(env: &TestEnv, filter: &str) -> Value {
    let output = mason(env, &["--plan-file", PLAN, "--sprint-filter", filter]).exits(0);
    let mut answer = unfenced(&output);
    assert_eq!(answer["success"], true);
    assert_eq!(answer["error"], Value::Null);
    answer["data"].take()
}

/// The code of a refusal; a refusal leaves the store alone.
#[track_caller]
pub(super) fn refused(env: &TestEnv, args: &[&str], exit_code: i32) -> Value {
    let before = export(env);
    let mut answer = unfenced(&mason(env, args).exits(exit_code));
    assert_eq!(
        (&answer["success"], &answer["data"]),
        (&json!(false), &Value::Null)
    );
    assert_eq!(export(env), before);
    answer["error"].take()
}

/// The seed's plan: example 1 and the three sprints of example 2.
pub(super) fn seed() -> TestEnv {
    let env = unapplied("");
    let rest = [
        ("1.2a", "Example Work Bead (Parallel)"),
        ("1.2b", "Example Merge Bead (Parallel)"),
        ("1.3", "Integration & Documentation"),
    ];
    env.write(PLAN, format!("{EXAMPLE_1}{}", plan(&rest)));
    env
}

#[test]
fn s_1_example_1_a_sequential_sprint() {
    let env = seed();
    let answer = inserted(&env, "1.1");
    let expected = json!({
        "mode": "direct",
        "beads_created": 1,
        "bead_ids": ["bd-1-1-core-schema-validation-script"],
        "sprints_processed": ["1.1"],
        "database_status": "inserted",
        "plan_annotated": false,
        "plan_file_updated": false,
    });
    for key in keys(&expected) {
        assert_eq!(answer[key], expected[key], "{key}");
    }
    let bead = shown(&env, "bd-1-1-core-schema-validation-script");
    let expected = json!({
        "title": "Core Schema Validation Script",
        "description": "Create scripts/bead_schema.py with pydantic models. Create scripts/validate-bead-schema.py CLI tool. Create comprehensive test suite.",
        "status": "open",
        "priority": 1,
        "issue_type": "beads-ralph-work",
        "assignee": "beads-ralph-scrum-master",
        "owner": null,
        "dependencies": [],
        "labels": ["phase-01", "sprint-1-1"],
        "comments": [],
        "external_ref": null,
        "closed_at": null,
    });
    for key in keys(&expected) {
        assert_eq!(bead[key], expected[key], "{key}");
    }
    let expected = json!({
        "rig": "beads-ralph",
        "worktree_path": "../beads-ralph-worktrees/feature/1-1-schema-validator",
        "branch": "feature/1-1-schema-validator",
        "source_branch": "develop",
        "phase": "1",
        "sprint": "1.1",
        "plan_file": PLAN,
        "plan_section": "### Sprint 1.1: Core Schema Validation Script",
        "plan_sprint_id": "1.1",
        "branches_to_merge": null,
        "dev_agent_path": ".claude/agents/python-backend-dev",
        "dev_model": "sonnet",
        "dev_prompts": [
            "Create scripts/bead_schema.py with pydantic models",
            "Create scripts/validate-bead-schema.py CLI tool",
            "Create comprehensive test suite",
        ],
        "max_retry_attempts": 3,
        "attempt_count": 0,
        "scrum_master_session_id": null,
        "dev_agent_session_id": null,
        "dev_agent_executions": [],
        "qa_agent_executions": [],
        "pr_url": null,
        "pr_number": null,
        "scrum_result": null,
    });
    for key in keys(&expected) {
        assert_eq!(bead["metadata"][key], expected[key], "{key}");
    }
    let qa = &bead["metadata"]["qa_agents"][0];
    assert_eq!(qa["agent_path"], ".claude/agents/qa-python-tests");
    assert_eq!(
        (&qa["model"], &qa["prompt"]),
        (&json!("haiku"), &json!("Run pytest with >90% coverage"))
    );
    assert_eq!(
        qa["output_schema"]["required"],
        json!(["status", "message"])
    );
}

#[test]
fn s_1_example_2_parallel_sprints_with_a_merge() {
    let env = seed();
    inserted(&env, "1.1");
    let answer = inserted(&env, "1.2a,1.2b,1.3");
    let made = [
        "bd-1-2a-example-work-bead-parallel",
        "bd-1-2b-example-merge-bead-parallel",
        "bd-1-3-integration-documentation",
    ];
    assert_eq!(answer["beads_created"], 3);
    assert_eq!(strings(&answer["bead_ids"]), made);
    assert_eq!(
        strings(&answer["sprints_processed"]),
        ["1.2a", "1.2b", "1.3"]
    );
    assert_eq!(
        strings(&answer["external_dependencies"]),
        ["bd-1-1-core-schema-validation-script"]
    );
    assert_eq!(answer["database_status"], "inserted");
    assert_eq!(
        waits_for(&env, made[0]),
        ["bd-1-1-core-schema-validation-script"]
    );
    assert_eq!(
        waits_for(&env, made[1]),
        ["bd-1-1-core-schema-validation-script"]
    );
    assert_eq!(waits_for(&env, made[2]), made[..2]);
    let listed = data(
        &env,
        &["list", "--label-any", "sprint-1-2a,sprint-1-2b,sprint-1-3"],
    );
    assert_eq!(ids(&listed).len(), 3);
}

#[test]
fn e_12_the_seeds_spelling_inserts_only() {
    let env = seed();
    inserted(&env, "1.1");
    let log = events(&env);
    let found = refused(&env, &["--plan-file", PLAN], 1);
    assert_eq!(found["code"], "DEPENDENCY.DUPLICATE_ID");
    assert!(
        found["message"].as_str().unwrap().contains("duplicate key"),
        "{found}"
    );
    assert!(
        found["suggested_action"]
            .as_str()
            .unwrap()
            .contains("--check-existing"),
        "{found}"
    );
    assert_eq!(events(&env), log);
    env.write(
        PLAN,
        env.text(PLAN)
            .replace("- Create comprehensive test suite", "- Test it"),
    );
    let output = mason(&env, &["--plan-file", PLAN, "--check-existing"]).exits(0);
    let answer = &unfenced(&output)["data"];
    assert_eq!(answer["beads_created"], 3);
    assert_eq!(
        strings(&answer["skipped_existing"]),
        ["bd-1-1-core-schema-validation-script"]
    );
    let bead = shown(&env, "bd-1-1-core-schema-validation-script");
    assert_eq!(bead["version"], 1, "what is there is left alone");
    let output = mason(
        &env,
        &["--plan-file", PLAN, "--check-existing", "--annotate-plan"],
    )
    .exits(0);
    let answer = &unfenced(&output)["data"];
    assert_eq!(answer["beads_created"], 0);
    assert_eq!(strings(&answer["skipped_existing"]).len(), 4);
    assert_eq!(
        (&answer["plan_annotated"], &answer["plan_file_updated"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(env.text(PLAN).matches("<!-- beads-ralph: bd-").count(), 4);
}

#[test]
fn e_1_the_first_word_and_the_name_are_the_same() {
    let env = seed();
    let args = ["--plan-file", PLAN, "--dry-run"];
    let by_name = mason(&env, &args).exits(0);
    let by_word = env.run(&[&["beads-mason"], &args[..]].concat()).exits(0);
    assert_eq!(by_name.stdout, by_word.stdout);
    assert_eq!(by_name.stderr, "");
    for output in [mason(&env, &["--no-such"]), env.run(&["beads-mason"])] {
        let answer = unfenced(&output.exits(2));
        assert_eq!(answer["error"]["code"], "VALIDATION.CONSTRAINT");
        assert_eq!(
            answer["error"]["suggested_action"],
            "see `beads-mason --help`"
        );
    }
    assert!(
        mason(&env, &["--help"])
            .exits(0)
            .stdout
            .contains("--plan-file <PLAN>")
    );
    assert!(
        mason(&env, &["--version"])
            .exits(0)
            .stdout
            .starts_with("beads-mason ")
    );
    let missing = refused(&env, &["--plan-file", "absent.md"], 3);
    assert_eq!(missing["code"], "IO.FILE_NOT_FOUND");
}
