//! What is derived from the document of an issue so that it is found, sorted and counted without being read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Flag, Issue, Moment, metadata_text};
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use serde_json::Value;

use super::failure::Result;
use super::rows;

/// Metadata that issues are found by, each with the text of its value.
pub(super) const FOUND_BY: [&str; 3] = ["blocking", "lane", "plan_file"];

/// Lists in the metadata that issues are found by when something is in them.
pub(super) const FOUND_IF_FILLED: [&str; 2] = ["dev_agent_executions", "qa_agent_executions"];

/// The longest value that is kept to be found by. A longer one is kept as an empty text, which may be any.
const MAX_VALUE: usize = 200;

/// The facts about an issue, except whether it is held back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Facts<'i> {
    status: Cow<'i, str>,
    priority: i64,
    kind: Cow<'i, str>,
    assignee: Cow<'i, str>,
    flags: i64,
    created: i64,
    updated: i64,
    touched: i64,
    closed: Option<i64>,
    deferred: Option<i64>,
    name: Cow<'i, str>,
}

impl<'i> Facts<'i> {
    pub(super) fn of(issue: &'i Issue) -> Self {
        let micros = |moment: Moment| moment.of(issue).map(jiff::Timestamp::as_microsecond);
        let set = Flag::ALL.into_iter().filter(|flag| issue.flag(flag.key()));
        let deferred = micros(Moment::Deferred);
        Self {
            status: issue.status().into(),
            priority: issue.priority(),
            kind: issue.issue_type().into(),
            assignee: issue.assignee().unwrap_or_default().into(),
            flags: set.map(bit).sum::<i64>() + if deferred.is_some() { PUT_OFF } else { 0 },
            created: micros(Moment::Created).unwrap_or(0),
            updated: micros(Moment::Updated).unwrap_or(0),
            touched: micros(Moment::Touched).unwrap_or(0),
            closed: micros(Moment::Closed),
            deferred,
            name: format!("{}\n{}", issue.id(), issue.title())
                .to_lowercase()
                .into(),
        }
    }
}

/// The bit of what was put off until some moment, which may be over.
pub(super) const PUT_OFF: i64 = 16;

pub(super) fn bit(flag: Flag) -> i64 {
    match flag {
        Flag::Template => 1,
        Flag::Ephemeral => 2,
        Flag::NoHistory => 4,
        Flag::Pinned => 8,
    }
}

/// The metadata that an issue is found by.
pub(super) fn fields(issue: &Issue) -> BTreeMap<&'static str, Cow<'_, str>> {
    let Some(metadata) = issue.metadata() else {
        return BTreeMap::new();
    };
    let valued = FOUND_BY.into_iter().filter_map(|key| {
        let value = metadata_text(metadata.get(key)?);
        Some((key, Some(value).filter(|it| it.len() <= MAX_VALUE)))
    });
    let filled = FOUND_IF_FILLED.into_iter().filter_map(|key| {
        let list = metadata.get(key).and_then(Value::as_array)?;
        (!list.is_empty()).then_some((key, None))
    });
    (valued.chain(filled))
        .map(|(key, value)| (key, value.unwrap_or_default()))
        .collect()
}

/// Makes the facts about an issue agree with its document.
pub(super) fn put(connection: &Connection, issue: &Issue, is_blocked: bool) -> Result<()> {
    let facts = Facts::of(issue);
    rows::run(
        connection,
        "INSERT INTO facts (id, status, priority, kind, assignee, flags, blocked, created, updated, touched, closed, deferred, name) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) \
         ON CONFLICT (id) DO UPDATE SET status = ?2, priority = ?3, kind = ?4, assignee = ?5, flags = ?6, blocked = ?7, \
         created = ?8, updated = ?9, touched = ?10, closed = ?11, deferred = ?12, name = ?13",
        params![
            issue.id().as_str(),
            facts.status,
            facts.priority,
            facts.kind,
            facts.assignee,
            facts.flags,
            i64::from(is_blocked),
            facts.created,
            facts.updated,
            facts.touched,
            facts.closed,
            facts.deferred,
            facts.name,
        ],
    )
}

/// Makes the metadata that an issue is found by agree with its document.
pub(super) fn put_fields(
    connection: &Connection,
    before: Option<&Issue>,
    after: &Issue,
) -> Result<()> {
    let now = fields(after);
    if before.map(fields).unwrap_or_default() == now {
        return Ok(());
    }
    let id = after.id().as_str();
    if before.is_some() {
        rows::run(connection, "DELETE FROM fields WHERE issue_id = ?1", [id])?;
    }
    let mut insert = connection
        .prepare_cached("INSERT INTO fields (key, value, issue_id) VALUES (?1, ?2, ?3)")?;
    for (key, value) in now {
        insert.execute(params![key, value, id])?;
    }
    Ok(())
}

/// Changes nothing but whether an issue is held back.
pub(super) fn put_blocked(connection: &Connection, id: &BeadId, is_blocked: bool) -> Result<()> {
    let sql = "UPDATE facts SET blocked = ?2 WHERE id = ?1";
    rows::run(connection, sql, params![id.as_str(), i64::from(is_blocked)])
}

/// Whether what is derived from an issue is what the file has.
pub(super) fn are_right(connection: &Connection, issue: &Issue, is_blocked: bool) -> Result<bool> {
    let id = issue.id().as_str();
    let mut statement = connection.prepare_cached(
        "SELECT status, priority, kind, assignee, flags, created, updated, touched, closed, deferred, name, blocked \
         FROM facts WHERE id = ?1",
    )?;
    let text = |row: &rusqlite::Row<'_>, at| row.get::<_, String>(at).map(Cow::from);
    let stored = statement.query_row([id], |row| {
        let facts = Facts {
            status: text(row, 0)?,
            priority: row.get(1)?,
            kind: text(row, 2)?,
            assignee: text(row, 3)?,
            flags: row.get(4)?,
            created: row.get(5)?,
            updated: row.get(6)?,
            touched: row.get(7)?,
            closed: row.get(8)?,
            deferred: row.get(9)?,
            name: text(row, 10)?,
        };
        Ok((facts, row.get::<_, i64>(11)?))
    });
    let expected = (Facts::of(issue), i64::from(is_blocked));
    if stored.optional()? != Some(expected) {
        return Ok(false);
    }
    let mut statement =
        connection.prepare_cached("SELECT key, value FROM fields WHERE issue_id = ?1")?;
    let stored: BTreeMap<String, String> = statement
        .query_map([id], |row| row.try_into())?
        .collect::<Result<_, _>>()?;
    let expected = fields(issue).into_iter();
    Ok(stored
        == expected
            .map(|(key, value)| (key.to_owned(), value.into_owned()))
            .collect())
}

/// How many rows belong to no issue, and whether the counts are those of the facts.
pub(super) fn left_over(connection: &Connection) -> Result<Vec<&'static str>> {
    const QUESTIONS: [(&str, &str); 3] = [
        (
            "SELECT 1 FROM facts WHERE id NOT IN (SELECT id FROM issues)",
            "there are facts about a missing issue",
        ),
        (
            "SELECT 1 FROM fields WHERE issue_id NOT IN (SELECT id FROM issues)",
            "there is metadata of a missing issue",
        ),
        (
            "WITH counted AS (SELECT status, priority, kind, assignee, flags, blocked, count(*) FROM facts NOT INDEXED GROUP BY 1, 2, 3, 4, 5, 6) \
             SELECT 1 FROM (SELECT * FROM counted EXCEPT SELECT * FROM tallies) \
             UNION ALL SELECT 1 FROM (SELECT * FROM tallies EXCEPT SELECT * FROM counted)",
            "the counts of issues are not those of the issues",
        ),
    ];
    let mut found = Vec::new();
    for (sql, finding) in QUESTIONS {
        if connection.prepare(sql)?.exists([])? {
            found.push(finding);
        }
    }
    Ok(found)
}

/// Derives the facts about all issues of an older file. An issue that is damaged gets none: it stays where `doctor` finds it.
pub(super) fn derive_all(transaction: &Transaction<'_>) -> Result<()> {
    let mut statement = transaction.prepare(
        "SELECT id, document, version, fence, n_comments, blocked, seal FROM issues ORDER BY rowid",
    )?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        if let Ok(record) = rows::unclaimed_record(row) {
            put(transaction, &record.issue, record.is_blocked)?;
            put_fields(transaction, None, &record.issue)?;
        }
    }
    Ok(())
}
