//! Molecules and wisps that are in a store.

mod closing;
mod ending;
mod face;
mod looking;

use serde_json::{Value, json};

use crate::env::TestEnv;
use crate::store::seeded;

/// When the beads here came: shortly before what the tests take for now.
const CAME: &str = "2026-01-01T20:00:00Z";

/// The lines of a molecule whose steps need each other in order.
fn molecule(root: &str, steps: &[&str], more: &Value) -> String {
    let formula = root.trim_start_matches("bd-").trim_end_matches("-001");
    let mut lines = vec![json!({
        "id": root, "title": formula, "issue_type": "molecule", "created_at": CAME, "updated_at": CAME,
        "metadata": {"formula": formula, "steps": steps},
    })];
    for (at, step) in steps.iter().enumerate() {
        let mut edges = vec![json!({"depends_on_id": root, "type": "parent-child"})];
        if let Some(before) = at.checked_sub(1) {
            let needed = format!("{root}-{}", steps[before]);
            edges.push(json!({"depends_on_id": needed, "type": "blocks"}));
        }
        lines.push(json!({
            "id": format!("{root}-{step}"), "title": format!("Do {step}"), "created_at": CAME, "updated_at": CAME,
            "labels": [format!("stage-{step}")], "metadata": {"stage": step}, "dependencies": edges,
        }));
    }
    for line in &mut lines {
        let fields = line.as_object_mut().expect("a line is an object");
        fields.extend(more.as_object().expect("fields").clone());
    }
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

/// A world with the molecule `bd-work-001`: `plan`, `build`, `ship`.
#[track_caller]
fn work() -> TestEnv {
    seeded(&molecule(
        "bd-work-001",
        &["plan", "build", "ship"],
        &json!({}),
    ))
}
