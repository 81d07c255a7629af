//! `bd create --json -` and `bd create --json bead.json`: a whole bead as JSON, which the real `bd` does not take (Z-24).

use beads_ralph_core::issue::Entry;
use beads_ralph_runtime::store::{StoreError, Write};
use serde::Serialize;
use serde_json::Value;

use crate::bd::{Call, Refusal, document_json, input};

/// The document that was given in the place of a title. A word counts as a file only if it is `-`, or names a file `*.json`
/// that holds an object; anything else is a title.
pub(super) fn given(call: &Call<'_>) -> Result<Option<Value>, Refusal> {
    let [word] = call.arguments.words.as_slice() else {
        return Ok(None);
    };
    let is_file = word.len() > 5 && word.to_lowercase().ends_with(".json");
    if !call.output.is_json() || (word != "-" && !is_file) {
        return Ok(None);
    }
    let text = match input::body(word) {
        Ok(text) => text,
        Err(_) if is_file => return Ok(None),
        Err(why) => return Err(Refusal::plain(format!("reading from stdin: {why}"))),
    };
    match serde_json::from_str::<Value>(&text) {
        Ok(document @ Value::Object(_)) => Ok(Some(document)),
        _ if is_file => Ok(None),
        Ok(_) => Err(Refusal::plain(
            "a bead is a JSON object; standard input holds something else",
        )),
        Err(error) => Err(Refusal::plain(format!(
            "a bead is a JSON object; standard input holds none: {error}"
        ))),
    }
}

#[derive(Serialize)]
struct Created<'i> {
    id: &'i str,
    status: &'static str,
}

/// Puts the bead into the store as it is.
pub(super) fn create(call: &Call<'_>, document: Value) -> Result<(), Refusal> {
    let mut opened = call.open()?;
    let entry = Entry::from_document(document).map_err(|errors| {
        let why = document_json::sentence(&errors);
        Refusal::plain(format!("validation failed: {why}"))
    })?;
    let id = entry.issue.id().clone();
    let written = opened.write(&[Write::Insert(Box::new(entry))]);
    written.map_err(|error| match error {
        // Callers look for these two words.
        error @ StoreError::Exists(_) => Refusal::plain(error.to_string()),
        error => error.into(),
    })?;
    call.output.value(Created {
        id: id.as_str(),
        status: "created",
    })
}
