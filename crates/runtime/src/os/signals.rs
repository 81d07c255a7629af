//! What somebody who has the whole terminal is told by signals: to give it back, for good or for a while.
//!
//! No signal ends the process here, however often it comes, because only the process itself can put the terminal in order. What starts other
//! programs uses [`Cancel`](crate::os::process::Cancel) instead.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Signal, getppid, getsid, kill_current_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::flag;

#[derive(Debug, Default)]
pub struct Signals {
    ends: Arc<AtomicBool>,
    pauses: Arc<AtomicBool>,
}

impl Signals {
    /// Takes them from now on. To be called once in a process: the signals stay taken.
    pub fn take() -> io::Result<Self> {
        let signals = Self::default();
        for signal in [SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            flag::register(signal, Arc::clone(&signals.ends))?;
        }
        flag::register(SIGTSTP, Arc::clone(&signals.pauses))?;
        Ok(signals)
    }

    pub fn is_end(&self) -> bool {
        self.ends.load(Ordering::SeqCst)
    }

    /// Whether somebody wants this process to stop for a while; said once.
    pub fn is_pause(&self) -> bool {
        self.pauses.swap(false, Ordering::SeqCst)
    }
}

/// Lets the shell have the terminal, until it lets this process go on. Where no shell waits, nobody would ever do that, and nothing happens.
pub fn suspend() {
    let parent = getppid().and_then(|parent| getsid(Some(parent)).ok());
    if parent.is_some() && parent == getsid(None).ok() {
        // Whoever waits for the job waits for all of it, so all of it stops.
        _ = kill_current_process_group(Signal::STOP);
    }
}
