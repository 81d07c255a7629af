//! From a query to candidates: SQL narrows down by index, `core` decides.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Issue, Order, Query, Record, StatusFilter, is_ready};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::failure::Failed;
use super::rows;

/// The records that a query selects.
pub(super) fn find(connection: &Connection, query: &Query) -> Result<Vec<Record>, Failed> {
    let limit = query.limit.unwrap_or(usize::MAX);
    let (sql, values) = candidates(query);
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut found = Vec::new();
    while found.len() < limit {
        let Some(row) = rows.next()? else {
            break;
        };
        let record = rows::record(row)?;
        if query.matches(&record) && is_wanted_now(connection, query, &record)? {
            found.push(record);
        }
    }
    Ok(found)
}

fn is_wanted_now(connection: &Connection, query: &Query, record: &Record) -> Result<bool, Failed> {
    match query.ready_at {
        None => Ok(true),
        Some(now) => {
            let is_deferred = is_parent_deferred(connection, &record.issue, now)?;
            Ok(is_ready(record, query, now, is_deferred))
        }
    }
}

fn is_parent_deferred(
    connection: &Connection,
    issue: &Issue,
    now: Timestamp,
) -> Result<bool, Failed> {
    for parent in issue.parents() {
        let record = rows::load(connection, parent)?;
        let until = record.and_then(|record| record.issue.time("defer_until"));
        if until.is_some_and(|until| until > now) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// How many words of one kind narrow a search; what more there are is left to `core`, since SQLite has limits.
const MAX_WORDS: usize = 100;

/// Conditions that are being collected.
#[derive(Default)]
struct Conditions {
    sql: Vec<String>,
    values: Vec<Value>,
}

impl Conditions {
    fn add(&mut self, sql: &str, values: impl IntoIterator<Item = String>) {
        self.sql.push(sql.to_owned());
        self.values.extend(values.into_iter().map(Value::Text));
    }

    /// `sql` with as many question marks in its `{}` as there are values.
    fn one_of(&mut self, sql: &str, values: &[String]) {
        if (1..=MAX_WORDS).contains(&values.len()) {
            let marks = vec!["?"; values.len()].join(", ");
            self.add(&sql.replace("{}", &marks), values.iter().cloned());
        }
    }

    /// That the text of the document has one of the words in quotation marks, which is seen faster than the document is read.
    fn mentions(&mut self, words: &[String]) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let are_plain = words.iter().all(|word| word.chars().all(is_plain));
        if are_plain && (1..=MAX_WORDS).contains(&words.len()) {
            let each = vec!["instr(i.document, ?) > 0"; words.len()].join(" OR ");
            let quoted = words.iter().map(|word| format!("\"{word}\""));
            self.add(&format!("({each})"), quoted);
        }
    }
}

fn candidates(query: &Query) -> (String, Vec<Value>) {
    let mut conditions = Conditions::default();
    if query.ready_at.is_some() {
        conditions.add("i.status = 'open' AND i.blocked = 0", []);
    }
    match &query.status {
        StatusFilter::Any => {}
        StatusFilter::Unfinished => {
            conditions.add("i.status <> 'closed' AND i.status <> 'pinned'", []);
        }
        StatusFilter::OneOf(statuses) => conditions.one_of("i.status IN ({})", statuses),
    }
    for label in query.labels_all.iter().take(MAX_WORDS) {
        conditions.add(
            "i.id IN (SELECT issue_id FROM labels WHERE label = ?)",
            [label.clone()],
        );
    }
    conditions.one_of(
        "i.id IN (SELECT issue_id FROM labels WHERE label IN ({}))",
        &query.labels_any,
    );
    if let Some(parent) = &query.parent {
        let below = format!("{parent}.");
        conditions.add(
            "(i.id IN (SELECT issue_id FROM edges WHERE target = ? AND kind = 'parent-child') OR (i.id >= ? AND i.id < ?))",
            [parent.to_string(), below.clone(), after_prefix(&below)],
        );
    }
    if let Some((_, plan)) = query.metadata.iter().find(|(key, _)| key == "plan_file") {
        conditions.add("i.plan = ?", [plan.clone()]);
    }
    let keys = query.metadata.iter().map(|(key, _)| key);
    for key in keys.chain(&query.metadata_keys).take(MAX_WORDS) {
        conditions.mentions(std::slice::from_ref(key));
    }
    // An issue that does not say what it is is a task.
    if !query.types.iter().any(|kind| kind == "task") {
        conditions.mentions(&query.types);
    }
    if let Some(is_blocked) = query.is_blocked {
        conditions.add(
            if is_blocked {
                "i.blocked = 1"
            } else {
                "i.blocked = 0"
            },
            [],
        );
    }
    let filter = if conditions.sql.is_empty() {
        String::new()
    } else {
        format!(" WHERE {}", conditions.sql.join(" AND "))
    };
    let order = match query.order {
        Order::Priority => "i.priority, i.created DESC, i.id",
        Order::PriorityOldest => "i.priority, i.created, i.id",
        Order::Oldest => "i.created, i.id",
        Order::Updated => "i.updated DESC, i.id",
        Order::Id => "i.id",
    };
    let select = if query.ready_at.is_some() {
        rows::READY_RECORD
    } else {
        rows::RECORD
    };
    (
        format!("{select}{filter} ORDER BY {order}"),
        conditions.values,
    )
}

/// Ids that start with a text.
pub(super) fn ids_with_prefix(
    connection: &Connection,
    prefix: &str,
    limit: usize,
) -> Result<Vec<BeadId>, Failed> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM issues WHERE id >= ?1 AND (?2 = '' OR id < ?2) ORDER BY id LIMIT ?3",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query((prefix, after_prefix(prefix), limit))?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        ids.extend(BeadId::parse(&row.get::<_, String>(0)?).ok());
    }
    Ok(ids)
}

pub(super) fn ids_ever_with_prefix(
    connection: &Connection,
    prefix: &str,
) -> Result<Vec<BeadId>, Failed> {
    // The history has every id that there ever was, and an index by it.
    let mut statement = connection.prepare_cached(
        "SELECT DISTINCT issue_id FROM events
         WHERE issue_id >= ?1 AND (?2 = '' OR issue_id < ?2) ORDER BY issue_id",
    )?;
    let mut rows = statement.query((prefix, after_prefix(prefix)))?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        ids.extend(BeadId::parse(&row.get::<_, String>(0)?).ok());
    }
    Ok(ids)
}

/// The least text that is greater than every text with a prefix; empty when there is none.
pub(super) fn after_prefix(prefix: &str) -> String {
    let mut characters: Vec<char> = prefix.chars().collect();
    while let Some(last) = characters.pop() {
        if let Some(next) = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32) {
            characters.push(next);
            return characters.into_iter().collect();
        }
    }
    String::new()
}
