//! A bead of a store as a DoD bead (Z-28): its description is the intent, the rest is under `metadata`.

use serde_json::{Map, Value, json};

use super::model::DodBead;
use super::read::{read, says_gate};
use super::words::DodType;
use crate::bead::{FieldError, IssueType, Verifier};
use crate::issue::Issue;
use crate::vocabulary::label;

/// Whether a bead of a store is a gate: by its label, or because it says so in the words of files. A sprint of a plan is one by its label alone;
/// and a bead of the type `gate` without checks is one of `bd`, or of a molecule, and not ours.
pub fn is_gate(issue: &Issue) -> bool {
    let metadata = || issue.metadata().is_some_and(says_gate);
    let is_planned = IssueType::parse(issue.issue_type()).is_ok();
    issue.has_label(label::GATE) || (!is_planned && (metadata() || is_checked_gate(issue)))
}

fn is_checked_gate(issue: &Issue) -> bool {
    let checks = issue.metadata().and_then(|metadata| metadata.get("dod"));
    issue.issue_type() == DodType::Gate.as_str() && checks.is_some_and(|dod| !dod.is_null())
}

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
    let is_gate = is_gate(issue);
    let kind = if is_gate {
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
    let lacks_checks = !has_checks && !is_gate && !defaults.is_empty();
    if lacks_checks {
        document.insert("dod".to_owned(), json!({"verifiers": defaults}));
    }
    let bead = DodBead {
        is_gate,
        ..read(json!(document), None)?
    };
    Ok(if lacks_checks {
        bead
    } else {
        bead.with_checks(defaults)
    })
}
