//! The command line of beads-ralph: arguments in, words or JSON out.
//!
//! Commands live one to a file under `command/`; they ask the runtime for what the world knows, let the
//! core decide, and talk through [`ui::Ui`]. Nothing else prints.

mod args;
mod bd;
mod command;
mod dispatching;
mod failure;
mod formulas;
mod governing;
mod journal;
mod origin;
mod registered_types;
mod ui;
mod work;
mod worker_reports;

use std::process::ExitCode;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_runtime::{os::env, os::limits, os::process};
use clap::Parser as _;

use crate::args::Cli;
use crate::command::plan::mason::MasonCli;
use crate::failure::Failure;
use crate::ui::Ui;

const MASON: &str = "beads-mason";

/// The name under which the program shows the real `bd`'s face.
const BD: &str = "bd";

fn main() -> ExitCode {
    if let Some(code) = process::shim() {
        return code;
    }
    // Where it cannot be taken, the system ends the process instead, as it does with every other program.
    drop(limits::survive());
    if let Some(typed) = bd_arguments() {
        return bd::run(&typed);
    }
    let parsed = if is_mason() {
        MasonCli::try_parse_from(mason_arguments()).map(MasonCli::into_cli)
    } else {
        Cli::try_parse()
    };
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let ui = Ui::new(&cli);
    match command::run(&cli, &ui) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            ui.failure(&failure);
            ExitCode::from(failure.exit_code())
        }
    }
}

/// Whether the program was called by the seeds' own name: as `beads-mason`, or with that as its first word.
fn is_mason() -> bool {
    env::program_name().as_deref() == Some(MASON)
        || env::arguments().next().as_deref() == Some(MASON)
}

/// What follows that name.
fn mason_arguments() -> impl Iterator<Item = std::ffi::OsString> {
    let n_words = if env::program_name().as_deref() == Some(MASON) {
        1
    } else {
        2
    };
    std::iter::once(MASON.into()).chain(std::env::args_os().skip(n_words))
}

/// What follows the name `bd`, when the program was called by it or has it as its first word.
fn bd_arguments() -> Option<Vec<String>> {
    if env::program_name().as_deref() == Some(BD) {
        return Some(env::arguments().collect());
    }
    let mut arguments = env::arguments();
    (arguments.next().as_deref() == Some(BD)).then(|| arguments.collect())
}

/// Ends after arguments that are wrong, or that ask for help or the version. A script that asked for JSON
/// gets the envelope here too.
fn usage(error: &clap::Error) -> ExitCode {
    let is_wrong = error.use_stderr();
    let flags: Vec<String> = env::arguments()
        .take_while(|argument| argument != "--")
        .collect();
    let has = |flag: &str| flags.iter().any(|argument| argument == flag);
    let by_format =
        has("--format=json") || flags.windows(2).any(|pair| pair == ["--format", "json"]);
    let wants_json = by_format || has("--json") || has("--fenced") || is_mason();
    if is_wrong && wants_json {
        let text = error.to_string();
        let message = text
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("error: ");
        let program = if is_mason() { MASON } else { "beads-ralph" };
        let failure = Failure::new(ErrorCode::ValidationConstraint, message)
            .details(text.trim_end())
            .action(format!("see `{program} --help`"));
        Ui::for_json(has("--fenced") || is_mason()).failure(&failure);
    } else {
        // A pipe that was closed after the first page of help is no failure.
        drop(error.print());
    }
    ExitCode::from(if is_wrong { 2 } else { 0 })
}
