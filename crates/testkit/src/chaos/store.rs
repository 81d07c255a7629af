//! The store as a process reaches it: the real one in memory, through a port; and the laws about who holds what.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{
    Abandoned, Blocker, Claim, Comment, Edit, Event, Fence, Holder, Query, Record,
};
use beads_ralph_runtime::store::{
    Control, Guard, Lease, NewClaim, Stamp, Store, StoreError, Write,
};
use serde_json::Value;

use super::laws;
use super::plant::Plant;
use super::world::{Port, Reach, World};

/// The store as a process reaches it.
#[derive(Debug)]
pub(super) struct ShakyStore(pub(super) Port);

fn record(world: &World, id: &BeadId) -> Option<Record> {
    let mut found = world.store.get(std::slice::from_ref(id)).ok()?;
    found.pop()
}

impl ShakyStore {
    /// A change of one bead, with the laws about it.
    fn change<T>(
        &self,
        what: &str,
        id: &BeadId,
        act: impl FnOnce(&mut World) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let me = self.0.me;
        self.0.store(what, Reach::Acts, |world| {
            let before = record(world, id);
            let done = act(world);
            if done.is_ok() {
                let after = record(world, id);
                laws::changed(world, me, before.as_ref(), after.as_ref());
            }
            done
        })
    }
}

/// What a planted fault makes of a change.
fn twisted(world: &World, write: &Write) -> Write {
    let mut write = write.clone();
    let Write::Update { edits, guard, .. } = &mut write else {
        return write;
    };
    match world.plant {
        Some(Plant::FenceIgnored) => {
            *guard = Guard {
                is_forced: true,
                ..Guard::default()
            };
        }
        Some(Plant::WriteWithoutLooking) => {
            for edit in edits {
                if let Edit::MergeMetadata(metadata) = edit {
                    metadata.remove("beads_ralph_run");
                }
            }
        }
        Some(Plant::AttemptsForgotten) => {
            for edit in edits {
                if let Edit::MergeMetadata(metadata) = edit {
                    metadata.remove("attempt_count");
                }
            }
        }
        _ => {}
    }
    write
}

/// What a planted fault makes of leases: they are nobody's.
fn take_away(world: &mut World, names: &[&str]) -> Result<(), StoreError> {
    for lease in world.store.leases("", world.now)? {
        if names.contains(&lease.name.as_str()) {
            world.store.give_back(&lease.name, lease.fence)?;
        }
    }
    Ok(())
}

impl Store for ShakyStore {
    fn get(&self, ids: &[BeadId]) -> Result<Vec<Record>, StoreError> {
        self.0
            .store("get", Reach::Looks, |world| world.store.get(ids))
    }

    fn find(&self, query: &Query) -> Result<Vec<Record>, StoreError> {
        self.0
            .store("find", Reach::Looks, |world| world.store.find(query))
    }

    fn ids_with_prefix(&self, prefix: &str, limit: usize) -> Result<Vec<BeadId>, StoreError> {
        self.0.store("ids", Reach::Looks, |world| {
            world.store.ids_with_prefix(prefix, limit)
        })
    }

    fn comments(&self, id: &BeadId) -> Result<Vec<Comment>, StoreError> {
        self.0
            .store("comments", Reach::Looks, |world| world.store.comments(id))
    }

    fn blockers(&self, id: &BeadId) -> Result<Vec<Blocker>, StoreError> {
        self.0
            .store("blockers", Reach::Looks, |world| world.store.blockers(id))
    }

    fn dependents(&self, id: &BeadId) -> Result<Vec<(BeadId, String)>, StoreError> {
        self.0.store("dependents", Reach::Looks, |world| {
            world.store.dependents(id)
        })
    }

    fn events(
        &self,
        issue: Option<&BeadId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        self.0.store("events", Reach::Looks, |world| {
            world.store.events(issue, after, limit)
        })
    }

    fn write(&mut self, batch: &[Write], by: Stamp<'_>) -> Result<Vec<u64>, StoreError> {
        let [write @ Write::Update { id, guard, .. }] = batch else {
            return Err(StoreError::Unsupported(
                beads_ralph_runtime::store::Capability::AtomicBatches,
            ));
        };
        let me = self.0.me;
        self.change("write", id, |world| {
            let before = record(world, id);
            let twisted = twisted(world, write);
            let versions = world.store.write(&[twisted], by)?;
            laws::wrote(world, me, guard.fence, before.as_ref(), versions[0]);
            Ok(versions)
        })
    }

    fn claim(
        &mut self,
        id: &BeadId,
        claim: &NewClaim<'_>,
        by: Stamp<'_>,
    ) -> Result<Record, StoreError> {
        self.change("claim", id, |world| {
            let mut claim = *claim;
            claim.is_forced |= world.is_planted(Plant::DependenciesIgnored);
            if world.is_planted(Plant::ClaimNotCompared) {
                let open = Write::Update {
                    id: id.clone(),
                    edits: vec![Edit::Reopen],
                    guard: Guard {
                        is_forced: true,
                        ..Guard::default()
                    },
                };
                world.store.write(&[open], by)?;
            }
            world.store.claim(id, &claim, by)
        })
    }

    fn heartbeat(
        &mut self,
        id: &BeadId,
        fence: Fence,
        lease_until: jiff::Timestamp,
    ) -> Result<Claim, StoreError> {
        self.0.store("heartbeat", Reach::Acts, |world| {
            world.store.heartbeat(id, fence, lease_until)
        })
    }

    fn release(&mut self, id: &BeadId, fence: Fence, by: Stamp<'_>) -> Result<Record, StoreError> {
        self.change("release", id, |world| world.store.release(id, fence, by))
    }

    fn reclaim(
        &mut self,
        id: &BeadId,
        fence: Fence,
        why: Abandoned,
        by: Stamp<'_>,
    ) -> Result<Record, StoreError> {
        self.change("reclaim", id, |world| {
            world.store.reclaim(id, fence, why, by)
        })
    }

    fn acquire(
        &mut self,
        names: &[&str],
        holder: &Holder,
        until: jiff::Timestamp,
        by: Stamp<'_>,
    ) -> Result<Option<Lease>, StoreError> {
        self.0.store("acquire", Reach::Acts, |world| {
            if world.is_planted(Plant::ClaimNotCompared) {
                take_away(world, names)?;
            }
            world.store.acquire(names, holder, until, by)
        })
    }

    fn renew(
        &mut self,
        name: &str,
        fence: Fence,
        until: jiff::Timestamp,
    ) -> Result<Lease, StoreError> {
        self.0.store("renew", Reach::Acts, |world| {
            world.store.renew(name, fence, until)
        })
    }

    fn give_back(&mut self, name: &str, fence: Fence) -> Result<(), StoreError> {
        self.0.store("give back", Reach::Acts, |world| {
            world.store.give_back(name, fence)
        })
    }

    fn leases(&self, prefix: &str, now: jiff::Timestamp) -> Result<Vec<Lease>, StoreError> {
        self.0.store("leases", Reach::Looks, |world| {
            world.store.leases(prefix, now)
        })
    }

    fn controls(&self, prefix: &str) -> Result<Vec<Control>, StoreError> {
        self.0.store("controls", Reach::Looks, |world| {
            world.store.controls(prefix)
        })
    }

    fn set_control(
        &mut self,
        key: &str,
        value: &Value,
        seen: u64,
        by: Stamp<'_>,
    ) -> Result<u64, StoreError> {
        self.0.store("set control", Reach::Acts, |world| {
            world.store.set_control(key, value, seen, by)
        })
    }
}
