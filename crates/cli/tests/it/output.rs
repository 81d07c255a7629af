//! How the program talks: data on standard output, talk on standard error, JSON and colour when asked.

use std::fs::File;

use crate::env::{DEMO, TestEnv};

const WORK: &str = include_str!("../../../core/testdata/beads/worked-example.json");

fn world() -> TestEnv {
    let env = TestEnv::with_demo();
    env.write("bad.md", "### Sprint 1.1 - A\n");
    env.write("bead.json", WORK);
    env.write("bad.json", "{}");
    env
}

#[test]
fn e_1_one_object_for_every_command() {
    let env = world();
    let good: [&[&str]; 17] = [
        &["plan", "new", "new.md"],
        &["plan", "check", "plan.md"],
        &["plan", "check", "--fix", "plan.md", "new.md"],
        &["plan", "graph", "plan.md"],
        &["plan", "graph", "--format", "dot", "plan.md"],
        &["plan", "build", "--out-dir", "out", "plan.md"],
        &["plan", "annotate", "--dry-run", "plan.md"],
        &["plan", "annotate", "plan.md"],
        &["bead", "validate", "bead.json"],
        &[
            "bead",
            "validate",
            "--graph",
            "out/bd-1-1-project-skeleton.json",
        ],
        &["bead", "migrate", "--to", "v1", "bead.json"],
        &["bead", "migrate", "--to", "v1", "--in-place", "bead.json"],
        &["schema"],
        &["schema", "bead"],
        &["demo"],
        &["completions", "bash"],
        &["man"],
    ];
    for args in good {
        let output = env.run(&[args, &["--json"]].concat()).exits(0);
        assert_eq!(output.stderr, "", "{args:?}");
        assert!(output.json()["success"].as_bool().unwrap(), "{args:?}");
    }
    let bad: [(&[&str], i32); 13] = [
        (&["plan", "new", "plan.md"], 3),
        (&["plan", "check", "bad.md"], 1),
        (&["plan", "check", "bad.md", "absent.md", "plan.md"], 3),
        (&["plan", "graph", "bad.md"], 1),
        (&["plan", "graph", "absent.md"], 3),
        (&["plan", "build", "--out-dir", "out", "bad.md"], 1),
        (&["plan", "build", "--out-dir", "plan.md", "plan.md"], 3),
        (
            &[
                "plan",
                "build",
                "--out-dir",
                "out",
                "--sprint-filter",
                "9.9",
                "plan.md",
            ],
            1,
        ),
        (&["plan", "annotate", "bad.md"], 1),
        (&["bead", "validate", "bad.json"], 1),
        (&["bead", "validate", "bead.json", "absent.json"], 1),
        (&["bead", "migrate", "--to", "v2", "bad.json"], 1),
        (&["schema", "nope"], 3),
    ];
    for (args, code) in bad {
        let output = env.run(&[args, &["--json"]].concat()).exits(code);
        assert_eq!(output.stderr, "", "{args:?}");
        let error = output.error();
        assert!(!error["message"].as_str().unwrap().is_empty(), "{args:?}");
        assert!(
            !error["suggested_action"].as_str().unwrap().is_empty(),
            "{args:?}"
        );
    }
}

#[test]
fn e_1_the_fenced_block() {
    let env = world();
    for args in [["plan", "graph", "plan.md"], ["plan", "graph", "bad.md"]] {
        let bare = env.run(&[&args[..], &["--json"]].concat());
        let fenced = env.run(&[&args[..], &["--fenced"]].concat());
        assert_eq!(fenced.stdout, format!("```json\n{}```\n", bare.stdout));
        assert_eq!(fenced.code, bare.code);
    }
}

#[test]
fn section_4_3_exit_codes() {
    let env = world();
    for (args, code) in [
        (&["plan", "check", "plan.md"][..], 0),
        (&["--help"], 0),
        (&["--version"], 0),
        (&["plan", "check", "bad.md"], 1),
        (&[], 2),
        (&["plan"], 2),
        (&["no-such-command"], 2),
        (&["plan", "check"], 2),
        (&["plan", "check", "--no-such-flag", "plan.md"], 2),
        (&["plan", "build", "plan.md"], 2),
        (
            &[
                "plan",
                "check",
                "--strict-agents",
                "--no-agent-check",
                "plan.md",
            ],
            2,
        ),
        (&["completions", "no-shell"], 2),
        (&["plan", "check", "absent.md"], 3),
    ] {
        let output = env.run(args).exits(code);
        assert!(
            code == 0 || output.stdout.is_empty() || args.contains(&"bad.md"),
            "{output:#?}"
        );
    }
}

#[test]
fn data_goes_to_standard_output_and_talk_to_standard_error() {
    let env = world();
    for (args, has_data) in [
        (&["plan", "new", "new.md"][..], false),
        (&["plan", "check", "plan.md"], false),
        (&["plan", "check", "bad.md"], true),
        (&["plan", "graph", "plan.md"], true),
        (&["plan", "build", "--out-dir", "out", "plan.md"], true),
        (&["plan", "annotate", "plan.md"], false),
    ] {
        let output = env.run(args);
        assert_eq!(!output.stdout.is_empty(), has_data, "{output:#?}");
        assert!(!output.stdout.contains("next:") && !output.stdout.contains("wrote"));
    }
    for args in [
        &["-q", "plan", "new", "quiet.md"][..],
        &["-q", "plan", "check", "plan.md"],
        &["-q", "plan", "annotate", "plan.md"],
        &["plan", "build", "--out-dir", "out", "plan.md", "--quiet"],
    ] {
        assert_eq!(env.run(args).exits(0).stderr, "", "{args:?}");
    }
    assert!(
        env.run(&["-q", "plan", "graph", "absent.md"])
            .exits(3)
            .stderr
            .contains("error[")
    );
    assert!(
        env.run(&["-q", "plan", "graph", "bad.md"])
            .exits(1)
            .stderr
            .contains("error[")
    );
}

#[test]
fn colour_is_for_terminals() {
    let env = world();
    let check = ["plan", "check", "bad.md"];
    let escapes = |args: &[&str], no_color: Option<&str>| {
        let command = env.command(&[&check[..], args].concat());
        let output = match no_color {
            Some(value) => command.env("NO_COLOR", value).run(),
            None => command.run(),
        };
        let human = output.exits(1).stdout;
        assert!(
            human.contains("PARSE.MARKDOWN"),
            "readable without colour: {human}"
        );
        human.contains('\u{1b}')
    };
    assert!(!escapes(&[], None), "piped");
    assert!(!escapes(&["--color", "auto"], Some("1")));
    assert!(!escapes(&["--color", "never"], None));
    assert!(escapes(&["--color", "always"], None));
    assert!(
        escapes(&["--color", "always"], Some("1")),
        "what is asked for by name is given"
    );
    let graph = env.run(&["--color", "always", "plan", "graph", "bad.md"]);
    assert!(graph.stderr.contains('\u{1b}'));
    for args in [
        &["--help"][..],
        &["plan", "graph", "plan.md"],
        &["plan", "graph", "bad.md"],
    ] {
        let output = env.run(args);
        assert!(
            !output.stdout.contains('\u{1b}') && !output.stderr.contains('\u{1b}'),
            "{args:?}"
        );
    }
}

#[test]
fn pictures_are_ascii_where_the_locale_is() {
    let env = world();
    for (variable, value) in [
        ("LANG", "C"),
        ("LC_ALL", "POSIX"),
        ("LC_CTYPE", "en_US.ISO-8859-1"),
    ] {
        let args = ["plan", "graph", "plan.md"];
        let output = env.command(&args).env(variable, value).run().exits(0);
        assert!(
            output.stdout.is_ascii(),
            "{variable}={value}:\n{}",
            output.stdout
        );
    }
    env.write("frame.md", DEMO.replace("(haiku)", "(gpt-4)"));
    let output = env
        .command(&["plan", "check", "frame.md"])
        .env("LANG", "C")
        .run();
    assert!(output.stdout.is_ascii(), "{}", output.stdout);
    assert!(!env.run(&["plan", "graph", "plan.md"]).stdout.is_ascii());
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let env = world();
    for args in [
        &["plan", "graph", "plan.md"][..],
        &["plan", "graph", "--json", "plan.md"],
        &["plan", "check", "bad.md"],
        &["man"],
        &["completions", "zsh"],
        &["schema", "bead"],
        &["demo"],
        &["--help"],
    ] {
        let mut child = env.command(args).spawn();
        drop(child.stdout.take());
        let output = crate::env::Output::of(child, args.join(" "));
        assert!(matches!(output.code, Some(0 | 1)), "{output:#?}");
        assert!(!output.stderr.contains("Broken pipe"), "{output:#?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_an_error() {
    let env = world();
    for args in [
        &["plan", "graph", "plan.md"][..],
        &["plan", "graph", "--json", "plan.md"],
        &["plan", "check", "--json", "bad.md"],
        &["schema"],
        &["demo"],
        &["bead", "migrate", "--to", "v1", "bead.json"],
        &["bead", "validate", "bead.json"],
        &["man"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = env.command(args).stdout(full).run();
        let code = output.code.unwrap();
        assert!(
            code == 3 || (code == 1 && args.contains(&"bad.md")),
            "{output:#?}"
        );
        assert_eq!(output.stderr.matches("error[").count(), 1, "{output:#?}");
    }
}

#[test]
fn completions_the_manual_and_the_help_know_every_command() {
    let env = TestEnv::new();
    let commands = [
        "plan",
        "bead",
        "init",
        "ready",
        "list",
        "show",
        "search",
        "stats",
        "log",
        "claim",
        "heartbeat",
        "release",
        "recover",
        "close",
        "reopen",
        "update",
        "label",
        "dep",
        "comment",
        "import",
        "export",
        "run",
        "status",
        "blocked",
        "human",
        "qa-report",
        "retry",
        "stop",
        "pause",
        "patrol",
        "watchdog",
        "simulate",
        "replay",
        "schema",
        "demo",
        "completions",
        "man",
    ];
    let below = [
        "new", "check", "graph", "build", "annotate", "validate", "migrate",
    ];
    let help = env.run(&["--help"]).exits(0).stdout;
    for command in commands {
        assert!(
            help.contains(&format!("\n  {command} ")),
            "{command}: {help}"
        );
        env.run(&[command, "--help"]).exits(0);
    }
    let man = env.run(&["man"]).exits(0).stdout;
    let shells = ["bash", "zsh", "fish", "elvish", "powershell"]
        .map(|shell| env.run(&["completions", shell]).exits(0).stdout);
    for command in commands.iter().chain(&below) {
        // A manual page writes a hyphen so that it can be copied.
        assert!(man.contains(&command.replace('-', "\\-")), "{command}");
        assert!(
            shells.iter().all(|script| script.contains(command)),
            "{command}"
        );
    }
    let plan = env.run(&["plan", "--help"]).exits(0).stdout;
    let bead = env.run(&["bead", "--help"]).exits(0).stdout;
    for command in below {
        assert!(
            plan.contains(&format!("\n  {command} ")) || bead.contains(&format!("\n  {command} "))
        );
    }
}

#[test]
fn the_demo_touches_nothing() {
    let env = TestEnv::new();
    env.make_directory(".git");
    env.write("beads-ralph.yaml", "not: [valid");
    // A store that the environment names is somebody's own, and not the demo's.
    let demo = |args: &[&str]| env.command(args).env("BEADS_DIR", "somewhere").run();
    let output = demo(&["demo"]).exits(0);
    assert!(output.stdout.contains("9 beads closed"), "{output:#?}");
    for said in [
        "[bd-1-2b-count-bytes-and-lines] ",
        "QA 1 says fail: src/stream.rs reads the whole file at once",
        "starts on conflicts with ",
    ] {
        assert!(output.stderr.contains(said), "{said}: {output:#?}");
    }
    let data = demo(&["demo", "--json"]).data();
    assert_eq!(data["outcome"], "done");
    let beads = data["beads"].as_array().unwrap();
    let closed = |bead: &&serde_json::Value| !bead["state"]["ended"]["closed"].is_null();
    assert_eq!(beads.iter().filter(closed).count(), 9, "{data:#}");
    assert_eq!(env.names("."), [".git", "beads-ralph.yaml"]);
}

#[test]
fn e_1_wrong_usage_answers_with_the_envelope_too() {
    let output = TestEnv::new()
        .run(&["--json", "plan", "build", "plan.md"])
        .exits(2);
    let envelope: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let error = &envelope["error"];
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|message| message.contains("required")),
        "{error}"
    );
}

#[test]
fn a_suggested_command_can_be_pasted() {
    let env = TestEnv::new();
    let output = env.run(&["plan", "new", "my plan's.md"]).exits(0);
    assert!(
        output.stderr.contains(r"plan check 'my plan'\''s.md'"),
        "{}",
        output.stderr
    );
    let output = env.run(&["plan", "new", "absent/plan.md"]).exits(3);
    assert!(
        output.stderr.contains("absent does not exist") && !output.stderr.contains(".beads-ralph-"),
        "{}",
        output.stderr
    );
}
