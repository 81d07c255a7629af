//! `bd init`, `bd info` and `bd where`: the store of a repository is made, described and found.

use std::collections::BTreeMap;

use beads_ralph_runtime::store::{self, StoreError};
use camino::Utf8PathBuf;
use serde::Serialize;

use super::call::default_prefix;
use super::{Access, Call, Command, Filter, Opened, Refusal, config, string, switch};

#[rustfmt::skip]
const NOT_SERVED: &[&str] = &[
    "agents-file", "agents-profile", "agents-template", "backend", "contributor", "debug", "destroy-token",
    "discard-remote", "external", "force", "from-jsonl", "proxied-server", "reinit-local", "remote", "role", "server",
    "server-host", "server-port", "server-socket", "server-tls", "server-user", "setup-exclude", "shared-server", "team",
    "team-server",
];

pub(super) const COMMAND: Command = Command {
    name: "init",
    about: "Make the store of this repository",
    flags: &[
        switch("init-if-missing", "Be content with a store that is there"),
        switch(
            "non-interactive",
            "Ask nothing; nothing is asked in any case",
        ),
        string(
            "prefix",
            "What ids begin with (default: the directory's name)",
        )
        .short('p'),
        switch(
            "skip-agents",
            "Write no instructions for agents; none are written in any case",
        ),
        switch(
            "skip-hooks",
            "Install no git hooks; none are installed in any case",
        ),
        switch(
            "stealth",
            "Leave the repository alone; it is left alone in any case",
        ),
    ],
    not_served: NOT_SERVED,
    access: Access::Writes,
    run: Some(run),
    ..Command::NONE
};

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    if call.arguments.has("db") {
        return Err(Refusal::not_served("init --db; name the repository by -C"));
    }
    match store::find(&call.here) {
        Err(StoreError::NotInitialized { .. }) => {}
        Err(error) => return Err(error.into()),
        Ok(place) if place.is_foreign() => return Err(super::handed_over(&place, call.typed)),
        Ok(_) if call.arguments.is_on("init-if-missing") => return Ok(()),
        Ok(place) => {
            return Err(Refusal::plain(format!(
                "\n⚠ Found existing database: {}\n\nThis workspace is already initialized.\n\nTo use the existing database:\n  Just run bd commands normally (e.g., bd list)\n\nAborting.",
                place.database
            )));
        }
    }
    let made = store::init(&call.here)?;
    let mut opened = Opened::new(made.store, made.directory, call);
    let prefix = match call.arguments.filled("prefix") {
        Some(prefix) => prefix.trim_end_matches('-').to_owned(),
        None => default_prefix(opened.directory.parent()),
    };
    opened.set_config("issue_prefix", Some(&prefix))?;
    call.output.say(&format!(
        "\n✓ bd initialized successfully!\n\n  Backend: beads-ralph\n  Mode: embedded\n  Database: {}\n  Issue prefix: {prefix}\n  Issues will be named: {prefix}-<hash> (e.g., {prefix}-a3f2dd)\n\nRun beads-ralph --help for what else there is.\n",
        opened.directory
    ))
}

const NO_STORE: &str = "No active beads workspace found.";
const NO_STORE_HINT: &str =
    "check BEADS_DIR/worktree setup, or run 'bd init' to create a new database";

pub(super) const INFO: Command = Command {
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
