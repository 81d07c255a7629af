//! How beads look: to programs as `bd`'s JSON, to people as rows and paragraphs.

use std::borrow::Cow;
use std::fmt::Write as _;

use beads_ralph_core::bead;
use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Blocker, Claim, Record, Waiting, counts};
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_runtime::app::beads::Beads;
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::ui::table::{Page, Table};

/// A bead for programs: its document and what `bd` counts about it.
pub(crate) fn to_json(record: &Record, n_dependents: usize) -> Map<String, Value> {
    let mut json = record.issue.document().clone();
    json.extend(extras(record, n_dependents));
    json
}

/// The same with more facts, which win over what the document says under their keys.
pub(crate) fn with(
    record: &Record,
    n_dependents: usize,
    facts: &impl Serialize,
) -> Map<String, Value> {
    let mut json = to_json(record, n_dependents);
    if let Ok(Value::Object(facts)) = serde_json::to_value(facts) {
        json.extend(facts);
    }
    json
}

/// What a program finds with every bead, also when its document does not say it.
fn extras(record: &Record, n_dependents: usize) -> Map<String, Value> {
    let issue = &record.issue;
    let mut extras = counts(issue, n_dependents, record.n_comments);
    extras.insert("status".to_owned(), issue.status().into());
    extras.insert("priority".to_owned(), issue.priority().into());
    extras.insert("issue_type".to_owned(), issue.issue_type().into());
    extras.insert("version".to_owned(), record.version.into());
    extras
}

/// Several beads for programs, written from where they are: a list can be long.
pub(crate) fn all_to_json<'r>(
    records: &'r [Record],
    beads: &Beads,
) -> Result<Vec<JsonBead<'r>>, Failure> {
    let ids: Vec<BeadId> = records
        .iter()
        .map(|record| record.issue.id().clone())
        .collect();
    let counts = beads.store.count_blocked_by(&ids)?;
    let json = records
        .iter()
        .zip(counts)
        .map(|(record, n_dependents)| JsonBead {
            record: Cow::Borrowed(record),
            extras: extras(record, n_dependents),
        });
    Ok(json.collect())
}

/// What [`to_json`] gives, without a copy of the document.
pub(crate) struct JsonBead<'r> {
    record: Cow<'r, Record>,
    extras: Map<String, Value>,
}

impl JsonBead<'static> {
    /// One bead of many that are not held at once.
    pub(crate) fn new(record: Record, n_dependents: usize) -> Self {
        Self {
            extras: extras(&record, n_dependents),
            record: Cow::Owned(record),
        }
    }
}

impl Serialize for JsonBead<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let document = self.record.issue.document().iter();
        let own = document.filter(|(key, _)| !self.extras.contains_key(*key));
        serializer.collect_map(own.chain(&self.extras))
    }
}

/// Beads for people, one a line. The holder has a column when there is one.
pub(crate) fn rows(records: &[Record], page: Page) -> String {
    let is_held = records.iter().any(|record| record.claim.is_some());
    let mut table = Table::new(heads(is_held));
    for record in records {
        table.row(held_row(record, is_held));
    }
    table.draw(page)
}

pub(crate) fn heads(is_held: bool) -> &'static [&'static str] {
    if is_held {
        &["ID", "P", "STATUS", "HOLDER", "TYPE", "TITLE…"]
    } else {
        &["ID", "P", "STATUS", "TYPE", "TITLE…"]
    }
}

pub(crate) fn held_row(record: &Record, is_held: bool) -> Vec<String> {
    let mut cells = row(record);
    if is_held {
        let holder = record.claim.as_ref().map(|claim| claim.holder.run.clone());
        cells.insert(3, holder.unwrap_or_default());
    }
    cells
}

pub(crate) fn blocked_rows(records: &[(Record, Vec<Blocker>)], page: Page) -> String {
    let mut table = Table::new(&["ID", "P", "STATUS", "TYPE", "TITLE…", "WAITS FOR…"]);
    for (record, blockers) in records {
        let mut cells = row(record);
        let waits: Vec<String> = blockers.iter().map(short).collect();
        cells.push(waits.join(", "));
        table.row(cells);
    }
    table.draw(page)
}

fn row(record: &Record) -> Vec<String> {
    let issue = &record.issue;
    vec![
        issue.id().to_string(),
        issue.priority().to_string(),
        issue.status().to_owned(),
        issue.issue_type().to_owned(),
        issue.title().to_owned(),
    ]
}

fn short(blocker: &Blocker) -> String {
    match blocker.waiting {
        Waiting::ForIt => blocker.id.to_string(),
        waiting => format!("{} ({})", blocker.id, waiting.as_str()),
    }
}

pub(crate) fn time(at: Timestamp) -> String {
    bead::Timestamp::from_instant(at).to_string()
}

pub(crate) fn held(claim: &Claim) -> String {
    let process = claim.holder.process.as_ref();
    let process = process.map_or(String::new(), |process| {
        format!(", process {}", process.pid)
    });
    format!(
        "{} on {}{process} (fence {}, lease until {})",
        excerpt(&claim.holder.run),
        excerpt(&claim.holder.host),
        claim.fence,
        time(claim.lease_until)
    )
}

pub(crate) fn named(record: &Record) -> String {
    let issue = &record.issue;
    format!(
        "{} {}",
        visible(issue.id().as_str()),
        excerpt(issue.title())
    )
}

/// A text of others, line by line and indented. Tabs become spaces; what steers a terminal is escaped.
pub(crate) fn paragraph(text: &str) -> String {
    let mut shown = String::new();
    for line in text.trim_end().lines() {
        let line = visible(&line.replace('\t', "    "));
        _ = writeln!(shown, "{}", format!("  {line}").trim_end());
    }
    shown
}
