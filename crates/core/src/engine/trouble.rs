//! What can go wrong while something is done, and whether it helps to try again.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of a commit: its whole hash.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommitId(pub String);

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl CommitId {
    /// Enough of it for people.
    pub fn short(&self) -> &str {
        self.0.get(..8).unwrap_or(&self.0)
    }
}

/// Why something could not be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    /// Whether it helps to try again.
    pub lasting: Lasting,
    /// What is wrong, and where it can be told, what to do.
    pub message: String,
}

/// How long trouble lasts, which decides what follows from it (contracts §7.7, §7.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lasting {
    /// It may be over at the next try: a lock, a network that is down, a full disk.
    Passing,
    /// Somebody is in the way and may go away by themselves: a shell in the worktree, a branch that is looked at. It is worth a longer
    /// wait, and then a matter of this bead alone.
    Occupied,
    /// It stays for this bead, and others may go on: a merge that somebody must look at.
    ForBead,
    /// It stays, and would meet every bead: no right to push, a configuration that is wrong.
    ForRun,
    /// The bead is no longer ours: somebody else holds it, or closed it.
    Lost,
}

impl Trouble {
    /// Trouble that may be over at the next try.
    pub fn passing(message: impl Into<String>) -> Self {
        Self {
            lasting: Lasting::Passing,
            message: message.into(),
        }
    }

    /// Somebody is in the way.
    pub fn occupied(message: impl Into<String>) -> Self {
        Self {
            lasting: Lasting::Occupied,
            message: message.into(),
        }
    }

    /// Trouble that stays for this bead.
    pub fn for_bead(message: impl Into<String>) -> Self {
        Self {
            lasting: Lasting::ForBead,
            message: message.into(),
        }
    }

    /// Trouble that would meet every bead.
    pub fn for_run(message: impl Into<String>) -> Self {
        Self {
            lasting: Lasting::ForRun,
            message: message.into(),
        }
    }

    /// The bead is no longer ours.
    pub fn lost(message: impl Into<String>) -> Self {
        Self {
            lasting: Lasting::Lost,
            message: message.into(),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
