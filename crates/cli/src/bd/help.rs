//! `bd help`: the same as `--help`, by a word.

use super::tree::COMMANDS;
use super::{Arity, Call, Command, Refusal, any, tree, usage};

pub(super) const COMMAND: Command = Command {
    name: "help",
    about: "Help about any command",
    positionals: &[any("command")],
    arity: Arity::Any,
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
        Some(command) => usage::of(command, &path),
        None => usage::overview(),
    })
}

/// The real `bd` does not take this for a failure.
fn unknown(call: &Call<'_>) {
    let topics: Vec<String> = (call.arguments.words.iter())
        .map(|word| format!("`{word}`"))
        .collect();
    let unknown = format!("Unknown help topic [{}]\n", topics.join(" "));
    call.output.aside(&(unknown + &usage::overview()));
}
