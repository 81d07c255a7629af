//! This machine and its processes: who we are, and whether another one is still there (Z-3, Z-4).
//!
//! A name does not identify a machine, nor a number a process: names are given twice, and every container counts
//! its processes from 1. So a process is known by what only it has, and gone only if that can be proven.

use std::io::ErrorKind;

use twox_hash::XxHash3_64;

use beads_ralph_core::issue::{HolderProcess, Liveness};
use rustix::io::Errno;
use rustix::process::Pid;

pub fn name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

/// A process of this machine, so that it can be told from every other one; nothing when it is gone or when
/// the system does not say.
pub fn process(pid: u32) -> Option<HolderProcess> {
    let here = Here::look();
    match look(pid) {
        Seen::Running { started } => Some(HolderProcess {
            pid,
            started,
            boot: here.boot?,
            machine: here.machine,
            namespace: here.namespace,
        }),
        Seen::Gone | Seen::Hidden => None,
    }
}

/// Whether a process is still there, as far as that can be told from here.
pub fn liveness(process: &HolderProcess) -> Liveness {
    judge(process, &Here::look(), look)
}

#[derive(Debug, Clone)]
struct Here {
    boot: Option<String>,
    machine: Option<String>,
    namespace: Option<String>,
}

impl Here {
    fn look() -> Self {
        Self {
            boot: line_of("/proc/sys/kernel/random/boot_id"),
            // An image that was never started has this word instead of an id.
            machine: line_of("/etc/machine-id")
                .filter(|id| id != "uninitialized")
                .map(|id| disguised(&id)),
            namespace: namespace(),
        }
    }
}

/// The id of a machine is nobody's business; that it is the same one can be told from this too.
fn disguised(machine: &str) -> String {
    format!("{:016x}", XxHash3_64::oneshot(machine.as_bytes()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// One with that number runs, since then.
    Running { started: u64 },
    /// There is none with that number, or it has ended and was not waited for yet.
    Gone,
    /// The system does not say.
    Hidden,
}

fn judge(process: &HolderProcess, here: &Here, look: impl FnOnce(u32) -> Seen) -> Liveness {
    let is_same_machine = match (&process.machine, &here.machine) {
        (Some(there), Some(here)) => Some(there == here),
        _ => None,
    };
    if here.boot.as_ref() != Some(&process.boot) {
        let is_over = here.boot.is_some() && is_same_machine == Some(true);
        return if is_over {
            Liveness::Dead
        } else {
            Liveness::Unknown
        };
    }
    let is_same_namespace = match (&process.namespace, &here.namespace) {
        (Some(there), Some(here)) if there == here => true,
        // A record of an older version says nothing; a process that has both its number and its start is still it.
        (None, Some(_)) => false,
        _ => return Liveness::Unknown,
    };
    // Boot ids are random, so one id is one machine unless the machines say otherwise.
    let is_proof = is_same_namespace && is_same_machine != Some(false);
    match look(process.pid) {
        Seen::Running { started } if started == process.started => Liveness::Alive,
        Seen::Running { .. } | Seen::Gone if is_proof => Liveness::Dead,
        Seen::Running { .. } | Seen::Gone | Seen::Hidden => Liveness::Unknown,
    }
}

/// The namespace that numbers of processes belong to, here and in what `/proc` shows.
fn namespace() -> Option<String> {
    let link = |path: &str| {
        let target = std::fs::read_link(path).ok()?;
        target.to_str().map(str::to_owned)
    };
    // Where `/proc` was mounted for another namespace, its numbers are not ours.
    let is_ours = link("/proc/self")? == std::process::id().to_string();
    is_ours.then(|| link("/proc/self/ns/pid")).flatten()
}

fn line_of(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

fn look(pid: u32) -> Seen {
    match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => read_stat(&stat).unwrap_or(Seen::Hidden),
        Err(error) if is_absence(&error) && is_absent(pid) => Seen::Gone,
        Err(_) => Seen::Hidden,
    }
}

fn is_absence(error: &std::io::Error) -> bool {
    error.kind() == ErrorKind::NotFound || Errno::from_io_error(error) == Some(Errno::SRCH)
}

/// Whether no process has a number. `/proc` may be told to hide those of others as if they were not there.
fn is_absent(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) == Err(Errno::SRCH))
}

/// Reads when a process started, in ticks since the start of the machine.
fn read_stat(stat: &str) -> Option<Seen> {
    // The name of the program is in brackets and may hold anything, so the fields are counted from behind it.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?;
    let n_threads: u64 = fields.nth(16)?.parse().ok()?;
    let started = fields.nth(1)?.parse().ok()?;
    // The first thread of a process may end before the others do.
    if matches!(state, "Z" | "X") && n_threads <= 1 {
        return Some(Seen::Gone);
    }
    Some(Seen::Running { started })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAME: Seen = Seen::Running { started: 7 };
    const OTHER: Seen = Seen::Running { started: 8 };

    fn text(value: &str) -> Option<String> {
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// Judges a process of a boot, a machine and a namespace from here; what is not known is empty.
    fn from_here(there: [&str; 3], here: [&str; 3], seen: Seen) -> Liveness {
        let process = HolderProcess {
            pid: 1,
            started: 7,
            boot: there[0].to_owned(),
            machine: text(there[1]),
            namespace: text(there[2]),
        };
        let here = Here {
            boot: text(here[0]),
            machine: text(here[1]),
            namespace: text(here[2]),
        };
        judge(&process, &here, |_| seen)
    }

    #[test]
    fn z_4_a_process_is_dead_only_by_proof() {
        let here = ["b", "m", "n"];
        for (there, here, seen, expected) in [
            (here, here, SAME, Liveness::Alive),
            (here, here, OTHER, Liveness::Dead),
            (here, here, Seen::Gone, Liveness::Dead),
            (here, here, Seen::Hidden, Liveness::Unknown),
            // The machine was restarted, is another one, or is unknown.
            (["a", "m", "n"], here, SAME, Liveness::Dead),
            (["a", "m", ""], here, Seen::Hidden, Liveness::Dead),
            (["a", "x", "n"], here, Seen::Gone, Liveness::Unknown),
            (["a", "", "n"], here, Seen::Gone, Liveness::Unknown),
            (
                ["a", "m", "n"],
                ["b", "", "n"],
                Seen::Gone,
                Liveness::Unknown,
            ),
            (here, ["", "m", "n"], Seen::Gone, Liveness::Unknown),
            // One boot is one machine.
            (["b", "", "n"], here, Seen::Gone, Liveness::Dead),
            (["b", "", "n"], ["b", "", "n"], OTHER, Liveness::Dead),
            (["b", "x", "n"], here, Seen::Gone, Liveness::Unknown),
            (["b", "x", "n"], here, SAME, Liveness::Alive),
            // In another namespace the number means nothing.
            (["b", "m", "o"], here, Seen::Gone, Liveness::Unknown),
            (["b", "m", "o"], here, OTHER, Liveness::Unknown),
            (["b", "m", "o"], here, SAME, Liveness::Unknown),
            (here, ["b", "m", ""], Seen::Gone, Liveness::Unknown),
            (here, ["b", "m", ""], SAME, Liveness::Unknown),
            // A record of an older version.
            (["b", "", ""], here, SAME, Liveness::Alive),
            (["b", "", ""], here, OTHER, Liveness::Unknown),
            (["b", "", ""], here, Seen::Gone, Liveness::Unknown),
        ] {
            let actual = from_here(there, here, seen);
            assert_eq!(actual, expected, "{there:?} from {here:?}: {seen:?}");
        }
    }

    #[test]
    fn z_4_this_process_is_alive_and_one_that_never_was_is_not() {
        assert!(!name().is_empty());
        let Some(own) = process(std::process::id()) else {
            panic!("this test needs /proc, as Linux has it");
        };
        assert!(own.namespace.is_some());
        assert_eq!(liveness(&own), Liveness::Alive);
        let reused = HolderProcess {
            started: own.started + 1,
            ..own.clone()
        };
        assert_eq!(liveness(&reused), Liveness::Dead, "the number was reused");
        let never = HolderProcess {
            pid: i32::MAX.unsigned_abs(),
            ..own.clone()
        };
        assert_eq!(liveness(&never), Liveness::Dead, "no number is so great");
        let elsewhere = HolderProcess {
            namespace: Some("pid:[1]".to_owned()),
            ..never
        };
        assert_eq!(liveness(&elsewhere), Liveness::Unknown, "another container");
        let twin = HolderProcess {
            boot: "another boot".to_owned(),
            machine: Some("another machine".to_owned()),
            ..own
        };
        assert_eq!(
            liveness(&twin),
            Liveness::Unknown,
            "another of the same name"
        );
    }

    #[test]
    fn z_4_what_cannot_be_read_is_no_proof() {
        let stat = |state: &str, n_threads: u64| {
            let fields = "9 ".repeat(16);
            format!("5 (a) b) {state} {fields}{n_threads} 0 7 0")
        };
        assert_eq!(read_stat(&stat("S", 1)), Some(SAME));
        assert_eq!(read_stat(&stat("Z", 1)), Some(Seen::Gone));
        assert_eq!(read_stat(&stat("Z", 2)), Some(SAME), "others still run");
        for cut in ["", "5 (a", "5 (a) S 1 2"] {
            assert_eq!(read_stat(cut), None, "{cut}");
        }
        let denied = std::io::Error::from(ErrorKind::PermissionDenied);
        assert!(!is_absence(&denied));
        assert!(is_absence(&Errno::SRCH.into()) && is_absence(&Errno::NOENT.into()));
        assert!(!is_absent(std::process::id()) && !is_absent(0) && !is_absent(u32::MAX));
    }
}
