//! `import`: beads from a file of JSON lines, as `bd` writes them.
//!
//! Data: `{source, created: [ids], updated: [ids], unchanged: n, stale: [ids], stale_reasons: [{id, reason}],
//! refused: [{id, reason}], fences_kept: [{id, fence, in_file}], memories: n, dry_run}`. The reason of a stale line is
//! `older`, `same_time` or `no_time`. All beads come in one step, or none does.

mod lines;

use std::collections::{BTreeMap, HashMap};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Comment, Edit, Entry, Fence, Issue, Record};
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::store::{Guard, StoreError, Write};
use camino::Utf8PathBuf;
use clap::Args;
use serde::Serialize;
use serde_json::Value;

use self::lines::Source;
use crate::args::Global;
use crate::failure::Failure;
use crate::ui::{Ui, counted};

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The file of JSON lines; `-` is standard input. Without it, .beads/issues.jsonl
    pub(crate) file: Option<Utf8PathBuf>,
    /// Also replace beads that are as new here or newer, but none that somebody holds
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Say what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Where notes that belong to no bead are kept.
pub(crate) const MEMORY: &str = "memory/";

/// How many beads are looked up at once.
const CHUNK: usize = 500;

/// How often an import starts anew because somebody else wrote meanwhile.
const TRIES: usize = 3;

pub(crate) fn run(args: &ImportArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = global.open()?;
    let default = beads.directory.join("issues.jsonl");
    let path = args.file.as_deref().unwrap_or(&default);
    let source = Source::read(path)?;
    let mut left = TRIES;
    let report = loop {
        left -= 1;
        let lines = source.lines(ui)?;
        let mut report = Report {
            source: source.shown.clone(),
            memories: lines.memories.len(),
            dry_run: args.dry_run,
            overwrites: args.overwrite,
            ..Report::default()
        };
        let writes = plan(lines.entries, &beads, &mut report)?;
        if args.dry_run {
            break report;
        }
        match beads.store.write(&writes, beads.by.stamp()) {
            Ok(_) => {
                remember(&lines.memories, &mut beads)?;
                break report;
            }
            // A bead came or changed between looking and writing; nothing was written, so look again.
            Err(StoreError::Guard { .. } | StoreError::Exists(_)) if left > 0 => {}
            Err(error) => return Err(error.into()),
        }
    };
    if ui.is_json() {
        return ui.data(&report);
    }
    ui.out(&report.sentence())?;
    ui.say(&report.warnings());
    Ok(())
}

/// What happened, or would.
#[derive(Debug, Default, Serialize)]
struct Report {
    source: String,
    created: Vec<String>,
    updated: Vec<String>,
    unchanged: usize,
    stale: Vec<String>,
    stale_reasons: Vec<Stale>,
    refused: Vec<Refused>,
    fences_kept: Vec<KeptFence>,
    memories: usize,
    dry_run: bool,
    #[serde(skip)]
    overwrites: bool,
}

/// A line that says something else than the bead here, and is not known to be later.
#[derive(Debug, Serialize)]
struct Stale {
    id: String,
    reason: Reason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Reason {
    Older,
    SameTime,
    NoTime,
}

impl Reason {
    /// Why a line may not take the place of a bead, if it may not: only a later change replaces.
    fn of(line: &Issue, here: &Issue) -> Option<Self> {
        match [line, here].map(|issue| issue.time("updated_at")) {
            [None, _] => Some(Self::NoTime),
            [Some(theirs), Some(ours)] if theirs < ours => Some(Self::Older),
            [Some(theirs), Some(ours)] if theirs == ours => Some(Self::SameTime),
            _ => None,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Older => "is older in the file than here, and was left alone",
            Self::SameTime => {
                "is different in the file but changed at the same time, and was left alone; --overwrite replaces it"
            }
            Self::NoTime => {
                "has no time of change in the file, and was left alone; --overwrite replaces it"
            }
        }
    }
}

#[derive(Debug, Serialize)]
struct Refused {
    id: String,
    reason: String,
}

/// A bead whose fence in the file is higher than ours, which only claims can raise.
#[derive(Debug, Serialize)]
struct KeptFence {
    id: String,
    fence: Fence,
    in_file: Fence,
}

impl Report {
    fn sentence(&self) -> String {
        let what = if self.dry_run {
            "would import"
        } else {
            "imported"
        };
        let memories = if self.memories > 0 {
            format!(", {}", counted(self.memories, "memory", "memories"))
        } else {
            String::new()
        };
        format!(
            "{what} from {}: {} created, {} updated, {} unchanged, {} stale, {} refused{memories}\n",
            self.source,
            self.created.len(),
            self.updated.len(),
            self.unchanged,
            self.stale.len(),
            self.refused.len(),
        )
    }

    fn warnings(&self) -> String {
        let mut text = String::new();
        for stale in &self.stale_reasons {
            text.push_str(&format_line(&stale.id, stale.reason.words()));
        }
        for refused in &self.refused {
            text.push_str(&format_line(&refused.id, &refused.reason));
        }
        for kept in &self.fences_kept {
            let words = format!(
                "has fence {} in the file and keeps {} here",
                kept.in_file, kept.fence
            );
            text.push_str(&format_line(&kept.id, &words));
        }
        text
    }
}

fn format_line(id: &str, words: &str) -> String {
    format!("note: bead {} {words}\n", excerpt(id))
}

/// Decides for each line what is to be done. The beads move into the answer: there may be very many.
fn plan(entries: Vec<Entry>, beads: &Beads, report: &mut Report) -> Result<Vec<Write>, Failure> {
    let mut writes = Vec::new();
    let mut entries = entries.into_iter().peekable();
    while entries.peek().is_some() {
        let chunk: Vec<Entry> = entries.by_ref().take(CHUNK).collect();
        let ids: Vec<BeadId> = chunk.iter().map(|entry| entry.issue.id().clone()).collect();
        let mut known: HashMap<BeadId, Record> = (beads.store.get(&ids)?.into_iter())
            .map(|record| (record.issue.id().clone(), record))
            .collect();
        for entry in chunk {
            match known.remove(entry.issue.id()) {
                None => {
                    report.created.push(entry.issue.id().to_string());
                    writes.push(Write::Insert(Box::new(entry)));
                }
                Some(record) => writes.extend(merge(&entry, &record, beads, report)?),
            }
        }
    }
    Ok(writes)
}

/// What a line does to a bead that is here already.
fn merge(
    entry: &Entry,
    record: &Record,
    beads: &Beads,
    report: &mut Report,
) -> Result<Option<Write>, Failure> {
    let id = entry.issue.id().to_string();
    if entry.fence > record.fence {
        report.fences_kept.push(KeptFence {
            id: id.clone(),
            fence: record.fence,
            in_file: entry.fence,
        });
    }
    let missing = missing_comments(entry, record, beads)?;
    if is_same(&entry.issue, &record.issue) {
        if missing.is_empty() {
            report.unchanged += 1;
            return Ok(None);
        }
    } else if let Some(reason) = Reason::of(&entry.issue, &record.issue)
        && !report.overwrites
    {
        report.stale.push(id.clone());
        report.stale_reasons.push(Stale { id, reason });
        return Ok(None);
    }
    if let Some(claim) = &record.claim {
        let [run, host] = [&claim.holder.run, &claim.holder.host].map(|name| excerpt(name));
        let reason = format!("was left alone: it is already claimed by {run} on {host}");
        report.refused.push(Refused { id, reason });
        return Ok(None);
    }
    report.updated.push(id);
    Ok(Some(replace(&entry.issue, missing, record)))
}

/// Puts a document in the place of another one, and adds comments.
fn replace(issue: &Issue, comments: Vec<Comment>, record: &Record) -> Write {
    let document = Edit::Replace(Box::new(issue.clone()));
    let comments = comments.into_iter().map(Edit::Comment);
    Write::Update {
        id: issue.id().clone(),
        edits: [document].into_iter().chain(comments).collect(),
        // The status may become `in_progress` without a claim, as the file has it. Nobody holds the bead at this
        // version, and a claim would have made another.
        guard: Guard {
            version: Some(record.version),
            is_forced: true,
            ..Guard::default()
        },
    }
}

fn missing_comments(
    entry: &Entry,
    record: &Record,
    beads: &Beads,
) -> Result<Vec<Comment>, Failure> {
    if entry.comments.is_empty() {
        return Ok(Vec::new());
    }
    let known = beads.store.comments(record.issue.id())?;
    let is_new = |comment: &&Comment| !known.iter().any(|own| own.is_same(comment));
    Ok(entry.comments.iter().filter(is_new).cloned().collect())
}

/// Whether two documents say the same. Where comments stood, a document keeps an empty list, which says nothing.
fn is_same(a: &Issue, b: &Issue) -> bool {
    let without = |issue: &Issue| {
        let mut document = issue.document().clone();
        document.shift_remove("comments");
        document
    };
    a == b || without(a) == without(b)
}

/// Keeps the notes that belong to no bead.
fn remember(memories: &BTreeMap<String, String>, beads: &mut Beads) -> Result<(), Failure> {
    if memories.is_empty() {
        return Ok(());
    }
    let known = beads.store.controls(MEMORY)?;
    let known: HashMap<&str, (&Value, u64)> = (known.iter())
        .map(|row| (row.key.as_str(), (&row.value, row.version)))
        .collect();
    for (key, value) in memories {
        let key = format!("{MEMORY}{key}");
        let value = Value::from(value.as_str());
        let (is_known, seen) = match known.get(key.as_str()) {
            Some((old, version)) => (**old == value, *version),
            None => (false, 0),
        };
        if !is_known {
            beads
                .store
                .set_control(&key, &value, seen, beads.by.stamp())?;
        }
    }
    Ok(())
}
