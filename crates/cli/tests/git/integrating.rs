//! Verified commits on their way into the target branch (Z-11).

use beads_ralph_core::engine::{CommitId, Lasting};
use beads_ralph_runtime::ports::{Integrated, Repository as _};

use super::world::{World, git};

const TARGET: &str = "ralph/plan";

fn put(world: &World, commit: &CommitId) -> (CommitId, bool) {
    match world
        .git
        .integrate(TARGET, "main", commit, "Merge the bead")
        .unwrap()
    {
        Integrated::In { commit, was_there } => (commit, was_there),
        Integrated::Conflict { files, .. } => panic!("a conflict in {files:?}"),
    }
}

#[test]
fn z_11_a_commit_comes_in_by_a_merge_commit_and_once() {
    let world = World::new();
    let main = world.commit_of("main");
    let (_, one) = world.worked("one", "one.txt", "1");
    let (_, two) = world.worked("two", "two.txt", "2");
    let (first, was_there) = put(&world, &one);
    assert!(!was_there);
    assert_eq!(world.commit_of(TARGET), first);
    let parents = world.ask(&["log", "-1", "--format=%P %s %an", TARGET]);
    assert_eq!(
        parents,
        format!("{main} {one} Merge the bead Ann Ünger"),
        "even where it could be moved"
    );
    let (second, was_there) = put(&world, &two);
    assert!(!was_there && world.git.is_in(&first, &second).unwrap());
    assert_eq!(
        put(&world, &one),
        (first, true),
        "the merge that brought it is found again"
    );
    assert_eq!(put(&world, &two), (second.clone(), true));
    assert_eq!(world.commit_of(TARGET), second);
    let files = world.ask(&["ls-tree", "--name-only", TARGET]);
    assert!(
        files.contains("one.txt") && files.contains("two.txt"),
        "{files}"
    );
}

#[test]
fn z_11_what_comes_in_with_something_else_is_there() {
    let world = World::new();
    let (_, one) = world.worked("one", "one.txt", "1");
    let (_, below) = world.prepare("two", &[&one]);
    let place = world.place("two");
    super::world::write(&place.worktree.join("two.txt"), "2");
    let two = world.git.seal(&place, &below.head, "two").unwrap().commit;
    let (merge, _) = put(&world, &two);
    assert_eq!(put(&world, &one), (merge, true));
}

#[test]
fn z_11_a_bead_without_changes_makes_the_branch_and_no_commit() {
    let world = World::new();
    let main = world.commit_of("main");
    assert_eq!(put(&world, &main), (main.clone(), true));
    assert_eq!(world.commit_of(TARGET), main);
}

#[test]
fn z_11_a_conflict_changes_nothing() {
    let world = World::new();
    let (_, ours) = world.worked("ours", "shared.txt", "ours\n");
    let (_, theirs) = world.worked("theirs", "shared.txt", "theirs\n");
    let (head, _) = put(&world, &ours);
    let answer = world.git.integrate(TARGET, "main", &theirs, "no").unwrap();
    let files = vec!["shared.txt".to_owned()];
    let target = head.clone();
    assert_eq!(answer, Integrated::Conflict { target, files });
    assert_eq!(world.commit_of(TARGET), head);
}

#[test]
fn z_11_a_branch_that_is_checked_out_is_not_moved() {
    let world = World::new();
    let (_, one) = world.worked("one", "one.txt", "1");
    let before = world.commit_of("main");
    let trouble = world.git.integrate("main", "main", &one, "no").unwrap_err();
    assert_eq!(trouble.lasting, Lasting::Occupied);
    assert!(trouble.message.contains(world.root.as_str()), "{trouble}");
    let elsewhere = world.base.join("else where");
    world.ask(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        TARGET,
        elsewhere.as_str(),
        "main",
    ]);
    let trouble = world.git.integrate(TARGET, "main", &one, "no").unwrap_err();
    assert!(trouble.message.contains(elsewhere.as_str()), "{trouble}");
    assert_eq!(world.commit_of("main"), before);
    assert_eq!(world.commit_of(TARGET), before);
    git(&elsewhere, &["merge", "--quiet", "--no-edit", &one.0]);
    let answer = world.git.integrate(TARGET, "main", &one, "no").unwrap();
    assert!(
        matches!(
            answer,
            Integrated::In {
                was_there: true,
                ..
            }
        ),
        "what is in needs no move"
    );
}

#[test]
fn b_28_a_target_below_a_branch_is_refused_by_name() {
    let world = World::new();
    let (_, one) = world.worked("one", "one.txt", "1");
    let trouble = world
        .git
        .integrate("main/ralph", "main", &one, "no")
        .unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForRun);
    assert!(
        trouble.message.contains("the branch 'main' exists"),
        "{trouble}"
    );
    let trouble = world
        .git
        .integrate(TARGET, "develop", &one, "no")
        .unwrap_err();
    assert!(
        trouble
            .message
            .contains("the source branch 'develop' does not exist"),
        "{trouble}"
    );
}
