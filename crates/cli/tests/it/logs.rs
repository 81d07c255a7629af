//! `logs` of an agent that puts into its directory whatever it likes.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use beads_ralph_runtime::os::files;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::env::{Output, TestEnv};
use crate::store::{data, error, seeded};

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

/// A store with two sprints, and three runs.
fn two_sprints() -> TestEnv {
    let env = seeded(
        "{\"id\":\"bd-1-1-setup\",\"title\":\"t\"}\n{\"id\":\"bd-1-10-x\",\"title\":\"t\"}\n",
    );
    for run in ["a", "b", "r1"] {
        env.write(&format!(".beads/runs/{run}/journal.jsonl"), "");
    }
    env
}

/// The place of a file of a run of the loop.
fn of_run(run: &str, name: &str) -> String {
    format!(".beads/runs/{run}/beads/bd-1-1-setup/{name}")
}

#[test]
fn z_37_what_runs_of_the_loop_wrote_is_found_by_the_beginning_of_an_id() {
    let env = two_sprints();
    env.write(&of_run("r1", "attempt-1/dev-1/prompt.md"), "do it");
    env.write(&of_run("r1", "attempt-1/dev-1/stdout"), "done\n");
    files::compress(&env.path(&of_run("r1", "attempt-1/dev-1/stdout"))).unwrap();
    env.write(&of_run("r1", "attempt-1/verify-1/stderr"), "red\n");
    env.write(&of_run("r1", "attempt-2/dev-1/stdout"), "again\n");
    let listed = data(&env, &["logs", "bd-1-1"]);
    assert_eq!(
        (&listed["bead"], &listed["run"]),
        (&"bd-1-1-setup".into(), &"r1".into())
    );
    let names: Vec<&str> = (listed["logs"].as_array().unwrap().iter())
        .map(|log| log["log"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "attempt-1/dev-1/prompt.md",
            "attempt-1/dev-1/stdout",
            "attempt-1/verify-1/stderr",
            "attempt-2/dev-1/stdout",
        ]
    );
    let one = data(&env, &["logs", "bd-1-1-setup", "attempt-1/dev-1/stdout"]);
    assert_eq!(one["text"], "done\n");
    let none = error(&env, &["logs", "bd-1-10"], 1);
    assert_eq!(
        none["message"],
        "no agent or check has run for 'bd-1-10-x' here"
    );
    let several = error(&env, &["logs", "bd-1"], 1);
    assert!(
        several["message"]
            .as_str()
            .unwrap()
            .starts_with("several beads")
    );
    assert_eq!(
        error(&env, &["logs", "nothing"], 1)["message"],
        "no agent or check has run for 'nothing' here"
    );
}

#[test]
fn z_37_the_last_run_is_the_one_that_was_written_to_last() {
    let env = two_sprints();
    env.write(&of_run("b", "attempt-1/dev-1/stdout"), "first\n");
    env.write(
        ".ralph/evidence/bd-1-1-setup/logs/20260102-030405/verify-1/stdout",
        "second\n",
    );
    env.write(&of_run("a", "attempt-1/dev-1/stdout"), "third\n");
    let listed = data(&env, &["logs", "bd-1-1-setup"]);
    assert_eq!(
        listed["runs"],
        serde_json::json!(["b", "20260102-030405", "a"])
    );
    assert_eq!(listed["run"], "a");
    assert_eq!(
        data(&env, &["logs", "bd-1-1-setup", "--run", "2"])["run"],
        "b"
    );
    assert_eq!(
        data(&env, &["logs", "bd-1-1-setup", "--run", "b"])["run"],
        "b"
    );
}

#[test]
fn what_is_being_written_can_be_followed_until_interrupted() {
    let env = two_sprints();
    let dev = of_run("r1", "attempt-1/dev-1/stdout");
    env.write(&dev, "one\n");
    let mut child = env.command(&["logs", "bd-1-1", "-f"]).spawn();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        for line in stdout.lines() {
            drop(send.send(line.unwrap()));
        }
    });
    let next = || receive.recv_timeout(Duration::from_mins(1)).unwrap();
    assert_eq!(next(), "one");
    env.write(&dev, "one\ntwo\nthr");
    assert_eq!(next(), "two");
    env.write(&dev, "one\ntwo\nthree\nfour");
    assert_eq!(next(), "three");
    files::compress(&env.path(&dev)).unwrap();
    assert_eq!(next(), "four", "a finished stream needs no end of line");
    env.write(&of_run("r1", "attempt-1/verify-1/stderr"), "red\n");
    assert_eq!(next(), "red");
    env.tool("kill", &["-INT", &child.id().to_string()])
        .run()
        .exits(0);
    let output = Output::of(child, "logs".to_owned()).exits(0);
    assert_eq!(
        output.stderr,
        "==> attempt-1/dev-1/stdout <==\n==> attempt-1/verify-1/stderr <==\n"
    );
    assert!(
        receive.recv_timeout(Duration::from_mins(1)).is_err(),
        "nothing is said twice"
    );
}

#[test]
fn one_log_can_be_followed_from_near_its_end_and_never_as_json() {
    let env = two_sprints();
    let name = of_run("r1", "attempt-1/dev-1/stdout");
    let text: String = (0..10_000)
        .map(|n| format!("line {n}\n"))
        .collect::<Vec<_>>()
        .concat();
    env.write(&name, &text);
    env.write(&of_run("r1", "attempt-1/dev-2/stdout"), "other\n");
    let args = ["logs", "bd-1-1", "attempt-1/dev-1/stdout", "--follow"];
    let mut child = env.command(&args).spawn();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    assert!(first.starts_with("line 9"), "{first}");
    env.tool("kill", &["-TERM", &child.id().to_string()])
        .run()
        .exits(0);
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert!(
        !rest.contains("other") && rest.ends_with("line 9999\n"),
        "{rest}"
    );
    Output::of(child, "logs".to_owned()).exits(0);
    env.run(&["logs", "bd-1-1", "-f", "--json"]).exits(2);
}
