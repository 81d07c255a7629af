//! Repositories that are not as one would wish: odd paths, hooks that refuse, what is in the way, what users do meanwhile.

use crate::world::{DILIGENT, Setup, World, plan, sprint, wait_until};

const TWO: [(&str, &str); 2] = [("1.1", "One"), ("1.2", "Two")];

fn two() -> Setup {
    Setup {
        plan: plan(&TWO),
        ..Setup::default()
    }
}

/// Everything about the main checkout that must stay.
fn look(world: &World) -> Vec<u8> {
    let mut look = std::fs::read(world.root.join(".git/index")).unwrap();
    for name in ["HEAD", "ORIG_HEAD", "MERGE_HEAD", "config"] {
        look.extend(std::fs::read(world.root.join(".git").join(name)).unwrap_or_default());
    }
    let status = [
        "--no-optional-locks",
        "status",
        "--porcelain=v2",
        "--branch",
    ];
    look.extend(world.git(&status).into_bytes());
    look
}

#[test]
fn l_15_a_path_with_spaces_and_letters_beyond_ascii_is_no_matter() {
    let world = World::new(&Setup {
        name: "my répo ünd 空 'quoted'",
        ..two()
    });
    world.run(&["run"]).exits(0);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed");
}

#[test]
fn l_15_from_a_checkout_that_is_detached_and_dirty_work_is_done_and_nothing_is_touched() {
    let world = World::new(&two());
    world.git(&["checkout", "--quiet", "--detach"]);
    world.write("shared.txt", "changed by the user\n");
    world.write("staged.txt", "staged\n");
    world.git(&["add", "staged.txt"]);
    world.write("untracked.txt", "not for git\n");
    let before = look(&world);
    world.run(&["run"]).exits(0);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed");
    assert!(look(&world) == before, "the main checkout was changed");
    assert_eq!(world.read("shared.txt"), "changed by the user\n");
}

#[test]
fn z_5_hooks_that_refuse_do_not_keep_work_from_being_committed() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new(&two());
    for hook in [
        "pre-commit",
        "commit-msg",
        "post-checkout",
        "pre-merge-commit",
        "post-commit",
        "reference-transaction",
    ] {
        let name = format!(".git/hooks/{hook}");
        world.write(&name, "#!/bin/sh\necho refused >&2\nexit 1\n");
        let permissions = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(world.root.join(&name), permissions).unwrap();
    }
    world.run(&["run"]).exits(0);
    assert_eq!(world.statuses(), "1.1 closed, 1.2 closed");
}

#[test]
fn z_16_everything_that_is_in_the_way_is_told_at_once_before_anything_starts() {
    let more = |slug: &str| sprint("1.2", "Two", "").replace("feature/1-2-two", slug);
    let world = World::new(&Setup {
        plan: format!(
            "# Plan: p\n\n{}{}{}",
            sprint("1.1", "One", ""),
            more("topic/two"),
            sprint("1.3", "Three", "").replace("`main`", "`release`")
        ),
        ..Setup::default()
    });
    // A branch that is where a directory of branches must be, a worktree's place that is taken, a source that is not there.
    world.git(&["branch", "topic"]);
    world.write("../worktrees/1-1-one/theirs.txt", "theirs\n");
    world
        .run(&["run"])
        .exits(3)
        .says("topic")
        .says("worktrees/1-1-one")
        .says("release");
    assert_eq!(world.log(), Vec::<String>::new());
    assert_eq!(world.statuses(), "1.1 open, 1.2 open, 1.3 open");
    assert_eq!(world.runs().len(), 0, "no run began");
}

#[test]
fn l_10_a_disk_that_is_too_full_is_told_before_anything_starts() {
    let world = World::new(&two());
    let config = world.read("beads-ralph.yaml").replace(
        "disk: {check_before_start: false}",
        "disk: {min_free_gb: 1000000000}",
    );
    world.write("beads-ralph.yaml", &config);
    world.run(&["run"]).exits(3).says("disk.min_free_gb");
    assert_eq!(world.log(), Vec::<String>::new());
}

/// A dev agent of the first sprint that waits for a word.
fn waiting() -> Setup {
    let wait = r#"
if [ "$role$sprint" = dev1.1a ]; then
  touch "$base/began"
  while ! [ -e "$base/go" ]; do sleep 0.02; done
fi
"#;
    Setup {
        plan: plan(&[("1.1a", "One"), ("1.1b", "Two")]),
        agent: format!("{wait}{DILIGENT}"),
        ..Setup::default()
    }
}

#[test]
fn z_7_a_worktree_that_a_user_deletes_costs_that_bead_an_attempt_at_most() {
    let world = World::new(&waiting());
    let running = world.command(&["run"]).start();
    world.wait_for("began");
    std::fs::remove_dir_all(world.base.join("worktrees/1-1a-one")).unwrap();
    world.touch("go");
    let ended = running.end();
    let statuses = world.statuses();
    assert!(statuses.ends_with("1.1b closed"), "{statuses}: {ended:#?}");
    assert!(!statuses.contains("in_progress"), "{statuses}: {ended:#?}");
    if ended.code == Some(0) {
        assert_eq!(statuses, "1.1a closed, 1.1b closed");
        return;
    }
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    assert!(
        world.error_of("1.1a").contains("worktree"),
        "{}",
        world.error_of("1.1a")
    );
    let id = world.bead("1.1a")["id"].as_str().unwrap().to_owned();
    world.run(&["retry", &id]).exits(0);
    world.run(&["run"]).exits(0);
    assert_eq!(world.statuses(), "1.1a closed, 1.1b closed");
}

#[test]
fn l_11_a_bead_that_a_user_closes_meanwhile_stays_closed_and_is_left_alone() {
    let world = World::new(&waiting());
    let running = world.command(&["run"]).start();
    world.wait_for("began");
    let id = world.bead("1.1a")["id"].as_str().unwrap().to_owned();
    world
        .run(&["close", &id, "--force", "--reason", "by hand"])
        .exits(0);
    world.touch("go");
    running.end().exits(0);
    assert_eq!(world.statuses(), "1.1a closed, 1.1b closed");
    let bead = world.bead("1.1a");
    assert_eq!(bead["close_reason"], "by hand");
    assert!(bead["metadata"]["verified_commit"].is_null(), "{bead:#}");
    wait_until("nobody is left", || world.processes().is_empty());
}

#[test]
fn l_11_what_a_user_writes_into_a_bead_meanwhile_is_kept() {
    let world = World::new(&waiting());
    let running = world.command(&["run"]).start();
    world.wait_for("began");
    let id = world.bead("1.1a")["id"].as_str().unwrap().to_owned();
    world
        .run(&[
            "update",
            &id,
            "--force",
            "--title",
            "A Better Title",
            "--priority",
            "0",
        ])
        .exits(0);
    world.run(&["comment", &id, "looks good so far"]).exits(0);
    world.touch("go");
    running.end().exits(0);
    let bead = world.bead("1.1a");
    assert_eq!(
        (&bead["title"], &bead["priority"], &bead["status"]),
        (&"A Better Title".into(), &0.into(), &"closed".into())
    );
    let comments = bead["comments"].as_array().unwrap();
    assert!(
        comments.iter().any(|it| it["text"] == "looks good so far"),
        "{comments:#?}"
    );
    assert_eq!(comments.len(), 4, "{comments:#?}");
}

#[test]
fn l_5_a_bead_that_is_not_valid_is_blocked_and_the_others_go_on() {
    let world = World::new(&waiting());
    world.touch("go");
    let id = world.bead("1.1b")["id"].as_str().unwrap().to_owned();
    world
        .run(&["update", &id, "--set-metadata", "sprint=nonsense"])
        .exits(0);
    world.run(&["run"]).exits(1);
    assert_eq!(world.statuses(), "1.1a closed, nonsense blocked");
    let notes = world.bead("nonsense")["notes"].as_str().unwrap().to_owned();
    assert!(
        notes.contains("the bead is not valid") && notes.contains("sprint"),
        "{notes}"
    );
}

#[test]
fn z_5_what_a_judge_or_a_check_changes_is_not_handed_over() {
    let world = World::new(&Setup {
        agent: format!("{DILIGENT}\nif [ $role = qa ]; then echo changed >>work/1.1.txt; fi\n"),
        ..Setup::default()
    });
    world.run(&["run"]).exits(1);
    assert_eq!(world.statuses(), "1.1 blocked");
    let error = world.error_of("1.1");
    assert!(error.contains("changed while QA looked at it"), "{error}");
}

#[test]
fn z_17_a_worktree_that_somebody_switched_to_another_branch_is_left_alone() {
    let world = World::new(&Setup {
        agent: format!("[ -e \"$base/good\" ] || exit 1\n{DILIGENT}"),
        ..Setup::default()
    });
    world.run(&["run"]).exits(1);
    let bead = world.bead("1.1");
    let id = bead["id"].as_str().unwrap();
    let place = world
        .root
        .join(bead["metadata"]["worktree_path"].as_str().unwrap());
    let place = place.as_str();
    let branch = bead["metadata"]["branch"].as_str().unwrap();
    let own = world.git(&["rev-parse", branch]);
    world.git(&["-C", place, "switch", "--create", "theirs"]);
    world.git(&["-C", place, "commit", "--allow-empty", "-m", "theirs"]);
    let file = format!(
        "{}/theirs.txt",
        bead["metadata"]["worktree_path"].as_str().unwrap()
    );
    world.write(&file, "theirs\n");
    world.touch("good");
    world.run(&["retry", id]).exits(0);
    world.run(&["run"]);
    assert_eq!(world.git(&["rev-parse", branch]), own, "nothing of theirs");
    assert_eq!(
        world.git(&["-C", place, "branch", "--show-current"]),
        "theirs"
    );
    let theirs = format!("{place}/theirs.txt");
    assert!(
        std::fs::exists(theirs).unwrap(),
        "and their file lies where it was"
    );
}

#[test]
fn clean_says_beforehand_what_it_does_and_leaves_what_has_something_to_lose() {
    let world = World::new(&Setup {
        plan: plan(&[("1.1a", "One"), ("1.1b", "Two")]),
        config: "integration: merge\n".to_owned(),
        ..Setup::default()
    });
    world.run(&["run"]).exits(0);
    let place = world.bead("1.1a")["metadata"]["worktree_path"].clone();
    let file = format!("{}/note.txt", place.as_str().unwrap());
    world.write(&file, "mine\n");
    let would = world.data(&["clean", "--branches", "--dry-run"]);
    let did = world.data(&["clean", "--branches", "--yes"]);
    for (what, kinds) in [
        ("removed", ["worktree", "branch"]),
        ("left", ["worktree", "branch"]),
    ] {
        let names = |data: &serde_json::Value| {
            let things = data[what].as_array().unwrap().iter();
            let names = things.map(|it| (it["kind"].clone(), it["name"].clone()));
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(&would), names(&did), "{what}: {would:#} {did:#}");
        let found: Vec<_> = names(&did).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(found, kinds, "{what}");
    }
    assert!(world.root.join(&file).exists());
}

#[test]
fn z_16_an_agent_without_the_right_to_run_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new(&Setup::default());
    let agent = world.base.join("agent.sh");
    std::fs::set_permissions(&agent, std::fs::Permissions::from_mode(0o644)).unwrap();
    world
        .run(&["run"])
        .exits(3)
        .says("chmod +x")
        .says("agent.sh");
}

#[test]
fn events_are_all_that_is_on_standard_output() {
    let world = World::new(&Setup::default());
    let ended = world.run(&["run", "--events"]).exits(0);
    for line in ended.stdout.lines() {
        let event: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(
            event["event"].is_object() || event["event"].is_string(),
            "{line}"
        );
    }
    assert!(ended.stderr.contains("1 bead closed"), "{ended:#?}");
}
