//! The checked texts of a bead: its id, its branch, the paths of its agents (B-16), the regular expressions of its checks.

use std::borrow::Cow;

use regex::Regex;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::error::Invalid;
use crate::number::SprintId;
use crate::text::{excerpt, name_from_title};

/// Gives a newtype over `Box<str>` its `as_str`, `Display`, `Serialize` and JSON Schema.
macro_rules! text_type {
    ($name:ident, about $about:literal, $($schema:tt)*) => {
        impl $name {
            /// The text as it was read.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "description": $about, "type": "string", $($schema)* })
            }
        }
    };
}

pub(crate) use text_type;

/// The name of a bead. Any non-empty text is accepted on reading: stores have their own styles.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BeadId(Box<str>);

text_type!(
    BeadId,
    about "The name of a bead.",
    "minLength": 1
);

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

/// A branch whose name matches `^[a-zA-Z0-9/_-]+$`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchName(Box<str>);

text_type!(
    BranchName,
    about "The name of a branch.",
    "pattern": Self::PATTERN
);

impl BranchName {
    /// The pattern of a branch name.
    pub const PATTERN: &str = "^[a-zA-Z0-9/_-]+$";

    /// Reads a branch name; the pattern only, because readers accept what git would refuse.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-');
        if text.is_empty() || !text.bytes().all(fits) {
            return Err(Invalid::pattern(format!(
                "branch must match pattern {}, got '{}'",
                Self::PATTERN,
                excerpt(text)
            )));
        }
        Ok(Self(text.into()))
    }

    /// Checks what git asks beyond the pattern (B-29), before a branch is made.
    pub fn check_git_safe(&self) -> Result<(), Invalid> {
        let problem = if self.0.starts_with('-') {
            "must not start with '-'"
        } else if self.0.starts_with('/') || self.0.ends_with('/') {
            "must not start or end with '/'"
        } else if self.0.contains("//") {
            "must not contain '//'"
        } else {
            return Ok(());
        };
        Err(Invalid::pattern(format!(
            "branch '{}' {problem}",
            excerpt(&self.0)
        )))
    }
}

/// A regular expression for one line of output.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl Pattern {
    /// Reads a regular expression.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let refused = |error: regex::Error| {
            let reason = match error {
                regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
                // The library draws the place on several lines; the last one says what is wrong.
                error => {
                    let text = error.to_string();
                    let last = text.lines().last().unwrap_or_default();
                    last.trim_start_matches("error: ").to_owned()
                }
            };
            Invalid::pattern(format!("not a regular expression: {reason}"))
        };
        Regex::new(text).map(Self).map_err(refused)
    }

    /// The expression as it was written.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether a line matches somewhere.
    pub fn is_match(&self, line: &str) -> bool {
        self.0.is_match(line)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Pattern {}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl JsonSchema for Pattern {
    fn schema_name() -> Cow<'static, str> {
        "Pattern".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A regular expression for one line of output, in the syntax of Rust's regex crate.",
            "type": "string",
        })
    }
}

const DIRECTORY: &str = ".claude/agents/";
const BUILT_IN: &str = "claude";

/// The agent that a spec names: the built-in `claude`, or a file below `.claude/agents/`.
///
/// The path can never lead out of that directory. Whether the file exists is not known here.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentPath(Box<str>);

text_type!(
    AgentPath,
    about "The built-in agent `claude`, or the path of an agent's file.",
    "pattern": Self::PATTERN
);

impl AgentPath {
    /// The same rule for JSON Schema, written without look-ahead so that every engine can run it.
    pub(super) const PATTERN: &str =
        r"^(claude|\.claude/agents(/([^/\\.][^/\\]*|\.[^/\\.][^/\\]*|\.\.[^/\\]+))+)$";

    /// Reads a path, with or without `.md`.
    ///
    /// A component `.` and a backslash are refused like `..`: they are second spellings of one file,
    /// and on some systems ways out of the directory.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let is_component = |part: &str| !matches!(part, "" | "." | "..") && !part.contains('\\');
        match text.strip_prefix(DIRECTORY) {
            Some(rest) if rest.split('/').all(is_component) => Ok(Self(text.into())),
            _ if text == BUILT_IN => Ok(Self(text.into())),
            _ => Err(Invalid::pattern(format!(
                "agent must be 'claude' or a path below .claude/agents/ without '..', got '{}'",
                excerpt(text)
            ))),
        }
    }

    /// The path of an agent that a plan names (B-15): `.claude/agents/<name>.md`, or the built-in one.
    pub fn for_name(name: &str) -> Result<Self, Invalid> {
        if name == BUILT_IN {
            return Ok(Self(BUILT_IN.into()));
        }
        Self::parse(&format!("{DIRECTORY}{name}")).map(|path| path.with_md())
    }

    /// The agent that has no file.
    pub fn built_in() -> Self {
        Self(BUILT_IN.into())
    }

    /// The agent that leads a sprint unless the bead names another (B-14).
    pub(super) fn scrum_master() -> Self {
        Self(".claude/agents/beads-ralph-scrum-master.md".into())
    }

    /// Whether this is the built-in agent, which has no file.
    pub fn is_built_in(&self) -> bool {
        &*self.0 == BUILT_IN
    }

    /// Whether this is how generation 2 writes the path.
    pub(super) fn has_md(&self) -> bool {
        self.is_built_in() || self.0.ends_with(".md")
    }

    /// The path as generation 2 writes it: ending in `.md`, unless it is the built-in agent.
    #[must_use]
    pub fn with_md(&self) -> Self {
        if self.has_md() {
            self.clone()
        } else {
            Self(format!("{}.md", self.0).into())
        }
    }

    /// The path as generation 1 writes it: without `.md`.
    #[must_use]
    pub fn without_md(&self) -> Self {
        // A file that is called `.md` only would leave nothing, so it keeps its name.
        self.0
            .strip_suffix(".md")
            .and_then(|stem| Self::parse(stem).ok())
            .unwrap_or_else(|| self.clone())
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

    #[test]
    fn b_25_branches_follow_their_pattern() {
        for text in ["main/1-2-auth", "develop/3a-2b-api", "a_b", "/"] {
            assert!(BranchName::parse(text).is_ok(), "{text}");
        }
        for text in ["", "main/1.2", "feat/auth api", "x\n", "ä"] {
            let refused = BranchName::parse(text).unwrap_err().to_string();
            assert!(refused.contains("branch must match pattern"), "{refused}");
        }
    }

    #[test]
    fn b_29_git_asks_for_more_than_the_pattern() {
        let safe = |text| BranchName::parse(text).unwrap().check_git_safe().is_ok();
        assert!(safe("feature/1-1-project-setup"));
        for text in ["/a", "a/", "a//b", "-a", "/"] {
            assert!(!safe(text), "{text}");
        }
    }

    #[test]
    fn v_1_a_pattern_that_is_none_says_why() {
        let why = Pattern::parse("(unclosed").unwrap_err().to_string();
        assert_eq!(why, "not a regular expression: unclosed group");
        let why = Pattern::parse(r"(\w{1000}){1000}").unwrap_err().to_string();
        assert_eq!(why, "not a regular expression: it is too large");
        assert!(Pattern::parse("^ok: [0-9]+$").unwrap().is_match("ok: 12"));
    }

    #[test]
    fn b_16_an_agent_is_built_in_or_below_its_directory() {
        for text in [
            "claude",
            ".claude/agents/backend-dev",
            ".claude/agents/backend-dev.md",
            ".claude/agents/team/qa.md",
            ".claude/agents/..hidden.md",
        ] {
            assert_eq!(AgentPath::parse(text).unwrap().as_str(), text);
        }
        for text in [
            "",
            "Claude",
            "backend-dev",
            ".claude/agents",
            ".claude/agents/",
            ".claude/agents//x.md",
            ".claude/agents/x/",
            ".claude/agents/../x.md",
            ".claude/agents/a/../../x.md",
            ".claude/agents/..",
            ".claude/agents/./x.md",
            ".claude/agents/..\\x.md",
            "/repo/.claude/agents/x.md",
            "x/.claude/agents/x.md",
        ] {
            assert!(AgentPath::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn b_16_the_two_generations_differ_by_the_extension() {
        let path = |text| AgentPath::parse(text).unwrap();
        assert_eq!(
            path(".claude/agents/x").with_md().as_str(),
            ".claude/agents/x.md"
        );
        assert_eq!(
            path(".claude/agents/x.md").with_md().as_str(),
            ".claude/agents/x.md"
        );
        assert_eq!(
            path(".claude/agents/x.md").without_md().as_str(),
            ".claude/agents/x"
        );
        assert_eq!(
            path(".claude/agents/.md").without_md().as_str(),
            ".claude/agents/.md"
        );
        assert_eq!(path("claude").with_md().as_str(), "claude");
    }

    #[test]
    fn b_15_a_plans_name_becomes_a_path() {
        let path = |name| AgentPath::for_name(name).map(|path| path.to_string());
        assert_eq!(path("qa"), Ok(".claude/agents/qa.md".to_owned()));
        assert_eq!(
            path("team/qa.md"),
            Ok(".claude/agents/team/qa.md".to_owned())
        );
        assert_eq!(path("claude"), Ok("claude".to_owned()));
        assert!(path("a/../b").is_err());
        assert!(path("a/").is_err());
    }
}
