//! Worktrees and branches that go (L-10, L-22).

use beads_ralph_core::engine::Lasting;
use beads_ralph_runtime::ports::Repository as _;

use super::world::{World, commit_all, git, write};

#[test]
fn l_22_a_worktree_goes_its_branch_stays_and_again_does_nothing() {
    let world = World::new();
    let (place, commit) = world.worked("a", "a.txt", "1");
    write(&place.worktree.join("ignored/cache"), "1");
    world.git.remove(&place).unwrap();
    assert!(!place.worktree.exists());
    assert_eq!(world.git.branch("feature/a").unwrap(), Some(commit));
    assert_eq!(world.git.worktrees().unwrap().len(), 1);
    world.git.remove(&place).unwrap();
}

#[test]
fn l_22_a_worktree_with_something_to_lose_stays() {
    let world = World::new();
    let (place, _) = world.prepare("a", &[]);
    write(&place.worktree.join("loose.txt"), "1");
    let trouble = world.git.remove(&place).unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForBead);
    assert!(trouble.message.contains("loose.txt"), "{trouble}");
    git(&place.worktree, &["checkout", "--quiet", "--detach"]);
    commit_all(&place.worktree, "on no branch");
    let trouble = world.git.remove(&place).unwrap_err();
    assert!(trouble.message.contains("is on no branch"), "{trouble}");
    git(&place.worktree, &["checkout", "--quiet", "-B", "feature/a"]);
    git(
        &place.worktree,
        &["worktree", "lock", "--reason", "mine", "."],
    );
    assert!(
        world
            .git
            .remove(&place)
            .unwrap_err()
            .message
            .contains("locked")
    );
    let (place, _, _) = world.conflict();
    assert!(world.git.remove(&place).is_err());
    assert!(place.worktree.exists());
}

#[test]
fn l_22_a_removal_that_was_cut_off_is_finished() {
    let world = World::new();
    let (place, _) = world.worked("a", "a.txt", "1");
    let aside = place.worktree.with_file_name(".a.beads-ralph-removed");
    std::fs::rename(&place.worktree, &aside).unwrap();
    std::fs::remove_file(aside.join("a.txt")).unwrap();
    world.git.prune().unwrap();
    world.git.remove(&place).unwrap();
    assert!(!aside.exists() && !place.worktree.exists());
    assert_eq!(world.git.worktrees().unwrap().len(), 1);
    let (place, _) = world.prepare("a", &[]);
    assert!(
        place.worktree.join("a.txt").exists(),
        "its branch is as it was"
    );
}

#[test]
fn l_22_what_is_no_worktree_of_ours_stays() {
    let world = World::new();
    let place = world.place("a");
    write(&place.worktree.join("theirs.txt"), "1");
    let trouble = world.git.remove(&place).unwrap_err();
    assert!(
        trouble.message.contains("a non-empty directory"),
        "{trouble}"
    );
    assert!(place.worktree.join("theirs.txt").exists());
}

#[test]
fn l_10_git_forgets_worktrees_that_are_gone() {
    let world = World::new();
    let (place, _) = world.prepare("a", &[]);
    let (locked, _) = world.prepare("locked", &[]);
    world.ask(&[
        "worktree",
        "lock",
        "--reason",
        "on a stick",
        locked.worktree.as_str(),
    ]);
    std::fs::remove_dir_all(&place.worktree).unwrap();
    std::fs::remove_dir_all(&locked.worktree).unwrap();
    let list = world.git.worktrees().unwrap();
    assert!(list[0].is_main && list[0].path == world.root);
    assert_eq!(list[0].branch.as_deref(), Some("main"));
    let gone = list
        .iter()
        .find(|worktree| worktree.path == place.worktree)
        .unwrap();
    assert!(gone.is_prunable && gone.branch.as_deref() == Some("feature/a"));
    world.git.prune().unwrap();
    let list = world.git.worktrees().unwrap();
    assert_eq!(list.len(), 2);
    assert_eq!(list[1].locked.as_deref(), Some("on a stick"));
}

#[test]
fn a_branch_is_deleted_only_where_it_was_seen_and_nobody_stands_on_it() {
    let world = World::new();
    let main = world.commit_of("main");
    let (place, commit) = world.worked("a", "a.txt", "1");
    let trouble = world.git.delete_branch("feature/a", &commit).unwrap_err();
    assert!(
        trouble.message.contains(place.worktree.as_str()),
        "{trouble}"
    );
    world.git.remove(&place).unwrap();
    let trouble = world.git.delete_branch("feature/a", &main).unwrap_err();
    assert!(trouble.message.contains("left alone"), "{trouble}");
    assert!(world.git.delete_branch("feature/a", &commit).unwrap());
    assert!(!world.git.delete_branch("feature/a", &commit).unwrap());
    assert!(world.git.delete_branch("main", &main).is_err());
}
