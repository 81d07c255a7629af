//! Scenario files: YAML in, the scenarios of [`core::scenario`](beads_ralph_core::scenario) out.

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::scenario::Scenario;
use camino::{Utf8Path, Utf8PathBuf};
use thiserror::Error;

use crate::os::files::{self, FileError};
use crate::repo::shown;

#[derive(Debug, Error)]
pub enum ScenarioError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{} is not a valid scenario: {reason}", shown(path))]
    Invalid { path: Utf8PathBuf, reason: String },
}

impl ScenarioError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::File(error) => error.code(),
            Self::Invalid { .. } => ErrorCode::ValidationConstraint,
        }
    }
}

pub fn load(path: &Utf8Path) -> Result<Scenario, ScenarioError> {
    let bytes = files::read(path)?;
    parse(&bytes).map_err(|reason| ScenarioError::Invalid {
        path: path.to_owned(),
        reason,
    })
}

/// Reads a scenario; what is wrong with it is said with line and column.
pub fn parse(bytes: &[u8]) -> Result<Scenario, String> {
    let text = str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_saphyr::from_str(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use beads_ralph_core::scenario::{Action, Usage};
    use serde_json::json;

    use super::*;

    /// The example in the documentation of core's module, without the marks of the comment.
    fn example() -> String {
        let source = include_str!("../../core/src/scenario.rs");
        let lines = source.lines().map(|line| line.trim_start_matches("//!"));
        let block = lines
            .skip_while(|line| line.trim() != "```yaml")
            .skip(1)
            .take_while(|line| line.trim() != "```");
        block.flat_map(|line| [line, "\n"]).collect()
    }

    #[test]
    fn the_documented_example_is_a_scenario() {
        let scenario = parse(example().as_bytes()).unwrap();
        let names: Vec<&str> = (scenario.rules().iter())
            .map(|rule| rule.name.as_str())
            .collect();
        assert_eq!(names, ["developer", "reviewer", ""]);
        let second = scenario.rules()[0].session(2).turns();
        assert_eq!(second.len(), 4);
        let usage = Usage {
            input: 1200,
            output: 80,
            cache_read: 900,
            cache_write: 100,
        };
        assert_eq!(second[0].usage, usage);
        let (_, reviewer) = scenario.rule_for("review greeting.txt").unwrap();
        let report = Action::Report(json!({"passed": true, "notes": []}));
        assert_eq!(reviewer.session(1).turns()[0].action, report);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let turn =
            |turn: &str| format!("rules:\n  - sessions:\n      - - say: x\n        - {turn}\n");
        for (text, line, expected) in [
            (turn("shout: x"), "line 4", "unknown field `shout`"),
            (turn("cut: now"), "line 4", "unknown variant `now`"),
            (turn("hang: 5"), "line 3", "invalid duration '5'"),
            (turn("usage: {}"), "line 3", "turn 2: it does nothing"),
            ("rules: []\n".to_owned(), "", "at least one rule"),
            ("rule: []\n".to_owned(), "line 1", "unknown field `rule`"),
            ("rules: [\n".to_owned(), "line", ""),
        ] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert!(
                error.contains(line) && error.contains(expected),
                "{text}: {error}"
            );
        }
        assert!(parse(b"\xff").is_err());
    }

    #[test]
    fn a_file_that_is_no_scenario_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(directory.path().join("s.yaml")).unwrap();
        let missing = load(&path).unwrap_err();
        assert!(matches!(missing, ScenarioError::File(_)), "{missing}");
        files::write_atomic(&path, b"\xef\xbb\xbfrules: 1").unwrap();
        let wrong = load(&path).unwrap_err();
        assert_eq!(wrong.code(), ErrorCode::ValidationConstraint);
        assert!(
            wrong.to_string().contains("s.yaml is not a valid scenario"),
            "{wrong}"
        );
    }
}
