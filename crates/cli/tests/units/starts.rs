//! What programs are given, and why some cannot be started.

use std::os::fd::AsFd as _;

use beads_ralph_runtime::os::process::{Ending, Mark, Spec, Stdin, UnitError};
use rustix::io::FdFlags;
use rustix::process::Signal;

use crate::tools::{Place, part, run, script, spec, try_run};

#[test]
fn v_3_a_unit_runs_where_it_is_told_with_no_input() {
    let place = Place::new();
    let mut spec = script("pwd -P; cat");
    spec.cwd = place.root().canonicalize_utf8().unwrap();
    let ended = run(&spec);
    assert_eq!(ended.stdout.text(), format!("{}\n", spec.cwd));
}

#[test]
fn v_3_a_unit_has_a_group_and_a_session_of_its_own() {
    let ended = run(&script(
        "echo $$; read -r line </proc/$$/stat; echo \"$line\"",
    ));
    let text = ended.stdout.text();
    let (pid, stat) = text.trim().split_once('\n').unwrap();
    let fields: Vec<&str> = stat.split(' ').collect();
    let (parent, group, session) = (fields[3], fields[4], fields[5]);
    assert_eq!(group, pid);
    assert_eq!(session, parent, "the shim's");
    // The session of the tests themselves is 0 where its leader lies outside a container, which
    // `getsid` of a library may take for impossible.
    let own = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, after_name) = own.rsplit_once(')').unwrap();
    assert_ne!(Some(session), after_name.split_whitespace().nth(3));
}

#[test]
fn v_11_input_is_read_to_its_end() {
    let place = Place::new();
    let mut spec = spec(&["wc", "-c"]);
    spec.stdin = Stdin::File(place.file("prompt", &vec![b'x'; 300_000]));
    assert_eq!(run(&spec).stdout.text().trim(), "300000");
}

#[test]
fn input_that_nobody_reads_blocks_nobody() {
    let place = Place::new();
    let mut spec = script("echo done");
    spec.stdin = Stdin::File(place.file("prompt", &vec![b'x'; 10_000_000]));
    let ended = run(&spec);
    assert_eq!(ended.ending, Ending::Exited(0));
    assert_eq!(ended.stdout.text(), "done\n");
}

/// The files of a process, from `ls -l`, less the directory that `ls` itself reads.
fn files(listing: &str) -> Vec<(&str, &str)> {
    let files = listing.lines().filter_map(|line| {
        let (front, target) = line.split_once(" -> ")?;
        Some((front.rsplit(' ').next()?, target))
    });
    files
        .filter(|(_, target)| !target.starts_with("/proc/"))
        .collect()
}

#[test]
fn a_program_inherits_three_files_and_the_shim_holds_none_of_them() {
    // Somebody may have left us a file that is not closed when programs start.
    let leaky = tempfile::tempfile().unwrap();
    rustix::io::fcntl_setfd(leaky.as_fd(), FdFlags::empty()).unwrap();
    let ended = run(&script("ls -l /proc/self/fd; echo; ls -l /proc/$PPID/fd"));
    let text = ended.stdout.text();
    let (own, shim) = text.split_once("\n\n").unwrap();
    let numbers: Vec<&str> = files(own).iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, ["0", "1", "2"], "{own}");
    assert!(
        files(own)
            .iter()
            .skip(1)
            .all(|(_, target)| target.starts_with("pipe:")),
        "{own}"
    );
    let is_fine = |target: &str| target.starts_with("socket:") || target == "/dev/null";
    assert!(
        files(shim).iter().all(|(_, target)| is_fine(target)),
        "{shim}"
    );
}

#[test]
fn a_program_has_its_signals_as_they_should_be() {
    let ended = run(&script("grep -E 'Sig(Ign|Blk)' /proc/self/status"));
    // Some may be ignored by whoever started these tests; these are ignored or caught by us.
    for signal in [Signal::PIPE, Signal::CHILD] {
        for line in ended.stdout.text().lines() {
            let (_, mask) = line.split_once(':').unwrap();
            let mask = u64::from_str_radix(mask.trim(), 16).unwrap();
            assert_eq!(mask >> (signal.as_raw() - 1) & 1, 0, "{line}");
        }
    }
}

#[test]
fn z_23_a_program_learns_nothing_from_the_shim() {
    const TEST: &str = "starts::z_23_a_program_learns_nothing_from_the_shim";
    if part().is_some() {
        let ended = run(&script("tr '\\0' ';' </proc/$PPID/environ"));
        println!("it has {}", ended.stdout.text());
        return;
    }
    let mut again = crate::tools::again(TEST, "shim");
    again
        .env("SECRET_KEY", "secret")
        .env(Mark::VARIABLE, "outer");
    let output = again.output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("it has BEADS_RALPH_UNIT=outer;\n"), "{text}");
}

#[test]
fn z_23_the_environment_is_ours_without_the_traps() {
    const TEST: &str = "starts::z_23_the_environment_is_ours_without_the_traps";
    if part().is_some() {
        let mut spec = script("env");
        spec.env.without = vec!["SECRET_*".to_owned()];
        spec.env.with.insert("ADDED".to_owned(), "yes".to_owned());
        let ended = run(&spec);
        println!("{}", ended.stdout.text());
        return;
    }
    let mut again = crate::tools::again(TEST, "env");
    again
        .env("GIT_DIR", "/elsewhere")
        .env("GIT_INDEX_FILE", "/elsewhere")
        .env("GIT_WORK_TREE", "/elsewhere")
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_ENTRYPOINT", "cli")
        .env("SECRET_KEY", "secret")
        .env("GIT_AUTHOR_NAME", "kept")
        .env("ADDED", "no");
    let output = again.output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    for absent in ["elsewhere", "CLAUDE", "SECRET", "ADDED=no"] {
        assert!(!text.contains(absent), "{absent}: {text}");
    }
    for present in [
        "GIT_AUTHOR_NAME=kept",
        "ADDED=yes",
        "BEADS_RALPH_UNIT=test-",
    ] {
        assert!(text.contains(present), "{present}: {text}");
    }
}

/// Demands that a unit is refused, for a reason with this word in it.
#[track_caller]
fn assert_refused(spec: &Spec, word: &str, expect_missing: bool) {
    match try_run(spec) {
        Err(UnitError::Program {
            reason, is_missing, ..
        }) => {
            assert!(reason.contains(word), "{reason}");
            assert_eq!(is_missing, expect_missing, "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn v_6_a_program_that_is_missing_is_said_to_be() {
    for program in [
        "no-such-program-anywhere",
        "/no/such/program",
        "./no-such",
        "/etc/passwd/x",
    ] {
        assert_refused(&spec(&[program]), "", true);
    }
    let error = try_run(&spec(&["no-such-program-anywhere"])).unwrap_err();
    let expected = "cannot start 'no-such-program-anywhere': it is not in the PATH";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn v_6_what_cannot_be_started_says_why() {
    let place = Place::new();
    let plain = place.file("plain", b"#!/bin/sh\n");
    assert_refused(&spec(&[plain.as_str()]), "not executable", false);
    assert_refused(&spec(&[place.root().as_str()]), "not executable", false);
    let odd = place.program("odd", "#!/no/such/interpreter\n");
    assert_refused(&spec(&[odd.as_str()]), "interpreter", false);
    let text = place.program("text", "neither script nor program\n");
    assert_refused(&spec(&[text.as_str()]), "not a program", false);
    assert_refused(&spec(&[]), "no program", false);
    assert_refused(&spec(&["echo", "a\0b"]), "NUL", false);
    assert_refused(&spec(&["echo", &"x".repeat(1 << 20)]), "longer", false);
    assert_refused(&spec(&["echo", &"x".repeat(40 << 20)]), "longer", false);
    let mut nowhere = spec(&["pwd"]);
    nowhere.cwd = place.root().join("gone");
    assert_refused(&nowhere, "gone", false);
    let mut odd = spec(&["env"]);
    odd.env.with.insert("A=B".to_owned(), String::new());
    assert_refused(&odd, "A=B", false);
}

#[test]
fn input_that_cannot_be_read_is_no_end_of_input() {
    let place = Place::new();
    let mut absent = spec(&["cat"]);
    absent.stdin = Stdin::File(place.root().join("gone"));
    assert_refused(&absent, "gone", false);
    let mut endless = spec(&["cat"]);
    endless.stdin = Stdin::File("/dev/zero".into());
    assert_refused(&endless, "not a file", false);
}

#[test]
fn a_program_beside_the_unit_is_found_from_where_it_runs() {
    let place = Place::new();
    place.program("agent.sh", "#!/bin/sh\necho \"$0\" \"$@\"\n");
    let mut spec = spec(&["./agent.sh", "a b"]);
    spec.cwd = place.root().to_owned();
    assert_eq!(run(&spec).stdout.text(), "./agent.sh a b\n");
}

#[test]
fn a_probe_is_a_unit_too() {
    let ended = crate::tools::units()
        .output(
            &["sh", "-c", "echo version 1"],
            "/".into(),
            crate::tools::LONG,
        )
        .unwrap();
    assert_eq!(ended.ending, Ending::Exited(0));
    assert_eq!(ended.stdout.text(), "version 1\n");
}
