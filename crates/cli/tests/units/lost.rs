//! What happens when somebody of us is killed: the shim, or whoever runs the unit.

use std::io::{BufRead as _, BufReader, Lines};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use beads_ralph_runtime::os::process::{self, Cancel, Ending, Flow, Mark, Silent};
use rustix::process::{Pid, Signal};

use crate::tools::{
    At, LONG, Place, again, assert_nothing_left, mark, part, processes_with, run, run_watched,
    script, units, wait_until,
};

/// A child in the group, one in another session, and one that forgot its mark and has this text in its command line.
fn family(text: &str) -> String {
    format!("sleep 1000 & setsid sleep 1000 & env -i sleep 1000.{text} & sleep 0.2;")
}

/// Digits that no other test has.
fn digits() -> String {
    mark()
        .0
        .replace(|letter: char| !letter.is_ascii_digit(), "0")
}

fn pid(text: &str) -> Pid {
    Pid::from_raw(text.parse().unwrap()).unwrap()
}

fn kill(text: &str, signal: Signal) {
    rustix::process::kill_process(pid(text), signal).unwrap();
}

/// Whether a process is there and has not ended.
fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').map(|(_, fields)| fields.trim_start());
    state.is_some_and(|fields| !fields.starts_with(['Z', 'X']))
}

#[test]
fn z_19_when_the_shim_is_killed_what_it_watched_over_is_found_and_killed() {
    let digits = digits();
    let spec = script(&format!("{} echo shim $PPID; sleep 1000", family(&digits)));
    let ended = run_watched(
        &spec,
        &mut At::new("shim", |shim| {
            kill(shim, Signal::KILL);
            Flow::GoOn
        }),
    );
    assert_eq!(ended.ending, Ending::Unknown);
    assert_eq!(ended.ending.code(), None);
    assert!(
        ended.leaked >= 4,
        "the shell and three or four children: {}",
        ended.leaked
    );
    assert!(
        ended.stdout.text().starts_with("shim "),
        "what it said is kept"
    );
}

#[test]
fn z_19_a_unit_that_kills_its_shim_does_not_get_away() {
    let digits = digits();
    let ended = run(&script(&format!(
        "{} kill -9 $PPID; sleep 1000",
        family(&digits)
    )));
    assert_eq!(processes_with(&digits), Vec::<String>::new());
    assert_eq!(ended.ending, Ending::Unknown);
    assert!(
        ended.leaked >= 4,
        "the shell and three or four children: {}",
        ended.leaked
    );
}

#[test]
fn z_19_a_shim_that_is_asked_to_end_ends_its_unit() {
    let ended = run(&script("sleep 1000 & kill $PPID; sleep 1000"));
    assert_eq!(ended.ending, Ending::Signalled(15));
    assert_eq!(ended.stopped, None);
    assert_eq!(ended.leaked, 0);
}

#[test]
fn z_19_a_unit_that_stops_its_shim_is_ended_all_the_same() {
    let mut spec = script("kill -STOP $PPID; sleep 1000");
    spec.limits.wall = Some(Duration::from_millis(500));
    let ended = run(&spec);
    assert_eq!(ended.ending, Ending::Signalled(15));
    assert_eq!(ended.stopped, Some(process::Stopped::Wall));
}

#[test]
fn z_19_shims_are_used_again_and_dead_ones_are_not() {
    let units = units();
    let cancel = Cancel::new().unwrap();
    let shim = || {
        let spec = script("echo $PPID");
        let ended = units.run(&spec, &cancel, &mut Silent).unwrap();
        assert_eq!(ended.ending, Ending::Exited(0));
        ended.stdout.text().trim().to_owned()
    };
    let first = shim();
    assert_eq!(shim(), first);
    for _ in 0..20 {
        kill(&first, Signal::TERM);
        assert_eq!(shim(), first, "it goes only with whoever started it");
    }
    kill(&first, Signal::KILL);
    wait_until("the shim is dead", || !is_alive(&first));
    let second = shim();
    assert_ne!(second, first);
    drop(units);
    assert!(!is_alive(&second), "it goes with whoever started it");
}

#[test]
fn z_19_a_word_that_comes_too_late_does_not_end_the_next_unit() {
    let units = units();
    let cancel = Cancel::new().unwrap();
    for _ in 0..10 {
        let spec = script("echo shim $PPID");
        let mut first = String::new();
        let mut late = At::new("shim", |shim| {
            first.push_str(shim);
            wait_until("it has ended", || process::find(&spec.mark).is_empty());
            Flow::Stop
        });
        let ended = units.run(&spec, &cancel, &mut late).unwrap();
        drop(late);
        assert_eq!(ended.ending, Ending::Exited(0));
        let next = script("sleep 0.3; echo $PPID; exit 3");
        let ended = units.run(&next, &cancel, &mut Silent).unwrap();
        assert_eq!(ended.ending, Ending::Exited(3));
        assert_eq!(ended.stdout.text().trim(), first, "it is the same shim");
    }
}

#[test]
fn z_19_a_program_that_is_no_shim_is_noticed() {
    let units = process::Units::with_shim("/bin/true");
    let cancel = Cancel::new().unwrap();
    let error = units
        .run(&script("true"), &cancel, &mut Silent)
        .unwrap_err();
    assert!(matches!(error, process::UnitError::Shim(_)), "{error}");
    let place = Place::new();
    let silent = place.program("silent", "#!/bin/sh\nexec sleep 1000\n");
    let mut spec = script("true");
    spec.limits.wall = Some(Duration::ZERO);
    spec.limits.grace = Duration::ZERO;
    let error = process::Units::with_shim(silent).run(&spec, &cancel, &mut Silent);
    assert!(
        matches!(error, Err(process::UnitError::Shim(_))),
        "{error:?}"
    );
    let units = process::Units::with_shim("/no/such/shim");
    let error = units
        .run(&script("true"), &cancel, &mut Silent)
        .unwrap_err();
    assert!(matches!(error, process::UnitError::Shim(_)), "{error}");
}

#[test]
fn z_19_a_watcher_that_breaks_takes_its_unit_with_it() {
    let spec = script("sleep 1000 & echo ready; sleep 1000");
    let result = catch_unwind(AssertUnwindSafe(|| {
        run_watched(&spec, &mut At::new("ready", |_| panic!("broken")))
    }));
    assert!(result.is_err());
    assert_nothing_left(&spec.mark);
}

/// Another process of a test, of which we read what it says.
struct Other {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Other {
    fn start(mut command: Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, lines }
    }

    /// What it says next.
    fn hear(&mut self) -> String {
        let mut lines = self.lines.by_ref().map(Result::unwrap);
        let said = lines.find_map(|line| Some(line.split_once("said: ")?.1.to_owned()));
        said.expect("it says something before it ends")
    }

    fn signal(&self, signal: Signal) {
        kill(&self.process.id().to_string(), signal);
    }

    /// What it ends with.
    fn end(mut self) -> Option<i32> {
        // Nobody may write to a pipe that is closed.
        self.lines.by_ref().for_each(drop);
        self.process.wait().unwrap().code()
    }
}

/// Runs a unit that does not end, and says what it says.
fn run_for_ever(text: &str) {
    let spec = script(text);
    let mut tell = At::new("ready", |rest| {
        println!("said: {rest}");
        Flow::GoOn
    });
    let ended = units().run(&spec, &Cancel::new().unwrap(), &mut tell);
    println!("{ended:?}");
}

#[test]
fn z_19_when_we_are_killed_nothing_is_left() {
    const TEST: &str = "lost::z_19_when_we_are_killed_nothing_is_left";
    if let Some(digits) = part() {
        run_for_ever(&format!("{} echo ready $PPID; sleep 1000", family(&digits)));
        return;
    }
    let (mark, digits) = (mark(), digits());
    let mut command = again(TEST, &digits);
    command.env(Mark::VARIABLE, &mark.0);
    let mut orchestrator = Other::start(command);
    let shim = orchestrator.hear();
    assert!(process::find(&mark).len() >= 5, "it was under way");
    orchestrator.signal(Signal::KILL);
    assert_eq!(orchestrator.end(), None);
    wait_until("all are gone", || {
        process::find(&mark).is_empty() && processes_with(&digits).is_empty() && !is_alive(&shim)
    });
}

#[test]
fn z_19_a_unit_inside_a_lost_unit_is_found_by_the_mark_of_the_outer_one() {
    const TEST: &str = "lost::z_19_a_unit_inside_a_lost_unit_is_found_by_the_mark_of_the_outer_one";
    if part().is_some() {
        run_for_ever("setsid sleep 1000 & sleep 0.2; echo ready $PPID; sleep 1000");
        return;
    }
    let mark = mark();
    let mut command = again(TEST, "inner");
    command.env(Mark::VARIABLE, &mark.0);
    let mut inner = Other::start(command);
    let shim = inner.hear();
    // Both are killed: the inner one and its shim. Then only the mark is left.
    kill(&shim, Signal::STOP);
    inner.signal(Signal::KILL);
    assert_eq!(inner.end(), None);
    kill(&shim, Signal::KILL);
    assert!(process::find(&mark).len() >= 3);
    let swept = process::sweep(&mark);
    assert!(swept.n_killed >= 3, "{swept:?}");
    assert_eq!(swept.survivors, Vec::<u32>::new());
    assert_nothing_left(&mark);
}

#[test]
fn the_first_signal_cancels_and_the_second_ends_us() {
    const TEST: &str = "lost::the_first_signal_cancels_and_the_second_ends_us";
    if let Some(script_text) = part() {
        let cancel = Cancel::on_signals().unwrap();
        let mut spec = script(&script_text);
        spec.limits.grace = LONG;
        let mut tell = At::new("ready", |_| {
            println!("said: ready");
            Flow::GoOn
        });
        let ended = units().run(&spec, &cancel, &mut tell).unwrap();
        assert!(cancel.is_cancelled());
        assert_eq!(ended.stopped, Some(process::Stopped::Cancelled));
        return;
    }
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut polite = Other::start(again(TEST, "echo ready; sleep 1000"));
        polite.hear();
        polite.signal(signal);
        assert_eq!(polite.end(), Some(0));
        let mark = mark();
        let stubborn = "trap 'echo ready' TERM; echo ready; while :; do sleep 0.1; done";
        let mut command = again(TEST, stubborn);
        command.env(Mark::VARIABLE, &mark.0);
        let mut stubborn = Other::start(command);
        // It says so again when it was asked to end, and does not.
        for _ in 0..2 {
            stubborn.hear();
            stubborn.signal(signal);
        }
        assert_eq!(stubborn.end(), Some(130));
        let swept = process::sweep(&mark);
        assert_eq!(swept.survivors, Vec::<u32>::new());
    }
}
