//! What people ask of the runs on a store: to stop, to pause (Z-15).
//!
//! Each is a control row that every run polls. A row stays when it was heeded: a run heeds a stop whose version is above the one that
//! it saw when it began ([`Orders::stop_version`]), so that two runs both stop and the next one is not stopped by an order of the
//! past. A pause holds for every run until it is taken back.

use beads_ralph_core::bead;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::store::{Control, Stamp, Store, StoreError};

pub const STOP: &str = "run/stop";

pub const PAUSE: &str = "run/pause";

const PREFIX: &str = "run/";

/// How often a row is looked at anew because somebody else has set it meanwhile.
const TRIES: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Order {
    pub at: Timestamp,
    pub by: String,
    pub now: bool,
    /// The version of the row; it rises with every order.
    #[serde(skip)]
    pub version: u64,
}

/// An order as its row holds it.
#[derive(Serialize)]
struct Request<'a> {
    at: bead::Timestamp,
    by: &'a str,
    now: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Orders {
    /// The last order to stop, heeded or not.
    pub stop: Option<Order>,
    pub pause: Option<Order>,
}

impl Orders {
    pub fn stop_version(&self) -> u64 {
        self.stop.as_ref().map_or(0, |order| order.version)
    }

    /// The order to stop that a run must heed which saw this version when it began.
    pub fn stop_since(&self, seen: u64) -> Option<&Order> {
        self.stop.as_ref().filter(|order| order.version > seen)
    }
}

/// Reads what is asked for. A row that cannot be understood is an order all the same: somebody wanted it.
pub fn read(store: &dyn Store) -> Result<Orders, StoreError> {
    let mut orders = Orders::default();
    for row in store.controls(PREFIX)? {
        match row.key.as_str() {
            STOP => orders.stop = Some(order(&row)),
            PAUSE => orders.pause = Some(order(&row)),
            _ => {}
        }
    }
    Ok(orders)
}

fn order(row: &Control) -> Order {
    let at = row.value["at"].as_str();
    let at = at.and_then(|at| bead::Timestamp::parse(at).ok());
    Order {
        at: at.map_or(row.at, |at| at.instant()),
        by: row.value["by"].as_str().unwrap_or(&row.actor).to_owned(),
        now: row.value["now"] == true,
        version: row.version,
    }
}

/// Asks every run to stop; with `now` also the agents that run.
pub fn stop(store: &mut dyn Store, now: bool, by: Stamp<'_>) -> Result<Order, StoreError> {
    set(store, STOP, now, by)
}

pub fn pause(store: &mut dyn Store, by: Stamp<'_>) -> Result<Order, StoreError> {
    set(store, PAUSE, false, by)
}

/// Takes a pause back; whether there was one.
pub fn resume(store: &mut dyn Store, by: Stamp<'_>) -> Result<bool, StoreError> {
    let is_set = |orders: &Orders| orders.pause.as_ref().map(|order| order.version);
    let mut tries = TRIES;
    loop {
        let Some(seen) = is_set(&read(store)?) else {
            return Ok(false);
        };
        tries -= 1;
        match store.set_control(PAUSE, &Value::Null, seen, by) {
            Ok(_) => return Ok(true),
            Err(StoreError::Guard { .. }) if tries > 0 => {}
            Err(error) => return Err(error),
        }
    }
}

fn set(store: &mut dyn Store, key: &str, now: bool, by: Stamp<'_>) -> Result<Order, StoreError> {
    let value = Request {
        at: by.time(),
        by: by.actor,
        now,
    };
    let value = serde_json::to_value(value).expect("an order can be written");
    let mut tries = TRIES;
    loop {
        let rows = store.controls(key)?;
        let seen = rows.iter().find(|row| row.key == key);
        tries -= 1;
        match store.set_control(key, &value, seen.map_or(0, |row| row.version), by) {
            Ok(version) => {
                return Ok(Order {
                    at: by.at,
                    by: by.actor.to_owned(),
                    now,
                    version,
                });
            }
            Err(StoreError::Guard { .. }) if tries > 0 => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::store::MemoryStore;

    fn by(actor: &str) -> Stamp<'_> {
        let at = Timestamp::UNIX_EPOCH;
        Stamp { actor, at }
    }

    #[test]
    fn z_15_a_stop_is_for_those_that_run_and_not_for_the_next() {
        let mut store = MemoryStore::new();
        let before = read(&store).unwrap();
        assert_eq!((before.stop_version(), &before.stop), (0, &None));
        let asked = stop(&mut store, false, by("alice")).unwrap();
        let orders = read(&store).unwrap();
        assert_eq!(orders.stop_since(0), Some(&asked));
        assert_eq!((asked.by.as_str(), asked.now), ("alice", false));
        let seen = orders.stop_version();
        assert_eq!(read(&store).unwrap().stop_since(seen), None, "the next run");
        stop(&mut store, true, by("bob")).unwrap();
        let orders = read(&store).unwrap();
        assert!(orders.stop_since(seen).unwrap().now, "it can be urged");
        assert!(orders.stop_since(0).unwrap().now);
    }

    #[test]
    fn z_15_a_pause_holds_until_it_is_taken_back() {
        let mut store = MemoryStore::new();
        assert!(!resume(&mut store, by("a")).unwrap());
        pause(&mut store, by("a")).unwrap();
        pause(&mut store, by("b")).unwrap();
        let orders = read(&store).unwrap();
        assert_eq!(orders.pause.unwrap().by, "b");
        assert_eq!(orders.stop, None);
        assert!(resume(&mut store, by("c")).unwrap());
        assert_eq!(read(&store).unwrap(), Orders::default());
        pause(&mut store, by("d")).unwrap();
        assert!(read(&store).unwrap().pause.is_some());
    }

    #[test]
    fn z_15_a_row_that_cannot_be_understood_is_an_order_all_the_same() {
        let mut store = MemoryStore::new();
        store
            .set_control(STOP, &json!("please"), 0, by("x"))
            .unwrap();
        store
            .set_control("run/other", &json!(1), 0, by("x"))
            .unwrap();
        let order = read(&store).unwrap().stop.unwrap();
        assert_eq!((order.by.as_str(), order.now), ("x", false));
        assert_eq!(order.at, Timestamp::UNIX_EPOCH);
    }
}
