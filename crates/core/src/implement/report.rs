//! A worker's report (W-1…W-6): one YAML file, read with places and within bounds.
//!
//! Only what W-6 requires makes a report malformed; every other fault of the contract is a warning with its line and column, and the
//! report is used as far as it goes.

mod bounds;
mod gate;
mod model;
mod read;
mod schema;
mod synthetic;

#[cfg(test)]
mod tests;

pub use gate::{Gate, gate};
pub use model::{
    Action, Block, Classification, CommentFix, Commit, Discovered, DiscoveredType, DocsEdits,
    Escalation, Evidence, Report, Status, TestCounts,
};
pub use read::{Fault, Malformed, Read, read};
pub use schema::schemas;
pub use synthetic::{CRASHED, MALFORMED, raw_detail, synthetic};

/// The largest report.
pub const MAX_REPORT_BYTES: usize = 1024 * 1024;
