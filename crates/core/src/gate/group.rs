//! Which groups a bead belongs to (G-4): its labels `group-<name>`, and its `convoy`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::issue::Issue;
use crate::vocabulary::{field, label};

/// The groups of a bead in a file.
pub(super) fn of_document(document: &Map<String, Value>) -> BTreeSet<String> {
    let labels = document.get("labels").and_then(Value::as_array);
    let labels = labels.into_iter().flatten().filter_map(Value::as_str);
    of(labels, Some(document))
}

/// The groups of a bead in a store.
pub(super) fn of_issue(issue: &Issue) -> BTreeSet<String> {
    of(issue.labels(), issue.metadata())
}

fn of<'a>(
    labels: impl Iterator<Item = &'a str>,
    fields: Option<&Map<String, Value>>,
) -> BTreeSet<String> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let text_of = |key: &str| text(fields?.get(key));
    let blocked = || text(fields?.get("blocking")?.get("blocks_convoy"));
    let named = labels.filter_map(|label| label.strip_prefix(label::GROUP_PREFIX));
    // A gate says which convoy it blocks, and so belongs to it.
    let convoys = [text_of(field::CONVOY), text_of("blocks_convoy"), blocked()];
    let groups = named
        .map(str::to_owned)
        .chain(convoys.into_iter().flatten());
    groups.filter(|name| !name.trim().is_empty()).collect()
}
