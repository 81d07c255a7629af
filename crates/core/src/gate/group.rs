//! Which groups a bead belongs to (G-4): its labels `group-<name>`, and its `convoy`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::issue::Issue;

/// The beginning of the label that puts a bead into a group.
pub const GROUP_LABEL: &str = "group-";

/// The key that names the convoy of a bead: in a file at the top, in a store under `metadata`.
pub const CONVOY: &str = "convoy";

/// The label that says that a sprint travels in the lane of features: plans have labels and no lanes.
pub const LANE_FEATURE: &str = "lane-feature";

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
    let field = |key: &str| text(fields?.get(key));
    let blocked = || text(fields?.get("blocking")?.get("blocks_convoy"));
    let named = labels.filter_map(|label| label.strip_prefix(GROUP_LABEL));
    // A gate says which convoy it blocks, and so belongs to it.
    let convoys = [field(CONVOY), field("blocks_convoy"), blocked()];
    let groups = named
        .map(str::to_owned)
        .chain(convoys.into_iter().flatten());
    groups.filter(|name| !name.trim().is_empty()).collect()
}
