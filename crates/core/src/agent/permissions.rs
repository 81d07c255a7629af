//! What agents may do without asking (Z-23).

use serde::{Deserialize, Serialize};

/// What agents may do without asking (Z-23).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permissions {
    /// Any command, with the user's rights.
    Bypass,
    /// What the agent's own settings allow; anything else is refused instead of asked.
    AskNone,
    /// Any command, inside the agent's own sandbox.
    Sandbox,
}

impl Permissions {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Bypass, Self::AskNone, Self::Sandbox];

    /// The word that stands in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bypass => "bypass",
            Self::AskNone => "ask-none",
            Self::Sandbox => "sandbox",
        }
    }

    /// What the mode means, said plainly.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Bypass => "agents may run any command with your rights, without asking",
            Self::AskNone => {
                "agents may do what their own settings allow; anything else is refused, and nobody is asked"
            }
            Self::Sandbox => "agents may run any command, but inside their own sandbox",
        }
    }
}
