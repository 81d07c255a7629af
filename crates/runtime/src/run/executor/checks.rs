//! The checks of a bead, run on one commit; one that fails also on what the work began from.

use beads_ralph_core::bead::{RalphBead, Verifier};
use beads_ralph_core::check::{is_green, no_verdict, verdict};
use beads_ralph_core::engine::{CommitId, Trouble};
use beads_ralph_core::vocabulary::label;

use super::super::activity::Watching;
use super::{LocalExecutor, passing};
use crate::bead_files;
use crate::check::{Again, Base, Checks, Ground, last_records, printed_by_failed};
use crate::os::files;
use crate::ports::{Checked, Job, Place};

impl LocalExecutor<'_> {
    /// The checks of a bead: its own, and those that hold for every bead (Z-31). A gate has its own only.
    pub(super) fn checks(&self, bead: &RalphBead) -> Vec<Verifier> {
        let own = bead
            .metadata
            .dod
            .iter()
            .flat_map(|dod| dod.verifiers.iter());
        let shared = self.config.default_checks.iter();
        let shared = shared.filter(|_| !is_gate(bead));
        own.chain(shared).cloned().collect()
    }

    pub(super) fn checked(
        &self,
        bead: &RalphBead,
        place: &Place,
        attempt: u32,
        (commit, base): (&CommitId, Option<&CommitId>),
    ) -> Result<Checked, Trouble> {
        let verifiers = self.checks(bead);
        let artifacts = bead
            .metadata
            .dod
            .as_ref()
            .map(|dod| dod.artifact_paths.as_slice());
        if let Err(error) =
            bead_files::check_artifacts(&place.worktree, artifacts.unwrap_or_default())
        {
            return Ok(unchecked(false, error.to_string()));
        }
        if verifiers.is_empty() {
            return Ok(unchecked(true, "no machine checks".to_owned()));
        }
        let logs = self.run.attempt(&bead.id, attempt).join("checks");
        let logs = files::fresh_directory(&logs);
        let (logs, n_times) = logs.map_err(|error| passing(&error))?;
        let cancel = self.cancel_for(&bead.id)?;
        self.activity.begins(&bead.id, "checks");
        // Nobody works on a gate, so that nothing of it can be anybody's fault.
        let base = base.filter(|base| *base != commit && !is_gate(bead));
        let base = base.map(|base| Base::new(&self.root, &base.0, &self.config.worktrees));
        let checks = Checks {
            units: self.units,
            cancel: &cancel,
            root: &place.worktree,
            home: &self.root,
            shell: &self.config.shell,
            withhold: &self.config.agents.withhold_env,
            env: &self.ports.variables(&bead.id),
            ground: Ground::Commit(&commit.0),
            mark: &self.mark,
            logs: &logs,
            again: Again {
                retries: self.config.flaky_retries,
                base: base.as_ref(),
            },
        };
        let mut watching = Watching {
            bead: &bead.id,
            activity: &self.activity,
        };
        let records = checks.run(&verifiers, &|| None, &mut watching);
        self.over(&bead.id, &cancel);
        files::write_atomic(&logs.join("checks.json"), &files::to_json(&records))
            .map_err(|error| passing(&error))?;
        if let Some(why) = no_verdict(&records).filter(|_| !cancel.is_cancelled()) {
            return Err(self.in_the_way(why, n_times));
        }
        Ok(Checked {
            is_green: is_green(&records) && !cancel.is_cancelled(),
            summary: verdict(&records),
            is_cut_off: cancel.is_cancelled(),
        })
    }

    /// What went wrong before, with what the checks printed that failed in the last attempt.
    pub(super) fn feedback(&self, job: Job<'_>, feedback: Option<&str>) -> Option<String> {
        let before = job.launch.attempt.saturating_sub(1);
        let records = last_records(&self.run.attempt(&job.bead.id, before));
        let printed = records.map_or(String::new(), |records| printed_by_failed(&records));
        Some(format!("{}{printed}", feedback?))
    }

    /// The environment keeps the checks from running. A retry may help; after that this bead needs attention, while
    /// others, whose checks are others, go on.
    fn in_the_way(&self, why: String, n_times: u32) -> Trouble {
        if n_times > self.config.run.network_retries {
            Trouble::for_bead(why)
        } else {
            Trouble::passing(why)
        }
    }
}

fn is_gate(bead: &RalphBead) -> bool {
    bead.labels.iter().any(|label| label == label::GATE)
}

/// What is known without any check being run.
fn unchecked(is_green: bool, summary: String) -> Checked {
    Checked {
        is_green,
        summary,
        is_cut_off: false,
    }
}
