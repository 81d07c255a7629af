//! This machine and its processes: who we are, and whether another one is still there (Z-3, Z-4).

use beads_ralph_core::issue::HolderProcess;

/// The machine's name.
pub fn name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

/// A process of this machine, so that it can be told from every other one; nothing when it is gone or when
/// the system does not say.
pub fn process(pid: u32) -> Option<HolderProcess> {
    Some(HolderProcess {
        pid,
        started: started(pid)?,
        boot: boot_id()?,
    })
}

/// Whether a process of this machine is still there. One whose number was given to another is not, nor is
/// one from before a restart. What the system does not say counts as alive: nothing is taken from it.
pub fn is_alive(process: &HolderProcess) -> bool {
    match boot_id() {
        None => true,
        Some(boot) if boot != process.boot => false,
        Some(_) => started(process.pid) == Some(process.started),
    }
}

fn boot_id() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

/// When a process started, in ticks since the start of the machine. A process that has ended and was not
/// waited for yet counts as gone.
fn started(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in brackets and may hold anything, so the fields are counted from behind it.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_4_this_process_is_alive_and_one_that_never_was_is_not() {
        assert!(!name().is_empty());
        let Some(own) = process(std::process::id()) else {
            panic!("this test needs /proc, as Linux has it");
        };
        assert!(is_alive(&own));
        let reused = HolderProcess {
            started: own.started + 1,
            ..own.clone()
        };
        assert!(!is_alive(&reused), "the number belongs to another process");
        let before = HolderProcess {
            boot: "another boot".to_owned(),
            ..own
        };
        assert!(!is_alive(&before), "the machine was restarted");
    }
}
