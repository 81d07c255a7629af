//! `bd prime`: what an agent must know about `bd` when its session begins, as Markdown.
//!
//! Hooks call it and must not fail: without a store it prints nothing and succeeds.

use beads_ralph_runtime::os::files;
use beads_ralph_runtime::store::StoreError;
use camino::Utf8Path;
use serde::Serialize;

use super::{Call, Command, Refusal, go_json, import, switch};

/// The file whose text takes the place of ours.
const OWN_TEXT: &str = "PRIME.md";

pub(super) const COMMAND: Command = Command {
    name: "prime",
    about: "What an agent must know, for the beginning of its session",
    flags: &[
        switch(
            "export",
            "The text of the program, also where there is a PRIME.md",
        ),
        switch("full", "The long text"),
        switch("hook-json", "As JSON for a hook of an agent"),
        switch("mcp", "The short text, for agents that have other tools"),
        switch("memories-only", "Only the memories"),
        switch("no-memories", "Without the memories"),
        switch("stealth", "Without a word about git"),
    ],
    not_served: &["max-memories", "max-memory-chars"],
    run: Some(run),
    ..Command::NONE
};

const SHORT: &str = "\
# Work in this repository is tracked with bd

`bd ready` shows what can be started, `bd update ID --claim` takes it, `bd close ID -r \"why\"` finishes it.
Keep no other lists of tasks. New work that you find becomes a bead: `bd create \"title\" --deps discovered-from:ID`.
";

const LONG: &str = "\
# Work in this repository is tracked with bd

This `bd` is served by beads-ralph. The beads are in a store under `.beads/`; do not edit files there.

## How to work

1. `bd ready` lists beads that nothing holds back. Take one: `bd update ID --claim`.
2. Read it first: `bd show ID`. What must be true in the end stands under acceptance.
3. Write down what you find out: `bd note ID \"text\"`.
4. New work that you find becomes a bead of its own: `bd create \"title\" --deps discovered-from:ID`.
5. When it is done and checked: `bd close ID -r \"what was done\"`.

Keep no other lists of tasks, neither in files nor in your head. Beads outlive the session.

## Commands

- Find: `bd ready`, `bd list --status open`, `bd blocked`, `bd search WORDS`, `bd query \"status=open AND priority<=1\"`
- Write: `bd create`, `bd update`, `bd note`, `bd comment`, `bd close`, `bd reopen`
- Order: `bd dep add LATER EARLIER`, `bd dep tree ID`, `bd defer ID --until tomorrow`
- People: `bd human list` shows questions that wait for a person
- Everything else: `bd help`; every command takes `--json`

Inside a run of beads-ralph the store is read-only: say what you found in your report, and the run writes it.
";

const GIT: &str = "
## Before you say that you are done

Close the beads that are done, run the checks, and look at `git status`. Commit or push only if you were told to.
";

#[derive(Serialize)]
struct HookAnswer<'t> {
    #[serde(rename = "hookSpecificOutput")]
    output: HookOutput<'t>,
}

#[derive(Serialize)]
struct HookOutput<'t> {
    #[serde(rename = "hookEventName")]
    event: &'static str,
    #[serde(rename = "additionalContext")]
    context: &'t str,
}

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let text = match call.place() {
        Err(StoreError::NotInitialized { .. }) => String::new(),
        Err(error) => return Err(error.into()),
        Ok(place) => text(call, &place.directory)?,
    };
    if !call.arguments.is_on("hook-json") {
        return call.output.text(&text);
    }
    let answer = HookAnswer {
        output: HookOutput {
            event: "SessionStart",
            context: &text,
        },
    };
    call.output.encoded(&(go_json::encode_line(&answer) + "\n"))
}

fn text(call: &Call<'_>, directory: &Utf8Path) -> Result<String, Refusal> {
    let arguments = call.arguments;
    let memories = memories(call)?;
    if arguments.is_on("memories-only") {
        return Ok(match memories {
            Some(memories) => memories,
            None => "# Memories\n\nThere are none.\n".to_owned(),
        });
    }
    let own = own_text(&call.here.join(".beads")).or_else(|| own_text(directory));
    let mut text = match own.filter(|_| !arguments.is_on("export")) {
        Some(own) => own,
        None => workflow(arguments.is_on("mcp"), arguments.is_on("stealth")),
    };
    if !arguments.is_on("no-memories") {
        text.push_str(&memories.unwrap_or_default());
    }
    Ok(text)
}

fn workflow(is_short: bool, is_stealth: bool) -> String {
    let text = if is_short { SHORT } else { LONG };
    let git = if is_stealth || is_short { "" } else { GIT };
    format!("{text}{git}")
}

fn own_text(directory: &Utf8Path) -> Option<String> {
    let bytes = files::read(&directory.join(OWN_TEXT)).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// What belongs to no bead and came from a store of the real `bd`.
fn memories(call: &Call<'_>) -> Result<Option<String>, Refusal> {
    let opened = call.open()?;
    let rows = opened.store.controls(import::MEMORY)?;
    if rows.is_empty() {
        return Ok(None);
    }
    let mut text = format!("\n## Memories ({})\n\n", rows.len());
    for row in rows {
        let key = row.key.strip_prefix(import::MEMORY).unwrap_or_default();
        let value = row.value.as_str().unwrap_or_default();
        push!(text, "### {key}\n{value}\n\n");
    }
    Ok(Some(text))
}
