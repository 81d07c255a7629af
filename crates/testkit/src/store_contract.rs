//! The contract of `runtime::store::Store`, as clauses that every store is held to.
//!
//! A clause quotes a rule and tries it on a store of its own. [`run`] tries them all and names every one
//! that is broken. A store that cannot do something says so (`Store::gaps`); where a clause needs it, the store
//! must refuse with `StoreError::Unsupported` instead of pretending.
//!
//! ```
//! use beads_ralph_runtime::store::MemoryStore;
//! use beads_ralph_testkit::store_contract;
//!
//! store_contract::run("memory", || Box::new(MemoryStore::new()));
//! ```

mod batches;
mod claims;
mod clock;
mod controls;
mod counting;
mod cycles;
mod edges;
mod edits;
mod fences;
mod guards;
mod hiding;
mod history;
mod holding;
mod insertion;
mod invariants;
mod leases;
mod lookups;
mod loss;
mod molecules;
mod orders;
mod parents;
mod queries;
mod readiness;
mod removal;
mod runner;
mod tools;
mod waiting;
mod watch;

use beads_ralph_runtime::store::{Capability, Store};

pub use invariants::check_invariants;
pub use runner::{Broken, broken, broken_of, run};

/// One rule of the contract.
#[derive(Debug, Clone, Copy)]
pub struct Clause {
    /// The rule.
    pub name: &'static str,
    /// What a store must be able to do for it.
    pub needs: &'static [Capability],
    /// Tries it on an empty store; panics where it does not hold.
    pub check: fn(&mut dyn Store),
}

impl Clause {
    const fn new(name: &'static str, check: fn(&mut dyn Store)) -> Self {
        Self::needing(name, &[], check)
    }

    const fn needing(
        name: &'static str,
        needs: &'static [Capability],
        check: fn(&mut dyn Store),
    ) -> Self {
        Self { name, needs, check }
    }
}

/// Every rule of the contract.
pub fn clauses() -> Vec<Clause> {
    [
        insertion::CLAUSES,
        batches::CLAUSES,
        edits::CLAUSES,
        guards::CLAUSES,
        claims::CLAUSES,
        fences::CLAUSES,
        holding::CLAUSES,
        readiness::CLAUSES,
        edges::CLAUSES,
        waiting::CLAUSES,
        parents::CLAUSES,
        hiding::CLAUSES,
        cycles::CLAUSES,
        queries::CLAUSES,
        counting::CLAUSES,
        orders::CLAUSES,
        lookups::CLAUSES,
        history::CLAUSES,
        leases::CLAUSES,
        controls::CLAUSES,
        loss::CLAUSES,
        clock::CLAUSES,
        removal::CLAUSES,
        molecules::CLAUSES,
    ]
    .concat()
}
