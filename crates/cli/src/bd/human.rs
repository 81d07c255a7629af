//! `bd human`: questions to people, which are beads with the label `human`.

use beads_ralph_core::issue::{Edit, Query, Record};
use beads_ralph_runtime::store::Write;
use serde_json::Value;

use super::call::{Call, Opened};
use super::failure::Refusal;
use super::filter::Filter;
use super::text::{push, title_of};
use super::tree::{Access, Arity, Command, Positional, switch, text};
use super::{comments, holding, ids, issue_json, output, said, status_filter};

/// The label of a question.
const LABEL: &str = "human";

/// What the reason of a question begins with that was not answered.
const DISMISSED: &str = "Dismissed";

const ID_AND_TEXT: &[Positional] = &[
    Positional {
        name: "issue-id",
        is_required: true,
        is_many: false,
    },
    Positional {
        name: "text",
        is_required: false,
        is_many: true,
    },
];

/// The group.
pub(super) const COMMAND: Command = Command {
    name: "human",
    about: "Questions to people",
    children: &[
        &Command {
            name: "dismiss",
            about: "Close a question without an answer",
            positionals: ID_AND_TEXT,
            arity: Arity::AtLeast(1),
            flags: &[text("reason", "Why")],
            access: Access::Writes,
            run: Some(dismiss),
            ..Command::NONE
        },
        &Command {
            name: "list",
            about: "The questions",
            flags: &[text("status", "Those with one of these statuses, or all").short('s')],
            run: Some(list),
            ..Command::NONE
        },
        &Command {
            name: "respond",
            about: "Answer a question and close it",
            positionals: ID_AND_TEXT,
            arity: Arity::AtLeast(1),
            flags: &[
                text("file", "Read the answer from a file"),
                text("response", "The answer").short('r'),
                switch("stdin", "Read the answer from standard input"),
            ],
            access: Access::Writes,
            run: Some(respond),
            ..Command::NONE
        },
        &Command {
            name: "stats",
            about: "How many questions there are",
            run: Some(stats),
            ..Command::NONE
        },
    ],
    ..Command::NONE
};

/// The questions with some statuses; nothing means those that are not over.
fn questions(opened: &Opened, statuses: Option<&str>) -> Result<Query, Refusal> {
    let mut filter = Filter {
        labels: vec![LABEL.to_owned()],
        ..Filter::default()
    };
    match statuses {
        None => filter.excluded_statuses = status_filter::finished(opened)?,
        Some("all") => {}
        Some(statuses) => filter.statuses = status_filter::named(opened, statuses)?,
    }
    Ok(filter.query())
}

fn list(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let questions = questions(&opened, call.arguments.filled("status"))
        .and_then(|query| Ok(opened.store.find(&query)?))
        .map_err(|why| Refusal::json(format!("listing human beads: {}", why.message())))?;
    if call.output.is_json() {
        let value = |record: &Record| {
            let mut object = issue_json::issue(record);
            object.shift_remove("is_blocked");
            Value::Object(object)
        };
        // An empty list is null in this one answer, and nothing stands around it.
        let values = match questions.as_slice() {
            [] => Value::Null,
            some => some.iter().map(value).collect(),
        };
        return call.output.encoded(&output::encode(&values));
    }
    if questions.is_empty() {
        return call.output.text("No human-needed beads found.\n");
    }
    let mut text = format!("\nHuman-needed beads ({} found)\n\n", questions.len());
    for record in &questions {
        let issue = &record.issue;
        push(
            &mut text,
            format_args!("  {} {}\n", issue.id(), title_of(issue)),
        );
        if issue.status() != "open" {
            push(&mut text, format_args!("    Status: {}\n", issue.status()));
        }
        push(
            &mut text,
            format_args!("    Priority: P{}\n\n", issue.priority()),
        );
    }
    call.output.text(&text)
}

fn stats(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let questions = questions(&opened, Some("all"))
        .and_then(|query| Ok(opened.store.find(&query)?))
        .map_err(|why| Refusal::json(format!("getting human bead stats: {}", why.message())))?;
    let closed = questions
        .iter()
        .filter(|record| record.issue.status() == "closed");
    let reason = |record: &&Record| {
        let reason = record.issue.text("close_reason").unwrap_or_default();
        reason.starts_with(DISMISSED)
    };
    let (n_closed, n_dismissed) = (closed.clone().count(), closed.filter(reason).count());
    let (total, n_answered) = (questions.len(), n_closed - n_dismissed);
    let pending = total - n_closed;
    call.output.text(&format!(
        "\nHuman Beads Stats\n\n  Total:      {total}\n  Pending:    {pending}\n  Responded:  {n_answered}\n  Dismissed:  {n_dismissed}\n\n"
    ))
}

/// A question that can still be closed.
fn question(call: &Call<'_>, opened: &Opened) -> Result<Record, Refusal> {
    let text = &call.arguments.words[0];
    let record = ids::resolve(opened, text)
        .map_err(|why| Refusal::json(format!("resolving issue ID {text}: {}", why.message())))?;
    let issue = &record.issue;
    let id = issue.id();
    if issue.status() == "closed" {
        return Err(Refusal::json(format!("issue {id} is already closed")));
    }
    if !issue.has_label(LABEL) {
        let warning = format!("Warning: Issue {id} does not have 'human' label\n");
        call.output.aside(&warning);
    }
    Ok(record)
}

fn close(opened: &mut Opened, record: &Record, edits: Vec<Edit>) -> Result<(), Refusal> {
    let write = Write::Update {
        id: record.issue.id().clone(),
        edits,
        guard: holding::guard(opened, record),
    };
    opened
        .write(&[write])
        .map_err(|error| Refusal::json(format!("closing bead: {error}")))
}

fn respond(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let hint = (
        "response text",
        "use positional args, --response, --file, or --stdin",
    );
    let answer = said::required(arguments, &arguments.words[1..], Some("response"), hint)
        .map_err(Refusal::json)?;
    let mut opened = call.open()?;
    let record = question(call, &opened)?;
    let actor = opened.actor().to_owned();
    let comment = comments::made(&opened, &record, &actor, &format!("Response: {answer}"));
    let edits = vec![Edit::Comment(comment), Edit::Close("Responded".to_owned())];
    close(&mut opened, &record, edits)?;
    let id = record.issue.id();
    call.output
        .text(&format!("✔ Bead {id} closed with response.\n"))
}

fn dismiss(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let reason = said::optional(arguments, &arguments.words[1..], Some("reason"))
        .map_err(Refusal::json)?
        .unwrap_or_default();
    let reason = match reason.trim() {
        "" => DISMISSED.to_owned(),
        reason => format!("{DISMISSED}: {reason}"),
    };
    let mut opened = call.open()?;
    let record = question(call, &opened)?;
    close(&mut opened, &record, vec![Edit::Close(reason)])?;
    let id = record.issue.id();
    call.output.text(&format!("✔ Bead {id} dismissed.\n"))
}
