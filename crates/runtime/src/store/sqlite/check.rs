//! Looking a store over: is every row what was written, and does everything agree with everything else?
//!
//! The structure is checked by SQLite, every row by its seal, every issue by its own history, and what is derived
//! (facts, labels, edges, counts, being held back) by deriving it again.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Event, FoldError, Folded, Record, fold};
use beads_ralph_core::text::excerpt;
use camino::Utf8Path;
use rusqlite::{Connection, Row};

use super::BUSY;
use super::failure::Failed;
use super::open::{self, Access, Purpose};
use super::{batch, facts, leases, rows};
use crate::store::{Options, Result, StoreError};

/// The most findings that are listed; a torn file can have as many as it has rows.
const MAX_FINDINGS: usize = 100;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// What is wrong, in words; empty when all is well.
    pub findings: Vec<String>,
    /// How many findings there are, listed or not.
    pub n_findings: usize,
    pub n_issues: usize,
    pub n_events: usize,
}

impl CheckReport {
    pub fn is_healthy(&self) -> bool {
        self.n_findings == 0
    }

    /// Adds a finding, unless it is listed: one row is met by all that is looked up beside it.
    fn add(&mut self, finding: impl Into<String>) {
        let finding = finding.into();
        if self.findings.contains(&finding) {
            return;
        }
        self.n_findings += 1;
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        }
    }

    fn add_failed(&mut self, failed: Failed, path: &Utf8Path) {
        match failed.at(path, BUSY) {
            StoreError::Damaged { what, .. } => self.add(what),
            error => self.add(error.to_string()),
        }
    }
}

/// Looks over the store in a file. Fails only when somebody else has it, or when it is not ours to look at.
pub fn check(path: &Utf8Path, options: Options) -> Result<CheckReport> {
    let _lock = open::lock(path, Access::Shared, options.busy)?;
    check_locked(path, options)
}

/// As above, for whoever has the lock already.
///
/// Everything is read in one transaction: what others write meanwhile is not seen, so that two rows that disagree are damage.
pub(super) fn check_locked(path: &Utf8Path, options: Options) -> Result<CheckReport> {
    let mut report = CheckReport::default();
    if !path.exists() {
        report.add("the file is missing");
        return Ok(report);
    }
    let connection = match open::connect(path, Purpose::Use, options.busy) {
        Ok(connection) => connection,
        Err(StoreError::Damaged { what, .. }) => {
            report.add(what);
            return Ok(report);
        }
        Err(error) => return Err(error),
    };
    let begun = connection.unchecked_transaction();
    let connection = begun.map_err(|error| Failed::from(error).at(path, BUSY))?;
    match open::check_format(&connection, path, open::FORMAT, BUSY) {
        Ok(0) => report.add("there is nothing in the file"),
        Ok(_) => {}
        Err(StoreError::Damaged { what, .. }) => report.add(what),
        Err(error) => return Err(error),
    }
    if report.is_healthy() {
        for look in [structure, issues, counts, history, lost, others] {
            if let Err(failed) = look(&connection, &mut report, path) {
                match failed.at(path, BUSY) {
                    error @ (StoreError::Busy { .. } | StoreError::Unusable { .. }) => {
                        return Err(error);
                    }
                    StoreError::Damaged { what, .. } => report.add(what),
                    error => report.add(error.to_string()),
                }
            }
        }
    }
    Ok(report)
}

fn structure(
    connection: &Connection,
    report: &mut CheckReport,
    _: &Utf8Path,
) -> Result<(), Failed> {
    let text = |row: &Row<'_>| Ok(row.get::<_, String>(0)?);
    for line in rows::collect(connection, "PRAGMA integrity_check(20)", [], text)? {
        if line != "ok" {
            report.add(format!("structure: {}", excerpt(&line)));
        }
    }
    for table in rows::collect(connection, "PRAGMA foreign_key_check", [], text)? {
        report.add(format!(
            "a row of {} belongs to a missing issue",
            excerpt(&table)
        ));
    }
    Ok(())
}

/// Every issue by itself: its seal, its comments, what is derived from it.
fn issues(
    connection: &Connection,
    report: &mut CheckReport,
    path: &Utf8Path,
) -> Result<(), Failed> {
    let mut statement = connection.prepare(&format!("{} ORDER BY i.rowid", rows::RECORD))?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let record = match rows::record(row) {
            Ok(record) => record,
            Err(failed) => {
                report.add_failed(failed, path);
                continue;
            }
        };
        report.n_issues += 1;
        let id = record.issue.id();
        if let Err(failed) = rows::comments(connection, id, record.n_comments) {
            report.add_failed(failed, path);
        }
        let looked = derived(connection, &record).and_then(|finding| {
            let is_blocked = !batch::blockers_of(connection, id)?.is_empty();
            let wrong = (is_blocked != record.is_blocked)
                .then(|| format!("{id} is held back: {is_blocked}, and the store says otherwise"));
            Ok(finding.or(wrong))
        });
        match looked {
            Ok(finding) => finding.into_iter().for_each(|finding| report.add(finding)),
            Err(failed) => report.add_failed(failed, path),
        }
    }
    Ok(())
}

/// Whether the facts, labels and edges of an issue are those of its document.
fn derived(connection: &Connection, record: &Record) -> Result<Option<String>, Failed> {
    let id = record.issue.id();
    if is_of(connection, open::FORMAT)?
        && !facts::are_right(connection, &record.issue, record.is_blocked)?
    {
        return Ok(Some(format!(
            "the facts about {id} are not those of its document"
        )));
    }
    let mut labels: Vec<String> = record.issue.labels().map(str::to_owned).collect();
    labels.sort_unstable();
    labels.dedup();
    let sql = "SELECT label FROM labels WHERE issue_id = ?1 ORDER BY label";
    let stored = rows::collect(connection, sql, [id.as_str()], |row| {
        Ok(row.get::<_, String>(0)?)
    })?;
    if stored != labels {
        return Ok(Some(format!(
            "the labels of {id} are not those of its document"
        )));
    }
    let mut edges: Vec<(String, String)> = (record.issue.dependencies().iter())
        .map(|edge| (edge.target().to_string(), edge.kind().to_owned()))
        .collect();
    edges.sort_unstable();
    let sql = "SELECT target, kind FROM edges WHERE issue_id = ?1 ORDER BY target";
    let stored = rows::collect(connection, sql, [id.as_str()], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    let is_same = stored == edges;
    Ok((!is_same).then(|| format!("the edges of {id} are not those of its document")))
}

/// Whether a file has this format. An older one is looked over as it is; it is brought up to date when it is opened.
fn is_of(connection: &Connection, format: i64) -> Result<bool, Failed> {
    Ok(open::format(connection)? == format)
}

/// What is derived and belongs to no issue, and the counts.
fn counts(connection: &Connection, report: &mut CheckReport, _: &Utf8Path) -> Result<(), Failed> {
    if is_of(connection, open::FORMAT)? {
        for finding in facts::left_over(connection)? {
            report.add(finding);
        }
    }
    Ok(())
}

/// Every history: its seals, and that it tells what the issue is.
fn history(
    connection: &Connection,
    report: &mut CheckReport,
    path: &Utf8Path,
) -> Result<(), Failed> {
    let mut statement =
        connection.prepare(&format!("{} ORDER BY issue_id, version", rows::EVENT))?;
    let mut found = statement.query([])?;
    let mut events: Vec<Event> = Vec::new();
    loop {
        let next = match found.next()?.map(rows::event) {
            Some(Err(failed)) => {
                report.add_failed(failed, path);
                continue;
            }
            Some(Ok(event)) => Some(event),
            None => None,
        };
        let is_same = |next: &Event| events.first().is_none_or(|first| first.issue == next.issue);
        if !next.as_ref().is_some_and(is_same) && !events.is_empty() {
            told(connection, report, path, &events);
            events.clear();
        }
        match next {
            Some(event) => {
                report.n_events += 1;
                events.push(event);
            }
            None => return Ok(()),
        }
    }
}

fn told(connection: &Connection, report: &mut CheckReport, path: &Utf8Path, events: &[Event]) {
    let id = &events[0].issue;
    match (fold(events), rows::load(connection, id)) {
        (_, Err(failed)) => report.add_failed(failed, path),
        (Err(FoldError::Deleted), Ok(None)) => {}
        (Err(FoldError::Deleted), Ok(Some(_))) => {
            report.add(format!("{id} was deleted and is still there"));
        }
        (Err(error), Ok(_)) => report.add(format!("the history of {id}: {error}")),
        (Ok(_), Ok(None)) => report.add(format!("{id} has a history and is missing")),
        (Ok(folded), Ok(Some(record))) => {
            if !is_told(&folded, &record) {
                report.add(format!("{id} is not what its history tells"));
            }
        }
    }
}

/// Whether a history tells what an issue is. The end of a lease moves without an event.
pub(super) fn is_told(folded: &Folded, record: &Record) -> bool {
    let fence_of = |claim: Option<&beads_ralph_core::issue::Claim>| {
        claim.map(|claim| (claim.fence, claim.holder.clone()))
    };
    folded.version == record.version
        && folded.entry.fence == record.fence
        && folded.entry.issue.document() == record.issue.document()
        && folded.entry.comments.len() == record.n_comments
        && fence_of(folded.claim.as_ref()) == fence_of(record.claim.as_ref())
}

fn lost(connection: &Connection, report: &mut CheckReport, _: &Utf8Path) -> Result<(), Failed> {
    let sql = "SELECT id FROM issues WHERE id NOT IN (SELECT issue_id FROM events) ORDER BY id";
    for id in rows::collect(connection, sql, [], |row| Ok(row.get::<_, String>(0)?))? {
        report.add(format!("{} has no history", excerpt(&id)));
    }
    Ok(())
}

fn others(connection: &Connection, _: &mut CheckReport, _: &Utf8Path) -> Result<(), Failed> {
    leases::leases(connection, "", jiff::Timestamp::MIN)?;
    leases::controls(connection, "")?;
    Ok(())
}

/// The ids of all issues that have a row or a history.
pub(super) fn known_ids(connection: &Connection) -> Result<Vec<BeadId>, Failed> {
    let sql = "SELECT id FROM issues UNION SELECT issue_id FROM events ORDER BY 1";
    rows::ids(connection, sql, [])
}
