//! The help of every command as a snapshot, so that its wording is reviewed as a diff; and the commands that documents name.

use std::fmt::Write as _;

use camino::Utf8Path;
use clap::{Command, CommandFactory as _};

use crate::args::Cli;

#[path = "../../tests/common/snapshot.rs"]
mod snapshot;

use snapshot::snapshot;

/// The commands that have no subcommands, by the folder that holds them. The others are groups of their own name.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "store",
        &[
            "init",
            "ready",
            "list",
            "show",
            "search",
            "stats",
            "log",
            "claim",
            "heartbeat",
            "release",
            "recover",
            "close",
            "reopen",
            "update",
            "comment",
            "import",
            "export",
        ],
    ),
    (
        "work",
        &[
            "run",
            "exec",
            "implement",
            "drive",
            "patrol",
            "watchdog",
            "verify",
            "retry",
            "clean",
            "stop",
            "pause",
        ],
    ),
    (
        "inspect",
        &[
            "logs",
            "status",
            "blocked",
            "qa-report",
            "simulate",
            "replay",
            "watch",
            "report",
            "metrics",
        ],
    ),
    (
        "program",
        &[
            "create-bead",
            "schema",
            "demo",
            "scripted-agent",
            "completions",
            "man",
        ],
    ),
];

/// The help of a command and of everything below it.
fn push_help(text: &mut String, command: &mut Command, path: &str) {
    let help = command.render_long_help().to_string();
    _ = write!(text, "$ {path} --help\n{}\n\n", help.trim_end());
    for below in command.get_subcommands_mut() {
        if below.get_name() != "help" {
            let path = format!("{path} {}", below.get_name());
            push_help(text, below, &path);
        }
    }
}

/// The whole tree at a width that no terminal changes. What all commands take is in the help of the program only.
fn tree() -> Command {
    fn without_global(command: Command) -> Command {
        command
            .mut_args(|arg| {
                let is_global = arg.is_global_set();
                arg.hide(is_global)
            })
            .mut_subcommands(without_global)
    }
    let mut program = Cli::command().term_width(100);
    program.build();
    program.mut_subcommands(without_global)
}

#[test]
fn the_help_of_the_program() {
    let help = tree().render_long_help().to_string();
    snapshot("help", &help);
}

#[test]
fn the_help_of_every_command() {
    for mut command in tree().get_subcommands().cloned() {
        let name = command.get_name().to_owned();
        if command.has_subcommands() && name != "help" {
            let mut text = String::new();
            push_help(&mut text, &mut command, &format!("beads-ralph {name}"));
            snapshot(&format!("help-{name}"), text.trim_end());
        }
    }
    for (group, names) in GROUPS {
        let mut text = String::new();
        for name in names {
            let mut program = tree();
            let command = program.find_subcommand_mut(name);
            let command = command.unwrap_or_else(|| panic!("no command is called {name}"));
            push_help(&mut text, command, &format!("beads-ralph {name}"));
        }
        snapshot(&format!("help-{group}"), text.trim_end());
    }
}

#[test]
fn every_command_is_in_a_group() {
    for command in tree().get_subcommands() {
        let name = command.get_name();
        let is_grouped = GROUPS.iter().any(|(_, names)| names.contains(&name));
        let is_group = command.has_subcommands() || name == "help";
        assert!(
            is_grouped || is_group,
            "add {name} to the group of its folder"
        );
    }
}

/// The calls of the program in a document: what follows its name in code, without what is quoted.
fn calls(text: &str) -> Vec<String> {
    const NAME: &str = "beads-ralph ";
    let mut is_block = false;
    let mut calls = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            is_block = !is_block;
        }
        let spans = line.split('`').skip(1).step_by(2);
        let in_block = is_block.then_some(line);
        let code = in_block.into_iter().chain(spans);
        let code = code.filter_map(|code| code.strip_prefix(NAME));
        let bare = |call: &str| call.split('"').step_by(2).collect::<String>();
        calls.extend(code.map(|call| bare(call.split('#').next().unwrap_or_default())));
    }
    calls
}

/// The first word of a call that the program does not know.
fn unknown<'c>(program: &Command, call: &'c str) -> Option<&'c str> {
    let mut command = program;
    let is_name = |word: &str| word.starts_with(|c: char| c.is_ascii_lowercase());
    for word in call.split_whitespace() {
        // What follows is another program's: the real `bd`'s, or an agent's.
        if word == "--" || word == "bd" || word == "…" {
            return None;
        }
        if let Some(flag) = word.strip_prefix("--") {
            let name = flag.split('=').next().unwrap_or_default();
            let mut known = command.get_arguments().chain(program.get_arguments());
            let is_general = matches!(name, "help" | "version");
            if !is_general && !known.any(|arg| arg.get_long() == Some(name)) {
                return Some(word);
            }
        } else if command.has_subcommands() && is_name(word) && !word.contains('|') {
            match command.find_subcommand(word) {
                Some(below) => command = below,
                // `doctor` takes a subcommand or none.
                None if command.is_subcommand_required_set() => return Some(word),
                None => {}
            }
        }
    }
    None
}

#[test]
fn documents_name_commands_that_exist() {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut program = Cli::command();
    program.build();
    let mut wrong = Vec::new();
    for folder in ["", "docs"] {
        for entry in root.join(folder).read_dir_utf8().expect("a folder of ours") {
            let entry = entry.expect("a file of ours");
            if entry.path().extension() != Some("md") {
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).expect("a file of ours");
            for call in calls(&text) {
                if let Some(word) = unknown(&program, &call) {
                    wrong.push(format!("{}: {word} in: {call}", entry.file_name()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
