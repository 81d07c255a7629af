//! `plan graph`: pictures and JSON of what waits for what.

use serde_json::json;

use crate::env::{DEMO_SPRINTS, TestEnv, golden, keys, strings};
use crate::snapshot::snapshot;

#[test]
fn the_pictures_of_the_demo_plan_are_as_they_were() {
    let env = TestEnv::with_demo();
    for (format, file) in [
        ("mermaid", "demo-graph.mmd"),
        ("dot", "demo-graph.dot"),
        ("json", "demo-graph.json"),
    ] {
        let output = env
            .run(&["plan", "graph", "--format", format, "plan.md"])
            .exits(0);
        golden(file, &output.stdout);
        assert_eq!(output.stderr, "");
    }
    let text = env.run(&["plan", "graph", "plan.md"]).exits(0);
    snapshot("plan-graph", &text.stdout);
    assert_eq!(
        text.stdout,
        env.run(&["plan", "graph", "--format", "text", "plan.md"])
            .stdout
    );
    assert_eq!(
        env.run(&["plan", "graph", "--json", "plan.md"]).stdout,
        env.run(&["plan", "graph", "--format", "json", "plan.md"])
            .stdout
    );
}

#[test]
fn e_1_the_json_has_its_keys_types_and_order() {
    let env = TestEnv::with_demo();
    let data = env.run(&["plan", "graph", "--json", "plan.md"]).data();
    assert_eq!(
        keys(&data),
        ["sprints", "waves", "critical_path", "warnings"]
    );
    let sprints = data["sprints"].as_array().unwrap();
    let ids: Vec<&str> = sprints
        .iter()
        .map(|sprint| sprint["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, DEMO_SPRINTS, "natural order");
    for sprint in sprints {
        assert_eq!(
            keys(sprint),
            [
                "id",
                "title",
                "line",
                "bead_id",
                "issue_type",
                "depends_on",
                "why"
            ]
        );
        assert!(sprint["title"].is_string() && sprint["line"].is_u64());
        assert!(sprint["bead_id"].as_str().unwrap().starts_with("bd-"));
        let depends_on = strings(&sprint["depends_on"]);
        assert_eq!(
            keys(&sprint["why"]),
            depends_on,
            "a reason for each dependency"
        );
        assert!(
            sprint["why"]
                .as_object()
                .unwrap()
                .values()
                .all(serde_json::Value::is_string)
        );
    }
    assert_eq!(data["waves"].as_array().unwrap().len(), 7);
    assert_eq!(data["waves"][1], json!(["1.2a", "1.2b"]));
    assert_eq!(
        data["critical_path"],
        json!(["1.1", "1.2a", "1.3", "2b.1", "3.1", "3.2"])
    );
    assert_eq!(sprints[3]["issue_type"], "beads-ralph-merge");
    assert_eq!(sprints[3]["line"], 71);
}

#[test]
fn p_9_the_order_in_the_document_does_not_matter() {
    let env = TestEnv::new();
    env.write(
        "plan.md",
        "### Sprint 1.10: C\n### Sprint 1.2: B\n### Sprint 1.1: A\n",
    );
    let data = env.run(&["plan", "graph", "--json", "plan.md"]).data();
    let ids: Vec<&str> = data["sprints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sprint| sprint["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["1.1", "1.2", "1.10"]);
    assert_eq!(data["critical_path"], json!(["1.1", "1.2", "1.10"]));
}

#[test]
fn p_24_headings_are_enough() {
    let env = TestEnv::new();
    env.write(
        "plan.md",
        "### Sprint 1.1: A\n### Sprint 1.2a: B\n### Sprint 1.2b: C\n### Sprint 1.3: Merge\n",
    );
    for format in ["text", "mermaid", "dot"] {
        let output = env
            .run(&["plan", "graph", "--format", format, "plan.md"])
            .exits(0);
        assert!(output.stdout.contains("1.2b C"), "{}", output.stdout);
    }
    let data = env.run(&["plan", "graph", "--json", "plan.md"]).data();
    assert_eq!(data["sprints"][0]["issue_type"], "beads-ralph-work");
    assert_eq!(
        data["sprints"][3]["issue_type"],
        serde_json::Value::Null,
        "no branches to count"
    );
    assert_eq!(data["sprints"][3]["depends_on"], json!(["1.2a", "1.2b"]));
}

#[test]
fn estimates_change_the_critical_path() {
    let env = TestEnv::new();
    let plan = |estimate: &str| {
        format!(
            "### Sprint 1.1a: A\n{estimate}\n### Sprint 1.1b: B\n{}\n### Sprint 1.2: C\n",
            "**Estimate**: 10m"
        )
    };
    let path = |plan: String| {
        env.write("plan.md", plan);
        env.run(&["plan", "graph", "--json", "plan.md"]).data()["critical_path"].clone()
    };
    assert_eq!(path(plan("**Estimate**: 5m")), json!(["1.1b", "1.2"]));
    assert_eq!(path(plan("**Estimate**: 15m")), json!(["1.1a", "1.2"]));
}

#[test]
fn section_2_4_warnings_go_to_standard_error() {
    let env = TestEnv::new();
    env.write("plan.md", "### Sprint 1.1: A\n### Sprint 1.1a: B\n");
    let output = env
        .run(&["plan", "graph", "--format", "dot", "plan.md"])
        .exits(0);
    assert!(
        output.stderr.contains("warning[mixed-group]"),
        "{}",
        output.stderr
    );
    assert!(output.stdout.starts_with("digraph") && !output.stdout.contains("warning"));
    let quiet = env.run(&["-q", "plan", "graph", "plan.md"]).exits(0);
    assert_eq!(quiet.stderr, "");
    let data = env.run(&["plan", "graph", "--json", "plan.md"]).data();
    assert_eq!(data["warnings"].as_array().unwrap().len(), 1);
}

#[test]
fn p_8_a_plan_with_errors_has_no_picture() {
    let env = TestEnv::new();
    env.write("plan.md", "### Sprint 1.1: A\n### Sprint 1.1: B\n");
    for format in ["text", "mermaid", "dot"] {
        let output = env
            .run(&["plan", "graph", "--format", format, "plan.md"])
            .exits(1);
        assert_eq!(output.stdout, "");
        assert!(output.stderr.contains("error[DEPENDENCY.DUPLICATE_ID]"));
    }
}
