//! Runs the clauses, each on a store of its own, and says which are broken.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use beads_ralph_runtime::store::{Capability, Store};

use super::watch::Watch;
use super::{Clause, check_invariants, clauses};

/// A rule that a store breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The rule.
    pub clause: &'static str,
    /// How it showed.
    pub how: String,
}

/// Holds a store to the contract; panics with the names of all clauses that it breaks.
pub fn run(store: &str, make: impl FnMut() -> Box<dyn Store>) {
    let broken = broken(make);
    let mut list = String::new();
    for broken in &broken {
        let how = broken.how.replace('\n', "\n    ");
        list.extend(["\n- ", broken.clause, "\n    ", &how]);
    }
    assert!(
        broken.is_empty(),
        "the store `{store}` breaks {} of {} clauses:{list}",
        broken.len(),
        clauses().len()
    );
}

/// The rules that a store breaks. `make` gives an empty store each time.
pub fn broken(make: impl FnMut() -> Box<dyn Store>) -> Vec<Broken> {
    broken_of(clauses(), make)
}

/// The rules among some that a store breaks.
pub fn broken_of(
    clauses: impl IntoIterator<Item = Clause>,
    mut make: impl FnMut() -> Box<dyn Store>,
) -> Vec<Broken> {
    let mut found = Vec::new();
    for clause in clauses {
        found.extend(tried(&clause, make()).err().map(|how| Broken {
            clause: clause.name,
            how,
        }));
    }
    found
}

fn tried(clause: &Clause, store: Box<dyn Store>) -> Result<(), String> {
    let gaps = clause.needs.iter().copied();
    let gaps: Vec<Capability> = gaps.filter(|need| store.gaps().contains(need)).collect();
    let (refusable, others): (Vec<_>, Vec<_>) =
        gaps.into_iter().partition(|gap| gap.can_be_refused());
    if !others.is_empty() {
        return differs(clause, store, &others);
    }
    if refusable.is_empty() {
        keeps(clause, store)
    } else {
        refuses(clause, store, &refusable)
    }
}

/// What a store says that it does in another way, it does in another way.
fn differs(clause: &Clause, mut store: Box<dyn Store>, gaps: &[Capability]) -> Result<(), String> {
    let check = AssertUnwindSafe(|| (clause.check)(store.as_mut()));
    match catch_unwind(check) {
        Err(_) => Ok(()),
        Ok(()) => Err(format!(
            "the store declares a gap for {gaps:?}, and there is none"
        )),
    }
}

/// Whatever a clause did, the store must be consistent afterwards.
fn keeps(clause: &Clause, mut store: Box<dyn Store>) -> Result<(), String> {
    let check = AssertUnwindSafe(|| {
        (clause.check)(store.as_mut());
        check_invariants(store.as_ref());
    });
    catch_unwind(check).map_err(|panic| words(panic.as_ref()))
}

/// A store that cannot do something says so when it is asked to. How the clause ends does not matter then.
fn refuses(clause: &Clause, store: Box<dyn Store>, gaps: &[Capability]) -> Result<(), String> {
    let mut watched = Watch::new(store);
    let ended = catch_unwind(AssertUnwindSafe(|| (clause.check)(&mut watched)));
    if gaps.iter().any(|gap| watched.has_refused(*gap)) {
        return Ok(());
    }
    let how = match ended {
        Ok(()) => "it went through".to_owned(),
        Err(panic) => words(panic.as_ref()),
    };
    Err(format!(
        "the store declares a gap for {gaps:?} and does not refuse with Unsupported: {how}"
    ))
}

fn words(panic: &(dyn Any + Send)) -> String {
    if let Some(text) = panic.downcast_ref::<String>() {
        text.clone()
    } else if let Some(text) = panic.downcast_ref::<&str>() {
        (*text).to_owned()
    } else {
        "it panicked without words".to_owned()
    }
}
