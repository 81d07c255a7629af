//! `mol current`, `mol show`, `mol progress` and `mol ready`: where molecules stand (F-13).
//!
//! Data of `current`: `{"molecule": id, "status", "current": [{id, title, status, role}]}`, an empty list when every step is closed; of `show`: `{"molecule": id,
//! "title", "status", "formula", "wisp": bool, "expires_at", "progress": {…}, "steps": [{id, title, status, role, place, gate: bool, waits_for: [{id, waiting}],
//! holder}]}`; of `progress`: `{"molecules": [{id, title, status, total, done, in_progress, ready, percent}]}`, where gates count, as they do for a
//! molecule's end; of `ready`: `{"steps": [{id, title, status, role, molecule}]}`, molecule by molecule in the order of their formulas.

use std::collections::HashSet;
use std::fmt::Write as _;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Blocker, expiry, is_expired};
use beads_ralph_core::molecule::{Molecule, MoleculeProgress, Step, StepState};
use beads_ralph_core::text::excerpt;
use beads_ralph_core::vocabulary::field;
use beads_ralph_runtime::app::beads::Beads;
use clap::Args;
use serde::Serialize;

use crate::args::Global;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::{named, paragraph, time};
use crate::ui::table::{Page, Table};

#[derive(Debug, Args)]
pub(crate) struct MolArgs {
    /// The root of the molecule
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct SomeMolArgs {
    /// The root of the molecule
    pub(crate) id: Option<String>,
}

/// A step for programs.
#[derive(Serialize)]
struct StepFacts<'s> {
    id: &'s BeadId,
    title: &'s str,
    status: &'s str,
    role: &'s str,
}

impl<'s> StepFacts<'s> {
    fn of(step: &'s Step) -> Self {
        let issue = &step.record().issue;
        Self {
            id: step.id(),
            title: issue.title(),
            status: issue.status(),
            role: step.role(),
        }
    }
}

/// How far a molecule is, for programs.
#[derive(Serialize)]
struct Figures {
    total: usize,
    done: usize,
    in_progress: usize,
    ready: usize,
    percent: u64,
}

impl Figures {
    fn of(progress: MoleculeProgress) -> Self {
        Self {
            total: progress.total,
            done: progress.done,
            in_progress: progress.current,
            ready: progress.ready,
            percent: progress.percent(),
        }
    }
}

pub(super) fn current(args: &MolArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Answer<'m> {
        molecule: &'m BeadId,
        status: &'m str,
        current: Vec<StepFacts<'m>>,
    }
    let molecule = global.open()?.molecule(&args.id)?;
    let current = molecule.current();
    if ui.is_json() {
        let root = &molecule.root().issue;
        return ui.data(&Answer {
            molecule: root.id(),
            status: root.status(),
            current: current.into_iter().map(StepFacts::of).collect(),
        });
    }
    if current.is_empty() {
        ui.say(&no_current(&molecule));
        return Ok(());
    }
    let mut table = Table::new(&["STEP", "ID", "STATUS", "TITLE…"]);
    for step in current {
        let StepFacts {
            id,
            title,
            status,
            role,
        } = StepFacts::of(step);
        table.row(
            [role, id.as_str(), status, title]
                .map(str::to_owned)
                .to_vec(),
        );
    }
    ui.out(&table.draw(Page::of(ui)))
}

fn no_current(molecule: &Molecule) -> String {
    let (root, progress) = (named(molecule.root()), molecule.progress());
    if progress.done == progress.total {
        return format!("all steps of {root} are closed\n");
    }
    let id = molecule.root().issue.id();
    format!("no step of {root} is ready; see `beads-ralph mol show {id}` for what blocks each\n")
}

pub(super) fn show(args: &MolArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Answer<'m> {
        molecule: &'m BeadId,
        title: &'m str,
        status: &'m str,
        formula: Option<&'m str>,
        wisp: bool,
        expires_at: Option<String>,
        progress: Figures,
        steps: Vec<ShownStep<'m>>,
    }
    let beads = global.open()?;
    let molecule = beads.molecule(&args.id)?;
    let mut steps = Vec::new();
    for step in molecule.steps() {
        steps.push(ShownStep::of(step, beads.store.blockers(step.id())?));
    }
    if ui.is_json() {
        let root = &molecule.root().issue;
        return ui.data(&Answer {
            molecule: root.id(),
            title: root.title(),
            status: root.status(),
            formula: molecule.formula(),
            wisp: molecule.is_wisp(),
            expires_at: expiry(root).map(time),
            progress: Figures::of(molecule.progress()),
            steps,
        });
    }
    ui.out(&page(&molecule, &steps, &beads, Page::of(ui)))
}

/// A step, with where it stands.
#[derive(Serialize)]
struct ShownStep<'s> {
    #[serde(flatten)]
    facts: StepFacts<'s>,
    place: &'static str,
    gate: bool,
    waits_for: Vec<Blocker>,
    holder: Option<&'s str>,
}

impl<'s> ShownStep<'s> {
    fn of(step: &'s Step, waits_for: Vec<Blocker>) -> Self {
        let claim = step.record().claim.as_ref();
        Self {
            facts: StepFacts::of(step),
            place: step.place().as_str(),
            gate: step.is_gate(),
            waits_for,
            holder: claim.map(|claim| claim.holder.run.as_str()),
        }
    }
}

fn page(molecule: &Molecule, steps: &[ShownStep<'_>], beads: &Beads, page: Page) -> String {
    let (root, progress) = (molecule.root(), molecule.progress());
    let mut text = format!("{} ({})\n", named(root), root.issue.status());
    if let Some(description) = root.issue.text(field::DESCRIPTION) {
        text.push_str(&paragraph(description));
    }
    if let Some(until) = expiry(&root.issue) {
        let is_over = is_expired(&root.issue, beads.by.now);
        let word = if is_over { "expired" } else { "expires" };
        _ = writeln!(text, "a wisp, which {word} at {}", time(until));
    }
    _ = writeln!(text, "{} of {} steps done\n", progress.done, progress.total);
    let mut table = Table::new(&["PLACE", "STEP", "ID", "TITLE…", "BLOCKED BY…"]);
    for step in steps {
        let blockers = step.waits_for.iter();
        let blockers: Vec<String> = blockers.map(|it| excerpt(it.id.as_str())).collect();
        table.row(vec![
            step.place.to_owned(),
            step.facts.role.to_owned(),
            step.facts.id.to_string(),
            step.facts.title.to_owned(),
            blockers.join(", "),
        ]);
    }
    text + &table.draw(page)
}

pub(super) fn progress(args: &SomeMolArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Answer<'m> {
        molecules: Vec<Far<'m>>,
    }
    #[derive(Serialize)]
    struct Far<'m> {
        id: &'m BeadId,
        title: &'m str,
        status: &'m str,
        #[serde(flatten)]
        figures: Figures,
    }
    let molecules = global.open()?.molecules(args.id.as_deref())?;
    let far = |molecule| {
        let root = &Molecule::root(molecule).issue;
        Far {
            id: root.id(),
            title: root.title(),
            status: root.status(),
            figures: Figures::of(molecule.progress()),
        }
    };
    let molecules: Vec<Far<'_>> = molecules.iter().map(far).collect();
    if ui.is_json() {
        return ui.data(&Answer { molecules });
    }
    if molecules.is_empty() {
        ui.say("no open molecule\n");
        return Ok(());
    }
    let mut table = Table::new(&["ID", "STATUS", "DONE", "IN PROGRESS", "READY", "TITLE…"]);
    for Far {
        id,
        title,
        status,
        figures,
    } in molecules
    {
        table.row(vec![
            id.to_string(),
            status.to_owned(),
            format!("{}/{}", figures.done, figures.total),
            figures.in_progress.to_string(),
            figures.ready.to_string(),
            title.to_owned(),
        ]);
    }
    ui.out(&table.draw(Page::of(ui)))
}

pub(super) fn ready(args: &SomeMolArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Answer<'m> {
        steps: Vec<ReadyStep<'m>>,
    }
    #[derive(Serialize)]
    struct ReadyStep<'m> {
        #[serde(flatten)]
        facts: StepFacts<'m>,
        molecule: &'m BeadId,
    }
    let beads = global.open()?;
    let molecules = beads.molecules(args.id.as_deref())?;
    let startable = beads.startable()?;
    let steps = ready_steps(&molecules, &startable).into_iter();
    let steps = steps.map(|(molecule, step)| ReadyStep {
        facts: StepFacts::of(step),
        molecule: molecule.root().issue.id(),
    });
    let steps: Vec<ReadyStep<'_>> = steps.collect();
    if ui.is_json() {
        return ui.data(&Answer { steps });
    }
    if steps.is_empty() {
        ui.say("no step is ready; see `beads-ralph mol progress` for the molecules\n");
        return Ok(());
    }
    let mut table = Table::new(&["MOLECULE", "STEP", "ID", "TITLE…"]);
    for ReadyStep { facts, molecule } in steps {
        table.row(vec![
            molecule.to_string(),
            facts.role.to_owned(),
            facts.id.to_string(),
            facts.title.to_owned(),
        ]);
    }
    ui.out(&table.draw(Page::of(ui)))
}

/// The steps that can be started, each with the innermost molecule that lists it first.
fn ready_steps<'m>(
    molecules: &'m [Molecule],
    startable: &HashSet<BeadId>,
) -> Vec<(&'m Molecule, &'m Step)> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for molecule in molecules {
        for step in molecule.steps() {
            let is_ready = step.place() == StepState::Ready && startable.contains(step.id());
            // The step of a molecule that is part of another one belongs to both.
            if is_ready && seen.insert(step.id()) {
                found.push((molecule, step));
            }
        }
    }
    found
}
