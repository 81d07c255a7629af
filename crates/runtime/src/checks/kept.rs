//! What was recorded of checks, by `exec` and `verify` among the evidence of a bead, by runs beside their logs (Z-37), and by `implement` beside
//! the reports of its workers.

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use crate::files;

/// Where records are, from the project's root and from the `.beads` directory. What is old may be compressed.
const EVIDENCE: &str = ".ralph/evidence/*/*.json";
const BESIDE: [&str; 2] = ["runs/**/checks.json*", "worker-audit/**/checks.json*"];

/// Every record of a check that is kept, in the order of the files' names. What cannot be read is left out.
pub fn kept_records(root: &Utf8Path, beads: &Utf8Path) -> Vec<Value> {
    let evidence = found(root, EVIDENCE).into_iter().filter_map(|path| {
        let mut document = read(&path)?;
        document.get_mut("results").map(Value::take)
    });
    let beside = BESIDE.iter().flat_map(|pattern| found(beads, pattern));
    let beside = beside.filter_map(|path| read(&path));
    let lists = evidence.chain(beside).filter_map(|list| match list {
        Value::Array(records) => Some(records),
        _ => None,
    });
    lists.flatten().collect()
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
