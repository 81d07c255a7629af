//! Finding processes by the mark of their unit, and killing them.
//!
//! This is for units whose shim is gone: a shim knows its processes without asking for their mark. It sees those whose environment
//! this user may read and that did not drop the mark, and needs `/proc` as Linux has it.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use super::Mark;
use crate::os::clock;

/// How long killing goes on while there is still somebody.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long processes get to end by themselves, where they are asked first.
const GRACE: Duration = Duration::from_secs(2);

/// How long a killed process gets to be gone.
const PAUSE: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    pub n_killed: usize,
    pub survivors: Vec<u32>,
}

pub fn find(mark: &Mark) -> Vec<u32> {
    find_where(|pid| has_mark(pid, mark))
}

/// Kills the processes of a unit, and of the units inside it, until there are none.
pub fn sweep(mark: &Mark) -> Swept {
    sweep_where(|pid| has_mark(pid, mark))
}

/// Asks the processes of a unit to end, and kills those that do not. A git that is asked removes its locks.
pub fn end(mark: &Mark) -> Swept {
    let is_wanted = |pid: u32| has_mark(pid, mark);
    let asked = find_where(is_wanted);
    for &pid in &asked {
        // Whoever is gone already needs no word.
        _ = signal_if(pid, Signal::TERM, is_wanted);
    }
    let until = clock::monotonic() + GRACE;
    while asked.iter().any(|&pid| is_wanted(pid)) && clock::monotonic() < until {
        std::thread::sleep(PAUSE);
    }
    let n_ended = asked.iter().filter(|&&pid| !is_wanted(pid)).count();
    let swept = sweep(mark);
    Swept {
        n_killed: n_ended + swept.n_killed,
        ..swept
    }
}

/// Kills what a lost shim leaves: what carries the mark, and what stayed in the shim's session.
pub(super) fn sweep_after_shim(mark: &Mark, shim: u32) -> Swept {
    sweep_where(|pid| pid != shim && (has_mark(pid, mark) || session(pid) == Some(shim)))
}

fn sweep_where(is_wanted: impl Fn(u32) -> bool) -> Swept {
    let until = clock::monotonic() + PATIENCE;
    let mut killed: Vec<u32> = Vec::new();
    loop {
        let found = find_where(&is_wanted);
        let mut is_hopeless = true;
        for &pid in &found {
            let is_killed = signal_if(pid, Signal::KILL, &is_wanted) != Err(Errno::PERM);
            is_hopeless &= !is_killed;
            if is_killed && !killed.contains(&pid) {
                killed.push(pid);
            }
        }
        if is_hopeless || clock::monotonic() >= until {
            return Swept {
                n_killed: killed.iter().filter(|pid| !found.contains(pid)).count(),
                survivors: found,
            };
        }
        std::thread::sleep(PAUSE);
    }
}

fn find_where(is_wanted: impl Fn(u32) -> bool) -> Vec<u32> {
    let own = std::process::id();
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|&pid| pid != own && is_wanted(pid))
        .collect()
}

/// Sends a signal to a process if it is still the one that was found: its number could be another's by now.
#[cfg(target_os = "linux")]
fn signal_if(pid: u32, signal: Signal, is_wanted: impl Fn(u32) -> bool) -> Result<(), Errno> {
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};

    let raw = to_pid(pid)?;
    match pidfd_open(raw, PidfdFlags::empty()) {
        Ok(process) if is_wanted(pid) => pidfd_send_signal(process, signal),
        Ok(_) => Err(Errno::SRCH),
        Err(Errno::NOSYS) => rustix::process::kill_process(raw, signal),
        Err(error) => Err(error),
    }
}

#[cfg(not(target_os = "linux"))]
fn signal_if(pid: u32, signal: Signal, _: impl Fn(u32) -> bool) -> Result<(), Errno> {
    rustix::process::kill_process(to_pid(pid)?, signal)
}

fn to_pid(pid: u32) -> Result<Pid, Errno> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.ok_or(Errno::SRCH)
}

/// Whether a process carries a mark. One that has ended has no environment any more.
fn has_mark(pid: u32, mark: &Mark) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else {
        return false;
    };
    environment
        .split(|&byte| byte == 0)
        .filter_map(|entry| entry.strip_prefix(Mark::VARIABLE.as_bytes()))
        .filter_map(|entry| entry.strip_prefix(b"="))
        .any(|value| mark.is_in(std::ffi::OsStr::from_bytes(value)))
}

fn session(pid: u32) -> Option<u32> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name of the program is in brackets and may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?;
    let session = fields.nth(2)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(session)
}
