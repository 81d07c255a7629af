//! Which beads a run is for. Asking for what is not there is a mistake, and is told before anything begins.

use std::collections::BTreeSet;

use beads_ralph_core::bead::{BeadId, IssueType};
use beads_ralph_core::diag::{ErrorCode, did_you_mean};
use beads_ralph_core::issue::{Query, Record, StatusFilter};
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::removed_sprints;
use beads_ralph_runtime::run::Selection;

use super::RunArgs;
use crate::failure::Failure;
use crate::ui::format::list;

/// Which beads are meant. A plan means its own, also those that it gets while the run goes on; what it no longer has stays in the store
/// and is not begun (Z-44).
pub(super) fn selection(
    args: &RunArgs,
    plan: Option<String>,
    beads: &Beads,
) -> Result<Selection, Failure> {
    let ids = args
        .bead
        .iter()
        .map(|text| Ok(beads.resolve(text)?.issue.id().clone()));
    let selection = Selection {
        beads: ids.collect::<Result<Vec<BeadId>, Failure>>()?,
        teams: args.team.clone(),
        sprints: args.sprint.clone(),
        plan,
    };
    check(&selection, beads)?;
    Ok(selection)
}

/// Refuses a selection that selects nothing. What is closed counts: a run that finds its work done is over, and not wrong.
fn check(selection: &Selection, beads: &Beads) -> Result<(), Failure> {
    let is_all = selection.beads.is_empty();
    if is_all && selection.teams.is_empty() && selection.sprints.is_empty() {
        return Ok(());
    }
    let records = records(selection, beads)?;
    let place = selection.plan.as_deref().map_or("the store", |plan| plan);
    for (wanted, noun, key) in [
        (&selection.sprints, "sprint", "sprint"),
        (&selection.teams, "team", "team_name"),
    ] {
        let known: BTreeSet<&str> = records.iter().filter_map(|it| text(it, key)).collect();
        if let Some(absent) = wanted.iter().find(|name| !known.contains(name.as_str())) {
            return Err(unknown(noun, absent, &known, place));
        }
    }
    if records.iter().any(|record| selection.selects(record)) {
        return Ok(());
    }
    let message = format!(
        "nothing is selected: no bead of {} is {}",
        excerpt(place),
        described(selection)
    );
    Err(Failure::new(ErrorCode::DependencyUnresolved, message)
        .action("ask for less at once, or see `beads-ralph list --all`"))
}

/// The beads that the selection is about: all of the plan, or of the store, but for sprints that the plan no longer has.
fn records(selection: &Selection, beads: &Beads) -> Result<Vec<Record>, Failure> {
    let plan = selection.plan.as_deref();
    let query = Query {
        status: StatusFilter::Any,
        types: [IssueType::Work, IssueType::Merge]
            .map(|kind| kind.as_str().to_owned())
            .to_vec(),
        metadata: plan
            .map(|plan| ("plan_file".to_owned(), plan.to_owned()))
            .into_iter()
            .collect(),
        ..Query::default()
    };
    let mut records = beads.store.find(&query)?;
    if let Some(plan) = plan {
        let removed = removed_sprints::read(&*beads.store, plan)?;
        records.retain(|it| text(it, "sprint").is_none_or(|sprint| !removed.contains(sprint)));
    }
    Ok(records)
}

fn text<'r>(record: &'r Record, key: &str) -> Option<&'r str> {
    record.issue.metadata()?.get(key)?.as_str()
}

/// What was asked for, what there is, and what may have been meant.
fn unknown(noun: &str, asked: &str, known: &BTreeSet<&str>, place: &str) -> Failure {
    let (asked_shown, place) = (excerpt(asked), excerpt(place));
    let message = format!("there is no {noun} '{asked_shown}' in {place}");
    let failure = Failure::new(ErrorCode::DependencyUnresolved, message);
    let some = list(known);
    let there_is = match known.len() {
        0 => format!("it has no {noun}s"),
        1 => format!("its {noun} is {some}"),
        _ => format!("its {noun}s are {some}"),
    };
    match did_you_mean(asked, known.iter().copied()) {
        Some(near) => failure.action(format!("did you mean {}? {there_is}", excerpt(near))),
        None => failure.action(there_is),
    }
}

/// Everything that a bead would have to be.
fn described(selection: &Selection) -> String {
    let ids: Vec<String> = selection.beads.iter().map(BeadId::to_string).collect();
    let parts = [
        ("", &ids),
        ("of sprint ", &selection.sprints),
        ("of team ", &selection.teams),
    ];
    let parts = parts.iter().filter(|(_, names)| !names.is_empty());
    let parts = parts.map(|(what, names)| {
        let names: Vec<String> = names.iter().map(|name| excerpt(name)).collect();
        format!("{what}{}", names.join(" or "))
    });
    let mut parts: Vec<String> = parts.collect();
    parts.push("assigned to agents".to_owned());
    parts.join(", ")
}
