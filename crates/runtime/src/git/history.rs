//! Commits and what leads to them: heads of branches, ancestors, and the commits that we keep reachable.

use std::collections::HashMap;

use beads_ralph_core::engine::{CommitId, Trouble};

use super::Git;
use super::call::Call;

/// How many answers are remembered.
const MAX_KNOWN: usize = 20_000;

impl Git {
    /// The commits of these refs, as far as they are there. Full names.
    pub(super) fn refs(&self, names: &[&str]) -> Result<HashMap<String, CommitId>, Trouble> {
        let mut arguments = vec!["for-each-ref", "--format=%(refname) %(objectname)"];
        arguments.extend(names);
        let answer = self
            .caller
            .ask(&Call::new(&self.root, &arguments).for_run())?;
        let answer = String::from_utf8_lossy(&answer);
        // Git takes a name for everything below it, too.
        let pairs = answer.lines().filter_map(|line| line.split_once(' '));
        let wanted = pairs.filter(|(name, _)| names.contains(name));
        Ok(wanted
            .map(|(name, commit)| (name.to_owned(), CommitId(commit.to_owned())))
            .collect())
    }

    pub(super) fn resolve(&self, name: &str) -> Result<Option<CommitId>, Trouble> {
        let arguments = ["rev-parse", "--verify", "--quiet", name];
        let said = self.caller.say(&Call::new(&self.root, &arguments))?;
        match said.code {
            0 => Ok(Some(CommitId(said.line()))),
            1 => Ok(None),
            _ => Err(said.trouble()),
        }
    }

    /// Sets a ref, whatever it was.
    pub(super) fn set_ref(&self, name: &str, commit: &CommitId) -> Result<(), Trouble> {
        let arguments = ["update-ref", name, &commit.0];
        self.caller
            .act(&Call::new(&self.root, &arguments))
            .map(drop)
    }

    /// Whether a commit is in another one's history. What was learned is remembered, because it never changes.
    pub(super) fn contains(&self, head: &CommitId, commit: &CommitId) -> Result<bool, Trouble> {
        if head == commit {
            return Ok(true);
        }
        let key = (commit.clone(), head.clone());
        if let Some(&known) = self.memory().ancestry.get(&key) {
            return Ok(known);
        }
        let arguments = ["merge-base", "--is-ancestor", &commit.0, &head.0];
        let said = self.caller.say(&Call::new(&self.root, &arguments))?;
        let is_in = match said.code {
            0 => true,
            1 => false,
            _ => return Err(said.trouble()),
        };
        let mut memory = self.memory();
        if memory.ancestry.len() >= MAX_KNOWN {
            memory.ancestry.clear();
        }
        memory.ancestry.insert(key, is_in);
        Ok(is_in)
    }
}
