//! Which checks are flaky, the worst first, by what was recorded of them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::verdicts::share;

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

/// The flaky checks among some records, the one that was flaky most often first. Records are read as they are in files: what cannot be read is
/// left out.
pub fn flaky_checks<'r>(records: impl IntoIterator<Item = &'r Value>) -> Vec<FlakyCheck> {
    let mut checks: BTreeMap<(&str, &str), FlakyCheck> = BTreeMap::new();
    for record in records {
        let text = |key: &str| record.get(key).and_then(Value::as_str);
        let (Some(name), Some(command)) = (text("name"), text("command")) else {
            continue;
        };
        if record["skipped"] == true {
            continue;
        }
        let check = checks.entry((name, command)).or_insert_with(|| FlakyCheck {
            check: name.to_owned(),
            command: command.to_owned(),
            runs: 0,
            flaky: 0,
            flaky_rate: 0.0,
            last_warning: None,
        });
        check.runs += 1;
        if text("cause") == Some("flaky") {
            check.flaky += 1;
            check.last_warning = text("warning").map(str::to_owned);
        }
    }
    let mut flaky: Vec<FlakyCheck> = checks.into_values().filter(|it| it.flaky > 0).collect();
    for check in &mut flaky {
        check.flaky_rate = share(check.flaky, check.runs).unwrap_or_default();
    }
    flaky.sort_by(|a, b| (b.flaky.cmp(&a.flaky)).then(b.flaky_rate.total_cmp(&a.flaky_rate)));
    flaky
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
        let told: Vec<(String, usize, usize)> = flaky_checks(&records)
            .into_iter()
            .map(|it| (it.check, it.flaky, it.runs))
            .collect();
        assert_eq!(told, [("b".to_owned(), 2, 3), ("a".to_owned(), 1, 1)]);
    }
}
