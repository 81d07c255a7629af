//! Leases and control rows: what orchestrators share besides beads (Z-14, Z-15).

use std::collections::HashMap;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Fence, Holder};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::Value;

use super::failure::{Fault, Result};
use super::find::after_prefix;
use super::rows::{self, Part, seal};
use crate::store::{Control, Lease, Stamp, rules};

/// A name's row: the fence stays when the lease is over, so that it never falls.
struct LeaseRow {
    fence: Fence,
    lease: Option<Lease>,
}

fn lease_row(row: &Row<'_>) -> Result<LeaseRow> {
    let name: String = row.get(0)?;
    let (fence, until, sealed): (i64, i64, i64) = (row.get(1)?, row.get(3)?, row.get(4)?);
    let holder: Option<String> = row.get(2)?;
    if sealed != lease_seal(&name, fence, holder.as_deref(), until) {
        return Err(Fault::row("leases", &name));
    }
    let damaged = || Fault::row("leases", &name);
    let fence = Fence(fence.cast_unsigned());
    let lease = match holder {
        None => None,
        Some(text) => Some(Lease {
            name: name.clone(),
            fence,
            holder: serde_json::from_str(&text).map_err(|_| damaged())?,
            until: Timestamp::from_microsecond(until).map_err(|_| damaged())?,
        }),
    };
    Ok(LeaseRow { fence, lease })
}

/// Whether a row of the leases is what was written.
pub(super) fn is_whole_lease(row: &Row<'_>) -> bool {
    lease_row(row).is_ok()
}

/// Whether a control row is what was written.
pub(super) fn is_whole_control(row: &Row<'_>) -> bool {
    control(row).is_ok()
}

fn lease_seal(name: &str, fence: i64, holder: Option<&str>, until: i64) -> i64 {
    let holder = holder.unwrap_or_default();
    seal(
        "leases",
        &[
            Part::Text(name),
            Part::Int(fence),
            Part::Text(holder),
            Part::Int(until),
        ],
    )
}

fn load(connection: &Connection, name: &str) -> Result<Option<LeaseRow>> {
    let mut statement = connection
        .prepare_cached("SELECT name, fence, holder, until, seal FROM leases WHERE name = ?1")?;
    let mut rows = statement.query([name])?;
    rows.next()?.map(lease_row).transpose()
}

fn put(connection: &Connection, name: &str, fence: Fence, lease: Option<&Lease>) -> Result<()> {
    let holder = match lease {
        Some(lease) => {
            Some(serde_json::to_string(&lease.holder).map_err(|_| Fault::row("leases", name))?)
        }
        None => None,
    };
    let until = lease.map_or(0, |lease| lease.until.as_microsecond());
    let fence = fence.0.cast_signed();
    let sealed = lease_seal(name, fence, holder.as_deref(), until);
    let sql = "INSERT OR REPLACE INTO leases (name, fence, holder, until, seal) VALUES (?1, ?2, ?3, ?4, ?5)";
    rows::run(connection, sql, params![name, fence, holder, until, sealed])
}

/// The row keeps microseconds, and what is answered is what is kept.
fn kept(until: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(until.as_microsecond()).unwrap_or(until)
}

pub(super) fn acquire(
    connection: &Connection,
    names: &[&str],
    holder: &Holder,
    until: Timestamp,
    now: Timestamp,
) -> Result<Option<Lease>> {
    for name in names {
        let row = load(connection, name)?;
        let taken = row.as_ref().and_then(|row| row.lease.as_ref());
        if taken.is_some_and(|lease| lease.until >= now) {
            continue;
        }
        let last = row.map_or(Fence::default(), |row| row.fence);
        let lease = Lease {
            name: (*name).to_owned(),
            fence: last.next().expect(rules::COUNTED),
            holder: holder.clone(),
            until: kept(until),
        };
        put(connection, name, lease.fence, Some(&lease))?;
        return Ok(Some(lease));
    }
    Ok(None)
}

pub(super) fn renew(
    connection: &Connection,
    name: &str,
    fence: Fence,
    until: Timestamp,
) -> Result<Lease> {
    let lease = load(connection, name)?.and_then(|row| row.lease);
    let Some(mut lease) = lease.filter(|lease| lease.fence == fence) else {
        return Err(rules::lease_lost(name, fence).into());
    };
    lease.until = lease.until.max(kept(until));
    put(connection, name, fence, Some(&lease))?;
    Ok(lease)
}

pub(super) fn give_back(connection: &Connection, name: &str, fence: Fence) -> Result<()> {
    let lease = load(connection, name)?.and_then(|row| row.lease);
    if lease.is_some_and(|lease| lease.fence == fence) {
        put(connection, name, fence, None)?;
    }
    Ok(())
}

pub(super) fn leases(connection: &Connection, prefix: &str, now: Timestamp) -> Result<Vec<Lease>> {
    let sql = "SELECT name, fence, holder, until, seal FROM leases WHERE name >= ?1 AND (?2 = '' OR name < ?2) ORDER BY name";
    let found = rows::collect(connection, sql, [prefix, &after_prefix(prefix)], lease_row)?;
    let leases = found.into_iter().filter_map(|row| row.lease);
    Ok(leases.filter(|lease| lease.until >= now).collect())
}

fn control(row: &Row<'_>) -> Result<Control> {
    let (key, text): (String, String) = (row.get(0)?, row.get(1)?);
    let (version, sealed): (i64, i64) = (row.get(2)?, row.get(5)?);
    let (actor, at): (String, i64) = (row.get(3)?, row.get(4)?);
    if sealed != control_seal(&key, &text, version, &actor, at) {
        return Err(Fault::row("controls", &key));
    }
    let value = serde_json::from_str(&text).map_err(|_| Fault::row("controls", &key))?;
    Ok(Control {
        key,
        value,
        version: version.cast_unsigned(),
        actor,
        at: Timestamp::from_microsecond(at).unwrap_or_default(),
    })
}

fn control_seal(key: &str, value: &str, version: i64, actor: &str, at: i64) -> i64 {
    seal(
        "controls",
        &[
            Part::Text(key),
            Part::Text(value),
            Part::Int(version),
            Part::Text(actor),
            Part::Int(at),
        ],
    )
}

pub(super) fn controls(connection: &Connection, prefix: &str) -> Result<Vec<Control>> {
    let sql = "SELECT key, value, version, actor, at, seal FROM controls WHERE key >= ?1 AND (?2 = '' OR key < ?2) ORDER BY key";
    let mut found = rows::collect(connection, sql, [prefix, &after_prefix(prefix)], control)?;
    // A row that was removed keeps its version, so that it never falls.
    found.retain(|control| !control.value.is_null());
    Ok(found)
}

pub(super) fn set_control(
    connection: &Connection,
    key: &str,
    value: &Value,
    seen: u64,
    by: Stamp<'_>,
) -> Result<u64> {
    let mut statement = connection.prepare_cached(
        "SELECT key, value, version, actor, at, seal FROM controls WHERE key = ?1",
    )?;
    let row = statement
        .query_row([key], |row| Ok(control(row)))
        .optional()?
        .transpose()?;
    let last = row.as_ref().map_or(0, |row| row.version);
    let version = row
        .filter(|row| !row.value.is_null())
        .map_or(0, |row| row.version);
    if version != seen {
        return Err(rules::control_changed(key, seen, version).into());
    }
    let next = last + 1;
    let text = value.to_string();
    let (version, at) = (next.cast_signed(), by.at.as_microsecond());
    let sealed = control_seal(key, &text, version, by.actor, at);
    let sql = "INSERT OR REPLACE INTO controls (key, value, version, actor, at, seal) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    rows::run(
        connection,
        sql,
        params![key, text, version, by.actor, at, sealed],
    )?;
    Ok(next)
}

/// The control row that remembers the fence of a bead that was lost, so that one with its id goes on from there.
fn floor_key(id: &BeadId) -> String {
    format!("{FLOORS}{id}")
}

const FLOORS: &str = "fence/";

/// Remembers the fence of a lost bead.
pub(super) fn put_floor(
    connection: &Connection,
    id: &BeadId,
    fence: Fence,
    by: Stamp<'_>,
) -> Result<()> {
    if fence == Fence::default() {
        return Ok(());
    }
    let key = floor_key(id);
    let seen = controls(connection, &key)?
        .into_iter()
        .find(|row| row.key == key);
    let seen = seen.map_or(0, |row| row.version);
    set_control(connection, &key, &fence.0.into(), seen, by)?;
    Ok(())
}

/// The fences that lost beads had; mostly none.
pub(super) fn floors(connection: &Connection) -> Result<HashMap<String, Fence>> {
    let rows = controls(connection, FLOORS)?.into_iter();
    let floor = |row: Control| {
        let id = row.key.strip_prefix(FLOORS)?.to_owned();
        Some((id, Fence(row.value.as_u64()?)))
    };
    Ok(rows.filter_map(floor).collect())
}
