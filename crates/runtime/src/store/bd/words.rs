//! The types and statuses that `bd` has to be told about before it takes them.

use std::collections::BTreeSet;

use beads_ralph_core::issue::Issue;
use serde_json::Value;

use super::program::{Call, Program};
use crate::store::StoreError;

/// Types that every `bd` knows.
const TYPES: [&str; 13] = [
    "bug",
    "feature",
    "task",
    "epic",
    "chore",
    "decision",
    "message",
    "molecule",
    "gate",
    "spike",
    "story",
    "milestone",
    "event",
];

/// Statuses that every `bd` knows.
const STATUSES: [&str; 7] = [
    "open",
    "in_progress",
    "blocked",
    "deferred",
    "closed",
    "pinned",
    "hooked",
];

/// What this `bd` is known to take.
#[derive(Debug)]
pub(super) struct Words {
    types: BTreeSet<String>,
    statuses: BTreeSet<String>,
}

impl Words {
    pub(super) fn new() -> Self {
        Self {
            types: TYPES.map(str::to_owned).into(),
            statuses: STATUSES.map(str::to_owned).into(),
        }
    }

    /// Makes `bd` take the words of some issues.
    pub(super) fn ensure<'a>(
        &mut self,
        program: &Program,
        issues: impl Iterator<Item = &'a Issue> + Clone,
    ) -> Result<(), StoreError> {
        let types = issues.clone().map(Issue::issue_type);
        register(program, "types.custom", &mut self.types, types)?;
        let statuses = issues.map(Issue::status);
        register(program, "status.custom", &mut self.statuses, statuses)
    }
}

fn register<'a>(
    program: &Program,
    key: &str,
    known: &mut BTreeSet<String>,
    words: impl Iterator<Item = &'a str>,
) -> Result<(), StoreError> {
    let new: BTreeSet<&str> = words.filter(|word| !known.contains(*word)).collect();
    if new.is_empty() {
        return Ok(());
    }
    let answer = program.call(&Call::new(["config", "get", key, "--json"]))?;
    let answer = answer.succeeded()?.value()?;
    let value = answer.get("value").and_then(Value::as_str);
    let mut configured: Vec<&str> = value.unwrap_or_default().split(',').collect();
    configured.retain(|word| !word.trim().is_empty());
    let names: BTreeSet<&str> = (configured.iter())
        .map(|word| word.split(':').next().unwrap_or_default().trim())
        .collect();
    let missing: Vec<&str> = (new.iter().copied())
        .filter(|word| !names.contains(word))
        .collect();
    if !missing.is_empty() {
        let all = [configured.clone(), missing].concat().join(",");
        let call = Call::new(["config", "set", key, all.as_str(), "--json"]);
        program.call(&call)?.succeeded()?;
    }
    known.extend(names.into_iter().map(str::to_owned));
    known.extend(new.into_iter().map(str::to_owned));
    Ok(())
}
