//! `update`, `label` and `comment`: changes of one bead, all or none.
//!
//! Data of `update`, `label add` and `label remove`: `{bead: {…}, version, changed: bool}`; of `label list`: `{id, labels: […]}`; of `comment`: `{id,
//! comment: {issue_id, author, text, created_at}, comment_count}`.

use std::io;

use beads_ralph_core::bead::{BeadId, parse_document};
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::{Edit, check_title};
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_core::vocabulary::field;
use beads_ralph_runtime::app::beads::{Beads, Changed, Update, labels};
use beads_ralph_runtime::os::files;
use camino::Utf8Path;
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::{Global, GuardArgs, pair, priority};
use crate::failure::Failure;
use crate::ui::bead_view::{self, named};
use crate::ui::{Ui, counted, lines};

#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// The bead
    pub(crate) id: String,
    /// Set the title
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Set the description
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Set the priority, from 0 (most urgent) to 4
    #[arg(short, long, value_name = "N", value_parser = priority)]
    pub(crate) priority: Option<i64>,
    /// Set the type, such as task
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    pub(crate) issue_type: Option<String>,
    /// Set the role that it is assigned to; an empty name removes it
    #[arg(short, long, value_name = "NAME")]
    pub(crate) assignee: Option<String>,
    /// Set the status; to start work on a bead, claim it
    #[arg(short, long, value_name = "STATUS")]
    pub(crate) status: Option<String>,
    /// Replace the notes
    #[arg(long, value_name = "TEXT", conflicts_with = "append_notes")]
    pub(crate) notes: Option<String>,
    /// Add a line to the notes (repeatable)
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_notes: Vec<String>,
    /// Set top-level keys of the metadata: a JSON object, or @ and a file that holds one
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) metadata: Option<String>,
    /// Set a text in the metadata (repeatable)
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) set_metadata: Vec<(String, String)>,
    /// Remove a top-level key of the metadata (repeatable)
    #[arg(long, value_name = "KEY")]
    pub(crate) unset_metadata: Vec<String>,
    /// Add a label (repeatable)
    #[arg(long, value_name = "LABEL")]
    pub(crate) add_label: Vec<String>,
    /// Remove a label (repeatable)
    #[arg(long, value_name = "LABEL")]
    pub(crate) remove_label: Vec<String>,
    /// Change it only if it has this status
    #[arg(long, value_name = "STATUS")]
    pub(crate) if_status: Option<String>,
    /// Change it only if it has this version
    #[arg(long, value_name = "N")]
    pub(crate) if_version: Option<u64>,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabelCommand {
    /// Add labels to a bead
    Add(LabelArgs),
    /// Remove labels from a bead
    Remove(LabelArgs),
    /// Print the labels of a bead
    List {
        /// The bead
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct LabelArgs {
    /// The bead
    pub(crate) id: String,
    /// The labels
    #[arg(required = true, value_name = "LABEL")]
    pub(crate) labels: Vec<String>,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

#[derive(Debug, Args)]
pub(crate) struct CommentArgs {
    /// The bead
    pub(crate) id: String,
    /// The text; `-` reads standard input
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

pub(crate) fn update(args: &UpdateArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let edits = edits(args)?;
    if edits.is_empty() && args.status.is_none() {
        return Err(Failure::new(
            ErrorCode::ValidationConstraint,
            "there is nothing to change",
        )
        .action("name a change; `beads-ralph update --help` lists them"));
    }
    let mut beads = global.open()?;
    let seen = beads.resolve(&args.id)?;
    let update = Update {
        edits,
        status: args.status.clone(),
        if_status: args.if_status.clone(),
        if_version: args.if_version,
        authority: args.guard.authority(),
        is_forced: args.guard.force,
    };
    let changed = beads.update(seen, &update)?;
    tell(&changed, &beads, ui)
}

pub(crate) fn label(command: &LabelCommand, global: &Global, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Labels<'r> {
        id: &'r BeadId,
        labels: Vec<&'r str>,
    }
    let (args, edits): (&LabelArgs, Vec<Edit>) = match command {
        LabelCommand::Add(args) => {
            let labels = labels(&args.labels)?;
            (args, labels.into_iter().map(Edit::AddLabel).collect())
        }
        LabelCommand::Remove(args) => {
            let labels = args.labels.iter().cloned();
            (args, labels.map(Edit::RemoveLabel).collect())
        }
        LabelCommand::List { id } => {
            let record = global.open()?.resolve(id)?;
            let labels: Vec<&str> = record.issue.labels().collect();
            if ui.is_json() {
                let id = record.issue.id();
                return ui.data(&Labels { id, labels });
            }
            return ui.out(&lines(labels.iter().map(|label| visible(label))));
        }
    };
    let mut beads = global.open()?;
    let before = beads.resolve(&args.id)?;
    let changed = beads.edit(before, edits, args.guard.authority())?;
    tell(&changed, &beads, ui)
}

fn tell(changed: &Changed, beads: &Beads, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Answer {
        bead: Map<String, Value>,
        version: u64,
        changed: bool,
    }
    let after = &changed.after;
    let version = after.version;
    if ui.is_json() {
        return ui.data(&Answer {
            bead: bead_view::to_json(after, beads.n_dependents(after.issue.id())?),
            version,
            changed: changed.is_changed(),
        });
    }
    let what = if changed.is_changed() {
        "updated"
    } else {
        "nothing to change in"
    };
    ui.out(&format!("{what} {} (version {version})\n", named(after)))
}

/// Everything but the status.
fn edits(args: &UpdateArgs) -> Result<Vec<Edit>, Failure> {
    let mut edits = Vec::new();
    let texts = [
        (field::TITLE, &args.title),
        (field::DESCRIPTION, &args.description),
        (field::ISSUE_TYPE, &args.issue_type),
        (field::ASSIGNEE, &args.assignee),
        (field::NOTES, &args.notes),
    ];
    if let Some(title) = &args.title {
        check_title(title)?;
    }
    for (field, text) in texts {
        let set = |text: &String| Edit::Set(field.to_owned(), text.as_str().into());
        edits.extend(text.as_ref().map(set));
    }
    let priority = |priority: i64| Edit::Set(field::PRIORITY.to_owned(), priority.into());
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
    Ok(edits)
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

pub(crate) fn comment(args: &CommentArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Commented<'r> {
        id: &'r BeadId,
        comment: Value,
        comment_count: usize,
    }
    let text = comment_text(args)?;
    let mut beads = global.open()?;
    let before = beads.resolve(&args.id)?;
    let (comment, after) = beads.comment(before, &text, args.guard.authority())?;
    if ui.is_json() {
        return ui.data(&Commented {
            id: after.issue.id(),
            comment: comment.to_value(),
            comment_count: after.n_comments,
        });
    }
    let n_comments = counted(after.n_comments, "comment", "comments");
    ui.out(&format!("{}: {n_comments}\n", named(&after)))
}

fn comment_text(args: &CommentArgs) -> Result<String, Failure> {
    let refused = |why: &str| {
        Failure::new(ErrorCode::ValidationConstraint, why)
            .action("write the comment after the id, or pipe it in with -")
    };
    let text = if args.text == ["-"] {
        let bytes = files::read_limited(io::stdin().lock(), Utf8Path::new("-"))?;
        String::from_utf8(bytes).map_err(|_| refused("the comment is not UTF-8"))?
    } else {
        args.text.join(" ")
    };
    if text.trim().is_empty() {
        return Err(refused("the comment is empty"));
    }
    Ok(text.trim_end().to_owned())
}
