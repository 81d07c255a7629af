//! What a git or an orchestrator leaves that was killed between any two steps: the next call finds it and goes on.

use beads_ralph_core::engine::Lasting;
use beads_ralph_runtime::os::files;
use beads_ralph_runtime::ports::{Place, Repository as _};
use camino::Utf8Path;

use super::world::{World, git, git_of, origin, own_of, read, soon, write};

/// After whatever happened, a bead is prepared as if nothing had.
#[track_caller]
fn check_prepares(world: &World, place: &Place) {
    for git in [&world.git, &world.again()] {
        let prepared = git.prepare(place, &origin(&[])).unwrap();
        assert_eq!(prepared.head, world.commit_of("main"));
        assert_eq!(git.state(place).unwrap().dirt, None);
    }
    assert_eq!(
        git(&place.worktree, &["branch", "--show-current"]),
        place.branch
    );
    assert!(!git(&place.worktree, &["worktree", "list", "--porcelain"]).contains("locked"));
    assert!(place.worktree.join("shared.txt").exists());
}

#[test]
fn l_15_a_worktree_that_was_deleted_by_hand_is_made_again() {
    let world = World::new();
    let (place, _) = world.prepare("a", &[]);
    std::fs::remove_dir_all(&place.worktree).unwrap();
    check_prepares(&world, &place);
    std::fs::remove_dir_all(&place.worktree).unwrap();
    files::create_directory(&place.worktree).unwrap();
    check_prepares(&world, &place);
}

#[test]
fn l_15_a_worktree_that_moved_away_gives_its_branch_back() {
    let world = World::new();
    let elsewhere = world.base.join("elsewhere");
    world.ask(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "feature/a",
        elsewhere.as_str(),
    ]);
    std::fs::remove_dir_all(&elsewhere).unwrap();
    check_prepares(&world, &world.place("a"));
}

#[test]
fn l_15_git_killed_while_it_made_a_worktree_is_finished() {
    /// What git has done when it is killed.
    type Undo = fn(&Utf8Path, &Utf8Path);
    let states: [(&str, Undo); 5] = [
        ("no file yet", |worktree, own| {
            files::remove_leftover(&own.join("index"));
            for name in ["shared.txt", "other.txt", ".gitignore"] {
                files::remove_leftover(&worktree.join(name));
            }
        }),
        ("some files", |worktree, own| {
            files::remove_leftover(&own.join("index"));
            files::remove_leftover(&worktree.join("shared.txt"));
        }),
        ("no branch yet", |worktree, own| {
            files::remove_leftover(&own.join("index"));
            files::remove_leftover(&worktree.join("shared.txt"));
            write(&own.join("HEAD"), &format!("{}\n", "0".repeat(40)));
        }),
        ("only the link", |worktree, own| {
            for name in ["index", "HEAD", "commondir"] {
                files::remove_leftover(&own.join(name));
            }
            for name in ["shared.txt", "other.txt", ".gitignore"] {
                files::remove_leftover(&worktree.join(name));
            }
        }),
        ("no directory", |worktree, own| {
            std::fs::remove_dir_all(worktree).unwrap();
            files::remove_leftover(&own.join("index"));
        }),
    ];
    for (what, undo) in states {
        let world = World::new();
        let (place, _) = world.prepare("a", &[]);
        let own = git_of(&place);
        undo(&place.worktree, &own);
        write(&own.join("locked"), "initializing\n");
        println!("{what}");
        check_prepares(&world, &place);
    }
}

#[test]
fn l_15_a_path_through_a_link_is_the_same_path() {
    let world = World::new();
    let link = world.base.join("link");
    std::os::unix::fs::symlink(world.base.join("wörk trees"), &link).unwrap();
    let (place, prepared) = world.prepare("a", &[]);
    let through = Place {
        worktree: link.join("a"),
        ..place.clone()
    };
    assert_eq!(
        world.git.prepare(&through, &origin(&[])).unwrap().head,
        prepared.head
    );
    assert_eq!(
        world.git.clashes(std::slice::from_ref(&through)).unwrap(),
        [""; 0]
    );
    let own = git_of(&place);
    std::fs::remove_dir_all(&place.worktree).unwrap();
    write(&own.join("HEAD"), &format!("{}\n", "0".repeat(40)));
    write(&own.join("locked"), "initializing\n");
    check_prepares(&world, &through);
}

#[test]
fn l_15_a_worktree_that_the_user_locked_and_took_away_is_not_made_again() {
    let world = World::new();
    let (place, _) = world.prepare("a", &[]);
    world.ask(&[
        "worktree",
        "lock",
        "--reason",
        "on a stick",
        place.worktree.as_str(),
    ]);
    std::fs::remove_dir_all(&place.worktree).unwrap();
    let trouble = world.git.prepare(&place, &origin(&[])).unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForRun);
    assert!(trouble.message.contains("on a stick"), "{trouble}");
}

#[test]
fn z_6_a_merge_of_ours_that_was_killed_is_done_again() {
    let world = World::new();
    let (_, one) = world.worked("one", "one.txt", "1");
    let (_, two) = world.worked("two", "two.txt", "2");
    let wanted = origin(&[&one, &two]);
    // Files were written, the index was not; then with the index, then with a merge that only lacks its commit.
    for name in ["files", "index", "commit"] {
        let (place, prepared) = world.prepare(name, &[&one]);
        assert_eq!(prepared.head, one);
        if name != "commit" {
            write(&own_of(&place).join("beads-ralph-merging"), "");
        }
        match name {
            "files" => write(&place.worktree.join("two.txt"), "half"),
            "index" => {
                write(&place.worktree.join("two.txt"), "2");
                git(&place.worktree, &["add", "--all"]);
            }
            _ => {
                git(
                    &place.worktree,
                    &["merge", "--quiet", "--no-ff", "--no-commit", &two.0],
                );
            }
        }
        let ready = world.git.prepare(&place, &wanted).unwrap();
        assert!(world.git.is_in(&two, &ready.head).unwrap(), "{name}");
        assert_eq!(read(&place.worktree.join("two.txt")), "2");
        assert_eq!(world.git.state(&place).unwrap().dirt, None);
        assert_eq!(world.git.prepare(&place, &wanted).unwrap().head, ready.head);
    }
}

#[test]
fn l_21_a_conflict_whose_merge_was_cut_off_is_found_again() {
    let world = World::new();
    let (place, origin, prepared) = world.conflict();
    files::remove_leftover(&git_of(&place).join("MERGE_HEAD"));
    write(&own_of(&place).join("beads-ralph-merging"), "");
    let again = world.git.prepare(&place, &origin).unwrap();
    assert_eq!(
        (again.conflicts, again.merging),
        (prepared.conflicts, prepared.merging)
    );
}

#[test]
fn z_7_c_9_locks_of_a_git_that_was_killed_are_removed_and_others_are_not() {
    let world = World::with(soon(), |_| {});
    let (place, prepared) = world.prepare("a", &[]);
    let own = git_of(&place);
    let locks = [
        own.join("index.lock"),
        own.join("HEAD.lock"),
        world.root.join(".git/refs/heads/feature/a.lock"),
    ];
    let leave = || locks.iter().for_each(|lock| write(lock, ""));
    write(&place.worktree.join("new.txt"), "1");
    for lock in &locks {
        leave();
        let held = std::fs::File::open(lock).unwrap();
        let trouble = world.git.seal(&place, &prepared.head, "no").unwrap_err();
        assert_eq!(trouble.lasting, Lasting::Passing, "{trouble}");
        let own = format!("process {} ", std::process::id());
        assert!(trouble.message.contains(&own), "{trouble}");
        assert!(trouble.message.contains(lock.as_str()), "{trouble}");
        drop(held);
    }
    leave();
    let sealed = world.git.seal(&place, &prepared.head, "work").unwrap();
    assert_eq!(sealed.changed_files, ["new.txt"]);
    leave();
    world.git.prepare(&place, &origin(&[])).unwrap();
    leave();
    world.git.restore(&place, &prepared.head, 1).unwrap();
    assert_eq!(world.git.state(&place).unwrap().head, prepared.head);
}

#[test]
fn l_22_a_removal_that_was_cut_off_is_finished() {
    let world = World::new();
    let (place, _) = world.prepare("a", &[]);
    std::fs::remove_dir_all(&place.worktree).unwrap();
    world.git.remove(&place).unwrap();
    assert_eq!(world.git.worktrees().unwrap().len(), 1);
    assert_eq!(
        world.git.branch("feature/a").unwrap(),
        Some(world.commit_of("main"))
    );
}
