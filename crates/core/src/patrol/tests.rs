//! What is looked at, what is filed and closed, and how long is waited.

use super::*;
use crate::dod::of_issue;
use crate::issue::{Fence, Holder, Issue};

fn commands(names: &[&str], wishes: &Wishes) -> Vec<(&'static str, String)> {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let checks = checks(&names, wishes).into_iter();
    checks
        .map(|check| (check.watched.as_str(), check.command))
        .collect()
}

fn owned(pairs: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    let pairs = pairs.iter();
    pairs
        .map(|(watched, command)| (*watched, (*command).to_owned()))
        .collect()
}

#[test]
fn g_6_the_files_at_the_root_tell_the_commands() {
    let with_e2e = Wishes {
        e2e_enabled: Some(true),
        ..Wishes::default()
    };
    for (names, wishes, expected) in [
        (&[][..], Wishes::default(), &[][..]),
        (
            &["go.mod", "main.go"],
            Wishes::default(),
            &[("unit", "go test ./..."), ("build", "go build ./...")],
        ),
        (
            &["package.json", "playwright.config.ts"],
            Wishes::default(),
            &[("unit", "npm test"), ("build", "npm run build")],
        ),
        (
            &["package.json", "playwright.config.ts"],
            with_e2e.clone(),
            &[
                ("unit", "npm test"),
                ("build", "npm run build"),
                ("e2e", "npx playwright test"),
            ],
        ),
        (&["playwright.configs"], with_e2e, &[]),
        (
            &["Cargo.toml", "go.mod"],
            Wishes::default(),
            &[
                ("unit", "go test ./... && cargo test"),
                ("build", "go build ./... && cargo build"),
            ],
        ),
    ] {
        assert_eq!(commands(names, &wishes), owned(expected), "{names:?}");
    }
}

#[test]
fn g_6_what_the_user_says_goes_before_what_is_found() {
    let wishes = Wishes {
        unit: Some(" make test ".to_owned()),
        build: Some(String::new()),
        e2e: Some("make e2e".to_owned()),
        e2e_enabled: None,
    };
    let expected = owned(&[("unit", "make test"), ("e2e", "make e2e")]);
    assert_eq!(commands(&["Cargo.toml"], &wishes), expected);
    let without = Wishes {
        e2e_enabled: Some(false),
        ..wishes
    };
    assert_eq!(commands(&["Cargo.toml"], &without), expected[..1]);
}

#[test]
fn g_6_the_wait_doubles_up_to_the_interval() {
    let waits = |interval| {
        let interval = Duration::from_secs(interval);
        [0, 1, 2, 3, 4, 40].map(|n| wait(n, interval).as_secs())
    };
    assert_eq!(waits(300), [30, 60, 120, 240, 300, 300]);
    assert_eq!(waits(10), [10; 6]);
}

fn record(id: &str, title: &str, labels: &[&str], is_held: bool) -> Record {
    let document = json!({"id": id, "title": title, "labels": labels});
    let claim = Claim {
        fence: Fence(1),
        holder: Holder {
            run: "r".to_owned(),
            host: "h".to_owned(),
            process: None,
        },
        claimed_at: jiff::Timestamp::UNIX_EPOCH,
        lease_until: jiff::Timestamp::UNIX_EPOCH,
    };
    Record {
        issue: Issue::without_comments(document).unwrap(),
        version: 1,
        fence: Fence(1),
        claim: is_held.then_some(claim),
        is_blocked: false,
        n_comments: 0,
    }
}

#[test]
fn g_7_there_is_one_open_bead_for_each_title() {
    let id = |text: &str| BeadId::parse(text).unwrap();
    let unit = "[PATROL] Unit tests failing";
    let beads = [
        record("a", "[PATROL] Build failure", &[label::PATROL], false),
        record("b", unit, &[], false),
        record("c", unit, &[label::PATROL], true),
        record("d", unit, &[label::PATROL], false),
    ];
    let measure = |watched, passed, beads: &[Record]| measure(watched, passed, beads, |_| false);
    assert_eq!(
        measure(PatrolCheck::Unit, false, &beads[..1]),
        Measure::File
    );
    assert_eq!(
        measure(PatrolCheck::Unit, false, &beads),
        Measure::Known(id("b"))
    );
    assert_eq!(measure(PatrolCheck::E2e, true, &beads), Measure::Nothing);
    assert_eq!(
        measure(PatrolCheck::Unit, true, &beads),
        Measure::Close {
            closed: vec![id("d")],
            held: vec![id("c")],
        },
        "what a person filed under the same title is the person's"
    );
}

#[test]
fn g_7_a_dead_claim_keeps_no_bead_open() {
    let bead = record("c", "[PATROL] Unit tests failing", &[label::PATROL], true);
    let id = bead.issue.id().clone();
    assert_eq!(
        measure(PatrolCheck::Unit, true, &[bead], |claim| claim.holder.host
            == "h"),
        Measure::Close {
            closed: vec![id],
            held: Vec::new(),
        }
    );
}

#[test]
fn g_7_a_bug_is_a_bead_that_can_be_worked_on() {
    let check = Check {
        watched: PatrolCheck::Build,
        command: "make".to_owned(),
    };
    let bug = Bug {
        id: &BeadId::parse("bd-patrol-build-001").unwrap(),
        check: &check,
        reason: "Exit code 2 (expected 0)",
        log: ".ralph/patrol/20260102-030405-build.log",
        limit: Duration::from_mins(30),
        actor: "me",
        now: &Timestamp::from_instant(jiff::Timestamp::UNIX_EPOCH),
    };
    let issue = Issue::without_comments(bug.document()).unwrap();
    assert_eq!(issue.title(), "[PATROL] Build failure");
    assert_eq!((issue.priority(), issue.issue_type()), (0, "bug"));
    let bead = of_issue(&issue, &[]).unwrap();
    let [verifier] = bead.dod.verifiers.as_slice() else {
        panic!("{bead:?}");
    };
    assert_eq!(
        (verifier.command.as_str(), verifier.timeout_seconds),
        ("make", 1800)
    );
    assert!(bead.intent.contains(bug.log), "{}", bead.intent);
}
