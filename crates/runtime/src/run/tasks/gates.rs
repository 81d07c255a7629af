//! Gates of plans as tasks, and what red gates hold back (contracts §8.5).

use std::collections::BTreeMap;

use beads_ralph_core::bead::{BeadId, RalphBead};
use beads_ralph_core::engine::Task;
use beads_ralph_core::gate::Applicant;
use beads_ralph_core::issue::Record;
use beads_ralph_core::vocabulary::Status;
use jiff::Timestamp;

use super::TaskReader;
use crate::store::{Store, StoreError};

pub(super) fn is_open_feature(record: &Record) -> bool {
    record.issue.status() == Status::Open && Applicant::of_issue(&record.issue).is_feature
}

impl TaskReader<'_> {
    /// A gate of a plan: whatever agents its bead names, none is called.
    pub(super) fn gate(
        &self,
        record: &Record,
        bead: &RalphBead,
        waits_for: Vec<BeadId>,
        now: Timestamp,
    ) -> Task {
        let metadata = &bead.metadata;
        let has_checks = (metadata.dod.as_ref()).is_some_and(|dod| !dod.verifiers.is_empty());
        let fault = "the gate has no checks (`dod.verifiers`), so it can never be green";
        Task {
            sprint: metadata.sprint.to_string(),
            team: metadata.team_name.clone(),
            branch: metadata.branch.to_string(),
            worktree: metadata.worktree_path.clone(),
            is_gate: true,
            has_checks,
            attempts: metadata.attempt_count,
            max_attempts: self.max_attempts(metadata.max_retry_attempts),
            fault: (!has_checks).then(|| fault.to_owned()),
            ..self.plain(record, waits_for, now)
        }
    }

    /// Why gates hold beads back, bead by bead. Without a feature the gates are not read.
    pub(super) fn held_back(
        &self,
        store: &dyn Store,
        records: &[Record],
    ) -> Result<BTreeMap<BeadId, String>, StoreError> {
        let features = records.iter().map(|it| &it.issue);
        let features: Vec<Applicant> = features
            .map(Applicant::of_issue)
            .filter(|applicant| applicant.is_feature)
            .collect();
        if features.is_empty() {
            return Ok(BTreeMap::new());
        }
        let gates = (self.gates)(store)?;
        let denied = features.iter().filter_map(|feature| {
            let denied = gates.permission(feature).err()?;
            Some((BeadId::parse(&feature.id).ok()?, denied.to_string()))
        });
        Ok(denied.collect())
    }

    /// Why gates hold one bead back.
    pub(in crate::run) fn denial(
        &self,
        store: &dyn Store,
        record: &Record,
    ) -> Result<Option<String>, StoreError> {
        let held = self.held_back(store, std::slice::from_ref(record))?;
        Ok(held.into_values().next())
    }
}
