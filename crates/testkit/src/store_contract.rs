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
mod counting;
mod cycles;
mod edges;
mod edits;
mod fences;
mod history;
mod insertion;
mod leases;
mod molecules;
mod orders;
mod queries;
mod readiness;
mod runner;
mod tools;

use beads_ralph_runtime::store::{Capability, Store};

pub use runner::{Broken, broken, broken_of, check_invariants, run};

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
        claims::CLAUSES,
        fences::CLAUSES,
        readiness::CLAUSES,
        edges::CLAUSES,
        cycles::CLAUSES,
        queries::CLAUSES,
        counting::CLAUSES,
        orders::CLAUSES,
        history::CLAUSES,
        leases::CLAUSES,
        molecules::CLAUSES,
    ]
    .concat()
}
