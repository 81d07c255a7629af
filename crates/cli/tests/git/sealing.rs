//! What an attempt leaves, and what becomes of it (Z-5).

use beads_ralph_core::engine::Lasting;
use beads_ralph_runtime::ports::Repository as _;

use super::world::{World, commit_all, git, read, write};

#[test]
fn z_5_what_was_left_is_committed_but_not_what_is_ignored() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    let file = |name: &str| place.worktree.join(name);
    write(&file("committed.txt"), "1");
    commit_all(&place.worktree, "by the agent");
    write(&file("neu ü.txt"), "2");
    write(&file("shared.txt"), "changed\n");
    write(&file("ignored/output"), "built");
    write(&file(".ralph/log"), "ours");
    write(&file(".beads/log"), "ours");
    std::fs::remove_file(file("other.txt")).unwrap();
    git(&place.worktree, &["add", "neu ü.txt"]);
    let state = world.git.state(&place).unwrap();
    let dirt = state.dirt.unwrap();
    assert!(
        dirt.contains("neu ü.txt") && dirt.contains("other.txt"),
        "{dirt}"
    );
    assert!(
        !dirt.contains("ignored") && !dirt.contains(".ralph") && !dirt.contains(".beads"),
        "{dirt}"
    );
    let sealed = world
        .git
        .seal(&place, &prepared.head, "leftovers\n\n# kept")
        .unwrap();
    assert_eq!(
        sealed.changed_files,
        ["committed.txt", "neu ü.txt", "other.txt", "shared.txt"]
    );
    assert_eq!(
        sealed.tree,
        git(&place.worktree, &["rev-parse", "HEAD^{tree}"])
    );
    assert_eq!(
        git(&place.worktree, &["log", "-1", "--format=%B"]),
        "leftovers\n\n# kept"
    );
    let state = world.git.state(&place).unwrap();
    assert_eq!((state.head, state.dirt), (sealed.commit.clone(), None));
    let again = world
        .git
        .seal(&place, &prepared.head, "nothing more")
        .unwrap();
    assert_eq!(again, sealed, "nothing is committed twice");
    let changed = world.git.changed_files(&prepared.head, &sealed.commit);
    assert_eq!(changed.unwrap(), sealed.changed_files);
}

#[test]
fn z_5_an_attempt_that_did_nothing_is_the_base() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    let sealed = world.git.seal(&place, &prepared.head, "nothing").unwrap();
    assert_eq!(sealed.commit, prepared.head);
    assert_eq!(
        sealed.tree,
        git(&place.worktree, &["rev-parse", "main^{tree}"])
    );
    assert!(sealed.changed_files.is_empty() && sealed.unresolved.is_empty());
}

#[test]
fn z_5_many_files_are_all_named() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    let name = |number: usize| format!("{}/{number:05}", "directory-with-a-long-name-".repeat(8));
    for number in 0..6000 {
        let path = place.worktree.join(name(number));
        beads_ralph_runtime::os::files::create_directory(path.parent().unwrap()).unwrap();
        drop(beads_ralph_runtime::os::files::stream_into(&path).unwrap());
    }
    let sealed = world.git.seal(&place, &prepared.head, "many").unwrap();
    assert_eq!(
        sealed.changed_files.len(),
        6000,
        "more than memory keeps of an output"
    );
    assert_eq!(sealed.changed_files[3000], name(3000));
    assert_eq!(world.git.state(&place).unwrap().dirt, None);
}

#[test]
fn l_21_a_conflict_that_nobody_solved_is_not_committed() {
    let world = World::new();
    let (place, _, prepared) = world.conflict();
    write(&place.worktree.join("new.txt"), "made meanwhile");
    let sealed = world.git.seal(&place, &prepared.head, "no").unwrap();
    assert_eq!(sealed.unresolved, ["shared.txt"]);
    assert_eq!(sealed.commit, prepared.head);
    assert!(world.git.state(&place).unwrap().dirt.is_some());
    // Adding a file does not solve it while the markers are there.
    git(&place.worktree, &["add", "--all"]);
    let sealed = world.git.seal(&place, &prepared.head, "no").unwrap();
    assert_eq!(
        (sealed.unresolved, sealed.commit),
        (vec!["shared.txt".to_owned()], prepared.head)
    );
}

#[test]
fn l_21_a_conflict_counts_as_solved_with_and_without_git_add() {
    for is_added in [true, false] {
        let world = World::new();
        let (place, origin, prepared) = world.conflict();
        write(
            &place.worktree.join("shared.txt"),
            "one\nboth\n=======\nthree\n",
        );
        if is_added {
            git(&place.worktree, &["add", "shared.txt"]);
        }
        let sealed = world.git.seal(&place, &prepared.head, "solved").unwrap();
        assert!(sealed.unresolved.is_empty(), "{sealed:?}");
        assert_eq!(
            git(&place.worktree, &["rev-parse", "HEAD^2"]),
            origin.wanted[1].commit.0
        );
        assert_eq!(
            git(&place.worktree, &["log", "-1", "--format=%s"]),
            "solved"
        );
        assert_eq!(world.git.state(&place).unwrap().dirt, None);
    }
}

#[test]
fn l_21_a_file_that_one_side_removed_must_be_decided_about() {
    let world = World::new();
    let (ours, base) = world.prepare("ours", &[]);
    git(&ours.worktree, &["rm", "--quiet", "shared.txt"]);
    let ours = world.git.seal(&ours, &base.head, "removed").unwrap().commit;
    let (_, theirs) = world.worked("theirs", "shared.txt", "one\ntheirs\nthree\n");
    let (place, prepared) = world.prepare("both", &[&ours, &theirs]);
    assert_eq!(prepared.conflicts, ["shared.txt"]);
    let sealed = world.git.seal(&place, &prepared.head, "no").unwrap();
    assert_eq!(
        sealed.unresolved,
        ["shared.txt"],
        "no markers, and yet nobody decided"
    );
    std::fs::remove_file(place.worktree.join("shared.txt")).unwrap();
    let sealed = world.git.seal(&place, &prepared.head, "removed").unwrap();
    assert!(sealed.unresolved.is_empty(), "{sealed:?}");
    assert!(world.git.is_in(&theirs, &sealed.commit).unwrap());
}

#[test]
fn l_21_a_merge_that_came_out_as_one_side_is_finished_too() {
    let world = World::new();
    let (place, origin, prepared) = world.conflict();
    git(&place.worktree, &["checkout", "--ours", "shared.txt"]);
    git(&place.worktree, &["add", "shared.txt"]);
    assert_eq!(
        git(&place.worktree, &["status", "--porcelain"]),
        "",
        "no file differs"
    );
    let dirt = world.git.state(&place).unwrap().dirt;
    assert_eq!(dirt.as_deref(), Some("Git has not finished a merge"));
    let sealed = world.git.seal(&place, &prepared.head, "ours").unwrap();
    assert!(
        world
            .git
            .is_in(&origin.wanted[1].commit, &sealed.commit)
            .unwrap()
    );
    assert_eq!(world.git.state(&place).unwrap().dirt, None);
}

#[test]
fn z_5_an_agent_that_left_the_branch_is_led_back() {
    let world = World::new();
    for (name, leave) in [
        ("a", ["checkout", "--quiet", "--detach"].as_slice()),
        ("b", &["checkout", "--quiet", "-b", "my-own"]),
    ] {
        let (place, prepared) = world.prepare(name, &[]);
        git(&place.worktree, leave);
        write(&place.worktree.join("new.txt"), "1");
        commit_all(&place.worktree, "elsewhere");
        write(&place.worktree.join("loose.txt"), "2");
        let sealed = world.git.seal(&place, &prepared.head, "left").unwrap();
        assert_eq!(sealed.changed_files, ["loose.txt", "new.txt"]);
        assert_eq!(
            git(&place.worktree, &["branch", "--show-current"]),
            place.branch
        );
        assert_eq!(
            world.git.branch(&place.branch).unwrap(),
            Some(sealed.commit)
        );
    }
}

#[test]
fn z_5_an_agent_that_went_another_way_is_told_of() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    write(&place.worktree.join("new.txt"), "1");
    commit_all(&place.worktree, "on the branch");
    git(
        &place.worktree,
        &["checkout", "--quiet", "-b", "my-own", "main"],
    );
    let trouble = world.git.seal(&place, &prepared.head, "no").unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForBead);
    assert!(
        trouble.message.contains("on the branch 'my-own'"),
        "{trouble}"
    );
}

#[test]
fn z_7_an_agent_that_dropped_what_it_began_from_is_told_of() {
    let world = World::new();
    let (_, one) = world.worked("one", "one.txt", "1");
    let (place, prepared) = world.prepare("a", &[&one]);
    git(&place.worktree, &["reset", "--quiet", "--hard", "main"]);
    write(&place.worktree.join("new.txt"), "1");
    let trouble = world.git.seal(&place, &prepared.head, "no").unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForBead);
    assert!(
        trouble.message.contains("does not descend from the commit"),
        "{trouble}"
    );
    assert_eq!(read(&place.worktree.join("new.txt")), "1");
}
