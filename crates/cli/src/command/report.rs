//! `report`: a run as one page of HTML, for people who were not there.
//!
//! Data: `{run, path, bytes, beads, outcome}`.

use beads_ralph_core::chronicle::{Chronicle, chronicle};
use beads_ralph_core::engine::Outcome;
use beads_ralph_core::issue::Liveness;
use beads_ralph_runtime::{clock, files};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;

use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::{journal, page};

pub(crate) fn run(args: &ReportArgs, ui: &Ui) -> Result<(), Failure> {
    let told = told(&args.run)?;
    write(&told, args.output.as_deref(), ui)
}

/// The story of a run.
pub(crate) fn told(run: &str) -> Result<Chronicle, Failure> {
    let journal = journal::read(run)?;
    let told = chronicle(&journal.head, &journal.entries);
    let mut told = told.map_err(|error| journal::unlike(&error))?;
    let is_alive = || Ok::<_, Failure>(journal::find(run)?.liveness() == Liveness::Alive);
    if told.outcome.is_none() && is_alive()? {
        // What runs has run until now, whenever something was last written about it.
        told.last = told.last.max(clock::now());
    }
    Ok(told)
}

/// Writes the page of a run: into a file, or to standard output for `-`.
pub(crate) fn write(told: &Chronicle, output: Option<&Utf8Path>, ui: &Ui) -> Result<(), Failure> {
    let html = page::html(told);
    if output == Some(Utf8Path::new("-")) {
        return ui.out(&html);
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
