//! The worked examples of the contracts, from plan to bead.

use serde_json::{Value, json};

use super::{compiled, compiled_with, settings};
use crate::bead::{BeadId, BeadShape, IssueType, RalphBead};
use crate::compile::{AgentCatalog, MergeDetection};
use crate::plan::{complete_plan, sprint};

const EXAMPLE: &str = "### Sprint 1.1: Core Schema Validation Script\n\n\
### Sprint 1.2a: Example Work Bead\n\n\
**Worktree**: `../br-worktrees/feature/1-2a-work`\n**Branch**: `feature/1-2a-work`\n**Source Branch**: `develop`\n\n\
**Dev Agents**:\n- `python-backend-dev` (sonnet)\n\n\
**QA Agents**:\n- `qa-schema-validator` (haiku) - Validate against schema\n\n\
**Tasks**:\n- Create `examples/w.json`\n";

fn beads(text: &str, filter: &str) -> Vec<RalphBead> {
    compiled(text, filter).unwrap().beads
}

fn document(text: &str, filter: &str, shape: BeadShape) -> Value {
    beads(text, filter)[0].to_document(shape)
}

#[test]
fn b_3_the_worked_example_of_3_10_as_the_superset() {
    let bead = document(EXAMPLE, "1.2a", BeadShape::Both);
    assert_eq!(bead["id"], "bd-1-2a-example-work-bead");
    assert_eq!(
        bead["dependencies"],
        json!(["bd-1-1-core-schema-validation-script"])
    );
    assert_eq!(bead["labels"], json!(["phase-01", "sprint-1-2a"]));
    assert_eq!(bead["description"], "Create examples/w.json.");
    assert_eq!(bead["priority"], 1);
    assert_eq!(bead["status"], "open");
    assert_eq!(bead["assignee"], "beads-ralph-scrum-master");
    assert_eq!(bead["created_at"], bead["updated_at"]);
    let metadata = &bead["metadata"];
    assert_eq!(metadata["phase"], "1");
    assert_eq!(metadata["sprint"], "1.2a");
    assert_eq!(
        metadata["plan_section"],
        "### Sprint 1.2a: Example Work Bead"
    );
    assert_eq!(metadata["team_name"], "sprint-1-2a-example-work-bead");
    assert_eq!(
        metadata["dev_agent_path"],
        ".claude/agents/python-backend-dev"
    );
    assert_eq!(metadata["dev_model"], "sonnet");
    let dev = json!({"role": "polecat", "agent": ".claude/agents/python-backend-dev.md", "model": "sonnet", "context": "Example Work Bead"});
    assert_eq!(metadata["dev_agents"], json!([dev]));
    let qa = &metadata["qa_agents"][0];
    assert_eq!(qa["agent_path"], ".claude/agents/qa-schema-validator");
    assert_eq!(qa["agent"], ".claude/agents/qa-schema-validator.md");
    assert_eq!(qa["model"], "haiku");
    assert_eq!(
        (&qa["prompt"], &qa["context"]),
        (
            &json!("Validate against schema"),
            &json!("Validate against schema")
        )
    );
    assert_eq!(
        qa["output_schema"]["required"],
        json!(["status", "message"])
    );
    assert_eq!(metadata["branches_to_merge"], Value::Null);
    assert_eq!(
        (&metadata["max_retry_attempts"], &metadata["attempt_count"]),
        (&json!(3), &json!(0))
    );
}

#[test]
fn b_3_each_generation_alone() {
    let v1 = document(EXAMPLE, "1.2a", BeadShape::V1);
    assert!(
        v1["metadata"].get("dev_agents").is_none() && v1["metadata"].get("team_name").is_none()
    );
    let v2 = document(EXAMPLE, "1.2a", BeadShape::V2);
    assert!(
        v2["metadata"].get("dev_agent_path").is_none()
            && v2["metadata"].get("scrum_master_agent").is_some()
    );
}

#[test]
fn b_14_the_scrum_master_takes_the_configured_model() {
    let agents = AgentCatalog {
        default_model: Some("opus".to_owned()),
        ..AgentCatalog::default()
    };
    let bead = &compiled_with(EXAMPLE, "1.2a", &settings(&agents))
        .unwrap()
        .beads[0];
    let document = bead.to_document(BeadShape::V2);
    assert_eq!(
        document["metadata"]["scrum_master_agent"],
        json!({"role": "polecat", "agent": ".claude/agents/beads-ralph-scrum-master.md", "model": "opus", "context": "Sprint 1.2a - Example Work Bead"})
    );
}

#[test]
fn t_34_d_7_a_filter_keeps_external_dependencies() {
    let ids = ["1.1", "1.2a", "1.2b", "1.3", "2.1"];
    let text: String = ids.iter().map(|id| sprint(id, "Work")).collect();
    let compiled = compiled(&text, "1.2a, 1.2b ,1.3").unwrap();
    let order: Vec<&str> = compiled
        .beads
        .iter()
        .map(|bead| bead.metadata.sprint.as_str())
        .collect();
    assert_eq!(order, ["1.2a", "1.2b", "1.3"]);
    for bead in &compiled.beads[..2] {
        assert_eq!(
            bead.dependencies
                .iter()
                .map(BeadId::as_str)
                .collect::<Vec<_>>(),
            ["bd-1-1-work"]
        );
    }
    assert_eq!(
        compiled
            .external
            .iter()
            .map(BeadId::as_str)
            .collect::<Vec<_>>(),
        ["bd-1-1-work"]
    );
}

#[test]
fn p_23_unselected_sprints_need_only_a_heading() {
    assert_eq!(beads(EXAMPLE, "1.2a").len(), 1);
    assert!(compiled(EXAMPLE, "").is_err());
}

#[test]
fn d_8_emission_order_is_topological() {
    let text: String = ["1.1", "1.2a", "1.2ab", "1.2b", "1.3"]
        .iter()
        .map(|id| sprint(id, "Work"))
        .collect();
    let order: Vec<String> = beads(&text, "")
        .iter()
        .map(|bead| bead.metadata.sprint.to_string())
        .collect();
    assert_eq!(order, ["1.1", "1.2a", "1.2b", "1.2ab", "1.3"]);
}

fn three(title: &str, last: &str) -> String {
    sprint("1.1", "Start")
        + &sprint("1.2a", "A")
        + &sprint("1.2b", "B")
        + &sprint("1.3", title)
        + last
}

fn kind_of_last(text: &str, detection: MergeDetection) -> (IssueType, Option<Vec<String>>) {
    let catalog = AgentCatalog::default();
    let settings = super::CompileSettings {
        merge_detection: detection,
        ..settings(&catalog)
    };
    let last = compiled_with(text, "", &settings)
        .unwrap()
        .beads
        .pop()
        .unwrap();
    (last.issue_type, last.metadata.branches_to_merge)
}

#[test]
fn b_30_b_31_merge_beads() {
    let branches = Some(vec!["feature/1-2a".to_owned(), "feature/1-2b".to_owned()]);
    let both = MergeDetection::Both;
    assert_eq!(
        kind_of_last(&three("Integration & Docs", ""), both),
        (IssueType::Merge, branches.clone())
    );
    assert_eq!(
        kind_of_last(&three("Docs", ""), both),
        (IssueType::Work, None)
    );
    assert_eq!(
        kind_of_last(&three("Docs", "\n**Type**: merge\n"), both),
        (IssueType::Merge, branches.clone())
    );
    assert_eq!(
        kind_of_last(&three("Merge", "\n**Type**: work\n"), both),
        (IssueType::Work, None)
    );
    assert_eq!(
        kind_of_last(&three("Docs", ""), MergeDetection::Structure),
        (IssueType::Merge, branches)
    );
    let lone = sprint("1.1", "Start") + &sprint("1.2", "Example Merge Bead");
    assert_eq!(kind_of_last(&lone, both), (IssueType::Work, None));
    assert_eq!(
        kind_of_last(&lone, MergeDetection::Title).0,
        IssueType::Merge
    );
}

#[test]
fn p_14_completed_sprints_are_left_out_on_request() {
    let text = sprint("1.1", "Done") + "**Status**: COMPLETED\n" + &sprint("1.2", "Open");
    assert_eq!(beads(&text, "").len(), 2);
    let catalog = AgentCatalog::default();
    let settings = super::CompileSettings {
        skip_completed: true,
        ..settings(&catalog)
    };
    let compiled = compiled_with(&text, "", &settings).unwrap();
    assert_eq!(compiled.beads.len(), 1);
    assert_eq!(compiled.external.len(), 1);
}

#[test]
fn v_1_verifiers_become_the_definition_of_done() {
    let text = complete_plan("")
        + "\n**Verifiers**:\n- unit: `cargo test`\n  - timeout: 90s\n  - exit: 2\n  - on failure: continue\n- `make`\n\n**Acceptance Criteria**:\n- green\n";
    let bead = document(&text, "", BeadShape::Both);
    assert_eq!(
        bead["metadata"]["dod"]["verifiers"],
        json!([
            {"name": "unit", "command": "cargo test", "expect": {"exit_code": 2}, "timeout_seconds": 90, "on_failure": "continue"},
            {"name": "verifier 2", "command": "make", "expect": {"exit_code": 0}, "timeout_seconds": 300, "on_failure": "stop"},
        ])
    );
    assert_eq!(bead["metadata"]["acceptance_criteria"], json!(["green"]));
}

#[test]
fn z_30_an_adapter_goes_into_the_agent_spec() {
    let text = complete_plan("").replace("(sonnet)", "(opus, codex)");
    let bead = document(&text, "", BeadShape::Both);
    assert_eq!(bead["metadata"]["dev_agents"][0]["adapter"], "codex");
    assert_eq!(bead["metadata"]["dev_model"], "opus");
}

#[test]
fn b_12_the_description_of_seed_001() {
    let tasks = "- Create `scripts/bead_schema.py` with pydantic models\n- Create `scripts/validate-bead-schema.py` CLI tool\n- Create comprehensive test suite\n";
    let text = complete_plan("").replace("- do it\n", tasks);
    assert_eq!(
        document(&text, "", BeadShape::Both)["description"],
        "Create scripts/bead_schema.py with pydantic models. Create scripts/validate-bead-schema.py CLI tool. Create comprehensive test suite."
    );
}

#[test]
fn p_21_a_qa_agent_without_a_text_gets_the_default() {
    let bead = document(
        &complete_plan("").replace(" - judge it", ""),
        "",
        BeadShape::Both,
    );
    assert_eq!(
        bead["metadata"]["qa_agents"][0]["prompt"],
        "Validate sprint 1.1: Complete"
    );
}
