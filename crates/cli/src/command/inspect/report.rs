//! `report`: a run as one page of HTML, for people who were not there.
//!
//! Data: `{run, path, bytes, beads, outcome}`.

mod evidence;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::engine::Outcome;
use beads_ralph_core::history::{Chronicle, chronicle};
use beads_ralph_core::issue::Liveness;
use beads_ralph_runtime::run::RunDirectory;
use beads_ralph_runtime::{os::clock, os::files};
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use serde_json::json;

use crate::failure::Failure;
use crate::origin::Origins;
use crate::ui::Ui;
use crate::{journal, ui::page};

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The run: its id, the beginning of it, `latest`, or its directory
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Where to write it; `-` is standard output, and without it the run's id with .html
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
    let evidence = evidence::of(&run, &told);
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

/// The story of a run.
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

fn write(told: &Chronicle, html: &str, output: Option<&Utf8Path>, ui: &Ui) -> Result<(), Failure> {
    if output == Some(Utf8Path::new("-")) && ui.is_json() {
        let message = "a page on standard output leaves no room for JSON";
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
        return ui.data(&json!({
            "run": told.run,
            "path": path,
            "bytes": html.len(),
            "beads": told.stories.len(),
            "outcome": told.outcome.as_ref().map(Outcome::as_str),
        }));
    }
    ui.out(&format!("{path}\n"))
}
