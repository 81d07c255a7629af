//! What an agent can find out about its work from the environment.

use std::collections::BTreeMap;

crate::text::word_enum! {
    /// What an agent is asked to be.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum AgentRole {
        /// It does the work of a sprint.
        Dev = "dev",
        /// It judges that work.
        Qa = "qa",
        /// It does one step of a molecule.
        Worker = "worker",
        /// It reviews such a step.
        Reviewer = "reviewer",
        /// It leads a sprint.
        ScrumMaster = "scrum-master",
    }
}

/// What an agent's work is about. Every agent has it in its environment; those of the kind `command` have nothing else
/// to go by but the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The bead.
    pub bead: String,
    /// The sprint, where the bead has one.
    pub sprint: Option<String>,
    /// What the agent is asked to be.
    pub role: AgentRole,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The agent's file, or its name.
    pub agent: Option<String>,
    /// Where it works.
    pub worktree: String,
    /// The file that it can write its report to, instead of printing it.
    pub report: Option<String>,
    /// The fence under which a scrum-master may write into its own bead; nobody else has one (Z-18).
    pub fence: Option<u64>,
}

impl Context {
    /// The variables: `BEADS_RALPH_BEAD` and so on. What is not known is empty, so that nothing of a run around this one
    /// shines through.
    pub fn variables(&self) -> BTreeMap<String, String> {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let values = [
            ("BEAD", self.bead.clone()),
            ("SPRINT", text(&self.sprint)),
            ("ROLE", self.role.as_str().to_owned()),
            ("ATTEMPT", self.attempt.to_string()),
            ("AGENT", text(&self.agent)),
            ("WORKTREE", self.worktree.clone()),
            ("REPORT", text(&self.report)),
            ("FENCE", text(&self.fence.map(|fence| fence.to_string()))),
        ];
        let named = values.map(|(name, value)| (format!("BEADS_RALPH_{name}"), value));
        named.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_is_eight_variables() {
        let context = Context {
            bead: "bd-1-1-x".to_owned(),
            sprint: Some("1.1".to_owned()),
            role: AgentRole::ScrumMaster,
            attempt: 2,
            agent: None,
            worktree: "/w".to_owned(),
            report: None,
            fence: Some(7),
        };
        let variables = context.variables();
        let shown: Vec<String> = variables
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            shown,
            [
                "BEADS_RALPH_AGENT=",
                "BEADS_RALPH_ATTEMPT=2",
                "BEADS_RALPH_BEAD=bd-1-1-x",
                "BEADS_RALPH_FENCE=7",
                "BEADS_RALPH_REPORT=",
                "BEADS_RALPH_ROLE=scrum-master",
                "BEADS_RALPH_SPRINT=1.1",
                "BEADS_RALPH_WORKTREE=/w",
            ]
        );
    }
}
