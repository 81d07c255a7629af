//! `plan diff`: what applying a plan would change in the store, and what it would not dare to (Z-10).

use beads_ralph_core::apply::{Changed, Detail, Difference, Reconciliation, Verdict};
use beads_ralph_core::text::{contrast, excerpt};
use serde_json::{Value, json};

use crate::args::{Global, SelectionArgs};
use crate::failure::Failure;
use crate::mason::Mason;
use crate::ui::{Ui, counted, lines};

/// How many details of one bead are shown to people.
const MAX_DETAILS: usize = 12;

pub(crate) fn run(args: &SelectionArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mason = Mason::read(args)?;
    let beads = mason.open(args, global, ui)?;
    let mut comparison = mason.compare(args, &beads, ui)?;
    mason.say_findings(&mut comparison.compiled, ui);
    if ui.is_json() {
        return ui.data(&to_json(&comparison.reconciliation));
    }
    ui.out(&picture(&comparison.reconciliation))?;
    ui.say(&format!(
        "{}: {}\n{}",
        mason.source.shown(),
        summary(&comparison.reconciliation),
        advice(&comparison.reconciliation)
    ));
    Ok(())
}

/// How many differences of each kind there are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) new: usize,
    pub(crate) changed: usize,
    pub(crate) refused: usize,
    pub(crate) removed: usize,
    pub(crate) conflicts: usize,
}

impl Tally {
    pub(crate) fn of(reconciliation: &Reconciliation) -> Self {
        let mut tally = Self::default();
        for difference in &reconciliation.differences {
            match difference {
                Difference::New { .. } => tally.new += 1,
                Difference::Changed(changed) if changed.verdict == Verdict::Safe => {
                    tally.changed += 1;
                }
                Difference::Changed(_) => tally.refused += 1,
                Difference::Removed(_) => tally.removed += 1,
                Difference::Conflict { .. } => tally.conflicts += 1,
            }
        }
        tally
    }
}

/// What to do about beads that were refused.
pub(crate) fn advice(reconciliation: &Reconciliation) -> &'static str {
    if Tally::of(reconciliation).refused > 0 {
        "refused changes wait for the bead: release a claimed one, reopen a closed one, or give new work a number of its own; then apply again\n"
    } else {
        ""
    }
}

/// One line for people: how much of what.
pub(crate) fn summary(reconciliation: &Reconciliation) -> String {
    let tally = Tally::of(reconciliation);
    let mut parts = vec![
        format!("{} new", tally.new),
        format!("{} changed", tally.changed),
    ];
    for (n, what) in [
        (tally.refused, "refused"),
        (tally.removed, "no longer in the plan"),
        (tally.conflicts, "in conflict"),
    ] {
        if n > 0 {
            parts.push(format!("{n} {what}"));
        }
    }
    parts.push(counted(
        reconciliation.unchanged.len(),
        "unchanged",
        "unchanged",
    ));
    parts.join(", ")
}

/// Every difference, one to a line, with its details below it.
pub(crate) fn picture(reconciliation: &Reconciliation) -> String {
    lines(reconciliation.differences.iter().map(|difference| {
        let id = excerpt(difference.id().as_str());
        let sprint = difference.sprint();
        match difference {
            Difference::New { .. } => format!("+ {id}  sprint {sprint}: new"),
            Difference::Changed(changed) => changed_lines(changed, &id),
            Difference::Removed(removed) => format!(
                "- {id}  sprint {sprint}: no longer in the plan; the bead stays {}; close it if nobody wants it, a molecule with `mol squash`",
                excerpt(&removed.status)
            ),
            Difference::Conflict { owner, .. } => {
                format!("! {id}  sprint {sprint}: the id belongs to {owner}")
            }
        }
    }))
}

fn changed_lines(changed: &Changed, id: &str) -> String {
    let sprint = &changed.sprint;
    let head = match changed.verdict {
        Verdict::Safe => format!("~ {id}  sprint {sprint}: changed"),
        Verdict::Refused(why) => {
            format!(
                "! {id}  sprint {sprint}: refused, because the bead is {}",
                why.as_str()
            )
        }
    };
    // Only what the bead knows about its place in the plan is another (Z-45).
    let nothing = changed.details.is_empty().then(|| {
        "the work is the same; only what the bead notes about its plan changes".to_owned()
    });
    let shown = changed.details.iter().take(MAX_DETAILS).map(detail_line);
    let more = changed.details.len().saturating_sub(MAX_DETAILS);
    let more = (more > 0).then(|| format!("and {more} more"));
    let parts: Vec<String> = [head]
        .into_iter()
        .chain(nothing)
        .chain(shown)
        .chain(more)
        .collect();
    parts.join("\n    ")
}

fn detail_line(detail: &Detail) -> String {
    match detail {
        Detail::Field {
            field,
            before,
            after,
        } => {
            let (field, before, after) = narrowed(field, before.as_ref(), after.as_ref());
            let (before, after) = side_by_side(before, after);
            format!("{}: {before} → {after}", excerpt(&field))
        }
        Detail::LabelAdded(label) => format!("label + {}", excerpt(label)),
        Detail::LabelRemoved(label) => format!("label - {}", excerpt(label)),
        Detail::DependencyAdded(id) => format!("waits for + {}", excerpt(id.as_str())),
        Detail::DependencyRemoved { target, kind } => {
            format!(
                "waits for - {} ({})",
                excerpt(target.as_str()),
                excerpt(kind)
            )
        }
    }
}

/// Two values, cut so that it is seen where they differ.
fn side_by_side(before: Option<&Value>, after: Option<&Value>) -> (String, String) {
    let text = |value: Option<&Value>| match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let (shown_before, shown_after) = contrast(&text(before), &text(after));
    let quoted = |value: Option<&Value>, shown: String| match value {
        Some(Value::String(_)) => format!("\"{shown}\""),
        _ => shown,
    };
    (quoted(before, shown_before), quoted(after, shown_after))
}

/// The one place inside of a value where it is different, so that two long values do not look the same.
fn narrowed<'v>(
    field: &str,
    mut before: Option<&'v Value>,
    mut after: Option<&'v Value>,
) -> (String, Option<&'v Value>, Option<&'v Value>) {
    let mut field = field.to_owned();
    while let Some((name, old, new)) = only_difference(before, after) {
        field.push_str(&name);
        (before, after) = (old, new);
    }
    (field, before, after)
}

/// The only member of two objects, or of two lists of one length, that differs.
fn only_difference<'v>(
    before: Option<&'v Value>,
    after: Option<&'v Value>,
) -> Option<(String, Option<&'v Value>, Option<&'v Value>)> {
    let mut different: Vec<(String, Option<&Value>, Option<&Value>)> = match (before?, after?) {
        (Value::Object(old), Value::Object(new)) => {
            let added = new.keys().filter(|key| !old.contains_key(*key));
            (old.keys().chain(added))
                .map(|key| (format!(".{key}"), old.get(key), new.get(key)))
                .collect()
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            let pairs = old.iter().zip(new).enumerate();
            pairs
                .map(|(at, (old, new))| (format!("[{at}]"), Some(old), Some(new)))
                .collect()
        }
        _ => return None,
    };
    different.retain(|(_, old, new)| old != new);
    let only = different.pop()?;
    different.is_empty().then_some(only)
}

/// The differences for programs.
pub(crate) fn to_json(reconciliation: &Reconciliation) -> Value {
    let differences: Vec<Value> = reconciliation
        .differences
        .iter()
        .map(difference_json)
        .collect();
    let tally = Tally::of(reconciliation);
    json!({
        "differences": differences,
        "counts": {
            "new": tally.new, "changed": tally.changed, "refused": tally.refused, "removed": tally.removed,
            "conflicts": tally.conflicts, "unchanged": reconciliation.unchanged.len(),
        },
        "unchanged": reconciliation.unchanged,
    })
}

fn difference_json(difference: &Difference) -> Value {
    let (id, sprint) = (difference.id(), difference.sprint().to_string());
    match difference {
        Difference::New { entry, .. } => {
            json!({"id": id, "sprint": sprint, "kind": "new", "is_safe": true, "title": entry.issue.title()})
        }
        Difference::Changed(changed) => {
            let refused = match changed.verdict {
                Verdict::Safe => None,
                Verdict::Refused(why) => Some(why.as_str()),
            };
            let details: Vec<Value> = changed.details.iter().map(detail_json).collect();
            json!({"id": id, "sprint": sprint, "kind": "changed", "is_safe": refused.is_none(), "refused": refused, "details": details})
        }
        Difference::Removed(removed) => {
            json!({"id": id, "sprint": sprint, "kind": "removed", "is_safe": false, "status": removed.status})
        }
        Difference::Conflict { owner, .. } => {
            json!({"id": id, "sprint": sprint, "kind": "conflict", "is_safe": false, "owner": owner.to_string()})
        }
    }
}

fn detail_json(detail: &Detail) -> Value {
    match detail {
        Detail::Field {
            field,
            before,
            after,
        } => json!({"field": field, "before": before, "after": after}),
        Detail::LabelAdded(label) => json!({"field": "labels", "added": label}),
        Detail::LabelRemoved(label) => json!({"field": "labels", "removed": label}),
        Detail::DependencyAdded(id) => json!({"field": "dependencies", "added": id}),
        Detail::DependencyRemoved { target, kind } => {
            json!({"field": "dependencies", "removed": target, "type": kind})
        }
    }
}
