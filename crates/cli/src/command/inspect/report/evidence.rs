//! Collecting what lies beside a journal. What is not there any more is left out: a page without it is better than none.

use std::collections::HashMap;
use std::sync::Arc;

use beads_ralph_core::engine::CommitId;
use beads_ralph_core::history::{Attempt, Chronicle, RunKind};
use beads_ralph_runtime::check::last_records;
use beads_ralph_runtime::git::{Change, Git, Settings};
use beads_ralph_runtime::os::process::Units;
use beads_ralph_runtime::repo;
use beads_ralph_runtime::run::RunDirectory;

use crate::ui::page::Evidence;

/// The evidence of a run.
pub(super) fn of(run: &RunDirectory, told: &Chronicle) -> Evidence {
    let mut evidence = Evidence::default();
    let mut pairs = Vec::new();
    for story in &told.stories {
        for (at, attempt) in story.attempts.iter().enumerate() {
            let key = (story.task.id.clone(), at);
            // Attempts of one number were kept in one place, where the last one is.
            let is_last = !(story.attempts[at + 1..].iter()).any(|it| it.number == attempt.number);
            if is_last && attempt.runs.iter().any(|it| it.kind == RunKind::Verify) {
                let directory = run.attempt(&story.task.id, attempt.number);
                let records = last_records(&directory).map(|records| (key, records));
                evidence.checks.extend(records);
            }
            pairs.extend(ends(attempt));
        }
    }
    evidence.changes = changes(run, &pairs).unwrap_or_default();
    evidence
}

fn ends(attempt: &Attempt) -> Option<(&CommitId, &CommitId)> {
    let (commit, _) = attempt.sealed.as_ref()?;
    Some((commit, attempt.base.as_ref()?))
}

fn changes(
    run: &RunDirectory,
    pairs: &[(&CommitId, &CommitId)],
) -> Option<HashMap<CommitId, Vec<Change>>> {
    let root = repo::root_of(run.path())?;
    let units = Arc::new(Units::own().ok()?);
    let git = Git::open(units, &root, Settings::default()).ok()?;
    git.changes(pairs).ok()
}
