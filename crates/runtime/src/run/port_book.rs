//! Ports that belong to one worktree for a while, so that the servers of two beads do not meet (Z-14).
//!
//! They are leases in the store, which all runs on it share. Agents, setup and checks of the bead see them as `PORT` (the first) and
//! `BEADS_RALPH_PORT_1`, `BEADS_RALPH_PORT_2` and so on. Whether a program that is not ours listens there is not looked at.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::Trouble;
use beads_ralph_core::issue::{Fence, Holder};
use jiff::Timestamp;

use crate::store::{Stamp, Store};

/// The beginning of the names under which ports are taken.
pub(super) const PORT: &str = "port/";

#[derive(Debug)]
pub struct PortBook {
    count: usize,
    range: RangeInclusive<u16>,
    held: Mutex<BTreeMap<BeadId, Vec<(u16, Fence)>>>,
}

impl Default for PortBook {
    fn default() -> Self {
        Self::new(0, 0..=0)
    }
}

impl PortBook {
    pub fn new(count: u16, range: RangeInclusive<u16>) -> Self {
        Self {
            count: count.into(),
            range,
            held: Mutex::default(),
        }
    }

    fn held(&self) -> std::sync::MutexGuard<'_, BTreeMap<BeadId, Vec<(u16, Fence)>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the ports of a bead, as far as it has not got them.
    pub(super) fn take(
        &self,
        store: &mut dyn Store,
        bead: &BeadId,
        holder: &Holder,
        until: Timestamp,
        by: Stamp<'_>,
    ) -> Result<(), Trouble> {
        let mut held = self.held();
        let ports = held.entry(bead.clone()).or_default();
        while ports.len() < self.count {
            let names: Vec<String> = self.range.clone().map(|n| format!("{PORT}{n}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let lease = store.acquire(&names, holder, until, by)?;
            let number = lease
                .as_ref()
                .and_then(|it| it.name.strip_prefix(PORT)?.parse().ok());
            let (Some(lease), Some(number)) = (lease, number) else {
                return Err(Trouble::occupied(format!(
                    "all ports from {} to {} are taken",
                    self.range.start(),
                    self.range.end()
                )));
            };
            ports.push((number, lease.fence));
        }
        Ok(())
    }

    /// Keeps the ports of all beads.
    pub(super) fn renew(&self, store: &mut dyn Store, until: Timestamp) {
        for (number, fence) in self.held().values().flatten() {
            drop(store.renew(&format!("{PORT}{number}"), *fence, until));
        }
    }

    /// Gives the ports of a bead back. What cannot be given back now is free when its lease is over.
    pub(super) fn free(&self, store: &mut dyn Store, bead: &BeadId) {
        for (number, fence) in self.held().remove(bead).unwrap_or_default() {
            drop(store.give_back(&format!("{PORT}{number}"), fence));
        }
    }

    /// What units of a bead find in their environment.
    pub fn variables(&self, bead: &BeadId) -> BTreeMap<String, String> {
        let held = self.held();
        let ports = held.get(bead).map(Vec::as_slice).unwrap_or_default();
        let numbered = (1..)
            .zip(ports)
            .map(|(n, (port, _))| (format!("BEADS_RALPH_PORT_{n}"), port.to_string()));
        let first = ports
            .first()
            .map(|(port, _)| ("PORT".to_owned(), port.to_string()));
        numbered.chain(first).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;

    #[test]
    fn z_14_no_two_beads_have_one_port_also_of_two_runs() {
        let mut store = MemoryStore::new();
        let at = Timestamp::UNIX_EPOCH;
        let until = Timestamp::from_second(600).unwrap();
        let by = Stamp { actor: "a", at };
        let holder = |run: &str| Holder {
            run: run.to_owned(),
            host: "h".to_owned(),
            process: None,
        };
        let id = |name: &str| BeadId::parse(name).unwrap();
        let (one, other) = (PortBook::new(2, 5000..=5003), PortBook::new(2, 5000..=5003));
        one.take(&mut store, &id("a"), &holder("one"), until, by)
            .unwrap();
        one.take(&mut store, &id("a"), &holder("one"), until, by)
            .unwrap();
        other
            .take(&mut store, &id("b"), &holder("two"), until, by)
            .unwrap();
        let ports = |book: &PortBook, bead: &str| {
            book.variables(&id(bead)).into_values().collect::<Vec<_>>()
        };
        assert_eq!(ports(&one, "a"), ["5000", "5001", "5000"]);
        assert_eq!(ports(&other, "b"), ["5002", "5003", "5002"]);
        let full = other.take(&mut store, &id("c"), &holder("two"), until, by);
        assert!(full.unwrap_err().message.contains("5000 to 5003"));
        one.free(&mut store, &id("a"));
        other
            .take(&mut store, &id("c"), &holder("two"), until, by)
            .unwrap();
        assert_eq!(one.variables(&id("a")).len(), 0);
        assert_eq!(PortBook::default().variables(&id("a")).len(), 0);
    }
}
