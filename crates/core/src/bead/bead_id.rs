//! Bead ids (B-6, B-7, P-12).

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

use crate::number::SprintId;
use crate::text::{excerpt, name_from_title};

use super::field::Invalid;
use super::text_type::text_type;

/// The name of a bead. Any non-empty text is accepted on reading: stores have their own styles.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BeadId(Box<str>);

text_type!(BeadId);

impl BeadId {
    /// Reads an id; only the empty text is refused (B-7).
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() {
            return Err(Invalid::value("id must be non-empty"));
        }
        Ok(Self(text.into()))
    }

    /// The id of a sprint's bead (B-6): `bd-<phase>-<sprint part>-<name>`.
    pub fn derive(sprint: &SprintId, title: &str) -> Self {
        Self(format!("bd-{}-{}", sprint.dashed(), name_from_title(title)).into())
    }

    /// Reads the `Bead ID` of a plan (P-12), which must match `^bd-[a-z0-9]+(-[a-z0-9]+)*$`.
    pub fn parse_plan_override(text: &str) -> Result<Self, Invalid> {
        let is_part = |part: &str| {
            !part.is_empty()
                && part
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        match text.strip_prefix("bd-") {
            Some(rest) if rest.split('-').all(is_part) => Ok(Self(text.into())),
            _ => Err(Invalid::pattern(format!(
                "bead id must match pattern ^bd-[a-z0-9]+(-[a-z0-9]+)*$, got '{}'",
                excerpt(text)
            ))),
        }
    }
}

impl<'de> Deserialize<'de> for BeadId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

impl JsonSchema for BeadId {
    fn schema_name() -> Cow<'static, str> {
        "BeadId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "The name of a bead.", "type": "string", "minLength": 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_6_ids_follow_the_algorithm() {
        for (sprint, title, id) in [
            (
                "1.1",
                "Core Schema Validation Script",
                "bd-1-1-core-schema-validation-script",
            ),
            ("1.2a", "Example Work Bead", "bd-1-2a-example-work-bead"),
            (
                "1.2a",
                "Example Work Bead (Parallel)",
                "bd-1-2a-example-work-bead-parallel",
            ),
            (
                "3a.2b",
                "API Validation Layer",
                "bd-3a-2b-api-validation-layer",
            ),
            (
                "1.3",
                "Integration & Documentation",
                "bd-1-3-integration-documentation",
            ),
            (
                "2.2a",
                "Dependency Compilation Logic (Parallel)",
                "bd-2-2a-dependency-compilation-logic-p",
            ),
            ("5.2", "Dev/QA Retry Loop", "bd-5-2-devqa-retry-loop"),
            (
                "4.1",
                "Go Project Setup & Core Loop Structure",
                "bd-4-1-go-project-setup-core-loop-str",
            ),
            ("1.1", "Initial Setup 🚀", "bd-1-1-initial-setup"),
            ("1.1", "🚀", "bd-1-1-sprint"),
        ] {
            let sprint = SprintId::parse(sprint).unwrap();
            assert_eq!(BeadId::derive(&sprint, title).as_str(), id, "{title}");
        }
    }

    #[test]
    fn b_7_any_text_but_the_empty_one_is_an_id() {
        for text in ["bd-a1b2c3", "gt-1", "x"] {
            assert_eq!(BeadId::parse(text).unwrap().as_str(), text);
        }
        assert_eq!(
            BeadId::parse("").unwrap_err().to_string(),
            "id must be non-empty"
        );
    }

    #[test]
    fn p_12_a_plans_bead_id_has_a_pattern() {
        for text in ["bd-1", "bd-1-1-schema", "bd-a1b2"] {
            assert!(BeadId::parse_plan_override(text).is_ok(), "{text}");
        }
        for text in [
            "", "bd", "bd-", "bd--1", "bd-1-", "bd-A", "bd-1.1", "xbd-1", "bd-1\n", "BD-1",
        ] {
            assert!(BeadId::parse_plan_override(text).is_err(), "{text:?}");
        }
    }
}
