//! An agent that puts links, pipes and other words where our git reads and writes (C-2), and work that git converts so that what lies there
//! is not what a clean clone has (C-3).

use std::os::unix::fs::{MetadataExt as _, symlink};
use std::time::{Duration, Instant};

use beads_ralph_core::engine::Lasting;
use beads_ralph_runtime::git::Settings;
use beads_ralph_runtime::os::files;
use beads_ralph_runtime::ports::{Integrated, Place, Repository as _};
use camino::{Utf8Path, Utf8PathBuf};

use super::world::{World, git, git_of, origin, own_of, read, write};

/// What an agent does in a worktree.
type Attack = fn(&World, &Place);

/// What a run does with a bead after the agent: sealed, asked for, put back, merged, begun again. Whatever comes of it.
fn live_on(world: &World, place: &Place, base: &beads_ralph_core::engine::CommitId) {
    write(&place.worktree.join("work.txt"), "work\n");
    if let Ok(sealed) = world.git.seal(place, base, "work") {
        drop(world.git.state(place));
        drop(world.git.keep(&place.bead, &sealed.commit));
        drop(world.git.restore(place, base, 1));
        drop(world.git.prepare(place, &origin(&[&sealed.commit])));
        drop(
            world
                .git
                .integrate("ralph/plan", "main", &sealed.commit, "in"),
        );
    }
}

/// Another repository of the user, which has the branch too; its refs and their logs.
#[track_caller]
fn other(world: &World) -> (Utf8PathBuf, impl Fn() -> String) {
    let other = world.base.join("other");
    git(
        &world.base,
        &["clone", "--quiet", world.root.as_str(), other.as_str()],
    );
    git(&other, &["branch", "feature/a"]);
    let at = other.clone();
    let look = move || {
        let refs = git(&at, &["for-each-ref"]);
        let logs = read(&at.join(".git/logs/refs/heads/feature/a"));
        refs + &logs
    };
    (other, look)
}

#[test]
fn c_2_refs_are_written_in_this_repository_only() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    let (other, look) = other(&world);
    let before = look();
    let mislead = || {
        write(
            &git_of(&place).join("commondir"),
            &format!("{other}/.git\n"),
        );
    };
    let directory = git_of(&place);
    mislead();
    write(&place.worktree.join("work.txt"), "work\n");
    let sealed = world.git.seal(&place, &prepared.head, "work").unwrap();
    assert_eq!(sealed.changed_files, ["work.txt"]);
    assert_eq!(world.commit_of("feature/a"), sealed.commit);
    for then in 0..3 {
        write(&directory.join("commondir"), &format!("{other}/.git\n"));
        match then {
            0 => drop(world.git.state(&place).unwrap()),
            1 => drop(world.git.restore(&place, &prepared.head, 1).unwrap()),
            _ => drop(
                world
                    .git
                    .prepare(&place, &origin(&[&sealed.commit]))
                    .unwrap(),
            ),
        }
        assert_eq!(look(), before);
    }
    assert_eq!(world.commit_of("feature/a"), sealed.commit);
}

#[test]
fn c_2_nothing_is_written_through_a_link() {
    let mut ways: Vec<(String, bool)> = Vec::new();
    for name in [
        "COMMIT_EDITMSG",
        "ORIG_HEAD",
        "MERGE_MSG",
        "MERGE_HEAD",
        "HEAD",
        "index",
        "logs/HEAD",
    ] {
        ways.extend([(name.to_owned(), false), (name.to_owned(), true)]);
    }
    for name in ["feature/a", "ralph/plan"] {
        let log = format!("../../logs/refs/heads/{name}");
        ways.extend([(log.clone(), false), (log, true)]);
    }
    ways.push(("../../refs/heads/feature/a".to_owned(), false));
    ways.push(("../../beads-ralph/worktrees/a/index".to_owned(), false));
    ways.push(("../../beads-ralph/worktrees/a/at".to_owned(), false));
    for (name, is_hard) in ways {
        println!("{name} {is_hard}");
        let world = World::new();
        let (place, prepared) = world.prepare("a", &[]);
        let (victim, path) = (world.base.join("victim"), git_of(&place).join(&name));
        let text = std::fs::read(&path).unwrap_or_default();
        let text = [text.as_slice(), b"precious\n"].concat();
        files::write_atomic(&victim, &text).unwrap();
        files::create_directory(path.parent().unwrap()).unwrap();
        files::remove_leftover(&path);
        if is_hard {
            std::fs::hard_link(&victim, &path).unwrap();
        } else {
            symlink(&victim, &path).unwrap();
        }
        live_on(&world, &place, &prepared.head);
        assert!(std::fs::read(&victim).unwrap() == text, "{name}");
    }
}

#[test]
fn c_2_nothing_is_written_through_a_directory_that_leads_elsewhere() {
    for (name, is_fatal) in [
        ("logs", false),
        ("../../logs/refs/heads/feature", false),
        ("../../beads-ralph/worktrees/a", false),
        ("../../refs/heads/feature", true),
        ("../../refs/beads-ralph", true),
        ("../../logs", true),
    ] {
        println!("{name}");
        let world = World::new();
        let (place, prepared) = world.prepare("a", &[]);
        let (_, there) = world.prepare("b", &[]);
        world.git.keep(&place.bead, &there.head).unwrap();
        let (elsewhere, path) = (world.base.join("elsewhere"), git_of(&place).join(name));
        std::fs::rename(&path, &elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
        let before = contents(&elsewhere);
        write(&place.worktree.join("work.txt"), "work\n");
        let sealed = world.git.seal(&place, &prepared.head, "work");
        if is_fatal {
            let trouble = sealed.unwrap_err();
            assert_eq!(trouble.lasting, Lasting::ForRun, "{}", trouble.message);
            assert!(
                trouble.message.contains("was replaced by a link"),
                "{}",
                trouble.message
            );
        } else {
            assert_eq!(sealed.unwrap().changed_files, ["work.txt"]);
        }
        assert!(contents(&elsewhere) == before, "{name}");
        if is_fatal {
            files::remove_leftover(&path);
            std::fs::rename(&elsewhere, &path).unwrap();
        }
    }
}

/// All files below a directory, with what is in them.
fn contents(directory: &Utf8Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for name in files::names(directory).unwrap() {
        let path = directory.join(&name);
        if path.is_dir() {
            found.extend(contents(&path));
        } else {
            found.push((
                path.into_string(),
                std::fs::read(directory.join(name)).unwrap(),
            ));
        }
    }
    found
}

#[test]
fn c_2_a_link_among_refs_that_was_there_before_stays() {
    let world = World::with(Settings::default(), |root| {
        let refs = root.join(".git/refs");
        std::fs::rename(refs.join("tags"), root.join(".git/my-tags")).unwrap();
        symlink("../my-tags", refs.join("tags")).unwrap();
    });
    let (place, prepared) = world.prepare("a", &[]);
    live_on(&world, &place, &prepared.head);
    assert!(world.root.join(".git/refs/tags").is_symlink());
}

#[test]
fn c_2_nobody_waits_at_a_pipe() {
    for name in [
        "HEAD",
        "commondir",
        "gitdir",
        "locked",
        "MERGE_HEAD",
        "COMMIT_EDITMSG",
        "logs/HEAD",
        "../../refs/heads/feature/z",
        "../../logs/refs/heads/feature/a",
        "../../beads-ralph/worktrees/a/at",
    ] {
        println!("{name}");
        let world = World::new();
        let (place, prepared) = world.prepare("a", &[]);
        let path = git_of(&place).join(name);
        files::remove_leftover(&path);
        files::create_directory(path.parent().unwrap()).unwrap();
        mkfifo(&path);
        let begun = now();
        live_on(&world, &place, &prepared.head);
        // Another bead does not notice.
        mkfifo_again(&path);
        let (_, commit) = world.worked("b", "b.txt", "b\n");
        let integrated = world
            .git
            .integrate("ralph/plan", "main", &commit, "in")
            .unwrap();
        assert!(
            matches!(integrated, Integrated::In { .. }),
            "{integrated:?}"
        );
        assert!(begun.elapsed() < Duration::from_mins(1), "{name}");
    }
}

#[expect(clippy::disallowed_methods, reason = "the test is timed")]
fn now() -> Instant {
    Instant::now()
}

#[track_caller]
fn mkfifo(path: &Utf8Path) {
    #[expect(clippy::disallowed_methods, reason = "a test makes a pipe")]
    let made = std::process::Command::new("mkfifo")
        .arg(path)
        .status()
        .unwrap();
    assert!(made.success(), "{path}");
}

#[track_caller]
fn mkfifo_again(path: &Utf8Path) {
    files::remove_leftover(path);
    files::create_directory(path.parent().unwrap()).unwrap();
    mkfifo(path);
}

#[test]
fn c_2_a_damaged_head_is_that_of_the_branch() {
    let ways: [(&str, Attack); 5] = [
        ("other words", |_, place| {
            write(&git_of(place).join("HEAD"), "x\n");
        }),
        ("nothing", |_, place| write(&git_of(place).join("HEAD"), "")),
        ("gone", |_, place| {
            files::remove_leftover(&git_of(place).join("HEAD"));
        }),
        ("a link", |world, place| {
            let head = git_of(place).join("HEAD");
            files::remove_leftover(&head);
            symlink(world.root.join(".git/HEAD"), head).unwrap();
        }),
        ("a directory", |_, place| {
            let head = git_of(place).join("HEAD");
            files::remove_leftover(&head);
            write(&head.join("file"), "x");
        }),
    ];
    for (what, attack) in ways {
        println!("{what}");
        let world = World::new();
        let (place, prepared) = world.prepare("a", &[]);
        write(&place.worktree.join("work.txt"), "work\n");
        let head = git_of(&place);
        attack(&world, &place);
        world.worked("b", "b.txt", "b\n");
        let sealed = world.git.seal(&place, &prepared.head, "work").unwrap();
        assert_eq!(sealed.changed_files, ["work.txt"], "{what}");
        assert_eq!(world.commit_of("feature/a"), sealed.commit, "{what}");
        assert_eq!(
            read(&head.join("HEAD")),
            "ref: refs/heads/feature/a\n",
            "{what}"
        );
    }
}

#[test]
fn c_3_a_name_that_git_keeps_for_itself_is_named() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    write(&place.worktree.join("x/.GIT/config"), "a\n");
    write(&place.worktree.join("work.txt"), "work\n");
    let sealed = world.git.seal(&place, &prepared.head, "work").unwrap();
    let refused = sealed.refused.unwrap_or_default();
    assert!(
        refused.starts_with("'x/.GIT/config' cannot be committed"),
        "{refused}"
    );
    files::remove_directory(&place.worktree.join("x")).unwrap();
    let sealed = world.git.seal(&place, &prepared.head, "work").unwrap();
    assert_eq!(
        (sealed.refused, sealed.changed_files),
        (None, vec!["work.txt".to_owned()])
    );
}

/// What the user has set, which attributes the agent commits, what it writes, and what a clean clone has.
type Conversion = (
    &'static str,
    fn(&Utf8Path),
    &'static str,
    &'static str,
    &'static str,
);

#[test]
fn c_3_checks_see_what_a_clean_clone_has() {
    let nothing: fn(&Utf8Path) = |_| {};
    let ways: [Conversion; 5] = [
        (
            "ident",
            nothing,
            "*.sh ident\n",
            ": '$Id: '; exit 0; : ' $'\nexit 1\n",
            "",
        ),
        (
            "text",
            nothing,
            "*.sh text\n",
            "a=1\r\nexit 0\r\n",
            "a=1\nexit 0\n",
        ),
        (
            "line ends of the user",
            |root| drop(git(root, &["config", "core.autocrlf", "input"])),
            "",
            "a=1\r\nexit 0\r\n",
            "a=1\nexit 0\n",
        ),
        (
            "line ends that are made longer",
            |root| drop(git(root, &["config", "core.autocrlf", "true"])),
            "",
            "a=1\nexit 0\n",
            "a=1\r\nexit 0\r\n",
        ),
        (
            "a filter of the user",
            |root| {
                git(root, &["config", "filter.strip.clean", "sed /HIDE/d"]);
                git(root, &["config", "filter.strip.smudge", "cat"]);
            },
            "*.sh filter=strip\n",
            "exit 0 #HIDE\nexit 1\n",
            "exit 1\n",
        ),
    ];
    for (what, set, attributes, text, expected) in ways {
        println!("{what}");
        let world = World::with(Settings::default(), set);
        let (place, prepared) = world.prepare("a", &[]);
        let script = place.worktree.join("t.sh");
        write(&script, text);
        write(&place.worktree.join("plain.txt"), "plain\n");
        if !attributes.is_empty() {
            write(&place.worktree.join(".gitattributes"), attributes);
        }
        let sealed = world.git.seal(&place, &prepared.head, "work").unwrap();
        assert!(sealed.changed_files.contains(&"t.sh".to_owned()), "{what}");
        let clean = world.base.join("clean");
        git(
            &world.root,
            &[
                "worktree",
                "add",
                "--quiet",
                "--detach",
                clean.as_str(),
                &sealed.commit.0,
            ],
        );
        let there = read(&clean.join("t.sh"));
        git(
            &world.root,
            &["worktree", "remove", "--force", clean.as_str()],
        );
        if !expected.is_empty() {
            assert_eq!(there, expected, "{what}");
        }
        assert_eq!(read(&script), there, "{what}");
        // What is right is left alone.
        let look = |path: &Utf8Path| {
            std::fs::metadata(path)
                .map(|it| (it.ino(), it.ctime_nsec()))
                .unwrap()
        };
        let before = look(&script);
        let state = world.git.state(&place).unwrap();
        assert_eq!(
            (state.head, state.dirt),
            (sealed.commit.clone(), None),
            "{what}"
        );
        assert_eq!(look(&script), before, "{what}");
        // Somebody who only looks at the work does the same again.
        write(&script, text);
        let state = world.git.state(&place).unwrap();
        if state.dirt.is_none() {
            assert_eq!(read(&script), there, "{what}");
        }
        assert_eq!(state.head, sealed.commit, "{what}");
    }
}

#[test]
fn c_3_a_file_with_another_name_elsewhere_is_not_written_through() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    let (victim, script) = (world.base.join("victim"), place.worktree.join("t.sh"));
    write(&victim, "exit 0\r\n");
    std::fs::hard_link(&victim, &script).unwrap();
    write(&place.worktree.join(".gitattributes"), "*.sh text\n");
    world.git.seal(&place, &prepared.head, "work").unwrap();
    assert_eq!(read(&script), "exit 0\n");
    assert_eq!(read(&victim), "exit 0\r\n");
}

#[test]
fn c_3_the_list_of_right_files_is_nobodys_to_write() {
    let world = World::with(Settings::default(), |root| {
        git(root, &["config", "filter.x.clean", "tr a b"]);
        git(root, &["config", "filter.x.smudge", "cat"]);
    });
    let (place, prepared) = world.prepare("a", &[]);
    let script = place.worktree.join("t.sh");
    write(&place.worktree.join(".gitattributes"), "*.sh filter=x\n");
    write(&script, ": b\n");
    world.git.seal(&place, &prepared.head, "work").unwrap();
    let list = own_of(&place).join("as-checked-out");
    write(&script, ": a\n");
    let it = std::fs::symlink_metadata(&script).unwrap();
    let look = format!(
        "{} {} {} {}",
        it.ino(),
        it.len(),
        it.ctime(),
        it.ctime_nsec()
    );
    let blob = git(&place.worktree, &["rev-parse", "HEAD:t.sh"]);
    write(&list, &format!(r#"{{"t.sh": "100644 {blob} 0 {look}"}}"#));
    assert_eq!(world.git.state(&place).unwrap().dirt, None);
    assert_eq!(read(&script), ": b\n");
}
