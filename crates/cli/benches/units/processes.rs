//! Short programs, many at once.

use std::hint::black_box;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use beads_ralph_runtime::os::process::{
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
        "a program as a unit and bare, milliseconds and ratios (medians of {} rounds)\n",
        sizes.n_rounds
    );
    println!(
        "{:>13} {:>8} {:>9} {:>9} {:>7} {:>7} {:>10} {:>7} {:>7}",
        "program", "at once", "unit", "bare", "each", "all", "new shim", "each", "all"
    );
    for (name, argv) in [("waits 10 ms", waits), ("works 10 ms", works)] {
        for &at_once in sizes.at_once {
            let ratios = compare(name, argv, at_once, sizes);
            let what = format!("{name}, {at_once} at once");
            // When all wait for the processors, the time of one is a matter of who comes first.
            if argv == waits {
                verdicts.add(format!("{what}, each"), ratios.each);
            }
            verdicts.add(format!("{what}, all"), ratios.all);
        }
    }
    shim_alone(sizes);
}

fn compare(name: &str, argv: &[&str], at_once: usize, sizes: &Sizes) -> Ratios {
    let units = units();
    let n_runs = sizes.n_runs * at_once;
    let (mut ours, mut bare, mut anew) = (Side::default(), Side::default(), Side::default());
    for _ in 0..sizes.n_rounds {
        ours.add(in_parallel(at_once, n_runs, |n| run_unit(&units, argv, n)));
        bare.add(in_parallel(at_once, n_runs, |_| run_bare(argv, true)));
        anew.add(in_parallel(at_once, n_runs, |n| {
            run_unit(&self::units(), argv, n);
        }));
    }
    let (with_old, with_new) = (ours.against(&mut bare), anew.against(&mut bare));
    println!(
        "{name:>13} {at_once:>8} {:>9.2} {:>9.2} {:>7.2} {:>7.2} {:>10.2} {:>7.2} {:>7.2}",
        millis(median(&mut ours.each)),
        millis(median(&mut bare.each)),
        with_old.each,
        with_old.all,
        millis(median(&mut anew.each)),
        with_new.each,
        with_new.all,
    );
    with_old
}

/// What one side took.
#[derive(Default)]
struct Side {
    /// Every run.
    each: Vec<Duration>,
    /// Every round, from the start of its first run to the end of its last.
    all: Vec<Duration>,
}

/// How much longer one side took than the other, by medians.
struct Ratios {
    each: f64,
    all: f64,
}

impl Side {
    fn add(&mut self, (each, all): (Vec<Duration>, Duration)) {
        self.each.extend(each);
        self.all.push(all);
    }

    fn against(&mut self, other: &mut Self) -> Ratios {
        Ratios {
            each: median(&mut self.each).div_duration_f64(median(&mut other.each)),
            all: median(&mut self.all).div_duration_f64(median(&mut other.all)),
        }
    }
}

/// What it takes to start a process of our own that does nothing, and to see its end.
fn shim_alone(sizes: &Sizes) {
    let argv: &[&str] = &[env!("CARGO_BIN_EXE_beads-ralph"), "__unit"];
    println!("\nthe shim alone, from its start to its end, milliseconds\n");
    println!("{:>8} {:>9}", "at once", "shim");
    for &at_once in sizes.at_once {
        let n_runs = sizes.n_rounds * sizes.n_runs * at_once;
        let (mut times, _) = in_parallel(at_once, n_runs, |_| run_bare(argv, false));
        println!("{at_once:>8} {:>9.2}", millis(median(&mut times)));
    }
}

fn units() -> Units {
    Units::with_shim(env!("CARGO_BIN_EXE_beads-ralph"))
}

/// Runs a job so many times, so many at once; how long each took, and all together.
fn in_parallel(
    at_once: usize,
    n_runs: usize,
    job: impl Fn(usize) + Sync,
) -> (Vec<Duration>, Duration) {
    let next = AtomicUsize::new(0);
    let times: Mutex<Vec<Duration>> = Mutex::default();
    let work = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        for number in numbers.take_while(|&number| number < n_runs) {
            let ((), time) = timed(|| job(number));
            times.lock().expect("nobody panics").push(time);
        }
    };
    let ((), all) = timed(|| {
        std::thread::scope(|scope| {
            for _ in 0..at_once {
                scope.spawn(work);
            }
        });
    });
    (times.into_inner().expect("nobody panics"), all)
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

/// How much work fits into a time when nobody disturbs it.
fn loops_in(time: Duration) -> u64 {
    const PROBE: u64 = 1_000_000;
    let fastest = (0..100).map(|_| timed(|| work(PROBE)).1).min();
    let n_loops = time.as_nanos() * u128::from(PROBE) / fastest.unwrap_or(time).as_nanos().max(1);
    u64::try_from(n_loops).unwrap_or(PROBE)
}
