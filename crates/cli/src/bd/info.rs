//! `bd info` and `bd where`: where the store is, and how it stands.

use std::collections::BTreeMap;

use beads_ralph_runtime::store::StoreError;
use camino::Utf8PathBuf;
use serde::Serialize;

use super::{Call, Command, Filter, Refusal, config};

const NO_STORE: &str = "No active beads workspace found.";
const NO_STORE_HINT: &str =
    "check BEADS_DIR/worktree setup, or run 'bd init' to create a new database";

pub(super) const COMMAND: Command = Command {
    name: "info",
    about: "About the store",
    not_served: &["schema", "thanks", "whats-new"],
    run: Some(info),
    ..Command::NONE
};

pub(super) const WHERE: Command = Command {
    name: "where",
    about: "Where the store is",
    run: Some(place),
    ..Command::NONE
};

#[derive(Serialize)]
struct Info<'i> {
    config: BTreeMap<String, String>,
    daemon_running: bool,
    database_path: &'i str,
    issue_count: usize,
    mode: &'static str,
}

#[derive(Serialize)]
struct Where<'w> {
    path: &'w str,
    prefix: &'w str,
    database_path: &'w str,
}

#[derive(Serialize)]
struct NoStore {
    error: &'static str,
    hint: &'static str,
    message: &'static str,
}

fn info(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let path = database(call)?;
    let n = opened.store.count(&Filter::default().query())?;
    let answer = Info {
        config: config::settings(&opened)?,
        daemon_running: false,
        database_path: path.as_str(),
        issue_count: n,
        mode: "direct",
    };
    call.output.answer(answer, || format!(
        "\nBeads Database Information\n===========================\nDatabase: {path}\nMode: direct\n\nIssue Count: {n}\n\n"
    ))
}

/// The file that the beads are in.
fn database(call: &Call<'_>) -> Result<Utf8PathBuf, Refusal> {
    Ok(call.place()?.database)
}

fn place(call: &mut Call<'_>) -> Result<(), Refusal> {
    if let Err(StoreError::NotInitialized { .. }) = call.place() {
        if call.output.is_json() {
            call.output.value(NoStore {
                error: "no_beads_directory",
                hint: NO_STORE_HINT,
                message: NO_STORE,
            })?;
            return Err(Refusal::silent(1));
        }
        return Err(Refusal::plain(NO_STORE).hint(NO_STORE_HINT));
    }
    let opened = call.open()?;
    let (path, prefix, database) = (&opened.directory, opened.prefix()?, database(call)?);
    let answer = Where {
        path: path.as_str(),
        prefix: &prefix,
        database_path: database.as_str(),
    };
    call.output.answer(answer, || {
        format!("{path}\n  prefix: {prefix}\n  database: {database}\n")
    })
}
