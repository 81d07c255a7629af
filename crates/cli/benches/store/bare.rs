//! The bare program: rusqlite, the same schema, the same rows, the same settings, and nothing else.

use std::process::ExitCode;
use std::time::Duration;

use camino::Utf8Path;
use rusqlite::types::Value;
use rusqlite::{Connection, Params, TransactionBehavior, params, params_from_iter};

use crate::timed;

const SETTINGS: &str = "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;";

const READY: &str = "SELECT i.id, i.document, i.version, i.fence, i.n_comments, i.blocked, i.seal, c.claim, c.seal \
    FROM facts f INDEXED BY facts_ready CROSS JOIN issues i ON i.id = f.id LEFT JOIN claims c ON c.issue_id = i.id \
    WHERE f.status = 'open' AND f.blocked = 0 \
    ORDER BY f.priority, f.created DESC, f.id LIMIT ?1";

const SHOW: &str = "SELECT i.id, i.document, i.version, i.fence, i.n_comments, i.blocked, i.seal, c.claim, c.seal \
    FROM issues i LEFT JOIN claims c ON c.issue_id = i.id WHERE i.id = ?1";

/// A process that opens the file, does one thing and ends.
pub(crate) fn main(arguments: &[String]) -> ExitCode {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let is_done = match arguments[..] {
        ["nothing"] => true,
        ["ready", path, limit] => ready(path, limit),
        ["show", path, id] => show(path, id),
        ["claim", path, id] => claim(path, id),
        _ => false,
    };
    if is_done {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn open(path: impl AsRef<std::path::Path>) -> Connection {
    let connection = Connection::open(path).expect("the file can be opened");
    connection
        .busy_timeout(Duration::from_secs(30))
        .expect("a timeout");
    connection.execute_batch(SETTINGS).expect("settings");
    connection
}

/// An issue with what depends on it.
fn show(path: &str, id: &str) -> bool {
    let connection = open(path);
    let is_there = print_from(&connection, SHOW, id);
    is_there
        && texts(
            &connection,
            "SELECT issue_id FROM edges WHERE target = ?1 ORDER BY issue_id",
            [id],
        )
        .len()
            < 1000
}

/// What is ready, with how many issues block on each.
fn ready(path: &str, limit: &str) -> bool {
    let connection = open(path);
    let mut statement = connection.prepare(READY).expect("a query");
    let mut count = connection
        .prepare("SELECT count(*) FROM edges WHERE target = ?1 AND kind = 'blocks'")
        .expect("a query");
    let mut rows = statement.query([limit]).expect("rows");
    let mut documents = Vec::new();
    while let Some(row) = rows.next().expect("a row") {
        let (id, document): (String, String) =
            (row.get(0).expect("an id"), row.get(1).expect("a document"));
        let n_dependents: i64 = count.query_row([id], |row| row.get(0)).expect("a number");
        documents.push(format!(
            "{{\"bead\":{document},\"dependent_count\":{n_dependents}}}"
        ));
    }
    println!("[{}]", documents.join(","));
    !documents.is_empty()
}

fn print_from(connection: &Connection, sql: &str, argument: &str) -> bool {
    let mut statement = connection.prepare(sql).expect("a query");
    let mut rows = statement.query([argument]).expect("rows");
    let mut documents = Vec::new();
    while let Some(row) = rows.next().expect("a row") {
        documents.push(row.get::<_, String>(1).expect("a document"));
    }
    println!("[{}]", documents.join(","));
    !documents.is_empty()
}

/// A claim as compare-and-set: the row, the holder and the event in one transaction.
fn claim(path: &str, id: &str) -> bool {
    let mut connection = open(path);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .expect("a turn");
    let document: Option<String> = transaction
        .query_row(
            "SELECT i.document FROM issues i JOIN facts f ON f.id = i.id WHERE i.id = ?1 AND f.status = 'open'",
            [id],
            |row| row.get(0),
        )
        .ok();
    let Some(document) = document else {
        return false;
    };
    let document = document.replace("\"status\":\"open\"", "\"status\":\"in_progress\"");
    transaction
        .execute(
            "UPDATE issues SET document = ?2, version = version + 1, fence = fence + 1 WHERE id = ?1",
            params![id, document],
        )
        .expect("an update");
    transaction
        .execute(
            "UPDATE facts SET status = 'in_progress' WHERE id = ?1",
            [id],
        )
        .expect("an update");
    transaction
        .execute(
            "INSERT INTO claims (issue_id, claim, seal) VALUES (?1, ?2, 0)",
            params![id, CLAIM],
        )
        .expect("a claim");
    transaction
        .execute(
            "INSERT INTO events (number, issue_id, version, at, actor, kind, before, after, seal) \
             SELECT max(number) + 1, ?1, 2, ?2, 'bare', 'claimed', ?3, ?4, 0 FROM events",
            params![id, "2026-11-15T00:00:00Z", BEFORE, AFTER],
        )
        .expect("an event");
    transaction.commit().expect("a commit");
    true
}

const CLAIM: &str = r#"{"fence":1,"holder":{"run":"bare","host":"localhost"},"claimed_at":"2026-11-15T00:00:00Z","lease_until":"2026-11-15T01:00:00Z"}"#;
const BEFORE: &str = r#"{"/status":"open","/updated_at":"2026-11-15T00:00:00Z"}"#;
const AFTER: &str = r#"{"/status":"in_progress","/updated_at":"2026-11-15T00:00:01Z","/started_at":"2026-11-15T00:00:01Z","/fence":1,"/claim":{"fence":1,"holder":{"run":"bare","host":"localhost"},"claimed_at":"2026-11-15T00:00:00Z","lease_until":"2026-11-15T01:00:00Z"}}"#;

/// Writes the rows of a store into a new file with the same schema, in one transaction; the time of that.
pub(crate) fn copy(from: &Utf8Path, to: &Utf8Path) -> Duration {
    let old = open(from.as_std_path());
    let schema = texts(
        &old,
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'",
        [],
    );
    // The tallies follow the facts by themselves.
    let tables = [
        "issues", "facts", "fields", "labels", "edges", "comments", "claims", "events",
    ];
    let rows: Vec<(&str, Vec<Vec<Value>>)> = tables
        .iter()
        .map(|table| (*table, rows_of(&old, table)))
        .collect();
    let mut new = open(to.as_std_path());
    new.pragma_update(None, "journal_mode", "wal")
        .expect("a log");
    for sql in schema {
        new.execute_batch(&sql).expect("the same schema");
    }
    let ((), time) = timed(|| write(&mut new, rows));
    time
}

fn write(connection: &mut Connection, tables: Vec<(&str, Vec<Vec<Value>>)>) {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .expect("a turn");
    for (table, rows) in tables {
        let Some(n_columns) = rows.first().map(Vec::len) else {
            continue;
        };
        let marks = vec!["?"; n_columns].join(", ");
        let mut insert = transaction
            .prepare(&format!("INSERT INTO {table} VALUES ({marks})"))
            .expect("a statement");
        for row in rows {
            insert.execute(params_from_iter(row)).expect("a row");
        }
    }
    transaction.commit().expect("a commit");
}

fn texts(connection: &Connection, sql: &str, arguments: impl Params) -> Vec<String> {
    let mut statement = connection.prepare(sql).expect("a query");
    let rows = statement
        .query_map(arguments, |row| row.get(0))
        .expect("rows");
    rows.collect::<Result<_, _>>().expect("texts")
}

fn rows_of(connection: &Connection, table: &str) -> Vec<Vec<Value>> {
    let mut statement = connection
        .prepare(&format!("SELECT * FROM {table}"))
        .expect("a query");
    let n_columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        (0..n_columns).map(|index| row.get(index)).collect()
    });
    rows.expect("rows")
        .collect::<Result<_, _>>()
        .expect("values")
}
