//! Short programs, many at once.

use std::hint::black_box;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use beads_ralph_runtime::unit::{
    Cancel, Ending, Environment, Limits, Mark, Silent, Spec, Stdin, Units,
};

use crate::{Sizes, Verdicts, median, millis, timed};

/// The argument with which the benchmark is a program that does nothing but work.
pub(crate) const BURN: &str = "--burn";

const TEN_MILLISECONDS: Duration = Duration::from_millis(10);

pub(crate) fn measure(sizes: &Sizes, verdicts: &mut Verdicts) {
    let own = std::env::current_exe().expect("the benchmark has a path");
    let own = own.to_str().expect("a plain path");
    let n_loops = loops_in(TEN_MILLISECONDS).to_string();
    let waits: &[&str] = &["sleep", "0.01"];
    let works: &[&str] = &[own, BURN, &n_loops];
    println!(
        "a program as a unit and bare, milliseconds for each (medians of {} rounds)\n",
        sizes.n_rounds
    );
    println!(
        "{:>13} {:>8} {:>9} {:>9} {:>7} {:>11} {:>7}",
        "program", "at once", "unit", "bare", "ratio", "new shim", "ratio"
    );
    for (name, argv) in [("waits 10 ms", waits), ("works 10 ms", works)] {
        for &at_once in sizes.at_once {
            let ratio = compare(name, argv, at_once, sizes);
            verdicts.add(format!("{name}, {at_once} at once"), ratio);
        }
    }
    shim_alone(sizes);
}

fn compare(name: &str, argv: &[&str], at_once: usize, sizes: &Sizes) -> f64 {
    let units = units();
    let n_runs = sizes.n_runs * at_once;
    let (mut ours, mut bare, mut anew) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..sizes.n_rounds {
        ours.extend(in_parallel(at_once, n_runs, |n| run_unit(&units, argv, n)));
        bare.extend(in_parallel(at_once, n_runs, |_| run_bare(argv, true)));
        anew.extend(in_parallel(at_once, n_runs, |n| {
            run_unit(&self::units(), argv, n);
        }));
    }
    let [ours, bare, anew] = [ours, bare, anew].map(|mut times| median(&mut times));
    let ratio = ours.div_duration_f64(bare);
    println!(
        "{name:>13} {at_once:>8} {:>9.2} {:>9.2} {ratio:>7.2} {:>11.2} {:>7.2}",
        millis(ours),
        millis(bare),
        millis(anew),
        anew.div_duration_f64(bare)
    );
    ratio
}

/// What it takes to start a process of our own that does nothing, and to see its end.
fn shim_alone(sizes: &Sizes) {
    let argv: &[&str] = &[env!("CARGO_BIN_EXE_beads-ralph"), "__unit"];
    println!("\nthe shim alone, from its start to its end, milliseconds\n");
    println!("{:>8} {:>9}", "at once", "shim");
    for &at_once in sizes.at_once {
        let n_runs = sizes.n_rounds * sizes.n_runs * at_once;
        let mut times = in_parallel(at_once, n_runs, |_| run_bare(argv, false));
        println!("{at_once:>8} {:>9.2}", millis(median(&mut times)));
    }
}

fn units() -> Units {
    Units::with_shim(env!("CARGO_BIN_EXE_beads-ralph"))
}

/// Runs a job so many times, so many at once; how long each took.
fn in_parallel(at_once: usize, n_runs: usize, job: impl Fn(usize) + Sync) -> Vec<Duration> {
    let next = AtomicUsize::new(0);
    let times: Mutex<Vec<Duration>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= n_runs {
                        return;
                    }
                    let ((), time) = timed(|| job(number));
                    times.lock().expect("nobody panics").push(time);
                }
            });
        }
    });
    times.into_inner().expect("nobody panics")
}

fn run_unit(units: &Units, argv: &[&str], number: usize) {
    let spec = Spec {
        mark: Mark(format!("bench-{number}")),
        argv: argv.iter().map(|&argument| argument.to_owned()).collect(),
        cwd: "/".into(),
        env: Environment::default(),
        stdin: Stdin::Closed,
        limits: Limits {
            wall: Some(Duration::from_mins(1)),
            ..Limits::default()
        },
        output: None,
    };
    let cancel = Cancel::new().expect("a pipe");
    let ended = units.run(&spec, &cancel, &mut Silent).expect("it runs");
    assert_eq!(ended.ending, Ending::Exited(0));
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is what units are compared with"
)]
fn run_bare(argv: &[&str], must_succeed: bool) {
    let mut command = Command::new(argv[0]);
    let status = command
        .args(&argv[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("it starts");
    assert!(status.success() || !must_succeed);
}

/// Works as long as it was told to, in a session of its own: a unit has one, and Linux shares processors among sessions.
pub(crate) fn burn(n_loops: &str) -> ExitCode {
    let _ = rustix::process::setsid();
    match n_loops.parse() {
        Ok(n_loops) => {
            work(n_loops);
            ExitCode::SUCCESS
        }
        Err(_) => ExitCode::FAILURE,
    }
}

fn work(n_loops: u64) {
    let mut value = 1_u64;
    for number in 0..n_loops {
        value = black_box(value.wrapping_mul(31).wrapping_add(number));
    }
}

/// How much work fits into a time, on this machine as it is now.
fn loops_in(time: Duration) -> u64 {
    const PROBE: u64 = 1_000_000;
    let mut times: Vec<Duration> = (0..9).map(|_| timed(|| work(PROBE)).1).collect();
    let ratio = time.as_nanos() * u128::from(PROBE) / median(&mut times).as_nanos().max(1);
    u64::try_from(ratio).unwrap_or(PROBE)
}
