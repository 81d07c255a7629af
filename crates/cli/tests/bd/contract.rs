//! The contract of stores, held by the adapter to the real `bd`.

use std::sync::Mutex;
use std::thread;

use beads_ralph_runtime::store::Store;
use beads_ralph_testkit::store_contract::{self, Broken, Clause};

use crate::world::World;

/// How many clauses are tried at a time: most of the time is spent waiting for `bd`.
const N_THREADS: usize = 3;

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn z_3_z_25_the_real_bd_keeps_the_contract_but_for_its_declared_gaps() {
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests sets it")]
    let only = std::env::var("BEADS_RALPH_CLAUSE").unwrap_or_default();
    let clauses: Vec<Clause> = (store_contract::clauses().into_iter())
        .filter(|clause| clause.name.contains(&only))
        .collect();
    let left = Mutex::new(clauses.clone());
    // A lock in the loop's head would be held for its body.
    let next = || left.lock().unwrap().pop();
    let broken: Mutex<Vec<Broken>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..N_THREADS {
            scope.spawn(|| {
                while let Some(clause) = next() {
                    let world = World::new();
                    let make = || Box::new(world.store()) as Box<dyn Store>;
                    let found = store_contract::broken_of([clause], make);
                    broken.lock().unwrap().extend(found);
                }
            });
        }
    });
    let broken = broken.into_inner().unwrap();
    let list: Vec<String> = (broken.iter())
        .map(|broken| {
            format!(
                "- {}\n    {}",
                broken.clause,
                broken.how.replace('\n', "\n    ")
            )
        })
        .collect();
    assert!(
        broken.is_empty(),
        "{} of {} clauses are broken:\n{}",
        broken.len(),
        clauses.len(),
        list.join("\n")
    );
}
