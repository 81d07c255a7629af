//! Files that are copied into worktrees, and never committed (Z-5).

use beads_ralph_core::engine::Lasting;
use beads_ralph_runtime::git::Settings;
use beads_ralph_runtime::ports::Repository as _;

use super::world::{World, commit_all, git, origin, own_of, read, write};

fn settings(patterns: &[&str]) -> Settings {
    Settings {
        copy: patterns.iter().map(|&pattern| pattern.to_owned()).collect(),
        ..Settings::default()
    }
}

fn world(patterns: &[&str]) -> World {
    World::with(settings(patterns), |root| {
        for (name, text) in [
            (".env", "SECRET=1"),
            (".env.[local]", "SECRET=2"),
            ("conf/own.yml", "own"),
            ("conf/deep/er.yml", "deeper"),
            ("ignored/cache/x", "x"),
        ] {
            write(&root.join(name), text);
        }
        std::os::unix::fs::symlink("x", root.join("ignored/cache/link")).unwrap();
    })
}

#[test]
fn z_5_what_is_copied_in_is_never_committed_and_no_dirt() {
    let world = world(&[".env*", "conf", "ignored/cache", "absent", "shared.txt"]);
    let (place, prepared) = world.prepare("a", &[]);
    let file = |name: &str| place.worktree.join(name);
    assert_eq!(read(&file(".env")), "SECRET=1");
    assert_eq!(read(&file(".env.[local]")), "SECRET=2");
    assert_eq!(read(&file("conf/deep/er.yml")), "deeper");
    assert_eq!(
        std::fs::read_link(file("ignored/cache/link"))
            .unwrap()
            .to_str(),
        Some("x")
    );
    assert_eq!(
        read(&file("shared.txt")),
        "one\ntwo\nthree\n",
        "what git keeps is not replaced"
    );
    assert_eq!(world.git.state(&place).unwrap().dirt, None);
    write(&file(".env"), "SECRET=changed");
    write(&file("new.txt"), "1");
    write(&file("shared.txt"), "work\n");
    git(&place.worktree, &["add", "--all"]);
    let sealed = world.git.seal(&place, &prepared.head, "work").unwrap();
    assert_eq!(
        sealed.changed_files,
        ["new.txt", "shared.txt"],
        "although the agent had added all"
    );
    assert_eq!(
        read(&file(".env")),
        "SECRET=changed",
        "and it is still there"
    );
    assert_eq!(world.git.state(&place).unwrap().dirt, None);
    world.git.prepare(&place, &origin(&[])).unwrap();
    assert_eq!(
        read(&file(".env")),
        "SECRET=changed",
        "what is there is not copied again"
    );
    write(&file("loose.txt"), "1");
    let kept = world
        .git
        .restore(&place, &prepared.head, 1)
        .unwrap()
        .unwrap();
    assert!(
        !world
            .ask(&["ls-tree", "-r", "--name-only", &kept.0])
            .contains(".env")
    );
    assert_eq!(read(&file("conf/own.yml")), "own", "restoring leaves it");
    assert!(!file("loose.txt").exists());
    world.git.remove(&place).unwrap();
}

#[test]
fn z_5_what_the_agent_commits_of_it_is_not_handed_over() {
    let world = world(&[".env"]);
    let (place, prepared) = world.prepare("a", &[]);
    commit_all(&place.worktree, "everything");
    let trouble = world.git.seal(&place, &prepared.head, "work").unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForBead);
    assert!(
        trouble.message.contains("the agent committed '.env'"),
        "{trouble}"
    );
}

#[test]
fn z_5_a_copy_that_was_cut_off_is_made_again() {
    let world = world(&["conf"]);
    let (place, _) = world.prepare("a", &[]);
    let list = own_of(&place).join("beads-ralph-copied");
    write(&list, &read(&list).replace("true", "false"));
    write(&place.worktree.join("conf/own.yml"), "ha");
    let again = world.again_with(settings(&["conf"]));
    again.prepare(&place, &origin(&[])).unwrap();
    assert_eq!(read(&place.worktree.join("conf/own.yml")), "own");
    assert!(read(&list).contains("true"));
}

#[test]
fn z_5_nothing_is_copied_from_or_to_outside() {
    for pattern in ["../x", "/etc/passwd", "a/../../x", "", "a**b"] {
        let world = world(&[pattern]);
        let trouble = world
            .git
            .prepare(&world.place("a"), &origin(&[]))
            .unwrap_err();
        assert_eq!(trouble.lasting, Lasting::ForRun);
        assert!(
            trouble
                .message
                .contains(&format!("worktrees.copy: '{pattern}'")),
            "{trouble}"
        );
    }
    let mut world = world(&["conf/own.yml", "*", "**/config"]);
    let outside = world.base.join("outside");
    write(&outside.join("x"), "x");
    world.ask(&["branch", "feature/a"]);
    let scratch = world.base.join("scratch");
    world.ask(&["worktree", "add", "--quiet", scratch.as_str(), "feature/a"]);
    std::os::unix::fs::symlink(&outside, scratch.join("conf")).unwrap();
    commit_all(&scratch, "a link");
    world.ask(&["worktree", "remove", scratch.as_str()]);
    world.settle();
    let (place, _) = world.prepare("a", &[]);
    assert!(
        !outside.join("own.yml").exists(),
        "a link in the branch is not followed"
    );
    assert_eq!(
        git(&place.worktree, &["branch", "--show-current"]),
        "feature/a"
    );
}
