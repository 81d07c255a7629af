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
fn z_9_each_end_of_an_agent_and_each_verdict_is_a_comment() {
    let world = World::new(&Setup {
        agent: format!(
            "if [ $role:$attempt = qa:1 ]; then echo '{{\"status\": \"fail\", \"message\": \"too short\"}}'; exit 0; fi\n{DILIGENT}\n[ $role = qa ] || echo $attempt >>work/again.txt\n"
        ),
        ..Setup::default()
    });
    world.run(&["run"]).exits(0);
    let bead = world.bead("1.1");
    let comments = bead["comments"].as_array().unwrap().iter();
    let comments: Vec<&str> = comments.map(|it| it["text"].as_str().unwrap()).collect();
    let expected = [
        "attempt 1: claude ok: ",
        "attempt 1: QA claude fail: too short",
        "attempt 2: claude ok: ",
        "attempt 2: QA claude pass: fine",
        "attempt 2: the checks passed",
    ];
    assert_eq!(comments.len(), expected.len(), "{comments:#?}");
    for (comment, begin) in comments.iter().zip(expected) {
        assert!(comment.starts_with(begin), "{begin}: {comments:#?}");
    }
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

#[test]
fn l_16_the_next_attempt_is_told_what_a_failed_check_printed() {
    let setup = Setup {
        config:
            "verify: {default: ['[ -e work/second ] || { echo it is never there; exit 1; }']}\n"
                .to_owned(),
        agent: format!(
            "{DILIGENT}\nif [ \"$role $attempt\" = \"dev 2\" ]; then touch work/second; fi"
        ),
        ..Setup::default()
    };
    let world = World::new(&setup);
    world.run(&["run"]).exits(0);
    let run = &world.runs()[0];
    let attempts = run.join("beads/bd-1-1-only-one");
    let prompt = |n: u32| {
        let path = attempts.join(format!("attempt-{n}/dev-1/prompt.md"));
        std::fs::read_to_string(path).unwrap()
    };
    // What the check is stands in every prompt; what it printed has a line of its own.
    assert!(!prompt(1).contains("\n    it is never there"));
    let second = prompt(2);
    assert!(
        second.contains("printed:\n    it is never there\n"),
        "{second}"
    );
}
