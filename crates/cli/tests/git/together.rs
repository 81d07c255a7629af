//! Several threads, and several orchestrators, on one repository at once.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use beads_ralph_core::engine::CommitId;
use beads_ralph_runtime::git::Git;
use beads_ralph_runtime::ports::{Integrated, Repository as _};

use super::world::{World, git, origin, write};

const N: usize = 8;

/// Does something in as many threads, half of them of another orchestrator, all at the same moment.
fn together<T: Send>(world: &World, act: impl Fn(&Git, usize) -> T + Sync) -> Vec<T> {
    let (barrier, other) = (Barrier::new(N), world.again());
    thread::scope(|scope| {
        let threads: Vec<_> = (0..N)
            .map(|number| {
                let (barrier, act) = (&barrier, &act);
                let git = if number % 2 == 0 { &world.git } else { &other };
                scope.spawn(move || {
                    barrier.wait();
                    act(git, number)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

#[test]
fn l_15_eight_beads_are_prepared_sealed_and_kept_at_once() {
    let world = World::new();
    let (_, below) = world.worked("below", "below.txt", "1");
    let (_, beside) = world.worked("beside", "beside.txt", "1");
    let sealed = together(&world, |git, number| {
        let place = world.place(&format!("n{number}"));
        let prepared = git.prepare(&place, &origin(&[&below, &beside])).unwrap();
        assert!(prepared.conflicts.is_empty());
        write(&place.worktree.join(format!("{number}.txt")), "1");
        let sealed = git.seal(&place, &prepared.head, "work").unwrap();
        git.keep(&place.bead, &sealed.commit).unwrap();
        sealed
    });
    for (number, sealed) in sealed.iter().enumerate() {
        let place = world.place(&format!("n{number}"));
        assert_eq!(sealed.changed_files, [format!("{number}.txt")]);
        assert_eq!(
            world.git.kept(&place.bead).unwrap().as_ref(),
            Some(&sealed.commit)
        );
        assert_eq!(git(&place.worktree, &["status", "--porcelain"]), "");
    }
    world.ask(&["fsck", "--no-dangling"]);
    together(&world, |git, number| {
        git.remove(&world.place(&format!("n{number}"))).unwrap();
    });
    assert_eq!(world.git.worktrees().unwrap().len(), 3);
}

#[test]
fn z_11_eight_commits_are_integrated_at_once() {
    let world = World::new();
    let commits: Vec<CommitId> = (0..N)
        .map(|number| {
            world
                .worked(&format!("n{number}"), &format!("{number}.txt"), "1")
                .1
        })
        .collect();
    let merges = together(&world, |git, number| {
        let answer = git
            .integrate("ralph/plan", "main", &commits[number], "in")
            .unwrap();
        match answer {
            Integrated::In { commit, was_there } if !was_there => commit,
            answer => panic!("{answer:?}"),
        }
    });
    let head = world.commit_of("ralph/plan");
    for commit in &commits {
        assert!(world.git.is_in(commit, &head).unwrap());
    }
    let merges: BTreeSet<&CommitId> = merges.iter().collect();
    assert_eq!(merges.len(), N);
    let line = world.ask(&["rev-list", "--first-parent", "main..ralph/plan"]);
    assert_eq!(line.lines().count(), N, "one merge for each, and none lost");
    let again = together(&world, |git, number| {
        git.integrate("ralph/plan", "main", &commits[number], "in")
            .unwrap()
    });
    for answer in again {
        let Integrated::In {
            commit,
            was_there: true,
        } = answer
        else {
            panic!("{answer:?}");
        };
        assert!(merges.contains(&commit));
    }
}

/// Whoever asks just before the other one makes the branch must not take its own commit for merged.
#[test]
fn z_11_the_branch_that_another_makes_meanwhile_is_not_taken_for_one_with_the_commit() {
    let world = World::new();
    let commits = ["one", "two"].map(|name| world.worked(name, name, "1").1);
    // The later it asks, the closer to the moment at which the other one makes the branch.
    for delay in 0..40 {
        let target = format!("ralph/plan-{delay}");
        together(&world, |git, number| {
            if number < 2 {
                thread::sleep(Duration::from_micros(500 * delay * number as u64));
                git.integrate(&target, "main", &commits[number], "in")
                    .unwrap();
            }
        });
        let head = world.commit_of(&target);
        for commit in &commits {
            assert!(world.git.is_in(commit, &head).unwrap(), "delay {delay}");
        }
    }
}

#[test]
fn l_15_the_same_bead_prepared_twice_at_once_is_one_worktree() {
    let world = World::new();
    let place = world.place("a");
    let answers = together(&world, |git, _| git.prepare(&place, &origin(&[])));
    let main = world.commit_of("main");
    let n_ready = answers
        .iter()
        .flatten()
        .filter(|prepared| prepared.head == main)
        .count();
    assert!(n_ready >= 1, "{answers:?}");
    let prepared = world.git.prepare(&place, &origin(&[])).unwrap();
    assert_eq!(prepared.head, main);
    assert_eq!(world.git.state(&place).unwrap().dirt, None);
    assert_eq!(world.git.worktrees().unwrap().len(), 2);
}
