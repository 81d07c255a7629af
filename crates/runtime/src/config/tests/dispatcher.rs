//! The keys of the dispatcher: gates, workers and reviewers, and the project's own file.

use beads_ralph_core::bead::Model;
use beads_ralph_core::implement::{AUDITED, Mode, Stage};

use super::*;

/// Loads both files of a repository.
fn both(own: &str, project: &str) -> Result<Config, ConfigError> {
    let directory = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap();
    if !own.is_empty() {
        files::write_atomic(&root.join(FILE_NAME), own.as_bytes()).unwrap();
    }
    files::write_atomic(&root.join(PROJECT_FILE_NAME), project.as_bytes()).unwrap();
    load(Some(&root))
}

fn commands(config: &Config) -> Vec<(&'static str, &str)> {
    config.gates.commands().collect()
}

#[test]
fn z_35_gates_are_commands_and_what_is_empty_is_none() {
    assert!(commands(&loaded("rig: x\ngates:\n").unwrap()).is_empty());
    let text = "gates: {test: cargo test, build: cargo build, lint: '  ', typecheck: }\n";
    assert_eq!(
        commands(&loaded(text).unwrap()),
        [("build", "cargo build"), ("tests", "cargo test")]
    );
    let all = loaded("gates: {build: b, typecheck: c, lint: l, test: t}\n").unwrap();
    let names: Vec<&str> = commands(&all).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["build", "typecheck", "lint", "tests"]);
    let error = loaded("gates:\n  tests: x\n").unwrap_err().to_string();
    let said = "line 2: unknown key `tests`; did you mean `test`?";
    assert!(error.ends_with(said), "{error}");
    assert!(loaded("gates: [cargo test]\n").is_err());
}

#[test]
fn i_19_without_a_word_the_defaults_of_the_contract_hold() {
    for text in [
        "rig: x\n",
        "implement:\n",
        "implement: {workers: , reviewers: }\n",
    ] {
        let settings = loaded(text).unwrap().implement;
        assert_eq!(settings, ImplementSettings::default(), "{text}");
    }
    let settings = ImplementSettings::default();
    assert_eq!(settings.worker(Stage::GreenLoop, Mode::FixBug), None);
    assert_eq!(settings.audited, AUDITED, "I-22");
    assert_eq!(settings.worker_timeout, Duration::from_mins(30), "I-23");
    assert_eq!(settings.reviewer_timeout, Duration::from_mins(10), "R-4");
    assert_eq!(settings.poll_interval, Duration::from_secs(5), "I-40");
    assert!(settings.parallel == 1 && !settings.is_foreign_required);
}

#[test]
fn i_19_a_worker_for_stage_and_mode_goes_before_one_for_the_stage() {
    let settings = loaded(
        "implement:
  workers:
    green-loop: {agent: my-green, adapter: codex, model: opus}
    green-loop/fix-bug: mender
    \"red-tests/fix-bug\":
      agent: my-red
",
    )
    .unwrap()
    .implement;
    let worker = |stage, mode| settings.worker(stage, mode).cloned();
    let plain = |agent: &str| WorkerSettings {
        agent: agent.to_owned(),
        adapter: None,
        model: None,
    };
    let green = WorkerSettings {
        agent: "my-green".to_owned(),
        adapter: Some("codex".to_owned()),
        model: Some(Model::Opus),
    };
    for (stage, mode, expected) in [
        (Stage::GreenLoop, Mode::ImplementFeature, Some(green)),
        (Stage::GreenLoop, Mode::FixBug, Some(plain("mender"))),
        (Stage::RedTests, Mode::FixBug, Some(plain("my-red"))),
        (Stage::RedTests, Mode::ImplementFeature, None),
    ] {
        assert_eq!(worker(stage, mode), expected, "{stage:?} {mode:?}");
    }
}

#[test]
fn r_4_reviewers_limits_and_the_hook_are_read() {
    let config = loaded(
        "verify: {shell: [/bin/bash, -c]}
agents: {adapters: {mine: {executable: ./x}}}
implement:
  reviewers: {codex: mine, fresh_eyes: claude}
  audited: [docs-edits-team]
  worker_timeout: 1h
  reviewer_timeout: 90s
  parallel: 3
  poll_interval: 1m
  foreign_eyes: {required: true}
  sibling: ./is-sibling --quiet
",
    );
    let sibling = ["/bin/bash", "-c", "./is-sibling --quiet"];
    assert_eq!(
        config.unwrap().implement,
        ImplementSettings {
            workers: BTreeMap::new(),
            reviewers: ReviewerSettings {
                codex: Some("mine".to_owned()),
                gemini: None,
                fresh_eyes: Some("claude".to_owned()),
            },
            audited: vec!["docs-edits-team".to_owned()],
            worker_timeout: Duration::from_hours(1),
            reviewer_timeout: Duration::from_secs(90),
            parallel: 3,
            poll_interval: Duration::from_mins(1),
            is_foreign_required: true,
            sibling: Some(sibling.map(str::to_owned).to_vec()),
        }
    );
    let nobody = loaded("implement: {audited: []}\n").unwrap().implement;
    assert!(nobody.audited.is_empty(), "I-22");
}

#[test]
fn z_22_what_is_wrong_with_the_dispatcher_is_said_with_its_line() {
    for (text, said) in [
        (
            "workers:\n    gren-loop: x\n",
            "line 3: `gren-loop`: unknown stage 'gren-loop'; expected one of preflight, diagnose, red-tests, green-loop, quality-sweep, apply-edits, review, verify-ac, create-pr, review-cycle, merge-or-handoff; did you mean `green-loop`?",
        ),
        (
            "workers:\n    red-tests/fixbug: x\n",
            "unknown mode 'fixbug'; expected one of implement-feature, fix-bug, docs-only; did you mean `fix-bug`?",
        ),
        (
            "workers:\n    review:\n      agent: x\n      adapter: cluade\n",
            "line 5: implement.workers.review.adapter: unknown agent `cluade`; did you mean `claude`?",
        ),
        (
            "workers:\n    review:\n      agent: x\n      modle: opus\n",
            "line 5: unknown key `modle`; did you mean `model`?",
        ),
        (
            "workers: {review: {agent: x, model: opsu}}\n",
            "model must be one of: haiku, sonnet, opus, got 'opsu'; did you mean 'opus'?",
        ),
        (
            "workers: {review: {model: opus}}\n",
            "missing field `agent`",
        ),
        (
            "workers: {review: ../x}\n",
            "'../x' is not a valid agent name; expected the name of its file, without path and .md",
        ),
        (
            "workers: {review: {agent: a/b}}\n",
            "'a/b' is not a valid agent name",
        ),
        ("audited: ['a..b']\n", "'a..b' is not a valid agent name"),
        ("audited: ['a b']\n", "'a b' is not a valid agent name"),
        (
            "workers: {review: [x]}\n",
            "expected the name of an agent, or a section with `agent`, `adapter` and `model`",
        ),
        (
            "reviewers: {gemini: gemni}\n",
            "line 2: implement.reviewers.gemini: unknown agent `gemni`; did you mean `gemini`?",
        ),
        (
            "reviewers: {fresh-eyes: claude}\n",
            "line 2: unknown key `fresh-eyes`; did you mean `fresh_eyes`?",
        ),
        ("parallel: 0\n", "`parallel`: 0 is out of range"),
        (
            "worker_timeout: 30\n",
            "`worker_timeout`: invalid duration '30'",
        ),
        ("sibling: ' '\n", "`sibling`: it is empty"),
        (
            "foreign_eyes: {requird: true}\n",
            "unknown key `requird`; did you mean `required`?",
        ),
    ] {
        let error = loaded(&format!("implement:\n  {text}"));
        let error = error.unwrap_err().to_string();
        assert!(error.contains(said), "{error}\n{said}");
        assert!(error.contains(": line "), "{error}");
    }
}

#[test]
fn z_35_the_projects_file_says_what_ours_leaves_open() {
    let project = "\u{feff}# ours
[gates]
build = \"make\"
test = 'make test'
lint = \"make lint\"
[lint-autofix]
command = 5
[something-of-others]
x = 1
[coverage]
threshold = 0
report-location = 'cov/lcov.info'
";
    let alone = both("", project).unwrap();
    assert_eq!(
        commands(&alone),
        [
            ("build", "make"),
            ("lint", "make lint"),
            ("tests", "make test")
        ]
    );
    let coverage = Coverage {
        is_applicable: true,
        threshold: 0,
        report_location: Some("cov/lcov.info".to_owned()),
    };
    assert_eq!(alone.coverage, coverage);
    let own = "rig: mine\ngates: {test: cargo test, lint: '', build: }\n";
    let ours = both(own, project).unwrap();
    assert_eq!(
        commands(&ours),
        [("build", "make"), ("tests", "cargo test")],
        "an empty text takes a gate away, a key without a value leaves it"
    );
    assert_eq!((ours.rig.as_str(), ours.coverage), ("mine", coverage));
    assert_eq!(both("", "").unwrap().coverage, Coverage::default());
    let default = load(None).unwrap().coverage;
    assert!(default.is_applicable && default.threshold == 80);
    let off = both("", "[coverage]\napplicable = false\n").unwrap();
    assert!(!off.coverage.is_applicable);
}

#[test]
fn z_35_what_is_wrong_with_the_projects_file_is_said_with_its_line() {
    for (project, said) in [
        (
            "\u{feff}[gates]\nbuild = 'x'\ntets = 'y'\n",
            "line 3: unknown key `tets`; expected one of build, typecheck, lint, test; did you mean `test`?",
        ),
        (
            "[gate]\n",
            "line 1: unknown table `gate`; expected one of gates, coverage, lint-autofix, static-analysis, functional-tests, review-requirements, foreign-cli; did you mean `gates`?",
        ),
        (
            "[gates]\nlint = true\n",
            "line 2: `gates.lint`: expected a text in quotes",
        ),
        ("gates = 5\n", "line 1: `gates`: expected a table: [gates]"),
        (
            "[coverage]\n\nthreshold = 101\n",
            "line 3: `coverage.threshold`: expected a whole number from 0 to 100",
        ),
        ("[coverage]\nthreshold = -1\n", "from 0 to 100"),
        ("[coverage]\nthreshold = 80.5\n", "from 0 to 100"),
        (
            "[coverage]\napplicable = 'yes'\n",
            "line 2: `coverage.applicable`: expected true or false",
        ),
        (
            "[coverage]\nreport_location = 'x'\n",
            "unknown key `report_location`; expected one of applicable, threshold, report-location; did you mean `report-location`?",
        ),
        ("[coverage]\nreport-location = 5\n", "line 2: "),
        ("[gates\n", "line 1: invalid TOML: "),
    ] {
        let error = both("rig: x\n", project).unwrap_err().to_string();
        assert!(error.contains(said), "{error}\n{said}");
        assert!(
            error.contains("/project-config.toml cannot be used: line "),
            "{error}"
        );
    }
}
