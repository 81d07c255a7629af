//! `bd create`: a new bead from flags.

mod edges;
mod graph;
mod whole;

use beads_ralph_core::bead::{BeadId, Timestamp};
use beads_ralph_core::issue::{Dependency, Edit, Entry, Fence, Issue, Record};
use beads_ralph_runtime::store::{StoreError, Write};
use serde_json::{Map, Value};

use super::arguments::{Arguments, quoted};
use super::call::{Call, Opened};
use super::failure::Refusal;
use super::issue_json;
use super::tree::{
    Access, Arity, Command, Flag, Positional, list_of, number, switch, text as text_flag,
};
use super::{holding, ids, input, output, text, times};

pub(super) const COMMAND: Command = Command {
    name: "create",
    aliases: &["new"],
    about: "Create a bead",
    positionals: &[Positional {
        name: "title",
        is_required: false,
        is_many: false,
    }],
    arity: Arity::AtMost(1),
    flags: FLAGS,
    not_served: &[
        "append-notes",
        "context",
        "event-actor",
        "event-category",
        "event-payload",
        "event-target",
        "file",
        "mol-type",
        "no-history",
        "repo",
        "skills",
        "storage-class",
        "validate",
        "waits-for",
        "waits-for-gate",
        "wisp-type",
    ],
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
    text_flag("acceptance", "What must be true in the end"),
    switch(
        "allow-empty-description",
        "Take an empty description from a file or a pipe",
    ),
    text_flag("assignee", "Who it is for").short('a'),
    text_flag("body", "The same as --description"),
    text_flag(
        "body-file",
        "Take the description from a file, or from - for standard input",
    ),
    text_flag("defer", "Hide it from `bd ready` until then"),
    list_of(
        "deps",
        "What it depends on: id, or type:id; blocks:id turns it around",
    ),
    text_flag("description", "What is to be done").short('d'),
    text_flag("description-file", "The same as --body-file"),
    text_flag("design", "How it is to be done"),
    text_flag(
        "design-file",
        "Take the design from a file, or from - for standard input",
    ),
    switch("dry-run", "Show what would be created"),
    text_flag(
        "due",
        "When it is due: +6h, +1d, tomorrow, next monday, 2025-01-15",
    ),
    switch("ephemeral", "A bead that does not last"),
    number("estimate", "How many minutes it takes").short('e'),
    text_flag("external-ref", "What it is called elsewhere"),
    switch("force", "Take an id with another prefix"),
    text_flag(
        "graph",
        "Create several with edges between them, from a file",
    ),
    text_flag("id", "Its id"),
    list_of("label", "The same as --labels"),
    list_of("labels", "Its labels").short('l'),
    text_flag("message", "The same as --description").short('m'),
    text_flag("metadata", "Its metadata as JSON, or @file"),
    switch("no-inherit-labels", "Do not take over the parent's labels"),
    text_flag("notes", "Notes"),
    text_flag("parent", "What it is a part of; its id follows from that"),
    text_flag("priority", "0-4 or P0-P4, 0 is most urgent").short('p'),
    switch("silent", "Print only the id"),
    text_flag("spec-id", "The specification it follows"),
    text_flag("status", "Its first status").short('s'),
    switch("stdin", "Take the description from standard input"),
    text_flag("title", "Its title"),
    text_flag("type", "Its type").short('t'),
];

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    if let Some(path) = arguments.filled("graph") {
        return graph::create(call, path);
    }
    if let Some(document) = whole::given(call)? {
        return whole::create(call, document);
    }
    let title = title(arguments)?;
    let mut opened = call.open()?;
    let draft = Draft::read(&opened, arguments, call.output.is_quiet)?;
    if let Some(warning) = &draft.warning {
        call.output.aside(warning);
    }
    let parent = parent(&opened, arguments)?;
    let labels = merged(draft.labels.clone(), parent.as_ref(), arguments);
    if arguments.is_on("dry-run") {
        let id = arguments.filled("id").unwrap_or_default();
        let document = draft.document(&opened, id, &title, &labels);
        return preview(call, &document, &labels);
    }
    let specs = edges::parse(&arguments.list("deps")).map_err(Refusal::json)?;
    let id = match (&parent, arguments.filled("id")) {
        (Some(parent), _) => Some(ids::next_child(&opened, parent.issue.id())?),
        (None, Some(id)) => Some(checked_id(&opened, id, arguments.is_on("force"))?),
        (None, None) => None,
    };
    let specs = edges::resolve(&opened, specs).map_err(Refusal::json)?;
    let shown_id = id.as_ref().map(BeadId::to_string).unwrap_or_default();
    if !input::is_type(&opened, &draft.kind)? {
        return Err(Refusal::json(format!(
            "validation failed: validation failed for issue {shown_id}: invalid issue type: {}",
            draft.kind
        )));
    }
    let id = if let Some(id) = id {
        id
    } else {
        let prefix = opened.prefix()?;
        let description = draft.description.as_deref().unwrap_or_default();
        ids::new_id(&opened, &prefix, &title, description)?
    };
    let mut document = draft.document(&opened, id.as_str(), &title, &labels);
    let own = edges::own(&opened, &shown_id, parent.as_ref(), &specs).map_err(Refusal::json)?;
    if !own.is_empty() {
        let records = own.iter().map(|edge| edge.to_value(&id)).collect();
        document.insert("dependencies".to_owned(), records);
    }
    insert(&mut opened, document, edges::turned(&specs), &id)?;
    answer(call, &opened, &id, &labels)
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

/// Everything that the flags say about the bead itself.
struct Draft {
    description: Option<String>,
    design: Option<String>,
    priority: i64,
    kind: String,
    status: String,
    labels: Vec<String>,
    due: Option<jiff::Timestamp>,
    defer: Option<jiff::Timestamp>,
    metadata: Option<Value>,
    estimate: Option<i64>,
    /// Texts that are taken as they are.
    texts: Vec<(&'static str, String)>,
    is_ephemeral: bool,
    warning: Option<String>,
}

impl Draft {
    fn read(opened: &Opened, arguments: &Arguments, is_quiet: bool) -> Result<Self, Refusal> {
        let plain = |error: String| Refusal::plain(error);
        let description =
            input::description(arguments).map_err(|refusal| plain(refusal.message().to_owned()))?;
        let design = input::design(arguments)?;
        let priority = input::priority(arguments.text("priority").unwrap_or("2")).map_err(plain)?;
        let status = arguments.filled("status").map(str::to_owned);
        if let Some(status) = &status
            && !input::is_status(opened, status)?
        {
            return Err(super::update::invalid_status("status", status));
        }
        let mut labels = arguments.list("labels");
        labels.extend(arguments.list("label"));
        let labels = input::labels(labels);
        input::checked_labels(&labels)?;
        let mut warning = input::warn_of_spaces(&labels, is_quiet);
        let due = moment(opened, arguments, "due", "+6h")?;
        let defer = moment(opened, arguments, "defer", "+1h")?;
        if let Some(at) = defer
            && at < opened.now
            && !is_quiet
            && !arguments.is_on("silent")
        {
            warning = Some(warning.unwrap_or_default() + &past(at));
        }
        let metadata = input::metadata(arguments).map_err(plain)?;
        let estimate = arguments.number("estimate");
        if estimate.is_some_and(|minutes| minutes < 0) {
            return Err(plain(
                "estimate must be a non-negative number of minutes".to_owned(),
            ));
        }
        let is_put_off = defer.is_some_and(|at| at > opened.now);
        let first = if is_put_off { "deferred" } else { "open" };
        let texts = [
            ("acceptance_criteria", "acceptance"),
            ("notes", "notes"),
            ("spec_id", "spec-id"),
            ("assignee", "assignee"),
            ("external_ref", "external-ref"),
        ];
        let texts = texts
            .into_iter()
            .filter_map(|(key, flag)| Some((key, arguments.filled(flag)?.to_owned())));
        Ok(Self {
            description,
            design,
            priority,
            kind: input::new_type(arguments.text("type").unwrap_or("task")),
            status: status.unwrap_or_else(|| first.to_owned()),
            labels,
            due,
            defer,
            metadata,
            estimate,
            texts: texts.collect(),
            is_ephemeral: arguments.is_on("ephemeral"),
            warning,
        })
    }

    fn document(
        &self,
        opened: &Opened,
        id: &str,
        title: &str,
        labels: &[String],
    ) -> Map<String, Value> {
        let mut document = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                document.insert(key.to_owned(), value);
            }
        };
        let filled = |text: &Option<String>| {
            let text = text.as_deref().filter(|text| !text.is_empty());
            text.map(Value::from)
        };
        let time = |at: Option<jiff::Timestamp>| {
            at.map(|at| Value::from(Timestamp::from_instant(at).as_str()))
        };
        put("id", Some(id.into()));
        put("title", Some(title.into()));
        put("description", filled(&self.description));
        put("design", filled(&self.design));
        for (key, text) in &self.texts {
            put(key, Some(text.as_str().into()));
        }
        put("status", Some(self.status.as_str().into()));
        put("priority", Some(self.priority.into()));
        put("issue_type", Some(self.kind.as_str().into()));
        put("owner", opened.owner().map(Value::from));
        put("estimated_minutes", self.estimate.map(Value::from));
        put("created_at", Some(opened.time().into()));
        put("created_by", Some(opened.actor().into()));
        put("updated_at", Some(opened.time().into()));
        if self.status == "closed" {
            put("closed_at", Some(opened.time().into()));
        }
        put("due_at", time(self.due));
        put("defer_until", time(self.defer));
        put("metadata", self.metadata.clone());
        let labels = (!labels.is_empty()).then(|| labels.to_vec().into());
        put("labels", labels);
        put("ephemeral", self.is_ephemeral.then(|| true.into()));
        document
    }
}

/// What is said of a date in the past.
pub(super) fn past(at: jiff::Timestamp) -> String {
    let shown = jiff::tz::Offset::UTC
        .to_datetime(at)
        .strftime("%Y-%m-%d %H:%M");
    format!(
        "! Defer date \"{shown}\" is in the past. Issue will appear in bd ready immediately.\n  Did you mean a future date? Use --defer=+1h or --defer=tomorrow\n"
    )
}

fn moment(
    opened: &Opened,
    arguments: &Arguments,
    flag: &str,
    example: &str,
) -> Result<Option<jiff::Timestamp>, Refusal> {
    let Some(given) = arguments.filled(flag) else {
        return Ok(None);
    };
    match times::parse(given, opened.now) {
        Some(at) => Ok(Some(at)),
        None => Err(Refusal::plain(format!(
            "invalid --{flag} format {}. Examples: {example}, tomorrow, next monday, 2025-01-15",
            quoted(given)
        ))),
    }
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
    let id = BeadId::parse(parent).ok();
    let found = id.map(|id| opened.record(&id)).transpose()?.flatten();
    match found {
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
    document: Map<String, Value>,
    turned: Vec<(Record, Dependency)>,
    id: &BeadId,
) -> Result<(), Refusal> {
    let issue = Issue::without_comments(Value::Object(document)).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        Refusal::json(format!("validation failed: {}", errors.join("; ")))
    })?;
    let mut batch = vec![Write::Insert(Box::new(Entry {
        issue,
        comments: Vec::new(),
        fence: Fence::default(),
    }))];
    for (record, edge) in turned {
        let edge = Dependency::new(id.clone(), edge.kind())
            .map_err(|error| Refusal::json(error.to_string()))?
            .with("created_at", opened.time().into())
            .with("created_by", opened.actor().into());
        batch.push(Write::Update {
            id: record.issue.id().clone(),
            edits: vec![Edit::AddDependency(edge)],
            guard: holding::guard(opened, &record),
        });
    }
    opened.write(&batch).map_err(|error| match error {
        StoreError::Exists(id) => Refusal::json(format!(
            "{id} already exists; use bd update, or bd import for upsert semantics"
        )),
        StoreError::Cycle(circle) => Refusal::json(cycle(&circle)),
        other => other.into(),
    })
}

/// What is said of edges that go round in a circle.
pub(super) fn cycle(circle: &[BeadId]) -> String {
    let edge = match circle {
        [from, to, ..] => format!("invalid dependency {from} -> {to}: "),
        _ => String::new(),
    };
    format!("validation failed: {edge}adding dependency would create a cycle")
}

fn preview(
    call: &Call<'_>,
    document: &Map<String, Value>,
    labels: &[String],
) -> Result<(), Refusal> {
    let value = |key: &str| {
        document
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    if call.output.is_json() {
        return call.output.value(as_created(document));
    }
    let id = match value("id") {
        "" => "(will be generated)",
        id => id,
    };
    let mut lines = vec![
        "⚠ [DRY RUN] Would create issue:".to_owned(),
        format!("  ID: {id}"),
        format!("  Title: {}", value("title")),
        format!("  Type: {}", value("issue_type")),
        format!(
            "  Priority: P{}",
            document.get("priority").unwrap_or(&Value::Null)
        ),
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
    call.output.raw(&crate::ui::lines(lines))
}

/// A document that is in no store, as the answer to `--dry-run` has it.
fn as_created(document: &Map<String, Value>) -> Value {
    let mut document = document.clone();
    for key in ["created_at", "updated_at"] {
        document.insert(key.to_owned(), issue_json::ZERO_TIME.into());
    }
    output::sorted(Value::Object(document))
}

fn answer(call: &Call<'_>, opened: &Opened, id: &BeadId, labels: &[String]) -> Result<(), Refusal> {
    let Some(record) = opened.record(id)? else {
        return Err(Refusal::json(format!("{id} is gone again")));
    };
    if call.output.is_json() {
        let mut object = issue_json::issue(&record);
        if !labels.is_empty() {
            object.insert("labels".to_owned(), labels.to_vec().into());
        }
        return call.output.value(Value::Object(object));
    }
    if call.arguments.is_on("silent") {
        return call.output.raw(&format!("{id}\n"));
    }
    let issue = &record.issue;
    call.output.say(&format!(
        "✓ Created issue: {}\n  Priority: P{}\n  Status: {}\n",
        text::feedback(issue),
        issue.priority(),
        issue.status()
    ))
}
