//! `gate check`: whether a bead may be begun, or whether all gates are green (G-3, G-4).
//!
//! Data: `{"green": true, "red": []}`, with a bead `{bead, "allowed": true, feature}`. A failure has `error.results`: `{"green": false, "red": [gate…],
//! "held": [id…], "next": [id…]}`, where `held` are the features that are held back and `next` is what can be done meanwhile, in order (G-5); with a bead
//! `{bead, "allowed": false, "red": [id…]}`. A group that neither a gate nor a bead belongs to is an error: it is no green one.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use beads_ralph_core::diag::{ErrorCode, did_you_mean};
use beads_ralph_core::gate::{Applicant, Denied, Gate, Gates};
use beads_ralph_core::issue::{Query, StatusFilter};
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::bead_files::{BeadFile, Ralph};
use beads_ralph_runtime::store::Store;
use beads_ralph_runtime::{gate, os::clock};
use clap::Args;
use serde::Serialize;

use super::{GateFacts, main_project, none_stands, refused, store_if_any, why};
use crate::args::Global;
use crate::failure::Failure;
use crate::ui::{Ui, counted};

#[derive(Debug, Args)]
pub(crate) struct GateCheckArgs {
    /// The bead that is to be begun: its id, or its file in .ralph/beads or .beads/active
    #[arg(value_name = "BEAD")]
    pub(crate) bead: Option<String>,
    /// Only the gates that count for features of a group
    #[arg(long, value_name = "NAME", conflicts_with = "bead")]
    pub(crate) group: Option<String>,
}

/// How many beads people are shown of what can be done meanwhile.
const MAX_NEXT: usize = 5;

pub(super) fn run(args: &GateCheckArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = store_if_any(global)?;
    let store = beads.as_ref().map(|beads| &*beads.store as &dyn Store);
    let ralph = main_project()?;
    let gates = gate::gates(&ralph, store)?;
    if let Some(name) = &args.bead {
        return one(name, &gates, global, ui);
    }
    if let Some(group) = &args.group {
        known(group, &gates, &ralph, store)?;
    }
    let groups = args.group.iter().cloned().collect();
    all(&groups, &gates, beads.as_ref(), ui)
}

/// Refuses a group that nothing belongs to: whoever mistyped it would hear that all is well.
fn known(
    group: &str,
    gates: &Gates,
    ralph: &Ralph,
    store: Option<&dyn Store>,
) -> Result<(), Failure> {
    let own = gates.all().iter().flat_map(|gate| gate.groups.clone());
    let mut groups: BTreeSet<String> = own.collect();
    if groups.contains(group) {
        return Ok(());
    }
    let files = ralph.work_files().into_iter();
    let files = files.filter_map(|path| BeadFile::read(&path).ok());
    groups.extend(files.flat_map(|file| Applicant::of_bead(file.bead()).groups));
    if let Some(store) = store {
        let records = store.find(&Query {
            status: StatusFilter::Any,
            ..Query::default()
        })?;
        let records = records.iter();
        groups.extend(records.flat_map(|record| Applicant::of_issue(&record.issue).groups));
    }
    if groups.contains(group) {
        return Ok(());
    }
    let message = format!(
        "no gate and no bead belongs to a group '{}'",
        excerpt(group)
    );
    let failure = Failure::new(ErrorCode::DependencyUnresolved, message);
    Err(
        match did_you_mean(group, groups.iter().map(String::as_str)) {
            Some(near) => failure.action(format!("did you mean {}?", excerpt(near))),
            None => failure.action("`beads-ralph gate list` names the groups of the gates"),
        },
    )
}

/// A bead that may be started.
#[derive(Serialize)]
struct MayBegin<'b> {
    bead: &'b str,
    allowed: bool,
    feature: bool,
}

/// All gates are green.
#[derive(Serialize)]
struct Green {
    green: bool,
    red: [String; 0],
}

/// A gate is red.
#[derive(Serialize)]
struct Results<'g> {
    green: bool,
    red: Vec<GateFacts<'g>>,
    held: Vec<String>,
    next: Vec<String>,
}

/// Whether one bead may be started. An unknown one may not.
fn one(name: &str, gates: &Gates, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let applicant = match main_project()?.find(name) {
        Some(path) => Applicant::of_bead(BeadFile::read(&path)?.bead()),
        None => Applicant::of_issue(&global.open()?.resolve(name)?.issue),
    };
    let id = &applicant.id;
    if let Err(denied) = gates.permission(&applicant) {
        return Err(refused(&denied, id));
    }
    if ui.is_json() {
        return ui.data(&MayBegin {
            bead: id,
            allowed: true,
            feature: applicant.is_feature,
        });
    }
    let what = if applicant.is_feature {
        "every gate that counts for it is green"
    } else {
        "it is not a feature, and gates hold back nothing else"
    };
    ui.out(&format!("{} may be begun: {what}\n", excerpt(id)))
}

fn all(
    groups: &BTreeSet<String>,
    gates: &Gates,
    beads: Option<&Beads>,
    ui: &Ui,
) -> Result<(), Failure> {
    let red = gates.counting(groups).filter(|gate| gate.is_red());
    let red: Vec<&Gate> = red.collect();
    let n_gates = gates.counting(groups).count();
    if red.is_empty() {
        if ui.is_json() {
            return ui.data(&Green {
                green: true,
                red: [],
            });
        }
        return ui.out(&match n_gates {
            0 if gates.standing().next().is_some() => {
                "no gate counts for this group, so nothing is held back\n".to_owned()
            }
            0 => format!("{}, so no feature is held back\n", none_stands(gates)),
            n_gates => format!("green: {} passed\n", counted(n_gates, "gate", "gates")),
        });
    }
    let (held, next) = match beads {
        Some(beads) => waiting(groups, gates, beads)?,
        None => (Vec::new(), Vec::new()),
    };
    ui.out(&said(&red, &held, &next))?;
    let denied = Denied {
        red: red.iter().map(|gate| gate.id.clone()).collect(),
    };
    let results = Results {
        green: false,
        red: red.into_iter().map(GateFacts::of).collect(),
        held,
        next,
    };
    let failure = Failure::new(ErrorCode::ValidationConstraint, denied.to_string())
        .action("fix what they check, then `beads-ralph gate run`")
        .with_results(results);
    Err(failure.exit_with(1))
}

/// What is red, what that holds back, and what can be done meanwhile.
fn said(red: &[&Gate], held: &[String], next: &[String]) -> String {
    let mut text = String::new();
    for gate in red {
        let (id, why) = (excerpt(&gate.id), visible(&why(gate)));
        _ = writeln!(text, "{id}: {why}");
    }
    if !held.is_empty() {
        let n_held = counted(held.len(), "feature is", "features are");
        _ = writeln!(text, "{n_held} held back: {}", held.join(", "));
    }
    if !next.is_empty() {
        let first: Vec<&str> = next.iter().take(MAX_NEXT).map(String::as_str).collect();
        _ = writeln!(text, "what can be done meanwhile: {}", first.join(", "));
    }
    text
}

/// The beads that could be started: those of the groups that are held back, and all others in the order of work.
fn waiting(
    groups: &BTreeSet<String>,
    gates: &Gates,
    beads: &Beads,
) -> Result<(Vec<String>, Vec<String>), Failure> {
    let ready = beads.store.find(&Query {
        ready_at: Some(clock::now()),
        ..Query::default()
    })?;
    let ready = ready
        .iter()
        .map(|record| Applicant::of_issue(&record.issue));
    let (mut held, mut others): (Vec<Applicant>, Vec<Applicant>) =
        ready.partition(|it| gates.permission(it).is_err());
    held.retain(|it| groups.is_empty() || !groups.is_disjoint(&it.groups));
    gates.order(&mut others);
    let ids = |beads: Vec<Applicant>| beads.into_iter().map(|bead| bead.id).collect();
    Ok((ids(held), ids(others)))
}
