//! What a run writes back into a bead: only its own keys, everything else stays as it is.

use serde_json::{Map, Value, json};

use super::DodStatus;
use crate::bead::Timestamp;
use crate::check::{CheckRecord, summary};
use crate::vocabulary::{field, metadata, ralph_meta};

/// What a run has come to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunProgress {
    /// Where the bead stands.
    pub status: DodStatus,
    /// How many attempts this run has made.
    pub attempt_count: u32,
    /// How many there were before this run.
    pub attempts_before: u64,
    /// When the last attempt began.
    pub last_attempt: Option<Timestamp>,
    /// What the checks said last; nothing when none have run yet.
    pub records: Option<Vec<CheckRecord>>,
    /// What went wrong last.
    pub last_failure_summary: Option<String>,
    /// Why the bead failed for good.
    pub failure_reason: Option<String>,
    /// What the agents cost, as an object; nothing when there was no agent.
    pub receipt: Option<Value>,
    /// The word for a gate: whether it is green.
    pub is_green: Option<bool>,
}

impl RunProgress {
    /// A run that has just begun.
    pub fn begun(attempts_before: u64) -> Self {
        Self {
            status: DodStatus::InProgress,
            attempts_before,
            ..Self::default()
        }
    }

    /// Takes what the checks said.
    pub fn checked(&mut self, records: Vec<CheckRecord>) {
        let failures = summary(&records);
        self.last_failure_summary = (!failures.is_empty()).then_some(failures);
        self.records = Some(records);
    }

    /// The keys of `ralph_meta` that this run sets; null removes one.
    pub fn meta(&self, version: &str) -> Map<String, Value> {
        let total = self.attempts_before + u64::from(self.attempt_count);
        let mut meta = Map::new();
        let mut set = |key: &str, value: Value| drop(meta.insert(key.to_owned(), value));
        set(ralph_meta::ATTEMPT_COUNT, self.attempt_count.into());
        set(ralph_meta::TOTAL_ATTEMPTS, total.into());
        set("executor_version", version.into());
        if let Some(time) = &self.last_attempt {
            set(ralph_meta::LAST_ATTEMPT, json!(time));
        }
        if let Some(records) = &self.records {
            set(ralph_meta::VERIFIER_RESULTS, json!(records));
        }
        set(
            ralph_meta::LAST_FAILURE_SUMMARY,
            json!(self.last_failure_summary),
        );
        set(ralph_meta::FAILURE_REASON, json!(self.failure_reason));
        if let Some(receipt) = &self.receipt {
            set("receipt", receipt.clone());
        }
        if let Some(is_green) = self.is_green {
            set(
                ralph_meta::GATE_STATUS,
                if is_green { "green" } else { "red" }.into(),
            );
        }
        meta
    }

    /// A bead's document with what the run has come to.
    pub fn written_into(
        &self,
        document: &Map<String, Value>,
        version: &str,
        now: &Timestamp,
    ) -> Value {
        let mut document = document.clone();
        let mut meta = match document.remove(metadata::RALPH_META) {
            Some(Value::Object(meta)) => meta,
            _ => Map::new(),
        };
        for (key, value) in self.meta(version) {
            if value.is_null() {
                meta.remove(&key);
            } else {
                meta.insert(key, value);
            }
        }
        // Somebody works on it, so no gate holds it back any more.
        meta.remove(metadata::HELD_BY_GATES);
        document.insert(field::STATUS.to_owned(), self.status.as_str().into());
        document.insert("last_updated".to_owned(), json!(now));
        document.insert(metadata::RALPH_META.to_owned(), meta.into());
        document.into()
    }
}
