//! The commands that must succeed before work counts as done: the key `gates`, and the table of `project-config.toml` (Z-35).

use serde::Deserialize;

/// The commands of the project, each where there is one.
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
