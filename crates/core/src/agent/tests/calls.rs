//! From a bead's words to the arguments of the real programs (L-3).

use std::collections::BTreeMap;

use serde_json::json;

use crate::bead::{AgentPath, AgentSpec, Model, ModelSources, Role, resolve_model};

use super::super::{Agent, Budget, CallError, Capability, Input, Overrides, Permissions, Session};
use super::{adapter, call};

fn argv(adapter: &super::Adapter, call: &super::Call) -> String {
    adapter.invocation(call).unwrap().argv.join(" ")
}

fn dev() -> Agent {
    Agent {
        name: "dev".to_owned(),
        instructions: "You are a developer.\n".to_owned(),
    }
}

/// What R1's configuration gives every agent.
fn seed_options() -> Vec<String> {
    ["--dangerously-skip-permissions", "--output-format", "json"]
        .map(str::to_owned)
        .to_vec()
}

#[test]
fn l_3_the_examples_of_the_seeds_in_the_real_programs_words() {
    let claude = adapter("claude").with(
        "claude",
        Overrides {
            options: Some(seed_options()),
            ..Overrides::default()
        },
    );
    let roles = BTreeMap::from([("witness".to_owned(), "haiku".to_owned())]);
    let agent = AgentPath::parse(".claude/agents/dev.md").unwrap();
    let resolved = |role: Role, explicit: Option<Model>| {
        let spec = AgentSpec {
            model: explicit,
            ..AgentSpec::new(role, agent.clone())
        };
        let sources = ModelSources {
            explicit: spec.model,
            ..ModelSources::default()
        };
        let mut call = call().with_spec(&spec);
        call.agent = Some(dev());
        call.model = Some(resolve_model(&sources.with_role_models(role, &roles)).model);
        call
    };
    // The seeds print `claude --model sonnet --dangerously-skip-permissions --output-format json --agent
    // .claude/agents/dev.md`; output is always streamed, and the real program takes a name.
    let start = "claude -p --output-format stream-json --verbose --model";
    let end = "--dangerously-skip-permissions --agent dev";
    for (role, explicit, model) in [
        (Role::Polecat, None, "sonnet"),
        (Role::Witness, None, "haiku"),
        (Role::Witness, Some(Model::Opus), "opus"),
    ] {
        assert_eq!(
            argv(&claude, &resolved(role, explicit)),
            format!("{start} {model} {end}")
        );
    }
    let mut built_in = resolved(Role::Polecat, None);
    built_in.agent = None;
    assert_eq!(
        argv(&claude, &built_in),
        format!("{start} sonnet --dangerously-skip-permissions")
    );
}

#[test]
fn z_23_the_agreed_mode_holds_whatever_a_bead_says() {
    let claude = adapter("claude");
    let mut asking = call();
    asking.permissions = Permissions::AskNone;
    let options = [
        "--dangerously-skip-permissions",
        "--permission-mode=bypassPermissions",
        "--permission-mode",
        "auto",
        "--effort",
        "high",
        "--output-format",
        "json",
    ];
    asking.options = Some(options.map(str::to_owned).to_vec());
    let invocation = claude.invocation(&asking).unwrap();
    let line = invocation.argv.join(" ");
    assert_eq!(
        line,
        "claude -p --output-format stream-json --verbose --effort high --permission-mode dontAsk"
    );
    assert_eq!(invocation.dropped.len(), 6, "{:?}", invocation.dropped);
    asking.permissions = Permissions::Sandbox;
    let line = argv(&claude, &asking);
    assert!(
        line.contains("\"failIfUnavailable\":true") && !line.contains("dangerously"),
        "{line}"
    );
    let refused = adapter("opencode").invocation(&asking).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "opencode does not support `permissions: sandbox`"
    );
}

#[test]
fn everything_at_once() {
    let mut call = call();
    call.agent = Some(dev());
    call.model = Some(Model::Opus);
    call.session = Session::Named("s-1".to_owned());
    call.budget = Budget {
        usd: Some(4.5),
        tokens: Some(1000),
        turns: Some(80),
    };
    call.schema = Some(json!({"type": "object"}));
    call.files.schema = Some("/unit/schema.json".to_owned());
    let claude = adapter("claude").invocation(&call).unwrap();
    assert_eq!(
        claude.argv.join(" "),
        "claude -p --output-format stream-json --verbose --model opus --dangerously-skip-permissions --agent dev \
         --session-id s-1 --max-turns 80 --max-budget-usd 4.5 --json-schema {\"type\":\"object\"}"
    );
    assert_eq!(
        (claude.input, claude.prompt.as_str()),
        (Input::Prompt, "Do it.")
    );
    assert!(!claude.needs_schema_file && claude.unsupported.is_empty());
    let codex = adapter("codex").invocation(&call).unwrap();
    assert_eq!(
        codex.argv.join(" "),
        "codex exec --json --skip-git-repo-check -C /repo -c model_reasoning_effort=\"high\" \
         --dangerously-bypass-approvals-and-sandbox --output-schema /unit/schema.json -"
    );
    assert_eq!(
        codex.prompt, "You are a developer.\n\n---\n\nDo it.",
        "it knows no files of agents"
    );
    assert!(codex.needs_schema_file);
    assert_eq!(codex.unsupported, [Capability::Turns, Capability::Budget]);
}

#[test]
fn a_session_is_resumed_by_its_id() {
    let mut call = call();
    call.session = Session::Resume("s-1".to_owned());
    assert!(
        argv(&adapter("claude"), &call).ends_with("--dangerously-skip-permissions --resume s-1")
    );
    assert!(
        argv(&adapter("codex"), &call)
            .ends_with("--dangerously-bypass-approvals-and-sandbox resume s-1 -")
    );
    assert_eq!(
        adapter("gemini").invocation(&call),
        Err(CallError::Resume {
            adapter: "gemini".to_owned()
        })
    );
}

#[test]
fn z_30_a_tier_is_the_adapters_own_model() {
    let overrides: Overrides =
        serde_saphyr::from_str("models: {opus: gpt-x, haiku: gpt-y}\nexecutable: ./codex").unwrap();
    let codex = adapter("codex").with("codex", overrides);
    let mut call = call();
    call.model = Some(Model::Opus);
    assert!(
        argv(&codex, &call)
            .starts_with("./codex exec --json --skip-git-repo-check -C /repo -m gpt-x ")
    );
    call.model = Some(Model::Sonnet);
    assert!(
        !argv(&codex, &call).contains(" -m "),
        "a tier without a model is left to the program"
    );
    let wrong = serde_saphyr::from_str::<Overrides>("models: {big: x}")
        .unwrap_err()
        .to_string();
    assert!(
        wrong.contains("model must be one of: haiku, sonnet, opus"),
        "{wrong}"
    );
}

#[test]
fn a_bead_may_bring_its_own_program_options_and_environment() {
    let spec = AgentSpec {
        executable: Some("/opt/claude".to_owned()),
        options: Some(vec!["--effort".to_owned(), "low".to_owned()]),
        env: Some(BTreeMap::from([("A".to_owned(), "1".to_owned())])),
        ..AgentSpec::new(Role::Polecat, AgentPath::parse("claude").unwrap())
    };
    let invocation = adapter("claude")
        .invocation(&call().with_spec(&spec))
        .unwrap();
    assert_eq!(invocation.argv[0], "/opt/claude");
    assert!(invocation.argv.join(" ").contains("--effort low"));
    assert_eq!(invocation.env["A"], "1");
    assert_eq!(invocation.env["DISABLE_AUTOUPDATER"], "1");
}

#[test]
fn a_prompt_that_is_no_argument_is_refused_before_the_start() {
    let overrides: Overrides =
        serde_saphyr::from_str("executable: x\ncall: [['{prompt}']]").unwrap();
    let mine = adapter("command").with("mine", overrides);
    let mut call = call();
    assert_eq!(mine.invocation(&call).unwrap().input, Input::Nothing);
    call.prompt = "x".repeat(200_000);
    let refused = mine.invocation(&call).unwrap_err().to_string();
    assert_eq!(
        refused,
        "mine takes the prompt as an argument, and it is longer than an argument may be"
    );
    call.prompt = "a\0b".to_owned();
    assert!(
        mine.invocation(&call)
            .unwrap_err()
            .to_string()
            .contains("NUL")
    );
    let by_stdin = adapter("command");
    assert!(
        by_stdin.invocation(&call).is_ok(),
        "standard input takes anything"
    );
}

#[test]
fn what_a_program_can_do_and_by_which_option() {
    let claude = adapter("claude");
    let flags: Vec<_> = Capability::ALL
        .iter()
        .map(|capability| claude.flag_of(*capability).unwrap())
        .collect();
    assert_eq!(
        flags,
        [
            "--model",
            "--session-id",
            "--resume",
            "--agent",
            "--max-turns",
            "--max-budget-usd",
            "--json-schema"
        ]
    );
    let codex = adapter("codex");
    assert_eq!(codex.flag_of(Capability::Resume), Some("resume"));
    assert_eq!(codex.flag_of(Capability::Schema), Some("--output-schema"));
    assert!(!codex.can(Capability::Session) && !codex.can(Capability::Budget));
    assert!(
        Capability::ALL
            .iter()
            .all(|capability| !adapter("command").can(*capability))
    );
}
