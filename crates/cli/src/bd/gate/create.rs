//! `bd gate create`: a gate that holds one bead back.

use beads_ralph_core::issue::{Edit, Entry, Fence, Issue, Record};
use beads_ralph_runtime::store::Write;
use serde_json::{Map, Value};

use super::super::arguments::{Arguments, go_duration, quoted};
use super::super::call::{Call, Opened};
use super::super::failure::Refusal;
use super::super::text::push;
use super::super::tree::{Access, Arity, Command, text};
use super::super::{dep, holding, ids, input};
use super::{GATE, exact, go_text, value};

/// The command.
pub(super) const COMMAND: Command = Command {
    name: "create",
    about: "Hold a bead back by a gate",
    arity: Arity::Any,
    flags: &[
        text(
            "await-id",
            "What is waited for: a run, a pull request, a bead",
        ),
        text("blocks", "The bead that is held back (required)"),
        text("reason", "Why").short('r'),
        text("timeout", "How long it holds at the most: 2h, 30m"),
        text("title", "Its title"),
        text(
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
    let Some(target) = exact(&opened, blocked)? else {
        return Err(Refusal::json(format!("issue not found: {blocked}")));
    };
    let gate = insert(&mut opened, arguments, &wanted, &target)?;
    if call.output.is_json() {
        return call.output.value(value(&gate));
    }
    let (id, target) = (gate.issue.id(), &target.issue);
    let mut page = format!(
        "✓ Created gate {id} (type: {})\n  Blocks: {} ({})\n",
        wanted.kind,
        target.id(),
        target.title()
    );
    if let Some(reason) = wanted.reason {
        push(&mut page, format_args!("  Reason: {reason}\n"));
    }
    if wanted.nanoseconds > 0 {
        let timeout = go_text(wanted.nanoseconds);
        push(&mut page, format_args!("  Timeout: {timeout}\n"));
    }
    push(
        &mut page,
        format_args!("\nResolve with: bd gate resolve {id}\n"),
    );
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
    let document = document(opened, arguments, wanted, target)?;
    let issue = Issue::without_comments(Value::Object(document)).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Refusal::json(format!(
            "creating gate: validation failed: {}",
            errors.join("; ")
        ))
    })?;
    let id = issue.id().clone();
    let edge = dep::edge(opened, &id, "blocks")?;
    let batch = [
        Write::Insert(Box::new(Entry {
            issue,
            comments: Vec::new(),
            fence: Fence::default(),
        })),
        Write::Update {
            id: target.issue.id().clone(),
            edits: vec![Edit::AddDependency(edge)],
            guard: holding::guard(opened, target),
        },
    ];
    opened
        .write(&batch)
        .map_err(|error| Refusal::json(format!("creating gate: {error}")))?;
    let made = opened.record(&id)?;
    made.ok_or_else(|| Refusal::json(format!("{id} is gone again")))
}

fn document(
    opened: &Opened,
    arguments: &Arguments,
    wanted: &Wanted<'_>,
    target: &Record,
) -> Result<Map<String, Value>, Refusal> {
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
    let mut document = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        document.extend(value.map(|value| (key.to_owned(), value)));
    };
    put("id", Some(id.as_str().into()));
    put("title", Some(title.into()));
    put("description", Some(description.into()));
    put("status", Some("open".into()));
    put("priority", Some(2.into()));
    put("issue_type", Some(GATE.into()));
    put("owner", opened.owner().map(Value::from));
    put("created_at", Some(opened.time().into()));
    put("created_by", Some(opened.actor().into()));
    put("updated_at", Some(opened.time().into()));
    put("metadata", repository(kind, target)?);
    put("await_type", Some(kind.into()).filter(|_| !kind.is_empty()));
    put("await_id", wanted.awaited.map(Value::from));
    let timeout = (wanted.nanoseconds > 0).then(|| wanted.nanoseconds.into());
    put("timeout", timeout);
    Ok(document)
}

/// A gate for GitHub waits in the repository that its bead names.
fn repository(kind: &str, target: &Record) -> Result<Option<Value>, Refusal> {
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
            Ok(Some(serde_json::json!({"repo": text})))
        }
        _ => Err(Refusal::json(format!(
            "invalid GitHub repository metadata on {}: repo {repo} must use OWNER/REPO or HOST/OWNER/REPO",
            target.issue.id()
        ))),
    }
}
