//! Wrong bytes, odd files and hostile names: a diagnostic with its code, never a panic or half a file.

use serde_json::{Value, json};

use crate::env::{DEMO, Output, TestEnv};

const WORK: &str = include_str!("../../../core/testdata/beads/worked-example.json");

/// Gives a plan to every command that reads one; none of them may change it unless it is good.
#[track_caller]
fn refused(bytes: &[u8], code: &str) -> Output {
    let env = TestEnv::new();
    env.write("plan.md", bytes);
    for args in [
        &["plan", "check", "--fix"][..],
        &["plan", "graph"],
        &["plan", "build", "--out-dir", "out"],
        &["plan", "annotate"],
    ] {
        let output = env.run(&[args, &["--json", "plan.md"]].concat()).exits(1);
        let codes = output.error().to_string();
        assert!(codes.contains(code), "{args:?}: {codes}");
        assert!(!env.path("out").exists(), "{args:?}");
        assert!(env.read("plan.md") == bytes, "{args:?} changed the plan");
    }
    assert_eq!(env.names("."), ["plan.md"]);
    env.run(&["plan", "check", "plan.md"]).exits(1)
}

#[test]
fn p_8_invalid_utf_8_is_named_with_its_byte() {
    let mut bytes = DEMO.as_bytes().to_vec();
    bytes.extend(b"\xff\xfe");
    let output = refused(&bytes, "PARSE.MARKDOWN");
    assert!(
        output.stdout.contains(&format!("byte {}", DEMO.len())),
        "{}",
        output.stdout
    );
    let utf_16: Vec<u8> = DEMO.encode_utf16().flat_map(u16::to_le_bytes).collect();
    refused(&utf_16, "PARSE.MARKDOWN");
    refused(b"\xff", "PARSE.MARKDOWN");
}

#[test]
fn p_8_nul_and_nothing() {
    let output = refused(
        DEMO.replacen("word counter", "word\0counter", 1).as_bytes(),
        "PARSE.MARKDOWN",
    );
    assert!(
        output.stdout.contains("NUL") && !output.stdout.contains('\0'),
        "{}",
        output.stdout
    );
    for nothing in ["", "\n", "\u{feff}", "# Title\n", "\0"] {
        refused(nothing.as_bytes(), "PARSE.MARKDOWN");
    }
}

#[test]
fn p_25_a_file_of_lone_carriage_returns() {
    let output = refused(DEMO.replace('\n', "\r").as_bytes(), "PARSE.MARKDOWN");
    assert!(
        output.stdout.contains("lone-carriage-return"),
        "{}",
        output.stdout
    );
    assert!(!output.stdout.contains('\r'));
}

#[test]
fn x_1_a_byte_order_mark_is_not_content() {
    let env = TestEnv::new();
    env.write("plan.md", format!("\u{feff}{DEMO}"));
    let data = env.run(&["plan", "check", "--json", "plan.md"]).data();
    assert_eq!(data["diagnostics"], serde_json::json!([]));
    env.write("plan.md", "\u{feff}### Sprint 1.1 - A\n");
    let error = env.run(&["plan", "check", "--json", "plan.md"]).error();
    assert_eq!(error["diagnostics"][0]["line"], 1);
    env.run(&["plan", "check", "--fix", "plan.md"]).exits(1);
    assert_eq!(env.text("plan.md"), "\u{feff}### Sprint 1.1: A\n");
}

#[test]
fn p_5_an_open_fence() {
    refused(format!("{DEMO}\n~~~~\n").as_bytes(), "PARSE.MARKDOWN");
    refused(format!("```\n{DEMO}").as_bytes(), "PARSE.MARKDOWN");
    refused(format!("{DEMO}\n<!--\n").as_bytes(), "PARSE.MARKDOWN");
}

#[test]
fn a_line_of_five_megabytes() {
    let long = "x".repeat(5_000_000);
    let env = TestEnv::new();
    env.write("plan.md", format!("{DEMO}\n{long}\n"));
    env.run(&["plan", "check", "plan.md"]).exits(0);
    for plan in [
        format!("### Sprint {long}: A\n"),
        format!("### Sprint 1.1 {long}\n"),
        DEMO.replacen("`feature/1-1-skeleton`\n**S", &format!("`{long}.`\n**S"), 1),
        DEMO.replacen("(sonnet)", &format!("({long})"), 1),
        format!("{DEMO}\n```{long}"),
    ] {
        env.write("plan.md", &plan);
        let output = env.run(&["plan", "check", "plan.md"]).exits(1);
        assert!(
            output.stdout.len() < 100_000,
            "{} bytes",
            output.stdout.len()
        );
        let output = env
            .run(&["plan", "check", "--format", "short", "plan.md"])
            .exits(1);
        assert!(
            output.stdout.len() < 100_000,
            "{} bytes",
            output.stdout.len()
        );
    }
    env.write("plan.md", format!("### Sprint 1.1: {long}\n"));
    let output = env.run(&["plan", "graph", "plan.md"]).exits(1);
    assert!(
        output.stderr.len() < 100_000,
        "{} bytes",
        output.stderr.len()
    );
    env.run(&["plan", "annotate", "plan.md"]).exits(1);
}

#[test]
fn twenty_thousand_headings() {
    let env = TestEnv::new();
    let mut plan = String::new();
    for n in 1..=20_000 {
        plan += &["### Sprint 1.", &n.to_string(), ": Title\n"].concat();
    }
    env.write("plan.md", &plan);
    let output = env.run(&["plan", "check", "plan.md"]).exits(1);
    assert!(
        output
            .stdout
            .contains("more: see them all with --format short")
    );
    assert!(
        output.stdout.len() < 1_000_000,
        "{} bytes",
        output.stdout.len()
    );
    env.run(&["plan", "graph", "--format", "dot", "plan.md"])
        .exits(0);
    env.run(&["plan", "annotate", "plan.md"]).exits(0);
    assert_eq!(
        env.text("plan.md")
            .matches("<!-- beads-ralph: bd-1-")
            .count(),
        20_000
    );
}

#[test]
fn n_1_digits_that_only_look_like_digits() {
    let env = TestEnv::new();
    for (number, fixed) in [
        ("１.１", true),
        ("1．1", true),
        ("١.١", true),
        ("𝟏.𝟏", true),
        ("l.1", false),
    ] {
        env.write("plan.md", format!("### Sprint {number}: A\n"));
        let output = env.run(&["plan", "check", "--json", "plan.md"]).exits(1);
        assert_eq!(output.error_code(), "PARSE.INVALID_PATTERN", "{number}");
        env.run(&["plan", "check", "--fix", "plan.md"]).exits(1);
        assert_eq!(
            env.text("plan.md") == "### Sprint 1.1: A\n",
            fixed,
            "{number}"
        );
    }
}

#[test]
fn marks_that_turn_the_text_are_reported_and_not_printed() {
    let env = TestEnv::new();
    env.write(
        "plan.md",
        DEMO.replacen("Project Skeleton", "\u{202e}Project\u{1b}[31m Skeleton", 1),
    );
    let output = env.run(&["plan", "check", "plan.md"]).exits(0);
    assert!(
        output.stdout.contains("warning[deceptive-text]"),
        "{}",
        output.stdout
    );
    for args in [
        &["plan", "check", "plan.md"][..],
        &["plan", "check", "--format", "short", "plan.md"],
        &["plan", "graph", "plan.md"],
        &["plan", "graph", "--format", "mermaid", "plan.md"],
        &["plan", "graph", "--format", "dot", "plan.md"],
    ] {
        let output = env.run(args).exits(0);
        let all = output.stdout + &output.stderr;
        assert!(
            !all.contains('\u{1b}') && !all.contains('\u{202e}'),
            "{args:?}: {all:?}"
        );
    }
}

#[test]
fn p_27_what_is_no_file() {
    let env = TestEnv::new();
    env.make_directory("folder");
    for (path, code) in [
        ("folder", "IO.PERMISSION_DENIED"),
        ("absent.md", "IO.FILE_NOT_FOUND"),
        ("absent/plan.md", "IO.FILE_NOT_FOUND"),
        ("", "IO.FILE_NOT_FOUND"),
    ] {
        for args in [
            &["plan", "check"][..],
            &["plan", "graph"],
            &["plan", "build", "--out-dir", "out"],
            &["plan", "annotate"],
        ] {
            let output = env.run(&[args, &["--json", path]].concat()).exits(3);
            assert_eq!(output.error_code(), code, "{args:?} {path}");
            let output = env.run(&[args, &[path]].concat()).exits(3);
            assert!(
                output.stderr.starts_with(&format!("error[{code}]: ")),
                "{}",
                output.stderr
            );
        }
    }
    assert_eq!(env.names("."), ["folder"]);
}

#[cfg(unix)]
#[test]
fn p_27_links_that_lead_nowhere() {
    use std::os::unix::fs::symlink;
    let env = TestEnv::new();
    symlink("nowhere", env.path("dangling.md")).unwrap();
    symlink("loop.md", env.path("loop.md")).unwrap();
    let code = |path: &str| {
        env.run(&["plan", "check", "--json", path])
            .exits(3)
            .error_code()
    };
    assert_eq!(code("dangling.md"), "IO.FILE_NOT_FOUND");
    assert_eq!(code("loop.md"), "IO.PERMISSION_DENIED");
    env.run(&["plan", "new", "dangling.md"]).exits(3);
    assert!(!env.path("nowhere").exists());
}

#[cfg(unix)]
#[test]
fn a_pipe_as_a_plan_does_not_block() {
    let env = TestEnv::new();
    if !["/usr/bin/mkfifo", "/bin/mkfifo"]
        .iter()
        .any(|tool| std::path::Path::new(tool).exists())
    {
        eprintln!("no mkfifo here: /dev/null instead of a pipe");
        env.run(&["plan", "check", "/dev/null"]).exits(3);
        return;
    }
    env.tool("mkfifo", &["pipe"]).run().exits(0);
    for args in [
        &["plan", "check", "pipe"][..],
        &["plan", "check", "--fix", "pipe"],
        &["plan", "graph", "pipe"],
        &["plan", "build", "--out-dir", "out", "pipe"],
        &["plan", "annotate", "pipe"],
        &["plan", "new", "pipe"],
        &["bead", "migrate", "--to", "v1", "--in-place", "pipe"],
    ] {
        let output = env.run(args).exits(3);
        assert!(
            output.stderr.contains("IO.PERMISSION_DENIED"),
            "{}",
            output.stderr
        );
    }
    env.run(&["bead", "validate", "pipe"]).exits(1);
    assert_eq!(env.names("."), ["pipe"]);
}

#[cfg(unix)]
#[test]
fn names_with_control_characters_do_not_reach_the_terminal() {
    let env = TestEnv::new();
    let (absent, plan, out) = (
        "a\n\u{1b}[31mb\u{202e}.md",
        "p\n\u{1b}[2J\u{202e}.md",
        "o\u{1b}[31m",
    );
    env.write(plan, DEMO);
    env.write("t.json", "{}");
    env.write("\u{1b}[31m.json", "{}");
    for args in [
        &["plan", "check", absent][..],
        &["plan", "check", plan],
        &["plan", "check", "--format", "short", plan],
        &["plan", "graph", absent],
        &["plan", "new", plan],
        &["plan", "new", "new\u{1b}.md"],
        &["plan", "build", "--out-dir", out, plan],
        &["plan", "build", "--out-dir", plan, plan],
        &[
            "plan",
            "build",
            "--out-dir",
            out,
            "--sprint-filter",
            "\u{1b}[31m",
            plan,
        ],
        &["plan", "annotate", absent],
        &["plan", "annotate", plan],
        &["bead", "validate", absent],
        &["bead", "validate", "\u{1b}[31m.json", "t.json"],
        &["bead", "migrate", "--to", "v1", absent],
        &["bead", "migrate", "--to", "v1", "\u{1b}[31m.json"],
        &["schema", "\u{1b}[31m"],
    ] {
        let output = env.run(args);
        let all = format!("{}{}", output.stdout, output.stderr);
        assert!(
            !all.contains('\u{1b}') && !all.contains('\u{202e}'),
            "{args:?}: {all:?}"
        );
        assert!(!all.is_empty(), "{args:?}");
    }
}

/// Every place of a document that holds a string, as a JSON pointer.
fn strings_of(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at.to_owned()),
        Value::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                strings_of(item, &format!("{at}/{n}"), found);
            }
        }
        Value::Object(entries) => {
            for (key, entry) in entries {
                strings_of(entry, &format!("{at}/{key}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn text_of_a_bead_does_not_reach_the_terminal_raw() {
    let env = TestEnv::new();
    let bead: Value = serde_json::from_str(WORK).unwrap();
    let evil = json!("\u{1b}[31m\u{202e}evil");
    let mut places = Vec::new();
    strings_of(&bead, "", &mut places);
    assert!(places.len() > 30, "{places:?}");
    let mut documents: Vec<Value> = places
        .iter()
        .map(|place| {
            let mut document = bead.clone();
            *document.pointer_mut(place).unwrap() = evil.clone();
            document
        })
        .collect();
    let mut with_key = bead.clone();
    with_key["metadata"]["dev_agents"][0]["env"] = json!({evil.as_str().unwrap(): 1});
    documents.push(with_key);
    documents.push(json!({evil.as_str().unwrap(): evil, "dependencies": [{"\u{1b}": 1}]}));
    for document in documents {
        for args in [
            &["bead", "validate", "--graph"][..],
            &["bead", "validate", "--check-agents"],
            &["bead", "migrate", "--in-place", "--to", "v1", "bead.json"],
        ] {
            env.write("bead.json", document.to_string());
            let output = env.command(args).stdin(document.to_string()).run();
            let all = format!("{}{}", output.stdout, output.stderr);
            assert!(
                !all.contains('\u{1b}') && !all.contains('\u{202e}'),
                "{args:?} {document}: {all:?}"
            );
        }
    }
}

#[test]
fn text_of_the_configuration_does_not_reach_the_terminal_raw() {
    let env = TestEnv::with_demo();
    env.write("bead.json", WORK);
    for config in [
        "rig: \"\\e[31m\"\n",
        "rig: \"\u{1b}[31m\"\n",
        "rig: [\u{1b}[31m\n",
        "agents: {default_model: \"\\e[31m\"}\n",
        "verify: {require_machine_check: \"\\e[31m\"}\n",
        "\"\\e[31m\": [\n",
    ] {
        env.write("beads-ralph.yaml", config);
        for args in [
            &["plan", "check", "plan.md"][..],
            &["bead", "validate", "bead.json"],
        ] {
            let output = env.run(args);
            let all = format!("{}{}", output.stdout, output.stderr);
            assert!(!all.contains('\u{1b}'), "{args:?} {config:?}: {all:?}");
        }
    }
}
