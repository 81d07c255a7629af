//! Which issues a query selects, and how many: the facts say where to look, `core` decides about what is read.
//!
//! Documents are read one by one as they are asked for, and none is read to count what the facts tell by themselves.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::ControlFlow;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Grouping, Order, Query, Record, is_ready};
use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection, Rows, params_from_iter};

use super::facts::PUT_OFF;
use super::failure::{Fault, Result};
use super::query::{Exceptions, Search};
use super::rows::{self, Sought};

/// From how many issues on a label is one that many have.
const MANY: i64 = 1000;

fn search(connection: &Connection, query: &Query) -> Search {
    Search::new(query, |label| {
        let sql = "SELECT count(*) FROM (SELECT 1 FROM labels WHERE label = ?1 LIMIT ?2)";
        let count = (connection.prepare_cached(sql))
            .and_then(|mut statement| statement.query_row((label, MANY), |row| row.get(0)));
        // Only the way to the answer depends on it.
        count.is_ok_and(|n: i64| n >= MANY)
    })
}

/// Shows the records that a query selects, in its order, until enough is seen.
pub(super) fn visit(
    connection: &Connection,
    query: &Query,
    see: &mut dyn FnMut(Record) -> ControlFlow<()>,
) -> Result<()> {
    let mut left = query.limit.unwrap_or(usize::MAX);
    if left == 0 {
        return Ok(());
    }
    let (sql, values) = search(connection, query).ids(query);
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query(params_from_iter(values))?;
    let mut ids = Ids::new(rows, query.order);
    let sought = Sought::new(query);
    let mut deferral = Deferral {
        connection,
        parents: HashMap::new(),
    };
    while let Some(id) = ids.next()? {
        let Some(record) = rows::load_if(connection, &id, &sought)? else {
            continue;
        };
        if query.matches(&record) && deferral.is_wanted_now(query, &record)? {
            left -= 1;
            if see(record).is_break() || left == 0 {
                break;
            }
        }
    }
    Ok(())
}

pub(super) fn count(connection: &Connection, query: &Query) -> Result<usize> {
    let limit = query.limit.unwrap_or(usize::MAX);
    let search = self::search(connection, query);
    if !search.is_exact {
        let mut n = 0;
        visit(connection, query, &mut |_| {
            n += 1;
            ControlFlow::Continue(())
        })?;
        return Ok(n);
    }
    Ok(exact_count(connection, &search)?.min(limit))
}

fn exact_count(connection: &Connection, search: &Search) -> Result<usize> {
    if !search.is_tallied() {
        let all = search.conditions();
        let sql = format!("SELECT count(*) FROM facts f WHERE {}", all.all());
        return number(connection, &sql, all.values);
    }
    let counted = search.counted();
    let conditions = counted.all();
    let Exceptions { unwanted, now } = search.exceptions();
    let put_off = now.map_or(String::new(), |_| format!(" AND flags & {PUT_OFF} = 0"));
    let sql = format!("SELECT coalesce(sum(n), 0) FROM tallies WHERE {conditions}{put_off}");
    let mut n = number(connection, &sql, counted.values.clone())?;
    if let Some(now) = now {
        // What was put off until a moment that is over.
        let sql = format!(
            "SELECT count(*) FROM facts f INDEXED BY facts_deferred WHERE deferred IS NOT NULL AND deferred <= ? AND {conditions}"
        );
        let values = std::iter::once(Value::from(now)).chain(counted.values.clone());
        n += number(connection, &sql, values.collect())?;
    }
    if let Some((sql, values)) = unwanted {
        n = n.saturating_sub(number(connection, &sql, values)?);
    }
    Ok(n)
}

fn number(connection: &Connection, sql: &str, values: Vec<Value>) -> Result<usize> {
    let mut statement = connection.prepare(sql)?;
    let n: i64 = statement.query_row(params_from_iter(values), |row| row.get(0))?;
    Ok(usize::try_from(n).unwrap_or_default())
}

/// How many issues a query selects in each group.
pub(super) fn count_by(
    connection: &Connection,
    query: &Query,
    grouping: Grouping,
) -> Result<BTreeMap<String, usize>> {
    let search = self::search(connection, query);
    let column = match grouping {
        Grouping::Status => Some("status"),
        Grouping::Priority => Some("priority"),
        Grouping::Type => Some("kind"),
        Grouping::Assignee => Some("assignee"),
        Grouping::Label => None,
    };
    match column {
        _ if !search.is_exact || query.limit.is_some() => {
            let mut counts = BTreeMap::new();
            visit(connection, query, &mut |record| {
                for group in grouping.groups(&record.issue) {
                    *counts.entry(group).or_default() += 1;
                }
                ControlFlow::Continue(())
            })?;
            Ok(counts)
        }
        Some(column) => {
            let Exceptions { unwanted, now } = search.exceptions();
            let is_tallied = search.is_tallied() && unwanted.is_none() && now.is_none();
            let (table, n, all) = if is_tallied {
                ("tallies", "sum(n)", search.counted().clone())
            } else {
                ("facts f", "count(*)", search.conditions())
            };
            let sql = format!(
                "SELECT CAST({column} AS TEXT), {n} FROM {table} WHERE {} GROUP BY 1",
                all.all()
            );
            groups(connection, &sql, all.values)
        }
        None => by_label(connection, &search),
    }
}

fn by_label(connection: &Connection, search: &Search) -> Result<BTreeMap<String, usize>> {
    let all = search.conditions();
    let n = exact_count(connection, search)?;
    let total = number(
        connection,
        "SELECT coalesce(sum(n), 0) FROM tallies",
        Vec::new(),
    )?;
    let conditions = all.all();
    let of = |sql: String| groups(connection, &sql, all.values.clone());
    let mut counts = if total <= n.saturating_mul(2) {
        // Most are meant: those that are not are fewer to look up.
        let mut counts = groups(
            connection,
            "SELECT label, count(*) FROM labels GROUP BY label",
            Vec::new(),
        )?;
        let others = of(format!(
            "SELECT label, count(*) FROM facts f CROSS JOIN labels ON issue_id = id WHERE NOT ({conditions}) GROUP BY label"
        ))?;
        for (label, n) in others {
            let own = counts.entry(label).or_default();
            *own = own.saturating_sub(n);
        }
        counts.retain(|_, n| *n > 0);
        counts
    } else {
        of(format!(
            "SELECT label, count(*) FROM facts f CROSS JOIN labels ON issue_id = id WHERE {conditions} GROUP BY label"
        ))?
    };
    let sql = format!(
        "SELECT count(*) FROM facts f WHERE {conditions} AND NOT EXISTS (SELECT 1 FROM labels WHERE issue_id = f.id)"
    );
    let n_without = number(connection, &sql, all.values.clone())?;
    if n_without > 0 {
        *counts.entry(String::new()).or_default() += n_without;
    }
    Ok(counts)
}

fn groups(
    connection: &Connection,
    sql: &str,
    values: Vec<Value>,
) -> Result<BTreeMap<String, usize>> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut counts = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let n: i64 = row.get(1)?;
        counts.insert(row.get(0)?, usize::try_from(n).unwrap_or_default());
    }
    Ok(counts)
}

/// The statuses of some issues, as the facts tell them.
pub(super) fn statuses(connection: &Connection, ids: &[BeadId]) -> Result<Vec<Option<String>>> {
    let mut statement = connection.prepare_cached("SELECT status FROM facts WHERE id = ?1")?;
    let mut status = |id: &BeadId| -> Result<Option<String>> {
        let mut rows = statement.query([id.as_str()])?;
        Ok(rows.next()?.map(|row| row.get(0)).transpose()?)
    };
    ids.iter().map(&mut status).collect()
}

/// Ids in the order of a query.
struct Ids<'r> {
    rows: Rows<'r>,
    order: Order,
    /// The row after those that were given.
    next: Option<Candidate>,
    /// What came within one second, by id.
    second: VecDeque<Candidate>,
    is_begun: bool,
}

struct Candidate {
    id: BeadId,
    priority: i64,
    created: i64,
}

impl Candidate {
    fn second(&self) -> (i64, i64) {
        (self.priority, self.created / 1_000_000)
    }
}

impl<'r> Ids<'r> {
    fn new(rows: Rows<'r>, order: Order) -> Self {
        Self {
            rows,
            order,
            next: None,
            second: VecDeque::new(),
            is_begun: false,
        }
    }

    fn row(&mut self) -> Result<Option<Candidate>> {
        let Some(row) = self.rows.next()? else {
            return Ok(None);
        };
        let id: String = row.get(0)?;
        Ok(Some(Candidate {
            id: BeadId::parse(&id).map_err(|_| Fault::row("facts", &id))?,
            priority: row.get(1)?,
            created: row.get(2)?,
        }))
    }

    fn next(&mut self) -> Result<Option<BeadId>> {
        if self.order != Order::PrioritySeconds {
            return Ok(self.row()?.map(|candidate| candidate.id));
        }
        if !self.is_begun {
            self.is_begun = true;
            self.next = self.row()?;
        }
        if self.second.is_empty() {
            self.take_second()?;
        }
        Ok(self.second.pop_front().map(|candidate| candidate.id))
    }

    /// Takes what comes next. The rows are in order to the microsecond; within a second the id decides, so that a second that is divided
    /// is read to its end. Where whole seconds are kept, as nearly always, the rows are in order as they are.
    fn take_second(&mut self) -> Result<()> {
        let Some(first) = self.next.take() else {
            return Ok(());
        };
        self.next = self.row()?;
        let is_whole = first.created >= 0 && first.created % 1_000_000 == 0;
        let second = first.second();
        self.second.push_back(first);
        if is_whole {
            return Ok(());
        }
        while let Some(next) = self.next.take_if(|next| next.second() == second) {
            self.second.push_back(next);
            self.next = self.row()?;
        }
        let by_id = |a: &Candidate, b: &Candidate| a.id.cmp(&b.id);
        self.second.make_contiguous().sort_by(by_id);
        Ok(())
    }
}

/// Whether what something is a part of is put off; each parent is read once.
struct Deferral<'c> {
    connection: &'c Connection,
    parents: HashMap<BeadId, Option<Timestamp>>,
}

impl Deferral<'_> {
    fn is_wanted_now(&mut self, query: &Query, record: &Record) -> Result<bool> {
        let Some(now) = query.ready_at else {
            return Ok(true);
        };
        let mut is_deferred = false;
        for parent in record.issue.parents() {
            is_deferred |= self.until(parent)?.is_some_and(|until| until > now);
        }
        Ok(is_ready(record, query, now, is_deferred))
    }

    fn until(&mut self, parent: &BeadId) -> Result<Option<Timestamp>> {
        if let Some(until) = self.parents.get(parent) {
            return Ok(*until);
        }
        let record = rows::load(self.connection, parent)?;
        let until = record.and_then(|record| record.issue.time("defer_until"));
        self.parents.insert(parent.clone(), until);
        Ok(until)
    }
}

/// Ids that start with a text.
pub(super) fn ids_with_prefix(
    connection: &Connection,
    prefix: &str,
    limit: usize,
) -> Result<Vec<BeadId>> {
    let sql = "SELECT id FROM issues WHERE id >= ?1 AND (?2 = '' OR id < ?2) ORDER BY id LIMIT ?3";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    rows::ids(connection, sql, (prefix, after_prefix(prefix), limit))
}

pub(super) fn ids_ever_with_prefix(connection: &Connection, prefix: &str) -> Result<Vec<BeadId>> {
    // The history has every id that there ever was, and an index by it.
    let sql = "SELECT DISTINCT issue_id FROM events \
               WHERE issue_id >= ?1 AND (?2 = '' OR issue_id < ?2) ORDER BY issue_id";
    rows::ids(connection, sql, (prefix, after_prefix(prefix)))
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
