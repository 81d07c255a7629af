//! Every key is in docs/configuration.md, and nothing else is.

use std::collections::BTreeSet;

use camino::Utf8Path;

use super::super::document;

/// An unknown key: the error names all known ones.
const UNKNOWN: &str = "no_such_key_at_all";

/// Sections below keys that are the user's own.
const BELOW_NAMES: &str = "agents.adapters.<name>";

/// The known keys below a path; empty if it is not a section.
fn keys_below(path: &[&str]) -> Vec<String> {
    let inner = format!("{{{UNKNOWN}: 1}}");
    let text = path.iter().rev().fold(inner, |inner, key| {
        format!("{{{}: {inner}}}", key.replace("<name>", "claude"))
    });
    document::known_keys(&text, UNKNOWN).unwrap_or_default()
}

/// Every key with its sections, as `a.b.c`. The flat layout has the same agents as the nested one.
fn known() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut pending: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(path) = pending.pop() {
        let names: Vec<&str> = path.iter().map(String::as_str).collect();
        let mut below = keys_below(&names);
        if path == ["agents", "adapters"] {
            below = vec!["<name>".to_owned()];
        }
        let is_repeated = names.first() == Some(&"agent_defaults");
        let is_adapter = names.len() > 3 && names.join(".").starts_with(BELOW_NAMES);
        if below.is_empty() || is_repeated || is_adapter {
            found.insert(names.join("."));
            continue;
        }
        for key in below {
            let mut path = path.clone();
            path.push(key);
            pending.push(path);
        }
    }
    found
}

#[test]
fn z_22_every_key_is_documented_once_and_nothing_else_is() {
    let path = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/configuration.md");
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(key, _)| key)
        .collect();
    let known = known();
    assert!(known.len() > 50, "{known:#?}");
    for key in &known {
        let n_rows = rows.iter().filter(|row| row == &key).count();
        assert_eq!(
            n_rows, 1,
            "docs/configuration.md has {n_rows} rows for {key}"
        );
    }
    for row in rows {
        assert!(
            known.contains(row),
            "docs/configuration.md describes {row}, which nobody reads"
        );
    }
}
