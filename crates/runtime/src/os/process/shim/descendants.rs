//! A program and everything that descends from it.
//!
//! Whoever loses its parent becomes a child of the shim. So killing goes from the top: the shim's children are killed and buried,
//! theirs become the shim's, and so on until there are none. A child that is not buried keeps its number, so
//! no other process can be hit.

use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process, kill_process_group,
};

use super::super::Ending;
use super::super::wire::Report;
use crate::os::clock;

/// How long killing goes on while there is still somebody.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a killed process gets to be gone before we look again.
const PAUSE: Duration = Duration::from_millis(20);

/// Becomes the parent of every descendant that loses its own.
#[cfg(target_os = "linux")]
pub(super) fn adopt() -> std::io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(
        rustix::process::getpid(),
    ))?)
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "Linux can fail")]
pub(super) fn adopt() -> std::io::Result<()> {
    Ok(())
}

#[derive(Debug)]
pub(super) struct Tree {
    /// The program; also its group.
    main: Pid,
    /// How it ended. Until it is buried, the group's number is certainly ours.
    buried: Option<WaitStatus>,
    asked: Vec<Pid>,
    n_leaked: u32,
}

impl Tree {
    pub(super) fn new(main: Pid) -> Self {
        Self {
            main,
            buried: None,
            asked: Vec::new(),
            n_leaked: 0,
        }
    }

    /// Whether there is nothing to wait for: the program has ended and, if all were asked to end, the others too.
    pub(super) fn is_over(&mut self, is_asked: bool) -> bool {
        if !self.has_main_ended() {
            self.bury_adopted();
        }
        self.has_main_ended() && !(is_asked && self.has_others())
    }

    fn has_main_ended(&self) -> bool {
        if self.buried.is_some() {
            return true;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let seen = rustix::process::waitid(WaitId::Pid(self.main), options);
        seen.is_ok_and(|seen| seen.is_some())
    }

    /// Buries whoever was adopted and has ended, so that a long night leaves no heap of zombies.
    fn bury_adopted(&mut self) {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            // It may have ended since we looked.
            if pid == self.main {
                self.buried = Some(status);
            }
        }
    }

    /// Whether somebody is there beside the program. Who was adopted only now is asked to end too.
    fn has_others(&mut self) -> bool {
        loop {
            let (mut has_others, mut has_buried) = (false, false);
            for pid in self.others() {
                match rustix::process::waitpid(Some(pid), WaitOptions::NOHANG) {
                    Ok(None) => {
                        has_others = true;
                        self.ask(pid);
                    }
                    Ok(Some(_)) => has_buried = true,
                    Err(_) => {}
                }
            }
            // Whoever was buried may have left us somebody while we looked.
            if has_others || !has_buried {
                return has_others;
            }
        }
    }

    fn others(&self) -> Vec<Pid> {
        let mut others = children();
        others.retain(|&pid| pid != self.main);
        if others.is_empty() {
            // The list may lack some while others come and go.
            others = children_by_scan(rustix::process::getpid());
            others.retain(|&pid| pid != self.main);
        }
        others
    }

    pub(super) fn ask_to_end(&mut self) {
        if self.buried.is_none() {
            // Whoever is stopped hears nothing before it goes on.
            for signal in [Signal::TERM, Signal::CONT] {
                let _ = kill_process_group(self.main, signal);
            }
        }
        self.has_others();
    }

    fn ask(&mut self, pid: Pid) {
        let is_in_group = rustix::process::getpgid(Some(pid)) == Ok(self.main);
        if !is_in_group && !self.asked.contains(&pid) {
            for signal in [Signal::TERM, Signal::CONT] {
                let _ = kill_process(pid, signal);
            }
            self.asked.push(pid);
        }
    }

    /// Kills and buries everybody. `wait` returns when a child has ended, or after the time that it is given.
    pub(super) fn finish(mut self, wait: impl Fn(Duration)) -> Report {
        if self.buried.is_none() {
            // At once, so that nobody in the group can fork away.
            let _ = kill_process_group(self.main, Signal::KILL);
        }
        let until = clock::monotonic() + PATIENCE;
        let mut survivors = Vec::new();
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => self.bury(pid, status),
                Err(Errno::INTR) => {}
                Err(_) => break,
                Ok(None) => {
                    let left = children();
                    let is_hopeless = (left.iter())
                        .all(|&pid| kill_process(pid, Signal::KILL) == Err(Errno::PERM));
                    if (is_hopeless && !left.is_empty()) || clock::monotonic() >= until {
                        survivors = children_by_scan(rustix::process::getpid());
                        break;
                    }
                    wait(PAUSE);
                }
            }
        }
        self.kill_group_unseen();
        Report::Ended {
            ending: self.buried.map_or(Ending::Unknown, ending),
            n_leaked: self.n_leaked,
            survivors: survivors
                .into_iter()
                .map(|pid| pid.as_raw_nonzero().get().cast_unsigned())
                .collect(),
        }
    }

    fn bury(&mut self, pid: Pid, status: WaitStatus) {
        if pid == self.main {
            self.buried = Some(status);
        } else if status.terminating_signal() == Some(Signal::KILL.as_raw()) {
            self.n_leaked += 1;
        }
    }

    /// Where nobody is adopted, whoever is left in the group was not seen above, and cannot be counted.
    #[cfg(not(target_os = "linux"))]
    fn kill_group_unseen(&mut self) {
        if kill_process_group(self.main, Signal::KILL).is_ok() {
            self.n_leaked = 1;
        }
    }

    #[cfg(target_os = "linux")]
    #[expect(clippy::unused_self, reason = "the other systems need it")]
    fn kill_group_unseen(&self) {}
}

fn ending(status: WaitStatus) -> Ending {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Ending::Exited(code),
        (_, Some(signal)) => Ending::Signalled(signal),
        (None, None) => Ending::Unknown,
    }
}

fn children() -> Vec<Pid> {
    let own = rustix::process::getpid();
    let path = format!("/proc/self/task/{own}/children");
    match std::fs::read_to_string(path) {
        Ok(list) => list.split_whitespace().filter_map(to_pid).collect(),
        // Not every kernel has it.
        Err(_) => children_by_scan(own),
    }
}

/// The children of a process, by looking at all there are.
fn children_by_scan(parent: Pid) -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| to_pid(entry.file_name().to_str()?))
        .filter(|&pid| parent_of(pid) == Some(parent))
        .collect()
}

fn parent_of(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name of the program is in brackets and may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    to_pid(fields.split_whitespace().nth(1)?)
}

fn to_pid(text: &str) -> Option<Pid> {
    Pid::from_raw(text.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn z_19_a_kernel_without_lists_of_children_is_searched_for_them() {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the module that starts programs"
        )]
        let mut command = Command::new("sleep");
        let mut child = command.arg("1000").stdin(Stdio::null()).spawn().unwrap();
        let pid = to_pid(&child.id().to_string()).unwrap();
        let is_found = children_by_scan(rustix::process::getpid()).contains(&pid);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_found);
        assert!(!children_by_scan(rustix::process::getpid()).contains(&pid));
    }
}
