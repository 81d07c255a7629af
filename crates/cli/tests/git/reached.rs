//! An agent that prepares git for us: what it sets, plants and hides reaches neither the user's files nor what is committed (C-2, C-3).
//!
//! Each test first lets the agent do something and then does what a run does. The world looks whether the main checkout stayed as it was.

use std::io::Write as _;

use beads_ralph_core::engine::Lasting;
use beads_ralph_runtime::git::Settings;
use beads_ralph_runtime::ports::{Place, Prepared, Repository as _};
use camino::{Utf8Path, Utf8PathBuf};

use super::world::{
    World, commit_all, git, git_of, git_with, origin, own_of, read, soon, try_git, write,
};

/// What an agent does to git, in a worktree whose `t.sh` it then changes without telling.
type Attack = fn(&World, &Place);

/// A worktree in which `t.sh` is committed.
#[track_caller]
fn with_script(world: &World) -> (Place, Prepared) {
    let (place, prepared) = world.prepare("a", &[]);
    write(&place.worktree.join("t.sh"), "exit 1\n");
    world.git.seal(&place, &prepared.head, "a script").unwrap();
    let prepared = world.git.prepare(&place, &origin(&[])).unwrap();
    (place, prepared)
}

/// A program that leaves a trace when it is run, and where that would be.
#[track_caller]
fn trap(world: &World) -> (Utf8PathBuf, Utf8PathBuf) {
    use std::os::unix::fs::PermissionsExt as _;
    let (program, trace) = (world.base.join("trap.sh"), world.base.join("sprung"));
    let text = format!("#!/bin/sh\necho \"$0 $*\" >>'{trace}'\ncat\n");
    write(&program, &text);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    (program, trace)
}

/// Appends to a file that may not be there.
#[track_caller]
fn append(path: &Utf8Path, text: &str) {
    let before = std::fs::read_to_string(path).unwrap_or_default();
    write(path, &format!("{before}{text}"));
}

#[test]
fn c_2_another_work_tree_in_the_config_leads_nowhere() {
    let ways: [(&str, Attack); 3] = [
        ("of the worktree", |world, place| {
            git(
                &place.worktree,
                &["config", "extensions.worktreeConfig", "true"],
            );
            let root = world.root.as_str();
            git(
                &place.worktree,
                &["config", "--worktree", "core.worktree", root],
            );
        }),
        ("of the repository", |world, place| {
            let root = world.root.as_str();
            git(&place.worktree, &["config", "core.worktree", root]);
        }),
        ("included", |world, place| {
            let file = world.base.join("included");
            write(&file, &format!("[core]\n\tworktree = {}\n", world.root));
            git(&place.worktree, &["config", "include.path", file.as_str()]);
        }),
    ];
    for (what, attack) in ways {
        println!("{what}");
        let mut world = World::new();
        let (place, prepared) = world.prepare("a", &[]);
        write(&place.worktree.join("work.txt"), "work");
        let config = world.root.join(".git/config");
        let before = read(&config);
        attack(&world, &place);
        let sealed = world.git.seal(&place, &prepared.head, "work").unwrap();
        assert_eq!(sealed.changed_files, ["work.txt"], "{what}");
        write(&place.worktree.join("more.txt"), "more");
        world.git.restore(&place, &sealed.commit, 1).unwrap();
        assert!(!place.worktree.join("more.txt").exists(), "{what}");
        // What is looked at is the main checkout, not the config.
        write(&config, &before);
        let kept = std::fs::remove_file(world.root.join(".git/config.worktree"));
        drop(kept);
        assert_eq!(read(&world.root.join("untracked.txt")), "not for git\n");
        assert_eq!(read(&world.root.join("other.txt")), "changed by the user\n");
        world.settle();
    }
}

#[test]
fn c_3_what_is_hidden_from_git_is_seen_and_committed() {
    let ways: [(&str, Attack); 13] = [
        ("assume-unchanged", |_, place| {
            git(
                &place.worktree,
                &["update-index", "--assume-unchanged", "t.sh"],
            );
        }),
        ("skip-worktree", |_, place| {
            git(
                &place.worktree,
                &["update-index", "--skip-worktree", "t.sh"],
            );
        }),
        ("skip-worktree in a sparse checkout", |_, place| {
            git(&place.worktree, &["config", "core.sparseCheckout", "true"]);
            git(
                &place.worktree,
                &["config", "sparse.expectFilesOutsideOfPatterns", "true"],
            );
            git(
                &place.worktree,
                &["update-index", "--skip-worktree", "t.sh"],
            );
        }),
        ("a clean filter of its own", |world, place| {
            git(
                &place.worktree,
                &["config", "filter.x.clean", "echo exit 1"],
            );
            append(&world.root.join(".git/info/attributes"), "t.sh filter=x\n");
        }),
        ("a clean filter in the worktree's config", |world, place| {
            git(
                &place.worktree,
                &["config", "extensions.worktreeConfig", "true"],
            );
            git(
                &place.worktree,
                &["config", "--worktree", "filter.x.clean", "echo exit 1"],
            );
            append(&world.root.join(".git/info/attributes"), "t.sh filter=x\n");
        }),
        ("attributes of its own file", |world, place| {
            let file = world.base.join("attributes");
            write(&file, "t.sh filter=x\n");
            git(
                &place.worktree,
                &["config", "filter.x.clean", "echo exit 1"],
            );
            git(
                &place.worktree,
                &["config", "core.attributesFile", file.as_str()],
            );
        }),
        ("attributes that are ignored", |world, place| {
            append(&world.root.join(".git/info/exclude"), ".gitattributes\n");
            git(
                &place.worktree,
                &["config", "filter.x.clean", "echo exit 1"],
            );
            write(&place.worktree.join(".gitattributes"), "t.sh filter=x\n");
        }),
        ("no time of change", |_, place| {
            git(&place.worktree, &["config", "core.trustctime", "false"]);
            git(&place.worktree, &["config", "core.checkStat", "minimal"]);
        }),
        ("what counts as no change", |_, place| {
            git(&place.worktree, &["config", "core.ignoreStat", "true"]);
            git(&place.worktree, &["update-index", "--really-refresh"]);
            git(
                &place.worktree,
                &["update-index", "--assume-unchanged", "t.sh"],
            );
        }),
        ("a file system monitor", |world, place| {
            let (program, _) = trap(world);
            git(
                &place.worktree,
                &["config", "core.fsmonitor", program.as_str()],
            );
            git(&place.worktree, &["update-index", "--fsmonitor"]);
            git(
                &place.worktree,
                &["update-index", "--fsmonitor-valid", "t.sh"],
            );
        }),
        ("the list of what was copied", |_, place| {
            let list = git_of(place).join("beads-ralph-copied");
            write(&list, r#"{"is_done": true, "paths": ["t.sh"]}"#);
        }),
        ("a forged index", |_, place| {
            let own = git_of(place);
            std::fs::remove_file(own.join("index")).unwrap();
            write(&own.join("index"), "no index");
        }),
        ("another common directory", |world, place| {
            let evil = world.base.join("evil");
            git(
                &world.base,
                &[
                    "clone",
                    "--quiet",
                    "--bare",
                    world.root.as_str(),
                    evil.as_str(),
                ],
            );
            write(&git_of(place).join("commondir"), &format!("{evil}\n"));
        }),
    ];
    for (what, attack) in ways {
        println!("{what}");
        let mut world = World::new();
        let (place, prepared) = with_script(&world);
        let script = place.worktree.join("t.sh");
        attack(&world, &place);
        // As long as before, at the time of before.
        let time = std::fs::metadata(&script).unwrap().modified().unwrap();
        let mut file = std::fs::File::options().write(true).open(&script).unwrap();
        file.write_all(b"exit 0\n").unwrap();
        file.set_modified(time).unwrap();
        world.settle();
        let state = world.git.state(&place).unwrap();
        let dirt = state.dirt.unwrap_or_default();
        assert!(dirt.contains("t.sh"), "{what}: {dirt}");
        let sealed = world.git.seal(&place, &prepared.head, "sealed").unwrap();
        let shown = world.ask(&["cat-file", "-p", &format!("{}:t.sh", sealed.commit)]);
        assert_eq!(shown, "exit 0", "{what}");
        assert_eq!(world.git.state(&place).unwrap().dirt, None, "{what}");
    }
}

#[test]
fn c_3_an_untracked_file_is_hidden_by_no_rule_of_the_agents() {
    let ways: [(&str, Attack); 3] = [
        ("info/exclude", |world, _| {
            append(&world.root.join(".git/info/exclude"), "helper.sh\n");
        }),
        ("a file of its own", |world, place| {
            let file = world.base.join("excludes");
            write(&file, "helper.sh\n");
            git(
                &place.worktree,
                &["config", "core.excludesFile", file.as_str()],
            );
        }),
        ("an untracked cache", |_, place| {
            git(&place.worktree, &["config", "core.untrackedCache", "true"]);
            git(
                &place.worktree,
                &["update-index", "--force-untracked-cache"],
            );
            git(&place.worktree, &["status"]);
        }),
    ];
    for (what, attack) in ways {
        println!("{what}");
        let mut world = World::new();
        let (place, prepared) = with_script(&world);
        attack(&world, &place);
        world.settle();
        write(&place.worktree.join("helper.sh"), "exit 0\n");
        let state = world.git.state(&place).unwrap();
        assert!(
            state.dirt.unwrap_or_default().contains("helper.sh"),
            "{what}"
        );
        let sealed = world.git.seal(&place, &prepared.head, "sealed").unwrap();
        assert_eq!(sealed.changed_files, ["helper.sh"], "{what}");
    }
}

#[test]
fn c_2_nothing_that_the_agent_planted_is_started() {
    let ways: [(&str, Attack); 9] = [
        ("a filter", |world, place| {
            let (program, _) = trap(world);
            for kind in ["clean", "smudge"] {
                let key = format!("filter.x.{kind}");
                git(&place.worktree, &["config", &key, program.as_str()]);
            }
            write(&place.worktree.join(".gitattributes"), "* filter=x\n");
        }),
        ("a filter in the user's attributes", |world, place| {
            let (program, _) = trap(world);
            git(
                &place.worktree,
                &["config", "filter.x.clean", program.as_str()],
            );
            append(&world.root.join(".git/info/attributes"), "* filter=x\n");
        }),
        ("an external diff", |world, place| {
            let (program, _) = trap(world);
            git(
                &place.worktree,
                &["config", "diff.external", program.as_str()],
            );
            git(
                &place.worktree,
                &["config", "diff.x.textconv", program.as_str()],
            );
            write(&place.worktree.join(".gitattributes"), "* diff=x\n");
        }),
        ("a merge driver", |world, place| {
            let (program, _) = trap(world);
            let driver = format!("{program} %A");
            git(&place.worktree, &["config", "merge.x.driver", &driver]);
            append(&world.root.join(".git/info/attributes"), "* merge=x\n");
        }),
        ("hooks", |world, place| {
            let (program, _) = trap(world);
            for name in [
                "reference-transaction",
                "post-checkout",
                "pre-commit",
                "post-index-change",
                "post-merge",
                "commit-msg",
            ] {
                let hook = world.root.join(".git/hooks").join(name);
                beads_ralph_runtime::os::files::create_directory(hook.parent().unwrap()).unwrap();
                std::fs::copy(&program, hook).unwrap();
            }
            let hooks = world.root.join(".git/hooks");
            git(
                &place.worktree,
                &["config", "core.hooksPath", hooks.as_str()],
            );
        }),
        ("a file system monitor", |world, place| {
            let (program, _) = trap(world);
            git(
                &place.worktree,
                &["config", "core.fsmonitor", program.as_str()],
            );
        }),
        ("a nested repository", |world, place| {
            let (program, _) = trap(world);
            let sub = place.worktree.join("ignored/sub");
            nested(&sub, &program);
            // It is no link of the commit, but the index says so.
            git(
                &place.worktree,
                &[
                    "-c",
                    "advice.addEmbeddedRepo=false",
                    "add",
                    "-f",
                    "ignored/sub",
                ],
            );
        }),
        ("a submodule's repository", |world, place| {
            let (program, _) = trap(world);
            let sub = place.worktree.join("lib");
            nested(&sub, &program);
            git(
                &place.worktree,
                &["-c", "advice.addEmbeddedRepo=false", "add", "lib"],
            );
            write(
                &place.worktree.join(".gitmodules"),
                &format!("[submodule \"lib\"]\n\tpath = lib\n\turl = {sub}\n\tupdate = checkout\n"),
            );
            let update = format!("!{program}");
            git(
                &place.worktree,
                &["config", "submodule.lib.update", &update],
            );
            git(&place.worktree, &["config", "submodule.lib.active", "true"]);
            git(
                &place.worktree,
                &["config", "submodule.lib.url", sub.as_str()],
            );
            git(&place.worktree, &["commit", "--quiet", "-m", "a submodule"]);
        }),
        ("another way to ssh and an editor", |world, place| {
            let (program, _) = trap(world);
            for key in [
                "core.sshCommand",
                "core.editor",
                "gpg.program",
                "core.pager",
            ] {
                git(&place.worktree, &["config", key, program.as_str()]);
            }
            git(&place.worktree, &["config", "commit.gpgSign", "true"]);
        }),
    ];
    for (what, attack) in ways {
        println!("{what}");
        let mut world = World::new();
        let (_, other) = world.worked("other", "other file.txt", "other\n");
        let (place, prepared) = with_script(&world);
        attack(&world, &place);
        let trace = world.base.join("sprung");
        world.settle();
        drop(std::fs::remove_file(&trace));
        write(&place.worktree.join("t.sh"), "exit 0\n");
        drop(world.git.state(&place));
        drop(world.git.seal(&place, &prepared.head, "sealed"));
        write(&place.worktree.join("t.sh"), "exit 2\n");
        drop(world.git.restore(&place, &prepared.head, 1));
        world.git.prepare(&place, &origin(&[&other])).unwrap();
        world.prepare("after", &[&other]);
        let integrated = world.git.integrate("ralph/plan", "main", &other, "in");
        integrated.unwrap();
        let sprung = std::fs::read_to_string(&trace).unwrap_or_default();
        assert_eq!(sprung, "", "{what}");
    }
}

/// A repository that runs something as soon as git looks into it.
#[track_caller]
fn nested(place: &Utf8Path, program: &Utf8Path) {
    git(
        place
            .parent()
            .unwrap()
            .ancestors()
            .find(|it| it.exists())
            .unwrap(),
        &["init", "--quiet", "-b", "main", place.as_str()],
    );
    git(place, &["config", "user.name", "In"]);
    git(place, &["config", "user.email", "in@example.org"]);
    write(&place.join("file.txt"), "1\n");
    write(&place.join(".gitattributes"), "* filter=x\n");
    commit_all(place, "inside");
    for key in ["filter.x.clean", "filter.x.smudge", "core.fsmonitor"] {
        git(place, &["config", key, program.as_str()]);
    }
    write(&place.join("file.txt"), "2\n");
}

#[test]
fn c_2_a_new_repository_inside_fails_the_attempt_and_is_named() {
    for is_committed in [false, true] {
        let world = World::new();
        let (place, prepared) = world.prepare("a", &[]);
        let (program, trace) = trap(&world);
        nested(&place.worktree.join("sub"), &program);
        if is_committed {
            commit_all(&place.worktree, "with a repository inside");
        }
        drop(std::fs::remove_file(&trace));
        let sealed = world.git.seal(&place, &prepared.head, "no").unwrap();
        let refused = sealed.refused.unwrap();
        assert!(refused.contains("sub"), "{refused}");
        assert!(refused.contains("repository"), "{refused}");
        assert!(!trace.exists(), "{}", read(&trace));
        world.git.restore(&place, &prepared.head, 1).unwrap();
        assert!(place.worktree.join("sub/file.txt").exists());
        assert!(!trace.exists(), "{}", read(&trace));
    }
}

#[test]
fn c_2_a_link_to_another_worktree_is_not_followed() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    let (other, at) = world.worked("other", "precious.txt", "1");
    write(&other.worktree.join("loose.txt"), "not committed");
    let link = read(&other.worktree.join(".git"));
    write(&place.worktree.join(".git"), &link);
    assert!(world.git.seal(&place, &prepared.head, "no").is_err());
    assert!(world.git.restore(&place, &prepared.head, 1).is_err());
    // Nor is a directory that is a link to another worktree.
    std::fs::remove_dir_all(&place.worktree).unwrap();
    std::os::unix::fs::symlink(&other.worktree, &place.worktree).unwrap();
    assert!(world.git.restore(&place, &prepared.head, 1).is_err());
    assert!(world.git.prepare(&place, &origin(&[])).is_err());
    assert_eq!(read(&other.worktree.join("loose.txt")), "not committed");
    let state = world.git.state(&other).unwrap();
    assert_eq!((state.head, state.branch), (at, Some(other.branch)));
}

#[test]
fn c_2_a_submodule_that_leads_to_the_users_repository_is_not_entered() {
    let mut world = World::new();
    let library = world.base.join("library");
    git(
        &world.base,
        &["init", "--quiet", "-b", "main", library.as_str()],
    );
    git(&library, &["config", "user.name", "Lib"]);
    git(&library, &["config", "user.email", "lib@example.org"]);
    write(&library.join("lib.txt"), "1");
    commit_all(&library, "library");
    let file = "protocol.file.allow=always";
    let add = ["-c", file, "submodule", "--quiet", "add"];
    git(
        &world.root,
        &[&add[..], &[library.as_str(), "lib"]].concat(),
    );
    git(
        &world.root,
        &["commit", "--quiet", "-m", "a library", "lib", ".gitmodules"],
    );
    world.settle();
    let (place, prepared) = world.prepare("a", &[]);
    write(
        &place.worktree.join("lib/.git"),
        &format!("gitdir: {}\n", world.root.join(".git")),
    );
    write(&place.worktree.join("lib/loose.txt"), "1");
    drop(world.git.restore(&place, &prepared.head, 1));
    drop(world.git.seal(&place, &prepared.head, "work"));
    world.check_same();
}

#[test]
fn c_8_replaced_and_grafted_commits_are_not_believed() {
    let world = World::new();
    let (place, prepared) = with_script(&world);
    let good = world.commit_of("feature/a");
    write(&place.worktree.join("t.sh"), "exit 0\n");
    let evil = commit_all(&place.worktree, "evil");
    git(&place.worktree, &["replace", "-f", &evil.0, &good.0]);
    let blob = |text: &str| {
        write(&world.base.join("blob"), text);
        let file = world.base.join("blob");
        git(&world.root, &["hash-object", "-w", file.as_str()])
    };
    git(
        &world.root,
        &["replace", "-f", &blob("exit 0\n"), &blob("exit 1\n")],
    );
    write(
        &world.root.join(".git/info/grafts"),
        &format!("{} {}\n", evil.0, "0".repeat(40)),
    );
    let sealed = world.git.seal(&place, &prepared.head, "sealed").unwrap();
    assert_eq!(sealed.commit, evil);
    assert_eq!(sealed.changed_files, ["t.sh"]);
    let real = ["--no-replace-objects", "rev-parse", "feature/a^{tree}"];
    assert_eq!(sealed.tree, git(&world.root, &real));
    assert_eq!(world.git.state(&place).unwrap().dirt, None);
}

#[test]
fn c_2_filters_of_the_user_work_as_they_were_at_the_start() {
    let mut world = World::with(Settings::default(), |root| {
        git(root, &["config", "filter.up.clean", "tr a-z A-Z"]);
        git(root, &["config", "filter.up.smudge", "tr A-Z a-z"]);
        git(root, &["config", "filter.up.required", "true"]);
    });
    let (place, prepared) = world.prepare("a", &[]);
    write(&place.worktree.join(".gitattributes"), "*.up filter=up\n");
    write(&place.worktree.join("a.up"), "text\n");
    let (_, trace) = trap(&world);
    git(&place.worktree, &["config", "filter.up.clean", "echo evil"]);
    git(
        &place.worktree,
        &["config", "filter.up.smudge", "echo evil"],
    );
    world.settle();
    let sealed = world.git.seal(&place, &prepared.head, "filtered").unwrap();
    let content = world.ask(&["cat-file", "-p", &format!("{}:a.up", sealed.commit)]);
    assert_eq!(content, "TEXT");
    assert_eq!(world.git.state(&place).unwrap().dirt, None);
    std::fs::remove_file(place.worktree.join("a.up")).unwrap();
    world.git.restore(&place, &sealed.commit, 1).unwrap();
    assert_eq!(read(&place.worktree.join("a.up")), "text\n");
    // Another process that opens it meanwhile, or after the first was killed, takes what held at the start as well.
    std::fs::remove_file(place.worktree.join("a.up")).unwrap();
    world.again().restore(&place, &sealed.commit, 2).unwrap();
    assert_eq!(read(&place.worktree.join("a.up")), "text\n");
    assert!(!trace.exists());
}

#[test]
fn c_2_what_the_user_ignores_and_hides_stays_so() {
    let mut world = World::with(Settings::default(), |root| {
        append(&root.join(".git/info/exclude"), "mine.txt\n");
        let file = root.parent().unwrap().join("excludes");
        write(&file, "*.mine\n");
        git(root, &["config", "core.excludesFile", file.as_str()]);
        append(&root.join(".git/info/attributes"), "*.crlf eol=crlf\n");
    });
    let (place, prepared) = world.prepare("a", &[]);
    for name in ["mine.txt", "x.mine", "work.txt", "x.crlf"] {
        write(&place.worktree.join(name), "1\r\n");
    }
    write(&world.root.join(".git/info/exclude"), "work.txt\n");
    write(&world.base.join("excludes"), "work.txt\n");
    world.settle();
    let sealed = world.git.seal(&place, &prepared.head, "work").unwrap();
    assert_eq!(sealed.changed_files, ["work.txt", "x.crlf"]);
    let said = world.ask(&["cat-file", "-s", &format!("{}:x.crlf", sealed.commit)]);
    assert_eq!(said, "2");
    assert!(place.worktree.join("mine.txt").exists());
}

#[test]
fn c_2_a_sparse_checkout_stays_sparse_and_hides_nothing_that_is_there() {
    let mut world = World::with(Settings::default(), |root| {
        for name in ["in/a.txt", "out/b.txt"] {
            write(&root.join(name), "1\n");
        }
        git(root, &["add", "in", "out"]);
        git(
            root,
            &["commit", "--quiet", "-m", "two directories", "in", "out"],
        );
        git(root, &["sparse-checkout", "set", "--cone", "in"]);
    });
    let (place, prepared) = world.prepare("a", &[]);
    assert!(!place.worktree.join("out").exists(), "it is sparse");
    assert_eq!(world.git.state(&place).unwrap().dirt, None);
    write(&place.worktree.join("in/a.txt"), "2\n");
    let sealed = world.git.seal(&place, &prepared.head, "work").unwrap();
    assert_eq!(sealed.changed_files, ["in/a.txt"]);
    // The agent commits by itself.
    write(&place.worktree.join("in/a.txt"), "3\n");
    let own = commit_all(&place.worktree, "by the agent");
    let sealed = world.git.seal(&place, &prepared.head, "work").unwrap();
    assert_eq!((sealed.commit, sealed.changed_files.len()), (own, 1));
    write(&place.worktree.join("out/b.txt"), "hidden\n");
    let dirt = world.git.state(&place).unwrap().dirt.unwrap_or_default();
    assert!(dirt.contains("out/b.txt"), "{dirt}");
    let kept = world.git.restore(&place, &prepared.head, 1).unwrap();
    assert!(kept.is_some());
    assert!(!place.worktree.join("out").exists(), "it is sparse again");
    assert_eq!(world.git.state(&place).unwrap().dirt, None);
    world.settle();
}

#[test]
fn c_2_what_we_keep_of_a_worktree_is_not_believed_when_somebody_changed_it() {
    let world = World::new();
    let (place, prepared) = with_script(&world);
    let index = own_of(&place).join("index");
    let arguments = ["update-index", "--assume-unchanged", "t.sh"];
    let with_ours = [("GIT_INDEX_FILE", index.as_str())];
    git_with(&place.worktree, &with_ours, &arguments);
    write(&place.worktree.join("t.sh"), "exit 0\n");
    let dirt = world.git.state(&place).unwrap().dirt.unwrap_or_default();
    assert!(dirt.contains("t.sh"), "{dirt}");
    // What was copied in would be left out of what is compared.
    let list = own_of(&place).join("beads-ralph-copied");
    write(&list, r#"{"is_done": true, "paths": ["t.sh"]}"#);
    let trouble = world.git.seal(&place, &prepared.head, "no").unwrap_err();
    assert!(trouble.message.contains(list.as_str()), "{trouble}");
}

#[test]
fn c_2_after_a_kill_our_index_is_made_anew() {
    let world = World::new();
    let (place, _) = with_script(&world);
    let index = own_of(&place).join("index");
    let arguments = ["update-index", "--assume-unchanged", "t.sh"];
    let with_ours = [("GIT_INDEX_FILE", index.as_str())];
    git_with(&place.worktree, &with_ours, &arguments);
    write(&place.worktree.join("t.sh"), "exit 0\n");
    // What a process that was killed leaves.
    write(&world.root.join(".git/beads-ralph/users/1-0"), "");
    let dirt = world.again().state(&place).unwrap().dirt;
    assert!(dirt.unwrap_or_default().contains("t.sh"));
}

#[test]
fn c_2_settings_that_somebody_changed_stop_the_run() {
    let world = World::new();
    let (place, prepared) = with_script(&world);
    let view = world.root.join(".git/beads-ralph/view");
    append(&view.join("config"), "[filter \"x\"]\n\tclean = false\n");
    let trouble = world.git.seal(&place, &prepared.head, "no").unwrap_err();
    assert_eq!(trouble.lasting, Lasting::ForRun);
    assert!(trouble.message.contains(view.as_str()), "{trouble}");
    // Whoever comes next begins with what the user has.
    let sealed = world.again().seal(&place, &prepared.head, "yes").unwrap();
    assert!(sealed.changed_files.is_empty());
}

#[test]
fn c_2_the_agent_finds_its_own_index_as_the_commit_is() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    let status = || git(&place.worktree, &["status", "--porcelain"]);
    assert_eq!(status(), "");
    write(&place.worktree.join("new.txt"), "1");
    std::fs::remove_file(place.worktree.join("other.txt")).unwrap();
    world.git.seal(&place, &prepared.head, "work").unwrap();
    assert_eq!(status(), "");
    write(&place.worktree.join("more.txt"), "1");
    git(&place.worktree, &["add", "--all"]);
    world.git.restore(&place, &prepared.head, 1).unwrap();
    assert_eq!(status(), "");
    assert!(!place.worktree.join("new.txt").exists());
}

#[test]
fn c_2_files_directories_and_links_may_take_each_others_places() {
    let world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    let at = |name: &str| place.worktree.join(name);
    write(&at("d/x.txt"), "1");
    write(&at("e/x.txt"), "1");
    write(&at("f"), "1");
    world.git.seal(&place, &prepared.head, "one").unwrap();
    std::fs::remove_dir_all(at("d")).unwrap();
    write(&at("d"), "a file");
    std::fs::remove_dir_all(at("e")).unwrap();
    std::os::unix::fs::symlink("..", at("e")).unwrap();
    std::fs::remove_file(at("f")).unwrap();
    write(&at("f/x.txt"), "a directory");
    let sealed = world.git.seal(&place, &prepared.head, "two").unwrap();
    assert_eq!(sealed.changed_files, ["d", "e", "f/x.txt"]);
    assert_eq!(world.git.state(&place).unwrap().dirt, None);
    assert_eq!(git(&place.worktree, &["status", "--porcelain"]), "");
}

#[test]
fn c_9_locks_of_what_is_dead_stand_in_nobodys_way() {
    let world = World::with(soon(), |_| {});
    for (number, way) in ["index", "HEAD", "branch", "all"].into_iter().enumerate() {
        let (place, prepared) = world.prepare(&format!("l{number}"), &[]);
        let own = git_of(&place);
        let branch = world
            .root
            .join(format!(".git/refs/heads/{}.lock", place.branch));
        let locks = [own.join("index.lock"), own.join("HEAD.lock"), branch];
        let plant = || {
            for (lock, name) in locks.iter().zip(["index", "HEAD", "branch"]) {
                if way == name || way == "all" {
                    // Written in the future, so that it never gets old.
                    write(lock, "");
                    let file = std::fs::File::options().append(true).open(lock).unwrap();
                    let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1 << 32);
                    file.set_modified(time).unwrap();
                }
            }
        };
        plant();
        write(&place.worktree.join("work.txt"), "1");
        let sealed = world.git.seal(&place, &prepared.head, "work").unwrap();
        assert_eq!(sealed.changed_files, ["work.txt"], "{way}");
        plant();
        write(&place.worktree.join("work.txt"), "2");
        world.git.restore(&place, &prepared.head, 1).unwrap();
        plant();
        world.git.prepare(&place, &origin(&[])).unwrap();
        let (is_ok, said) = try_git(
            &place.worktree,
            &["commit", "--quiet", "--allow-empty", "-m", "x"],
        );
        assert!(is_ok, "{way}: {said}");
    }
}

#[test]
fn c_9_a_lock_that_cannot_be_removed_is_named_with_the_way_out() {
    let mut world = World::new();
    let (place, prepared) = world.prepare("a", &[]);
    write(&place.worktree.join("work.txt"), "1");
    let lock = world.root.join(".git/packed-refs.lock");
    let sealed = world.git.seal(&place, &prepared.head, "work").unwrap();
    world.git.remove(&place).unwrap();
    world.ask(&["pack-refs", "--all"]);
    write(&lock, "");
    let trouble = world.git.delete_branch(&place.branch, &sealed.commit);
    let trouble = trouble.unwrap_err().message;
    assert!(trouble.contains(lock.as_str()), "{trouble}");
    assert!(trouble.contains("rm "), "{trouble}");
    std::fs::remove_file(&lock).unwrap();
    world.settle();
}
