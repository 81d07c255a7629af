//! `plan annotate`: bead ids in the plan, and every other byte as it was (contracts §5).

use std::time::{Duration, SystemTime};

use crate::env::{DEMO, TestEnv};

const SHORT: &str = "### Sprint 1.1: A\n\ntext\n\n### Sprint 1.2: B\n";
const ANNOTATED: &str = "### Sprint 1.1: A\n<!-- beads-ralph: bd-1-1-a -->\n\ntext\n\n\
     ### Sprint 1.2: B\n<!-- beads-ralph: bd-1-2-b -->\n";

fn with(plan: impl AsRef<[u8]>) -> TestEnv {
    let env = TestEnv::new();
    env.write("plan.md", plan);
    env
}

fn set_old(env: &TestEnv) -> SystemTime {
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(env.path("plan.md"))
        .unwrap();
    file.set_modified(then).unwrap();
    then
}

fn modified(env: &TestEnv) -> SystemTime {
    std::fs::metadata(env.path("plan.md"))
        .unwrap()
        .modified()
        .unwrap()
}

#[test]
fn a_1_the_line_after_each_heading() {
    let env = with(SHORT);
    let output = env.run(&["plan", "annotate", "plan.md"]).exits(0);
    assert_eq!(env.text("plan.md"), ANNOTATED);
    assert_eq!(output.stdout, "");
    assert!(
        output.stderr.contains("changed 2 of 2"),
        "{}",
        output.stderr
    );
    assert_eq!(env.names("."), ["plan.md"]);
}

#[test]
fn a_2_an_old_annotation_is_replaced() {
    let env = with(ANNOTATED.replace("bd-1-1-a", "bd-old"));
    env.run(&["plan", "annotate", "plan.md"]).exits(0);
    assert_eq!(env.text("plan.md"), ANNOTATED);
}

#[test]
fn a_3_only_selected_sprints_are_touched() {
    let env = with(
        ANNOTATED
            .replace("bd-1-1-a", "bd-old")
            .replace("bd-1-2-b", "bd-stale"),
    );
    env.run(&["plan", "annotate", "--sprint-filter", "1.2", "plan.md"])
        .exits(0);
    assert_eq!(env.text("plan.md"), ANNOTATED.replace("bd-1-1-a", "bd-old"));
    for (filter, code) in [
        ("9.9", "DEPENDENCY.UNRESOLVED"),
        ("x", "PARSE.INVALID_PATTERN"),
    ] {
        let output = env.run(&[
            "plan",
            "annotate",
            "--json",
            "--sprint-filter",
            filter,
            "plan.md",
        ]);
        assert_eq!(output.exits(1).error_code(), code);
    }
}

#[test]
fn a_5_every_other_byte_is_kept() {
    for (before, after) in [
        (
            "### Sprint 1.1: A\r\nx\r\n",
            "### Sprint 1.1: A\r\n<!-- beads-ralph: bd-1-1-a -->\r\nx\r\n",
        ),
        (
            "### Sprint 1.1: A",
            "### Sprint 1.1: A\n<!-- beads-ralph: bd-1-1-a -->",
        ),
        (
            "a\r\n### Sprint 1.1: A",
            "a\r\n### Sprint 1.1: A\r\n<!-- beads-ralph: bd-1-1-a -->",
        ),
        (
            "\u{feff}### Sprint 1.1: A\n\u{c}\u{2028}trailing  \nend",
            "\u{feff}### Sprint 1.1: A\n<!-- beads-ralph: bd-1-1-a -->\n\u{c}\u{2028}trailing  \nend",
        ),
    ] {
        let env = with(before);
        env.run(&["plan", "annotate", "plan.md"]).exits(0);
        assert_eq!(env.text("plan.md"), after);
    }
}

#[test]
fn a_5_the_demo_plan_without_its_annotations_is_the_demo_plan() {
    for plan in [DEMO.to_owned(), DEMO.replace('\n', "\r\n")] {
        let env = with(&plan);
        env.run(&["plan", "annotate", "plan.md"]).exits(0);
        let annotated = env.text("plan.md");
        let lines = annotated.split_inclusive('\n');
        let (notes, rest): (Vec<&str>, Vec<&str>) =
            lines.partition(|line| line.starts_with("<!-- beads-ralph:"));
        assert_eq!((notes.len(), rest.concat()), (9, plan));
    }
}

#[test]
fn a_6_a_second_run_does_not_touch_the_file() {
    let env = with(SHORT);
    env.run(&["plan", "annotate", "plan.md"]).exits(0);
    let then = set_old(&env);
    let data = env.run(&["plan", "annotate", "--json", "plan.md"]).data();
    assert_eq!(
        (&data["plan_annotated"], &data["plan_file_updated"]),
        (&true.into(), &false.into())
    );
    assert_eq!(
        (env.text("plan.md"), modified(&env)),
        (ANNOTATED.to_owned(), then)
    );
}

#[test]
fn a_9_a_plan_is_written_only_when_that_is_asked_for() {
    let env = TestEnv::with_demo();
    let then = set_old(&env);
    for args in [
        &["init", "--permissions", "ask-none"][..],
        &["plan", "check", "plan.md"],
        &["plan", "graph", "plan.md"],
        &["plan", "build", "--out-dir", "beads", "plan.md"],
        &["plan", "diff", "plan.md"],
        &["plan", "apply", "plan.md"],
    ] {
        env.run(args).exits(0);
        assert_eq!(
            (env.text("plan.md").as_str(), modified(&env)),
            (DEMO, then),
            "{args:?}"
        );
    }
    env.run(&["plan", "apply", "--annotate", "plan.md"])
        .exits(0);
    assert_ne!(modified(&env), then);
}

#[test]
fn a_7_errors_leave_the_file_as_it_was() {
    for (plan, code) in [
        ("# T\n", "PARSE.MARKDOWN"),
        ("", "PARSE.MARKDOWN"),
        ("### Sprint 1.1: A\n```\n", "PARSE.MARKDOWN"),
        (
            "### Sprint 1.1: A\n### Sprint 1.01: A\n",
            "DEPENDENCY.DUPLICATE_ID",
        ),
        (
            "### Sprint 1.1: A\n\n<!-- beads-ralph: bd-x -->\n",
            "DEPENDENCY.DUPLICATE_ID",
        ),
        (
            "### Sprint 1.1: A\n<!-- beads-ralph: bd-x -->\n<!-- beads-ralph: bd-x -->\n",
            "DEPENDENCY.DUPLICATE_ID",
        ),
        (
            "### Sprint 1.1: A\n**Bead ID**: `bd-x`\n### Sprint 1.2: A\n**Bead ID**: `bd-x`\n",
            "DEPENDENCY.DUPLICATE_ID",
        ),
        (
            "### Sprint 1.1: A\n<!-- beads-ralph: bd-x\n",
            "PARSE.MARKDOWN",
        ),
    ] {
        let env = with(plan);
        let then = set_old(&env);
        let output = env.run(&["plan", "annotate", "--json", "plan.md"]).exits(1);
        assert_eq!(output.error_code(), code, "{plan:?}");
        assert_eq!((env.text("plan.md").as_str(), modified(&env)), (plan, then));
        let human = env.run(&["plan", "annotate", "plan.md"]).exits(1);
        assert!(
            human.stderr.contains(code) && human.stdout.is_empty(),
            "{human:#?}"
        );
    }
}

#[test]
fn e_5_the_two_booleans() {
    let env = with(SHORT);
    let booleans = |args: &[&str]| {
        let data = env
            .run(&[&["plan", "annotate", "--json", "plan.md"], args].concat())
            .data();
        let of = |key: &str| data[key].as_bool().unwrap();
        (of("plan_annotated"), of("plan_file_updated"))
    };
    assert_eq!(booleans(&["--dry-run"]), (false, false));
    assert_eq!(booleans(&[]), (true, true));
    assert_eq!(booleans(&[]), (true, false));
    assert_eq!(booleans(&["--dry-run"]), (true, false));
}

#[test]
fn a_dry_run_says_what_it_would_do() {
    let env = with(SHORT);
    let then = set_old(&env);
    let output = env
        .run(&["plan", "annotate", "--dry-run", "plan.md"])
        .exits(0);
    assert!(
        output.stderr.contains("would change 2 of 2"),
        "{}",
        output.stderr
    );
    assert_eq!(
        (env.text("plan.md").as_str(), modified(&env)),
        (SHORT, then)
    );
}

#[test]
fn standard_input_goes_to_standard_output() {
    let env = TestEnv::new();
    let output = env
        .command(&["plan", "annotate", "-"])
        .stdin(SHORT)
        .run()
        .exits(0);
    assert_eq!(output.stdout, ANNOTATED);
    let output = env
        .command(&["plan", "annotate", "-"])
        .stdin(ANNOTATED)
        .run()
        .exits(0);
    assert_eq!(output.stdout, ANNOTATED);
    assert_eq!(env.names("."), [""; 0]);
}

#[cfg(unix)]
#[test]
fn a_8_mode_bits_and_links_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let env = TestEnv::new();
    env.write("real/plan.md", SHORT);
    let real = env.path("real/plan.md");
    for mode in [0o600, 0o640, 0o755] {
        env.write("real/plan.md", SHORT);
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(mode)).unwrap();
        drop(std::fs::remove_file(env.path("link.md")));
        std::os::unix::fs::symlink("real/plan.md", env.path("link.md")).unwrap();
        env.run(&["plan", "annotate", "link.md"]).exits(0);
        let link = std::fs::symlink_metadata(env.path("link.md")).unwrap();
        assert!(link.is_symlink());
        let metadata = std::fs::metadata(&real).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, mode);
        assert_eq!(env.text("real/plan.md"), ANNOTATED);
        assert_eq!(env.names("real"), ["plan.md"]);
    }
}

#[cfg(unix)]
#[test]
fn a_7_what_cannot_be_written_is_said() {
    use std::os::unix::fs::PermissionsExt as _;
    let env = TestEnv::new();
    env.write("locked/plan.md", SHORT);
    if crate::env::is_root(&env) {
        eprintln!("running as root, whom no mode bits stop: a plan that is a directory instead");
        let output = env.run(&["plan", "annotate", "--json", "locked"]).exits(3);
        assert_eq!(output.error_code(), "IO.PERMISSION_DENIED");
    } else {
        let locked = env.path("locked");
        std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o555)).unwrap();
        let output = env
            .run(&["plan", "annotate", "--json", "locked/plan.md"])
            .exits(3);
        assert_eq!(output.error_code(), "IO.PERMISSION_DENIED");
        std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    assert_eq!(env.text("locked/plan.md"), SHORT);
    assert_eq!(env.names("locked"), ["plan.md"]);
}

#[test]
fn a_8_two_at_once_annotate_once() {
    for _ in 0..10 {
        let env = with(SHORT);
        let start = || env.command(&["plan", "annotate", "plan.md"]).spawn();
        let both =
            [start(), start()].map(|child| crate::env::Output::of(child, "annotate".to_owned()));
        for output in &both {
            assert!(matches!(output.code, Some(0 | 1)), "{output:#?}");
            if output.code == Some(1) {
                assert!(
                    output.stderr.contains("PLAN.CONCURRENT_EDIT"),
                    "{output:#?}"
                );
            }
        }
        assert!(
            both.iter().any(|output| output.code == Some(0)),
            "{both:#?}"
        );
        assert_eq!(env.text("plan.md"), ANNOTATED);
        assert_eq!(env.names("."), ["plan.md"]);
    }
}

#[test]
fn a_7_a_bead_id_that_cannot_be_read_is_not_replaced_by_another() {
    let env = TestEnv::new();
    let text = "### Sprint 1.1: a\n**Bead ID**: ZZ\n";
    env.write("plan.md", text);
    let output = env.run(&["plan", "annotate", "--json", "plan.md"]).exits(1);
    assert_eq!(output.error_code(), "DEPENDENCY.UNRESOLVED");
    assert_eq!(env.text("plan.md"), text);
    let output = env.run(&["plan", "graph", "--json", "plan.md"]).exits(1);
    assert_eq!(output.error_code(), "VALIDATION.INVALID_PATTERN");
}
