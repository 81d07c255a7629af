//! `report`: a run as one page of HTML.
//!
//! Data: `{run, path, bytes, beads, outcome}`.

use std::collections::HashMap;
use std::sync::Arc;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::engine::{CommitId, Outcome};
use beads_ralph_core::history::{Attempt, Chronicle, RunKind, chronicle};
use beads_ralph_core::issue::Liveness;
use beads_ralph_runtime::check::last_records;
use beads_ralph_runtime::git::{Change, Git, Settings};
use beads_ralph_runtime::os::process::Units;
use beads_ralph_runtime::repo;
use beads_ralph_runtime::run::RunDirectory;
use beads_ralph_runtime::{os::clock, os::files};
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use serde::Serialize;

use crate::failure::Failure;
use crate::origin::Origins;
use crate::ui::Ui;
use crate::ui::kept_check::KeptCheck;
use crate::ui::page::Evidence;
use crate::{journal, ui::page};

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The run: its id, the beginning of it, `latest`, or its directory
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// The file to write; `-` is standard output; default: the run's id with .html
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<Utf8PathBuf>,
}

pub(crate) fn run(args: &ReportArgs, ui: &Ui) -> Result<(), Failure> {
    page_of(&args.run, args.output.as_deref(), ui)
}

/// Writes the page of a run: into a file, or to standard output for `-`.
pub(crate) fn page_of(run: &str, output: Option<&Utf8Path>, ui: &Ui) -> Result<(), Failure> {
    let run = journal::find(run)?;
    let mut told = told(&run)?;
    locate(&mut told, &run);
    let evidence = evidence_of(&run, &told);
    write(&told, &page::html(&told, &evidence), output, ui)
}

/// The places of sprints as their plans stand now, so that whoever reads the page finds them (Z-45).
fn locate(told: &mut Chronicle, run: &RunDirectory) {
    let mut origins = Origins::of_run(run);
    for story in &mut told.stories {
        if let Some(source) = &mut story.task.source {
            *source = origins.locate(source, &story.task.sprint).place;
        }
    }
}

pub(crate) fn told(run: &RunDirectory) -> Result<Chronicle, Failure> {
    let journal = journal::read_in(run)?;
    let told = chronicle(&journal.head, &journal.entries);
    let mut told = told.map_err(|error| journal::unlike(&error))?;
    if told.outcome.is_none() {
        match run.liveness() {
            // What runs has run until now, whenever something was last written about it.
            Liveness::Alive => told.last = told.last.max(clock::now()),
            Liveness::Dead => told.is_left = true,
            Liveness::Unknown => {}
        }
    }
    Ok(told)
}

#[derive(Serialize)]
struct Written<'w> {
    run: &'w str,
    path: &'w Utf8Path,
    bytes: usize,
    beads: usize,
    outcome: Option<&'static str>,
}

fn write(told: &Chronicle, html: &str, output: Option<&Utf8Path>, ui: &Ui) -> Result<(), Failure> {
    if output == Some(Utf8Path::new("-")) && ui.is_json() {
        let message = "standard output cannot hold both the page and the JSON answer";
        return Err(Failure::new(ErrorCode::ValidationConstraint, message)
            .action("leave out --json, or name a file")
            .exit_with(2));
    }
    if output == Some(Utf8Path::new("-")) {
        return ui.out(html);
    }
    let path = output.map_or_else(
        || Utf8PathBuf::from(format!("{}.html", told.run)),
        Utf8Path::to_owned,
    );
    files::write_atomic(&path, html.as_bytes())?;
    if ui.is_json() {
        return ui.data(&Written {
            run: &told.run,
            path: &path,
            bytes: html.len(),
            beads: told.stories.len(),
            outcome: told.outcome.as_ref().map(Outcome::as_str),
        });
    }
    ui.out(&format!("{path}\n"))
}

/// What lies beside a journal. What is not there any more is left out: a page without it is better than none.
fn evidence_of(run: &RunDirectory, told: &Chronicle) -> Evidence {
    let mut evidence = Evidence::default();
    let mut pairs = Vec::new();
    for story in &told.stories {
        for (at, attempt) in story.attempts.iter().enumerate() {
            let key = (story.task.id.clone(), at);
            // Attempts of one number were kept in one place, where the last one is.
            let is_last = !(story.attempts[at + 1..].iter()).any(|it| it.number == attempt.number);
            if is_last && attempt.runs.iter().any(|it| it.kind == RunKind::Verify) {
                let directory = run.attempt(&story.task.id, attempt.number);
                let records = last_records(&directory);
                let records = records.map(|records| (key, KeptCheck::read_all(records)));
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
