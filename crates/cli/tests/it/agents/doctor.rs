//! `doctor agents`.

use serde_json::{Value, json};

use super::script;
use crate::env::{TestEnv, strings};

/// Answers as `claude` does; its help leaves `--max-turns` out, and an option that it does not know is refused.
const CLAUDE: &str = r#"
env | grep -E '^(CLAUDE|SECRET|DISABLE)' | sort > "$HOME/seen-env"
case "$*" in
  --version) echo '2.1.325 (Claude Code)' ;;
  --help) echo '  --agent <a>, --agents <json>
  --model <m>  --session-id <id>
  -r, --resume [v]   --max-budget-usd <n>' ;;
  'auth status') echo '{"loggedIn": true}' ;;
  *--max-turns*) echo 'Error: Input must be provided' >&2; exit 1 ;;
  *) echo "error: unknown option '$2'" >&2; exit 1 ;;
esac"#;

fn with_path(env: &TestEnv, args: &[&str]) -> crate::env::Output {
    let path = format!("{}:/usr/bin:/bin", env.path("bin"));
    env.command(args).env("PATH", &path).run()
}

fn agents(env: &TestEnv) -> Value {
    with_path(env, &["doctor", "agents", "--json"]).data()
}

#[track_caller]
fn agent<'v>(data: &'v Value, name: &str) -> &'v Value {
    let mut agents = data["agents"].as_array().unwrap().iter();
    agents.find(|agent| agent["name"] == name).unwrap()
}

#[test]
fn nothing_installed_is_said_with_what_to_do() {
    let env = TestEnv::new();
    env.make_directory("bin");
    let refused = with_path(&env, &["doctor", "agents", "--json"]).exits(1);
    let error = refused.error();
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("claude is not installed"),
        "{error}"
    );
    assert!(
        error["suggested_action"]
            .as_str()
            .unwrap()
            .contains("agents.default"),
        "{error}"
    );
    assert_eq!(error["results"]["is_usable"], false);
    let said = with_path(&env, &["doctor", "agents"]).exits(1);
    assert!(
        said.stdout.contains("not found") && said.stderr.contains("help: install it"),
        "{said:#?}"
    );
}

#[test]
fn a_program_is_asked_what_it_can_do() {
    let env = TestEnv::new();
    script(&env, "bin/claude", CLAUDE);
    script(&env, "bin/gemini", "echo 0.56.0");
    let data = agents(&env);
    let claude = agent(&data, "claude");
    assert_eq!(claude["version"], "2.1.325");
    assert_eq!(claude["program"], env.path("bin/claude").as_str());
    assert_eq!(claude["login"], "logged in");
    assert_eq!(
        claude["can"],
        json!({"model": true, "session": true, "resume": true, "agents": true, "turns": true, "budget": true, "schema": false}),
        "what the help leaves out is tried"
    );
    assert_eq!(
        (&data["default"], &data["is_usable"]),
        (&json!("claude"), &json!(true))
    );
    let warnings = strings(&data["warnings"]).join("\n");
    for said in [
        "claude does not know --json-schema",
        "gemini is unverified",
        "beads-ralph init --permissions",
    ] {
        assert!(warnings.contains(said), "{said}: {warnings}");
    }
    assert_eq!(agent(&data, "gemini")["tried_with"], Value::Null);
    assert_eq!(agent(&data, "codex")["program"], Value::Null);
    let said = with_path(&env, &["doctor", "agents"]).exits(0);
    let line = said
        .stdout
        .lines()
        .find(|line| line.contains("claude"))
        .unwrap();
    assert!(
        line.starts_with('*') && line.contains("2.1.325") && line.contains("turns"),
        "{said:#?}"
    );
}

#[test]
fn z_23_a_program_has_its_own_settings_and_nothing_of_a_session_around_it() {
    let env = TestEnv::new();
    env.write(
        "beads-ralph.yaml",
        "agents: {withhold_env: [SECRET_*, CLAUDE_CODE_USE_VERTEX]}\n",
    );
    script(&env, "bin/claude", CLAUDE);
    let path = format!("{}:/usr/bin:/bin", env.path("bin"));
    let asked = env.command(&["doctor", "agents"]).env("PATH", &path);
    let asked = [
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_ENTRYPOINT", "cli"),
        ("CLAUDE_CODE_CHILD_SESSION", "1"),
        ("CLAUDE_CODE_OAUTH_TOKEN", "t"),
        ("CLAUDE_CODE_USE_BEDROCK", "1"),
        ("CLAUDE_CODE_USE_VERTEX", "1"),
        ("CLAUDE_CONFIG_DIR", "/c"),
        ("SECRET_KEY", "s"),
    ]
    .into_iter()
    .fold(asked, |asked, (name, value)| asked.env(name, value));
    asked.run().exits(0);
    assert_eq!(
        env.text("../home/seen-env"),
        "CLAUDE_CODE_OAUTH_TOKEN=t\nCLAUDE_CODE_USE_BEDROCK=1\nCLAUDE_CONFIG_DIR=/c\nDISABLE_AUTOUPDATER=1\n"
    );
}

#[test]
fn programs_that_hang_crash_or_print_garbage_do_no_harm() {
    let env = TestEnv::new();
    script(
        &env,
        "bin/claude",
        "printf '\\377\\033[31mgarbage\\n'; head -c 3000000 /dev/zero",
    );
    script(
        &env,
        "bin/codex",
        "trap '' TERM; while :; do sleep 1000; done",
    );
    script(&env, "bin/gemini", "kill -SEGV $$");
    script(&env, "bin/opencode", "sleep 1000 & echo 1.18.18");
    let data = agents(&env);
    let claude = agent(&data, "claude");
    assert_eq!(
        (&claude["version"], &claude["problems"]),
        (&Value::Null, &json!([]))
    );
    let can = claude["can"].as_object().unwrap();
    assert!(
        can.values().all(Value::is_null),
        "garbage says nothing: {can:?}"
    );
    let problem = |name: &str| {
        agent(&data, name)["problems"][0]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    assert!(
        problem("codex").ends_with("codex --version` did not end within 10 s"),
        "{}",
        problem("codex")
    );
    assert!(
        problem("gemini").ends_with("gemini --version` fails"),
        "{}",
        problem("gemini")
    );
    assert_eq!(agent(&data, "opencode")["version"], "1.18.18");
    assert_eq!(data["is_usable"], true, "the default one answers");
    script(&env, "bin/codex", "exit 0");
    env.write("beads-ralph.yaml", "agents: {default: gemini}\n");
    let refused = with_path(&env, &["doctor", "agents", "--json"])
        .exits(1)
        .error();
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .starts_with("gemini cannot be used"),
        "{refused}"
    );
}

#[test]
fn z_22_agents_of_ones_own_are_shown_too() {
    let env = TestEnv::new();
    env.make_directory(".git");
    script(&env, "agent.sh", "exit 0");
    let config = "permissions: sandbox\nagents: {default: mine, adapters: {mine: {executable: ./agent.sh}}}\n";
    env.write("beads-ralph.yaml", config);
    let below = env.path("below");
    env.make_directory("below");
    let data = env
        .command(&["doctor", "agents", "--json"])
        .at(&below)
        .run()
        .data();
    let mine = agent(&data, "mine");
    assert_eq!(
        (&mine["kind"], &mine["is_default"]),
        (&json!("command"), &json!(true))
    );
    assert_eq!(
        mine["program"],
        env.path("./agent.sh").as_str(),
        "a path is one from the root"
    );
    assert_eq!(
        (&data["permissions"], &data["warnings"]),
        (&json!("sandbox"), &json!([]))
    );
    env.write("beads-ralph.yaml", "permissions: sandbox\nagents: {default: opencode, adapters: {opencode: {executable: ./agent.sh}}}\n");
    let refused = env.run(&["doctor", "agents", "--json"]).exits(1).error();
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("permissions: sandbox"),
        "{refused}"
    );
    env.write(
        "beads-ralph.yaml",
        "agents: {adapters: {mine: {executabl: x}}}\n",
    );
    let refused = env.run(&["doctor", "agents", "--json"]).exits(3).error();
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .ends_with("did you mean `executable`?"),
        "{refused}"
    );
}

#[test]
fn the_options_of_the_store_are_not_for_agents() {
    let env = TestEnv::new();
    for args in [
        &["doctor", "--repair", "agents"][..],
        &["doctor", "agents", "--repair"],
        &["doctor", "agent"],
    ] {
        env.run(args).exits(2);
    }
}
