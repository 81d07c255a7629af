//! `gate enforce`: features that are in progress while a gate is red become `blocked`, and are released when the gates are green (G-4).
//!
//! What somebody works on now is told of and left alone: it is theirs. Only what was blocked here is released here.
//!
//! Data: `{"blocked": [{id, reason}], "released": [id…], "held": [{id, reason}], "red": [id…]}`; `held` are beads that somebody works on, `red`
//! the gates that hold features back.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use beads_ralph_core::dod::{DodBead, DodStatus};
use beads_ralph_core::gate::{Applicant, Denied, Gates};
use beads_ralph_core::issue::{Edit, Query, Record, StatusFilter};
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_core::vocabulary::metadata;
use beads_ralph_runtime::bead_files::{BeadFile, BeadFileError};
use beads_ralph_runtime::os::files::FileError;
use beads_ralph_runtime::store::{Guard, Stamp, Store, StoreError, Write};
use beads_ralph_runtime::{gate, os::host};
use serde_json::{Map, Value, json};

use crate::args::Global;
use crate::failure::Failure;
use crate::governing;
use crate::ui::{Ui, counted};

/// The statuses of a store that say that somebody began.
const BEGUN: [&str; 2] = ["in_progress", "hooked"];

/// What was done.
#[derive(Default)]
struct Enforced {
    blocked: BTreeMap<String, String>,
    released: Vec<String>,
    held: BTreeMap<String, String>,
    red: Vec<String>,
}

/// What is to be done about a bead.
enum Verdict {
    Block(String),
    Release,
}

impl Verdict {
    /// What it makes of a bead of the store. The note comes after the status, whose change takes away what was noted before.
    fn edits(&self) -> Vec<Edit> {
        match self {
            Self::Release => vec![
                Edit::Reopen,
                Edit::AppendNotes("[gates] released: the gates are green".to_owned()),
            ],
            Self::Block(reason) => vec![
                Edit::Status("blocked".to_owned()),
                Edit::MergeMetadata(Map::from_iter([(
                    metadata::HELD_BY_GATES.to_owned(),
                    json!(reason),
                )])),
                Edit::AppendNotes(format!("[gates] blocked: {reason}")),
            ],
        }
    }
}

pub(super) fn run(global: &Global, ui: &Ui) -> Result<(), Failure> {
    let ralph = governing::main_project()?;
    let mut beads = governing::store_if_any(global)?;
    let store = beads.as_ref().map(|beads| &*beads.store as &dyn Store);
    let gates = gate::gates(&ralph, store)?;
    let red = gates.standing().filter(|gate| gate.is_red());
    let mut enforced = Enforced {
        red: red.map(|gate| gate.id.clone()).collect(),
        ..Enforced::default()
    };
    let mut failures = Vec::new();
    for path in ralph.work_files() {
        // What is no bead is for whoever works on it.
        if let Ok(file) = BeadFile::read(&path) {
            failures.extend(enforced.file(&file, &gates).err());
        }
    }
    if let Some(beads) = &mut beads {
        enforced.store(&mut *beads.store, beads.by.stamp(), &gates)?;
    }
    if let Some(failure) = ui.worst(failures) {
        return Err(failure.with_results(enforced.to_json()));
    }
    if ui.is_json() {
        return ui.data(&enforced.to_json());
    }
    ui.out(&enforced.text())
}

/// A feature that was begun is blocked by red gates, and what was blocked so is released by green ones.
fn verdict(is_begun: bool, is_held: bool, permission: Result<(), Denied>) -> Option<Verdict> {
    match permission {
        Err(denied) if is_begun => Some(Verdict::Block(denied.to_string())),
        Ok(()) if is_held => Some(Verdict::Release),
        _ => None,
    }
}

fn verdict_on_file(bead: &DodBead, gates: &Gates) -> Option<Verdict> {
    let is_held = bead.status == DodStatus::Blocked && bead.meta(metadata::HELD_BY_GATES).is_some();
    let is_begun = bead.status == DodStatus::InProgress;
    verdict(
        is_begun,
        is_held,
        gates.permission(&Applicant::of_bead(bead)),
    )
}

impl Enforced {
    /// A bead in a file. It is decided about again under its lock: whoever held it may have finished it, or moved it away.
    fn file(&mut self, seen: &BeadFile, gates: &Gates) -> Result<(), Failure> {
        let id = seen.bead().id.clone();
        let Some(first) = verdict_on_file(seen.bead(), gates) else {
            return Ok(());
        };
        let Some(_lock) = seen.lock()? else {
            if let Verdict::Block(reason) = first {
                self.held.insert(id, reason);
            }
            return Ok(());
        };
        let Ok(file) = BeadFile::read(seen.path()) else {
            return Ok(());
        };
        let Some(verdict) = verdict_on_file(file.bead(), gates) else {
            return Ok(());
        };
        let (status, note) = match &verdict {
            Verdict::Block(reason) => (DodStatus::Blocked, json!(reason)),
            Verdict::Release => (DodStatus::Pending, Value::Null),
        };
        match file.write_status(status, (metadata::HELD_BY_GATES, note)) {
            Ok(()) => self.tell(id, verdict),
            // Somebody who asks for no lock was faster.
            Err(BeadFileError::File(FileError::Changed { .. } | FileError::NotFound { .. })) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn store(
        &mut self,
        store: &mut dyn Store,
        by: Stamp<'_>,
        gates: &Gates,
    ) -> Result<(), Failure> {
        let statuses = BEGUN.iter().chain(&["blocked"]);
        let records = store.find(&Query {
            status: StatusFilter::OneOf(statuses.map(|&status| status.to_owned()).collect()),
            ..Query::default()
        })?;
        for record in records {
            match self.record(&record, store, by, gates) {
                Err(error) if is_overtaken(&error) => {}
                done => done?,
            }
        }
        Ok(())
    }

    /// A bead of the store, as it was seen; it is written only if it still is so.
    fn record(
        &mut self,
        seen: &Record,
        store: &mut dyn Store,
        by: Stamp<'_>,
        gates: &Gates,
    ) -> Result<(), StoreError> {
        let issue = &seen.issue;
        let id = issue.id().clone();
        let is_begun = BEGUN.contains(&issue.status());
        let is_held = issue.held_by_gates().is_some();
        let permission = gates.permission(&Applicant::of_issue(issue));
        let Some(verdict) = verdict(is_begun, is_held, permission) else {
            return Ok(());
        };
        let version = match (&seen.claim, &verdict) {
            (Some(claim), Verdict::Block(reason)) => {
                let gone = claim.is_abandoned(by.at, &host::name(), host::liveness);
                let Some(why) = gone else {
                    self.held.insert(id.to_string(), reason.clone());
                    return Ok(());
                };
                store.reclaim(&id, claim.fence, why, by)?.version
            }
            _ => seen.version,
        };
        let write = Write::Update {
            id: id.clone(),
            edits: verdict.edits(),
            guard: Guard {
                version: Some(version),
                ..Guard::default()
            },
        };
        store.write(&[write], by)?;
        self.tell(id.to_string(), verdict);
        Ok(())
    }

    fn tell(&mut self, id: String, verdict: Verdict) {
        match verdict {
            Verdict::Block(reason) => drop(self.blocked.insert(id, reason)),
            Verdict::Release => self.released.push(id),
        }
    }

    fn to_json(&self) -> Value {
        let each = |beads: &BTreeMap<String, String>| -> Vec<Value> {
            let beads = beads.iter();
            beads
                .map(|(id, reason)| json!({"id": id, "reason": reason}))
                .collect()
        };
        json!({
            "blocked": each(&self.blocked),
            "released": self.released,
            "held": each(&self.held),
            "red": self.red,
        })
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{} blocked, {} released\n",
            counted(self.blocked.len(), "feature", "features"),
            self.released.len()
        );
        if !self.red.is_empty() {
            let red = self.red.clone();
            _ = writeln!(text, "{}", Denied { red });
        }
        for (id, reason) in &self.blocked {
            _ = writeln!(text, "blocked {}: {}", excerpt(id), visible(reason));
        }
        for id in &self.released {
            _ = writeln!(text, "released {}", excerpt(id));
        }
        for (id, reason) in &self.held {
            let (id, reason) = (excerpt(id), visible(reason));
            _ = writeln!(
                text,
                "somebody works on {id}, which is left to them: {reason}"
            );
        }
        text
    }
}

/// Whether somebody else changed or took a bead after it was seen: they were faster, and the others go on.
fn is_overtaken(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Guard { .. }
            | StoreError::Stale { .. }
            | StoreError::Held { .. }
            | StoreError::NotFound(_)
    )
}

#[cfg(test)]
mod tests;
