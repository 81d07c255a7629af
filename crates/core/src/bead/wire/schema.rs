//! The JSON Schemas of beads, made from the types (draft 2020-12).
//!
//! A schema says less than the validator where JSON Schema cannot say it: that `1.0` is not an integer,
//! that a date exists, that a number fits, which rig a repository has configured. It never refuses
//! what the validator accepts.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::WireBead;
use crate::bead::{AgentSpec, DevExecution, Dod, QaExecution, QaResult, ScrumResult};

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

pub(crate) fn schema<T: JsonSchema>(name: &str, title: &str) -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut body = generator.into_root_schema_for::<T>();
    // What a reader looks for comes first. The id is a plain name: no web host serves these files.
    let mut schema = Map::new();
    schema.extend(
        body.remove("$schema")
            .map(|draft| ("$schema".to_owned(), draft)),
    );
    schema.insert("$id".to_owned(), format!("beads-ralph/{name}").into());
    schema.insert("title".to_owned(), title.into());
    schema.extend(
        body.remove("description")
            .map(|text| ("description".to_owned(), text)),
    );
    body.remove("title");
    if let Value::Object(rest) = body.to_value() {
        schema.extend(rest);
    }
    schema.into()
}
