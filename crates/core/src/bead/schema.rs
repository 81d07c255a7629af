//! The JSON Schemas of beads, made from the types (draft 2020-12).
//!
//! A schema says less than the validator where JSON Schema cannot say it: that `1.0` is no integer,
//! that a date exists, that a number fits, which rig a repository has configured. It never refuses
//! what the validator accepts.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::wire::WireBead;
use super::{AgentSpec, DevExecution, Dod, QaExecution, QaResult, ScrumResult};

/// Every schema, by name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("bead", schema::<WireBead<'_>>("bead", "Bead")),
        (
            "agent-spec",
            schema::<AgentSpec>("agent-spec", "Agent spec"),
        ),
        ("qa-result", schema::<QaResult>("qa-result", "QA result")),
        (
            "dev-execution",
            schema::<DevExecution>("dev-execution", "Dev execution"),
        ),
        (
            "qa-execution",
            schema::<QaExecution>("qa-execution", "QA execution"),
        ),
        (
            "scrum-result",
            schema::<ScrumResult>("scrum-result", "Scrum result"),
        ),
        ("dod", schema::<Dod>("dod", "Definition of done")),
    ]
}

fn schema<T: JsonSchema>(name: &str, title: &str) -> Value {
    let mut schema = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<T>();
    // A plain name: there is no web host that would serve these files.
    schema.insert("$id".to_owned(), json!(format!("beads-ralph/{name}")));
    schema.insert("title".to_owned(), json!(title));
    schema.to_value()
}
