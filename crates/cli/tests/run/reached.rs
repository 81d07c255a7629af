//! Agents that prepare git for us, in real runs: the user's files stay, and what closes a bead is in its commit (C-2, C-3, C-9).

use rustix::process::Signal;

use crate::world::{DILIGENT, Setup, World, plan, sprint};

/// What the user has not committed.
#[track_caller]
fn with_user_files(world: &World) {
    world.write("shared.txt", "one\ntwo\nedited by the user\n");
    world.write("untracked.txt", "the user's own\n");
}

#[track_caller]
fn check_user_files(world: &World) {
    assert_eq!(world.read("shared.txt"), "one\ntwo\nedited by the user\n");
    assert_eq!(world.read("untracked.txt"), "the user's own\n");
}

/// A plan whose check is `t.sh`.
fn checked_by_script() -> String {
    sprint("1.1", "Only One", "").replace("`test -f work/1.1.txt`", "`sh t.sh`")
}

/// The check, on a clean clone of a branch.
#[track_caller]
fn holds_in_a_clone(world: &World, branch: &str) -> bool {
    let clone = world.base.join("clone");
    world.git(&[
        "clone",
        "--quiet",
        "--branch",
        branch,
        world.root.as_str(),
        clone.as_str(),
    ]);
    let script = clone.join("t.sh");
    let ran = world.tool("sh", &[script.as_str()]);
    ran.output(crate::world::LONG).code == Some(0)
}

#[test]
fn c_2_after_a_kill_the_users_files_are_still_there() {
    for scope in ["--worktree", "--local"] {
        let evil = format!(
            "git config extensions.worktreeConfig true; git config {scope} core.worktree \"$base/repo\"\n\
             touch \"$base/ready\"; while ! [ -e \"$base/go\" ]; do sleep 0.02; done\n"
        );
        let world = World::new(&Setup {
            config: "integration: merge\nralph: {poll_interval: 100ms}\n".to_owned(),
            agent: format!(
                "if [ $role = dev ] && ! [ -e \"$base/ready\" ]; then\n{evil}fi\n{DILIGENT}"
            ),
            ..Setup::default()
        });
        with_user_files(&world);
        let first = world.command(&["run"]).start();
        world.wait_for("ready");
        first.signal(Signal::KILL);
        first.end();
        world.touch("go");
        world.run(&["run"]).exits(0);
        check_user_files(&world);
        assert_eq!(world.statuses(), "1.1 closed");
        let tool = ["config", "--unset", "core.worktree"];
        drop(world.tool("git", &tool).output(crate::world::LONG));
        let made = world.git(&["diff", "--name-only", "main", "ralph/plan"]);
        assert_eq!(made, "work/1.1.txt", "{scope}");
    }
}

#[test]
fn c_2_without_a_kill_the_users_edits_are_not_committed() {
    let world = World::new(&Setup {
        config: "integration: merge\nralph: {poll_interval: 100ms}\n".to_owned(),
        agent: format!("{DILIGENT}\ngit config core.worktree \"$base/repo\"\n"),
        ..Setup::default()
    });
    with_user_files(&world);
    world.run(&["run"]).exits(0);
    check_user_files(&world);
    let made = ["diff-tree", "-r", "--name-only", "main", "ralph/plan"];
    assert_eq!(world.git(&made), "work/1.1.txt");
}

#[test]
fn c_3_what_a_dev_agent_hid_is_in_the_commit_that_is_checked() {
    for hide in [
        "git update-index --assume-unchanged t.sh",
        "git update-index --skip-worktree t.sh",
        "git config filter.x.clean 'echo exit 1'; echo 't.sh filter=x' >>\"$(git rev-parse --git-common-dir)/info/attributes\"",
    ] {
        let agent = format!(
            "if [ $role = dev ]; then echo 'exit 1' >t.sh; git add t.sh; git commit -q -m x; {hide}; echo 'exit 0' >t.sh\n\
             else echo '{{\"status\": \"pass\", \"message\": \"fine\"}}'; fi\n"
        );
        let world = World::new(&Setup {
            plan: format!("# Plan: a test\n\n{}", checked_by_script()),
            config: "integration: merge\nralph: {poll_interval: 100ms}\n".to_owned(),
            agent,
            ..Setup::default()
        });
        world.run(&["run"]).exits(0);
        assert_eq!(world.statuses(), "1.1 closed");
        assert!(holds_in_a_clone(&world, "ralph/plan"), "{hide}");
    }
}

#[test]
fn c_3_what_a_qa_agent_hides_closes_no_bead() {
    for hide in [
        "git update-index --assume-unchanged t.sh",
        "git config core.trustctime false; git config core.checkStat minimal; touch -r t.sh \"$base/time\"",
        "echo helper.sh >>\"$(git rev-parse --git-common-dir)/info/exclude\"; echo 'exit 0' >helper.sh",
    ] {
        let agent = format!(
            "if [ $role = dev ]; then echo 'if [ -f helper.sh ]; then . ./helper.sh; fi; exit 1' >t.sh; sleep 0.1\n\
             else {hide}; if ! [ -f helper.sh ]; then echo 'if [ -f helper.sh ]; then . ./helper.sh; fi; exit 0' >t.sh; touch -r \"$base/time\" t.sh 2>/dev/null; fi\n\
             echo '{{\"status\": \"pass\", \"message\": \"fine\"}}'; fi\n"
        );
        let world = World::new(&Setup {
            plan: format!("# Plan: a test\n\n{}", checked_by_script()),
            config: "integration: merge\nralph: {poll_interval: 100ms}\nretry: {max_attempts: 1}\n"
                .to_owned(),
            agent,
            ..Setup::default()
        });
        let ended = world.run(&["run"]);
        assert_ne!(ended.code, Some(0), "{hide}: {ended:#?}");
        assert_ne!(world.statuses(), "1.1 closed", "{hide}");
    }
}

#[test]
fn c_2_a_repository_inside_fails_the_attempt_and_the_next_one_is_told() {
    let agent = format!(
        "if [ $role = dev ] && [ $attempt = 1 ]; then git init -q sub; cd sub; git -c user.name=x -c user.email=x commit -q --allow-empty -m x\n\
         git config core.fsmonitor \"touch $base/sprung; false\"; cd ..; fi\n\
         if [ $role = dev ] && [ $attempt = 2 ]; then rm -rf sub; fi\n{DILIGENT}"
    );
    let world = World::new(&Setup {
        config: "integration: merge\nralph: {poll_interval: 100ms}\n".to_owned(),
        agent,
        ..Setup::default()
    });
    world.run(&["run"]).exits(0);
    assert_eq!(world.log(), ["dev 1.1 1", "dev 1.1 2", "qa 1.1 2"]);
    assert!(!world.base.join("sprung").exists());
    let told = world.journal().iter().any(|entry| {
        let entry = entry.to_string();
        entry.contains("'sub' is a separate git repository")
    });
    assert!(told, "{:#?}", world.journal());
}

#[test]
fn c_9_locks_that_an_agent_left_stop_nothing() {
    let agent = format!(
        "{DILIGENT}\ngit=$(git rev-parse --git-dir) common=$(git rev-parse --git-common-dir)\n\
         touch \"$git/index.lock\" \"$git/HEAD.lock\" \"$common/$(git symbolic-ref HEAD).lock\"\n"
    );
    let world = World::new(&Setup {
        config: "integration: merge\nralph: {poll_interval: 100ms}\n".to_owned(),
        agent,
        ..Setup::default()
    });
    world.run(&["run"]).exits(0);
    assert_eq!(world.statuses(), "1.1 closed");
    assert_eq!(world.log(), ["dev 1.1 1", "qa 1.1 1"]);
}

#[test]
fn c_2_filters_run_without_what_is_withheld_and_as_they_were_at_the_start() {
    let world = World::new(&Setup {
        config: "  withhold_env: [SECRET]\nintegration: merge\nralph: {poll_interval: 100ms}\n"
            .to_owned(),
        agent: format!(
            "{DILIGENT}\nif [ $role = dev ]; then git config filter.up.clean 'echo evil'; echo text >work/a.up; fi\n"
        ),
        ..Setup::default()
    });
    let seen = world.base.join("seen");
    let clean = format!("env >>'{seen}'; tr a-z A-Z");
    world.git(&["config", "filter.up.clean", &clean]);
    world.write(".gitattributes", "*.up filter=up\n");
    world.git(&["add", ".gitattributes"]);
    world.git(&["commit", "--quiet", "-m", "attributes", ".gitattributes"]);
    let run = world.command(&["run"]).env("SECRET", "hunter2");
    run.output(crate::world::LONG).exits(0);
    let content = ["cat-file", "-p", "ralph/plan:work/a.up"];
    assert_eq!(world.git(&content), "TEXT");
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(!seen.contains("hunter2"), "{seen}");
    // The next run begins with what holds then.
    let users = world.root.join(".git/beads-ralph/users");
    assert_eq!(users.read_dir().unwrap().count(), 0);
}

#[test]
fn c_3_two_beads_at_once_reach_neither_each_other_nor_the_user() {
    let wait = |name: &str| format!("while ! [ -e \"$base/{name}\" ]; do sleep 0.02; done");
    let evil = format!(
        "if [ $role$sprint = dev1.1a ]; then touch \"$base/one\"; {}; fi\n\
         if [ $role$sprint = dev1.1b ]; then {}; cp ../1-1a-one/.git .git; touch \"$base/two\"; fi\n",
        wait("two"),
        wait("one")
    );
    let world = World::new(&Setup {
        plan: plan(&[("1.1a", "One"), ("1.1b", "Two")]),
        config: "integration: merge\nralph: {poll_interval: 100ms}\nretry: {max_attempts: 1}\n"
            .to_owned(),
        agent: format!("{DILIGENT}\n{evil}"),
        ..Setup::default()
    });
    with_user_files(&world);
    let ended = world.run(&["run"]);
    assert_ne!(ended.code, Some(0));
    check_user_files(&world);
    assert_eq!(world.bead("1.1a")["status"], "closed");
    assert_ne!(world.bead("1.1b")["status"], "closed");
    let made = ["diff-tree", "-r", "--name-only", "main", "feature/1-1a-one"];
    assert_eq!(world.git(&made), "work/1.1a.txt");
}
