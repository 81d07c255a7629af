//! The repository and the place of pull requests as a process reaches them.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::{CommitId, Trouble};
use beads_ralph_runtime::ports::{
    Forge, Found, Integrated, NewPullRequest, Origin, Place, Prepared, PullRequest, PullState,
    Repository, Sealed, State,
};

use super::laws;
use super::plant::Plant;
use super::world::{Port, Pull, Reach, World};

/// The repository as a process reaches it.
#[derive(Debug)]
pub(super) struct ShakyRepository(pub(super) Port);

impl Repository for ShakyRepository {
    fn branch(&self, name: &str) -> Result<Option<CommitId>, Trouble> {
        self.0.outside("branch", Reach::Looks, |world| {
            Ok(world.git.branches.get(name).cloned())
        })
    }

    fn prepare(&self, place: &Place, origin: &Origin) -> Result<Prepared, Trouble> {
        self.0.outside("prepare", Reach::Acts, |world| {
            let mut origin = origin.clone();
            if world.is_planted(Plant::BaseWithoutDependencies) {
                origin.wanted.clear();
            }
            world.git.prepare(place, &origin)
        })
    }

    fn seal(&self, place: &Place, base: &CommitId, _: &str) -> Result<Sealed, Trouble> {
        self.0
            .outside("seal", Reach::Acts, |world| world.git.seal(place, base))
    }

    fn changed_files(&self, base: &CommitId, commit: &CommitId) -> Result<Vec<String>, Trouble> {
        self.0.outside("changed files", Reach::Looks, |world| {
            Ok(world.git.changed(base, commit))
        })
    }

    fn state(&self, place: &Place) -> Result<State, Trouble> {
        self.0
            .outside("state", Reach::Looks, |world| world.git.state(place))
    }

    fn restore(
        &self,
        place: &Place,
        commit: &CommitId,
        attempt: u32,
    ) -> Result<Option<CommitId>, Trouble> {
        self.0.outside("restore", Reach::Acts, |world| {
            world.git.restore(place, commit, attempt)
        })
    }

    fn keep(&self, bead: &BeadId, commit: &CommitId) -> Result<(), Trouble> {
        self.0.outside("keep", Reach::Acts, |world| {
            laws::handed_over(world, bead, commit, "kept");
            world.git.kept.insert(bead.clone(), commit.clone());
            Ok(())
        })
    }

    fn kept(&self, bead: &BeadId) -> Result<Option<CommitId>, Trouble> {
        self.0.outside("kept", Reach::Looks, |world| {
            Ok(world.git.kept.get(bead).cloned())
        })
    }

    fn is_in(&self, commit: &CommitId, head: &CommitId) -> Result<bool, Trouble> {
        self.0.outside("is in", Reach::Looks, |world| {
            Ok(world.git.is_in(commit, head))
        })
    }

    fn integrate(
        &self,
        target: &str,
        source: &str,
        commit: &CommitId,
        message: &str,
    ) -> Result<Integrated, Trouble> {
        self.0.outside("integrate", Reach::Acts, |world| {
            let bead = named(world, message);
            let commit = handed(world, bead.as_ref(), commit);
            if let Some(bead) = &bead {
                laws::handed_over(world, bead, &commit, "merged");
            }
            let looks = !world.is_planted(Plant::MergeWithoutLooking);
            let integrated = world.git.integrate(target, source, &commit, looks)?;
            if let Integrated::In {
                was_there: false, ..
            } = integrated
            {
                laws::merged(world, &commit);
            }
            Ok(integrated)
        })
    }

    fn push(&self, branch: &str, commit: &CommitId) -> Result<(), Trouble> {
        self.0.outside("push", Reach::Acts, |world| {
            let bead = of_branch(world, branch);
            let commit = handed(world, bead.as_ref(), commit);
            if let Some(bead) = bead {
                laws::handed_over(world, &bead, &commit, "pushed");
            }
            world.git.remote.insert(branch.to_owned(), commit);
            world.follow();
            Ok(())
        })
    }

    fn remove(&self, place: &Place) -> Result<(), Trouble> {
        self.0
            .outside("remove", Reach::Acts, |world| world.git.remove(place))
    }
}

/// The bead that a merge's message names.
fn named(world: &World, message: &str) -> Option<BeadId> {
    let beads = world.scenario.beads.iter();
    let found = beads
        .map(|bead| &bead.id)
        .find(|id| message.ends_with(&format!("({id})")));
    found.cloned()
}

pub(super) fn of_branch(world: &World, branch: &str) -> Option<BeadId> {
    let mut beads = world.scenario.beads.iter();
    let bead = beads.find(|bead| bead.metadata.branch.as_str() == branch)?;
    Some(bead.id.clone())
}

/// What is really handed over: with a planted fault the head of the branch, to which somebody has just added something.
fn handed(world: &mut World, bead: Option<&BeadId>, commit: &CommitId) -> CommitId {
    let Some(bead) = bead.filter(|_| world.is_planted(Plant::HeadHandedOver)) else {
        return commit.clone();
    };
    let thing = world.next_thing();
    let beads = &world.scenario.beads;
    let Some(bead) = beads.iter().find(|it| it.id == *bead) else {
        return commit.clone();
    };
    let place = beads_ralph_runtime::run::place(super::scenario::ROOT.into(), bead);
    if let Some(worktree) = world.git.worktrees.get_mut(&place.worktree) {
        let late = format!("late {thing}");
        worktree.files.insert("late.txt".to_owned(), late);
    }
    let head = world.git.commit_files(&place);
    head.unwrap_or_else(|_| commit.clone())
}

/// The place of pull requests as a process reaches it.
#[derive(Debug)]
pub(super) struct ShakyForge(pub(super) Port);

impl Forge for ShakyForge {
    fn find(&self, branch: &str) -> Result<Vec<Found>, Trouble> {
        self.0.outside("find pull requests", Reach::Looks, |world| {
            if world.is_planted(Plant::PullWithoutLooking) {
                return Ok(Vec::new());
            }
            world.follow();
            let pulls = world.pulls.iter().rev();
            let found = pulls
                .filter(|pull| pull.branch == branch)
                .map(|pull| Found {
                    request: request(pull),
                    head: pull.head.clone(),
                });
            Ok(found.collect())
        })
    }

    fn create(&self, new: &NewPullRequest) -> Result<PullRequest, Trouble> {
        self.0
            .outside("create a pull request", Reach::Acts, |world| {
                create(world, &new.head)
            })
    }
}

/// Makes a pull request for a branch.
pub(super) fn create(world: &mut World, branch: &str) -> Result<PullRequest, Trouble> {
    let Some(head) = world.git.remote.get(branch).cloned() else {
        return Err(Trouble::for_bead(format!("{branch} was not pushed")));
    };
    laws::proposed(world, branch, &head);
    let pull = Pull {
        branch: branch.to_owned(),
        head,
        state: PullState::Open,
        number: world.pulls.len() as u64 + 1,
    };
    let answer = request(&pull);
    world.pulls.push(pull);
    Ok(answer)
}

fn request(pull: &Pull) -> PullRequest {
    PullRequest {
        url: format!("https://example.test/pull/{}", pull.number),
        number: pull.number,
        state: pull.state,
    }
}
