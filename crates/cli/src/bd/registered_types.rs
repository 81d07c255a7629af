//! The types of beads that a store takes by the rules of `bd`: its own, ours, and those that its settings name.

use std::collections::BTreeSet;

use beads_ralph_core::vocabulary::IssueType;
use beads_ralph_runtime::store::{Store, StoreError};

use super::custom_types;

/// The types that a store takes.
#[derive(Debug)]
pub(crate) struct RegisteredTypes(Vec<String>);

impl RegisteredTypes {
    pub(crate) fn of(store: &dyn Store) -> Result<Self, StoreError> {
        Ok(Self(custom_types(store)?))
    }

    pub(crate) fn is_known(&self, kind: &str) -> bool {
        IssueType::known(kind).is_some() || self.0.iter().any(|own| own == kind)
    }

    /// The warning about types of a formula that became plain ones.
    pub(crate) fn flattened(names: &BTreeSet<String>) -> String {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!(
            "flattening unregistered issue type(s) to task (epic for steps with children): {} (register with bd config set types.custom to keep them)",
            names.join(", ")
        )
    }
}
