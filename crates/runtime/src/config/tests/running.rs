//! The keys of the loop: how it runs, where, and what becomes of the work.

use beads_ralph_core::engine::IntegrationMode;

use super::*;

/// The message of a configuration that is refused.
#[track_caller]
fn refused(text: &str) -> String {
    match loaded(text) {
        Ok(_) => panic!("{text} was taken"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn l_1_the_defaults_of_the_loop() {
    let config = loaded("rig: x\n").unwrap();
    let run = config.run;
    assert_eq!(run, RunSettings::default());
    assert_eq!(
        (run.max_parallel_sessions, run.poll_interval),
        (10, Duration::from_secs(5))
    );
    assert_eq!((run.max_attempts, run.pr_creation_retries), (None, 2));
    assert_eq!((run.limit_retries, run.network_retries), (5, 5));
    assert_eq!(run.network_timeout, Duration::from_secs(30));
    assert_eq!(
        (run.rate_limit_backoff, run.network_backoff),
        (Backoff::Exponential, Backoff::Exponential)
    );
    assert_eq!(config.worktrees, WorktreeSettings::default());
    assert_eq!(config.worktrees.source_branch, "main");
    assert_eq!(config.worktrees.base, Base::Dependencies);
    assert_eq!(
        (config.disk.min_free_gb, config.disk.check_before_start),
        (10, true)
    );
    assert_eq!(config.integration, IntegrationSettings::default());
    assert_eq!((config.scrum_master, config.notify), (Leader::Native, None));
}

const NESTED: &str = "
ralph: {max_parallel_sessions: 3, poll_interval: 1s}
retry: {max_attempts: 4, pr_creation_retries: 0}
worktrees: {repo_name: mine, source_branch: release/1.0, cleanup_on_complete: true}
disk: {min_free_gb: 0, check_before_start: false}
network: {max_retries: 1, retry_backoff: linear, timeout: 2m}
";

const FLAT: &str = "
max_parallel_sessions: 3
poll_interval: 1s
max_retry_attempts: 4
pr_creation_retries: 0
repo_name: mine
source_branch: release/1.0
cleanup_on_complete: true
min_free_gb: 0
check_before_start: false
max_network_retries: 1
retry_backoff: linear
network_timeout: 2m
";

const OTHER: &str = "
max_parallel_sessions: 7
poll_interval: 7s
max_retry_attempts: 7
pr_creation_retries: 7
repo_name: other
source_branch: other
cleanup_on_complete: false
min_free_gb: 7
check_before_start: true
max_network_retries: 7
retry_backoff: constant
network_timeout: 7m
";

#[test]
fn l_1_the_loop_is_said_in_either_layout_and_the_nested_one_wins() {
    for text in [
        NESTED.to_owned(),
        FLAT.to_owned(),
        format!("{NESTED}{OTHER}"),
    ] {
        let config = loaded(&text).unwrap();
        let expected = RunSettings {
            max_parallel_sessions: 3,
            poll_interval: Duration::from_secs(1),
            max_attempts: Some(4),
            pr_creation_retries: 0,
            network_retries: 1,
            network_backoff: Backoff::Linear,
            network_timeout: Duration::from_mins(2),
            ..RunSettings::default()
        };
        assert_eq!(config.run, expected, "{text}");
        let worktrees = &config.worktrees;
        assert_eq!(worktrees.repo_name.as_deref(), Some("mine"), "{text}");
        assert_eq!(worktrees.source_branch, "release/1.0", "{text}");
        assert!(worktrees.cleanup_on_complete, "{text}");
        assert_eq!(
            (config.disk.min_free_gb, config.disk.check_before_start),
            (0, false),
            "{text}"
        );
    }
}

#[test]
fn l_1_of_two_caps_that_are_said_the_smaller_one_holds() {
    for (text, cap) in [
        ("rig: x\n", 10),
        ("ralph: {max_parallel_sessions: 20}\n", 20),
        ("max_parallel_sessions: 20\n", 20),
        ("claude: {max_parallel_sessions: 2}\n", 2),
        ("claude: {max_parallel_sessions: 40}\n", 40),
        (
            "ralph: {max_parallel_sessions: 3}\nclaude: {max_parallel_sessions: 2}\n",
            2,
        ),
        (
            "ralph: {max_parallel_sessions: 3}\nclaude: {max_parallel_sessions: 4}\n",
            3,
        ),
        (
            "max_parallel_sessions: 1\nralph: {max_parallel_sessions: 3}\nclaude: {max_parallel_sessions: 4}\n",
            3,
        ),
    ] {
        let config = loaded(text).unwrap();
        assert_eq!(config.run.max_parallel_sessions, cap, "{text}");
    }
}

#[test]
fn z_13_what_holds_at_a_limit() {
    let config = loaded("claude: {rate_limit_backoff: constant, max_retries: 0}\n").unwrap();
    assert_eq!(config.run.rate_limit_backoff, Backoff::Constant);
    assert_eq!(config.run.limit_retries, 0);
    assert_eq!(config.run.network_backoff, Backoff::Exponential);
}

#[test]
fn l_1_what_cannot_be_is_refused_with_its_line_and_key() {
    for (text, said) in [
        (
            "ralph:\n  max_parallel_sessions: 0\n",
            "line 2: `max_parallel_sessions`: 0 is out of range; it must be a whole number from 1 to 4294967295",
        ),
        (
            "max_parallel_sessions: -2\n",
            "line 1: `max_parallel_sessions`: -2 is out of range",
        ),
        (
            "rig: x\nclaude: {max_parallel_sessions: 0}\n",
            "line 2: `max_parallel_sessions`: 0 is out of range",
        ),
        (
            "claude: {max_retries: -1}\n",
            "line 1: `max_retries`: -1 is out of range",
        ),
        (
            "ralph: {poll_interval: 0s}\n",
            "line 1: `poll_interval`: invalid duration '0s'",
        ),
        (
            "poll_interval: 5\n",
            "line 1: `poll_interval`: invalid duration '5'",
        ),
        (
            "retry: {max_attempts: 0}\n",
            "line 1: `max_attempts`: 0 is out of range",
        ),
        (
            "max_retry_attempts: many\n",
            "line 1: `max_retry_attempts`: invalid type: string \"many\", expected a whole number from 1 to 4294967295",
        ),
        (
            "retry: {pr_creation_retries: -1}\n",
            "line 1: `pr_creation_retries`: -1 is out of range",
        ),
        (
            "retry: {pr_creation_retries: 99999999999}\n",
            "line 1: `pr_creation_retries`: 99999999999 is out of range",
        ),
        (
            "disk:\n  min_free_gb: -1\n",
            "line 2: `min_free_gb`: -1 is out of range",
        ),
        (
            "disk: {check_before_start: perhaps}\n",
            "line 1: `check_before_start`: ",
        ),
        (
            "network: {retry_backoff: exponental}\n",
            "line 1: `retry_backoff`: 'exponental' is not one of exponential, linear, constant; did you mean `exponential`?",
        ),
        (
            "claude:\n  rate_limit_backoff: soon\n",
            "line 2: `rate_limit_backoff`: 'soon' is not one of exponential, linear, constant",
        ),
        (
            "network: {timeout: -1s}\n",
            "line 1: `timeout`: invalid duration '-1s'",
        ),
        ("network: {max_retries: 1.5}\n", "line 1: `max_retries`: "),
        (
            "worktrees: {source_branch: 'a b'}\n",
            "line 1: `source_branch`: 'a b' is not a valid branch name",
        ),
        (
            "source_branch: ''\n",
            "line 1: `source_branch`: '' is not a valid branch name",
        ),
        (
            "worktrees:\n  repo_name: a/b\n",
            "line 2: `repo_name`: 'a/b' cannot be the name of a directory",
        ),
        ("repo_name: ' '\n", "line 1: `repo_name`: it is empty"),
        (
            "worktrees: {base: trunk}\n",
            "line 1: `base`: 'trunk' is not one of dependencies, source",
        ),
        ("worktrees: {setup: ''}\n", "line 1: `setup`: it is empty"),
        (
            "scrum_master: robot\n",
            "line 1: `scrum_master`: 'robot' is not one of native, agent",
        ),
        (
            "verify: {flaky_retries: -1}\n",
            "line 1: `flaky_retries`: -1 is out of range",
        ),
        (
            "logging: {level: loud}\n",
            "line 1: `level`: 'loud' is not one of error, warn, info, debug, trace",
        ),
        (
            "logging: {format: xml}\n",
            "line 1: `format`: 'xml' is not one of json, text",
        ),
    ] {
        let error = refused(text);
        assert!(error.contains(said), "{error}\n{said}");
    }
}

#[test]
fn z_22_unknown_keys_of_the_loop_are_refused_too() {
    for (text, said) in [
        (
            "ralph:\n  poll_intervall: 5s\n",
            "line 2: unknown key `poll_intervall`; did you mean `poll_interval`?",
        ),
        (
            "retry: {max_atempts: 1}\n",
            "line 1: unknown key `max_atempts`; did you mean `max_attempts`?",
        ),
        (
            "worktrees: {bse: source}\n",
            "line 1: unknown key `bse`; did you mean `base`?",
        ),
        ("disk: {min_free: 1}\n", "line 1: unknown key `min_free`"),
        ("network: {retries: 1}\n", "line 1: unknown key `retries`"),
        ("claude: {model: x}\n", "line 1: unknown key `model`"),
        (
            "logging: {levl: info}\n",
            "line 1: unknown key `levl`; did you mean `level`?",
        ),
        (
            "integration:\n  taget: x\n",
            "line 2: unknown key `taget`; did you mean `target`?",
        ),
        (
            "worktrees:\n  ports:\n    cuont: 1\n",
            "line 3: unknown key `cuont`; did you mean `count`?",
        ),
    ] {
        let error = refused(text);
        assert!(error.contains(said), "{error}\n{said}");
    }
}

#[test]
fn z_11_integration_is_a_word_or_a_section() {
    let integration = |text: &str| loaded(text).unwrap().integration;
    for mode in [
        IntegrationMode::None,
        IntegrationMode::Merge,
        IntegrationMode::Pr,
    ] {
        let (word, expected) = (mode.as_str(), Some(mode));
        assert_eq!(
            integration(&format!("integration: {word}\n")).mode,
            expected
        );
        let section = integration(&format!("integration: {{mode: {word}, target: ralph/x}}\n"));
        assert_eq!(section.mode, expected);
        assert_eq!(section.target.as_deref(), Some("ralph/x"));
    }
    assert_eq!(integration("integration:\n").mode, None);
    for (text, said) in [
        (
            "integration: squash\n",
            "line 1: `integration`: 'squash' is not one of none, merge, pr",
        ),
        (
            "integration:\n  mode: prs\n",
            "line 2: `mode`: 'prs' is not one of none, merge, pr; did you mean `pr`?",
        ),
        (
            "integration: {target: -x}\n",
            "line 1: `target`: '-x' is not a valid branch name",
        ),
        ("integration: [pr]\n", "none, merge, pr, or a section"),
    ] {
        let error = refused(text);
        assert!(error.contains(said), "{error}\n{said}");
    }
}

#[test]
fn z_22_what_else_is_in_a_worktree() {
    let text = "worktrees:\n  base: source\n  setup: npm ci && make\n  copy: [.env, 'config/*.local']\n  ports: 2\n";
    let worktrees = loaded(text).unwrap().worktrees;
    assert_eq!(worktrees.base, Base::Source);
    assert_eq!(worktrees.setup.as_deref(), Some("npm ci && make"));
    assert_eq!(worktrees.copy, [".env", "config/*.local"]);
    assert_eq!((worktrees.ports, worktrees.port_range), (2, 41000..=41999));
    let text = "worktrees: {ports: {count: 3, range: 5000-5002}}\n";
    let worktrees = loaded(text).unwrap().worktrees;
    assert_eq!((worktrees.ports, worktrees.port_range), (3, 5000..=5002));
    for (wrong, said) in [
        (
            "ports: -1",
            "line 2: `ports`: -1 is not a valid number of ports",
        ),
        (
            "ports: 70000",
            "line 2: `ports`: 70000 is not a valid number of ports",
        ),
        ("ports: some", "a number of ports, or a section"),
        (
            "ports: {count: -1}",
            "line 2: `count`: -1 is not a valid number of ports",
        ),
        (
            "ports: {range: 5000}",
            "line 2: `range`: invalid range '5000': write it as 41000-41999",
        ),
        ("ports: {range: 9-5}", "invalid range '9-5'"),
        ("ports: {range: 1-99999}", "invalid range '1-99999'"),
        (
            "ports: {count: 4, range: 5000-5002}",
            "`worktrees.ports` asks for 4 ports",
        ),
        ("ports: 1001", "there are fewer from 41000 to 41999"),
        (
            "copy: [../secrets]",
            "line 2: '../secrets' is not the path of a file inside the repository",
        ),
        (
            "copy: [/etc/passwd]",
            "'/etc/passwd' is not the path of a file inside the repository",
        ),
        (
            "copy: ['']",
            "'' is not the path of a file inside the repository",
        ),
        (
            "copy: [.git/config]",
            "'.git/config' is not the path of a file inside the repository",
        ),
        ("copy: .env", "line 2"),
    ] {
        let error = refused(&format!("worktrees:\n  {wrong}\n"));
        assert!(error.contains(said), "{error}\n{said}");
    }
}

#[test]
fn z_15_notify_is_a_command_line_or_a_program_with_arguments() {
    let notify = |text: &str| loaded(text).unwrap().notify.unwrap();
    assert_eq!(
        notify("notify: notify-send ralph\n"),
        ["/bin/sh", "-c", "notify-send ralph \"$@\"", "notify"]
    );
    assert_eq!(
        notify("notify: [./tell.sh, now]\nverify: {shell: [bash, -c]}\n"),
        ["./tell.sh", "now"]
    );
    assert_eq!(
        notify("notify: tell\nverify: {shell: [bash, -c]}\n"),
        ["bash", "-c", "tell \"$@\"", "notify"]
    );
    assert_eq!(loaded("notify:\n").unwrap().notify, None);
    for (text, said) in [
        ("notify: ''\n", "line 1: `notify`: it is empty"),
        (
            "notify: []\n",
            "the list is empty; it must start with a program",
        ),
        (
            "notify: [' ']\n",
            "the list is empty; it must start with a program",
        ),
        ("notify: {a: b}\n", "a command line, or a list"),
    ] {
        let error = refused(text);
        assert!(error.contains(said), "{error}\n{said}");
    }
}

#[test]
fn z_22_who_leads_the_work() {
    for (word, expected) in [("native", Leader::Native), ("agent", Leader::Agent)] {
        let config = loaded(&format!("scrum_master: {word}\n")).unwrap();
        assert_eq!(config.scrum_master, expected);
    }
}

#[test]
fn z_22_what_is_accepted_and_changes_nothing() {
    let text = "logging: {level: debug, format: text, file: a.log}\nstore: sqlite\nstages: [a]\n";
    assert_eq!(loaded(text).unwrap().run, RunSettings::default());
}

#[test]
fn z_22_how_often_a_check_is_run_again() {
    assert_eq!(loaded("verify:\n").unwrap().flaky_retries, 0);
    let config = loaded("verify: {flaky_retries: 2}\n").unwrap();
    assert_eq!(config.flaky_retries, 2);
}

#[test]
fn g_6_the_patrol_has_its_commands_and_its_times() {
    let patrol = |text: &str| loaded(text).map(|config| config.patrol);
    assert_eq!(patrol("patrol:\n").unwrap(), PatrolSettings::default());
    let own = patrol(
        "patrol: {unit: make test, build: '', e2e_enabled: true, interval: 1m, timeout: 90s}\n",
    );
    let own = own.unwrap();
    let wishes = &own.wishes;
    assert_eq!(
        (wishes.unit.as_deref(), wishes.build.as_deref(), &wishes.e2e),
        (Some("make test"), Some(""), &None)
    );
    assert_eq!(wishes.e2e_enabled, Some(true));
    assert_eq!(
        (own.interval, own.timeout),
        (Duration::from_mins(1), Duration::from_secs(90))
    );
    let error = patrol("patrol:\n  intervall: 5m\n")
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("line 2: unknown key `intervall`; did you mean `interval`?"),
        "{error}"
    );
}

#[test]
fn l_1_sections_of_the_loop_without_anything_in_them_say_nothing() {
    let text = "ralph:\nretry:\nnetwork:\nclaude:\nworktrees:\n  ports:\n  copy:\n  setup:\ndisk:\nlogging:\nintegration:\nscrum_master:\n";
    let config = loaded(text).unwrap();
    assert_eq!(config.run, RunSettings::default());
    assert_eq!(config.worktrees, WorktreeSettings::default());
}
