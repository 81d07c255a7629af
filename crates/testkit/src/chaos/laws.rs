//! What must never be so, and is looked for at every step.

use std::collections::BTreeSet;

use beads_ralph_core::bead::{BeadId, QaStatus, RalphBead};
use beads_ralph_core::engine::{CommitId, Integration};
use beads_ralph_core::issue::{Claim, Fence, Record};
use beads_ralph_runtime::ports::{Job, PullState};
use beads_ralph_runtime::store::Store as _;
use serde_json::Value;

use super::crew::is_good;
use super::scenario::TARGET;
use super::world::World;

fn bead_of<'w>(world: &'w World, id: &BeadId) -> Option<&'w RalphBead> {
    world.scenario.beads.iter().find(|bead| bead.id == *id)
}

/// A bead in the store is not as it was.
pub(super) fn changed(
    world: &mut World,
    me: usize,
    before: Option<&Record>,
    after: Option<&Record>,
) {
    let (Some(before), Some(after)) = (before, after) else {
        return;
    };
    let id = after.issue.id();
    match (&before.claim, &after.claim) {
        (Some(old), Some(new)) if old.fence != new.fence => {
            taken_from(world, me, id, old);
            claimed(world, after, new.fence);
        }
        (None, Some(new)) => claimed(world, after, new.fence),
        (Some(old), None) => taken_from(world, me, id, old),
        _ => {}
    }
    if before.issue.status() != "closed" && after.issue.status() == "closed" {
        closed(world, after);
    }
    no_execution_twice(world, after);
}

/// A claim has ended: by its holder, or because its holder is dead.
fn taken_from(world: &mut World, me: usize, id: &BeadId, claim: &Claim) {
    let process = claim.holder.process.as_ref();
    let holder = process.map(|process| process.pid as usize);
    let is_living = holder.is_some_and(|holder| world.lives[holder].is_alive);
    if holder != Some(me) && is_living {
        world.violate(format!(
            "two holders: {id} was taken from process {holder:?}, which lives, by process {me}"
        ));
    }
}

fn claimed(world: &mut World, record: &Record, fence: Fence) {
    let id = record.issue.id().clone();
    if world.truth.anew.remove(&id) {
        world.forget_attempts(&id);
    }
    let known = world.truth.fences.insert(id.clone(), fence);
    if known.is_some_and(|known| known >= fence) {
        world.violate(format!("the fence of {id} fell to {fence}"));
    }
    let targets: Vec<BeadId> = (record.issue.dependencies().iter())
        .map(|edge| edge.target().clone())
        .collect();
    for blocker in world.store.get(&targets).unwrap_or_default() {
        if blocker.issue.status() != "closed" {
            let blocker = blocker.issue.id();
            world.violate(format!(
                "order: {id} was claimed while it waits for {blocker}"
            ));
        }
    }
}

/// A change was made under a fence.
pub(super) fn wrote(
    world: &mut World,
    me: usize,
    fence: Option<Fence>,
    before: Option<&Record>,
    version: u64,
) {
    let Some(before) = before.filter(|before| before.version != version) else {
        return;
    };
    let held = before.claim.as_ref().map(|claim| claim.fence);
    if held != fence {
        world.violate(format!(
            "two holders: process {me} changed {} under fence {fence:?} while it is held under {held:?}",
            before.issue.id()
        ));
    }
}

/// A run closed a bead: only what was judged and checked, and is handed over.
fn closed(world: &mut World, record: &Record) {
    let id = record.issue.id().clone();
    let commit = record
        .issue
        .metadata()
        .and_then(|it| it.get("verified_commit"));
    let Some(commit) = commit.and_then(Value::as_str) else {
        return world.violate(format!("verdict: {id} was closed without a commit"));
    };
    let commit = CommitId(commit.to_owned());
    handed_over(world, &id, &commit, "closed");
    world.counts.closed += 1;
    if !world.truth.closed.insert(id.clone()) {
        world.violate(format!("twice: {id} was closed again"));
    }
    let Some(branch) = bead_of(world, &id).map(|bead| bead.metadata.branch.to_string()) else {
        return;
    };
    match &world.scenario.settings.integration {
        Integration::None => {}
        Integration::Merge { .. } => {
            let target = world.git.branches.get(TARGET);
            if !target.is_some_and(|target| world.git.is_in(&commit, target)) {
                world.violate(format!(
                    "hand-over: {id} was closed and is not in the target"
                ));
            }
        }
        Integration::Pr => {
            if world.git.remote.get(&branch) != Some(&commit) {
                world.violate(format!(
                    "hand-over: {id} was closed and is not what was pushed"
                ));
            }
            if !world.pulls.iter().any(|pull| pull.branch == branch) {
                world.violate(format!("hand-over: {id} was closed without a pull request"));
            }
        }
    }
}

/// A commit of a bead went out: it must be one that was judged and checked, and is good.
pub(super) fn handed_over(world: &mut World, bead: &BeadId, commit: &CommitId, how: &str) {
    let is_right = world
        .git
        .tree(commit)
        .is_some_and(|tree| is_good(tree, bead));
    if !is_right {
        world.violate(format!(
            "verdict: {bead} was {how} at {}, which is not good",
            commit.short()
        ));
    }
    let key = (bead.clone(), commit.clone());
    if !world.truth.green.contains(&key) {
        world.violate(format!(
            "verdict: {bead} was {how} at {}, where no check passed",
            commit.short()
        ));
    }
    let n_judges = bead_of(world, bead).map_or(0, |bead| bead.metadata.qa_agents.len());
    let said = world.truth.verdicts.get(&key);
    let passes = |agent: usize| said.and_then(|said| said.get(&agent)) == Some(&QaStatus::Pass);
    if !(0..n_judges).all(passes) {
        world.violate(format!(
            "verdict: {bead} was {how} at {}, which QA did not pass",
            commit.short()
        ));
    }
}

/// A commit was merged into the target by a new merge.
pub(super) fn merged(world: &mut World, commit: &CommitId) {
    let n = world.truth.merges.entry(commit.clone()).or_default();
    *n += 1;
    if *n > 1 {
        world.violate(format!("twice: {} was merged again", commit.short()));
    }
}

/// A pull request is being made.
pub(super) fn proposed(world: &mut World, branch: &str, head: &CommitId) {
    world.follow();
    let is_there = world
        .pulls
        .iter()
        .any(|pull| pull.branch == branch && (pull.state == PullState::Open || pull.head == *head));
    if is_there {
        world.violate(format!("twice: another pull request for {branch}"));
    }
}

/// The history of a bead has every run of an agent once.
fn no_execution_twice(world: &mut World, record: &Record) {
    let id = record.issue.id().clone();
    for key in ["dev_agent_executions", "qa_agent_executions"] {
        let executions = record.issue.metadata().and_then(|it| it.get(key));
        let executions = executions.and_then(Value::as_array);
        let mut sessions = BTreeSet::new();
        for execution in executions.into_iter().flatten() {
            let session = execution["session_id"].as_str().unwrap_or_default();
            if !sessions.insert(session) {
                world.violate(format!("twice: {id} has the run {session} twice in {key}"));
            }
        }
    }
    let comments = world.store.comments(&id).unwrap_or_default();
    let mut said = BTreeSet::new();
    for comment in &comments {
        let run = comment.text().and_then(|text| text.split('#').nth(1));
        if let Some(run) = run
            && !said.insert(run)
        {
            world.violate(format!("twice: {id} has the comment on run {run} twice"));
        }
    }
}

/// A dev agent begins: what the bead waited for is closed, and its work is there.
pub(super) fn developing(world: &mut World, job: Job<'_>) {
    let id = &job.bead.id;
    let Some(head) = world.git.head(job.place) else {
        return world.violate(format!("order: {id} is worked on without a worktree"));
    };
    for blocker in world.store.get(&job.bead.dependencies).unwrap_or_default() {
        let blocker_id = blocker.issue.id().clone();
        if world.truth.forced.contains(&blocker_id) {
            continue;
        }
        if blocker.issue.status() != "closed" {
            world.violate(format!(
                "order: {id} is worked on, and {blocker_id} is open"
            ));
        }
        let commit = blocker
            .issue
            .metadata()
            .and_then(|it| it.get("verified_commit"));
        let commit = commit
            .and_then(Value::as_str)
            .map(|it| CommitId(it.to_owned()));
        let is_merged = is_merged(world, &blocker_id);
        if let Some(commit) = commit
            && !is_merged
            && !world.git.is_in(&commit, &head)
        {
            world.violate(format!(
                "order: {id} is worked on without the work of {blocker_id}"
            ));
        }
    }
}

/// Whether the pull request of a bead was merged, so that its work comes with the source branch.
fn is_merged(world: &World, id: &BeadId) -> bool {
    let Some(bead) = bead_of(world, id) else {
        return false;
    };
    let branch = bead.metadata.branch.as_str();
    let mut pulls = world.pulls.iter();
    pulls.any(|pull| pull.branch == branch && pull.state == PullState::Merged)
}

/// What must be so when all processes have ended in fine weather.
pub(super) fn at_the_end(world: &mut World) {
    let ids: Vec<BeadId> = (world.scenario.beads.iter())
        .map(|bead| bead.id.clone())
        .collect();
    let records = world.store.get(&ids).unwrap_or_default();
    for record in &records {
        let id = record.issue.id();
        let is_explained = match record.issue.status() {
            "closed" => true,
            "blocked" => {
                world.counts.for_person += 1;
                record.issue.has_label("human") && record.issue.text("notes").is_some()
            }
            "open" => record.is_blocked,
            _ => false,
        };
        if !is_explained {
            let (status, claim) = (record.issue.status(), &record.claim);
            world.violate(format!("forgotten: {id} is {status}, {claim:?}"));
        }
        if let (Some(claim), true) = (&record.claim, is_explained) {
            world.violate(format!("forgotten: {id} is held by {:?}", claim.holder));
        }
    }
    let leases = world.store.leases("slot/", world.now).unwrap_or_default();
    for lease in leases {
        world.violate(format!("forgotten: the place {} is taken", lease.name));
    }
}
