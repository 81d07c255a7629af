//! The notes of `bd` that belong to no issue, as control rows: they stay where `bd remember` keeps them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::program::Call;
use super::stamp;
use crate::store::Control;

/// What the keys of such rows begin with.
const PREFIX: &str = "memory/";

/// Whether a key, or the beginning of one, means notes.
pub(super) fn is_meant(key: &str) -> bool {
    key.starts_with(PREFIX)
}

/// The note of an exported line, if it is one.
pub(super) fn of_line(line: &Value) -> Option<(String, String)> {
    if line.get("_type")?.as_str()? != "memory" {
        return None;
    }
    let text = |key: &str| Some(line.get(key)?.as_str()?.to_owned());
    Some((text("key")?, text("value")?))
}

/// Notes as rows. `bd` does not count how often one was set.
pub(super) fn rows(memories: &BTreeMap<String, String>, prefix: &str) -> Vec<Control> {
    let by = stamp();
    let rows = memories.iter().map(|(key, value)| Control {
        key: format!("{PREFIX}{key}"),
        value: value.as_str().into(),
        version: 1,
        actor: by.actor.to_owned(),
        at: by.at,
    });
    rows.filter(|row| row.key.starts_with(prefix)).collect()
}

/// The call that sets a note, or removes it.
pub(super) fn call(key: &str, value: &Value, actor: &str) -> Call {
    let key = key.strip_prefix(PREFIX).unwrap_or(key);
    let actor = format!("--actor={actor}");
    match value.as_str() {
        None => Call::new(["forget", key, "--json", actor.as_str()]),
        Some(value) => Call {
            input: Some(
                format!(
                    "{}\n",
                    json!({"_type": "memory", "key": key, "value": value})
                )
                .into(),
            ),
            ..Call::new(["import", "-", "--json", actor.as_str()])
        },
    }
}
