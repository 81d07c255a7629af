//! What was recorded of checks, by `exec` and `verify` among the evidence of a bead, by runs beside their logs (Z-37), and by `implement` beside
//! the reports of its workers.

use std::fmt::Write as _;

use beads_ralph_core::text::without_colour;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::os::files;

/// Where records are, from the project's root and from the `.beads` directory. What is old may be compressed.
const EVIDENCE: &str = ".ralph/evidence/*/*.json";
const BESIDE: [&str; 2] = ["runs/**/checks.json*", "worker-audit/**/checks.json*"];

/// How much of what a failed check printed is told: its end, where the error mostly is.
const MAX_PRINTED: usize = 3000;

/// Shows every record of a check that is kept, in the order of the files' names, one file after the other: there may be more than fits into
/// memory. What cannot be read is left out.
pub fn each_kept_record(root: &Utf8Path, beads: &Utf8Path, mut see: impl FnMut(&Value)) {
    let mut see_all = |list: Option<&Value>| {
        let records = list.and_then(Value::as_array).into_iter().flatten();
        records.for_each(&mut see);
    };
    for path in found(root, EVIDENCE) {
        let document = read(&path);
        see_all(
            document
                .as_ref()
                .and_then(|document| document.get("results")),
        );
    }
    for path in BESIDE.iter().flat_map(|pattern| found(beads, pattern)) {
        see_all(read(&path).as_ref());
    }
}

/// The records of the last time that the checks of an attempt were run; nothing when they never were. `checks`, `checks-2` and so on are below
/// the attempt's directory.
pub fn last_records(attempt: &Utf8Path) -> Option<Vec<Value>> {
    let later = (2..=u32::MAX).map(|n| attempt.join(format!("checks-{n}")));
    let places = std::iter::once(attempt.join("checks")).chain(later);
    let last = places.take_while(|place| place.is_dir()).last()?;
    let records = read(&last.join("checks.json"))?;
    records.as_array().cloned()
}

/// What the checks that failed printed last, in lines for whoever is to mend it; nothing when they printed nothing.
pub fn printed_by_failed(records: &[Value]) -> String {
    let mut text = String::new();
    for record in records {
        if record["passed"] == true || record["skipped"] == true {
            continue;
        }
        let stream = |key: &str| record[key].as_str().unwrap_or_default().trim();
        let printed = [stream("stdout"), stream("stderr")].join("\n");
        let start = printed.len().saturating_sub(MAX_PRINTED);
        let end = printed[printed.ceil_char_boundary(start)..].trim();
        if !end.is_empty() {
            let name = record["name"].as_str().unwrap_or("a check");
            _ = write!(text, "\n\n{name} printed:\n{}", without_colour(end));
        }
    }
    text
}

fn found(root: &Utf8Path, pattern: &str) -> Vec<Utf8PathBuf> {
    let escaped = glob::Pattern::escape(root.as_str());
    let paths = glob::glob(&format!("{escaped}/{pattern}"));
    let paths = paths.into_iter().flatten().flatten();
    paths
        .filter_map(|path| Utf8PathBuf::from_path_buf(path).ok())
        .collect()
}

fn read(path: &Utf8Path) -> Option<Value> {
    serde_json::from_slice(&files::read_kept(path).ok()?).ok()
}
