//! Sprints that were removed from their plan.
//!
//! Applying a plan leaves the beads of removed sprints as they are (Z-10), so the beads cannot say it. A control row for each plan does:
//! it has the numbers of the sprints that are in the store and were not in the plan when it was last applied, by whichever process.
//! `run PLAN` reads it whenever it looks at the store, and begins none of them (Z-44).

use std::collections::BTreeSet;

use serde_json::Value;

use crate::store::{Control, Stamp, Store, StoreError};

/// What the rows begin with; the name of the plan follows.
const PREFIX: &str = "plan/removed/";

/// How often a row is looked at anew because somebody else has set it meanwhile.
const TRIES: usize = 100;

/// What applying a plan says about its sprints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// The whole plan was applied, and these are not in it any more.
    Whole(BTreeSet<String>),
    /// Only some sprints were applied; these are in the plan.
    Some(BTreeSet<String>),
}

/// The sprints that a plan no longer has, as its last application says.
pub fn read(store: &dyn Store, plan: &str) -> Result<BTreeSet<String>, StoreError> {
    Ok(sprints(row(store, plan)?.as_ref()))
}

/// Remembers what applying a plan says. Nothing is written where that is known already.
pub fn remember(
    store: &mut dyn Store,
    plan: &str,
    applied: &Applied,
    by: Stamp<'_>,
) -> Result<(), StoreError> {
    let mut tries = TRIES;
    loop {
        let row = row(store, plan)?;
        let before = sprints(row.as_ref());
        let after = match applied {
            Applied::Whole(removed) => removed.clone(),
            Applied::Some(there) => before.difference(there).cloned().collect(),
        };
        if after == before {
            return Ok(());
        }
        let value = if after.is_empty() {
            Value::Null
        } else {
            after.into_iter().map(Value::from).collect()
        };
        let seen = row.map_or(0, |row| row.version);
        tries -= 1;
        match store.set_control(&key(plan), &value, seen, by) {
            Ok(_) => return Ok(()),
            Err(StoreError::Guard { .. }) if tries > 0 => {}
            Err(error) => return Err(error),
        }
    }
}

fn key(plan: &str) -> String {
    format!("{PREFIX}{plan}")
}

/// The row of a plan. The names of other plans may begin with this one's.
fn row(store: &dyn Store, plan: &str) -> Result<Option<Control>, StoreError> {
    let key = key(plan);
    let rows = store.controls(&key)?;
    Ok(rows.into_iter().find(|row| row.key == key))
}

fn sprints(row: Option<&Control>) -> BTreeSet<String> {
    let sprints = row.and_then(|row| row.value.as_array());
    let texts = sprints.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::store::MemoryStore;

    const BY: Stamp<'static> = Stamp {
        actor: "ann",
        at: Timestamp::UNIX_EPOCH,
    };

    fn set(sprints: &[&str]) -> BTreeSet<String> {
        sprints.iter().map(|&sprint| sprint.to_owned()).collect()
    }

    #[test]
    fn z_44_the_last_application_of_a_plan_says_what_it_lacks() {
        let mut store = MemoryStore::new();
        let whole = |sprints: &[&str]| Applied::Whole(set(sprints));
        remember(&mut store, "plan.md", &whole(&["1.2", "1.3"]), BY).unwrap();
        remember(&mut store, "plan.md.old", &whole(&["9.1"]), BY).unwrap();
        assert_eq!(read(&store, "plan.md").unwrap(), set(&["1.2", "1.3"]));
        remember(&mut store, "plan.md", &whole(&["1.3"]), BY).unwrap();
        assert_eq!(read(&store, "plan.md").unwrap(), set(&["1.3"]));
        assert_eq!(read(&store, "plan.md.old").unwrap(), set(&["9.1"]));
    }

    #[test]
    fn z_44_applying_some_sprints_says_nothing_about_the_others() {
        let mut store = MemoryStore::new();
        let some = |sprints: &[&str]| Applied::Some(set(sprints));
        let both = Applied::Whole(set(&["1.2", "1.3"]));
        remember(&mut store, "p", &both, BY).unwrap();
        remember(&mut store, "p", &some(&["1.1", "1.3"]), BY).unwrap();
        assert_eq!(read(&store, "p").unwrap(), set(&["1.2"]));
        remember(&mut store, "p", &some(&["1.2"]), BY).unwrap();
        assert_eq!(read(&store, "p").unwrap(), set(&[]));
        assert_eq!(store.controls(PREFIX).unwrap(), [], "no row says nothing");
    }

    #[test]
    fn z_44_what_is_known_is_not_written_again() {
        let mut store = MemoryStore::new();
        let gone = Applied::Whole(set(&["1.2"]));
        for _ in 0..3 {
            remember(&mut store, "p", &gone, BY).unwrap();
            remember(&mut store, "q", &Applied::Whole(set(&[])), BY).unwrap();
        }
        let rows = store.controls(PREFIX).unwrap();
        let rows: Vec<_> = rows
            .iter()
            .map(|row| (row.key.as_str(), row.version))
            .collect();
        assert_eq!(rows, [("plan/removed/p", 1)]);
    }
}
