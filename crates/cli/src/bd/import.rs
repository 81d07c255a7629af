//! `bd import`: beads from lines of JSON.
//!
//! A line takes the place of a bead only if it is later; labels, edges and comments are added in any case. Everything
//! comes in one step, or nothing does.

mod lines_json;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Edit, Entry, Record};
use beads_ralph_core::vocabulary::Status;
use beads_ralph_runtime::store::{StoreError, Write};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

use super::{Access, Arity, Call, Command, Filter, Opened, Refusal, optional, string, switch};
use lines_json::{Lines, changes, merged, with_lease};

/// Where notes that belong to no bead are kept.
pub(super) const MEMORY: &str = "memory/";

/// How often an import starts anew because somebody else wrote meanwhile.
const TRIES: usize = 3;

pub(super) const COMMAND: Command = Command {
    name: "import",
    about: "Read beads from JSON lines",
    positionals: &[optional("file|-")],
    arity: Arity::Any,
    flags: &[
        switch(
            "allow-stale",
            "Also lines that are older than the bead here",
        ),
        switch(
            "dedup",
            "Not lines with the title of a bead that is not closed",
        ),
        switch("dry-run", "Only say what would be done"),
        string("input", "The file").short('i'),
    ],
    access: Access::Writes,
    run: Some(run),
    ..Command::NONE
};

/// What happened to the lines, or would.
#[derive(Debug, Default)]
struct Report {
    source: String,
    /// Lines that were taken, in order.
    taken: Vec<String>,
    n_new: usize,
    new: Vec<String>,
    updated: Vec<(String, String)>,
    ties: Vec<String>,
    stale: Vec<String>,
    skipped_edges: Vec<String>,
    n_duplicates: usize,
    n_memories: usize,
    is_dry: bool,
}

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let Some((source, lines)) = lines_json::source(call)? else {
        return Ok(());
    };
    let mut opened = call.open()?;
    let lines = lines.with_ids(&opened)?;
    let mut left = TRIES;
    let report = loop {
        left -= 1;
        let mut report = Report {
            source: source.clone(),
            n_memories: lines.memories.len(),
            is_dry: call.arguments.is_on("dry-run"),
            ..Report::default()
        };
        let writes = plan(call, &opened, &lines, &mut report)?;
        if report.is_dry {
            break report;
        }
        match opened.write(&writes) {
            Ok(()) => break report,
            // A bead came or changed between looking and writing; nothing was written, so look again.
            Err(StoreError::Guard { .. } | StoreError::Exists(_)) if left > 0 => {}
            Err(error) => return Err(Refusal::json(format!("import failed: {error}"))),
        }
    };
    if !report.is_dry {
        remember(&mut opened, &lines)?;
    }
    if call.output.is_json() {
        return call.output.value(report.answer());
    }
    call.output.stderr(&report.to_text());
    Ok(())
}

/// Decides for each line what is to be done.
fn plan(
    call: &Call<'_>,
    opened: &Opened,
    lines: &Lines,
    report: &mut Report,
) -> Result<Vec<Write>, Refusal> {
    let arguments = call.arguments;
    let titles = if arguments.is_on("dedup") {
        titles(opened)?
    } else {
        BTreeSet::new()
    };
    let ids: BTreeSet<&BeadId> = lines.entries.iter().map(|entry| entry.issue.id()).collect();
    let mut here: BTreeMap<BeadId, Record> = BTreeMap::new();
    let wanted: Vec<BeadId> = ids.iter().map(|id| (*id).clone()).collect();
    for record in opened.store.get(&wanted)? {
        here.insert(record.issue.id().clone(), record);
    }
    let mut writes = Vec::new();
    for entry in &lines.entries {
        if titles.contains(&entry.issue.title().to_lowercase()) {
            report.n_duplicates += 1;
            continue;
        }
        let entry = without_loose_edges(opened, entry, &ids, report)?;
        match here.get(entry.issue.id()) {
            None => {
                report.take_new(&entry);
                writes.push(Write::Insert(Box::new(entry)));
            }
            Some(record) => {
                let is_forced = arguments.is_on("allow-stale");
                writes.extend(update(opened, record, &entry, is_forced, report)?);
            }
        }
    }
    Ok(writes)
}

/// The titles of beads that are not closed.
fn titles(opened: &Opened) -> Result<BTreeSet<String>, Refusal> {
    let mut records = Filter::default().find(opened)?;
    records.retain(|record| record.issue.status() != Status::Closed);
    let titles = records.iter().map(|record| record.issue.title());
    Ok(titles.map(str::to_lowercase).collect())
}

/// A line without edges to what is neither here nor in the file.
fn without_loose_edges(
    opened: &Opened,
    entry: &Entry,
    ids: &BTreeSet<&BeadId>,
    report: &mut Report,
) -> Result<Entry, Refusal> {
    let mut loose = Vec::new();
    for edge in entry.issue.dependencies() {
        let target = edge.target();
        if !edge.is_external() && !ids.contains(target) && opened.record(target)?.is_none() {
            loose.push(target.clone());
        }
    }
    let mut entry = entry.clone();
    for target in loose {
        let id = entry.issue.id().clone();
        report
            .skipped_edges
            .push(format!("{id} -> {target}: target not found"));
        entry.issue = lines_json::without_edge(&entry.issue, &target)?;
    }
    Ok(entry)
}

/// What a line does to a bead that is here.
fn update(
    opened: &Opened,
    record: &Record,
    entry: &Entry,
    is_forced: bool,
    report: &mut Report,
) -> Result<Option<Write>, Refusal> {
    let id = record.issue.id();
    let seconds = |time: Option<jiff::Timestamp>| time.map(jiff::Timestamp::as_second);
    let theirs = seconds(entry.issue.time("updated_at"));
    let ours = seconds(record.issue.time("updated_at"));
    let changed = changes(&record.issue, &entry.issue);
    let mut replaces = true;
    if !is_forced {
        if theirs.is_some() && theirs < ours {
            report.stale.push(id.to_string());
            return Ok(None);
        }
        if theirs.is_some() && theirs == ours {
            replaces = false;
            if !changed.is_empty() {
                report.ties.push(id.to_string());
            }
        } else if !changed.is_empty() {
            report.updated.push((id.to_string(), changed));
        }
    } else if report.is_dry {
        report.updated.push((id.to_string(), changed));
    }
    report.taken.push(id.to_string());
    let merged = merged(&record.issue, &entry.issue, replaces)?;
    let merged = with_lease(record, merged, opened.by.now)?;
    let known = opened.store.comments(id)?;
    let mut edits = Vec::new();
    if merged != record.issue {
        edits.push(Edit::Replace(Box::new(merged)));
    }
    let new = entry.comments.iter();
    let new = new.filter(|comment| !known.iter().any(|own| own.is_same(comment)));
    edits.extend(new.cloned().map(Edit::Comment));
    if edits.is_empty() {
        return Ok(None);
    }
    let mut guard = opened.guard(record);
    guard.version = Some(record.version);
    let id = id.clone();
    Ok(Some(Write::Update { id, edits, guard }))
}

fn remember(opened: &mut Opened, lines: &Lines) -> Result<(), Refusal> {
    for (key, value) in &lines.memories {
        let key = format!("{MEMORY}{key}");
        let rows = opened.store.controls(&key)?;
        let seen = rows
            .iter()
            .find(|row| row.key == key)
            .map_or(0, |row| row.version);
        let value = value.as_str().into();
        opened.signed(|store, by| store.set_control(&key, &value, seen, by))?;
    }
    Ok(())
}

/// The report as JSON: what did not happen has no key.
#[derive(Serialize)]
struct Answer<'r> {
    source: &'r str,
    created: usize,
    #[serde(skip_serializing_if = "is_default")]
    updated: usize,
    #[serde(skip_serializing_if = "is_default")]
    unchanged: usize,
    skipped: usize,
    #[serde(skip_serializing_if = "is_default")]
    dedup_skipped: usize,
    #[serde(skip_serializing_if = "is_default")]
    memories: usize,
    #[serde(skip_serializing_if = "is_default")]
    ids: &'r [String],
    #[serde(skip_serializing_if = "is_default")]
    updated_issues: Vec<Updated<'r>>,
    #[serde(skip_serializing_if = "is_default")]
    tie_kept_local_ids: &'r [String],
    #[serde(skip_serializing_if = "is_default")]
    stale_skipped_ids: &'r [String],
    #[serde(skip_serializing_if = "is_default")]
    skipped_dependencies: &'r [String],
    #[serde(skip_serializing_if = "is_default")]
    dry_run: bool,
}

#[derive(Serialize, PartialEq)]
struct Updated<'r> {
    id: &'r str,
    #[serde(skip_serializing_if = "is_default")]
    changes: &'r str,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Report {
    fn take_new(&mut self, entry: &Entry) {
        let id = entry.issue.id().to_string();
        self.n_new += 1;
        self.new.push(id.clone());
        self.taken.push(id);
    }

    /// How many lines were neither new nor an update.
    fn n_unchanged(&self) -> usize {
        let n_known = self.n_new + self.updated.len();
        self.taken.len().saturating_sub(n_known)
    }

    fn answer(&self) -> Answer<'_> {
        let (created, ids) = if self.is_dry {
            (self.n_new, &self.new)
        } else {
            (self.taken.len(), &self.taken)
        };
        let n_duplicates = if self.is_dry { self.n_duplicates } else { 0 };
        let updated = self.updated.iter();
        Answer {
            source: &self.source,
            created,
            updated: self.updated.len(),
            unchanged: if self.is_dry { self.n_unchanged() } else { 0 },
            skipped: self.stale.len() + n_duplicates,
            dedup_skipped: self.n_duplicates,
            memories: self.n_memories,
            ids,
            updated_issues: updated
                .map(|(id, changes)| Updated { id, changes })
                .collect(),
            tie_kept_local_ids: &self.ties,
            stale_skipped_ids: &self.stale,
            skipped_dependencies: if self.is_dry {
                &[]
            } else {
                &self.skipped_edges
            },
            dry_run: self.is_dry,
        }
    }

    fn to_text(&self) -> String {
        let source = &self.source;
        let mut text = String::new();
        let duplicates = match self.n_duplicates {
            0 => String::new(),
            n => format!(" ({n} duplicates skipped)"),
        };
        if self.is_dry {
            let (new, updated) = (self.n_new, self.updated.len());
            let (unchanged, memories) = (self.n_unchanged(), self.n_memories);
            let all = new + updated + unchanged;
            let stale = match self.stale.len() {
                0 => String::new(),
                n => format!(" ({n} stale skipped)"),
            };
            return format!(
                "Would import {all} issues ({new} new, {updated} updated, {unchanged} unchanged) and {memories} memories from {source}{duplicates}{stale}\n"
            );
        }
        let memories = match self.n_memories {
            0 => String::new(),
            n => format!(" and {n} memories"),
        };
        let stale = match self.stale.len() {
            0 => String::new(),
            n => format!(" ({n} stale skipped; use --allow-stale to restore older rows)"),
        };
        let n = self.taken.len();
        push!(
            text,
            "Imported {n} issues{memories} from {source}{duplicates}{stale}\n"
        );
        if !self.updated.is_empty() {
            push!(text, "Updated {} existing issue(s):\n", self.updated.len());
            for (id, changes) in &self.updated {
                push!(text, "  {id}: {changes}\n");
            }
        }
        if !self.ties.is_empty() {
            let (n, ids) = (self.ties.len(), self.ties.join(", "));
            push!(
                text,
                "Kept local state for {n} issue(s) with the same updated_at but different content (use --allow-stale to overwrite): {ids}\n"
            );
        }
        for skipped in &self.skipped_edges {
            push!(text, "Skipped dependency: {skipped}\n");
        }
        text
    }
}
