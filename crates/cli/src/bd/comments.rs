//! `bd comments`, `bd comment` and `bd note`: the comments on a bead, a new one, and a line for its notes.

use beads_ralph_core::bead::Timestamp;
use beads_ralph_core::issue::{Comment, Edit, Record, new_comment};
use jiff::tz::TimeZone;
use serde_json::Value;

use super::issue_json::CommentJson;
use super::{
    Access, Arity, Call, Command, ID, Opened, Positional, Refusal, any, feedback, ids, input,
    issue_json, line, one, string, switch, text, update,
};

const ID_AND_TEXT: &[Positional] = &[one("issue-id"), any("text")];

/// What the real `bd` says to whoever looks for a list in the wrong place.
const NO_LIST: &str = "\"bd comments list\" is not valid.

To list comments on an issue, run:
  bd comments <issue-id>

Example:
  bd comments bd-123

See: bd comments --help";

/// And to whoever names more than one bead.
const ONE_BEAD: &str = "\"bd comments\" takes a single issue id and lists its comments.

To list comments:
  bd comments <issue-id>

To add a comment:
  bd comments add <issue-id> <text>

See: bd comments --help";

/// What it says to whoever takes the short way for the long one.
const NO_SHORT_LIST: &str = "\"bd comment list ...\" is not valid — \"comment\" (singular) takes an issue id first and has no \"list\" subcommand.

To list comments on an issue:
  bd comments <issue-id>

To add a comment:
  bd comment <issue-id> \"text\"

See: bd comment --help";
const NO_SHORT_ADD: &str = "\"bd comment add ...\" is not valid — \"comment\" (singular) already means \"add a comment\" and takes an issue id first, not the word \"add\".

To add a comment:
  bd comment <issue-id> \"text\"

(\"add\" is only a subcommand of the plural form: bd comments add <issue-id> \"text\".)

See: bd comment --help";

pub(super) const COMMAND: Command = Command {
    name: "comments",
    about: "List the comments on a bead",
    positionals: ID,
    arity: Arity::AtLeast(1),
    flags: &[switch("local-time", "Times of this machine instead of UTC")],
    children: &[&Command {
        name: "add",
        about: "Add a comment to a bead",
        positionals: ID_AND_TEXT,
        flags: &[
            string("author", "Who the comment is from").short('a'),
            string("file", "Read the text from a file").short('f'),
        ],
        access: Access::Writes,
        run: Some(add),
        ..Command::NONE
    }],
    run: Some(list),
    ..Command::NONE
};

/// The short way to add.
pub(super) const SHORT: Command = Command {
    name: "comment",
    about: "Add a comment to a bead",
    positionals: ID_AND_TEXT,
    flags: &[
        string("file", "Read the text from a file"),
        switch("stdin", "Read the text from standard input"),
    ],
    access: Access::Writes,
    run: Some(add_shortly),
    ..Command::NONE
};

fn list(call: &mut Call<'_>) -> Result<(), Refusal> {
    let text = &call.arguments.words[0];
    if text == "list" {
        return Err(Refusal::json(NO_LIST));
    }
    match call.arguments.words.get(1).map(String::as_str) {
        None => {}
        Some("add") => {
            return Err(Refusal::json(format!(
                "\"bd comments <issue-id> add ...\" is not valid — the subcommand must come first.\n\nTo add a comment, run:\n  bd comments add <issue-id> <text>\n\nExample:\n  bd comments add {text} \"your comment\"\n\nSee: bd comments --help"
            )));
        }
        Some(_) => return Err(Refusal::json(ONE_BEAD)),
    }
    let opened = call.open()?;
    let record = ids::find(&opened, "resolving", text)?;
    let id = record.issue.id();
    if call.output.is_json() {
        return call.output.value(issue_json::comments(&opened, id)?);
    }
    let comments = opened.store.comments(id)?;
    if comments.is_empty() {
        return call.output.text(&format!("No comments on {id}\n"));
    }
    let zone = if call.arguments.is_on("local-time") {
        TimeZone::system()
    } else {
        TimeZone::UTC
    };
    let mut shown = format!("\nComments on {id}:\n\n");
    for comment in &comments {
        let time = comment
            .created_at()
            .and_then(|time| Timestamp::parse(time).ok());
        let time = time.map_or(jiff::Timestamp::UNIX_EPOCH, |time| time.instant());
        let time = time
            .to_zoned(zone.clone())
            .strftime("%Y-%m-%d %H:%M")
            .to_string();
        push!(
            shown,
            "[{}] at {time}\n",
            line(comment.author().unwrap_or_default())
        );
        let text = text::rendered(comment.text().unwrap_or_default());
        for line in text.trim_end_matches('\n').split('\n') {
            push!(shown, "  {line}\n");
        }
        shown.push('\n');
    }
    call.output.text(&shown)
}

fn add(call: &mut Call<'_>) -> Result<(), Refusal> {
    let hint = "use positional args or -f to read from file";
    let author = call.arguments.filled("author").map(str::to_owned);
    let (record, comment) = write(call, hint, author)?;
    call.output.answer(comment, || {
        format!("Comment added to {}\n", record.issue.id())
    })
}

fn add_shortly(call: &mut Call<'_>) -> Result<(), Refusal> {
    match call.arguments.words[0].as_str() {
        "list" => return Err(Refusal::json(NO_SHORT_LIST)),
        "add" => return Err(Refusal::json(NO_SHORT_ADD)),
        _ => {}
    }
    let (record, comment) = write(call, "use positional args, --stdin, or --file", None)?;
    call.output.answer(comment, || {
        format!("✓ Comment added to {}\n", feedback(&record.issue))
    })
}

/// Adds the comment that was given, and gives the bead as it was before.
fn write(
    call: &Call<'_>,
    hint: &str,
    author: Option<String>,
) -> Result<(Record, CommentJson), Refusal> {
    let words = &call.arguments.words;
    let hint = ("comment text", hint);
    let text =
        input::required_text(call.arguments, &words[1..], None, hint).map_err(Refusal::json)?;
    let mut opened = call.open()?;
    let record = ids::find(&opened, "resolving", &words[0])?;
    let author = author.unwrap_or_else(|| opened.actor().to_owned());
    let comment = made(&opened, &record, &author, &text);
    opened.update(&record, vec![Edit::Comment(comment.clone())])?;
    let shown = issue_json::comment(record.issue.id(), &comment, record.n_comments);
    Ok((record, shown))
}

/// A comment as the real `bd` makes them: with an id.
pub(super) fn made(opened: &Opened, record: &Record, author: &str, text: &str) -> Comment {
    let at = Timestamp::from_instant(opened.by.now);
    let comment = new_comment(record.issue.id(), author, text, &at);
    let Value::Object(mut object) = comment.to_value() else {
        unreachable!("a comment is an object");
    };
    object.insert(
        "id".to_owned(),
        beads_ralph_runtime::agent::new_session_id().into(),
    );
    Comment::from_value(Value::Object(object)).expect("a comment with an id is still one")
}

pub(super) const NOTE: Command = Command {
    name: "note",
    about: "Add to the notes of a bead",
    positionals: &[one("id"), any("text")],
    flags: &[
        string("file", "Read the text from a file"),
        switch("stdin", "Read the text from standard input"),
    ],
    exclusive: &[&["stdin", "file"]],
    access: Access::Writes,
    run: Some(note),
    ..Command::NONE
};

fn note(call: &mut Call<'_>) -> Result<(), Refusal> {
    let words = &call.arguments.words;
    if let Some(why) = no_command(&words[0]) {
        return Err(Refusal::json(why));
    }
    let hint = ("note text", "use positional args, --stdin, or --file");
    let text =
        input::required_text(call.arguments, &words[1..], None, hint).map_err(Refusal::json)?;
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
