//! `show`: everything about a bead.
//!
//! Data: `{"beads": […]}`. A bead is its document with `bd`'s counts, its `comments`, its `version`, its `fence`,
//! its `claim` or null, `is_blocked`, its `blockers` as `{id, waiting: open|missing|children|parent}` and its
//! `dependents` as `{id, type}`; what a plan made has its `source`: `{file, line, column, digest, state: same|changed|removed|unknown}`, the
//! place of its sprint as the plan stands now.

use std::fmt::Write as _;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Blocker, Claim, Comment, Fence, Record, Waiting};
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_runtime::app::beads::{Beads, n_blocking};
use beads_ralph_runtime::app::origin::{Origin, OriginJson, Origins};
use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::Global;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::{self, held, paragraph};
use crate::ui::table::{Page, pairs};

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The beads: whole ids, or their first parts where only one id has them
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Include the comments
    #[arg(long)]
    pub(crate) comments: bool,
}

/// How many keys of the metadata, and how many dependents, people are shown.
const MAX_LINES: usize = 40;

/// A bead with what is linked to it.
struct Whole {
    record: Record,
    comments: Vec<Comment>,
    blockers: Vec<Blocker>,
    dependents: Vec<(BeadId, String)>,
    origin: Option<Origin>,
}

pub(crate) fn run(args: &ShowArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Shown {
        beads: Vec<Map<String, Value>>,
    }
    let beads = global.open()?;
    let mut origins = Origins::of(&beads.directory);
    let mut shown = Vec::new();
    for id in &args.ids {
        shown.push(read(id, &beads, &mut origins)?);
    }
    if ui.is_json() {
        let beads = shown.iter().map(to_json).collect();
        return ui.data(&Shown { beads });
    }
    for (at, whole) in shown.iter().enumerate() {
        let gap = if at > 0 { "\n" } else { "" };
        ui.out(&format!(
            "{gap}{}",
            text(whole, args, &beads, Page::of(ui))?
        ))?;
    }
    Ok(())
}

fn read(id: &str, beads: &Beads, origins: &mut Origins) -> Result<Whole, Failure> {
    let record = beads.resolve(id)?;
    let id = record.issue.id();
    // What the record says that there is none of is not asked for: programs call this often.
    Ok(Whole {
        comments: if record.n_comments > 0 {
            beads.store.comments(id)?
        } else {
            Vec::new()
        },
        blockers: if record.is_blocked {
            beads.store.blockers(id)?
        } else {
            Vec::new()
        },
        dependents: beads.store.dependents(id)?,
        origin: origins.find(&record.issue),
        record,
    })
}

/// What `show` adds to a bead.
#[derive(Serialize)]
struct Facts<'w> {
    comments: Vec<Value>,
    version: u64,
    fence: Fence,
    claim: Option<&'w Claim>,
    is_blocked: bool,
    blockers: &'w [Blocker],
    dependents: Vec<Dependent<'w>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<OriginJson<'w>>,
}

#[derive(Serialize)]
struct Dependent<'w> {
    id: &'w BeadId,
    #[serde(rename = "type")]
    kind: &'w str,
}

fn to_json(whole: &Whole) -> Map<String, Value> {
    let record = &whole.record;
    let dependents = whole.dependents.iter();
    let facts = Facts {
        comments: whole.comments.iter().map(Comment::to_value).collect(),
        version: record.version,
        fence: record.fence,
        claim: record.claim.as_ref(),
        is_blocked: record.is_blocked,
        blockers: &whole.blockers,
        dependents: dependents
            .map(|(id, kind)| Dependent { id, kind })
            .collect(),
        source: whole.origin.as_ref().map(Origin::to_json),
    };
    bead_view::with(record, n_blocking(&whole.dependents), &facts)
}

fn text(whole: &Whole, args: &ShowArgs, beads: &Beads, page: Page) -> Result<String, Failure> {
    let issue = &whole.record.issue;
    let mut text = format!(
        "{}\n",
        page.line(&format!("{} {}", issue.id(), issue.title()))
    );
    let facts = facts(&whole.record, whole.origin.as_ref());
    text.push_str(&pairs(facts, "  ", page));
    waits(&mut text, whole, beads, page)?;
    needed_by(&mut text, whole, beads, page)?;
    let sections = [
        ("description", "description"),
        ("design", "design"),
        ("acceptance_criteria", "acceptance criteria"),
        ("notes", "notes"),
    ];
    for (key, heading) in sections {
        if let Some(body) = issue.text(key).filter(|body| !body.trim().is_empty()) {
            _ = write!(text, "\n{heading}\n{}", paragraph(body));
        }
    }
    metadata(&mut text, &whole.record, page);
    comments(&mut text, &whole.comments, args.comments);
    Ok(text)
}

/// The facts about a bead, one a line.
fn facts(record: &Record, origin: Option<&Origin>) -> Vec<(&'static str, String)> {
    let issue = &record.issue;
    let of = |key: &str| issue.text(key).filter(|text| !text.is_empty());
    let mut status = issue.status().to_owned();
    if let Some(claim) = &record.claim {
        status = format!("{status}, held by {}", held(claim));
    }
    let mut facts = vec![
        ("status", status),
        ("priority", issue.priority().to_string()),
        ("type", issue.issue_type().to_owned()),
    ];
    let labels: Vec<&str> = issue.labels().collect();
    if !labels.is_empty() {
        facts.push(("labels", labels.join(", ")));
    }
    facts.extend(origin.map(|origin| ("plan", origin.words())));
    let estimate = issue.estimated_minutes().filter(|minutes| *minutes > 0);
    facts.extend(estimate.map(|minutes| ("estimate", format!("{minutes} min"))));
    for (name, key) in [
        ("assignee", "assignee"),
        ("owner", "owner"),
        ("created", "created_at"),
        ("updated", "updated_at"),
        ("started", "started_at"),
        ("closed", "closed_at"),
        ("reason", "close_reason"),
        ("due", "due_at"),
        ("put off", "defer_until"),
        ("external", "external_ref"),
    ] {
        facts.extend(of(key).map(|value| (name, value.to_owned())));
    }
    facts.push((
        "version",
        format!("{}, fence {}", record.version, record.fence),
    ));
    facts
}

fn waits(text: &mut String, whole: &Whole, beads: &Beads, page: Page) -> Result<(), Failure> {
    if whole.blockers.is_empty() {
        return Ok(());
    }
    text.push_str("\nwaits for\n");
    for blocker in &whole.blockers {
        let other = beads.store.get(std::slice::from_ref(&blocker.id))?.pop();
        let why = match (blocker.waiting, &other) {
            (Waiting::Missing, _) | (_, None) => "there is no such bead".to_owned(),
            (Waiting::ForIt, Some(other)) => other.issue.status().to_owned(),
            (Waiting::ForChildren, Some(_)) => "parts of it are not closed".to_owned(),
            (Waiting::ForParent, Some(_)) => "its parent, which waits itself".to_owned(),
        };
        let title = other.map_or(String::new(), |other| other.issue.title().to_owned());
        let line = format!("  {} ({why}) {title}", blocker.id);
        _ = writeln!(text, "{}", page.line(line.trim_end()));
    }
    Ok(())
}

fn needed_by(text: &mut String, whole: &Whole, beads: &Beads, page: Page) -> Result<(), Failure> {
    if whole.dependents.is_empty() {
        return Ok(());
    }
    text.push_str("\nneeded by\n");
    for (id, kind) in whole.dependents.iter().take(MAX_LINES) {
        let other = beads.store.get(std::slice::from_ref(id))?.pop();
        let (status, title) = other.as_ref().map_or(("", ""), |other| {
            (other.issue.status(), other.issue.title())
        });
        let line = format!("  {id} ({kind}, {status}) {title}");
        _ = writeln!(text, "{}", page.line(&line));
    }
    left_out(text, whole.dependents.len());
    Ok(())
}

fn metadata(text: &mut String, record: &Record, page: Page) {
    let Some(metadata) = record.issue.metadata().filter(|map| !map.is_empty()) else {
        return;
    };
    text.push_str("\nmetadata\n");
    for (key, value) in metadata.iter().take(MAX_LINES) {
        let line = format!("  {}: {}", excerpt(key), brief(value));
        _ = writeln!(text, "{}", page.line(&line));
    }
    left_out(text, metadata.len());
}

/// A value on part of a line: lists and objects by their size when they are long.
fn brief(value: &Value) -> String {
    match value {
        Value::String(text) => excerpt(text),
        Value::Array(items) if items.len() > 3 => format!("[{} items]", items.len()),
        Value::Object(map) if map.len() > 3 => format!("{{{} keys}}", map.len()),
        other => excerpt(&other.to_string()),
    }
}

fn left_out(text: &mut String, n_all: usize) {
    if n_all > MAX_LINES {
        _ = writeln!(text, "  and {} more, with --json", n_all - MAX_LINES);
    }
}

fn comments(text: &mut String, comments: &[Comment], is_wanted: bool) {
    if comments.is_empty() {
        return;
    }
    if !is_wanted {
        _ = writeln!(
            text,
            "\ncomments: {}; --comments shows them",
            comments.len()
        );
        return;
    }
    text.push_str("\ncomments\n");
    for comment in comments {
        let author = excerpt(comment.author().unwrap_or("somebody"));
        let at = visible(comment.created_at().unwrap_or("at some time"));
        _ = writeln!(text, "  {author}, {at}:");
        for line in paragraph(comment.text().unwrap_or_default()).lines() {
            _ = writeln!(text, "  {line}");
        }
    }
}
