//! How programs end, and what they are given.

use beads_ralph_runtime::unit::{Ending, UnitError};

use crate::tools::{Place, run, script, spec, try_run};

#[test]
fn v_6_a_program_ends_with_its_code_and_its_words() {
    let ended = run(&script("echo out; echo err >&2; exit 3"));
    assert_eq!(ended.ending, Ending::Exited(3));
    assert_eq!(ended.stopped, None);
    assert_eq!(ended.leaked, 0);
    assert_eq!(ended.stdout.text(), "out\n");
    assert_eq!(ended.stderr.text(), "err\n");
}

#[test]
fn v_6_a_signal_counts_128_and_its_number() {
    let ended = run(&script("kill -SEGV $$"));
    assert_eq!(ended.ending, Ending::Signalled(11));
    assert_eq!(ended.ending.code(), Some(139));
}

#[test]
fn v_6_a_shell_that_finds_no_program_ends_with_127() {
    let ended = run(&script("no-such-program-anywhere"));
    assert_eq!(ended.ending.code(), Some(127));
}

#[test]
fn v_3_a_unit_runs_where_it_is_told_with_no_input() {
    let place = Place::new();
    let mut spec = script("pwd -P; cat");
    spec.cwd = place.root().canonicalize_utf8().unwrap();
    let ended = run(&spec);
    assert_eq!(ended.stdout.text(), format!("{}\n", spec.cwd));
}

#[test]
fn v_6_a_program_that_is_missing_is_said_to_be() {
    for program in ["no-such-program-anywhere", "/no/such/program", "./no-such"] {
        match try_run(&spec(&[program])) {
            Err(UnitError::Program {
                program: named,
                is_missing,
                reason,
            }) => {
                assert_eq!(named, program);
                assert!(is_missing, "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }
}
