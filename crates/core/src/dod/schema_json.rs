//! The JSON Schema of DoD beads: everything that is read, in both dialects.
//!
//! It says less than the reader where JSON Schema cannot say it, and never refuses what the reader accepts.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{DodStatus, DodType, Lane};
use crate::bead::schema::schema;
use crate::bead::{Dod, Timestamp};

/// The schemas of this module, by name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    let bead = schema::<WireDodBead>("dod-bead", "DoD bead");
    vec![("dod-bead", bead)]
}

/// A bead with a Definition of Done. Keys that are not named here are kept.
#[derive(Serialize, JsonSchema)]
struct WireDodBead {
    /// Its name: letters, digits, `-`, `_` and `.`; absent means the name of its file.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"), length(max = 128))]
    id: Option<String>,
    /// What it is called; absent means the beginning of the intent.
    title: Option<String>,
    /// What is to be accomplished.
    #[schemars(regex(pattern = r"\S"))]
    intent: String,
    /// What kind of work it is; absent means task. `bug` is read as `bugfix`, `chore` as `task`.
    #[schemars(with = "Option<DodType>")]
    r#type: (),
    /// How urgent it is: 0 is most urgent; absent means 2.
    #[schemars(range(min = 0, max = 5))]
    priority: Option<u8>,
    /// The lane that it travels in.
    #[schemars(with = "Option<Lane>")]
    lane: (),
    /// What machines check before it counts as done; at least one check.
    dod: Dod,
    /// The bounds of the work.
    constraints: Option<WireConstraints>,
    /// What earlier work noted.
    ralph_meta: Option<WireMeta>,
    /// Where it stands; absent means pending. The words of the other dialect are read too.
    #[schemars(with = "Option<DodStatus>")]
    status: (),
    /// What makes it a gate.
    blocking: Option<WireBlocking>,
}

#[derive(Serialize, JsonSchema)]
struct WireConstraints {
    /// How often an agent may try; absent means 10.
    #[schemars(range(min = 1))]
    max_iterations: Option<u32>,
    /// How long all of it may take; absent means without limit.
    #[schemars(range(min = 1))]
    time_budget_minutes: Option<u32>,
    /// When it must be done.
    deadline: Option<Timestamp>,
}

#[derive(Serialize, JsonSchema)]
struct WireMeta {
    /// How long to wait after the first failure; it doubles. Absent means 30.
    #[schemars(range(min = 0))]
    retry_backoff_seconds: Option<u32>,
    /// How many attempts the last run made.
    attempt_count: Option<u64>,
    /// How many all runs made.
    total_attempts: Option<u64>,
    /// What the checks said last.
    verifier_results: Option<Vec<Map<String, Value>>>,
}

#[derive(Serialize, JsonSchema)]
struct WireBlocking {
    /// Whether it is a gate.
    is_gate: Option<bool>,
    /// Whether it is completed when it is green; absent means yes.
    auto_close_on_pass: Option<bool>,
}

macro_rules! word_schema {
    ($($name:ident)*) => {$(
        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({"type": "string", "enum": $name::WORDS})
            }
        }
    )*};
}

word_schema!(DodType Lane DodStatus);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dod::read;

    fn accepts(document: &Value) -> bool {
        let (_, schema) = schemas().remove(0);
        jsonschema::validator_for(&schema)
            .unwrap()
            .is_valid(document)
    }

    #[test]
    fn v_1_the_schema_takes_what_the_reader_takes() {
        for bead in [
            &include_bytes!("tests/task.json")[..],
            include_bytes!("tests/gate.json"),
            include_bytes!("tests/several.json"),
        ] {
            let document: Value = serde_json::from_slice(bead).unwrap();
            assert!(accepts(&document), "{document}");
        }
        let dod = json!({"verifiers": [{"command": "true"}]});
        let words = [
            (
                "type",
                DodType::ALL
                    .iter()
                    .map(|it| it.as_str())
                    .collect::<Vec<_>>(),
            ),
            ("lane", Lane::ALL.iter().map(|it| it.as_str()).collect()),
            (
                "status",
                DodStatus::ALL.iter().map(|it| it.as_str()).collect(),
            ),
            (
                "status",
                vec!["open", "hooked", "pinned", "closed", "RED", "GREEN"],
            ),
            ("type", vec!["bug", "chore"]),
        ];
        for (key, words) in words {
            for word in words {
                let document = json!({"id": "x", "intent": "x", "dod": dod, key: word, "odd": [1]});
                assert!(
                    accepts(&document) && read(document.clone(), None).is_ok(),
                    "{document}"
                );
            }
        }
    }

    #[test]
    fn v_1_the_schema_refuses_what_is_plainly_wrong() {
        let dod = json!({"verifiers": [{"command": "true"}]});
        for document in [
            json!({"intent": "x"}),
            json!({"dod": dod}),
            json!({"intent": " ", "dod": dod}),
            json!({"id": "../x", "intent": "x", "dod": dod}),
            json!({"intent": "x", "dod": dod, "priority": 6}),
            json!({"intent": "x", "dod": dod, "status": "done"}),
            json!({"intent": "x", "dod": dod, "constraints": {"max_iterations": 0}}),
        ] {
            assert!(!accepts(&document), "{document}");
            assert!(read(document, Some("stem")).is_err());
        }
    }
}
