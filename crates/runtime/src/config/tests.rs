//! The configuration as people write it, and mistype it.

use std::time::Duration;

use camino::Utf8PathBuf;

use super::*;

mod dispatcher;
mod documented;
mod running;

fn loaded(text: &str) -> Result<Config, ConfigError> {
    let directory = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap();
    files::write_atomic(&root.join(FILE_NAME), text.as_bytes()).unwrap();
    load(Some(&root))
}

#[test]
fn l_1_without_a_file_the_defaults_hold() {
    let config = load(None).unwrap();
    assert_eq!(
        (
            config.rig.as_str(),
            config.default_model,
            config.require_machine_check
        ),
        ("beads-ralph", None, false)
    );
    assert_eq!(loaded("# only a comment\n").unwrap().rig, "beads-ralph");
}

#[test]
fn l_1_both_layouts_are_read_and_the_nested_one_wins() {
    let config = loaded(
            "\u{feff}rig: mine\nagents:\n  default_model: opus\nagent_defaults:\n  default_model: haiku\n  role_models: {witness: haiku}\nverify: {require_machine_check: true}\nralph: {poll_interval: 5s}\n",
        )
        .unwrap();
    assert_eq!(
        (config.rig.as_str(), config.default_model.as_deref()),
        ("mine", Some("opus"))
    );
    assert_eq!(config.role_models["witness"], "haiku");
    assert!(config.require_machine_check && config.default_checks.is_empty());
    assert!(
        loaded("verify:\n  default:\n    - cargo test\n")
            .unwrap()
            .default_checks
            .len()
            == 1
    );
}

#[test]
fn z_22_an_unknown_key_is_refused_with_its_place() {
    let error = loaded("rig: mine\nverfy: {require_machine_check: true}\n")
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("line 2: unknown key `verfy`; did you mean `verify`?"),
        "{error}"
    );
}

#[test]
fn z_22_the_place_and_nested_keys() {
    let error = loaded("agents: {}\nrig: x\nagent: 1\n")
        .unwrap_err()
        .to_string();
    assert!(error.contains("line 3: unknown key `agent`"), "{error}");
    let error = loaded("verify: {requre_machine_check: true}\n")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("requre_machine_check") && error.contains("line 1"),
        "{error}"
    );
    assert!(loaded("agents: {defalt_model: opus}\n").is_err());
    assert!(loaded("agents: {default: mine, adapters: {mine: {executable: x}}}\n").is_ok());
}

#[test]
fn z_22_unknown_keys_are_refused_wherever_they_stand() {
    for (text, line, said) in [
        (
            "agents:\n  adapters:\n    mine:\n      executible: x\n",
            4,
            "`executible`; did you mean `executable`?",
        ),
        (
            "agents:\n  defualt: claude\n",
            2,
            "`defualt`; did you mean `default`?",
        ),
        (
            "budgets:\n  run:\n    uds: 5\n",
            3,
            "`uds`; did you mean `usd`?",
        ),
        (
            "budgets: {atempt: {}}\n",
            1,
            "`atempt`; did you mean `attempt`?",
        ),
        (
            "timeouts:\n  dev_agnt: 5m\n",
            2,
            "`dev_agnt`; did you mean `dev_agent`?",
        ),
        (
            "agents:\n  adapters:\n    claude:\n      price: {default: {inptu: 1}}\n",
            4,
            "`inptu`; did you mean `input`?",
        ),
        (
            "agents:\n  adapters:\n    x:\n      executable: x\n      read:\n        rules:\n          - {whem: {/a: 1}}\n",
            7,
            "`whem`; did you mean `when`?",
        ),
    ] {
        let error = loaded(text).unwrap_err().to_string();
        let expected = format!("line {line}: unknown key {said}");
        assert!(error.ends_with(&expected), "{error}\n{expected}");
    }
}

#[test]
fn l_2_a_session_that_is_shorter_than_an_attempt_is_warned_of() {
    assert_eq!(Timeouts::default().warning(), None);
    let warning = |text: &str| loaded(text).unwrap().timeouts.warning();
    let said = warning("timeouts: {scrum_master: 29m}\n").unwrap();
    assert!(said.contains("timeouts.scrum_master"), "{said}");
    assert_eq!(warning("timeouts: {scrum_master: 30m}\n"), None);
    assert!(warning("dev_agent_timeout: 21m\n").is_some());
}

#[test]
fn l_1_a_duration_is_positive_and_in_the_style_of_go() {
    let timeouts = |text: &str| loaded(text).map(|config| config.timeouts);
    assert_eq!(timeouts("rig: x\n").unwrap(), Timeouts::default());
    let both =
        timeouts("timeouts: {dev_agent: 45m}\ndev_agent_timeout: 1m\nqa_agent_timeout: 90s\n");
    let both = both.unwrap();
    assert_eq!(
        both.dev_agent,
        Duration::from_mins(45),
        "the nested one wins"
    );
    assert_eq!(both.qa_agent, Duration::from_secs(90));
    for wrong in ["0s", "-5m", "5", "soon", "[5m]"] {
        let error = timeouts(&format!("rig: x\ntimeouts: {{qa_agent: {wrong}}}\n"));
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("line 2") || error.contains("qa_agent"),
            "{error}"
        );
    }
    assert!(loaded("agents: {adapters: {claude: {idle_timeout: 0s}}}\n").is_err());
}

#[test]
fn z_13_there_are_caps_and_they_can_be_changed_and_taken_away() {
    let budgets = |text: &str| loaded(text).map(|config| config.budgets);
    let default = budgets("rig: x\n").unwrap();
    assert_eq!(default, Budgets::default());
    assert!(default.attempt.usd.is_some() && default.run.usd.is_some());
    let own = "budgets: {attempt: {usd: null, tokens: 5000}, run: {usd: 2.5, minutes: 90}}\n";
    let own = budgets(own).unwrap();
    assert_eq!(own.attempt.usd, None);
    assert_eq!(own.attempt.tokens, Some(5000));
    assert_eq!(
        own.attempt.turns, default.attempt.turns,
        "what is not named stays"
    );
    assert_eq!(own.run.usd, Some(2.5));
    assert_eq!(own.run.time(), Some(Duration::from_mins(90)));
    for wrong in [
        "usd: 0",
        "usd: -1",
        "usd: .nan",
        "tokens: 0",
        "turns: -3",
        "minutes: 1.5",
    ] {
        let error = budgets(&format!("budgets: {{team: {{{wrong}}}}}\n"));
        assert!(error.is_err(), "{wrong}");
    }
    let error = budgets("budgets: {team: {turns: 0}}\n")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`budgets.team.turns` must be greater than 0"),
        "{error}"
    );
}

#[test]
fn z_22_adapters_are_changed_and_added() {
    let config = loaded(
        "agents:
  default: mine
  withhold_env: [AWS_*, SECRET]
  adapters:
    mine: {kind: command, executable: ./agent.sh, timeout: 5m}
    other: {executable: other-agent}
    claude: {models: {opus: claude-x}, idle_timeout: 20m, env: {A: b}, options: [--effort, high]}
    strong: {kind: claude, executable: /opt/claude, price: {default: {input: 5, output: 25}}}
",
    )
    .unwrap();
    let agents = &config.agents;
    assert_eq!(agents.withhold_env, ["AWS_*", "SECRET"]);
    let names: Vec<&str> = agents.all().map(|adapter| adapter.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "claude", "codex", "gemini", "mine", "opencode", "other", "scripted", "strong"
        ]
    );
    let mine = agents.default(|_| false);
    assert_eq!(
        (mine.name.as_str(), mine.kind.as_str()),
        ("mine", "command")
    );
    assert_eq!(mine.timeout, Some(Duration::from_mins(5)));
    assert_eq!(agents.get("other").unwrap().kind, "command");
    let claude = agents.get("claude").unwrap();
    assert_eq!(
        claude.models.values().collect::<Vec<_>>(),
        ["haiku", "sonnet", "claude-x"]
    );
    assert_eq!((claude.env["A"].as_str(), claude.options.len()), ("b", 2));
    assert_eq!(claude.verified.as_deref(), Some("2.1.325"));
    let strong = agents.get("strong").unwrap();
    assert_eq!(
        (strong.kind.as_str(), strong.executable.as_str()),
        ("claude", "/opt/claude")
    );
    assert!((strong.price.default.unwrap().output - 25.0).abs() < 1e-9);
}

#[test]
fn z_22_what_is_wrong_with_an_adapter_is_said_with_its_line() {
    for (text, said) in [
        (
            "agents:\n  adapters:\n    mine: {kind: cluade}\n",
            "line 3: agents.adapters.mine: unknown kind `cluade`; did you mean `claude`?",
        ),
        (
            "agents:\n  adapters:\n    mine: {kind: command}\n",
            "line 3: agents.adapters.mine: `executable` is missing",
        ),
        (
            "agents:\n  default: cluade\n",
            "line 2: agents.default: unknown agent `cluade`; did you mean `claude`?",
        ),
        (
            "agents: {default: command}\n",
            "line 1: agents.default: unknown agent `command`",
        ),
        (
            "agents:\n  adapters:\n    claude:\n      price: {default: {input: -1, output: 2}}\n",
            "`price.default` has a number that cannot be a price",
        ),
        (
            "agents:\n  adapters:\n    x: {executable: x, call: [['{modl}']]}\n",
            "unknown placeholder {modl}; did you mean {model}?",
        ),
        (
            "agents:\n  adapters:\n    x: {executable: x, read: {rules: [{when: {/a: {matches: '('}}}]}}\n",
            "unclosed group",
        ),
        (
            "agents:\n  adapters:\n    x: {executable: x, read: {rules: [{when: {a: 1}}]}}\n",
            "'a' is not a JSON pointer",
        ),
        (
            "agents:\n  adapters:\n    x: {executable: x, read: {rules: [{add: {session: /a}}]}}\n",
            "`add` is for numbers and `text`",
        ),
    ] {
        let error = loaded(text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}\n{said}");
    }
}

#[test]
fn l_3_the_flat_layout_names_a_program_and_its_options() {
    let flat = "agent_defaults:\n  default_executable: /opt/bin/codex\n  default_options: [--color, never]\n";
    let config = loaded(flat).unwrap();
    let default = config.agents.default(|_| false);
    assert_eq!(
        (default.name.as_str(), default.executable.as_str()),
        ("codex", "/opt/bin/codex")
    );
    assert_eq!(default.options, ["--color", "never"]);
    let own = loaded("agents: {default_executable: ./my-agent.sh}\n").unwrap();
    let default = own.agents.default(|_| false);
    assert_eq!(
        (default.name.as_str(), default.kind.as_str()),
        ("my-agent", "command")
    );
    let both = loaded("agents: {default: claude}\nagent_defaults: {default_executable: codex}\n");
    assert_eq!(
        both.unwrap().agents.default(|_| false).name,
        "claude",
        "the nested layout wins"
    );
}

#[test]
fn without_a_choice_the_first_that_is_installed_is_taken() {
    let agents = load(None).unwrap().agents;
    assert_eq!(agents.default(|_| false).name, "claude");
    assert_eq!(agents.default(|_| true).name, "claude");
    assert_eq!(
        agents.default(|adapter| adapter.name.as_str() > "cz").name,
        "gemini"
    );
    assert!(agents.chosen().is_none() && agents.get("command").is_none());
}

#[test]
fn l_1_what_cannot_be_read_is_refused() {
    assert!(loaded("a: [").unwrap_err().to_string().contains(FILE_NAME));
    assert!(loaded("verify: {require_machine_check: maybe}").is_err());
}

#[test]
fn l_1_a_section_without_anything_in_it_says_nothing() {
    let config = loaded("agents:\nbudgets:\n  run:\ntimeouts:\nverify:\nrig: mine\n").unwrap();
    assert_eq!(
        (config.rig.as_str(), config.budgets),
        ("mine", Budgets::default())
    );
}

#[test]
fn z_23_the_permission_mode_is_one_of_three_words() {
    assert_eq!(loaded("rig: mine\n").unwrap().permissions, None);
    for mode in Permissions::ALL {
        let text = format!("permissions: {}\n", mode.as_str());
        assert_eq!(loaded(&text).unwrap().permissions, Some(mode));
    }
    let error = loaded("rig: mine\npermissions: yolo\n")
        .unwrap_err()
        .to_string();
    for part in ["line 2", "yolo", "bypass", "ask-none", "sandbox"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!(loaded("permissions: [bypass]\n").is_err());
}

#[test]
fn l_1_a_wrong_value_is_named_with_its_line_and_key() {
    for (text, said) in [
        (
            "rig: x\ntimeouts: {dev_agent: 1m, qa_agent: 5}\n",
            "line 2: `qa_agent`: invalid duration '5': write it as 90s, 20m or 1h30m",
        ),
        (
            "permissions: sandox\n",
            "line 1: `permissions`: 'sandox' is not one of bypass, ask-none, sandbox; did you mean `sandbox`?",
        ),
        (
            "budgets:\n  run:\n    usd: abc\n",
            "line 3: `usd`: invalid floating point",
        ),
        (
            "agents:\n  adapters:\n    x: {executable: x, call: [['{modl}']]}\n",
            "line 3: unknown placeholder {modl}; did you mean {model}?",
        ),
    ] {
        let error = loaded(text).unwrap_err().to_string();
        assert!(error.ends_with(said), "{error}\n{said}");
    }
}
