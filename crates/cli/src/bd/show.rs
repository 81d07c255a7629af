//! `bd show`: everything about some beads.

mod page;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::Record;
use beads_ralph_core::vocabulary::{EdgeType, IssueType, Status};

use super::ids::Unresolved;
use super::issue_json::{Details, IssueJson};
use super::{Call, Command, Opened, Refusal, any, ids, issue_json, switch, text, texts};

pub(super) const COMMAND: Command = Command {
    name: "show",
    aliases: &["view"],
    about: "Show everything about beads",
    positionals: &[any("id")],
    flags: &[
        switch("brief-deps", "Only the heads of dependencies, in JSON"),
        texts("id", "An id, also one that looks like a flag"),
        switch("include-comments", "The comments too, in JSON"),
        switch("include-dependents", "What depends on it too, in JSON"),
        switch("short", "One line for each"),
    ],
    not_served: &[
        "as-of",
        "children",
        "current",
        "local-time",
        "long",
        "refs",
        "thread",
        "watch",
    ],
    run: Some(run),
    ..Command::NONE
};

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let opened = call.open()?;
    let mut wanted = arguments.words.clone();
    wanted.extend_from_slice(arguments.texts("id"));
    if wanted.is_empty() {
        return Err(Refusal::json(
            "at least one issue ID is required (use positional args, --id flag, or --current)",
        ));
    }
    let mut found = Vec::new();
    let mut n_found = 0;
    for (index, id) in wanted.iter().enumerate() {
        let record = match ids::resolve(&opened, id) {
            Ok(record) => record,
            Err(why) => {
                call.output.stderr(&unknown(id, &why));
                continue;
            }
        };
        n_found += 1;
        if arguments.is_on("short") {
            call.output
                .text(&format!("{}\n", text::one_line(&record.issue)))?;
        } else if call.output.is_json() {
            found.push(details(&opened, &record, call)?);
        } else {
            call.output.text(&page::of(&opened, &record, index > 0)?)?;
        }
    }
    if call.output.is_json() {
        if found.is_empty() {
            return Err(Refusal::json("no issues found matching the provided IDs").hint(
                "some IDs may reference deleted/purged records with no trace left in the live database — try 'bd history <id>' to check",
            ));
        }
        return call.output.value(found);
    }
    if n_found == 0 {
        return Err(Refusal::silent(1));
    }
    Ok(())
}

fn unknown(id: &str, why: &Unresolved) -> String {
    match why {
        Unresolved::None(_) => format!(
            "Issue {id} not found\nHint: this ID may have never existed, or may reference a deleted/purged record with no trace left in the live database — try 'bd history {id}'\n"
        ),
        Unresolved::Other(why) => format!("Error fetching {id}: {why}\n"),
    }
}

fn details(opened: &Opened, record: &Record, call: &Call<'_>) -> Result<IssueJson, Refusal> {
    let arguments = call.arguments;
    let issue = &record.issue;
    let is_brief = arguments.is_on("brief-deps");
    let mut dependencies = Vec::new();
    for (target, kind) in depends_on(opened, record)? {
        dependencies.push(if is_brief {
            issue_json::related_shortly(&target, &kind)
        } else {
            issue_json::related(&target, &kind)
        });
    }
    let dependents = opened.store.dependents(issue.id())?;
    let mut details = Details {
        dependencies,
        n_dependents: dependents.len(),
        ..Details::default()
    };
    if arguments.is_on("include-dependents") {
        let dependents = with_records(opened, dependents)?;
        let children = dependents
            .iter()
            .filter(|(_, kind)| kind == EdgeType::ParentChild);
        let children: Vec<&str> = children.map(|(child, _)| child.issue.status()).collect();
        if issue.issue_type() == IssueType::Epic && !children.is_empty() {
            let closed = children.iter().filter(|status| **status == Status::Closed);
            details.children = Some((children.len(), closed.count()));
        }
        let shown =
            (dependents.iter()).map(|(record, kind)| issue_json::related_shortly(record, kind));
        details.dependents = Some(shown.collect());
    }
    if arguments.is_on("include-comments") {
        details.comments = Some(issue_json::comments(opened, issue.id())?);
    }
    Ok(issue_json::details(record, details))
}

/// What a bead depends on, with the type of each edge; what does not exist is left out.
pub(super) fn depends_on(
    opened: &Opened,
    record: &Record,
) -> Result<Vec<(Record, String)>, Refusal> {
    let edges = record.issue.dependencies().iter();
    let edges = edges.map(|edge| (edge.target().clone(), edge.kind().to_owned()));
    with_records(opened, edges.collect())
}

/// Beads with the types of the edges to them, in that order; what does not exist is left out.
pub(super) fn with_records(
    opened: &Opened,
    edges: Vec<(BeadId, String)>,
) -> Result<Vec<(Record, String)>, Refusal> {
    let mut found = Vec::new();
    for (id, kind) in edges {
        if let Some(record) = opened.record(&id)? {
            found.push((record, kind));
        }
    }
    Ok(found)
}
