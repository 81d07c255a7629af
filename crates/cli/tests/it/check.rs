//! `plan check` and `plan new`: every mistake at once, in three formats, and what can be fixed.

use crate::env::{DEMO, TestEnv, golden};
use crate::snapshot::snapshot;

const TEN_MISTAKES: &str = include_str!("../golden/ten-mistakes.md");

/// Line, column and code of every finding in `ten-mistakes.md`, read off the file by hand.
const EXPECTED: [(u64, u64, &str); 25] = [
    (3, 1, "PARSE.MARKDOWN"),         // `### Sprint 1.1 - Skeleton`: no colon
    (7, 12, "PARSE.INVALID_PATTERN"), // `1.2A`: a capital
    (9, 1, "PARSE.MISSING_SECTION"),  // 1.3 has `Dev Agent`, not `Dev Agents`
    (9, 1, "no-machine-check"),       // 1.3 and 2.2
    (12, 14, "VALIDATION.INVALID_PATTERN"), // a branch with a dot
    (19, 9, "VALIDATION.INVALID_PATTERN"), // the model gpt-4
    (24, 12, "DEPENDENCY.DUPLICATE_ID"), // 1.3 again
    (29, 3, "PARSE.MARKDOWN"),        // `Worktree` again
    (32, 15, "VALIDATION.INVALID_PATTERN"), // the estimate `soon`
    (33, 11, "VALIDATION.INVALID_PATTERN"), // the type `merging`
    (36, 10, "VALIDATION.INVALID_PATTERN"), // the model `sonet`
    (37, 8, "PARSE.MARKDOWN"),        // an agent of two words
    (40, 4, "agent-file-missing"),    // the first readable agent
    (46, 3, "PARSE.MARKDOWN"),        // a verifier without backticks
    (48, 5, "PARSE.MARKDOWN"),        // the option `timeot`
    (53, 14, "VALIDATION.CONSTRAINT"), // the branch of 2.1
    (55, 15, "VALIDATION.INVALID_PATTERN"), // a bead id with a space and a dot
    (59, 4, "PARSE.MARKDOWN"),        // an agent outside of its directory
    (60, 4, "model-not-named"),
    (63, 4, "default-qa-prompt"),
    (68, 3, "misspelt-field"),  // `Verifier`
    (71, 1, "ignored-heading"), // `###Sprint`
    (73, 1, "ignored-heading"), // `### Sprint Planning`
    (75, 1, "deceptive-text"),  // a right-to-left override
    (77, 1, "PARSE.MARKDOWN"),  // the fence
];

fn mistakes() -> TestEnv {
    let env = TestEnv::new();
    env.write("plan.md", TEN_MISTAKES);
    env
}

#[test]
fn z_20_every_mistake_is_found_at_its_place() {
    let error = mistakes()
        .run(&["plan", "check", "--json", "plan.md"])
        .exits(1)
        .error();
    let found: Vec<(u64, u64, &str)> = error["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| {
            (
                finding["line"].as_u64().unwrap(),
                finding["column"].as_u64().unwrap(),
                finding["code"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(found, EXPECTED);
    assert_eq!(
        error["code"], "PARSE.MARKDOWN",
        "the code of the first error"
    );
    let details = error["details"].as_str().unwrap();
    assert_eq!(details.lines().count(), 17, "one line for each error");
    assert!(details.starts_with("plan.md:3: "), "{details}");
}

#[test]
fn z_20_a_finding_in_json_has_these_keys() {
    let error = mistakes()
        .run(&["plan", "check", "--json", "plan.md"])
        .error();
    for finding in error["diagnostics"].as_array().unwrap() {
        assert_eq!(
            crate::env::keys(finding),
            [
                "code",
                "severity",
                "message",
                "file",
                "line",
                "column",
                "end_line",
                "end_column",
                "help",
                "fix",
                "label"
            ]
        );
        assert_eq!(finding["file"], "plan.md");
        let is_error = finding["code"].as_str().unwrap().contains('.');
        assert_eq!(
            finding["severity"],
            if is_error { "error" } else { "warning" }
        );
        let place = |line: &str, column: &str| {
            (
                finding[line].as_u64().unwrap(),
                finding[column].as_u64().unwrap(),
            )
        };
        assert!(place("line", "column") <= place("end_line", "end_column"));
    }
}

#[test]
fn z_20_columns_count_characters() {
    let env = TestEnv::new();
    env.write(
        "plan.md",
        DEMO.replace("**Estimate**: 20m", "**Estimate**: é 漢 😀"),
    );
    let error = env.run(&["plan", "check", "--json", "plan.md"]).error();
    let findings = error["diagnostics"].as_array().unwrap();
    let code = "VALIDATION.INVALID_PATTERN";
    let finding = findings.iter().find(|one| one["code"] == code).unwrap();
    assert_eq!(
        (&finding["column"], &finding["end_column"]),
        (&15.into(), &20.into())
    );
}

#[test]
fn the_formats_are_as_they_were() {
    let env = mistakes();
    let human = env.run(&["plan", "check", "plan.md"]).exits(1);
    snapshot("plan-check", &format!("{}{}", human.stdout, human.stderr));
    let short = env
        .run(&["plan", "check", "--format", "short", "plan.md"])
        .exits(1);
    snapshot("plan-check-short", &short.stdout);
    assert_eq!(short.stdout.lines().count(), EXPECTED.len());
    let json = env
        .run(&["plan", "check", "--format", "json", "plan.md"])
        .exits(1);
    golden("ten-mistakes.json", &json.stdout);
    assert_eq!(
        json.stdout,
        env.run(&["--json", "plan", "check", "plan.md"]).stdout
    );
    assert_eq!(
        env.text("plan.md"),
        TEN_MISTAKES,
        "without --fix nothing is written"
    );
}

#[test]
fn fixes_are_applied_once_and_for_all() {
    let env = mistakes();
    env.run(&["plan", "check", "--fix", "plan.md"]).exits(1);
    let fixed = env.text("plan.md");
    golden("ten-mistakes.fixed.md", &fixed);
    let again = env.run(&["plan", "check", "--fix", "plan.md"]).exits(1);
    assert_eq!(env.text("plan.md"), fixed);
    assert!(!again.stderr.contains("can be fixed"), "{}", again.stderr);
    assert_eq!(env.names("."), ["plan.md"]);
}

#[test]
fn a_fix_that_another_fix_reveals_is_applied_as_well() {
    let env = TestEnv::new();
    let broken = DEMO
        .replacen("### Sprint 1.1: ", "### Sprint 1.1 - ", 1)
        .replacen("**Dev Agents**", "**Dev Agent**", 1)
        .replacen("**QA Agents**", "**QA Agent**", 1)
        .replacen("**Tasks**", "**Taks**", 1)
        .replacen("(sonnet)", "(sonett)", 1);
    env.write("plan.md", &broken);
    let output = env.run(&["plan", "check", "--fix", "plan.md"]).exits(0);
    assert_eq!(env.text("plan.md"), DEMO);
    assert!(
        output.stderr.contains("5 fixes applied"),
        "{}",
        output.stderr
    );
}

#[test]
fn the_template_and_the_demo_plan_pass_without_a_word() {
    let env = TestEnv::with_demo();
    env.run(&["plan", "new", "new.md"]).exits(0);
    for plan in ["new.md", "plan.md"] {
        let output = env.run(&["plan", "check", plan]).exits(0);
        assert_eq!(output.stdout, "");
        assert!(output.stderr.contains("no problems"), "{}", output.stderr);
        let data = env.run(&["plan", "check", "--json", plan]).data();
        assert_eq!(data["diagnostics"], serde_json::json!([]));
        assert_eq!(data["plans"][0]["warnings"], 0);
    }
}

#[test]
fn a_new_plan_never_replaces_a_file() {
    let env = TestEnv::new();
    env.write("plan.md", "mine");
    let output = env.run(&["plan", "new", "plan.md"]).exits(3);
    assert!(
        output.stderr.contains("exists already"),
        "{}",
        output.stderr
    );
    assert_eq!(output.stdout, "");
    assert_eq!(env.text("plan.md"), "mine");
    assert_eq!(env.names("."), ["plan.md"]);
    env.run(&["plan", "new", "absent/plan.md"]).exits(3);
}

#[test]
fn several_plans_are_checked_together_and_the_worst_decides() {
    let env = mistakes();
    env.write("good.md", DEMO);
    let output = env.run(&["plan", "check", "good.md", "plan.md"]).exits(1);
    assert!(output.stderr.contains("good.md: 9 sprints, no problems"));
    let output = env
        .run(&["plan", "check", "plan.md", "absent.md", "good.md"])
        .exits(3);
    assert!(output.stderr.contains("good.md: 9 sprints, no problems"));
    assert!(
        output
            .stderr
            .contains("error[IO.FILE_NOT_FOUND]: absent.md does not exist")
    );
}

#[test]
fn a_plan_comes_from_standard_input() {
    let env = TestEnv::new();
    let output = env
        .command(&["plan", "check", "--format", "short", "-"])
        .stdin("# T\n")
        .run();
    assert_eq!(
        output.exits(1).stdout,
        "<stdin>:1:1: error[PARSE.MARKDOWN]: this plan has no sprint heading\n"
    );
    env.command(&["plan", "check", "-"])
        .stdin(DEMO)
        .run()
        .exits(0);
}

#[test]
fn b_17_agent_files_are_looked_for() {
    let env = TestEnv::new();
    env.write("plan.md", DEMO.replacen("`claude`", "`dev`", 1));
    let code = |env: &TestEnv, flag: &[&str]| {
        let args = [&["plan", "check", "--format", "short", "plan.md"], flag].concat();
        let output = env.run(&args);
        (output.code.unwrap(), output.stdout)
    };
    let (exit, out) = code(&env, &[]);
    assert!(
        exit == 0 && out.contains("warning[agent-file-missing]"),
        "{out}"
    );
    let (exit, out) = code(&env, &["--strict-agents"]);
    let message = "Agent path '.claude/agents/dev.md' does not exist in .claude/agents/";
    assert!(
        exit == 1 && out.contains(&format!("error[VALIDATION.BEAD_SCHEMA]: {message}")),
        "{out}"
    );
    assert_eq!(code(&env, &["--no-agent-check"]), (0, String::new()));
    env.write(".claude/agents/other.md", "");
    let (exit, out) = code(&env, &[]);
    assert!(exit == 1 && out.contains(message), "{out}");
    env.write(".claude/agents/dev.md", "");
    assert_eq!(code(&env, &[]), (0, String::new()));
}

#[test]
fn z_21_a_label_that_no_store_takes_is_found_at_its_place() {
    let env = TestEnv::new();
    env.run(&["plan", "new", "plan.md"]).exits(0);
    let plan = String::from_utf8(env.read("plan.md")).unwrap();
    let branch = plan
        .lines()
        .find(|line| line.starts_with("**Branch**"))
        .unwrap();
    let long = "l".repeat(256);
    let labels = format!("{branch}\n**Labels**: fine, la\u{1b}b, ../x, {long}");
    env.write("plan.md", plan.replacen(branch, &labels, 1));
    let error = env
        .run(&["plan", "check", "plan.md", "--json"])
        .exits(1)
        .error();
    let found = error["diagnostics"].as_array().unwrap().iter();
    let found: Vec<&str> = found
        .filter(|finding| finding["code"] == "VALIDATION.INVALID_PATTERN")
        .map(|finding| finding["message"].as_str().unwrap())
        .collect();
    let wrong = [
        "holds invisible characters",
        "looks like a path",
        "is longer than 255 bytes",
    ];
    assert_eq!(found.len(), wrong.len(), "{found:?}");
    for (found, wrong) in found.iter().zip(wrong) {
        assert!(found.ends_with(wrong), "{found}");
    }
}
