//! Processes that are timed from their start to their end, and whose memory is looked at.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use camino::Utf8Path;

use crate::figures::timed;

/// How long a tick of the kernel's clock is.
pub(crate) const TICK: Duration = Duration::from_millis(10);

fn command(directory: &Utf8Path, words: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "a benchmark starts programs")]
    let mut command = Command::new(env!("CARGO_BIN_EXE_beads-ralph"));
    command
        .args(words.split_whitespace())
        .current_dir(directory)
        .env("BEADS_ACTOR", "bench")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// The time from the start of a process to its end.
pub(crate) fn run(directory: &Utf8Path, words: &str) -> Duration {
    let mut command = command(directory, words);
    let (status, time) = timed(|| command.stdout(Stdio::null()).status());
    let code = status.expect("the program starts").code();
    // `bd lint` ends with 1 when it finds something.
    assert!(matches!(code, Some(0 | 1)), "{words}: {code:?}");
    time
}

/// The processor time of all processes that have ended.
pub(crate) fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<u32> = (after_name.split_whitespace())
        .map(|field| field.parse().unwrap_or_default())
        .collect();
    // utime and stime of children that were waited for.
    TICK * (fields.get(13).copied().unwrap_or_default()
        + fields.get(14).copied().unwrap_or_default())
}

/// The most memory that a process took while it printed, in MiB.
pub(crate) fn peak_memory(directory: &Utf8Path, words: &str) -> f64 {
    let mut child = command(directory, words)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let status = format!("/proc/{}/status", child.id());
    let mut out = child.stdout.take().expect("its output is a pipe");
    let mut buffer = vec![0; 1 << 16];
    let mut peak: f64 = 0.0;
    while out.read(&mut buffer).expect("a pipe can be read") > 0 {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes =
            line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
        peak = kibibytes.map_or(peak, |kibibytes: f64| peak.max(kibibytes / 1024.0));
    }
    let code = child.wait().expect("it ends").code();
    assert_eq!(code, Some(0), "{words}");
    peak
}
