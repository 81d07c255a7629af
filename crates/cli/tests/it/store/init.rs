//! `init`: what it makes, what it says, and that it does so once.

use super::{data, error};
use crate::env::TestEnv;

#[test]
fn z_23_init_makes_a_store_and_records_the_permission_mode() {
    let env = TestEnv::new();
    env.make_directory(".git");
    let output = env.run(&["init"]).exits(0);
    for part in [
        "created, 0 beads",
        "git ",
        "not found",
        "* ask-none",
        "bypass    agents may run any command with your rights, without asking",
        "To change it, edit `permissions`",
        "next:",
    ] {
        assert!(output.stdout.contains(part), "{part}: {}", output.stdout);
    }
    assert!(!output.stdout.contains("warning"), "{}", output.stdout);
    assert!(
        env.text("beads-ralph.yaml")
            .contains("\npermissions: ask-none\n")
    );
    assert!(env.text(".beads/.gitignore").contains("*\n"));
    env.run(&["ready"]).exits(0);
}

#[test]
fn a_second_init_changes_nothing() {
    let env = TestEnv::new();
    env.make_directory(".git");
    let first = data(&env, &["init"]);
    assert_eq!(first["store"]["state"], "created");
    assert_eq!(first["config"]["state"], "created");
    let config = env.read("beads-ralph.yaml");
    let second = data(&env, &["init", "--permissions", "bypass"]);
    assert_eq!(second["store"]["state"], "existing");
    assert_eq!(second["config"]["state"], "existing");
    assert_eq!(second["permissions"], "ask-none");
    assert!(
        second["warnings"][0]
            .as_str()
            .unwrap()
            .contains("were not changed")
    );
    assert_eq!(env.read("beads-ralph.yaml"), config);
}

#[test]
fn z_23_the_choice_is_appended_only_where_there_is_none() {
    let env = TestEnv::new();
    env.make_directory(".git");
    env.write("beads-ralph.yaml", "# mine\nrig: mine");
    let before = data(&env, &["init"]);
    assert!(before["permissions"].is_null());
    assert!(
        before["warnings"][0]
            .as_str()
            .unwrap()
            .contains("--permissions bypass|ask-none|sandbox")
    );
    assert_eq!(env.text("beads-ralph.yaml"), "# mine\nrig: mine");
    let after = data(&env, &["init", "--permissions", "sandbox"]);
    assert_eq!(after["config"]["state"], "extended");
    assert_eq!(
        env.text("beads-ralph.yaml"),
        "# mine\nrig: mine\npermissions: sandbox\n"
    );

    let flow = TestEnv::new();
    flow.write("beads-ralph.yaml", "{rig: mine}\n");
    let refused = error(&flow, &["init", "--permissions", "sandbox"], 1);
    assert!(
        refused["suggested_action"]
            .as_str()
            .unwrap()
            .contains("yourself")
    );
    assert_eq!(flow.text("beads-ralph.yaml"), "{rig: mine}\n");
}

#[test]
fn z_22_a_wrong_configuration_stops_init_before_anything_is_made() {
    let env = TestEnv::new();
    env.write("beads-ralph.yaml", "permissions: yolo\n");
    let error = error(&env, &["init"], 3);
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("line 1") && message.contains("ask-none"),
        "{message}"
    );
    assert_eq!(env.names("."), ["beads-ralph.yaml"]);
    env.run(&["init", "--permissions", "yolo"]).exits(2);
}

#[test]
fn outside_of_a_repository_init_works_and_warns() {
    let env = TestEnv::new();
    let made = data(&env, &["init"]);
    assert!(made["repository"].is_null());
    assert!(
        made["warnings"][0]
            .as_str()
            .unwrap()
            .contains("not a git repository")
    );
    env.run(&["list"]).exits(0);
}

#[test]
fn init_says_what_is_on_the_path_and_never_takes_itself_for_bd() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let env = TestEnv::new();
    env.write("bin/claude", "#!/bin/sh\n");
    env.write("bin/gh", "not executable");
    let claude = env.path("bin/claude");
    std::fs::set_permissions(&claude, std::fs::Permissions::from_mode(0o755)).unwrap();
    symlink(env!("CARGO_BIN_EXE_beads-ralph"), env.path("bin/bd")).unwrap();
    let output = env
        .command(&["init", "--json"])
        .env("PATH", env.path("bin").as_str())
        .run();
    let made = output.exits(0).data();
    assert_eq!(made["tools"]["claude"], claude.as_str());
    assert_eq!(made["uses"]["agent"], "claude");
    for absent in ["git", "bd", "codex", "gh"] {
        assert!(made["tools"][absent].is_null(), "{absent}");
    }
    assert!(
        made["warnings"]
            .to_string()
            .contains("git is not on the PATH")
    );
}

#[test]
fn z_26_a_second_name_of_the_program_is_not_bd() {
    let env = TestEnv::new();
    env.make_directory("bin");
    // A hard link needs both names on one disk.
    let own = env.path("bin/beads-ralph");
    // Copied by another process: a child that this one forks meanwhile would hold the copy open for writing.
    let copied = env.tool("cp", &[env!("CARGO_BIN_EXE_beads-ralph"), own.as_str()]);
    copied.run().exits(0);
    std::fs::hard_link(&own, env.path("bin/bd")).unwrap();
    let init = env.tool(own.as_str(), &["init", "--json"]);
    let made = init.env("PATH", env.path("bin").as_str()).run().data();
    assert!(made["tools"]["bd"].is_null(), "{}", made["tools"]);
}

#[test]
fn an_export_that_waits_is_named() {
    let env = TestEnv::new();
    env.write(".beads/issues.jsonl", super::FIVE);
    let output = env.run(&["init"]).exits(0);
    assert!(
        output.stdout.contains("beads-ralph import "),
        "{}",
        output.stdout
    );
    let imported = data(&env, &["import"]);
    assert_eq!(imported["created"].as_array().unwrap().len(), 5);
    let again = env.run(&["init"]).exits(0);
    assert!(
        !again.stdout.contains("beads-ralph import "),
        "{}",
        again.stdout
    );
}

#[test]
fn z_26_a_store_of_the_real_bd_is_never_shadowed() {
    let env = TestEnv::new();
    env.write(".beads/metadata.json", "{}");
    for args in [&["init"][..], &["list"]] {
        let error = error(&env, args, 3);
        assert_eq!(error["code"], "DATABASE.CLI_NOT_FOUND");
        assert!(
            error["suggested_action"]
                .as_str()
                .unwrap()
                .contains("init --from-bd")
        );
    }
    assert_eq!(env.names(".beads"), ["metadata.json"]);
    assert_eq!(env.names("."), [".beads"]);
}

#[test]
fn many_may_init_at_once() {
    for mode in [&["init"][..], &["init", "--permissions", "sandbox"]] {
        let env = TestEnv::new();
        if mode.len() > 1 {
            env.write("beads-ralph.yaml", "rig: mine\n");
        }
        let children: Vec<_> = (0..12).map(|_| env.command(mode).spawn()).collect();
        for child in children {
            crate::env::Output::of(child, "init".to_owned()).exits(0);
        }
        assert_eq!(env.names("."), [".beads", ".ralph", "beads-ralph.yaml"]);
        let settings = env.text("beads-ralph.yaml");
        let n_modes = settings
            .lines()
            .filter(|line| line.starts_with("permissions:"));
        assert_eq!(n_modes.count(), 1, "{settings}");
    }
}

/// The names of the files that `init --agents` says it wrote.
fn agents_written(data: &serde_json::Value) -> Vec<&str> {
    let paths = data["agents_written"].as_array().unwrap().iter();
    paths
        .map(|path| path.as_str().unwrap().rsplit('/').next().unwrap())
        .collect()
}

#[test]
fn i_19_init_writes_the_agents_where_plans_look_for_them() {
    let env = TestEnv::new();
    env.make_directory(".git");
    let none = data(&env, &["init"]);
    assert!(agents_written(&none).is_empty() && !env.path(".claude").exists());
    let output = env.run(&["init", "--agents"]).exits(0);
    let path = env.path(".claude/agents/tdd-red-team.md");
    for part in [format!("wrote {path}\n"), "Commit the agents".to_owned()] {
        assert!(output.stdout.contains(&part), "{part}: {}", output.stdout);
    }
    let text = env.text(".claude/agents/tdd-red-team.md");
    assert!(text.starts_with("---\nname: tdd-red-team\n"), "{text}");
    let again = env.run(&["init", "--agents"]).exits(0);
    let said = "The agents were there already and stay as they are.";
    assert!(again.stdout.contains(said), "{}", again.stdout);
    assert!(!again.stdout.contains("Commit the agents"));
}

#[test]
fn i_19_init_writes_no_agent_over_one_that_is_there() {
    let env = TestEnv::new();
    env.make_directory(".git");
    env.write(".claude/agents/bug-diagnoser.md", "mine");
    env.write(".claude/agents/team/qa.md", "---\nname: qa-agent\n---\n");
    let answer = data(&env, &["init", "--agents"]);
    assert_eq!(
        agents_written(&answer),
        [
            "beads-ralph-scrum-master.md",
            "docs-edits-team.md",
            "fresh-eyes-reviewer.md",
            "general-purpose.md",
            "pr-comment-fixer-team.md",
            "quality-reviewer.md",
            "simplifier.md",
            "tdd-green-team.md",
            "tdd-red-team.md",
        ]
    );
    for path in answer["agents_written"].as_array().unwrap() {
        assert!(
            std::path::Path::new(path.as_str().unwrap()).is_file(),
            "{path}"
        );
    }
    assert_eq!(env.text(".claude/agents/bug-diagnoser.md"), "mine");
    assert!(!env.path(".claude/agents/qa-agent.md").exists());
    assert!(agents_written(&data(&env, &["init", "--agents"])).is_empty());
}

#[test]
fn z_35_a_project_file_that_cannot_be_read_stops_init_before_anything_is_made() {
    let env = TestEnv::new();
    env.make_directory(".git");
    env.write("project-config.toml", "[gates]\ntests = 'make test'\n");
    let error = error(&env, &["init", "--agents"], 3);
    let message = error["message"].as_str().unwrap();
    assert_eq!(error["code"], "VALIDATION.CONSTRAINT");
    let said = "line 2: unknown key `tests`; expected one of build, typecheck, lint, test";
    assert!(message.contains(said), "{message}");
    for path in [".beads", ".claude", "beads-ralph.yaml"] {
        assert!(!env.path(path).exists(), "{path}");
    }
}
