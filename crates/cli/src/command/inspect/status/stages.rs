//! What `implement` did to a bead, stage by stage: where each step of its molecules is, how often it was begun, and what came of it.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::implement::ralf::completed_cycles;
use beads_ralph_core::implement::{linked_source, pull_request_of, reason, worktree_of};
use beads_ralph_core::issue::Record;
use beads_ralph_core::molecule::{Molecule, Step};
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_core::vocabulary::label;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::app::molecules;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::ui::table::{Page, Table, pairs};
use crate::worker_reports::{Found, reports};

pub(super) struct Worked {
    molecule: Molecule,
    stages: Vec<Stage>,
}

struct Stage {
    step: Step,
    reports: Vec<Found>,
}

/// The molecules of a bead, the oldest first.
pub(super) fn of_bead(beads: &Beads, record: &Record) -> Result<Vec<Worked>, Failure> {
    let found = molecules::of_bead(beads.store.as_ref(), record.issue.id())?;
    let worked = found.into_iter().map(|molecule| Worked {
        stages: (molecule.steps().iter())
            .map(|step| Stage {
                reports: reports(&beads.directory, step.record()),
                step: step.clone(),
            })
            .collect(),
        molecule,
    });
    Ok(worked.collect())
}

/// What a step or a root is a part of.
#[derive(Serialize)]
pub(super) struct PartOf {
    pub(super) molecule: BeadId,
    /// The bead that the molecule was poured for.
    pub(super) bead: BeadId,
}

/// What the bead is a part of, if it is a step or a root of `implement`.
pub(super) fn part_of(beads: &Beads, record: &Record) -> Result<Option<PartOf>, Failure> {
    let root = molecules::root_of(beads.store.as_ref(), record)?;
    Ok(root.and_then(|root| {
        Some(PartOf {
            bead: linked_source(&root.issue)?,
            molecule: root.issue.id().clone(),
        })
    }))
}

#[derive(Serialize)]
pub(super) struct JsonMolecule<'m> {
    id: &'m BeadId,
    formula: Option<&'m str>,
    status: &'m str,
    done: usize,
    total: usize,
    current: Option<&'m str>,
    worktree: Option<String>,
    pull_request: Option<String>,
    steps: Vec<JsonStage<'m>>,
}

#[derive(Serialize)]
struct JsonStage<'s> {
    id: &'s BeadId,
    stage: &'s str,
    place: &'static str,
    status: &'s str,
    human: bool,
    holder: Option<&'s str>,
    tries: u64,
    cycles: u32,
    closed_at: Option<&'s str>,
    said: Option<&'s str>,
    reports: Vec<Value>,
}

impl Stage {
    /// How often somebody began it.
    fn n_tries(&self) -> u64 {
        self.step.record().fence.0
    }

    /// How many cycles of a loop are over.
    fn n_cycles(&self) -> u32 {
        let notes = self.step.record().issue.text("notes");
        completed_cycles(notes.unwrap_or_default())
    }

    fn is_for_a_person(&self) -> bool {
        self.step.record().issue.has_label(label::HUMAN)
    }

    /// Why a person is asked, or what came of it.
    fn said(&self) -> Option<&str> {
        let issue = &self.step.record().issue;
        let asked = issue.text("notes").filter(|_| self.is_for_a_person());
        let asked = asked.map(reason).filter(|it| !it.is_empty());
        asked.or_else(|| issue.text("close_reason"))
    }

    fn to_json(&self) -> JsonStage<'_> {
        let (issue, claim) = (&self.step.record().issue, &self.step.record().claim);
        JsonStage {
            id: issue.id(),
            stage: self.step.role(),
            place: self.step.place().as_str(),
            status: issue.status(),
            human: self.is_for_a_person(),
            holder: claim.as_ref().map(|claim| claim.holder.run.as_str()),
            tries: self.n_tries(),
            cycles: self.n_cycles(),
            closed_at: issue.text("closed_at"),
            said: self.said(),
            reports: self.reports.iter().map(Found::to_json).collect(),
        }
    }

    fn state(&self) -> String {
        let place = self.step.place().as_str();
        if self.is_for_a_person() {
            format!("{place}, for a person")
        } else {
            place.to_owned()
        }
    }

    /// The lines of the step: one for each report, and one without any.
    fn push(&self, table: &mut Table) {
        let shown = |n: u64| if n == 0 { String::new() } else { n.to_string() };
        let mut begins = vec![
            self.step.role().to_owned(),
            self.state(),
            shown(self.n_tries()),
            shown(self.n_cycles().into()),
        ];
        let mut reports = self.reports.iter();
        let mut report = reports.next();
        let said: Vec<&str> = self.said().unwrap_or_default().lines().collect();
        let mut said = excerpt(&said.join(" "));
        loop {
            let mut cells = std::mem::replace(&mut begins, vec![String::new(); 4]);
            cells.push(report.map(worker).unwrap_or_default());
            cells.push(report.map(verdict).unwrap_or_default());
            cells.push(std::mem::take(&mut said));
            table.row(cells);
            report = reports.next();
            if report.is_none() {
                return;
            }
        }
    }
}

/// The worker of a report, with its cycle where there are some.
fn worker(report: &Found) -> String {
    let name = report.path.file_stem().unwrap_or_default();
    name.to_owned()
}

fn verdict(report: &Found) -> String {
    match &report.said {
        Ok(said) => format!("{}, gate {}", said.status, said.gate),
        Err(_) => "unreadable".to_owned(),
    }
}

impl Worked {
    pub(super) fn to_json(&self) -> JsonMolecule<'_> {
        let root = &self.molecule.root().issue;
        let progress = self.molecule.progress();
        let current = self.molecule.current().into_iter().next();
        JsonMolecule {
            id: root.id(),
            formula: self.molecule.formula(),
            status: root.status(),
            done: progress.done,
            total: progress.total,
            current: current.map(|step| step.id().as_str()),
            worktree: worktree_of(root),
            pull_request: pull_request_of(root),
            steps: self.stages.iter().map(Stage::to_json).collect(),
        }
    }

    pub(super) fn text(&self, page: Page) -> String {
        let root = &self.molecule.root().issue;
        let progress = self.molecule.progress();
        let mut text = format!(
            "molecule {} ({}), {} of {} steps done\n",
            visible(root.id().as_str()),
            excerpt(self.molecule.formula().unwrap_or(root.title())),
            progress.done,
            progress.total
        );
        let facts = [
            ("worktree", worktree_of(root)),
            ("pr", pull_request_of(root)),
        ];
        let facts = facts
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        text.push_str(&pairs(facts, "  ", page));
        let mut table = Table::new(&[
            "STAGE",
            "STATE",
            "TRIES",
            "CYCLES",
            "WORKER",
            "VERDICT",
            "MESSAGE…",
        ]);
        for stage in &self.stages {
            stage.push(&mut table);
        }
        text.push_str(&table.draw(page));
        text
    }
}
