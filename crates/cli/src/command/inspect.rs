//! The commands that show what was done and what is to be done.

pub(crate) mod blocked;
pub(crate) mod journal;
pub(crate) mod logs;
pub(crate) mod metrics;
pub(crate) mod qa_report;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod simulate;
pub(crate) mod status;
pub(crate) mod watch;
