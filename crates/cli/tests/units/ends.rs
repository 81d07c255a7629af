//! That units end, whole: with everything that they started, however it hides.

use std::time::Duration;

use beads_ralph_runtime::os::process::{Cancel, Ending, Flow, Silent, Spec, Stopped};

use crate::tools::{At, Place, assert_nothing_left, run, run_watched, script, units};

/// A script that starts daemons and waits until they are up: another session, no pipe, no parent that waits for them. What follows is
/// the script's next line.
fn with_daemons(place: &Place, next: &str) -> Spec {
    let daemon = "exec >/dev/null 2>&1 </dev/null; sleep 1000 & echo >up.$0; wait";
    let mut spec = script(&format!(
        "(setsid sh -c '{daemon}' 1 &); (setsid sh -c '{daemon}' 2 &)
        until [ -s up.1 ] && [ -s up.2 ]; do sleep 0.02; done
        {next}"
    ));
    spec.cwd = place.root().to_owned();
    spec
}

/// Stops a unit at a word.
fn stop_at(word: &'static str) -> At<'static> {
    At::new(word, |_| Flow::Stop)
}

#[test]
fn v_5_a_background_process_with_the_pipe_open_is_not_waited_for() {
    let ended = run(&script("sleep 1000 & echo started"));
    assert_eq!(ended.ending, Ending::Exited(0));
    assert_eq!(ended.stopped, None);
    assert_eq!(ended.leaked, 1);
    assert_eq!(ended.stdout.text(), "started\n");
}

#[test]
fn v_5_a_server_that_a_gate_starts_is_gone_after_it() {
    let ended = run(&script("sleep 1000 & sleep 0.1 && echo up"));
    assert_eq!(ended.ending, Ending::Exited(0));
    assert_eq!(ended.leaked, 1);
}

#[test]
fn v_5_a_whole_tree_is_ended_at_the_deadline() {
    let mut spec = script("sleep 1000 & sleep 1000");
    spec.limits.wall = Some(Duration::from_secs(1));
    let ended = run(&spec);
    assert_eq!(ended.stopped, Some(Stopped::Wall));
    assert_eq!(ended.ending, Ending::Signalled(15));
    assert_eq!(ended.leaked, 0, "they ended when they were asked to");
}

#[test]
fn z_19_a_daemon_is_gone_with_its_unit() {
    let place = Place::new();
    let ended = run(&with_daemons(&place, "exit 4"));
    assert_eq!(ended.ending, Ending::Exited(4));
    assert_eq!(ended.leaked, 4);
}

#[test]
fn z_19_a_daemon_is_asked_to_end_like_everybody() {
    let place = Place::new();
    let mut spec = with_daemons(&place, "echo ready; sleep 1000");
    spec.limits.grace = Duration::from_secs(40);
    let ended = run_watched(&spec, &mut stop_at("ready"));
    assert_eq!(ended.stopped, Some(Stopped::Watcher));
    assert_eq!(ended.leaked, 0, "nobody had to be killed");
}

#[test]
fn v_5_who_ignores_the_polite_signal_is_killed() {
    let mut spec = script("trap '' TERM; echo ready; while :; do sleep 1000; done");
    spec.limits.grace = Duration::from_millis(300);
    let ended = run_watched(&spec, &mut stop_at("ready"));
    assert_eq!(ended.ending, Ending::Signalled(9));
    assert_nothing_left(&spec.mark);
}

#[test]
fn v_5_a_grandchild_that_ignores_it_and_holds_the_pipe_is_killed() {
    let mut spec = script("(trap '' TERM; echo ready; sleep 1000) & wait");
    spec.limits.grace = Duration::from_millis(300);
    let ended = run_watched(&spec, &mut stop_at("ready"));
    assert_eq!(ended.ending, Ending::Signalled(15), "the shell was polite");
    assert!(ended.leaked >= 1, "{}", ended.leaked);
    assert_nothing_left(&spec.mark);
}

#[test]
fn v_5_who_is_stopped_is_ended_too() {
    let mut spec = script("echo ready; kill -STOP $$; sleep 1000");
    spec.limits.grace = Duration::from_secs(40);
    let ended = run_watched(&spec, &mut stop_at("ready"));
    assert_eq!(ended.ending, Ending::Signalled(15));
}

#[test]
fn a_silent_unit_is_stopped_and_one_that_speaks_is_not() {
    let mut spec = script("for i in 1 2 3 4 5 6; do echo $i >&2; sleep 0.2; done; sleep 1000");
    spec.limits.idle = Some(Duration::from_secs(1));
    let ended = run(&spec);
    assert_eq!(ended.stopped, Some(Stopped::Idle));
    assert_eq!(ended.stderr.text(), "1\n2\n3\n4\n5\n6\n");
}

#[test]
fn a_unit_that_is_cancelled_ends_and_a_later_one_does_not_begin() {
    let cancel = Cancel::new().unwrap();
    let spec = script("echo ready; sleep 1000");
    let mut cancel_at = At::new("ready", |_| {
        cancel.cancel();
        Flow::GoOn
    });
    let ended = units().run(&spec, &cancel, &mut cancel_at).unwrap();
    assert_eq!(ended.stopped, Some(Stopped::Cancelled));
    assert_nothing_left(&spec.mark);
    let later = script("echo never");
    let ended = units().run(&later, &cancel, &mut Silent).unwrap();
    assert_eq!(ended.stopped, Some(Stopped::Cancelled));
    assert_eq!(ended.stdout.n_bytes, 0);
}

#[test]
fn a_unit_that_is_cancelled_while_it_starts_ends_too() {
    for wait in 0..20 {
        let cancel = Cancel::new().unwrap();
        let spec = script("sleep 1000");
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_micros(200 * wait));
                cancel.cancel();
            });
            units().run(&spec, &cancel, &mut Silent).unwrap()
        });
        assert_eq!(ended.stopped, Some(Stopped::Cancelled));
        assert_eq!(ended.ending, Ending::Signalled(15));
        assert_nothing_left(&spec.mark);
    }
}

#[test]
fn after_the_last_word_a_unit_gets_time_to_end_by_itself() {
    let last = |time: Duration| At::new("last", move |_| Flow::Drain(time));
    let ends = script("echo last; sleep 0.3; echo really; exit 5");
    let ended = run_watched(&ends, &mut last(Duration::from_secs(40)));
    assert_eq!(ended.ending, Ending::Exited(5));
    assert_eq!(ended.stopped, None);
    assert_eq!(ended.stdout.text(), "last\nreally\n");
    let hangs = script("echo last; sleep 0.1; echo last; sleep 1000");
    let ended = run_watched(&hangs, &mut last(Duration::from_millis(300)));
    assert_eq!(ended.stopped, Some(Stopped::Drained));
}
