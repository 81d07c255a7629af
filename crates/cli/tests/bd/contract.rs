//! The contract of stores, held by the adapter to the real `bd`.

use std::sync::Mutex;
use std::thread;

use beads_ralph_runtime::store::Store;
use beads_ralph_testkit::store_contract::{self, Broken, Clause};

use crate::world::World;

/// How many clauses are tried at a time: most of the time is spent waiting for `bd`.
const N_THREADS: usize = 3;

fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests sets it")]
    std::env::var(name).ok()
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn z_3_z_25_the_real_bd_keeps_the_contract_but_for_its_declared_gaps() {
    let only = variable("BEADS_RALPH_CLAUSE").unwrap_or_default();
    // Each clause needs a database of its own and many calls: `.ci/run` tries one of four, `.ci/long bd-store` all of them.
    let step = variable("BEADS_RALPH_CLAUSE_STEP").map_or(1, |step| step.parse().unwrap());
    let clauses: Vec<Clause> = (store_contract::clauses().into_iter())
        .filter(|clause| clause.name.contains(&only))
        .step_by(step)
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
