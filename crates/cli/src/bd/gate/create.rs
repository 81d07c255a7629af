//! `bd gate create`: a gate that holds one bead back.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Edit, Record};
use beads_ralph_core::vocabulary::{EdgeType, IssueType};
use serde_json::{Map, Value};

use super::go_text;
use crate::bd::arguments::go_duration;
use crate::bd::document_json::NewBead;
use crate::bd::{
    Access, Arguments, Call, Command, Opened, Refusal, dep, ids, input, issue_json, quoted, string,
};

pub(super) const COMMAND: Command = Command {
    name: "create",
    about: "Hold a bead back by a gate",
    flags: &[
        string(
            "await-id",
            "What is waited for: a run, a pull request, a bead",
        ),
        string("blocks", "The bead that is held back (required)"),
        string("reason", "Why").short('r'),
        string("timeout", "How long it holds at the most: 2h, 30m"),
        string("title", "Its title"),
        string(
            "type",
            "human, timer, bead, gh:run or gh:pr (default human)",
        )
        .short('t'),
    ],
    access: Access::Writes,
    run: Some(run),
    ..Command::NONE
};

/// What was asked for.
struct Wanted<'a> {
    kind: &'a str,
    awaited: Option<&'a str>,
    reason: Option<&'a str>,
    nanoseconds: u64,
}

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let mut opened = call.open()?;
    let Some(blocked) = arguments.text("blocks") else {
        return Err(Refusal::plain("required flag(s) \"blocks\" not set"));
    };
    let wanted = Wanted {
        kind: arguments.text("type").unwrap_or("human"),
        awaited: arguments.filled("await-id"),
        reason: arguments.filled("reason"),
        nanoseconds: timeout(arguments)?,
    };
    let Some(target) = opened.exact(blocked)? else {
        return Err(Refusal::json(format!("issue not found: {blocked}")));
    };
    let gate = insert(&mut opened, arguments, &wanted, &target)?;
    if call.output.is_json() {
        return call.output.value(issue_json::issue(&gate));
    }
    let (id, target) = (gate.issue.id(), &target.issue);
    let mut page = format!(
        "✓ Created gate {id} (type: {})\n  Blocks: {} ({})\n",
        wanted.kind,
        target.id(),
        target.title()
    );
    if let Some(reason) = wanted.reason {
        push!(page, "  Reason: {reason}\n");
    }
    if wanted.nanoseconds > 0 {
        let timeout = go_text(wanted.nanoseconds);
        push!(page, "  Timeout: {timeout}\n");
    }
    push!(page, "\nResolve with: bd gate resolve {id}\n");
    call.output.text(&page)
}

fn timeout(arguments: &Arguments) -> Result<u64, Refusal> {
    let Some(given) = arguments.filled("timeout") else {
        return Ok(0);
    };
    let span = go_duration(given).ok_or_else(|| {
        Refusal::json(format!(
            "invalid timeout: time: invalid duration {}",
            quoted(given)
        ))
    })?;
    Ok(u64::try_from(span.as_nanos()).unwrap_or_default())
}

/// Puts the gate into the store together with the edge to it.
fn insert(
    opened: &mut Opened,
    arguments: &Arguments,
    wanted: &Wanted<'_>,
    target: &Record,
) -> Result<Record, Refusal> {
    let failed = |why: String| Refusal::json(format!("creating gate: {why}"));
    let (id, document) = document(opened, arguments, wanted, target)?;
    let edge = dep::edge(opened, &id, EdgeType::Blocks.as_str()).map_err(Refusal::json)?;
    let insertion = document.insertion();
    let batch = [
        insertion.map_err(|why| failed(format!("validation failed: {why}")))?,
        opened.change(target, vec![Edit::AddDependency(edge)]),
    ];
    opened
        .write(&batch)
        .map_err(|error| failed(error.to_string()))?;
    let made = opened.record(&id)?;
    made.ok_or_else(|| Refusal::json(format!("{id} is gone again")))
}

fn document(
    opened: &Opened,
    arguments: &Arguments,
    wanted: &Wanted<'_>,
    target: &Record,
) -> Result<(BeadId, NewBead), Refusal> {
    let kind = wanted.kind;
    let title = match (arguments.filled("title"), wanted.awaited) {
        (Some(title), _) => title.to_owned(),
        (None, Some(awaited)) => format!("Gate: {kind} {awaited}"),
        (None, None) => format!("Gate: {kind}"),
    };
    if let Some(why) = input::wrong_title(&title) {
        return Err(Refusal::json(format!(
            "creating gate: validation failed for issue : {why}"
        )));
    }
    let reason = wanted.reason;
    let reason = reason.map_or(String::new(), |reason| format!("\n\nReason: {reason}"));
    let description = format!("Ad-hoc gate blocking {}{reason}", target.issue.id());
    let id = ids::new_id(opened, &opened.prefix()?, &title, &description)?;
    let timeout = (wanted.nanoseconds > 0).then_some(wanted.nanoseconds);
    let document = NewBead::new(opened, id.as_str(), &title)
        .set("description", description)
        .set("issue_type", IssueType::Gate)
        .with("metadata", repository(kind, target)?)
        .with("await_type", kind)
        .with("await_id", wanted.awaited)
        .with("timeout", timeout);
    Ok((id, document))
}

/// A gate for GitHub waits in the repository that its bead names.
fn repository(kind: &str, target: &Record) -> Result<Option<Map<String, Value>>, Refusal> {
    let metadata = target.issue.metadata();
    let repo = metadata.and_then(|map| map.get("repo"));
    let Some(repo) = repo.filter(|_| kind.starts_with("gh:")) else {
        return Ok(None);
    };
    let is_name = |part: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        !part.is_empty() && part.chars().all(is_plain)
    };
    match repo.as_str() {
        Some("") => Ok(None),
        Some(text)
            if (2..=3).contains(&text.split('/').count()) && text.split('/').all(is_name) =>
        {
            Ok(Some(Map::from_iter([("repo".to_owned(), text.into())])))
        }
        _ => Err(Refusal::json(format!(
            "invalid GitHub repository metadata on {}: repo {repo} must use OWNER/REPO or HOST/OWNER/REPO",
            target.issue.id()
        ))),
    }
}
