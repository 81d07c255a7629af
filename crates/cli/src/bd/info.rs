//! `bd info` and `bd where`: where the store is, and how it stands.

use beads_ralph_runtime::store::StoreError;
use camino::Utf8PathBuf;
use serde_json::json;

use super::call::Call;
use super::config;
use super::failure::Refusal;
use super::filter::Filter;
use super::tree::Command;

const NO_STORE: &str = "No active beads workspace found.";
const NO_STORE_HINT: &str =
    "check BEADS_DIR/worktree setup, or run 'bd init' to create a new database";

/// The command that tells about the store.
pub(super) const COMMAND: Command = Command {
    name: "info",
    about: "About the store",
    not_served: &["schema", "thanks", "whats-new"],
    run: Some(info),
    ..Command::NONE
};

/// The command that tells where it is.
pub(super) const WHERE: Command = Command {
    name: "where",
    about: "Where the store is",
    run: Some(place),
    ..Command::NONE
};

fn info(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let path = database(call)?;
    let n = opened.store.count(&Filter::default().query())?;
    if call.output.is_json() {
        return call.output.value(json!({
            "config": config::settings(&opened)?,
            "daemon_running": false,
            "database_path": path.as_str(),
            "issue_count": n,
            "mode": "direct",
        }));
    }
    call.output.text(&format!(
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
            call.output.value(json!({
                "error": "no_beads_directory", "hint": NO_STORE_HINT, "message": NO_STORE,
            }))?;
            return Err(Refusal::silent(1));
        }
        return Err(Refusal::plain(NO_STORE).hint(NO_STORE_HINT));
    }
    let opened = call.open()?;
    let (path, prefix, database) = (&opened.directory, opened.prefix()?, database(call)?);
    if call.output.is_json() {
        return call.output.value(json!({
            "path": path.as_str(), "prefix": prefix, "database_path": database.as_str(),
        }));
    }
    call.output.text(&format!(
        "{path}\n  prefix: {prefix}\n  database: {database}\n"
    ))
}
