//! Running commands that say whether work holds, while the claim on the step is kept alive.

use std::collections::BTreeMap;

use beads_ralph_core::bead::{Dod, Timestamp};
use beads_ralph_core::check::{CheckRecord, warnings};
use beads_ralph_core::engine::CommitId;
use camino::Utf8Path;
use serde_json::{Value, json};

use super::Dispatcher;
use super::ending::{ImplementError, Stop};
use super::hold::Held;
use super::seen::Beating;
use crate::check::{Again, Base, Checks, Ground};
use crate::{os::clock, os::files};

#[derive(Debug, Clone, Copy)]
pub(super) struct Examination<'e> {
    pub(super) commands: &'e [&'e str],
    pub(super) worktree: &'e Utf8Path,
    pub(super) ground: Ground<'e>,
    /// Where what they print is kept, with a number behind its name when the stage is done again.
    pub(super) logs: &'e Utf8Path,
    /// What the work began from, where it matters whose fault it is that something does not hold.
    pub(super) base: Option<&'e CommitId>,
}

impl Dispatcher<'_> {
    /// Runs every command to its end, each within the time that a worker has.
    pub(super) fn examined(
        &mut self,
        held: &mut Held,
        examination: Examination<'_>,
    ) -> Result<Vec<CheckRecord>, Stop> {
        let worktrees = &self.site.config.worktrees;
        let limit = self.site.config.implement.worker_timeout.as_secs().max(1);
        let verifier = |command: &&str| json!({"name": command, "command": command, "on_failure": "continue", "timeout_seconds": limit});
        let verifiers: Vec<Value> = examination.commands.iter().map(verifier).collect();
        let dod = match Dod::from_document(&json!({"verifiers": verifiers})) {
            Ok(dod) => dod,
            Err(errors) => {
                let first = errors.first().map(ToString::to_string);
                let now = Timestamp::from_instant(clock::now());
                let reason = first.unwrap_or_default();
                return Ok(vec![CheckRecord::failed("commands", &reason, &now)]);
            }
        };
        let (logs, _) = files::fresh_directory(examination.logs)?;
        let base = examination.base;
        let base = base.map(|base| Base::new(self.site.root, &base.0, worktrees));
        let checks = Checks {
            units: self.site.units,
            cancel: self.site.cancel,
            root: examination.worktree,
            home: self.site.root,
            shell: &self.site.config.shell,
            withhold: &self.site.config.agents.withhold_env,
            env: &BTreeMap::new(),
            ground: examination.ground,
            mark: &self.site.mark,
            logs: &logs,
            again: Again {
                retries: self.site.config.flaky_retries,
                base: base.as_ref(),
            },
        };
        let mut beating = Beating {
            store: &mut *self.store,
            held,
            listener: &mut *self.listener,
        };
        let records = checks.run(&dod.verifiers, &|| None, &mut beating);
        if self.site.cancel.is_cancelled() {
            return Err(ImplementError::Interrupted.into());
        }
        files::write_atomic(&logs.join("checks.json"), &files::to_json(&records))?;
        let warnings = warnings(&records);
        if !warnings.is_empty() {
            self.decide("Z-22", warnings);
        }
        Ok(records)
    }
}
