//! Reading and writing rows, with their seals.
//!
//! A seal is a hash beside every row, so that a row that is not what was written is never believed: SQLite notices a broken
//! structure but not a changed value. It is XXH3 over the values with their lengths; it guards against damage, not adversaries.

use beads_ralph_core::bead::{BeadId, Timestamp};
use beads_ralph_core::issue::{
    Claim, Comment, Condition, Event, EventKind, Facts, Fence, Issue, Query, Record,
};
use rusqlite::{Connection, Params, Row, params};
use serde::Serialize;
use serde_json::Value;
use twox_hash::XxHash3_64;

use super::batch::State;
use super::facts;
use super::failure::{Fault, Result};

/// The query that [`record`] reads, for a caller that adds conditions.
pub(super) const RECORD: &str = "SELECT i.id, i.document, i.version, i.fence, i.n_comments, i.blocked, i.seal, c.claim, c.seal \
    FROM issues i LEFT JOIN claims c ON c.issue_id = i.id";
const RECORD_BY_ID: &str = "SELECT i.id, i.document, i.version, i.fence, i.n_comments, i.blocked, i.seal, c.claim, c.seal \
    FROM issues i LEFT JOIN claims c ON c.issue_id = i.id WHERE i.id = ?1";

/// Runs a statement that answers nothing.
pub(super) fn run(connection: &Connection, sql: &str, values: impl Params) -> Result<()> {
    connection.prepare_cached(sql)?.execute(values)?;
    Ok(())
}

/// Reads every row of an answer.
pub(super) fn collect<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// The ids in the first column of an answer.
pub(super) fn ids(connection: &Connection, sql: &str, values: impl Params) -> Result<Vec<BeadId>> {
    let id = |row: &Row<'_>| Ok(BeadId::parse(&row.get::<_, String>(0)?).ok());
    Ok(collect(connection, sql, values, id)?
        .into_iter()
        .flatten()
        .collect())
}

/// Words that the text of a document must have for the issue to be wanted, which is seen faster than the document is read.
pub(super) struct Sought {
    /// As they stand in the document, in quotation marks.
    exact: Vec<String>,
    /// Whatever their case, in small letters.
    words: Vec<String>,
}

impl Sought {
    pub(super) fn new(query: &Query) -> Self {
        // Others may be escaped in the document.
        let is_plain = |word: &str| {
            word.chars()
                .all(|c| !c.is_control() && !matches!(c, '"' | '\\'))
        };
        let keys = query.metadata.iter().map(|(key, _)| key);
        let keys = keys.chain(&query.metadata_keys);
        let text = query.text.as_deref().unwrap_or_default().to_lowercase();
        let contained = query
            .conditions
            .iter()
            .filter_map(|condition| match condition {
                Condition::Contains(_, text) => Some(text.clone()),
                _ => None,
            });
        let words = text.split_whitespace().map(str::to_owned);
        Self {
            exact: (keys.filter(|key| is_plain(key)))
                .map(|key| format!("\"{key}\""))
                .collect(),
            words: (words.chain(contained))
                .filter(|word| is_plain(word))
                .collect(),
        }
    }

    fn may_be_in(&self, document: &str) -> bool {
        if !self.exact.iter().all(|word| document.contains(word)) {
            return false;
        }
        if self.words.is_empty() {
            return true;
        }
        let document = if document.is_ascii() {
            document.to_ascii_lowercase()
        } else {
            document.to_lowercase()
        };
        self.words.iter().all(|word| document.contains(word))
    }
}

/// The record of an id, unless its document lacks what is sought. The facts about a missing issue are damage.
pub(super) fn load_if(
    connection: &Connection,
    id: &BeadId,
    sought: &Sought,
) -> Result<Option<Record>> {
    let mut statement = connection.prepare_cached(RECORD_BY_ID)?;
    let mut rows = statement.query([id.as_str()])?;
    let row = rows.next()?;
    let row = row.ok_or_else(|| Fault::row("facts", id.as_str()))?;
    let document = row.get_ref(1)?.as_str().map_err(Fault::of_column)?;
    if !sought.may_be_in(document) {
        return Ok(None);
    }
    record_of(row, id).map(Some)
}

/// The record of an id; a damaged index can lead to another row than the one that was asked for.
fn record_of(row: &Row<'_>, id: &BeadId) -> Result<Record> {
    let record = record(row)?;
    if record.issue.id() == id {
        Ok(record)
    } else {
        Err(Fault::row("issues", id.as_str()))
    }
}

/// Reads a record and compares it with its seals.
pub(super) fn record(row: &Row<'_>) -> Result<Record> {
    let record = unclaimed_record(row)?;
    let claim = claim(row, record.issue.id().as_str())?;
    Ok(Record { claim, ..record })
}

/// The same, without looking at who holds it.
pub(super) fn unclaimed_record(row: &Row<'_>) -> Result<Record> {
    let id: &str = row.get_ref(0)?.as_str().map_err(Fault::of_column)?;
    let document = row.get_ref(1)?.as_str().map_err(Fault::of_column)?;
    let (version, fence, n_comments): (i64, i64, i64) = (row.get(2)?, row.get(3)?, row.get(4)?);
    let blocked: i64 = row.get(5)?;
    let sealed: i64 = row.get(6)?;
    let expected = issue_seal(id, document, [version, fence, n_comments], blocked == 1);
    if sealed != expected || !(0..=1).contains(&blocked) {
        return Err(Fault::row("issues", id));
    }
    let parsed: Value = serde_json::from_str(document).map_err(|_| Fault::row("issues", id))?;
    let issue = Issue::without_comments(parsed).map_err(|_| Fault::row("issues", id))?;
    if issue.id().as_str() != id {
        return Err(Fault::row("issues", id));
    }
    Ok(Record {
        claim: None,
        issue,
        version: version.cast_unsigned(),
        fence: Fence(fence.cast_unsigned()),
        is_blocked: blocked == 1,
        n_comments: usize::try_from(n_comments).map_err(|_| Fault::row("issues", id))?,
    })
}

fn claim(row: &Row<'_>, id: &str) -> Result<Option<Claim>> {
    let Some(text) = row.get_ref(7)?.as_str_or_null().map_err(Fault::of_column)? else {
        return Ok(None);
    };
    if row.get::<_, i64>(8)? != claim_seal(id, text) {
        return Err(Fault::row("claims", id));
    }
    let claim = serde_json::from_str(text).map_err(|_| Fault::row("claims", id))?;
    Ok(Some(claim))
}

fn claim_seal(id: &str, claim: &str) -> i64 {
    seal("claims", &[Part::Text(id), Part::Text(claim)])
}

/// Whether a row of the claims is what was written.
pub(super) fn is_whole_claim(row: &Row<'_>) -> bool {
    let columns: Result<(String, String, i64), _> = row.try_into();
    columns.is_ok_and(|(id, claim, sealed)| sealed == claim_seal(&id, &claim))
}

fn issue_seal(id: &str, document: &str, numbers: [i64; 3], is_blocked: bool) -> i64 {
    let [version, fence, n_comments] = numbers.map(Part::Int);
    let parts = [
        Part::Text(id),
        Part::Text(document),
        version,
        fence,
        n_comments,
    ];
    let mark = if is_blocked { blocked_mark(id) } else { 0 };
    seal("issues", &parts) ^ mark
}

/// Whether there is a row for an id.
pub(super) fn exists(connection: &Connection, id: &BeadId) -> Result<bool> {
    let mut statement = connection.prepare_cached("SELECT 1 FROM issues WHERE id = ?1")?;
    Ok(statement.exists([id.as_str()])?)
}

pub(super) fn load(connection: &Connection, id: &BeadId) -> Result<Option<Record>> {
    let mut statement = connection.prepare_cached(RECORD_BY_ID)?;
    let mut rows = statement.query([id.as_str()])?;
    rows.next()?.map(|row| record_of(row, id)).transpose()
}

/// Writes an issue's row, and the facts about it.
pub(super) fn put_issue(connection: &Connection, record: &State<'_>) -> Result<()> {
    let issue = &*record.issue;
    let id = issue.id().as_str();
    let document = serde_json::to_string(issue.document()).map_err(|_| Fault::row("issues", id))?;
    let numbers = [
        record.version.cast_signed(),
        record.fence.0.cast_signed(),
        i64::try_from(record.n_comments).unwrap_or(i64::MAX),
    ];
    let mut statement = connection.prepare_cached(
        "INSERT INTO issues (id, document, version, fence, n_comments, blocked, seal) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
         ON CONFLICT (id) DO UPDATE SET document = ?2, version = ?3, fence = ?4, n_comments = ?5, blocked = ?6, seal = ?7",
    )?;
    statement.execute(params![
        id,
        document,
        numbers[0],
        numbers[1],
        numbers[2],
        i64::from(record.is_blocked),
        issue_seal(id, &document, numbers, record.is_blocked),
    ])?;
    facts::put(connection, issue, record.is_blocked)
}

/// Changes nothing of an issue but whether it is held back.
pub(super) fn put_blocked(connection: &Connection, id: &BeadId, is_blocked: bool) -> Result<()> {
    let mut read = connection.prepare_cached("SELECT seal FROM issues WHERE id = ?1")?;
    let sealed: i64 = read.query_row([id.as_str()], |row| row.get(0))?;
    let mut write =
        connection.prepare_cached("UPDATE issues SET blocked = ?2, seal = ?3 WHERE id = ?1")?;
    let sealed = sealed ^ blocked_mark(id.as_str());
    write.execute(params![id.as_str(), i64::from(is_blocked), sealed])?;
    facts::put_blocked(connection, id, is_blocked)
}

/// Makes the tables of labels, edges and metadata agree with a document.
pub(super) fn put_derived(
    connection: &Connection,
    before: Option<&Issue>,
    after: &Issue,
) -> Result<()> {
    let id = after.id().as_str();
    let labels_of = |issue: &Issue| issue.labels().map(str::to_owned).collect::<Vec<_>>();
    let labels = labels_of(after);
    if before.map(labels_of).unwrap_or_default() != labels {
        if before.is_some() {
            run(connection, "DELETE FROM labels WHERE issue_id = ?1", [id])?;
        }
        let mut insert = connection
            .prepare_cached("INSERT OR IGNORE INTO labels (issue_id, label) VALUES (?1, ?2)")?;
        for label in &labels {
            insert.execute([id, label])?;
        }
    }
    let edges = after.dependencies();
    if before.map(Issue::dependencies).unwrap_or_default() != edges {
        if before.is_some() {
            run(connection, "DELETE FROM edges WHERE issue_id = ?1", [id])?;
        }
        let mut insert = connection
            .prepare_cached("INSERT INTO edges (issue_id, target, kind) VALUES (?1, ?2, ?3)")?;
        for edge in edges {
            insert.execute([id, edge.target().as_str(), edge.kind()])?;
        }
    }
    facts::put_fields(connection, before, after)
}

/// Removes everything of an issue but its history.
pub(super) fn remove(connection: &Connection, id: &BeadId) -> Result<()> {
    for statement in [
        "DELETE FROM facts WHERE id = ?1",
        "DELETE FROM fields WHERE issue_id = ?1",
        "DELETE FROM labels WHERE issue_id = ?1",
        "DELETE FROM edges WHERE issue_id = ?1",
        "DELETE FROM comments WHERE issue_id = ?1",
        "DELETE FROM claims WHERE issue_id = ?1",
        "DELETE FROM issues WHERE id = ?1",
    ] {
        run(connection, statement, [id.as_str()])?;
    }
    Ok(())
}

/// The latest event of an issue that need not be there any more.
pub(super) fn last_of(connection: &Connection, id: &BeadId) -> Result<Option<Event>> {
    let sql = format!("{EVENT} WHERE issue_id = ?1 ORDER BY version DESC LIMIT 1");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([id.as_str()])?;
    rows.next()?.map(event).transpose()
}

/// Writes or removes the claim of an issue.
pub(super) fn put_claim(connection: &Connection, id: &BeadId, claim: Option<&Claim>) -> Result<()> {
    let id = id.as_str();
    let Some(claim) = claim else {
        return run(connection, "DELETE FROM claims WHERE issue_id = ?1", [id]);
    };
    let text = serde_json::to_string(claim).map_err(|_| Fault::row("claims", id))?;
    let sealed = claim_seal(id, &text);
    let sql = "INSERT OR REPLACE INTO claims (issue_id, claim, seal) VALUES (?1, ?2, ?3)";
    run(connection, sql, params![id, text, sealed])
}

pub(super) fn put_comment(
    connection: &Connection,
    id: &BeadId,
    number: usize,
    comment: &Comment,
) -> Result<()> {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    let text = comment.to_value().to_string();
    let sealed = seal(
        "comments",
        &[
            Part::Text(id.as_str()),
            Part::Int(number),
            Part::Text(&text),
        ],
    );
    let sql = "INSERT INTO comments (issue_id, number, record, seal) VALUES (?1, ?2, ?3, ?4)";
    run(connection, sql, params![id.as_str(), number, text, sealed])
}

/// The comments of an issue, oldest first. One that is missing is damage: the issue says how many there are.
pub(super) fn comments(
    connection: &Connection,
    id: &BeadId,
    expected: usize,
) -> Result<Vec<Comment>> {
    let sql = "SELECT number, record, seal FROM comments WHERE issue_id = ?1 ORDER BY number";
    let comments = collect(connection, sql, [id.as_str()], |row| {
        comment(row, id.as_str(), 0)
    })?;
    if comments.len() == expected {
        Ok(comments)
    } else {
        Err(Fault::row("comments", id.as_str()))
    }
}

/// Reads a comment from three columns that start at an index.
pub(super) fn comment(row: &Row<'_>, id: &str, first: usize) -> Result<Comment> {
    let number: i64 = row.get(first)?;
    let text = row.get_ref(first + 1)?.as_str().map_err(Fault::of_column)?;
    let sealed: i64 = row.get(first + 2)?;
    if sealed
        != seal(
            "comments",
            &[Part::Text(id), Part::Int(number), Part::Text(text)],
        )
    {
        return Err(Fault::row("comments", id));
    }
    let value = serde_json::from_str(text).map_err(|_| Fault::row("comments", id))?;
    Comment::from_value(value).map_err(|_| Fault::row("comments", id))
}

/// An event that has no number yet.
#[derive(Debug)]
pub(super) struct NewEvent {
    pub(super) issue: BeadId,
    pub(super) version: u64,
    pub(super) kind: EventKind,
    pub(super) before: String,
    pub(super) after: String,
}

/// A value as it is kept.
pub(super) fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|_| Fault::row("events", "that was to be written"))
}

pub(super) fn last_event(connection: &Connection) -> Result<i64> {
    let mut statement = connection.prepare_cached("SELECT max(number) FROM events")?;
    let last: Option<i64> = statement.query_row([], |row| row.get(0))?;
    Ok(last.unwrap_or(0))
}

/// Appends an event under a number.
pub(super) fn put_event(
    connection: &Connection,
    number: i64,
    event: &NewEvent,
    actor: &str,
    at: &Timestamp,
) -> Result<()> {
    let columns = EventColumns {
        number,
        issue: event.issue.as_str(),
        version: event.version.cast_signed(),
        at: at.as_str(),
        actor,
        kind: event.kind.as_str(),
        before: &event.before,
        after: &event.after,
    };
    run(
        connection,
        "INSERT INTO events (number, issue_id, version, at, actor, kind, before, after, seal) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            number,
            columns.issue,
            columns.version,
            columns.at,
            actor,
            columns.kind,
            columns.before,
            columns.after,
            columns.seal(),
        ],
    )
}

struct EventColumns<'a> {
    number: i64,
    issue: &'a str,
    version: i64,
    at: &'a str,
    actor: &'a str,
    kind: &'a str,
    before: &'a str,
    after: &'a str,
}

impl EventColumns<'_> {
    fn seal(&self) -> i64 {
        seal(
            "events",
            &[
                Part::Int(self.number),
                Part::Text(self.issue),
                Part::Int(self.version),
                Part::Text(self.at),
                Part::Text(self.actor),
                Part::Text(self.kind),
                Part::Text(self.before),
                Part::Text(self.after),
            ],
        )
    }
}

/// The columns that make an event, in the order in which [`event`] reads them.
pub(super) const EVENT: &str =
    "SELECT number, issue_id, version, at, actor, kind, before, after, seal FROM events";

/// Reads an event and compares it with its seal.
pub(super) fn event(row: &Row<'_>) -> Result<Event> {
    let number: i64 = row.get(0)?;
    let damaged = || Fault::row("events", &number.to_string());
    let text = |index: usize| row.get_ref(index)?.as_str().map_err(Fault::of_column);
    let columns = EventColumns {
        number,
        issue: text(1)?,
        version: row.get(2)?,
        at: text(3)?,
        actor: text(4)?,
        kind: text(5)?,
        before: text(6)?,
        after: text(7)?,
    };
    let sealed: i64 = row.get(8)?;
    if sealed != columns.seal() {
        return Err(damaged());
    }
    let facts = |text: &str| serde_json::from_str::<Facts>(text).map_err(|_| damaged());
    Ok(Event {
        number: number.cast_unsigned(),
        issue: BeadId::parse(columns.issue).map_err(|_| damaged())?,
        version: columns.version.cast_unsigned(),
        at: Timestamp::parse(columns.at).map_err(|_| damaged())?,
        actor: columns.actor.to_owned(),
        kind: EventKind::known(columns.kind).ok_or_else(damaged)?,
        before: facts(columns.before)?,
        after: facts(columns.after)?,
    })
}

/// The events of an issue, or all, oldest first, after a number.
pub(super) fn events(
    connection: &Connection,
    issue: Option<&BeadId>,
    after: u64,
    limit: usize,
) -> Result<Vec<Event>> {
    let (filter, order) = match issue {
        Some(_) => ("issue_id = ?3", "issue_id, version"),
        None => ("?3 IS NULL", "number"),
    };
    let sql = format!("{EVENT} WHERE number > ?1 AND {filter} ORDER BY {order} LIMIT ?2");
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let values = params![after, limit, issue.map(BeadId::as_str)];
    collect(connection, &sql, values, |row| {
        let event = event(row)?;
        if issue.is_some_and(|issue| event.issue != *issue) {
            return Err(Fault::row("events", &event.number.to_string()));
        }
        Ok(event)
    })
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Part<'a> {
    Text(&'a str),
    Int(i64),
}

/// The seal of a row of a table.
pub(super) fn seal(table: &str, parts: &[Part<'_>]) -> i64 {
    let mut bytes = Vec::new();
    let mut write = |part: &[u8]| {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    };
    write(table.as_bytes());
    for part in parts {
        match part {
            Part::Text(text) => write(text.as_bytes()),
            Part::Int(int) => write(&int.to_le_bytes()),
        }
    }
    XxHash3_64::oneshot(&bytes).cast_signed()
}

/// What is mixed into the seal of an issue that is held back, so that the flag can change without the document
/// being read.
pub(super) fn blocked_mark(id: &str) -> i64 {
    seal("blocked", &[Part::Text(id)])
}
