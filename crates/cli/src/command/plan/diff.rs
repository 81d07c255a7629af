//! `plan diff`: what applying a plan would change in the store, and what it would not dare to (Z-10).

use beads_ralph_core::apply::{Changed, Detail, Difference, FieldChange, Reconciliation, Verdict};
use beads_ralph_core::bead::BeadId;
use beads_ralph_core::compile::Compiled;
use beads_ralph_core::diag::sort_by_place;
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::app::plan::{PlanInput, compare};
use serde::Serialize;

use super::error;
use crate::args::{Global, SelectionArgs};
use crate::failure::Failure;
use crate::ui::{Stream, Ui, lines, render};

/// How many details of one bead are shown to people.
const MAX_DETAILS: usize = 12;

pub(crate) fn run(args: &SelectionArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let input = PlanInput::read(&args.plan, args.options())?;
    let beads = open(&input, global, ui)?;
    let mut comparison = compare(&input, &*beads.store, &beads.directory, beads.by.actor())
        .map_err(|error| error::failure(error, &input.source, ui))?;
    say_findings(&input, &mut comparison.compiled, ui);
    let reconciliation = &comparison.reconciliation;
    if ui.is_json() {
        return ui.data(&DiffData::of(reconciliation));
    }
    ui.out(&picture(reconciliation))?;
    ui.say(&format!(
        "{}: {}\n{}",
        input.source.shown(),
        summary(reconciliation),
        advice(reconciliation)
    ));
    Ok(())
}

/// Opens the store. When it cannot be opened, what is wrong with the plan comes first (E-11).
pub(crate) fn open(input: &PlanInput, global: &Global, ui: &Ui) -> Result<Beads, Failure> {
    global.open().map_err(|failure| match input.validate() {
        Ok(()) => failure,
        Err(error) => error::failure(error, &input.source, ui),
    })
}

/// Says what was found in the plan beside its beads.
pub(crate) fn say_findings(input: &PlanInput, compiled: &mut Compiled, ui: &Ui) {
    sort_by_place(&mut compiled.findings);
    let style = ui.style(Stream::Err);
    ui.say(&render(&input.source, &compiled.findings, style));
}

/// How many differences of each kind there are.
#[derive(Debug, Default, Clone, Copy, Serialize)]
struct Tally {
    new: usize,
    changed: usize,
    refused: usize,
    removed: usize,
    conflicts: usize,
    unchanged: usize,
}

impl Tally {
    fn of(reconciliation: &Reconciliation) -> Self {
        let mut tally = Self {
            unchanged: reconciliation.unchanged.len(),
            ..Self::default()
        };
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
        "to make the refused changes, release claimed beads and reopen closed ones, or put new work into a new sprint; then apply again\n"
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
    parts.push(format!("{} unchanged", tally.unchanged));
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
                "- {id}  sprint {sprint}: no longer in the plan; the bead stays {}; close it if it is no longer needed, a molecule with `mol squash`",
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
    let nothing = changed
        .details
        .is_empty()
        .then(|| "only the bead's record of its plan changes".to_owned());
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
        Detail::Field(change) => {
            let shown = change.shown();
            format!(
                "{}: {} → {}",
                excerpt(&shown.field),
                shown.before,
                shown.after
            )
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

/// The differences for programs.
#[derive(Serialize)]
pub(crate) struct DiffData<'a> {
    differences: Vec<DifferenceData<'a>>,
    counts: Tally,
    unchanged: &'a [BeadId],
}

#[derive(Serialize)]
struct DifferenceData<'a> {
    id: &'a BeadId,
    sprint: String,
    kind: &'static str,
    is_safe: bool,
    #[serde(flatten)]
    more: MoreData<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum MoreData<'a> {
    New {
        title: &'a str,
    },
    Changed {
        refused: Option<&'static str>,
        details: Vec<DetailData<'a>>,
    },
    Removed {
        status: &'a str,
    },
    Conflict {
        owner: String,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum DetailData<'a> {
    Field(&'a FieldChange),
    Added {
        field: &'static str,
        added: &'a str,
    },
    Removed {
        field: &'static str,
        removed: &'a str,
        #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
        kind: Option<&'a str>,
    },
}

impl<'a> DiffData<'a> {
    pub(crate) fn of(reconciliation: &'a Reconciliation) -> Self {
        Self {
            differences: (reconciliation.differences.iter())
                .map(DifferenceData::of)
                .collect(),
            counts: Tally::of(reconciliation),
            unchanged: &reconciliation.unchanged,
        }
    }
}

impl<'a> DifferenceData<'a> {
    fn of(difference: &'a Difference) -> Self {
        let (kind, is_safe, more) = match difference {
            Difference::New { entry, .. } => {
                let title = entry.issue.title();
                ("new", true, MoreData::New { title })
            }
            Difference::Changed(changed) => {
                let refused = match changed.verdict {
                    Verdict::Safe => None,
                    Verdict::Refused(why) => Some(why.as_str()),
                };
                let details = changed.details.iter().map(DetailData::of).collect();
                let more = MoreData::Changed { refused, details };
                ("changed", refused.is_none(), more)
            }
            Difference::Removed(removed) => {
                let status = &removed.status;
                ("removed", false, MoreData::Removed { status })
            }
            Difference::Conflict { owner, .. } => {
                let owner = owner.to_string();
                ("conflict", false, MoreData::Conflict { owner })
            }
        };
        Self {
            id: difference.id(),
            sprint: difference.sprint().to_string(),
            kind,
            is_safe,
            more,
        }
    }
}

impl<'a> DetailData<'a> {
    fn of(detail: &'a Detail) -> Self {
        let (labels, dependencies) = ("labels", "dependencies");
        match detail {
            Detail::Field(change) => Self::Field(change),
            Detail::LabelAdded(added) => Self::Added {
                field: labels,
                added,
            },
            Detail::LabelRemoved(removed) => Self::Removed {
                field: labels,
                removed,
                kind: None,
            },
            Detail::DependencyAdded(id) => Self::Added {
                field: dependencies,
                added: id.as_str(),
            },
            Detail::DependencyRemoved { target, kind } => Self::Removed {
                field: dependencies,
                removed: target.as_str(),
                kind: Some(kind),
            },
        }
    }
}
