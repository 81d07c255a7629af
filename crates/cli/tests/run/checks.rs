//! What checks run on: the commit that is handed over, and nothing else.

use crate::world::{DILIGENT, Setup, World, plan};

#[test]
fn z_29_what_was_copied_into_a_worktree_is_no_change_of_the_work() {
    let setup = Setup {
        config: "worktrees: {copy: [.env]}\n".to_owned(),
        ..Setup::default()
    };
    let world = World::new(&setup);
    world.write(".env", "SECRET=1\n");
    world.run(&["run"]).exits(0);
    assert_eq!(world.statuses(), "1.1 closed");
    let files = world.git(&["ls-tree", "-r", "--name-only", "feature/1-1-only-one"]);
    assert!(!files.contains(".env"), "{files}");
}

#[test]
fn z_5_a_check_that_changes_the_work_proves_nothing() {
    for check in [
        "echo more >>work/1.1.txt",
        "echo more >new.txt",
        "echo more >>work/1.1.txt && git commit --quiet --all -m more",
    ] {
        let setup = Setup {
            plan: plan(&[("1.1", "Only One")]),
            config: format!("verify: {{default: ['{check}']}}\nretry: {{max_attempts: 1}}\n"),
            agent: DILIGENT.to_owned(),
            ..Setup::default()
        };
        let world = World::new(&setup);
        world.run(&["run"]).exits(1);
        assert_eq!(world.statuses(), "1.1 blocked");
        let beads = world.beads();
        let notes = beads["1.1"]["notes"].as_str().unwrap_or_default();
        let expected = "the work changed while it was checked";
        assert!(notes.contains(expected), "{check}: {notes}");
    }
}
