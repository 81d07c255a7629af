//! The remote: what beads start from when it is ahead (Z-6), and what is pushed to it (Z-5).

use std::time::Duration;

use beads_ralph_core::engine::Lasting;
use beads_ralph_runtime::git::Settings;
use beads_ralph_runtime::ports::Repository as _;
use camino::{Utf8Path, Utf8PathBuf};

use super::world::{World, commit_all, failing_hook, git, try_git, write};

/// A world whose repository has a remote, and another clone of that.
fn with_remote(settings: Settings) -> (World, Utf8PathBuf, Utf8PathBuf) {
    with_remote_and(settings, |_| {})
}

/// The same, changed before anybody opens it.
fn with_remote_and(
    settings: Settings,
    change: impl FnOnce(&Utf8Path),
) -> (World, Utf8PathBuf, Utf8PathBuf) {
    let world = World::with(settings, |root| {
        change(root);
        let remote = remote_of(root);
        git(
            root,
            &["init", "--quiet", "--bare", "-b", "main", remote.as_str()],
        );
        git(root, &["remote", "add", "origin", remote.as_str()]);
        git(root, &["push", "--quiet", "origin", "main"]);
    });
    let remote = remote_of(&world.root);
    let other = world.base.join("other clone");
    git(
        &world.base,
        &["clone", "--quiet", remote.as_str(), other.as_str()],
    );
    git(&other, &["config", "user.name", "Bob"]);
    git(&other, &["config", "user.email", "bob@example.org"]);
    (world, remote, other)
}

fn remote_of(root: &Utf8Path) -> Utf8PathBuf {
    root.parent().unwrap().join("rémote repo.git")
}

fn always() -> Settings {
    Settings {
        fetch_every: Duration::ZERO,
        ..Settings::default()
    }
}

#[test]
fn z_6_work_starts_from_the_remote_branch_when_that_is_ahead() {
    let (world, _, other) = with_remote(always());
    let (_, prepared) = world.prepare("before", &[]);
    assert_eq!(prepared.from, "main");
    write(&other.join("new.txt"), "1");
    let ahead = commit_all(&other, "ahead");
    git(&other, &["push", "--quiet", "origin", "main"]);
    let (_, prepared) = world.prepare("after", &[]);
    assert_eq!(prepared.head, ahead);
    assert_eq!(prepared.from, "origin/main, which is ahead of main");
}

#[test]
fn z_6_a_local_branch_that_is_ahead_or_went_another_way_is_preferred() {
    let (mut world, _, other) = with_remote(always());
    write(&world.root.join("local.txt"), "1");
    git(&world.root, &["add", "local.txt"]);
    git(
        &world.root,
        &["commit", "--quiet", "-m", "local", "local.txt"],
    );
    world.settle();
    let local = world.commit_of("main");
    let (_, prepared) = world.prepare("ahead", &[]);
    assert_eq!((&prepared.head, prepared.from.as_str()), (&local, "main"));
    write(&other.join("new.txt"), "1");
    commit_all(&other, "another way");
    git(&other, &["push", "--quiet", "origin", "main"]);
    let (_, prepared) = world.prepare("apart", &[]);
    assert_eq!(prepared.head, local);
    assert_eq!(prepared.from, "main, which has diverged from origin/main");
}

#[test]
fn z_6_a_branch_that_only_the_remote_has_is_a_source() {
    let (world, _, other) = with_remote(always());
    git(&other, &["push", "--quiet", "origin", "main:develop"]);
    let place = world.place("a");
    for (source, from) in [
        ("develop", "origin/develop"),
        ("origin/develop", "origin/develop"),
    ] {
        let origin = beads_ralph_runtime::ports::Origin {
            source: source.to_owned(),
            wanted: Vec::new(),
        };
        let prepared = world.git.prepare(&place, &origin).unwrap();
        assert_eq!(prepared.from, from);
        world.git.remove(&place).unwrap();
        world.ask(&["branch", "-D", "feature/a"]);
    }
    let trouble = world.git.check_source("nowhere").unwrap_err();
    assert!(
        trouble
            .message
            .contains("exists neither here nor at origin; there are: main"),
        "{trouble}"
    );
}

#[test]
fn z_6_a_remote_that_does_not_answer_is_said_and_no_error() {
    let (world, remote, _) = with_remote(always());
    std::fs::rename(&remote, remote.with_file_name("moved")).unwrap();
    let (_, prepared) = world.prepare("a", &[]);
    assert!(
        prepared.from.starts_with("main (cannot fetch origin: "),
        "{}",
        prepared.from
    );
    assert_eq!(prepared.head, world.commit_of("main"));
}

#[test]
fn z_6_a_remote_is_not_asked_for_every_bead() {
    let (world, _, other) = with_remote(Settings::default());
    let (_, first) = world.prepare("a", &[]);
    write(&other.join("new.txt"), "1");
    commit_all(&other, "ahead");
    git(&other, &["push", "--quiet", "origin", "main"]);
    let (_, second) = world.prepare("b", &[]);
    assert_eq!(first.head, second.head, "a minute has not passed");
    assert_ne!(
        world
            .again()
            .prepare(&world.place("c"), &super::world::origin(&[]))
            .unwrap()
            .head,
        first.head
    );
}

#[test]
fn z_5_exactly_the_commit_is_pushed_and_again_does_nothing() {
    let (world, remote, _) = with_remote(Settings::default());
    let (place, verified) = world.worked("a", "a.txt", "1");
    write(&place.worktree.join("later.txt"), "2");
    commit_all(&place.worktree, "not verified");
    world.git.push("feature/a", &verified).unwrap();
    world.git.push("feature/a", &verified).unwrap();
    assert_eq!(git(&remote, &["rev-parse", "feature/a"]), verified.0);
    assert_eq!(world.git.remote_url(), Some(remote.as_str()));
}

#[test]
fn z_5_nothing_is_forced() {
    let (world, remote, other) = with_remote(Settings::default());
    let (_, verified) = world.worked("a", "a.txt", "1");
    git(&other, &["checkout", "--quiet", "-b", "feature/a"]);
    write(&other.join("theirs.txt"), "1");
    let theirs = commit_all(&other, "theirs");
    git(&other, &["push", "--quiet", "origin", "feature/a"]);
    let trouble = world.git.push("feature/a", &verified).unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForBead);
    assert!(
        trouble.message.contains("pushes are never forced"),
        "{trouble}"
    );
    assert_eq!(git(&remote, &["rev-parse", "feature/a"]), theirs.0);
}

#[test]
fn l_18_what_keeps_a_push_from_its_remote_is_told_apart() {
    let world = World::new();
    let main = world.commit_of("main");
    let trouble = world.git.push("feature/a", &main).unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForRun);
    assert!(trouble.message.contains("no remote 'origin'"), "{trouble}");
    for (address, lasting) in [
        ("/nowhere/at/all.git", Lasting::ForRun),
        ("ssh://git@127.0.0.1/r.git", Lasting::Passing),
        ("http://127.0.0.1:1/r.git", Lasting::Passing),
    ] {
        let world = World::with(Settings::default(), |root| {
            git(root, &["remote", "add", "origin", address]);
            git(
                root,
                &[
                    "config",
                    "core.sshCommand",
                    "sh -c 'echo ssh: connect: Connection refused >&2; exit 255'",
                ],
            );
        });
        let trouble = world.git.push("feature/a", &main).unwrap_err();
        assert_eq!(trouble.lasting, lasting, "{trouble}");
    }
}

#[test]
fn l_18_a_remote_that_never_answers_is_given_up() {
    let settings = Settings {
        network_limit: Duration::from_millis(300),
        ..Settings::default()
    };
    let world = World::with(settings, |root| {
        git(
            root,
            &["remote", "add", "origin", "ssh://git@127.0.0.1/r.git"],
        );
        git(root, &["config", "core.sshCommand", "sleep 600; :"]);
    });
    let trouble = world
        .git
        .push("feature/a", &world.commit_of("main"))
        .unwrap_err();
    assert_eq!(trouble.lasting, Lasting::Passing);
    assert!(trouble.message.contains("git push timed out"), "{trouble}");
    let (_, prepared) = world.prepare("a", &[]);
    assert!(
        prepared
            .from
            .starts_with("main (cannot fetch origin: git fetch timed out"),
        "{prepared:?}"
    );
}

#[test]
fn l_18_a_hook_of_the_user_may_refuse_a_push() {
    let hook = |root: &Utf8Path| failing_hook(root, "pre-push");
    let (world, remote, _) = with_remote_and(Settings::default(), hook);
    let (_, verified) = world.worked("a", "a.txt", "1");
    let trouble = world.git.push("feature/a", &verified).unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForBead);
    assert!(
        trouble
            .message
            .contains("git push of 'feature/a' to origin failed"),
        "{trouble}"
    );
    assert!(!try_git(&remote, &["rev-parse", "--verify", "feature/a"]).0);
}

#[test]
fn c_2_a_hook_and_a_remote_that_an_agent_set_are_not_used_for_a_push() {
    let (mut world, remote, _) = with_remote(Settings::default());
    let (place, verified) = world.worked("a", "a.txt", "1");
    failing_hook(&world.root, "pre-push");
    let elsewhere = world.base.join("elsewhere.git");
    git(
        &world.base,
        &["init", "--quiet", "--bare", elsewhere.as_str()],
    );
    for key in ["remote.origin.url", "remote.origin.pushurl"] {
        git(&place.worktree, &["config", key, elsewhere.as_str()]);
    }
    let shorter = format!("url.{elsewhere}.insteadOf");
    git(&place.worktree, &["config", &shorter, remote.as_str()]);
    world.settle();
    world.git.push("feature/a", &verified).unwrap();
    let there = git(&remote, &["rev-parse", "--verify", "feature/a"]);
    assert_eq!(there, verified.0);
    assert!(!try_git(&elsewhere, &["rev-parse", "--verify", "feature/a"]).0);
}

#[test]
fn z_6_a_shallow_clone_is_known_for_one_and_works() {
    let (world, _, other) = with_remote(Settings::default());
    assert!(!world.git.is_shallow());
    for number in 0..3 {
        write(&other.join("n.txt"), &number.to_string());
        commit_all(&other, "more");
    }
    git(&other, &["push", "--quiet", "origin", "main"]);
    let shallow = world.base.join("shällow");
    let address = format!(
        "file://{}",
        remote_of(&world.root).as_str().replace(' ', "%20")
    );
    git(
        &world.base,
        &[
            "clone",
            "--quiet",
            "--depth",
            "1",
            &address,
            shallow.as_str(),
        ],
    );
    let units =
        beads_ralph_runtime::os::process::Units::with_shim(env!("CARGO_BIN_EXE_beads-ralph"));
    let clone =
        beads_ralph_runtime::git::Git::open(units.into(), &shallow, Settings::default()).unwrap();
    assert!(clone.is_shallow());
    let place = world.place("shallow");
    let prepared = clone.prepare(&place, &super::world::origin(&[])).unwrap();
    write(&place.worktree.join("a.txt"), "1");
    let sealed = clone.seal(&place, &prepared.head, "work").unwrap();
    assert_eq!(sealed.changed_files, ["a.txt"]);
    clone.prepare(&place, &super::world::origin(&[])).unwrap();
    clone
        .integrate("ralph/plan", "main", &sealed.commit, "in")
        .unwrap();
    clone.push("feature/shallow", &sealed.commit).unwrap();
}
