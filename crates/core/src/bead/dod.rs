//! The definition of done that a bead may carry (contracts §8.1, Z-28): commands and what they must do.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use super::Pattern;
use super::error::Invalid;
use super::reader::{Errors, Fields, Node};
use crate::text::excerpt;

/// What machines check before a bead counts as done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Dod {
    /// The checks, in order. May be empty on reading; nothing can be executed then.
    pub verifiers: Vec<Verifier>,
    /// Whether evidence must be kept; absent means yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_required: Option<bool>,
    /// Globs of files that must be there when the work is done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub artifact_paths: Vec<String>,
}

impl Dod {
    /// Whether evidence must be kept.
    pub fn requires_evidence(&self) -> bool {
        self.evidence_required.unwrap_or(true)
    }
}

/// One check: a command and what it must do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verifier {
    /// Its name; absent means `verifier <n>`.
    #[schemars(with = "Option<String>")]
    pub name: String,
    /// The command line; never blank.
    #[schemars(regex(pattern = r"\S"))]
    pub command: String,
    /// What must come of it.
    #[schemars(with = "Option<Expect>")]
    pub expect: Expect,
    /// How long it may take; absent means 300 seconds.
    #[schemars(with = "Option<u64>", range(min = 1))]
    pub timeout_seconds: u64,
    /// What its failure means for the checks after it.
    #[schemars(with = "Option<OnFailure>")]
    pub on_failure: OnFailure,
}

impl Verifier {
    /// How long a check may take unless it says otherwise (contracts §8.1).
    pub const DEFAULT_TIMEOUT_SECONDS: u64 = 300;
}

/// What must come of a command.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Expect {
    /// The exit code; absent means 0.
    #[schemars(with = "Option<i32>")]
    pub exit_code: i32,
    /// What standard output must contain; absent or empty means anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout_contains: Option<String>,
    /// What standard error must contain; absent or empty means anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr_contains: Option<String>,
    /// What a line of standard output must match; absent or empty means anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout_matches: Option<Pattern>,
    /// What a line of standard error must match; absent or empty means anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr_matches: Option<Pattern>,
    /// How many tests must have run, as the summary lines of a test runner tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub min_tests: Option<u64>,
}

/// What the failure of a check means for the checks after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnFailure {
    /// They are not run.
    #[default]
    Stop,
    /// They are run all the same.
    Continue,
}

impl OnFailure {
    /// The word as it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Continue => "continue",
        }
    }

    /// Reads the word. `retry` is read as `stop`: no executor ever did anything else with it.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        match text {
            "stop" | "retry" => Ok(Self::Stop),
            "continue" => Ok(Self::Continue),
            other => Err(Invalid::pattern(format!(
                "on_failure must be one of: stop, continue, got '{}'",
                excerpt(other)
            ))),
        }
    }
}

impl fmt::Display for OnFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for OnFailure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl JsonSchema for OnFailure {
    fn schema_name() -> Cow<'static, str> {
        "OnFailure".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What the failure of a check means for the checks after it; `retry` is read as `stop`.",
            "type": "string",
            "enum": ["stop", "continue", "retry"],
        })
    }
}

pub(crate) fn read_dod(node: Node<'_, '_>, errors: &mut Errors) -> Option<Dod> {
    let fields = node.fields(errors)?;
    let verifiers = fields.required(errors, "verifiers", |node, errors| {
        node.list(errors, verifier)
    });
    let evidence = fields.optional(errors, "evidence_required", |node, errors| {
        node.boolean(errors)
    });
    let artifacts = fields.optional(errors, "artifact_paths", |node, errors| {
        node.strings(errors)
    });
    Some(Dod {
        verifiers: verifiers?,
        evidence_required: evidence?,
        artifact_paths: artifacts?.unwrap_or_default(),
    })
}

fn verifier(index: usize, node: Node<'_, '_>, errors: &mut Errors) -> Option<Verifier> {
    let fields = node.fields(errors)?;
    let name = fields.optional_text(errors, "name");
    let command = fields.required(errors, "command", |node, errors| {
        node.not_blank(errors, "command")
    });
    let expect = fields.optional(errors, "expect", expect);
    let timeout = fields.optional(errors, "timeout_seconds", |node, errors| {
        node.integer(errors, "timeout_seconds", 1)
    });
    let on_failure = fields.optional(errors, "on_failure", |node, errors| {
        node.parsed(errors, OnFailure::parse)
    });
    Some(Verifier {
        name: name?.unwrap_or_else(|| format!("verifier {}", index + 1)),
        command: command?,
        expect: expect?.unwrap_or_default(),
        timeout_seconds: timeout?.unwrap_or(Verifier::DEFAULT_TIMEOUT_SECONDS),
        on_failure: on_failure?.unwrap_or_default(),
    })
}

fn expect(node: Node<'_, '_>, errors: &mut Errors) -> Option<Expect> {
    let fields = node.fields(errors)?;
    let exit_code = fields.optional(errors, "exit_code", |node, errors| {
        node.integer(errors, "exit_code", i128::from(i32::MIN))
    });
    let stdout = fields.optional_text(errors, "stdout_contains");
    let stderr = fields.optional_text(errors, "stderr_contains");
    let stdout_matches = pattern(fields, errors, "stdout_matches");
    let stderr_matches = pattern(fields, errors, "stderr_matches");
    let min_tests = fields.optional(errors, "min_tests", |node, errors| {
        node.integer(errors, "min_tests", 1)
    });
    let check = |text: Option<String>| text.filter(|text| !text.is_empty());
    Some(Expect {
        exit_code: exit_code?.unwrap_or(0),
        stdout_contains: check(stdout?),
        stderr_contains: check(stderr?),
        stdout_matches: stdout_matches?,
        stderr_matches: stderr_matches?,
        min_tests: min_tests?,
    })
}

/// A regular expression; an empty one asks for nothing, as an empty text does.
#[expect(
    clippy::option_option,
    reason = "the outer one says whether it was read, the inner one whether it is there"
)]
fn pattern(fields: Fields<'_, '_>, errors: &mut Errors, key: &str) -> Option<Option<Pattern>> {
    fields
        .optional(errors, key, |node, errors| {
            node.parsed(errors, |text| {
                let pattern = (!text.is_empty()).then(|| Pattern::parse(text));
                pattern.transpose()
            })
        })
        .map(Option::flatten)
}
