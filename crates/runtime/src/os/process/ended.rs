//! How a unit ended, and what it left.

use std::io;
use std::time::Duration;

use camino::Utf8PathBuf;
use thiserror::Error;

use beads_ralph_core::text::excerpt;

use crate::os::limits;

#[derive(Debug)]
pub struct Ended {
    pub ending: Ending,
    /// Why we ended it, if we did.
    pub stopped: Option<Stopped>,
    /// How many processes were still there after the program's end, and had to be killed.
    pub leaked: usize,
    /// Processes that could not be killed.
    pub survivors: Vec<u32>,
    pub stdout: Captured,
    pub stderr: Captured,
    /// From its start until nothing of it was left.
    pub duration: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Exited(i32),
    Signalled(i32),
    /// Nobody can say: the shim was lost, and everything with the unit's mark was killed; or the program could not be.
    Unknown,
}

impl Ending {
    /// The code as a shell would give it: 128 and the signal for one that was killed (V-6).
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(code),
            Self::Signalled(signal) => Some(128 + signal),
            Self::Unknown => None,
        }
    }
}

/// Why a unit was ended by us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    Wall,
    Idle,
    Cancelled,
    /// Whoever watches it had seen enough ([`Flow::Stop`](super::Flow::Stop)).
    Watcher,
    /// It had said its last word and did not end ([`Flow::Drain`](super::Flow::Drain)).
    Drained,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    pub head: Vec<u8>,
    /// The end, if it is not in `head`.
    pub tail: Vec<u8>,
    pub n_bytes: u64,
    /// The SHA-256 of all of it, in hexadecimal.
    pub sha256: String,
    /// Where all of it is, or as much as a file may hold: then the rest is left out, with a line that says so, and
    /// the end follows.
    pub file: Option<Utf8PathBuf>,
    /// Why something is missing that should be there: the disk was full, say, or the stream could not be read.
    pub fault: Option<String>,
}

impl Captured {
    /// Head and tail as text, with a line between them that says how much was left out.
    pub fn text(&self) -> String {
        let kept = (self.head.len() + self.tail.len()) as u64;
        let head = String::from_utf8_lossy(&self.head);
        let tail = String::from_utf8_lossy(&self.tail);
        match self.n_bytes.saturating_sub(kept) {
            0 => {
                let whole: Vec<u8> = self.head.iter().chain(&self.tail).copied().collect();
                String::from_utf8_lossy(&whole).into_owned()
            }
            left_out => format!("{head}\n[… {left_out} bytes left out …]\n{tail}"),
        }
    }
}

/// Why a unit could not be run.
#[derive(Debug, Error)]
pub enum UnitError {
    #[error("cannot start '{}': {reason}", excerpt(program))]
    Program {
        program: String,
        reason: String,
        /// Whether there is no such program.
        is_missing: bool,
        /// Whether it may well be started a little later: the system was short of something.
        is_temporary: bool,
    },
    /// The shim cannot be started, or does not answer.
    #[error("cannot start a process of our own: {}", limits::explain(.0))]
    Shim(io::Error),
}
