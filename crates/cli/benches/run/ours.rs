//! Our side: `beads-ralph run`, as a user would call it.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::timed;
use crate::world::{Load, World};

/// How often it is looked how much memory the program has had.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What a run took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    pub(crate) time: Duration,
    /// The most memory that the program had, in MiB; its children are not in it.
    pub(crate) peak: f64,
}

/// Runs all beads.
pub(crate) fn run(world: &World, load: &Load, path: &str) -> Took {
    let at_once = load.at_once.to_string();
    let mut command = command(world, path);
    command.args(["run", "--max-parallel", &at_once]);
    command.args(["--integration", load.integration.as_str()]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let errors = world.logs.join("run-stderr");
    let file = beads_ralph_runtime::os::files::stream_into(&errors).expect("a new file");
    command.stderr(file);
    let ((is_done, peak), time) = timed(|| watched(&mut command));
    let said = || std::fs::read_to_string(&errors).unwrap_or_default();
    assert!(is_done, "{}", said());
    Took { time, peak }
}

/// Whether it did what it was to do, and its peak memory.
fn watched(command: &mut Command) -> (bool, f64) {
    let mut child = command.spawn().expect("it starts");
    let status = format!("/proc/{}/status", child.id());
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let peak = scope.spawn(|| {
            let mut peak = f64::NAN;
            while !is_over.load(Ordering::Relaxed) {
                // It only grows, and is gone as soon as the program is.
                peak = peak_in(&status).unwrap_or(peak);
                std::thread::park_timeout(LOOK_EVERY);
            }
            peak
        });
        let ended = child.wait().expect("it ends");
        is_over.store(true, Ordering::Relaxed);
        peak.thread().unpark();
        (ended.success(), peak.join().expect("it only looks"))
    })
}

fn peak_in(status: &str) -> Option<f64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kibibytes / 1024.0)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark starts the program that it measures"
)]
fn command(world: &World, path: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_beads-ralph"));
    command.current_dir(&world.root).env("PATH", path);
    command
}
