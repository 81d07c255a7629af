//! A store of the real `bd` whose program is not well: missing, hanging, old, of our own making, or printing text (seed 001's error table).
//!
//! The programs here are scripts that behave like a `bd` that is broken in one way; what a whole one does is tried by `--test bd`.

use serde_json::{Value, json};

use crate::env::{Output, TestEnv};

/// A `bd` that answers as version 1.3 does, with an empty database.
const WELL: &str = r#"
case "$1" in
  version) echo '{"build": "dev", "schema_version": 1, "version": "1.3.0"}' ;;
  update) echo '--if-status string' ;;
  export) ;;
  config) echo '{"key": "types.custom", "schema_version": 1, "value": ""}' ;;
  *) echo "unexpected: $*" >&2; exit 1 ;;
esac
"#;

/// A repository whose beads a `bd` keeps that does what a script says.
fn kept_by(script: &str) -> TestEnv {
    let env = TestEnv::new();
    env.write(".beads/metadata.json", "{}");
    env.write("bin/bd", format!("#!/bin/sh\n{script}"));
    env.tool("chmod", &["+x", "bin/bd"]).run().exits(0);
    env.write("plan.md", PLAN);
    env
}

const PLAN: &str = "# Plan\n\n### Sprint 1.1: One\n\n**Worktree**: `../w/1-1`\n**Branch**: `feature/1-1`\n\
**Source Branch**: `main`\n\n**Dev Agents**:\n- `claude` (sonnet) - work\n\n**QA Agents**:\n- `claude` (haiku) - look\n\n\
**Tasks**:\n- do it\n";

fn called(env: &TestEnv, args: &[&str]) -> Output {
    let path = format!("{}:/usr/bin:/bin", env.path("bin"));
    env.command(args)
        .env("PATH", &path)
        .env("BEADS_RALPH_STORE_TIMEOUT", "2s")
        .run()
}

fn refused(env: &TestEnv, args: &[&str], code: i32) -> Value {
    let args = [args, &["--json"]].concat();
    called(env, &args).exits(code).error()
}

fn says(error: &Value, words: &str) {
    let text = format!("{} {}", error["message"], error["suggested_action"]);
    assert!(text.contains(words), "{words} is not in {error:#}");
}

#[test]
fn s_1_errors_a_bd_that_is_missing_is_cli_not_found_and_nothing_is_written() {
    let env = kept_by(WELL);
    env.tool("rm", &["bin/bd"]).run().exits(0);
    for args in [
        &["list"][..],
        &["init"],
        &["plan", "apply", "plan.md"],
        &["run", "plan.md"],
    ] {
        let error = refused(&env, args, 3);
        assert_eq!(error["code"], "DATABASE.CLI_NOT_FOUND", "{args:?}");
    }
    assert_eq!(env.names(".beads"), ["metadata.json"]);
}

#[test]
fn s_1_errors_a_bd_that_hangs_is_a_timeout_and_is_ended() {
    let env = kept_by("echo $$ >>pids; exec sleep 600");
    let error = refused(&env, &["list"], 1);
    assert_eq!(error["code"], "DATABASE.TIMEOUT");
    assert_eq!(error["recoverable"], true);
    says(&error, "bd version");
    let env = kept_by(&WELL.replace("export) ;;", "export) exec sleep 600 ;;"));
    let error = refused(&env, &["plan", "apply", "plan.md"], 1);
    assert_eq!(error["code"], "DATABASE.TIMEOUT");
    says(&error, "bd export");
}

#[test]
fn z_3_a_bd_that_is_too_old_is_read_but_not_written_to() {
    let old = WELL.replace("1.3.0", "1.2.2");
    for (script, why) in [
        (old, "1.2.2"),
        (WELL.replace("--if-status", "--status"), "--if-status"),
    ] {
        let env = kept_by(&script);
        env.tool("git", &["init", "--quiet"]).run().exits(0);
        called(&env, &["list"]).exits(0);
        for args in [&["init"][..], &["plan", "apply", "plan.md"], &["run"]] {
            let error = refused(&env, args, 3);
            assert_eq!(error["code"], "DATABASE.CLI_NOT_FOUND", "{args:?}");
            says(&error, why);
            says(&error, "1.3 or newer");
        }
    }
}

#[test]
fn s_1_errors_text_instead_of_json_is_shown_and_taken_for_nothing() {
    for script in [
        "echo 'Welcome to bd!'".to_owned(),
        WELL.replace("export) ;;", "export) echo 'Welcome to bd!' ;;"),
        WELL.replace("export) ;;", "export) printf '{\"id\": \"a\"' ;;"),
    ] {
        let env = kept_by(&script);
        let error = refused(&env, &["list"], 1);
        assert_eq!(error["code"], "DATABASE.INSERT_FAILED");
        says(&error, "no JSON");
    }
}

#[test]
fn s_1_errors_an_insert_that_fails_names_the_command_and_its_exit_code() {
    let script = WELL.replace(
        "export) ;;",
        "export) ;;\n  import) echo '{\"error\": \"disk full\"}'; exit 7 ;;",
    );
    let env = kept_by(&script);
    let error = refused(&env, &["plan", "apply", "plan.md"], 1);
    assert_eq!(error["code"], "DATABASE.INSERT_FAILED");
    for words in ["bd import", "exit code 7", "disk full"] {
        says(&error, words);
    }
}

#[test]
fn s_1_errors_a_bd_without_a_database_is_not_initialized() {
    let script = WELL.replace(
        "export) ;;",
        "export) echo 'Error: no beads database found' >&2; exit 1 ;;",
    );
    let env = kept_by(&script);
    assert_eq!(
        refused(&env, &["list"], 3)["code"],
        "DATABASE.NOT_INITIALIZED"
    );
}

#[test]
fn z_25_an_import_that_loses_a_bead_is_taken_back() {
    let script = WELL.replace(
        "export) ;;",
        "export) ;;\n  import) cat >imported; echo '{\"created\": 1}' ;;",
    );
    let env = kept_by(&script);
    let error = refused(&env, &["plan", "apply", "plan.md"], 1);
    assert_eq!(error["code"], "DATABASE.INSERT_FAILED");
    says(&error, "not what was written");
    assert!(env.text("imported").contains("\"title\":\"One\""));
    let (_, plan) = (env.path("plan.md"), env.text("plan.md"));
    assert_eq!(
        plan, PLAN,
        "nothing is annotated after a failed insert (E-13)"
    );
}

#[test]
fn z_26_our_own_program_under_the_name_of_bd_is_passed_over() {
    let env = kept_by("echo '{\"build\": \"beads-ralph\", \"version\": \"1.3.0\"}'");
    let error = refused(&env, &["list"], 3);
    assert_eq!(error["code"], "DATABASE.CLI_NOT_FOUND");
    env.write("real/bd", format!("#!/bin/sh\n{WELL}"));
    env.tool("chmod", &["+x", "real/bd"]).run().exits(0);
    let path = format!("{}:{}:/usr/bin:/bin", env.path("bin"), env.path("real"));
    let listed = env.command(&["list", "--json"]).env("PATH", &path).run();
    assert_eq!(listed.exits(0).data()["beads"], json!([]));
}

#[test]
fn z_26_no_link_takes_the_name_of_bd_where_bd_keeps_the_beads() {
    let env = kept_by(WELL);
    let error = refused(&env, &["init", "--bd-link", "links"], 1);
    assert_eq!(error["code"], "VALIDATION.CONSTRAINT");
    let own = TestEnv::new();
    own.run(&["init", "--bd-link", "links"]).exits(0);
    assert_eq!(own.names("links"), ["bd"]);
    own.run(&["init", "--bd-link", "links"]).exits(0);
    own.write("other/bd", "not ours");
    own.run(&["init", "--bd-link", "other"]).exits(1);
    assert_eq!(own.text("other/bd"), "not ours");
}
