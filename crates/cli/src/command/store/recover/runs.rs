//! Runs that were left by a process that is gone.

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::engine::replay;
use beads_ralph_core::text::visible;
use beads_ralph_runtime::os::process::{self, Mark};
use beads_ralph_runtime::run::{self, RunDirectory, RunEnd, read_journal};
use camino::Utf8Path;
use serde_json::{Value, json};

use super::RecoverArgs;
use crate::failure::Failure;
use crate::ui::counted;

/// A run that was left.
pub(super) struct LeftRun {
    run: RunDirectory,
    /// The beads that it worked on, or why that cannot be told.
    beads: Result<Vec<String>, String>,
    n_ended: usize,
    is_discarded: bool,
}

/// Ends what still runs of unfinished runs, and discards the one that is named.
pub(super) fn settle(args: &RecoverArgs, beads: &Utf8Path) -> Result<Vec<LeftRun>, Failure> {
    let mut left = Vec::new();
    // The locks are held until all is done, so that no process resumes a run meanwhile.
    let found = run::left_behind(beads)?;
    for (run, _) in &found {
        let is_discarded = args.discard.as_deref() == Some(run.id());
        let mut n_ended = 0;
        if !args.dry_run {
            let swept = process::end(&Mark(run::mark_of(run)));
            n_ended = swept.n_killed;
            if !swept.survivors.is_empty() {
                let message = format!(
                    "processes {:?} of {} cannot be ended",
                    swept.survivors,
                    run.id()
                );
                return Err(Failure::new(ErrorCode::ValidationConstraint, message)
                    .action("end them, then try again"));
            }
            if is_discarded {
                run.end(&RunEnd::early("discarded"))?;
            }
        }
        left.push(LeftRun {
            beads: working(run),
            run: run.clone(),
            n_ended,
            is_discarded,
        });
    }
    match &args.discard {
        Some(name) if !left.iter().any(|run| run.is_discarded) => {
            let message = format!("there is no unfinished run {}", visible(name));
            let known: Vec<&str> = left.iter().map(|left| left.run.id()).collect();
            let known = if known.is_empty() {
                "none".to_owned()
            } else {
                known.join(", ")
            };
            Err(Failure::new(ErrorCode::ValidationConstraint, message)
                .action(format!("unfinished runs: {known}")))
        }
        _ => Ok(left),
    }
}

fn working(run: &RunDirectory) -> Result<Vec<String>, String> {
    let (head, entries) = read_journal(run).map_err(|error| error.to_string())?;
    let engine = replay(&head, &entries).map_err(|error| error.to_string())?;
    Ok(engine.working().iter().map(ToString::to_string).collect())
}

impl LeftRun {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "run": self.run.id(), "beads": self.beads.as_ref().ok(), "error": self.beads.as_ref().err(),
            "ended": self.n_ended, "discarded": self.is_discarded,
        })
    }

    pub(super) fn text(&self, is_dry_run: bool) -> String {
        let run = self.run.id();
        let what = match &self.beads {
            Ok(beads) if beads.is_empty() => "nothing was under way".to_owned(),
            Ok(beads) => format!("under way: {}", visible(&beads.join(", "))),
            Err(why) => format!("it cannot be resumed: {}", visible(why)),
        };
        let ended = match self.n_ended {
            0 => String::new(),
            n => format!("; ended {}", counted(n, "process", "processes")),
        };
        let next = match (self.is_discarded, is_dry_run) {
            (true, true) => "would be discarded".to_owned(),
            (true, false) => "discarded".to_owned(),
            (false, _) => {
                format!("`beads-ralph run` resumes it, `recover --discard {run}` discards it")
            }
        };
        format!("{run} is unfinished: {what}{ended}; {next}\n")
    }
}
