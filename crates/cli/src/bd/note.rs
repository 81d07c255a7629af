//! `bd note`: adds a line to the notes of a bead.

use beads_ralph_core::issue::Edit;

use super::{
    Access, Arity, Call, Command, Refusal, any, feedback, ids, issue_json, one, said, string,
    switch, update,
};

pub(super) const COMMAND: Command = Command {
    name: "note",
    about: "Add to the notes of a bead",
    positionals: &[one("id"), any("text")],
    arity: Arity::AtLeast(1),
    flags: &[
        string("file", "Read the text from a file"),
        switch("stdin", "Read the text from standard input"),
    ],
    exclusive: &[&["stdin", "file"]],
    access: Access::Writes,
    run: Some(run),
    ..Command::NONE
};

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let words = &call.arguments.words;
    if let Some(why) = no_command(&words[0]) {
        return Err(Refusal::json(why));
    }
    let hint = ("note text", "use positional args, --stdin, or --file");
    let text = said::required(call.arguments, &words[1..], None, hint).map_err(Refusal::json)?;
    let mut opened = call.open()?;
    let record = ids::find(&opened, "resolving", &words[0])?;
    if let Some(why) = update::template(&record, &words[0]) {
        return Err(Refusal::json(why));
    }
    let id = record.issue.id().clone();
    opened
        .update(&record, vec![Edit::AppendNotes(text)])
        .map_err(|error| Refusal::json(format!("updating {}: {error}", words[0])))?;
    let now = opened.record(&id)?.unwrap_or(record);
    call.output.answer(issue_json::issue(&now), || {
        format!("✓ Note added to {}\n", feedback(&now.issue))
    })
}

/// What the real `bd` answers to whoever takes `note` for a group of commands: the word would be looked up as an id, and the
/// note would end in a bead whose id begins with it.
fn no_command(word: &str) -> Option<String> {
    let append = "\n\nTo append a note:\n  bd note <issue-id> \"text\"";
    let read = "\n\nTo read notes on an issue:\n  bd show <issue-id>";
    let set = "  bd update <issue-id> --notes \"text\"";
    let (why, ways) = match word {
        "list" => (
            "\"note\" takes an issue id first and has no \"list\" subcommand.".to_owned(),
            format!("{append}{read}"),
        ),
        "add" => (
            "\"note\" already means \"append a note\" and takes an issue id first, not the word \"add\".".to_owned(),
            format!("{append}\n\n(Equivalent long form: bd update <issue-id> --append-notes \"text\".)"),
        ),
        "show" => (
            "\"note\" takes an issue id first and has no \"show\" subcommand.".to_owned(),
            format!("{read}{append}"),
        ),
        "edit" => (
            "\"note\" only appends and has no \"edit\" subcommand.".to_owned(),
            format!("{append}\n\nTo change an issue field:\n{set}"),
        ),
        "rm" | "remove" | "delete" => (
            format!("\"note\" only appends and has no \"{word}\" subcommand."),
            format!("{append}\n\nTo change or clear notes:\n{set}"),
        ),
        "update" => (
            "\"note\" takes an issue id first and has no \"update\" subcommand.".to_owned(),
            format!("{append}\n\nTo set or append notes via the long form:\n{set}\n  bd update <issue-id> --append-notes \"text\""),
        ),
        _ => return None,
    };
    Some(format!(
        "\"bd note {word} ...\" is not valid — {why}{ways}\n\nSee: bd note --help"
    ))
}
