//! Repairing a damaged store: a new file from every row that is still what was written.
//!
//! Rows are taken from both ends of each table, so that one torn page costs only its own rows. An issue whose
//! row is gone is folded from its history; one whose history is gone too is taken from an export, or else named as
//! lost. The damaged file is kept. Nothing is changed before the new file is whole.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write as _};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{
    Entry, Event, EventKind, Fence, FoldError, Folded, Side, difference, fold,
};
use camino::{Utf8Path, Utf8PathBuf};
use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, params_from_iter};

use super::batch::{Batch, State};
use super::check::{check_locked, is_told, known_ids};
use super::failure::Failed;
use super::open::{self, Access, MIGRATIONS, Purpose};
use super::rows::{self, NewEvent};
use super::{BUSY, leases};
use crate::store::{Options, Result, Stamp, StoreError};

/// How far fences leap when it is not known how many were given out.
const FENCE_LEAP: u64 = 1000;

/// What a repair did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepairReport {
    pub n_issues: usize,
    /// Issues that were folded from their history.
    pub from_history: Vec<BeadId>,
    /// Whether every event was left, so that a history tells all that happened.
    pub is_history_whole: bool,
    /// Issues that were taken from the export, as they were then.
    pub from_export: Vec<BeadId>,
    /// Issues that are known by name only, and nothing else of them is left.
    pub lost: Vec<BeadId>,
    /// The damaged file, unless there was none.
    pub kept: Option<Utf8PathBuf>,
}

/// Builds the store in a file anew from what is left of it and from an export; nothing is done to a store that is whole.
///
/// It is looked over again once nobody else has it: since the check that found damage, somebody else may have repaired it.
pub fn repair(
    path: &Utf8Path,
    export: BTreeMap<BeadId, Entry>,
    by: Stamp<'_>,
    options: Options,
) -> Result<Option<RepairReport>> {
    let _lock = open::lock(path, Access::Alone, options.busy)?;
    if check_locked(path, options)?.is_healthy() {
        return Ok(None);
    }
    let kept = keep_damaged(path)?;
    let repaired = Utf8PathBuf::from(format!("{path}.mending"));
    remove_files(&repaired);
    let mut new = open::connect(&repaired, Purpose::Make, BUSY)?;
    open::migrate(&mut new, &repaired, &MIGRATIONS, BUSY)?;
    let left = match &kept {
        Some(kept) => take_from(kept, path, &mut new)?,
        None => Left::default(),
    };
    let mut report =
        complete(&mut new, left, export, by).map_err(|failed| failed.at(&repaired, BUSY))?;
    close(new).map_err(|failed| failed.at(&repaired, BUSY))?;
    replace(path, &repaired)?;
    report.kept = kept;
    Ok(Some(report))
}

/// What the damaged file tells besides its rows.
#[derive(Default)]
struct Left {
    /// The ids of issues that anything is left of.
    named: BTreeSet<BeadId>,
    n_events: Option<i64>,
}

/// Takes what is left in a copy of the damaged file: as it is, and then with the pages that say where the tables are taken
/// from a new store, because every store of a format begins with the same. Only rows with the right seal are taken.
fn take_from(kept: &Utf8Path, path: &Utf8Path, new: &mut Connection) -> Result<Left> {
    let work = Utf8PathBuf::from(format!("{path}.salvage"));
    let mut left = Left::default();
    for is_patched in [false, true] {
        copy_files(kept, &work)?;
        if is_patched {
            patch_schema(&work)?;
        }
        match open::connect(&work, Purpose::Salvage, BUSY) {
            Ok(old) => {
                salvage(&old, path, new)?;
                left.named.extend(names(&old));
                left.n_events = left.n_events.max(n_events(&old));
            }
            // A file that is not even a database any more has nothing to take from, unless it is patched.
            Err(StoreError::Damaged { .. }) => {}
            Err(error) => return Err(error),
        }
        remove_files(&work);
    }
    Ok(left)
}

/// How many events a file says that it has had; it keeps count apart from the events themselves.
fn n_events(old: &Connection) -> Option<i64> {
    let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'events'";
    old.query_row(sql, [], |row| row.get(0)).ok()
}

/// A table's columns, without those that are derived.
#[derive(Clone, Copy)]
struct Table {
    name: &'static str,
    columns: &'static str,
    key: &'static str,
    is_whole: fn(&rusqlite::Row<'_>) -> bool,
}

const TABLES: [Table; 6] = [
    Table {
        name: "events",
        columns: "number, issue_id, version, at, actor, kind, before, after, seal",
        key: "number",
        is_whole: |row| rows::event(row).is_ok(),
    },
    Table {
        name: "issues",
        columns: "id, document, version, fence, n_comments, blocked, seal",
        key: "rowid",
        is_whole: |row| rows::unclaimed_record(row).is_ok(),
    },
    Table {
        name: "comments",
        columns: "issue_id, number, record, seal",
        key: "issue_id, number",
        is_whole: |row| {
            row.get::<_, String>(0)
                .is_ok_and(|id| rows::comment(row, &id, 1).is_ok())
        },
    },
    Table {
        name: "claims",
        columns: "issue_id, claim, seal",
        key: "issue_id",
        is_whole: rows::is_whole_claim,
    },
    Table {
        name: "leases",
        columns: "name, fence, holder, until, seal",
        key: "name",
        is_whole: super::leases::is_whole_lease,
    },
    Table {
        name: "controls",
        columns: "key, value, version, actor, at, seal",
        key: "key",
        is_whole: super::leases::is_whole_control,
    },
];

/// Copies every row that is still what was written.
fn salvage(old: &Connection, path: &Utf8Path, new: &mut Connection) -> Result<()> {
    match open::check_format(old, path, open::FORMAT, BUSY) {
        Ok(_) | Err(StoreError::Damaged { .. }) => {}
        Err(error) => return Err(error),
    }
    let mut copy_all = || -> Result<(), Failed> {
        // Rows come before the issues that they belong to; what belongs to nothing is removed afterwards.
        new.pragma_update(None, "foreign_keys", "OFF")?;
        let transaction = new.transaction()?;
        for table in &TABLES {
            for direction in ["", " DESC"] {
                copy(old, &transaction, table, direction)?;
            }
        }
        transaction.commit()?;
        new.pragma_update(None, "foreign_keys", "ON")?;
        Ok(())
    };
    copy_all().map_err(|failed| failed.at(path, BUSY))
}

/// Copies until the end of the table or the first page that cannot be read.
fn copy(
    old: &Connection,
    new: &Transaction<'_>,
    table: &Table,
    direction: &str,
) -> Result<(), Failed> {
    let Table {
        name,
        columns,
        key,
        is_whole,
    } = *table;
    let n_columns = columns.split(", ").count();
    let marks = vec!["?"; n_columns].join(", ");
    let mut insert = new.prepare(&format!(
        "INSERT OR IGNORE INTO {name} ({columns}) VALUES ({marks})"
    ))?;
    let keys: Vec<String> = key
        .split(", ")
        .map(|key| format!("{key}{direction}"))
        .collect();
    let sql = format!(
        "SELECT {columns} FROM {name} NOT INDEXED ORDER BY {}",
        keys.join(", ")
    );
    let Ok(mut statement) = old.prepare(&sql) else {
        return Ok(());
    };
    let Ok(mut rows) = statement.query([]) else {
        return Ok(());
    };
    while let Ok(Some(row)) = rows.next() {
        let values: Result<Vec<Value>, _> = (0..n_columns).map(|index| row.get(index)).collect();
        if let Ok(values) = values
            && is_whole(row)
        {
            // A value of another type than the column's is damage too, and strict tables refuse it.
            drop(insert.execute(params_from_iter(values)));
        }
    }
    Ok(())
}

/// The ids of all issues that anything is left of, so that none is lost without a word. A damaged row can have a
/// damaged name, so a name counts when two rows have it.
fn names(old: &Connection) -> BTreeSet<BeadId> {
    let columns = [
        ("id", "issues"),
        ("issue_id", "events"),
        ("issue_id", "labels"),
        ("issue_id", "edges"),
    ];
    let mut seen = BTreeMap::<BeadId, usize>::new();
    for (column, table) in columns {
        let Ok(mut statement) = old.prepare(&format!("SELECT {column} FROM {table} NOT INDEXED"))
        else {
            continue;
        };
        let Ok(mut rows) = statement.query([]) else {
            continue;
        };
        while let Ok(Some(row)) = rows.next() {
            let name = row.get::<_, String>(0).ok();
            if let Some(id) = name.and_then(|name| BeadId::parse(&name).ok()) {
                *seen.entry(id).or_default() += 1;
            }
        }
    }
    let is_twice = |(id, n_rows)| (n_rows > 1).then_some(id);
    seen.into_iter().filter_map(is_twice).collect()
}

/// Puts back what is missing, and derives again what is derived.
fn complete(
    new: &mut Connection,
    left: Left,
    mut export: BTreeMap<BeadId, Entry>,
    by: Stamp<'_>,
) -> Result<RepairReport, Failed> {
    let mut report = RepairReport::default();
    let transaction = new.transaction()?;
    let n_left: i64 = transaction.query_row("SELECT count(*) FROM events", [], |row| row.get(0))?;
    report.is_history_whole = left.n_events == Some(n_left);
    transaction.execute_batch(
        "DELETE FROM labels; DELETE FROM edges; DELETE FROM facts; DELETE FROM fields;",
    )?;
    let mut ids = left.named;
    ids.extend(known_ids(&transaction)?);
    ids.extend(export.keys().cloned());
    for id in &ids {
        let exported = export.remove(id);
        complete_one(&transaction, id, exported, by, &mut report)?;
    }
    forget(&transaction, &report.lost)?;
    transaction.execute_batch(
        "DELETE FROM comments WHERE issue_id NOT IN (SELECT id FROM issues); \
         DELETE FROM claims WHERE issue_id NOT IN (SELECT id FROM issues);",
    )?;
    let mut batch = Batch::new(&transaction, by);
    batch.recheck(ids);
    batch.finish()?;
    let n_issues: i64 =
        transaction.query_row("SELECT count(*) FROM issues", [], |row| row.get(0))?;
    report.n_issues = usize::try_from(n_issues).unwrap_or(usize::MAX);
    transaction.commit()?;
    Ok(report)
}

fn complete_one(
    connection: &Connection,
    id: &BeadId,
    exported: Option<Entry>,
    by: Stamp<'_>,
    report: &mut RepairReport,
) -> Result<(), Failed> {
    let row = rows::load(connection, id).ok().flatten();
    let row = row.filter(|record| rows::comments(connection, id, record.n_comments).is_ok());
    let events = rows::events(connection, Some(id), 0, usize::MAX)?;
    let last_version = events.last().map_or(0, |event| event.version);
    let folded = fold(&events);
    // What was deleted stays so, whatever else is left of it.
    if folded == Err(FoldError::Deleted) {
        return rows::remove(connection, id);
    }
    let folded = folded.ok();
    match (row, folded, exported) {
        (Some(record), Some(folded), _) if is_told(&folded, &record) => {
            rows::put_derived(connection, None, &record.issue)?;
            rows::put_issue(connection, &record.into())
        }
        (Some(record), Some(folded), _) if folded.version >= record.version => {
            report.from_history.push(id.clone());
            put_back(connection, folded, None, by)
        }
        // The row is whole and its history is not: the history starts anew from the row.
        (Some(record), _, _) => {
            let comments = rows::comments(connection, id, record.n_comments)?;
            let folded = Folded {
                entry: Entry {
                    issue: record.issue,
                    comments,
                    fence: record.fence,
                },
                claim: record.claim,
                version: record.version.max(last_version),
            };
            put_back(connection, folded, Some(EventKind::Restored), by)
        }
        (None, Some(folded), _) if report.is_history_whole => {
            report.from_history.push(id.clone());
            put_back(connection, folded, None, by)
        }
        // The end of this history may be missing too, and nobody can tell.
        (None, Some(mut folded), exported) if !is_newer(exported.as_ref(), &folded) => {
            report.from_history.push(id.clone());
            folded.entry.fence = leap(folded.entry.fence);
            put_back(connection, folded, Some(EventKind::Restored), by)
        }
        (None, _, Some(mut entry)) => {
            report.from_export.push(id.clone());
            entry.fence = leap(entry.fence.max(floor(&events)));
            let folded = Folded {
                entry,
                claim: None,
                version: last_version,
            };
            put_back(connection, folded, Some(EventKind::Restored), by)
        }
        (None, _, None) => {
            rows::remove(connection, id)?;
            leases::put_floor(connection, id, leap(floor(&events)), by)?;
            report.lost.push(id.clone());
            Ok(())
        }
    }
}

/// A fence beyond all that can have been given out since what is left was written. Who holds an issue now keeps the
/// fence of the claim; only the next one is higher.
fn leap(fence: Fence) -> Fence {
    Fence(fence.0.saturating_add(FENCE_LEAP))
}

/// The highest fence that what is left of a history tells of. Whatever becomes of an issue, its fence never falls (Z-2).
fn floor(events: &[Event]) -> Fence {
    let given = events.iter().filter_map(Event::fence);
    given.max().unwrap_or_default()
}

/// Removes what is left of the histories of lost issues: it tells nothing, and an issue that gets the id again has a
/// history of its own.
fn forget(connection: &Connection, lost: &[BeadId]) -> Result<(), Failed> {
    if lost.is_empty() {
        return Ok(());
    }
    let trigger = "events_are_not_removed";
    let sql: String = connection.query_row(
        "SELECT sql FROM sqlite_schema WHERE name = ?1",
        [trigger],
        |row| row.get(0),
    )?;
    connection.execute_batch(&format!("DROP TRIGGER {trigger}"))?;
    for id in lost {
        connection.execute("DELETE FROM events WHERE issue_id = ?1", [id.as_str()])?;
    }
    connection.execute_batch(&sql)?;
    Ok(())
}

/// Whether an export tells of a later change than what is left of the history.
fn is_newer(exported: Option<&Entry>, folded: &Folded) -> bool {
    let changed = |entry: &Entry| entry.issue.time("updated_at");
    exported.is_some_and(|exported| changed(exported) > changed(&folded.entry))
}

/// Writes an issue as it is to be, and an event that says so when its history does not.
fn put_back(
    connection: &Connection,
    folded: Folded,
    event: Option<EventKind>,
    by: Stamp<'_>,
) -> Result<(), Failed> {
    let Folded {
        entry,
        claim,
        version,
    } = folded;
    let version = if event.is_some() {
        version + 1
    } else {
        version
    };
    let id = entry.issue.id().clone();
    if let Some(kind) = event {
        let side = Side {
            issue: &entry.issue,
            fence: entry.fence,
            claim: claim.as_ref(),
        };
        let (before, after) = difference(None, side, 0, &entry.comments);
        let event = NewEvent {
            issue: id.clone(),
            version,
            kind,
            before: rows::json(&before)?,
            after: rows::json(&after)?,
        };
        let number = rows::last_event(connection)? + 1;
        rows::put_event(connection, number, &event, by.actor, &by.time())?;
    }
    connection.execute("DELETE FROM comments WHERE issue_id = ?1", [id.as_str()])?;
    let record = State {
        version,
        fence: entry.fence,
        is_blocked: false,
        claim,
        n_comments: entry.comments.len(),
        issue: Cow::Owned(entry.issue),
    };
    rows::put_issue(connection, &record)?;
    rows::put_derived(connection, None, &record.issue)?;
    rows::put_claim(connection, &id, record.claim.as_ref())?;
    for (number, comment) in entry.comments.iter().enumerate() {
        rows::put_comment(connection, &id, number, comment)?;
    }
    Ok(())
}

/// What belongs to one database.
const PARTS: [&str; 2] = ["", "-wal"];

/// Where a file's header says how many pages it has. Zero means that its length says so.
const PAGE_COUNT: u64 = 28;

fn failed(path: &Utf8Path) -> impl Fn(io::Error) -> StoreError {
    move |error| StoreError::WriteFailed {
        path: path.to_owned(),
        why: crate::os::limits::explain(&error),
    }
}

/// Copies the damaged file and its log under a new name, and gives the name if there was a file.
fn keep_damaged(path: &Utf8Path) -> Result<Option<Utf8PathBuf>> {
    if !path.exists() {
        return Ok(None);
    }
    let kept = (1..u32::MAX)
        .map(|number| Utf8PathBuf::from(format!("{path}.damaged-{number}")))
        .find(|kept| !kept.exists())
        .expect("some number is free");
    copy_files(path, &kept)?;
    Ok(Some(kept))
}

/// Copies a file and its log, so that they are on the disk.
fn copy_files(from: &Utf8Path, to: &Utf8Path) -> Result<()> {
    remove_files(to);
    for part in PARTS {
        let source = format!("{from}{part}");
        if Utf8Path::new(&source).exists() {
            let target = Utf8PathBuf::from(format!("{to}{part}"));
            fs::copy(&source, &target).map_err(failed(&target))?;
            let copied = File::open(&target).and_then(|file| file.sync_all());
            copied.map_err(failed(&target))?;
        }
    }
    Ok(())
}

/// Removes a file and what belongs to it.
fn remove_files(path: &Utf8Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        drop(fs::remove_file(format!("{path}{suffix}")));
    }
}

/// Gives a file the first pages of a new store: those that say which tables there are and where they begin. They are those of the
/// first format: later steps leave the tables that hold the truth where they are, and what they add is derived.
fn patch_schema(path: &Utf8Path) -> Result<()> {
    let fresh = Utf8PathBuf::from(format!("{path}.fresh"));
    remove_files(&fresh);
    let mut connection = open::connect(&fresh, Purpose::Make, BUSY)?;
    open::migrate(&mut connection, &fresh, &MIGRATIONS[..1], BUSY)?;
    let roots = roots(&connection).map_err(|failed| failed.at(&fresh, BUSY))?;
    close(connection).map_err(|failed| failed.at(&fresh, BUSY))?;
    let bytes = fs::read(&fresh).map_err(failed(&fresh))?;
    remove_files(&fresh);
    let write = || -> io::Result<()> {
        let mut file = File::options().write(true).open(path)?;
        let length = file.metadata()?.len();
        for (index, page) in bytes.chunks(PAGE_SIZE).enumerate() {
            let start = (index * PAGE_SIZE) as u64;
            // Pages that a table begins with hold its rows in the damaged file.
            let number = i64::try_from(index + 1).unwrap_or(i64::MAX);
            if !roots.contains(&number) && start < length {
                file.seek(SeekFrom::Start(start))?;
                file.write_all(page)?;
            }
        }
        file.seek(SeekFrom::Start(PAGE_COUNT))?;
        file.write_all(&[0; 4])
    };
    write().map_err(failed(path))
}

const PAGE_SIZE: usize = 4096;

fn roots(connection: &Connection) -> Result<Vec<i64>, Failed> {
    let mut statement =
        connection.prepare("SELECT rootpage FROM sqlite_schema WHERE rootpage > 0")?;
    let roots = statement.query_map([], |row| row.get(0))?;
    Ok(roots.collect::<Result<_, _>>()?)
}

/// Closes a database so that everything is in its file and nothing in a log.
fn close(connection: Connection) -> Result<(), Failed> {
    let is_busy: i64 =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    debug_assert_eq!(is_busy, 0, "nobody else knows of the file");
    connection.close().map_err(|(_, error)| Failed::from(error))
}

/// Puts a file in the place of another in one step.
fn replace(path: &Utf8Path, new: &Utf8Path) -> Result<()> {
    // A log that is left behind would be applied to the new file, so it goes first. It was copied before.
    for suffix in ["-wal", "-shm"] {
        drop(fs::remove_file(format!("{path}{suffix}")));
    }
    fs::rename(new, path).map_err(failed(path))?;
    let directory = path.parent().unwrap_or(Utf8Path::new("."));
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(failed(path))
}
