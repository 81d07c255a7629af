//! What orchestrators share besides beads: leases (Z-14) and control rows (Z-15).

use beads_ralph_core::issue::{Fence, Holder};
use jiff::Timestamp;
use serde_json::Value;

/// That a name is taken, by whom and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The name: a slot, a port, an account.
    pub name: String,
    /// Rises each time the name is taken.
    pub fence: Fence,
    /// Who has it.
    pub holder: Holder,
    /// Until when.
    pub until: Timestamp,
}

/// A value that processes share, with a version to compare before it is set.
#[derive(Debug, Clone, PartialEq)]
pub struct Control {
    /// Its name.
    pub key: String,
    /// Its value.
    pub value: Value,
    /// How often it was set.
    pub version: u64,
    /// Who set it last.
    pub actor: String,
    /// When, to the microsecond.
    pub at: Timestamp,
}
