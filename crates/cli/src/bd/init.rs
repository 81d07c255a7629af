//! `bd init`: the store of a repository, ours, with the prefix of its ids.

use beads_ralph_runtime::store::{self, StoreError};

use super::call::default_prefix;
use super::{Access, Call, Command, Opened, Refusal, string, switch};

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
    not_served: &[
        "agents-file",
        "agents-profile",
        "agents-template",
        "backend",
        "contributor",
        "debug",
        "destroy-token",
        "discard-remote",
        "external",
        "force",
        "from-jsonl",
        "proxied-server",
        "reinit-local",
        "remote",
        "role",
        "server",
        "server-host",
        "server-port",
        "server-socket",
        "server-tls",
        "server-user",
        "setup-exclude",
        "shared-server",
        "team",
        "team-server",
    ],
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
