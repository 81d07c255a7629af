//! The record of a check as it is kept in files, as far as people and programs are shown it.

use serde::Deserialize;
use serde_json::Value;

/// A check of an attempt. What an older record does not have is empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct KeptCheck {
    pub(crate) name: String,
    pub(crate) command: String,
    passed: bool,
    skipped: bool,
    timed_out: bool,
    pub(crate) duration_ms: u64,
    reason: Option<String>,
    warning: Option<String>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl KeptCheck {
    /// The records of a list; one that cannot be read is left out.
    pub(crate) fn read_all(records: Vec<Value>) -> Vec<Self> {
        let records = records.into_iter();
        let records = records.filter_map(|record| serde_json::from_value(record).ok());
        records.collect()
    }

    pub(crate) fn has_failed(&self) -> bool {
        !self.passed && !self.skipped
    }

    pub(crate) fn result(&self) -> &'static str {
        match (self.skipped, self.passed, self.timed_out) {
            (true, _, _) => "skipped",
            (false, true, _) => "passed",
            (false, false, true) => "timed out",
            (false, false, false) => "failed",
        }
    }

    /// Why it failed, or a warning although it passed.
    pub(crate) fn remark(&self) -> &str {
        let remarks = [&self.reason, &self.warning].into_iter().flatten();
        remarks
            .map(String::as_str)
            .find(|it| !it.is_empty())
            .unwrap_or_default()
    }
}
