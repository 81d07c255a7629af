//! Worktrees as beads begin in them (L-15, L-21, Z-6, Z-7).

use beads_ralph_core::engine::{CommitId, Lasting};
use beads_ralph_runtime::ports::{Origin, Place, Repository as _};
use camino::Utf8Path;

use super::world::{World, commit_all, failing_hook, git, origin, read, write};

#[test]
fn l_15_a_branch_is_made_from_its_source_and_used_again() {
    let world = World::new();
    let main = world.commit_of("main");
    let (place, prepared) = world.prepare("a", &[]);
    assert_eq!(prepared.head, main);
    assert_eq!(prepared.from, "main");
    assert!(prepared.merging.is_none() && prepared.conflicts.is_empty());
    assert_eq!(
        git(&place.worktree, &["branch", "--show-current"]),
        "feature/a"
    );
    assert_eq!(git(&place.worktree, &["status", "--porcelain"]), "");
    assert_eq!(
        read(&place.worktree.join("other.txt")),
        "other\n",
        "not the user's change"
    );
    let again = world.git.prepare(&place, &origin(&[])).unwrap();
    assert_eq!(again.head, main);
    assert_eq!(again.from, "feature/a, which already existed");
    assert_eq!(world.git.branch("feature/a").unwrap(), Some(main));
    assert_eq!(world.git.branch("feature/b").unwrap(), None);
    assert_eq!(world.git.branch("feature").unwrap(), None);
}

#[test]
fn l_15_a_branch_that_is_there_gets_a_worktree() {
    let world = World::new();
    world.ask(&["branch", "feature/a", "main"]);
    world.ask(&["branch", "--no-track", "older", "main"]);
    let (place, prepared) = world.prepare("a", &[]);
    assert_eq!(prepared.from, "feature/a, which already existed");
    assert_eq!(
        git(&place.worktree, &["branch", "--show-current"]),
        "feature/a"
    );
}

#[test]
fn l_15_work_that_is_there_stays() {
    let world = World::new();
    let (place, _) = world.prepare("a", &[]);
    write(&place.worktree.join("new.txt"), "new");
    let commit = commit_all(&place.worktree, "work");
    write(&place.worktree.join("loose.txt"), "not committed");
    let again = world.git.prepare(&place, &origin(&[])).unwrap();
    assert_eq!(again.head, commit);
    assert_eq!(read(&place.worktree.join("loose.txt")), "not committed");
}

#[test]
fn l_15_a_path_that_is_taken_is_named_and_left_alone() {
    type Take = fn(&World, &Utf8Path);
    let takes: [(Take, &str); 5] = [
        (|_, path| write(path, "a file"), "a file"),
        (
            |_, path| write(&path.join("x"), "x"),
            "a non-empty directory",
        ),
        (
            |_, path| {
                write(&path.join("x"), "x");
                git(path, &["init", "--quiet"]);
            },
            "a separate git repository",
        ),
        (
            |world, path| {
                world.ask(&["worktree", "add", "--quiet", "-b", "someone", path.as_str()]);
            },
            "is on the branch 'someone', not on 'feature/a'",
        ),
        (
            |_, path| {
                write(&path.join(".git"), "gitdir: /nowhere/.git/worktrees/a\n");
                write(&path.join("x"), "x");
            },
            "a worktree of another repository",
        ),
    ];
    for (take, expected) in takes {
        let world = World::new();
        let place = world.place("a");
        take(&world, &place.worktree);
        let trouble = world.git.prepare(&place, &origin(&[])).unwrap_err();
        assert_eq!(trouble.lasting, Lasting::ForRun, "{trouble}");
        assert!(trouble.message.contains(expected), "{trouble}");
        assert!(
            trouble.message.contains(place.worktree.as_str()),
            "{trouble}"
        );
        assert!(place.worktree.exists());
    }
}

#[test]
fn l_15_the_main_checkout_is_nobodys_worktree() {
    let world = World::new();
    let place = Place {
        worktree: world.root.clone(),
        branch: "main".to_owned(),
        ..world.place("a")
    };
    let main = world.commit_of("main");
    let trouble = world.git.prepare(&place, &origin(&[])).unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForRun, "{trouble}");
    assert!(world.git.seal(&place, &main, "no").is_err());
    assert!(world.git.restore(&place, &main, 1).is_err());
    assert!(world.git.remove(&place).is_err());
    assert!(world.git.state(&place).is_err());
}

#[test]
fn b_28_a_branch_below_a_branch_is_refused_by_name() {
    let world = World::new();
    for (branch, other) in [("main/a", "main"), ("taken", "taken/by")] {
        if other != "main" {
            world.ask(&["branch", other]);
        }
        let place = Place {
            branch: branch.to_owned(),
            ..world.place("a")
        };
        let trouble = world.git.prepare(&place, &origin(&[])).unwrap_err();
        assert_eq!(trouble.lasting, Lasting::ForRun, "{trouble}");
        let message =
            format!("the branch '{branch}' cannot be created, because the branch '{other}' exists");
        assert!(trouble.message.contains(&message), "{trouble}");
    }
}

#[test]
fn l_15_a_branch_that_is_checked_out_elsewhere_is_named_with_its_place() {
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
    let trouble = world
        .git
        .prepare(&world.place("a"), &origin(&[]))
        .unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForRun);
    assert!(trouble.message.contains(elsewhere.as_str()), "{trouble}");
}

#[test]
fn l_15_a_source_that_is_not_there_is_told_with_those_that_are() {
    let world = World::new();
    let lost = Origin {
        source: "develop".to_owned(),
        wanted: Vec::new(),
    };
    let trouble = world.git.prepare(&world.place("a"), &lost).unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForRun);
    assert_eq!(
        trouble.message,
        "the source branch 'develop' does not exist; there are: main"
    );
    assert_eq!(world.git.check_source("develop").unwrap_err(), trouble);
    assert!(world.git.check_source("main").is_ok());
}

#[test]
fn z_6_what_is_wanted_is_merged_in_order_and_once() {
    let world = World::new();
    let (_, one) = world.worked("one", "one.txt", "1");
    let (_, two) = world.worked("two", "two.txt", "2");
    let (place, prepared) = world.prepare("both", &[&one, &two]);
    assert!(prepared.conflicts.is_empty() && prepared.merging.is_none());
    assert!(place.worktree.join("one.txt").exists() && place.worktree.join("two.txt").exists());
    assert_eq!(
        git(&place.worktree, &["rev-parse", "HEAD^1"]),
        one.0,
        "the first came by itself"
    );
    assert_eq!(git(&place.worktree, &["rev-parse", "HEAD^2"]), two.0);
    let said = git(&place.worktree, &["log", "-1", "--format=%s %an %ae"]);
    assert_eq!(
        said,
        "Merge bd-wanted-1 into feature/both Ann Ünger ann@example.org"
    );
    assert!(world.git.is_in(&one, &prepared.head).unwrap());
    assert!(!world.git.is_in(&prepared.head, &one).unwrap());
    let again = world.git.prepare(&place, &origin(&[&one, &two])).unwrap();
    assert_eq!(again.head, prepared.head);
    assert_eq!(git(&place.worktree, &["status", "--porcelain"]), "");
    let main = world.commit_of("main");
    let (_, only) = world.prepare("old", &[&main]);
    assert_eq!(only.head, main, "what is in already is not merged");
}

#[test]
fn z_6_a_wanted_commit_that_does_not_exist_is_the_beads_trouble() {
    let world = World::new();
    let lost = CommitId("1234567890123456789012345678901234567890".to_owned());
    let trouble = world
        .git
        .prepare(&world.place("a"), &origin(&[&lost]))
        .unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForBead);
    assert!(
        trouble
            .message
            .contains("cannot merge bd-wanted-0 (12345678) into 'feature/a'"),
        "{trouble}"
    );
    let (_, prepared) = world.prepare("a", &[]);
    assert_eq!(
        prepared.head,
        world.commit_of("main"),
        "nothing was left in the way"
    );
}

#[test]
fn l_21_a_conflict_is_left_for_the_agent_and_told_again() {
    let world = World::new();
    let (place, origin, prepared) = world.conflict();
    assert_eq!(prepared.merging.as_ref(), Some(&origin.wanted[1]));
    assert_eq!(prepared.head, origin.wanted[0].commit);
    assert!(read(&place.worktree.join("shared.txt")).contains("<<<<<<< "));
    assert_eq!(
        world.git.prepare(&place, &origin).unwrap().conflicts,
        ["shared.txt"]
    );
    let again = world.again().prepare(&place, &origin).unwrap();
    assert_eq!(
        (again.merging, again.head),
        (prepared.merging, prepared.head)
    );
}

#[test]
fn l_21_after_a_conflict_was_solved_and_sealed_the_rest_is_merged() {
    let world = World::new();
    let (_, more) = world.worked("more", "more.txt", "more");
    let (place, mut origin, prepared) = world.conflict();
    origin.wanted.push(beads_ralph_runtime::ports::Wanted {
        name: "bd-more".to_owned(),
        commit: more.clone(),
    });
    write(&place.worktree.join("shared.txt"), "one\nboth\nthree\n");
    let sealed = world.git.seal(&place, &prepared.head, "solved").unwrap();
    assert!(sealed.unresolved.is_empty(), "{sealed:?}");
    let ready = world.git.prepare(&place, &origin).unwrap();
    assert!(ready.conflicts.is_empty() && ready.merging.is_none());
    for wanted in &origin.wanted {
        assert!(world.git.is_in(&wanted.commit, &ready.head).unwrap());
    }
    assert!(place.worktree.join("more.txt").exists());
}

#[test]
fn z_7_a_worktree_that_somebody_works_in_is_not_used() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    #[expect(clippy::disallowed_methods, reason = "somebody must stand there")]
    let mut somebody = std::process::Command::new("sh")
        .args(["-c", "sleep 60 & wait"])
        .current_dir(&place.worktree)
        .spawn()
        .unwrap();
    // A child of ours could be a shim; its own child cannot.
    let child = loop {
        let path = format!("/proc/{0}/task/{0}/children", somebody.id());
        let children = std::fs::read_to_string(path).unwrap();
        if let Some(child) = children.split_whitespace().next() {
            break child.to_owned();
        }
        std::thread::yield_now();
    };
    for trouble in [
        world.git.prepare(&place, &origin(&[])).unwrap_err(),
        world.git.restore(&place, &prepared.head, 1).unwrap_err(),
        world.git.remove(&place).unwrap_err(),
    ] {
        assert_eq!(trouble.lasting, Lasting::Occupied);
        assert!(
            trouble.message.contains(&format!("process {child} (")),
            "{trouble}"
        );
    }
    somebody.kill().unwrap();
    somebody.wait().unwrap();
    let pid = rustix::process::Pid::from_raw(child.parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    while std::fs::read_link(format!("/proc/{child}/cwd")).is_ok() {
        std::thread::yield_now();
    }
    world.git.prepare(&place, &origin(&[])).unwrap();
}

#[test]
fn z_7_a_worktree_that_is_not_on_its_branch_is_not_used() {
    let world = World::new();
    let (place, _) = world.prepare("a", &[]);
    git(&place.worktree, &["checkout", "--quiet", "--detach"]);
    let trouble = world.git.prepare(&place, &origin(&[])).unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForBead);
    assert!(
        trouble.message.contains("a commit without a branch"),
        "{trouble}"
    );
}

#[test]
fn z_7_a_branch_of_another_history_is_not_used() {
    let world = World::new();
    let (place, _) = world.prepare("a", &[]);
    git(
        &place.worktree,
        &["checkout", "--quiet", "--orphan", "else"],
    );
    commit_all(&place.worktree, "another beginning");
    git(&place.worktree, &["checkout", "--quiet", "-B", "feature/a"]);
    let trouble = world.git.prepare(&place, &origin(&[])).unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForBead);
    assert!(
        trouble
            .message
            .contains("no commit in common with its source 'main'"),
        "{trouble}"
    );
}

#[test]
fn l_15_hooks_of_the_user_do_not_stop_us() {
    let world = World::with(beads_ralph_runtime::git::Settings::default(), |root| {
        for hook in [
            "pre-commit",
            "commit-msg",
            "prepare-commit-msg",
            "pre-merge-commit",
            "post-checkout",
            "post-merge",
            "reference-transaction",
        ] {
            failing_hook(root, hook);
        }
    });
    let (_, one) = world.worked("one", "one.txt", "1");
    let (_, two) = world.worked("two", "two.txt", "2");
    let (_, prepared) = world.prepare("both", &[&one, &two]);
    let integrated = world
        .git
        .integrate("ralph/plan", "main", &prepared.head, "in")
        .unwrap();
    assert!(matches!(
        integrated,
        beads_ralph_runtime::ports::Integrated::In {
            was_there: false,
            ..
        }
    ));
}
