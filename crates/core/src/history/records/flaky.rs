//! Which checks are flaky, the worst first, by what was recorded of them.

use std::collections::BTreeMap;

use jiff::Timestamp as Instant;
use serde::Serialize;
use serde_json::Value;

use super::figures::share;
use crate::bead::Timestamp;

/// A check that passed at one time and not at another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlakyCheck {
    /// Its name.
    pub check: String,
    /// Its command.
    pub command: String,
    /// How often it was run, retries not counted.
    pub runs: usize,
    /// How often it passed only when it was run again.
    pub flaky: usize,
    /// The share of runs that were flaky.
    pub flaky_rate: f64,
    /// What was said about it last.
    pub last_warning: Option<String>,
}

/// What is known of checks by their records, which are handed in one by one and in any order, and are not kept.
#[derive(Debug, Default)]
pub struct FlakyChecks(BTreeMap<(String, String), Known>);

/// What is known of one check.
#[derive(Debug, Default)]
struct Known {
    runs: usize,
    flaky: usize,
    /// When it was flaky last, and what was said then.
    last: Option<(Option<Instant>, String)>,
}

impl FlakyChecks {
    /// Takes a record as it is in a file; what cannot be read is left out.
    pub fn take(&mut self, record: &Value) {
        let text = |key: &str| record.get(key).and_then(Value::as_str);
        let (Some(name), Some(command)) = (text("name"), text("command")) else {
            return;
        };
        if record["skipped"] == true {
            return;
        }
        let key = (name.to_owned(), command.to_owned());
        let known = self.0.entry(key).or_default();
        known.runs += 1;
        if text("cause") != Some("flaky") {
            return;
        }
        known.flaky += 1;
        let time = text("timestamp").and_then(|time| Timestamp::parse(time).ok());
        let time = time.map(|time| time.instant());
        let is_later = (known.last.as_ref()).is_none_or(|(last, _)| time >= *last);
        if let Some(warning) = text("warning").filter(|_| is_later) {
            known.last = Some((time, warning.to_owned()));
        }
    }

    /// The flaky ones, the one that was flaky most often first.
    pub fn ranked(self) -> Vec<FlakyCheck> {
        let flaky = self.0.into_iter().filter(|(_, known)| known.flaky > 0);
        let mut flaky: Vec<FlakyCheck> = flaky
            .map(|((check, command), known)| FlakyCheck {
                check,
                command,
                runs: known.runs,
                flaky: known.flaky,
                flaky_rate: share(known.flaky, known.runs).unwrap_or_default(),
                last_warning: known.last.map(|(_, warning)| warning),
            })
            .collect();
        flaky.sort_by(|a, b| (b.flaky.cmp(&a.flaky)).then(b.flaky_rate.total_cmp(&a.flaky_rate)));
        flaky
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ranked(records: &[Value]) -> Vec<FlakyCheck> {
        let mut checks = FlakyChecks::default();
        for record in records {
            checks.take(record);
        }
        checks.ranked()
    }

    #[test]
    fn z_22_what_was_said_last_is_so_by_the_time_and_not_by_the_order() {
        let flaky = |time: Option<&str>, warning: &str| json!({"name": "a", "command": "c", "cause": "flaky", "timestamp": time, "warning": warning});
        let records = [
            flaky(Some("2026-02-07T10:00:00Z"), "first"),
            flaky(Some("2026-02-07T10:30:00.5Z"), "last"),
            flaky(Some("2026-02-07T11:00:00+02:00"), "before"),
            flaky(None, "some time"),
        ];
        let last = ranked(&records).pop().unwrap().last_warning;
        assert_eq!(last.as_deref(), Some("last"));
    }

    #[test]
    fn z_22_the_check_that_was_flaky_most_often_comes_first() {
        let record = |name: &str, cause: Option<&str>| {
            let warning = cause.map(|cause| format!("{name} {cause}"));
            json!({"name": name, "command": "c", "cause": cause, "warning": warning, "skipped": false})
        };
        let records = [
            record("a", Some("flaky")),
            record("b", Some("flaky")),
            record("b", None),
            record("b", Some("flaky")),
            record("c", Some("regression")),
            json!({"name": "a", "command": "c", "skipped": true}),
            json!("noise"),
        ];
        let told: Vec<(String, usize, usize)> = ranked(&records)
            .into_iter()
            .map(|it| (it.check, it.flaky, it.runs))
            .collect();
        assert_eq!(told, [("b".to_owned(), 2, 3), ("a".to_owned(), 1, 1)]);
    }
}
