//! `project-config.toml`: what other tools of the dispatcher's kind know about a project (contracts §9.13, Z-35).
//!
//! Only gates and coverage are read. Its other tables are for others, and a table that nobody here knows may be too; only one that looks
//! like a slip of the pen is refused, because a gate that is not run would go unnoticed.

use beads_ralph_core::diag::did_you_mean;
use beads_ralph_core::text::{LineIndex, excerpt, visible};
use beads_ralph_core::tree::{Entry, Node, parse_toml};
use camino::Utf8Path;
use serde::Deserialize;

use super::{ConfigError, meant};
use crate::os::files;

pub const PROJECT_FILE_NAME: &str = "project-config.toml";

const TABLES: [&str; 7] = [
    "gates",
    "coverage",
    "lint-autofix",
    "static-analysis",
    "functional-tests",
    "review-requirements",
    "foreign-cli",
];

/// How much of the code must be tested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    pub is_applicable: bool,
    pub threshold: u32,
    pub report_location: Option<String>,
}

impl Default for Coverage {
    fn default() -> Self {
        Self {
            is_applicable: true,
            threshold: 80,
            report_location: None,
        }
    }
}

/// What is read of the file.
#[derive(Debug, Default)]
pub(super) struct Project {
    pub(super) gates: GatesKey,
    pub(super) coverage: Coverage,
}

/// Reads the file of a repository; without one, nothing is said.
pub(super) fn load(root: &Utf8Path) -> Result<Project, ConfigError> {
    let path = root.join(PROJECT_FILE_NAME);
    if !path.exists() {
        return Ok(Project::default());
    }
    let bytes = files::read(&path)?;
    read(&bytes).map_err(ConfigError::invalid(&path))
}

fn read(bytes: &[u8]) -> Result<Project, String> {
    let text = str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let said = |(at, message): Fault| format!("line {}: {message}", LineIndex::new(text).line(at));
    parse(text).map_err(said)
}

/// Where something is wrong, and what.
type Fault = (usize, String);

fn parse(text: &str) -> Result<Project, Fault> {
    let root = parse_toml(text)
        .map_err(|unreadable| (unreadable.span.start(), visible(&unreadable.message)))?;
    let mut project = Project::default();
    for (key, value) in root.as_table().unwrap_or_default() {
        match &*key.value {
            "gates" => project.gates = gates(value)?,
            "coverage" => project.coverage = coverage(value)?,
            name if TABLES.contains(&name) || did_you_mean(name, TABLES).is_none() => {}
            name => return Err(unknown(key.span.start(), "table", name, &TABLES)),
        }
    }
    Ok(project)
}

fn gates(value: &Node) -> Result<GatesKey, Fault> {
    let mut gates = GatesKey::default();
    for (key, value) in table("gates", value)? {
        let gate = match &*key.value {
            "build" => &mut gates.build,
            "typecheck" => &mut gates.typecheck,
            "lint" => &mut gates.lint,
            "test" => &mut gates.test,
            name => {
                let known = ["build", "typecheck", "lint", "test"];
                return Err(unknown(key.span.start(), "key", name, &known));
            }
        };
        *gate = Some(string(&format!("gates.{}", key.value), value)?);
    }
    Ok(gates)
}

fn coverage(value: &Node) -> Result<Coverage, Fault> {
    let mut coverage = Coverage::default();
    for (key, value) in table("coverage", value)? {
        match &*key.value {
            "applicable" => {
                let is_applicable = value.as_bool();
                coverage.is_applicable = is_applicable
                    .ok_or_else(|| expected("coverage.applicable", value, "true or false"))?;
            }
            "threshold" => {
                let number = value.number().filter(|number| *number <= 100);
                coverage.threshold = number.ok_or_else(|| {
                    expected("coverage.threshold", value, "a whole number from 0 to 100")
                })?;
            }
            "report-location" => {
                let location = string("coverage.report-location", value)?;
                coverage.report_location = Some(location).filter(|path| !path.trim().is_empty());
            }
            name => {
                let known = ["applicable", "threshold", "report-location"];
                return Err(unknown(key.span.start(), "key", name, &known));
            }
        }
    }
    Ok(coverage)
}

fn table<'v>(key: &str, value: &'v Node) -> Result<&'v [Entry], Fault> {
    let entries = value.as_table();
    entries.ok_or_else(|| expected(key, value, &format!("a table: [{key}]")))
}

fn string(key: &str, value: &Node) -> Result<String, Fault> {
    let text = value.as_text().map(str::to_owned);
    text.ok_or_else(|| expected(key, value, "a text in quotes"))
}

fn expected(key: &str, value: &Node, what: &str) -> Fault {
    (value.span.start(), format!("`{key}`: expected {what}"))
}

fn unknown(at: usize, what: &str, name: &str, known: &[&str]) -> Fault {
    let (all, hint) = (known.join(", "), meant(name, known.iter().copied()));
    let name = excerpt(name);
    (
        at,
        format!("unknown {what} `{name}`; expected one of {all}{hint}"),
    )
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gates {
    pub build: Option<String>,
    pub typecheck: Option<String>,
    pub lint: Option<String>,
    pub test: Option<String>,
}

impl Gates {
    /// The commands that there are, in the order in which they are run, with the names of their blocks in reports (W-3).
    pub fn commands(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [
            ("build", &self.build),
            ("typecheck", &self.typecheck),
            ("lint", &self.lint),
            ("tests", &self.test),
        ];
        all.into_iter()
            .filter_map(|(name, command)| Some((name, command.as_deref()?)))
    }
}

/// The gates as one file has them. A text without anything in it says that there is no such gate.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct GatesKey {
    pub(super) build: Option<String>,
    pub(super) typecheck: Option<String>,
    pub(super) lint: Option<String>,
    pub(super) test: Option<String>,
}

impl GatesKey {
    pub(super) fn over(self, other: Self) -> Gates {
        let filled = |own: Option<String>, other: Option<String>| {
            own.or(other).filter(|command| !command.trim().is_empty())
        };
        Gates {
            build: filled(self.build, other.build),
            typecheck: filled(self.typecheck, other.typecheck),
            lint: filled(self.lint, other.lint),
            test: filled(self.test, other.test),
        }
    }
}
