//! Paths of agents (B-16).

use crate::text::excerpt;

use super::error::Invalid;
use super::names::text_type;

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
