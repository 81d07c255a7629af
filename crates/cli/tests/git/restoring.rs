//! Worktrees that become a commit again, with nothing lost (Z-39), and the commits that are kept (Z-6).

use beads_ralph_core::bead::BeadId;
use beads_ralph_runtime::ports::Repository as _;

use super::world::{World, commit_all, git, origin, read, try_git, write};

#[test]
fn z_39_commits_and_loose_files_are_kept_and_the_worktree_is_the_commit() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    let file = |name: &str| place.worktree.join(name);
    write(&file("committed.txt"), "1");
    let committed = commit_all(&place.worktree, "half of it");
    write(&file("loose ü.txt"), "2");
    write(&file("shared.txt"), "changed\n");
    write(&file("ignored/cache"), "stays");
    write(&file(".ralph/log"), "stays");
    let kept = world
        .git
        .restore(&place, &prepared.head, 2)
        .unwrap()
        .unwrap();
    assert_eq!(world.commit_of("refs/beads-ralph/bd-a/interrupted/2"), kept);
    assert_eq!(world.commit_of(&format!("{kept}^1")), committed);
    for (name, text) in [
        ("committed.txt", "1"),
        ("loose ü.txt", "2"),
        ("shared.txt", "changed"),
    ] {
        assert_eq!(world.ask(&["show", &format!("{kept}:{name}")]), text);
    }
    let state = world.git.state(&place).unwrap();
    assert_eq!((state.head, state.dirt), (prepared.head.clone(), None));
    assert!(!file("committed.txt").exists() && !file("loose ü.txt").exists());
    assert_eq!(read(&file("ignored/cache")), "stays");
    assert_eq!(read(&file(".ralph/log")), "stays");
    let again = world.git.restore(&place, &prepared.head, 2).unwrap();
    assert_eq!(again, Some(kept), "asked again, the answer is the same");
}

#[test]
fn z_39_where_nothing_would_be_lost_nothing_is_kept() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    assert_eq!(world.git.restore(&place, &prepared.head, 1).unwrap(), None);
    write(&place.worktree.join("new.txt"), "1");
    let commit = commit_all(&place.worktree, "work");
    assert_eq!(world.git.restore(&place, &commit, 1).unwrap(), None);
    assert_eq!(world.ask(&["for-each-ref", "refs/beads-ralph"]), "");
    let kept = world.git.restore(&place, &prepared.head, 1).unwrap();
    assert_eq!(kept, Some(commit), "commits alone are kept as they are");
}

#[test]
fn z_39_an_attempt_that_is_interrupted_twice_keeps_both() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    write(&place.worktree.join("first.txt"), "1");
    let first = world
        .git
        .restore(&place, &prepared.head, 1)
        .unwrap()
        .unwrap();
    write(&place.worktree.join("second.txt"), "2");
    let second = world
        .git
        .restore(&place, &prepared.head, 1)
        .unwrap()
        .unwrap();
    assert!(world.git.is_in(&first, &second).unwrap());
    assert_eq!(world.ask(&["show", &format!("{first}:first.txt")]), "1");
    assert_eq!(world.ask(&["show", &format!("{second}:second.txt")]), "2");
}

#[test]
fn z_39_killed_between_keeping_and_resetting_nothing_is_kept_twice() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    write(&place.worktree.join("loose.txt"), "1");
    let kept = world
        .git
        .restore(&place, &prepared.head, 1)
        .unwrap()
        .unwrap();
    // As if the reset had not been done yet.
    write(&place.worktree.join("loose.txt"), "1");
    git(&place.worktree, &["add", "--all"]);
    assert_eq!(
        world.git.restore(&place, &prepared.head, 1).unwrap(),
        Some(kept)
    );
    assert_eq!(world.git.state(&place).unwrap().dirt, None);
}

#[test]
fn z_39_a_merge_in_the_middle_is_kept_with_both_sides_and_taken_back() {
    let world = World::new();
    let (place, origin, prepared) = world.conflict();
    let kept = world
        .git
        .restore(&place, &prepared.head, 1)
        .unwrap()
        .unwrap();
    assert!(
        world
            .ask(&["show", &format!("{kept}:shared.txt")])
            .contains("<<<<<<<")
    );
    assert!(world.git.is_in(&origin.wanted[1].commit, &kept).unwrap());
    assert_eq!(world.git.state(&place).unwrap().dirt, None);
    let again = world.git.prepare(&place, &origin).unwrap();
    assert_eq!(again.conflicts, ["shared.txt"], "the merge begins anew");
}

#[test]
fn z_39_whatever_git_was_in_the_middle_of_is_over() {
    let world = World::new();
    let (_, theirs) = world.worked("theirs", "shared.txt", "one\ntheirs\nthree\n");
    for (name, begin) in [
        ("one", ["rebase", theirs.0.as_str()].as_slice()),
        ("two", &["cherry-pick", &theirs.0]),
        ("three", &["revert", "--no-edit", "HEAD~1"]),
    ] {
        let (place, prepared) = world.prepare(name, &[]);
        for text in ["one\nours\nthree\n", "one\nours again\nthree\n"] {
            write(&place.worktree.join("shared.txt"), text);
            commit_all(&place.worktree, "ours");
        }
        let ours = world.git.branch(&place.branch).unwrap().unwrap();
        assert!(!try_git(&place.worktree, begin).0, "{name} must stop");
        let kept = world
            .git
            .restore(&place, &prepared.head, 1)
            .unwrap()
            .unwrap();
        assert!(world.git.is_in(&ours, &kept).unwrap(), "{name}");
        let said = git(&place.worktree, &["status"]);
        assert!(
            said.contains("On branch") && said.contains("nothing to commit"),
            "{said}"
        );
        assert!(
            !said.contains("in progress") && !said.contains("rebas") && !said.contains("revert"),
            "{said}"
        );
        assert_eq!(
            world.git.branch(&place.branch).unwrap(),
            Some(prepared.head.clone())
        );
        world
            .git
            .prepare(&place, &super::world::origin(&[]))
            .unwrap();
    }
}

#[test]
fn z_39_an_agent_on_another_branch_is_brought_back_and_both_are_kept() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    write(&place.worktree.join("one.txt"), "1");
    let one = commit_all(&place.worktree, "one");
    git(
        &place.worktree,
        &["checkout", "--quiet", "--detach", "main"],
    );
    write(&place.worktree.join("two.txt"), "2");
    let two = commit_all(&place.worktree, "two");
    let kept = world
        .git
        .restore(&place, &prepared.head, 3)
        .unwrap()
        .unwrap();
    assert!(world.git.is_in(&one, &kept).unwrap() && world.git.is_in(&two, &kept).unwrap());
    assert_eq!(
        git(&place.worktree, &["branch", "--show-current"]),
        "feature/a"
    );
    assert_eq!(world.git.state(&place).unwrap().head, prepared.head);
    world.git.prepare(&place, &origin(&[])).unwrap();
}

#[test]
fn z_39_a_branch_that_an_agent_removed_is_there_again() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    git(&place.worktree, &["checkout", "--quiet", "--detach"]);
    git(&place.worktree, &["branch", "-D", "feature/a"]);
    assert_eq!(world.git.restore(&place, &prepared.head, 1).unwrap(), None);
    assert_eq!(world.git.branch("feature/a").unwrap(), Some(prepared.head));
    assert_eq!(
        git(&place.worktree, &["branch", "--show-current"]),
        "feature/a"
    );
}

#[test]
fn z_6_verified_commits_of_any_bead_are_kept_beside_interrupted_ones() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    write(&place.worktree.join("x"), "1");
    world
        .git
        .restore(&place, &prepared.head, 1)
        .unwrap()
        .unwrap();
    let (_, work) = world.worked("work", "x", "1");
    for id in ["bd-a", "bd/a b", "..", "é.lock", "@{-1}", &"ü".repeat(120)] {
        let bead = BeadId::parse(id).unwrap();
        assert_eq!(world.git.kept(&bead).unwrap(), None);
        world.git.keep(&bead, &prepared.head).unwrap();
        world.git.keep(&bead, &work).unwrap();
        world.git.keep(&bead, &work).unwrap();
        assert_eq!(world.git.kept(&bead).unwrap(), Some(work.clone()), "{id}");
    }
    assert_eq!(world.commit_of("refs/beads-ralph/bd-a/verified"), work);
    let refs = world.ask(&["for-each-ref", "refs/beads-ralph", "--format=%(refname)"]);
    assert_eq!(refs.lines().count(), 7, "{refs}");
}
