//! A bead of a store as a DoD bead (Z-28): its description is the intent, the rest is under `metadata`.

use serde_json::{Map, Value, json};

use super::model::DodBead;
use super::read::read;
use super::words::DodType;
use crate::bead::{FieldError, Verifier};
use crate::issue::Issue;

/// The label that makes a gate of an issue; stores have no such type for us.
const GATE: &str = "gate";

/// Reads an issue; what is wrong is named by the place in the DoD bead. Checks that hold for every bead (`verify.default`) are enough
/// for one that has none of its own; a gate has its own only.
pub fn of_issue(issue: &Issue, defaults: &[Verifier]) -> Result<DodBead, Vec<FieldError>> {
    let mut document = Map::new();
    let mut set = |key: &str, value: Value| drop(document.insert(key.to_owned(), value));
    let intent = issue
        .text("description")
        .filter(|text| !text.trim().is_empty());
    set("id", issue.id().as_str().into());
    set("title", issue.title().into());
    // A title says what is wanted, when nobody wrote more.
    set("intent", intent.unwrap_or(issue.title()).into());
    set("priority", issue.priority().clamp(0, 5).into());
    let kind = if issue.has_label(GATE) {
        DodType::Gate
    } else {
        DodType::parse(issue.issue_type()).unwrap_or(DodType::Task)
    };
    set("type", kind.as_str().into());
    let status = match issue.status() {
        status @ ("open" | "in_progress" | "blocked" | "closed" | "hooked" | "pinned") => status,
        _ => "open",
    };
    set("status", status.into());
    for key in ["lane", "constraints", "dod", "ralph_meta", "blocking"] {
        if let Some(value) = issue.metadata().and_then(|metadata| metadata.get(key)) {
            set(key, value.clone());
        }
    }
    let has_checks = document.get("dod").is_some_and(|dod| !dod.is_null());
    if has_checks || defaults.is_empty() || kind == DodType::Gate {
        return Ok(read(json!(document), None)?.with_checks(defaults));
    }
    document.insert("dod".to_owned(), json!({"verifiers": defaults}));
    read(json!(document), None)
}
