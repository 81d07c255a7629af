//! What is said before a run.

use beads_ralph_core::agent::Permissions;
use beads_ralph_core::bead::{AgentPath, AgentSpec, Model, Role};
use beads_ralph_runtime::agent::{self, Finding};
use beads_ralph_runtime::config::{self, Config};

use super::script;
use crate::env::TestEnv;

fn world(config: &str) -> (TestEnv, Config) {
    let env = TestEnv::new();
    let config = config::parse("beads-ralph.yaml".into(), config.as_bytes()).unwrap();
    (env, config)
}

fn spec(path: &str) -> AgentSpec {
    AgentSpec::new(Role::Polecat, AgentPath::parse(path).unwrap())
}

fn findings(env: &TestEnv, config: &Config, specs: &[AgentSpec]) -> Vec<Finding> {
    agent::ready(config, &env.path(""), Some(Permissions::Bypass), specs)
}

#[track_caller]
fn assert_said(findings: &[Finding], is_error: bool, said: &str, action: &str) {
    let is_it = |finding: &&Finding| finding.is_error == is_error && finding.message.contains(said);
    let found = findings.iter().find(is_it);
    let found = found.unwrap_or_else(|| panic!("{said}: {findings:#?}"));
    assert!(found.action.contains(action), "{found:#?}");
}

#[test]
fn b_18_everything_that_is_in_the_way_is_said_at_once() {
    let (env, config) = world("agents: {adapters: {claude: {executable: ./no-claude}}}\n");
    env.write(".claude/agents/plain.md", "Just words.\n");
    env.write(
        ".claude/agents/one.md",
        "---\nname: twin\ndescription: d\n---\n",
    );
    env.write(
        ".claude/agents/two.md",
        "---\nname: twin\ndescription: d\n---\n",
    );
    let mut odd = spec("claude");
    odd.adapter = Some("cluade".to_owned());
    let mut specs = vec![
        spec(".claude/agents/absent.md"),
        spec(".claude/agents/plain.md"),
        spec(".claude/agents/one.md"),
        odd,
        spec("claude"),
        spec("claude"),
    ];
    for spec in &mut specs[..3] {
        spec.adapter = Some("claude".to_owned());
    }
    specs[4].adapter = Some("claude".to_owned());
    specs[5].adapter = Some("claude".to_owned());
    let found = agent::ready(&config, &env.path(""), None, &specs);
    for (said, action) in [
        ("no permission mode is set for agents", "init --permissions"),
        (
            "Agent path '.claude/agents/absent.md' does not exist in .claude/agents/",
            "add the file",
        ),
        (
            ".claude/agents/plain.md has no `name` in its front matter, so claude cannot find it",
            "name: …",
        ),
        (
            ".claude/agents/plain.md has no `description`",
            "description: …",
        ),
        ("have the same agent name", "different `name`"),
        (
            "unknown agent program `cluade`; did you mean `claude`?",
            "agents.adapters.cluade",
        ),
        (
            "claude is not installed: no program at ./no-claude",
            "agents.adapters.claude.executable",
        ),
    ] {
        assert_said(&found, true, said, action);
    }
    let n_missing = found
        .iter()
        .filter(|finding| finding.message.contains("not installed"))
        .count();
    assert_eq!(n_missing, 1, "each is said once");
}

#[test]
fn what_is_only_worth_knowing_does_not_stop_a_run() {
    let (env, config) = world(
        "agents: {default_model: huge, adapters: {codex: {executable: ./x}, gemini: {executable: ./x}}}\n",
    );
    script(&env, "x", "exit 0");
    let mut codex = spec("claude");
    codex.adapter = Some("codex".to_owned());
    codex.model = Some(Model::Opus);
    let mut gemini = spec("claude");
    gemini.adapter = Some("gemini".to_owned());
    let found = findings(&env, &config, &[codex.clone(), gemini]);
    assert_said(
        &found,
        false,
        "codex has no model for opus",
        "agents.adapters.codex.models.opus",
    );
    assert_said(
        &found,
        false,
        "codex does not report its cost",
        "agents.adapters.codex.price",
    );
    assert_said(
        &found,
        false,
        "the adapter for gemini was written from its documentation",
        "report problems",
    );
    assert_said(
        &found,
        false,
        "agents.default_model in beads-ralph.yaml says 'huge'",
        "haiku, sonnet or opus",
    );
    let resolved = agent::resolve(&config, &env.path(""), &codex).unwrap();
    assert_eq!(
        (resolved.adapter.name.as_str(), resolved.model.model),
        ("codex", Model::Opus)
    );
    assert_eq!(resolved.program, env.path("./x"));
}

#[test]
fn b_20_an_agents_file_names_it_and_recommends_its_model() {
    let (env, config) =
        world("agents: {adapters: {claude: {executable: ./x}}, role_models: {witness: opus}}\n");
    script(&env, "x", "exit 0");
    env.write(
        ".claude/agents/team/developer.md",
        "---\nname: dev\ndescription: d\nrecommended_model: haiku\n---\nYou are dev.\n",
    );
    let mut dev = spec(".claude/agents/team/developer.md");
    dev.adapter = Some("claude".to_owned());
    assert_eq!(findings(&env, &config, &[dev.clone()]), []);
    let resolved = agent::resolve(&config, &env.path(""), &dev).unwrap();
    let known = resolved.agent.unwrap();
    assert_eq!(
        (known.name.as_str(), known.instructions.as_str()),
        ("dev", "You are dev.\n")
    );
    assert_eq!(resolved.model.model, Model::Haiku);
    let mut built_in = spec("claude");
    built_in.role = Role::Witness;
    built_in.executable = Some("./x".to_owned());
    let resolved = agent::resolve(&config, &env.path(""), &built_in).unwrap();
    assert_eq!((resolved.agent, resolved.model.model), (None, Model::Opus));
}
