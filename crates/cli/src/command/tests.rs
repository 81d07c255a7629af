//! The access of every command that can be called, found by walking the tree of arguments.

use clap::{CommandFactory as _, Parser as _};

use super::*;

/// A command belongs here as soon as somebody can call it: what an agent may do is decided by its access.
const READS: &str = "\
plan new, plan check, plan graph, plan build, plan annotate, plan diff, \
formula list, formula show, formula check, formula graph, formula new, bead validate, bead migrate, \
ready, list, show, search, stats, log, label list, dep list, dep tree, \
mol current, mol show, mol progress, mol ready, mol wisp list, export, doctor, doctor agents, verify, logs, status, \
blocked, human list, human show, gate list, gate check, qa-report, simulate, replay, report, metrics, create-bead, schema, \
demo, scripted-agent, completions, man";
const WRITES: &str = "\
plan apply, claim, heartbeat, release, recover, close, reopen, update, label add, label remove, dep add, dep remove, \
mol pour, mol squash, mol burn, mol wisp, mol wisp create, mol wisp gc, comment, import, human resolve, gate enforce, \
gate create, retry";
const STARTS_WORK: &str = "run, exec, implement, drive, patrol, watchdog, gate run";
const ADMINISTERS: &str = "init, clean, stop, pause, watch";

/// The words of every command that does something by itself.
fn callable(command: &clap::Command, words: &[String]) -> Vec<(Vec<String>, Vec<String>)> {
    let mut found = Vec::new();
    if !command.is_subcommand_required_set() {
        found.push((words.to_vec(), required(command)));
    }
    for below in command.get_subcommands() {
        let words = [words, &[below.get_name().to_owned()]].concat();
        found.extend(callable(below, &words));
    }
    found
}

/// Something for everything that a command must be given.
fn required(command: &clap::Command) -> Vec<String> {
    let wanted = command.get_arguments().filter(|it| it.is_required_set());
    let given = wanted.map(|argument| {
        let values = argument.get_possible_values();
        let value = values.first().map_or("1", |value| value.get_name());
        match argument.get_long() {
            Some(long) => format!("--{long}={value}"),
            None => value.to_owned(),
        }
    });
    given.collect()
}

fn parsed(words: &[String], required: &[String]) -> Command {
    let program = ["beads-ralph".to_owned()];
    let attempt = |more: &[String]| Cli::try_parse_from([&program, words, required, more].concat());
    // What must be given unless something else is does not count as required.
    let cli = attempt(&[]).or_else(|_| attempt(&["1".to_owned()]));
    cli.unwrap_or_else(|error| panic!("{words:?}: {error}"))
        .command
}

#[test]
fn z_18_every_command_says_what_it_does_to_beads() {
    let commands = callable(&Cli::command(), &[]);
    let with = |access: Access| {
        let own = commands
            .iter()
            .filter(|(words, required)| parsed(words, required).access() == access);
        own.map(|(words, _)| words.join(" "))
            .collect::<Vec<_>>()
            .join(", ")
    };
    assert_eq!(with(Access::Reads), READS);
    assert_eq!(with(Access::Writes), WRITES);
    assert_eq!(with(Access::StartsWork), STARTS_WORK);
    assert_eq!(with(Access::Administers), ADMINISTERS);
}

#[test]
fn z_18_flags_that_write_are_not_open_to_agents() {
    let access = |line: &str| {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        parsed(&words, &[]).access()
    };
    assert_eq!(access("ready --claim"), Access::Writes);
    assert_eq!(access("doctor --repair"), Access::Administers);
    assert_eq!(access("mol pour f --dry-run"), Access::Reads);
}
