//! What gates do to features: those that are in progress while a gate is red become `blocked`, and are released when the gates are green (G-4).
//!
//! What somebody works on now is reported and left alone. Only what was blocked here is released here.

use std::collections::BTreeMap;

use beads_ralph_core::dod::{DodBead, DodStatus};
use beads_ralph_core::gate::{Applicant, Denied, Gates};
use beads_ralph_core::issue::{Edit, Query, Record, StatusFilter};
use beads_ralph_core::vocabulary::{Status, metadata};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::bead_files::{BeadFile, BeadFileError, Ralph};
use crate::os::files::FileError;
use crate::os::host;
use crate::store::{Guard, Stamp, Store, StoreError, Write};

/// The statuses of a store that say that somebody began.
const BEGUN: [Status; 2] = [Status::InProgress, Status::Hooked];

/// What was done.
#[derive(Debug, Default, Serialize)]
pub struct Enforced {
    /// Each with the reason.
    #[serde(serialize_with = "with_reasons")]
    pub blocked: BTreeMap<String, String>,
    pub released: Vec<String>,
    /// What somebody works on, each with the reason to stop.
    #[serde(serialize_with = "with_reasons")]
    pub held: BTreeMap<String, String>,
    /// The gates that hold features back.
    pub red: Vec<String>,
}

fn with_reasons<S: Serializer>(
    beads: &BTreeMap<String, String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Bead<'b> {
        id: &'b str,
        reason: &'b str,
    }
    serializer.collect_seq(beads.iter().map(|(id, reason)| Bead { id, reason }))
}

/// Blocks and releases the features of a project, in files and in a store. Files that could not be written are errors beside what was done.
pub fn enforce(
    ralph: &Ralph,
    store: Option<(&mut dyn Store, Stamp<'_>)>,
    gates: &Gates,
) -> Result<(Enforced, Vec<BeadFileError>), StoreError> {
    let red = gates.standing().filter(|gate| gate.is_red());
    let mut enforced = Enforced {
        red: red.map(|gate| gate.id.clone()).collect(),
        ..Enforced::default()
    };
    let mut failures = Vec::new();
    for path in ralph.work_files() {
        // What is not a bead is for whoever works on it.
        if let Ok(file) = BeadFile::read(&path) {
            failures.extend(enforced.file(&file, gates).err());
        }
    }
    if let Some((store, by)) = store {
        enforced.store(store, by, gates)?;
    }
    Ok((enforced, failures))
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
                Edit::Status(Status::Blocked.into()),
                Edit::MergeMetadata(Map::from_iter([(
                    metadata::HELD_BY_GATES.to_owned(),
                    reason.as_str().into(),
                )])),
                Edit::AppendNotes(format!("[gates] blocked: {reason}")),
            ],
        }
    }
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
    fn file(&mut self, seen: &BeadFile, gates: &Gates) -> Result<(), BeadFileError> {
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
            Verdict::Block(reason) => (DodStatus::Blocked, reason.as_str().into()),
            Verdict::Release => (DodStatus::Pending, Value::Null),
        };
        match file.write_status(status, (metadata::HELD_BY_GATES, note)) {
            Ok(()) => self.tell(id, verdict),
            // Somebody who asks for no lock was faster.
            Err(BeadFileError::File(FileError::Changed { .. } | FileError::NotFound { .. })) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn store(
        &mut self,
        store: &mut dyn Store,
        by: Stamp<'_>,
        gates: &Gates,
    ) -> Result<(), StoreError> {
        let statuses = BEGUN.iter().chain(&[Status::Blocked]);
        let records = store.find(&Query {
            status: StatusFilter::OneOf(statuses.map(|&status| status.into()).collect()),
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
        let is_begun = BEGUN.iter().any(|begun| issue.status() == *begun);
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
