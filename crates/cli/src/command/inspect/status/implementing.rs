//! The beads that `implement` and `drive` work on, or would: where each of them is in its molecule.

use std::collections::{BTreeMap, BTreeSet};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::implement::linked_source;
use beads_ralph_core::issue::{Query, Record, Standing};
use beads_ralph_core::molecule::{Molecule, Step, StepState};
use beads_ralph_core::vocabulary::label;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::app::molecules;
use serde::Serialize;

use crate::failure::Failure;
use crate::ui::table::{Page, Table};

/// A bead that is not closed, and how far it is.
#[derive(Serialize)]
pub(super) struct Implementing {
    id: String,
    title: String,
    status: String,
    molecule: Option<String>,
    /// The stage that a person is asked about, that somebody works on, or that comes next.
    stage: Option<String>,
    place: Option<&'static str>,
    done: usize,
    total: usize,
    pub(super) human: bool,
    pub(super) merge_ready: bool,
}

/// All of them, in the order of their ids. Of several molecules the latest counts.
pub(super) fn look(beads: &Beads) -> Result<Vec<Implementing>, Failure> {
    let store = beads.store.as_ref();
    let roots = molecules::roots(store, None)?.into_iter();
    let mut latest: BTreeMap<BeadId, Record> = BTreeMap::new();
    latest.extend(roots.filter_map(|root| Some((linked_source(&root.issue)?, root))));
    let ready = store.find(&Query {
        labels_all: vec![label::IMPLEMENTATION_READY.to_owned()],
        ..Query::default()
    })?;
    let mut ids: BTreeSet<BeadId> = latest.keys().cloned().collect();
    ids.extend(ready.iter().map(|record| record.issue.id().clone()));
    let ids: Vec<BeadId> = ids.into_iter().collect();
    let mut found = Vec::new();
    for source in store.get(&ids)? {
        if source.issue.standing() != Standing::Closed {
            let root = latest.remove(source.issue.id());
            let molecule = root.map(|root| molecules::load(store, root)).transpose()?;
            found.push(Implementing::new(&source, molecule.as_ref()));
        }
    }
    Ok(found)
}

impl Implementing {
    fn new(source: &Record, molecule: Option<&Molecule>) -> Self {
        let issue = &source.issue;
        let progress = molecule.map(Molecule::progress).unwrap_or_default();
        let is_human = issue.has_label(label::HUMAN);
        let current = molecule.and_then(|it| {
            // What waits for a person is what they are asked about, also where others could go on.
            let flagged = |step: &&Step| step.record().issue.has_label(label::HUMAN);
            let asked = it.steps().iter().rfind(flagged).filter(|_| is_human);
            asked.or_else(|| it.current().into_iter().next())
        });
        Self {
            id: issue.id().to_string(),
            title: issue.title().to_owned(),
            status: issue.status().to_owned(),
            molecule: molecule.map(|it| it.root().issue.id().to_string()),
            stage: current.map(|step| step.role().to_owned()),
            place: current.map(|step| step.place().as_str()),
            done: progress.done,
            total: progress.total,
            human: is_human,
            merge_ready: issue.has_label(label::MERGE_READY),
        }
    }

    fn word(&self) -> &'static str {
        if self.human {
            "for a person"
        } else if self.merge_ready {
            "to be merged"
        } else if self.molecule.is_none() {
            "not begun"
        } else if self.place == Some(StepState::Current.as_str()) {
            "working"
        } else {
            "between stages"
        }
    }
}

pub(super) fn text(all: &[Implementing], page: Page) -> String {
    let mut table = Table::new(&["BEAD", "STATE", "STAGE", "DONE", "TITLE…"]);
    for it in all {
        let done = it
            .molecule
            .as_ref()
            .map(|_| format!("{}/{}", it.done, it.total));
        table.row(vec![
            it.id.clone(),
            it.word().to_owned(),
            it.stage.clone().unwrap_or_default(),
            done.unwrap_or_default(),
            it.title.clone(),
        ]);
    }
    table.draw(page)
}
