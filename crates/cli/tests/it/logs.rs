//! `logs` of an agent that puts into its directory whatever it likes.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;

use beads_ralph_runtime::files;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::env::TestEnv;

const RUN: &str = ".ralph/evidence/x/logs/20260102-030405";

/// Runs the program before a terminal, and gives what is seen there.
fn on_a_terminal(env: &TestEnv, args: &[&str]) -> String {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY;
    let screen: OwnedFd = rustix::fs::open(&*name, flags, Mode::empty()).unwrap();
    env.command(args).stdout(screen).run().exits(0);
    let mut seen = Vec::new();
    // It ends with an error, because nobody can write there any more.
    drop(File::from(terminal).read_to_end(&mut seen));
    String::from_utf8(seen).unwrap()
}

#[test]
fn what_was_written_does_not_steer_a_terminal_and_is_piped_as_it_is() {
    let env = TestEnv::new();
    let text = "a\tb\n\u{1b}]0;title\u{7}\u{1b}[2J\n";
    env.write(&format!("{RUN}/verify-1/stdout"), text);
    let args = ["logs", "x", "verify-1/stdout"];
    assert_eq!(env.run(&args).exits(0).stdout, text);
    let seen = on_a_terminal(&env, &args);
    assert!(seen.contains("\\u{1b}]0;title\\u{7}\\u{1b}[2J"), "{seen:?}");
    assert!(
        !seen.contains('\u{1b}') && seen.starts_with('a'),
        "{seen:?}"
    );
}

#[test]
fn links_among_the_logs_lead_nowhere() {
    let env = TestEnv::new();
    env.write(&format!("{RUN}/verify-1/stdout"), "one\n");
    env.write("secret", "secret\n");
    let run = env.path(RUN);
    for name in ["a", "b"] {
        symlink(&run, run.join(name)).unwrap();
    }
    symlink(env.path("secret"), run.join("verify-1/stderr")).unwrap();
    symlink("/", env.path(".ralph/evidence/x/logs/20260102-030406")).unwrap();
    let data = env.run(&["logs", "x", "--json"]).exits(0).data();
    let logs: Vec<&str> = (data["logs"].as_array().unwrap().iter())
        .filter_map(|log| log["log"].as_str())
        .collect();
    assert_eq!(logs, ["verify-1/stdout"]);
    assert_eq!(data["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn compressed_logs_are_unpacked_and_broken_ones_are_named() {
    let env = TestEnv::new();
    let place = |name: &str| format!("{RUN}/agent/{name}");
    env.write(&place("stdout"), "one\n");
    files::compress(&env.path(&place("stdout"))).unwrap();
    env.write(&place("other.gz"), "not compressed");
    let shown = env.run(&["logs", "x", "agent/stdout"]).exits(0).stdout;
    assert_eq!(shown, "one\n");
    let output = env.run(&["logs", "x", "agent/other"]);
    assert_ne!(output.code, Some(0));
    assert!(output.stderr.contains("agent/other.gz"), "{output:?}");
}

#[test]
fn names_of_runs_and_logs_in_messages_do_not_steer_a_terminal() {
    let env = TestEnv::new();
    env.write(&format!("{RUN}/verify-1/std\u{1b}out"), "one\n");
    env.make_directory(&format!("{RUN}\u{1b}"));
    let near = ["logs", "x", "verify-1/stdout", "--run", "20260102-030405"];
    for args in [&near[..], &["logs", "x", "--run", "9"]] {
        let output = env.run(args).exits(1);
        assert!(output.stderr.contains("\\u{1b}"), "{output:?}");
        assert!(!output.stderr.contains('\u{1b}'), "{output:?}");
    }
}
