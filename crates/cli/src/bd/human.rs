//! `bd human`: questions to people, which are beads with the label `human`.

use beads_ralph_core::issue::{Edit, Query, Record};
use beads_ralph_core::vocabulary::{Status, label};

use super::{
    Access, Call, Command, Filter, Opened, Positional, Refusal, any, comments, filter, go_json,
    ids, input, issue_json, one, string, switch, title_of,
};

/// What the reason of a question begins with that was not answered.
const DISMISSED: &str = "Dismissed";

const ID_AND_TEXT: &[Positional] = &[one("issue-id"), any("text")];

pub(super) const COMMAND: Command = Command {
    name: "human",
    about: "Questions to people",
    children: &[
        &Command {
            name: "dismiss",
            about: "Close a question without an answer",
            positionals: ID_AND_TEXT,
            flags: &[string("reason", "Why")],
            access: Access::Writes,
            run: Some(dismiss),
            ..Command::NONE
        },
        &Command {
            name: "list",
            about: "The questions",
            flags: &[string("status", "Those with one of these statuses, or all").short('s')],
            run: Some(list),
            ..Command::NONE
        },
        &Command {
            name: "respond",
            about: "Answer a question and close it",
            positionals: ID_AND_TEXT,
            flags: &[
                string("file", "Read the answer from a file"),
                string("response", "The answer").short('r'),
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
        labels: vec![label::HUMAN.to_owned()],
        ..Filter::default()
    };
    match statuses {
        None => filter.excluded_statuses = filter::finished_statuses(opened)?,
        Some("all") => {}
        Some(statuses) => filter.statuses = filter::named_statuses(opened, statuses)?,
    }
    Ok(filter.query())
}

fn list(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let questions = questions(&opened, call.arguments.filled("status"))
        .and_then(|query| Ok(opened.store.find(&query)?))
        .map_err(|why| Refusal::json(format!("listing human beads: {}", why.message())))?;
    if call.output.is_json() {
        // An empty list is null in this one answer, and nothing stands around it.
        let questions = Some(issue_json::issues(&questions)).filter(|list| !list.is_empty());
        return call.output.encoded(&go_json::encode(&questions));
    }
    if questions.is_empty() {
        return call.output.text("No human-needed beads found.\n");
    }
    let mut text = format!("\nHuman-needed beads ({} found)\n\n", questions.len());
    for record in &questions {
        let issue = &record.issue;
        push!(text, "  {} {}\n", issue.id(), title_of(issue));
        if issue.status() != Status::Open {
            push!(text, "    Status: {}\n", issue.status());
        }
        push!(text, "    Priority: P{}\n\n", issue.priority());
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
        .filter(|record| record.issue.status() == Status::Closed);
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
    let record = ids::find(opened, "resolving issue ID", text)?;
    let issue = &record.issue;
    let id = issue.id();
    if issue.status() == Status::Closed {
        return Err(Refusal::json(format!("issue {id} is already closed")));
    }
    if !issue.has_label(label::HUMAN) {
        let warning = format!("Warning: Issue {id} does not have 'human' label\n");
        call.output.stderr(&warning);
    }
    Ok(record)
}

fn close(opened: &mut Opened, record: &Record, edits: Vec<Edit>) -> Result<(), Refusal> {
    let closed = opened.update(record, edits);
    closed.map_err(|error| Refusal::json(format!("closing bead: {error}")))
}

fn respond(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let hint = (
        "response text",
        "use positional args, --response, --file, or --stdin",
    );
    let answer = input::required_text(arguments, &arguments.words[1..], Some("response"), hint)
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
    let reason = input::given_text(arguments, &arguments.words[1..], Some("reason"))
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
