//! Watching a worker while it works, and what it left in the repository.

use std::time::Duration;

use beads_ralph_core::agent::SpentSoFar;
use beads_ralph_core::engine::CommitId;
use beads_ralph_core::implement::Facts;
use beads_ralph_core::implement::report::Report;
use camino::Utf8Path;

use super::Dispatcher;
use super::claim::Held;
use super::ending::Stop;
use crate::agent::Observer;
use crate::os::process::{Cancel, Flow, Mark, Stream, Units, Watch};
use crate::ports::Repository as _;
use crate::progress::{Listener, News};
use crate::run::main_checkout::MainCheckout;
use crate::store::{Store, StoreError};

/// Keeps the claim alive while a worker works, and ends it when it must not go on.
pub(super) struct Watchman<'w> {
    pub(super) store: &'w mut dyn Store,
    pub(super) held: &'w mut Held,
    pub(super) listener: &'w mut dyn Listener,
    pub(super) all: &'w Cancel,
    pub(super) own: &'w Cancel,
    pub(super) doing: Option<String>,
    /// The user's own checkout, and how often it had changed when it was last looked at; nothing where the work is done there.
    pub(super) main: Option<(&'w MainCheckout, u64)>,
    pub(super) units: &'w Units,
    pub(super) mark: Mark,
    /// What it was stopped for, if it was seen at the user's checkout.
    pub(super) stray: Option<String>,
    /// Why the step is not ours any more.
    pub(super) lost: Option<StoreError>,
}

impl Observer for Watchman<'_> {
    fn seen(&mut self, activity: Option<&str>, _: Option<&str>, _: &SpentSoFar) {
        self.doing = activity.map(str::to_owned);
    }

    fn tick(&mut self, elapsed: Duration) {
        let line = self.doing.as_deref();
        self.listener.hear(&News::Running { elapsed, line });
        if self.all.is_cancelled() {
            self.own.cancel();
        }
        self.look_at_main();
        if self.lost.is_none()
            && let Err(error) = self.held.beat(self.store)
        {
            self.lost = Some(error);
            self.own.cancel();
        }
    }
}

impl Watchman<'_> {
    /// Ends a worker that is seen at the user's own checkout (Z-17).
    fn look_at_main(&mut self) {
        let Some((main, known)) = &mut self.main else {
            return;
        };
        let (n_changes, _) = main.look(self.units);
        if n_changes != *known {
            *known = n_changes;
            self.stray = main.trace(&self.mark);
        }
        if self.stray.is_some() {
            self.own.cancel();
        }
    }
}

/// Keeps the claim alive while checks run, and tells whoever listens.
pub(super) struct Beating<'b> {
    pub(super) store: &'b mut dyn Store,
    pub(super) held: &'b mut Held,
    pub(super) listener: &'b mut dyn Listener,
}

impl Listener for Beating<'_> {
    fn hear(&mut self, news: &News<'_>) {
        self.listener.hear(news);
        // Whether the step is still ours is found out when something is written.
        drop(self.held.beat(self.store));
    }
}

/// Keeps the claim alive while a command runs.
pub(super) struct BeatingWatch<'b> {
    pub(super) store: &'b mut dyn Store,
    pub(super) held: &'b mut Held,
}

impl Watch for BeatingWatch<'_> {
    fn output(&mut self, _: Stream, _: &[u8]) -> Flow {
        Flow::GoOn
    }

    fn tick(&mut self, _: Duration) {
        drop(self.held.beat(self.store));
    }
}

impl Dispatcher<'_> {
    /// What git shows of a worker's work; `before` is what was checked out when it began.
    pub(super) fn facts(
        &self,
        place: &Utf8Path,
        report: &Report,
        before: Option<&CommitId>,
    ) -> Result<Facts, Stop> {
        let git = self.site.git;
        let Some(head) = git.checked_out_at(place)? else {
            return Ok(Facts::default());
        };
        let branch = &self.site.config.worktrees.source_branch;
        let commits = report.commits.iter().map(|commit| &commit.0);
        let of_docs = report
            .docs_edits
            .iter()
            .filter_map(|edits| edits.commit.as_ref());
        let commits = commits.chain(of_docs.map(|commit| &commit.0));
        let mut missing: Vec<String> = Vec::new();
        for commit in commits {
            let is_there = git.is_in(&CommitId(commit.clone()), &head).unwrap_or(false);
            if !is_there && !missing.contains(commit) {
                missing.push(commit.clone());
            }
        }
        let changed_files = match before {
            Some(before) if *before != head => git.changed_files(before, &head)?,
            _ => Vec::new(),
        };
        Ok(Facts {
            missing_commits: missing,
            changed_files,
            has_new_commits: before.is_some_and(|before| *before != head),
            is_branch_empty: git.fork_point(branch, &head)?.as_ref() == Some(&head),
            dirt: git.dirt_of(place)?,
        })
    }
}
