//! What can be wrong with a graph that somebody wrote (contracts §2.2).

use std::fmt;

use crate::diag::ErrorCode;
use crate::text::excerpt;

/// The first class of faults that a graph has, with all findings of that class.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphFault {
    /// Two nodes with one id (D-10).
    #[error("more than one node has the id {}", Names(ids))]
    DuplicateId {
        /// The ids, sorted, each once.
        ids: Vec<String>,
    },
    /// A node that lists itself (D-11).
    #[error("a node depends on itself: {}", Names(ids))]
    SelfDependency {
        /// The ids, sorted.
        ids: Vec<String>,
    },
    /// A reference to an id that is neither a node nor external (D-12).
    #[error("a dependency does not exist: {}", Names(&pairs(missing)))]
    Unresolved {
        /// The node and the id that it names, sorted, each pair once.
        missing: Vec<(String, String)>,
    },
    /// Nodes that wait for each other (D-13).
    #[error("dependencies form a cycle: {}", Path(path))]
    Cycle {
        /// One cycle from its smallest id back to it, so that the first id is also the last; each
        /// waits for the next.
        path: Vec<String>,
    },
}

impl GraphFault {
    /// The code that the error carries.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::DuplicateId { .. } => ErrorCode::DependencyDuplicateId,
            Self::SelfDependency { .. } => ErrorCode::DependencySelfDep,
            Self::Unresolved { .. } => ErrorCode::DependencyUnresolved,
            Self::Cycle { .. } => ErrorCode::DependencyCycleDetected,
        }
    }
}

// Messages name a few of many; the fields hold them all.
const MAX_NAMED: usize = 8;

struct Names<'a>(&'a [String]);

impl fmt::Display for Names<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, name) in self.0.iter().take(MAX_NAMED).enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{}", excerpt(name))?;
        }
        if self.0.len() > MAX_NAMED {
            write!(f, ", … ({} in all)", self.0.len())?;
        }
        Ok(())
    }
}

fn pairs(missing: &[(String, String)]) -> Vec<String> {
    // Only as many as are printed are joined, and their number still tells of the others.
    let name = |(at, (node, id)): (usize, &(String, String))| {
        if at < MAX_NAMED {
            format!("{} (needed by {})", excerpt(id), excerpt(node))
        } else {
            String::new()
        }
    };
    missing.iter().enumerate().map(name).collect()
}

struct Path<'a>(&'a [String]);

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_hidden = self.0.len().saturating_sub(2 * MAX_NAMED);
        let hidden = MAX_NAMED..MAX_NAMED + n_hidden;
        for (at, id) in self.0.iter().enumerate() {
            let arrow = if at == 0 { "" } else { " → " };
            if !hidden.contains(&at) {
                write!(f, "{arrow}{}", excerpt(id))?;
            } else if at == hidden.start {
                write!(f, "{arrow}… ({n_hidden} more)")?;
            }
        }
        Ok(())
    }
}
