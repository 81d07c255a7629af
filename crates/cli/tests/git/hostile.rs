//! Repositories as users have them: settings, submodules, no identity, no branch.

use beads_ralph_core::engine::Lasting;
use beads_ralph_runtime::git::{Git, Identity, Settings};
use beads_ralph_runtime::os::process::Units;
use beads_ralph_runtime::ports::{Integrated, Repository as _};

use super::world::{World, git, origin, read, write};

/// A whole life of a bead in a world: begun, merged, sealed, restored, handed over.
#[track_caller]
fn check_life(world: &World) {
    let (_, one) = world.worked("one", "one.txt", "1\n");
    let (_, two) = world.worked("two", "two.txt", "2\n");
    let (place, prepared) = world.prepare("both", &[&one, &two]);
    assert!(prepared.conflicts.is_empty());
    write(&place.worktree.join("both.txt"), "3\n");
    let sealed = world.git.seal(&place, &prepared.head, "both").unwrap();
    assert_eq!(sealed.changed_files, ["both.txt"]);
    write(&place.worktree.join("loose.txt"), "4\n");
    world
        .git
        .restore(&place, &sealed.commit, 1)
        .unwrap()
        .unwrap();
    let state = world.git.state(&place).unwrap();
    assert_eq!((state.head, state.dirt), (sealed.commit.clone(), None));
    let integrated = world
        .git
        .integrate("ralph/plan", "main", &sealed.commit, "in")
        .unwrap();
    assert!(
        matches!(
            integrated,
            Integrated::In {
                was_there: false,
                ..
            }
        ),
        "{integrated:?}"
    );
    world.git.keep(&place.bead, &sealed.commit).unwrap();
    world.git.remove(&place).unwrap();
}

#[test]
fn l_15_settings_of_the_user_do_not_matter() {
    let world = World::with(Settings::default(), |root| {
        for (key, value) in [
            ("commit.gpgSign", "true"),
            ("user.signingKey", "0000000000000000"),
            ("gpg.program", "/bin/false"),
            ("merge.ff", "only"),
            ("merge.verifySignatures", "true"),
            ("merge.autoStash", "true"),
            ("branch.feature/both.mergeOptions", "--squash --no-commit"),
            ("rerere.enabled", "true"),
            ("rerere.autoUpdate", "true"),
            ("core.editor", "/bin/false"),
            ("core.pager", "/bin/false"),
            ("core.safecrlf", "true"),
            ("core.fsmonitor", "/bin/false"),
            ("core.quotePath", "true"),
            ("commit.template", "/nowhere"),
            ("commit.cleanup", "scissors"),
            ("commit.verbose", "true"),
            ("status.showUntrackedFiles", "no"),
            ("status.relativePaths", "true"),
            ("status.short", "true"),
            ("diff.noprefix", "true"),
            ("diff.external", "/bin/false"),
            ("diff.renames", "copies"),
            ("log.showSignature", "true"),
            ("log.decorate", "full"),
            ("log.follow", "true"),
            ("branch.autoSetupMerge", "always"),
            ("branch.autoSetupRebase", "always"),
            ("checkout.guess", "true"),
            ("clean.requireForce", "true"),
            ("color.ui", "always"),
            ("column.ui", "always"),
            ("submodule.recurse", "true"),
            ("worktree.guessRemote", "true"),
            ("gc.auto", "1"),
            ("advice.detachedHead", "true"),
            ("core.logAllRefUpdates", "always"),
        ] {
            git(root, &["config", key, value]);
        }
    });
    check_life(&world);
}

#[test]
fn z_5_line_ends_are_the_users_and_no_dirt() {
    for setting in ["true", "input"] {
        let world = World::with(Settings::default(), |root| {
            git(root, &["config", "core.autocrlf", setting]);
            git(root, &["config", "core.safecrlf", "true"]);
        });
        let (place, prepared) = world.prepare("crlf", &[]);
        write(&place.worktree.join("mixed.txt"), "a\r\nb\n");
        let sealed = world.git.seal(&place, &prepared.head, "mixed").unwrap();
        assert_eq!(sealed.changed_files, ["mixed.txt"]);
        assert_eq!(world.git.state(&place).unwrap().dirt, None);
    }
}

#[test]
fn z_16_without_an_identity_ours_is_used() {
    let world = World::with(Settings::default(), |root| {
        git(root, &["config", "user.name", ""]);
        git(root, &["config", "user.email", ""]);
        git(root, &["config", "user.useConfigOnly", "true"]);
    });
    assert_eq!(world.git.identity(), &Identity::Own);
    check_life(&world);
    let said = world.ask(&["log", "-1", "--format=%an <%ae> %cn <%ce>", "ralph/plan"]);
    let own = format!("{} <{}>", Identity::OWN_NAME, Identity::OWN_ADDRESS);
    assert_eq!(said, format!("{own} {own}"));
    let known = World::new();
    let user = "Ann Ünger <ann@example.org>".to_owned();
    assert_eq!(known.git.identity(), &Identity::User(user));
}

#[test]
fn l_15_a_main_checkout_without_a_branch_is_as_good() {
    let mut world = World::with(Settings::default(), |root| {
        git(root, &["checkout", "--quiet", "--detach"]);
    });
    check_life(&world);
    // Where nobody stands on it, even the source branch may be the target.
    let (_, one) = world.worked("more", "more.txt", "1");
    world.git.integrate("main", "main", &one, "in").unwrap();
    world.settle();
}

#[test]
fn l_15_submodules_are_left_to_the_setup_and_break_nothing() {
    let mut world = World::new();
    let library = world.base.join("library");
    git(
        &world.base,
        &["init", "--quiet", "-b", "main", library.as_str()],
    );
    git(&library, &["config", "user.name", "Lib"]);
    git(&library, &["config", "user.email", "lib@example.org"]);
    write(&library.join("lib.txt"), "1");
    super::world::commit_all(&library, "library");
    let file = "protocol.file.allow=always";
    git(
        &world.root,
        &[
            "-c",
            file,
            "submodule",
            "--quiet",
            "add",
            library.as_str(),
            "lib",
        ],
    );
    git(
        &world.root,
        &["commit", "--quiet", "-m", "a library", "lib", ".gitmodules"],
    );
    world.settle();
    check_life(&world);
    let (place, prepared) = world.prepare("with", &[]);
    assert!(place.worktree.join("lib").is_dir() && !place.worktree.join("lib/lib.txt").exists());
    git(
        &place.worktree,
        &["-c", file, "submodule", "--quiet", "update", "--init"],
    );
    let inside = place.worktree.join("lib");
    write(&inside.join("loose.txt"), "1");
    assert_eq!(
        world.git.state(&place).unwrap().dirt,
        None,
        "what no commit here could hold"
    );
    git(&inside, &["config", "user.name", "Lib"]);
    git(&inside, &["config", "user.email", "lib@example.org"]);
    super::world::commit_all(&inside, "newer");
    let sealed = world
        .git
        .seal(&place, &prepared.head, "a newer library")
        .unwrap();
    assert_eq!(sealed.changed_files, ["lib"]);
    let kept = world.git.restore(&place, &prepared.head, 1).unwrap();
    assert_eq!(kept, Some(sealed.commit));
    assert_eq!(
        world.git.state(&place).unwrap().dirt,
        None,
        "the library is back, too"
    );
    world.git.remove(&place).unwrap();
    assert!(!place.worktree.exists());
}

#[test]
fn l_15_a_bare_repository_has_worktrees_too() {
    let world = World::new();
    let bare = world.base.join("bäre.git");
    git(
        &world.base,
        &[
            "clone",
            "--quiet",
            "--bare",
            world.root.as_str(),
            bare.as_str(),
        ],
    );
    let units = Units::with_shim(env!("CARGO_BIN_EXE_beads-ralph"));
    let repository = Git::open(units.into(), &bare, Settings::default()).unwrap();
    let place = world.place("bare");
    let prepared = repository.prepare(&place, &origin(&[])).unwrap();
    write(&place.worktree.join("a.txt"), "1");
    let sealed = repository.seal(&place, &prepared.head, "work").unwrap();
    repository
        .integrate("ralph/plan", "main", &sealed.commit, "in")
        .unwrap();
    repository.remove(&place).unwrap();
}

#[test]
fn l_15_what_is_no_repository_or_has_no_commit_is_said() {
    let directory = beads_ralph_testkit::scratch();
    let root = camino::Utf8Path::from_path(directory.path()).unwrap();
    let open = || {
        let units = Units::with_shim(env!("CARGO_BIN_EXE_beads-ralph"));
        Git::open(units.into(), root, Settings::default())
    };
    let trouble = open().unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForRun);
    assert!(
        trouble.message.contains("not a git repository"),
        "{trouble}"
    );
    git(root, &["init", "--quiet", "-b", "main"]);
    let trouble = open().unwrap().check_source("main").unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForRun);
    assert!(trouble.message.contains("make a first commit"), "{trouble}");
}

#[test]
fn z_5_a_repository_inside_of_a_worktree_is_not_destroyed() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    let inside = place.worktree.join("inside");
    git(
        &place.worktree,
        &["init", "--quiet", "-b", "main", inside.as_str()],
    );
    git(&inside, &["config", "user.name", "In"]);
    git(&inside, &["config", "user.email", "in@example.org"]);
    write(&inside.join("x.txt"), "1");
    super::world::commit_all(&inside, "inside");
    world.git.restore(&place, &prepared.head, 1).unwrap();
    assert_eq!(read(&inside.join("x.txt")), "1");
}

#[test]
fn l_15_a_worktree_that_cannot_be_written_is_the_runs_trouble() {
    let world = World::new();
    let mut place = world.place("a");
    // Nobody, not even root, makes a directory there.
    place.worktree = "/proc/beads-ralph/a".into();
    let trouble = world.git.prepare(&place, &origin(&[])).unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForRun);
    assert!(
        trouble
            .message
            .contains("cannot make the worktree /proc/beads-ralph/a"),
        "{trouble}"
    );
}
