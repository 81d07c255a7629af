//! What was recorded of checks, by `exec` and `verify` among the evidence of a bead, by runs beside their logs (Z-37), and by `implement` beside
//! the reports of its workers.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::files;

/// Where records are, from the project's root and from the `.beads` directory. What is old may be compressed.
const EVIDENCE: &str = ".ralph/evidence/*/*.json";
const BESIDE: [&str; 2] = ["runs/**/checks.json*", "worker-audit/**/checks.json*"];

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
