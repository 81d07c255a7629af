//! What users do to a store and its pull requests while runs are at work.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Abandoned, Edit, Record};
use beads_ralph_runtime::controls;
use beads_ralph_runtime::ports::PullState;
use beads_ralph_runtime::store::{Guard, Stamp, Store as _, Write};
use serde_json::{Map, json};

use super::scenario::SOURCE;
use super::world::World;

/// The name under which users write.
pub(super) const USER: &str = "user";

fn by(world: &World) -> Stamp<'static> {
    Stamp {
        actor: USER,
        at: world.now,
    }
}

/// Does something.
pub(super) fn act(world: &mut World) {
    world.counts.user += 1;
    match world.random.below(20) {
        0..=2 => stop(world),
        3..=5 => pause(world),
        6..=8 => pull(world),
        9 => recover(world),
        _ => bead(world),
    }
}

fn stop(world: &mut World) {
    let (by, now) = (by(world), world.random.is_hit(0.5));
    world.say(|| format!("user asks to stop, now: {now}"));
    controls::stop(&mut world.store, now, by).expect("the user's store works");
}

fn pause(world: &mut World) {
    let by = by(world);
    if world.random.is_hit(0.5) {
        world.say(|| "user pauses".to_owned());
        controls::pause(&mut world.store, by).expect("the user's store works");
    } else {
        resume(world);
    }
}

/// Takes a pause back.
pub(super) fn resume(world: &mut World) {
    let by = by(world);
    world.say(|| "user resumes".to_owned());
    controls::resume(&mut world.store, by).expect("the user's store works");
}

/// Puts beads whose holder is dead back to open.
fn recover(world: &mut World) {
    let by = by(world);
    let ids: Vec<BeadId> = (world.scenario.beads.iter())
        .map(|bead| bead.id.clone())
        .collect();
    for record in world.store.get(&ids).expect("the user's store works") {
        let Some(claim) = &record.claim else { continue };
        let process = claim.holder.process.as_ref();
        if process.is_some_and(|process| !world.lives[process.pid as usize].is_alive) {
            let id = record.issue.id();
            world.say(|| format!("user recovers {id}"));
            let why = Abandoned::ProcessDead;
            let reclaimed = world.store.reclaim(id, claim.fence, why, by);
            reclaimed.expect("nobody else is there");
        }
    }
}

/// Merges or closes a pull request.
fn pull(world: &mut World) {
    world.follow();
    let open: Vec<usize> = (0..world.pulls.len())
        .filter(|at| world.pulls[*at].state == PullState::Open)
        .collect();
    let Some(at) = world.random.pick(&open).copied() else {
        return;
    };
    if world.random.is_hit(0.2) {
        world.pulls[at].state = PullState::Closed;
        return;
    }
    let head = world.pulls[at].head.clone();
    world.say(|| format!("user merges {}", head.short()));
    if let Ok(beads_ralph_runtime::ports::Integrated::In { commit, .. }) =
        world.git.integrate(SOURCE, SOURCE, &head, true)
    {
        world.git.remote.insert(SOURCE.to_owned(), commit);
        world.pulls[at].state = PullState::Merged;
    }
}

fn bead(world: &mut World) {
    let ids: Vec<BeadId> = (world.scenario.beads.iter())
        .map(|bead| bead.id.clone())
        .collect();
    let Some(id) = world.random.pick(&ids).cloned() else {
        return;
    };
    let Some(record) = world
        .store
        .get(std::slice::from_ref(&id))
        .ok()
        .and_then(|mut it| it.pop())
    else {
        return;
    };
    let edits = edits(world, &record);
    let is_opened = edits.contains(&Edit::Reopen);
    let is_closed = edits.iter().any(|edit| matches!(edit, Edit::Close(_)));
    if is_opened || is_closed {
        world.truth.forced.insert(id.clone());
        world.truth.closed.remove(&id);
    }
    if is_opened {
        world.begin_anew(&id);
    }
    let write = Write::Update {
        id: id.clone(),
        edits,
        guard: Guard {
            is_forced: true,
            ..Guard::default()
        },
    };
    let by = by(world);
    world.say(|| format!("user {write:?}"));
    world
        .store
        .write(&[write], by)
        .expect("a user may force what is valid");
}

fn edits(world: &mut World, record: &Record) -> Vec<Edit> {
    let anew = || {
        let counted = Map::from_iter([("attempt_count".to_owned(), json!(0))]);
        vec![
            Edit::Reopen,
            Edit::MergeMetadata(counted),
            Edit::RemoveLabel("human".to_owned()),
        ]
    };
    match (world.random.below(8), record.issue.status()) {
        (0, "open" | "in_progress" | "blocked") => {
            vec![Edit::Close("done by hand".to_owned())]
        }
        (1, "closed" | "in_progress") | (1..=4, "blocked") => anew(),
        (5, _) => vec![Edit::Set("title".to_owned(), json!("another title"))],
        (6, "open") if world.random.is_hit(0.3) => {
            vec![Edit::UnsetMetadata("branch".to_owned())]
        }
        _ => {
            let priority = world.random.below(4);
            vec![Edit::Set("priority".to_owned(), json!(priority))]
        }
    }
}
