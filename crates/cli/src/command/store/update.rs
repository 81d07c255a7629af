//! `update`: changes of one bead, all or none.
//!
//! Data: `{bead: {…}, version, changed: bool}`.

use beads_ralph_core::bead::{Invalid, parse_document};
use beads_ralph_core::diag::{ErrorCode, did_you_mean};
use beads_ralph_core::issue::{Edit, Label, Record, check_title};
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::os::files;
use beads_ralph_runtime::store::{Guard, Write};
use camino::Utf8Path;
use clap::Args;
use serde_json::{Map, Value, json};

use crate::args::{Global, GuardArgs, pair, priority};
use crate::beads::{Beads, until_settled};
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::{self, named};

#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// The bead
    pub(crate) id: String,
    /// Its title
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Its description
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// How urgent it is: 0 is most urgent, 4 least
    #[arg(short, long, value_name = "N", value_parser = priority)]
    pub(crate) priority: Option<i64>,
    /// What it is, such as task
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    pub(crate) issue_type: Option<String>,
    /// The role that it is for; an empty one is nobody's
    #[arg(short, long, value_name = "NAME")]
    pub(crate) assignee: Option<String>,
    /// Where it stands; to start work on it, claim it
    #[arg(short, long, value_name = "STATUS")]
    pub(crate) status: Option<String>,
    /// Its notes, instead of those that are there
    #[arg(long, value_name = "TEXT", conflicts_with = "append_notes")]
    pub(crate) notes: Option<String>,
    /// A line to add to its notes
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_notes: Vec<String>,
    /// Top-level keys to set in its metadata: a JSON object, or @ and the file that holds it
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) metadata: Option<String>,
    /// A text to set in its metadata; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) set_metadata: Vec<(String, String)>,
    /// A top-level key to remove from its metadata; may be repeated
    #[arg(long, value_name = "KEY")]
    pub(crate) unset_metadata: Vec<String>,
    /// A label to add; may be repeated
    #[arg(long, value_name = "LABEL")]
    pub(crate) add_label: Vec<String>,
    /// A label to remove; may be repeated
    #[arg(long, value_name = "LABEL")]
    pub(crate) remove_label: Vec<String>,
    /// Only if this is its status
    #[arg(long, value_name = "STATUS")]
    pub(crate) if_status: Option<String>,
    /// Only if this is its version
    #[arg(long, value_name = "N")]
    pub(crate) if_version: Option<u64>,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

pub(crate) fn run(args: &UpdateArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let edits = edits(args)?;
    if edits.is_empty() {
        return Err(Failure::new(
            ErrorCode::ValidationConstraint,
            "there is nothing to change",
        )
        .action("name a change; `beads-ralph update --help` lists them"));
    }
    let mut beads = Beads::open(global)?;
    let (before, after) = until_settled(|| {
        let before = beads.resolve(&args.id)?;
        check_status(args, &before, &beads)?;
        let is_checked = args.status.is_some() && !args.guard.force;
        let write = Write::Update {
            id: before.issue.id().clone(),
            edits: edits.clone(),
            guard: Guard {
                status: args.if_status.clone(),
                // What was checked about the bead must still be so when it is written.
                version: (args.if_version).or(is_checked.then_some(before.version)),
                is_free: args.status.as_deref() == Some("closed") && !args.guard.force,
                ..beads.by.guard(&before, &args.guard)
            },
        };
        let after = beads.change_as_seen(&before, write)?;
        Ok(after.map(|after| (before, after)))
    })?;
    tell(&before, &after, &beads, ui)
}

/// Writes a change and says what became of it.
pub(crate) fn report(
    before: &Record,
    write: Write,
    beads: &mut Beads,
    ui: &Ui,
) -> Result<(), Failure> {
    let after = beads.change(write, before.issue.id())?;
    tell(before, &after, beads, ui)
}

fn tell(before: &Record, after: &Record, beads: &Beads, ui: &Ui) -> Result<(), Failure> {
    let is_changed = after.version != before.version;
    if ui.is_json() {
        let bead = bead_view::to_json(after, beads.n_dependents(after.issue.id())?);
        return ui.data(&json!({"bead": bead, "version": after.version, "changed": is_changed}));
    }
    let what = if is_changed {
        "updated"
    } else {
        "nothing to change in"
    };
    ui.out(&format!(
        "{what} {} (version {})\n",
        named(after),
        after.version
    ))
}

/// The rules of `claim` and `close` hold for a status that is set by hand, too.
fn check_status(args: &UpdateArgs, record: &Record, beads: &Beads) -> Result<(), Failure> {
    if args.guard.force {
        return Ok(());
    }
    match args.status.as_deref() {
        Some("in_progress") if record.issue.status() != "in_progress" => {
            let id = excerpt(record.issue.id().as_str());
            Err(Failure::new(
                ErrorCode::ValidationConstraint,
                format!("bead {id} cannot be set to in_progress: nobody would hold it"),
            )
            .action(format!("claim it: beads-ralph claim {id}")))
        }
        Some("closed") => super::close::refuse_while_waiting(record, beads),
        Some(status) if !STATUSES.contains(&status) => Err(unknown_status(status)),
        _ => Ok(()),
    }
}

/// The statuses that mean something here or to `bd`.
const STATUSES: [&str; 7] = [
    "open",
    "in_progress",
    "blocked",
    "deferred",
    "closed",
    "pinned",
    "hooked",
];

/// A status that nobody knows hides a bead from `ready`; whoever wants one says so.
fn unknown_status(status: &str) -> Failure {
    let message = format!("nobody knows the status '{}'", excerpt(status));
    let failure = Failure::new(ErrorCode::ValidationInvalidPattern, message);
    failure.action(match did_you_mean(status, STATUSES) {
        Some(known) => format!("did you mean {known}? --force sets any word"),
        None => format!("known are {}; --force sets any word", STATUSES.join(", ")),
    })
}

fn edits(args: &UpdateArgs) -> Result<Vec<Edit>, Failure> {
    let mut edits = Vec::new();
    let texts = [
        ("title", &args.title),
        ("description", &args.description),
        ("issue_type", &args.issue_type),
        ("assignee", &args.assignee),
        ("notes", &args.notes),
    ];
    if let Some(title) = &args.title {
        check_title(title)?;
    }
    for (field, text) in texts {
        let set = |text: &String| Edit::Set(field.to_owned(), text.as_str().into());
        edits.extend(text.as_ref().map(set));
    }
    let priority = |priority: i64| Edit::Set("priority".to_owned(), priority.into());
    edits.extend(args.priority.map(priority));
    edits.extend(args.append_notes.iter().cloned().map(Edit::AppendNotes));
    if let Some(text) = &args.metadata {
        edits.push(Edit::MergeMetadata(read_metadata(text)?));
    }
    for (key, value) in &args.set_metadata {
        let one = Map::from_iter([(key.clone(), Value::from(value.as_str()))]);
        edits.push(Edit::MergeMetadata(one));
    }
    edits.extend(args.unset_metadata.iter().cloned().map(Edit::UnsetMetadata));
    edits.extend(labels(&args.add_label)?.into_iter().map(Edit::AddLabel));
    edits.extend(args.remove_label.iter().cloned().map(Edit::RemoveLabel));
    edits.extend(args.status.iter().cloned().map(Edit::Status));
    Ok(edits)
}

/// Labels as people type them.
pub(crate) fn labels(texts: &[String]) -> Result<Vec<Label>, Failure> {
    let wrong =
        |error: Invalid| Failure::new(ErrorCode::ValidationInvalidPattern, error.to_string());
    texts
        .iter()
        .map(|text| Label::parse(text).map_err(wrong))
        .collect()
}

/// A JSON object, or `@` and the file that holds one.
fn read_metadata(text: &str) -> Result<Map<String, Value>, Failure> {
    let parsed = match text.strip_prefix('@') {
        Some(path) => parse_document(&files::read(Utf8Path::new(path))?),
        None => parse_document(text.as_bytes()),
    };
    let refused = |why: String| {
        Failure::new(ErrorCode::ValidationBeadSchema, format!("metadata: {why}"))
            .action("pass a JSON object, such as '{\"key\": 1}', or @ and the name of a file")
    };
    match parsed {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(refused("Input should be a valid object".to_owned())),
        Err(error) => Err(refused(excerpt(&error.to_string()))),
    }
}
