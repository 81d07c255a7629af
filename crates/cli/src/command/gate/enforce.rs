//! `gate enforce`: features that are in progress while a gate is red become `blocked`, and are released when the gates are green (G-4).
//!
//! What somebody works on now is told of and left alone: it is theirs. Only what was blocked here is released here.
//!
//! Data: `{"blocked": [{id, reason}], "released": [id…], "held": [{id, reason}]}`; `held` are beads that somebody works on.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::dod::DodStatus;
use beads_ralph_core::governor::{Applicant, Denied, Gates};
use beads_ralph_core::issue::{Edit, Query, Record, StatusFilter};
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_runtime::ralph::{BeadFile, Ralph};
use beads_ralph_runtime::store::{Guard, Store, Write};
use beads_ralph_runtime::{governor, host};
use serde_json::{Map, Value, json};

use crate::args::Global;
use crate::beads::Beads;
use crate::failure::Failure;
use crate::governing;
use crate::ui::{Ui, counted};

/// Where a bead says that the governor blocked it: under `metadata` in a store, in `ralph_meta` in a file.
pub(in crate::command) const HELD: &str = "held_by_gates";

/// What was done.
#[derive(Default)]
struct Enforced {
    blocked: BTreeMap<String, String>,
    released: Vec<String>,
    held: BTreeMap<String, String>,
}

pub(super) fn run(global: &Global, ui: &Ui) -> Result<(), Failure> {
    let ralph = governing::main_project()?;
    let mut beads = governing::store_if_any(global)?;
    let store = beads.as_ref().map(|beads| &*beads.store as &dyn Store);
    let gates = governor::gates(&ralph, store)?;
    let mut enforced = Enforced::default();
    enforced.files(&ralph, &gates)?;
    if let Some(beads) = &mut beads {
        enforced.store(beads, &gates)?;
    }
    if ui.is_json() {
        return ui.data(&enforced.to_json());
    }
    ui.out(&enforced.text())
}

impl Enforced {
    fn files(&mut self, ralph: &Ralph, gates: &Gates) -> Result<(), Failure> {
        for path in ralph.work_files() {
            // What is no bead is for whoever works on it.
            let Ok(file) = BeadFile::read(&path) else {
                continue;
            };
            let is_ours = file.bead().meta(HELD).is_some();
            let permission = gates.permission(&Applicant::of_bead(file.bead()));
            let (status, note) = match (file.bead().status, permission) {
                (DodStatus::InProgress, Err(denied)) => {
                    (DodStatus::Blocked, json!(denied.to_string()))
                }
                (DodStatus::Blocked, Ok(())) if is_ours => (DodStatus::Pending, Value::Null),
                _ => continue,
            };
            let id = file.bead().id.clone();
            let reason = note.as_str().unwrap_or_default().to_owned();
            // Whoever works on it holds the lock, and may have written since it was read.
            let Some(_lock) = file.lock()? else {
                self.held.insert(id, reason);
                continue;
            };
            BeadFile::read(&path)?.write_status(status, (HELD, note))?;
            self.tell(id, reason);
        }
        Ok(())
    }

    fn store(&mut self, beads: &mut Beads, gates: &Gates) -> Result<(), Failure> {
        let records = beads.store.find(&Query {
            status: StatusFilter::OneOf(vec!["in_progress".to_owned(), "blocked".to_owned()]),
            ..Query::default()
        })?;
        for record in records {
            let metadata = record.issue.metadata();
            let is_ours = metadata.is_some_and(|metadata| metadata.contains_key(HELD));
            let permission = gates.permission(&Applicant::of_issue(&record.issue));
            match (record.issue.status(), permission) {
                ("in_progress", Err(denied)) => self.block(beads, &record, &denied)?,
                ("blocked", Ok(())) if is_ours => {
                    let edits = vec![
                        Edit::Reopen,
                        Edit::UnsetMetadata(HELD.to_owned()),
                        Edit::AppendNotes("[gates] released: the gates are green".to_owned()),
                    ];
                    write(beads, &record, edits)?;
                    self.tell(record.issue.id().to_string(), String::new());
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn block(
        &mut self,
        beads: &mut Beads,
        record: &Record,
        denied: &Denied,
    ) -> Result<(), Failure> {
        let (id, reason): (&BeadId, String) = (record.issue.id(), denied.to_string());
        if let Some(claim) = &record.claim {
            let gone = claim.is_abandoned(beads.by.now, &host::name(), host::liveness);
            let Some(why) = gone else {
                self.held.insert(id.to_string(), reason);
                return Ok(());
            };
            beads
                .store
                .reclaim(id, claim.fence, why, beads.by.stamp())?;
        }
        let seen = beads.record(id)?;
        let edits = vec![
            Edit::Status("blocked".to_owned()),
            Edit::MergeMetadata(Map::from_iter([(HELD.to_owned(), json!(reason))])),
            Edit::AppendNotes(format!("[gates] blocked: {reason}")),
        ];
        write(beads, &seen, edits)?;
        self.tell(id.to_string(), reason);
        Ok(())
    }

    /// Blocked for a reason, released without one.
    fn tell(&mut self, id: String, reason: String) {
        if reason.is_empty() {
            self.released.push(id);
        } else {
            self.blocked.insert(id, reason);
        }
    }

    fn to_json(&self) -> Value {
        let each = |beads: &BTreeMap<String, String>| -> Vec<Value> {
            let beads = beads.iter();
            beads
                .map(|(id, reason)| json!({"id": id, "reason": reason}))
                .collect()
        };
        json!({"blocked": each(&self.blocked), "released": self.released, "held": each(&self.held)})
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{} blocked, {} released\n",
            counted(self.blocked.len(), "feature", "features"),
            self.released.len()
        );
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

/// Writes what was decided by looking at a bead; somebody who was faster wins.
fn write(beads: &mut Beads, seen: &Record, edits: Vec<Edit>) -> Result<(), Failure> {
    let write = Write::Update {
        id: seen.issue.id().clone(),
        edits,
        guard: Guard {
            version: Some(seen.version),
            ..Guard::default()
        },
    };
    beads.store.write(&[write], beads.by.stamp())?;
    Ok(())
}
