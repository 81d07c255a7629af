//! `bd create`: a new bead from flags.

mod draft;
mod edges;
mod graph;
mod markdown;
mod whole_json;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Dependency, Edit, Record};
use beads_ralph_runtime::store::StoreError;
use draft::Draft;

use super::document_json::NewBead;
use super::filter::INFRA_TYPES;
use super::input::DESCRIBING;
use super::issue_json::ZERO_TIME;
use super::{
    Access, Arguments, Call, Command, Flag, Opened, Refusal, dep, feedback, go_json, ids, input,
    issue_json, list_of, optional, quoted, string, switch,
};

pub(super) use draft::past;

#[rustfmt::skip]
const NOT_SERVED: &[&str] = &[
    "append-notes", "context", "event-actor", "event-category", "event-payload", "event-target", "mol-type", "no-history",
    "repo", "skills", "storage-class", "validate", "waits-for", "waits-for-gate", "wisp-type",
];

pub(super) const COMMAND: Command = Command {
    name: "create",
    aliases: &["new"],
    about: "Create a bead",
    positionals: &[optional("title")],
    flags: FLAGS,
    shared: DESCRIBING,
    not_served: NOT_SERVED,
    exclusive: &[
        &["stdin", "body-file"],
        &["stdin", "description-file"],
        &["stdin", "description"],
        &["stdin", "body"],
        &["stdin", "message"],
        &["design", "design-file"],
    ],
    access: Access::Writes,
    run: Some(run),
    ..Command::NONE
};

const FLAGS: &[Flag] = &[
    string("assignee", "Who it is for").short('a'),
    string("defer", "Hide it from `bd ready` until then"),
    list_of(
        "deps",
        "What it depends on: id, or type:id; blocks:id turns it around",
    ),
    switch("dry-run", "Show what would be created"),
    string(
        "due",
        "When it is due: +6h, +1d, tomorrow, next monday, 2025-01-15",
    ),
    switch("ephemeral", "A bead that does not last"),
    string("file", "Create one for each heading of a Markdown file").short('f'),
    switch("force", "Take an id with another prefix"),
    string(
        "graph",
        "Create several with edges between them, from a file",
    ),
    string("id", "Its id"),
    list_of("label", "The same as --labels"),
    list_of("labels", "Its labels").short('l'),
    string("metadata", "Its metadata as JSON, or @file"),
    switch("no-inherit-labels", "Do not take over the parent's labels"),
    string("notes", "Notes"),
    string("parent", "What it is a part of; its id follows from that"),
    switch("silent", "Print only the id"),
    string("status", "Its first status").short('s'),
];

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    if let Some(path) = arguments.filled("file") {
        return markdown::create(call, path);
    }
    if let Some(path) = arguments.filled("graph") {
        return graph::create(call, path);
    }
    if let Some(document) = whole_json::given(call)? {
        return whole_json::create(call, document);
    }
    let title = title(arguments)?;
    let mut opened = call.open()?;
    let draft = Draft::read(&opened, arguments, call.output.is_quiet)?;
    if let Some(warning) = &draft.warning {
        call.output.stderr(warning);
    }
    let parent = parent(&opened, arguments)?;
    let labels = merged(draft.labels.clone(), parent.as_ref(), arguments);
    if arguments.is_on("dry-run") {
        let id = arguments.filled("id").unwrap_or_default();
        let document = draft.document(&opened, id, &title, &labels);
        return preview(call, document, &labels);
    }
    let specs = edges::parse(&arguments.list("deps")).map_err(Refusal::json)?;
    let id = match (&parent, arguments.filled("id")) {
        (Some(parent), _) => Some(ids::next_child(&opened, parent.issue.id())?),
        (None, Some(id)) => Some(checked_id(&opened, id, arguments.is_on("force"))?),
        (None, None) => None,
    };
    let specs = edges::resolve(&opened, specs).map_err(Refusal::json)?;
    let shown_id = id.as_ref().map(BeadId::to_string).unwrap_or_default();
    let mut wrong = input::wrong_title(&title);
    if wrong.is_none() && !input::is_type(&opened, &draft.kind)? {
        wrong = Some(format!("invalid issue type: {}", draft.kind));
    }
    if let Some(why) = wrong {
        return Err(Refusal::json(format!(
            "validation failed: validation failed for issue {shown_id}: {why}"
        )));
    }
    let id = if let Some(id) = id {
        id
    } else {
        let prefix = opened.prefix()?;
        let description = draft.description.as_deref().unwrap_or_default();
        ids::new_id(&opened, &prefix, &title, description)?
    };
    let own = edges::own(&opened, &shown_id, parent.as_ref(), &specs).map_err(Refusal::json)?;
    let own: Vec<_> = own.iter().map(|edge| edge.to_value(&id)).collect();
    // Messages and the like are bookkeeping, which does not last.
    let is_bookkeeping = INFRA_TYPES.contains(&draft.kind.as_str());
    let document = (draft.document(&opened, id.as_str(), &title, &labels))
        .with("ephemeral", is_bookkeeping)
        .with("dependencies", own);
    insert(&mut opened, document, edges::turned(&specs), &id)?;
    created(call, &opened, &id, &labels)
}

/// The title, which may be given in two ways.
fn title(arguments: &Arguments) -> Result<String, Refusal> {
    let flag = arguments.filled("title");
    let title = match (arguments.words.first(), flag) {
        (Some(word), Some(flag)) if word != flag => {
            return Err(Refusal::plain(format!(
                "cannot specify different titles as both positional argument and --title flag\n  Positional: {}\n  --title:    {}",
                quoted(word),
                quoted(flag)
            )));
        }
        (Some(word), None) if word.starts_with('-') => {
            let word = quoted(word);
            return Err(Refusal::plain(format!(
                "title {word} looks like a flag (starts with '-').\n  Run 'bd create --help' for available options.\n  To use this title anyway, pass it explicitly: bd create --title={word}"
            )));
        }
        (Some(word), _) => word,
        (None, Some(flag)) => flag,
        (None, None) => {
            return Err(Refusal::plain(
                "title required (or use --file to create from markdown)",
            ));
        }
    };
    if title.trim().is_empty() {
        return Err(Refusal::plain("title cannot be empty or whitespace-only"));
    }
    Ok(title.to_owned())
}

fn parent(opened: &Opened, arguments: &Arguments) -> Result<Option<Record>, Refusal> {
    let Some(parent) = arguments.filled("parent") else {
        return Ok(None);
    };
    if arguments.filled("id").is_some() {
        return Err(Refusal::plain(
            "cannot specify both --id and --parent flags",
        ));
    }
    match opened.exact(parent)? {
        Some(record) => Ok(Some(record)),
        None => Err(Refusal::plain(format!("parent issue {parent} not found"))),
    }
}

fn merged(mut labels: Vec<String>, parent: Option<&Record>, arguments: &Arguments) -> Vec<String> {
    if let Some(parent) = parent.filter(|_| !arguments.is_on("no-inherit-labels")) {
        labels.extend(issue_json::sorted_labels(&parent.issue));
    }
    input::labels(labels)
}

fn checked_id(opened: &Opened, id: &str, is_forced: bool) -> Result<BeadId, Refusal> {
    if !id.contains('-') {
        return Err(Refusal::plain(format!(
            "invalid ID format '{id}' (expected format: prefix-hash or prefix-hash.number, e.g., 'bd-a3f8e9' or 'bd-a3f8e9.1')"
        )));
    }
    let prefix = opened.prefix()?;
    let allowed = opened.config("allowed_prefixes")?.unwrap_or_default();
    let has = |prefix: &str| {
        let prefix = prefix.trim().trim_end_matches('-');
        !prefix.is_empty()
            && id
                .strip_prefix(prefix)
                .is_some_and(|rest| rest.starts_with('-'))
    };
    if !is_forced && !has(&prefix) && !allowed.split(',').any(has) {
        let (more, any) = if allowed.is_empty() {
            (String::new(), "")
        } else {
            (format!(" (allowed: {allowed})"), " any allowed prefix")
        };
        return Err(Refusal::plain(format!(
            "prefix mismatch: database uses '{prefix}-'{more} but ID '{id}' doesn't match{any} (use --force to override)"
        )));
    }
    beads_ralph_core::issue::check_id(id).map_err(|error| Refusal::json(error.to_string()))
}

/// Puts a bead into the store, with the edges of others to it.
pub(super) fn insert(
    opened: &mut Opened,
    document: NewBead,
    turned: Vec<(Record, Dependency)>,
    id: &BeadId,
) -> Result<(), Refusal> {
    let insertion = document
        .insertion()
        .map_err(|why| Refusal::json(format!("validation failed: {why}")))?;
    let mut batch = vec![insertion];
    for (record, edge) in turned {
        let edge = dep::edge(opened, id, edge.kind()).map_err(Refusal::json)?;
        batch.push(opened.change(&record, vec![Edit::AddDependency(edge)]));
    }
    opened.write(&batch).map_err(|error| match error {
        StoreError::Exists(id) => Refusal::json(format!(
            "{id} already exists; use bd update, or bd import for upsert semantics"
        )),
        StoreError::Cycle(circle) => Refusal::json(cycle(&circle)),
        other => other.into(),
    })
}

/// The error about edges that form a cycle.
pub(super) fn cycle(circle: &[BeadId]) -> String {
    let edge = match circle {
        [from, to, ..] => format!("invalid dependency {from} -> {to}: "),
        _ => String::new(),
    };
    format!("validation failed: {edge}adding dependency would create a cycle")
}

pub(super) fn preview(
    call: &Call<'_>,
    document: NewBead,
    labels: &[String],
) -> Result<(), Refusal> {
    if call.output.is_json() {
        // It is in no store, so that it has no times.
        let document = document.set("created_at", ZERO_TIME);
        let document = document.set("updated_at", ZERO_TIME);
        return call
            .output
            .value(go_json::sorted(document.document().clone().into()));
    }
    let value = |key: &str| document.text(key);
    let id = match value("id") {
        "" => "(will be generated)",
        id => id,
    };
    let mut lines = vec![
        "⚠ [DRY RUN] Would create issue:".to_owned(),
        format!("  ID: {id}"),
        format!("  Title: {}", value("title")),
        format!("  Type: {}", value("issue_type")),
        format!("  Priority: P{}", document.priority()),
        format!("  Status: {}", value("status")),
    ];
    for (name, key) in [("Assignee", "assignee"), ("Description", "description")] {
        if !value(key).is_empty() {
            lines.push(format!("  {name}: {}", value(key)));
        }
    }
    if !labels.is_empty() {
        lines.push(format!("  Labels: {}", labels.join(", ")));
    }
    let deps = call.arguments.list("deps");
    if !deps.is_empty() {
        lines.push(format!("  Dependencies: {}", deps.join(", ")));
    }
    call.output.text(&crate::ui::lines(lines))
}

pub(super) fn created(
    call: &Call<'_>,
    opened: &Opened,
    id: &BeadId,
    labels: &[String],
) -> Result<(), Refusal> {
    let Some(record) = opened.record(id)? else {
        return Err(Refusal::json(format!("{id} is gone again")));
    };
    if call.output.is_json() {
        let mut issue = issue_json::issue(&record);
        if !labels.is_empty() {
            issue = issue.with("labels", labels);
        }
        return call.output.value(issue);
    }
    if call.arguments.is_on("silent") {
        return call.output.text(&format!("{id}\n"));
    }
    let issue = &record.issue;
    call.output.say(&format!(
        "✓ Created issue: {}\n  Priority: P{}\n  Status: {}\n",
        feedback(issue),
        issue.priority(),
        issue.status()
    ))
}
