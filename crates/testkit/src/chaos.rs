//! Runs under fire: the real engine, performer, poller, recovery and store, in a world in memory where everything goes wrong by a seed.
//!
//! Calls fail, act and answer with an error, or are the last ones of their process; answers come late and twice; agents fail, hang, lie and
//! meddle; users close, open and change beads, pause and stop; processes die between any two calls, and others resume their runs, one
//! or two at a time. After a while the weather is fine and everything must come to its end. The world knows what really happened, and laws
//! look at it at every step: nobody works on what another one holds, nothing goes out twice, nothing is closed or handed over but what
//! was judged and checked at that very commit, order, attempts and budgets are kept, no bead is forgotten, every run ends, and its journal
//! gives the same decisions again.
//!
//! Limits: an effect is performed as a whole at the moment when it is over, so that two effects of one process never interleave call by
//! call; between the calls of an effect only users act. Files and real processes are not here: they have separate tests.

mod books;
mod crew;
mod director;
mod git;
mod laws;
mod places;
mod plant;
mod report;
mod scenario;
mod store;
mod survey;
mod user;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use beads_ralph_core::bead::{AgentSpec, BeadShape, Rules};
use beads_ralph_core::gate::Gates;
use beads_ralph_core::issue::{Abandoned, Claim, Entry, Holder, Liveness};
use beads_ralph_runtime::config::Base;
use beads_ralph_runtime::os::clock;
use beads_ralph_runtime::run::{Performer, Selection, Site, TaskReader};
use beads_ralph_runtime::store::{Stamp, Store, Write};
use jiff::Timestamp;

pub use plant::Plant;
pub use report::{Counts, Report};
pub use survey::{MAX_SEEDS_TO_NOTICE, Survey, noticed, page, survey};

use crew::ShakyCrew;
use director::{Director, HOST};
use places::{ShakyForge, ShakyRepository};
use scenario::{ROOT, Scenario};
use store::ShakyStore;
use world::{Life, Port, World};

/// How many processes there may be, one after the other and beside each other.
const MAX_PROCESSES: usize = 64;

/// Plays a seed to its end.
pub fn play(seed: u64, plant: Option<Plant>, logs: bool) -> Report {
    let world = Arc::new(Mutex::new(World::new(
        seed,
        Scenario::draw(seed),
        plant,
        logs,
    )));
    let played = catch_unwind(AssertUnwindSafe(|| play_in(&world)));
    let mut world = world.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(panic) = played {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied());
        let text = format!("panic: {}", text.unwrap_or("without a word"));
        world.violate(text);
    }
    Report {
        seed,
        counts: world.counts,
        violations: std::mem::take(&mut world.violations),
        log: world.log.take().unwrap_or_default(),
    }
}

fn play_in(world: &Arc<Mutex<World>>) {
    insert_beads(world);
    let ports: Vec<Port> = (0..MAX_PROCESSES)
        .map(|me| Port {
            world: Arc::clone(world),
            me,
        })
        .collect();
    let lock = || world.lock().unwrap_or_else(PoisonError::into_inner);
    lock().lives = vec![Life::default(); MAX_PROCESSES];
    let stores: Vec<Mutex<Box<dyn Store>>> = (ports.iter())
        .map(|port| Mutex::new(Box::new(ShakyStore(port.clone())) as Box<dyn Store>))
        .collect();
    let of = |port: &Port| {
        (
            ShakyRepository(port.clone()),
            ShakyForge(port.clone()),
            ShakyCrew(port.clone()),
        )
    };
    let places: Vec<_> = ports.iter().map(of).collect();
    let account = |spec: &AgentSpec| spec.adapter.clone().unwrap_or_default();
    let gone = |claim: &Claim, now: Timestamp| gone(&lock(), claim, now);
    let reader = TaskReader {
        has_default_checks: true,
        rules: rules(),
        max_attempts: None,
        selection: Selection::default(),
        gone: &gone,
        gates: &|_| Ok(Gates::default()),
        account: &account,
    };
    let now = || lock().now;
    let n_slots = lock().scenario.settings.max_parallel;
    let performers = (stores.iter().zip(&places))
        .map(|(store, (repository, forge, crew))| {
            let ports = (repository as _, Some(forge as _), crew as _);
            Performer::new(site(n_slots), store, ports, &reader, &now)
        })
        .collect();
    Director::new(Arc::clone(world), &ports, performers, clock::monotonic()).run();
}

fn insert_beads(world: &Arc<Mutex<World>>) {
    let world = &mut *world.lock().unwrap_or_else(PoisonError::into_inner);
    let by = Stamp {
        actor: "plan",
        at: world.now,
    };
    let entry = |bead: &beads_ralph_core::bead::RalphBead| {
        let document = bead.to_document(BeadShape::Both);
        Write::Insert(Box::new(
            Entry::from_document(document).expect("a drawn bead is valid"),
        ))
    };
    let batch: Vec<Write> = world.scenario.beads.iter().map(entry).collect();
    world.counts.beads = batch.len() as u64;
    world.store.write(&batch, by).expect("drawn beads fit");
}

fn rules() -> Rules {
    Rules {
        rig: "rig".to_owned(),
    }
}

fn site(n_slots: usize) -> Site {
    Site {
        run: String::new(),
        actor: "run".to_owned(),
        holder: Holder {
            run: String::new(),
            host: HOST.to_owned(),
            process: None,
        },
        rules: rules(),
        root: ROOT.into(),
        n_slots,
        base: Base::Dependencies,
    }
}

/// Whether the holder of a claim is gone, as the machine can tell.
fn gone(world: &World, claim: &Claim, now: Timestamp) -> Option<Abandoned> {
    if world.is_planted(Plant::LivingTakenForDead) {
        return Some(Abandoned::ProcessDead);
    }
    claim.is_abandoned(now, HOST, |process| {
        if world.lives[process.pid as usize].is_alive {
            Liveness::Alive
        } else {
            Liveness::Dead
        }
    })
}
