//! `bd help`, `bd version` and `bd quickstart`: help from the argument tree, the version, and the first steps.

use std::sync::Arc;

use beads_ralph_runtime::git::branch_of;
use beads_ralph_runtime::os::process::Units;
use beads_ralph_runtime::store;
use serde::Serialize;

use super::tree::{COMMANDS, GLOBAL_FLAGS, Kind};
use super::{Call, Command, Flag, Refusal, any, tree};

pub(super) const COMMAND: Command = Command {
    name: "help",
    about: "Help about any command",
    positionals: &[any("command")],
    not_served: &["all", "doc", "docs-root", "list"],
    run: Some(run),
    ..Command::NONE
};

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let mut found: Option<&'static Command> = None;
    let mut path = Vec::new();
    for word in &call.arguments.words {
        let below = found.map_or(COMMANDS, |command| command.children);
        match tree::named(below, word) {
            Some(command) => {
                path.push(command.name);
                found = Some(command);
            }
            None if found.is_none() => {
                unknown(call);
                return Ok(());
            }
            // What stands behind a command is not asked about.
            None => break,
        }
    }
    call.output.text(&match found {
        Some(command) => of(command, &path),
        None => overview(),
    })
}

/// The real `bd` does not take this for a failure.
fn unknown(call: &Call<'_>) {
    let topics: Vec<String> = (call.arguments.words.iter())
        .map(|word| format!("`{word}`"))
        .collect();
    let unknown = format!("Unknown help topic [{}]\n", topics.join(" "));
    call.output.stderr(&(unknown + &overview()));
}

/// The version of the real `bd` whose surface this is.
pub(super) const VERSION_SERVED: &str = "1.3.0";

/// Distinguishes our binary from the real one (Z-26).
pub(super) const BUILD: &str = "beads-ralph";

/// The version on one line.
pub(super) fn version_line() -> String {
    format!("bd version {VERSION_SERVED} ({BUILD})\n")
}

/// What there is.
pub(super) fn overview() -> String {
    let mut text = String::from(
        "bd, as beads-ralph serves it: the beads of this repository.\n\nUsage:\n  bd [command]\n\nCommands:\n",
    );
    for command in COMMANDS {
        write_line(&mut text, command.name, command.about);
    }
    write_flags(&mut text, "\nFlags:\n", GLOBAL_FLAGS);
    text.push_str("\nUse \"bd [command] --help\" for more information about a command.\n");
    text
}

/// How a command is called.
pub(super) fn of(command: &Command, path: &[&str]) -> String {
    let mut text = format!("{}\n\nUsage:\n  bd {}", command.about, path.join(" "));
    for positional in command.positionals {
        let dots = if positional.is_many { "..." } else { "" };
        let name = positional.name;
        let shown = if positional.is_required {
            format!(" <{name}{dots}>")
        } else {
            format!(" [{name}{dots}]")
        };
        text.push_str(&shown);
    }
    text.push_str(" [flags]\n");
    if !command.aliases.is_empty() {
        text.push_str("\nAliases:\n  ");
        text.push_str(&command.aliases.join(", "));
        text.push('\n');
    }
    if !command.children.is_empty() {
        text.push_str("\nCommands:\n");
        for child in command.children {
            write_line(&mut text, child.name, child.about);
        }
    }
    write_flags(&mut text, "\nFlags:\n", &command.all_flags());
    write_flags(&mut text, "\nGlobal Flags:\n", GLOBAL_FLAGS);
    text
}

fn write_flags(text: &mut String, heading: &str, flags: &[Flag]) {
    if flags.is_empty() {
        return;
    }
    text.push_str(heading);
    for flag in flags {
        let short = flag
            .short
            .map_or_else(|| "    ".to_owned(), |short| format!("-{short}, "));
        let value = match flag.kind {
            Kind::Switch => "",
            Kind::Text | Kind::Texts => " string",
            Kind::Number => " int",
            Kind::Duration => " duration",
            Kind::List => " strings",
        };
        write_line(text, &format!("{short}--{}{value}", flag.long), flag.about);
    }
}

fn write_line(text: &mut String, name: &str, about: &str) {
    push!(text, "  {name:<32} {about}\n");
}

pub(super) const VERSION_COMMAND: Command = Command {
    name: "version",
    about: "Print the version",
    run: Some(version),
    ..Command::NONE
};

fn version(call: &mut Call<'_>) -> Result<(), Refusal> {
    if !call.output.is_json() {
        return call.output.text(&version_line());
    }
    // The branch of the project that is asked in, as the real `bd` has it where its build knows none.
    let is_project = store::find(&call.here).is_ok();
    let units = Units::own().ok().filter(|_| is_project);
    call.output.value(VersionAnswer {
        build: BUILD,
        version: VERSION_SERVED,
        branch: units.and_then(|units| branch_of(Arc::new(units), &call.here)),
    })
}

#[derive(Serialize)]
struct VersionAnswer {
    build: &'static str,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
}

pub(super) const QUICKSTART: Command = Command {
    name: "quickstart",
    about: "The first steps",
    run: Some(quickstart),
    ..Command::NONE
};

const FIRST_STEPS: &str = r###"
bd, as beads-ralph serves it: work items ("beads") and what each of them waits for.

Begin
  bd init --prefix app            Make a store in .beads/; ids will look like app-x7k
  bd where                        Show where the store is

Write down what is to be done
  bd create "Add a login page" -t feature -p 1
  bd create "Fix the typo" -d "Third line of the README" --deps app-x7k
  bd create -f plan.md            One bead for each "## " heading of a file

Find something to do
  bd ready                        Beads that nothing holds back
  bd list --status in_progress    Beads that somebody works on
  bd show app-x7k                 Everything about one bead
  bd blocked                      Beads that wait, and for what

Do it
  bd update app-x7k --claim       It is yours now; nobody else can take it
  bd note app-x7k "Tests pass"    Write down how it goes
  bd close app-x7k -r "Done"      Finish; what waited for it becomes ready

Say what waits for what
  bd dep add app-b app-a          app-b waits for app-a
  bd dep tree app-b               Draw it
  bd dep cycles                   Find circles

Programs add --json to any of these. `bd help` lists the other commands, and
`bd help COMMAND` the flags of one.
"###;

fn quickstart(call: &mut Call<'_>) -> Result<(), Refusal> {
    call.output.text(FIRST_STEPS)
}
