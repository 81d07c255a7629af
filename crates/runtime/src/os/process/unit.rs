//! A unit: what to run, its limits, who watches it, and how it ended.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use beads_ralph_core::text::excerpt;
use camino::Utf8PathBuf;
use thiserror::Error;

use super::super::{clock, limits};

#[derive(Debug, Clone)]
pub struct Spec {
    pub mark: Mark,
    /// The program and its arguments. A program without a `/` is looked for in the `PATH`.
    pub argv: Vec<String>,
    pub cwd: Utf8PathBuf,
    /// What its environment has that ours has not, and the other way round.
    pub env: Environment,
    pub stdin: Stdin,
    pub limits: Limits,
    /// The directory for `stdout` and `stderr` as they came; it exists. A file is made when there is something to keep.
    pub output: Option<Utf8PathBuf>,
}

/// By what the processes of a unit are known: the value of `BEADS_RALPH_UNIT` in their environment. No two units have the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark(pub String);

impl Mark {
    /// The variable that carries a mark. For a unit inside a unit it carries that of the outer one too, in front.
    pub const VARIABLE: &str = "BEADS_RALPH_UNIT";

    /// What stands between the marks of a unit inside a unit.
    const SEPARATOR: u8 = b' ';

    /// A mark that no other unit of this machine has.
    pub fn unique() -> Self {
        static N_MARKS: AtomicU64 = AtomicU64::new(0);
        let number = N_MARKS.fetch_add(1, Ordering::Relaxed);
        let now = clock::wall().as_nanosecond();
        Self(format!("{}-{now}-{number}", std::process::id()))
    }

    /// A new mark that is also found by this one.
    #[must_use]
    pub fn below(&self) -> Self {
        let own = Self::unique();
        Self(format!("{} {}", self.0, own.0))
    }

    /// The same, found by another one, too.
    pub(super) fn under(&self, above: Option<&Self>) -> Self {
        match above {
            Some(above) if !above.is_in(OsStr::new(&self.0)) => {
                Self(format!("{} {}", above.0, self.0))
            }
            _ => self.clone(),
        }
    }

    /// The variable's value for a unit, by the value that we have ourselves.
    pub(super) fn inside(&self, outer: Option<&OsString>) -> OsString {
        let mut value = outer.cloned().unwrap_or_default().into_vec();
        if !value.is_empty() {
            value.push(Self::SEPARATOR);
        }
        value.extend_from_slice(self.0.as_bytes());
        OsString::from_vec(value)
    }

    pub(super) fn is_in(&self, value: &OsStr) -> bool {
        let (value, mark) = (value.as_bytes(), self.0.as_bytes());
        let is_edge = |byte: Option<&u8>| byte.is_none_or(|&byte| byte == Self::SEPARATOR);
        !mark.is_empty()
            && (value.windows(mark.len()).enumerate()).any(|(start, window)| {
                let before = start.checked_sub(1).and_then(|index| value.get(index));
                window == mark && is_edge(before) && is_edge(value.get(start + mark.len()))
            })
    }
}

/// The environment of a unit: the inherited one, less some names, plus some values (Z-23). [`Environment::TRAPS`] are always
/// kept from it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// Names that are kept from it; one that ends in `*` stands for all that begin so.
    pub without: Vec<String>,
    /// What is added last.
    pub with: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: the end at once.
    Closed,
    /// A file, then the end. A program that never reads it blocks nobody.
    File(Utf8PathBuf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub wall: Option<Duration>,
    pub idle: Option<Duration>,
    /// How long it may take to end after it was asked to; then it is killed.
    pub grace: Duration,
}

impl Limits {
    /// What V-5 gives a unit to end by itself.
    pub const GRACE: Duration = Duration::from_secs(5);
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall: None,
            idle: None,
            grace: Self::GRACE,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// What is to become of a unit after a piece of its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    GoOn,
    /// It has said its last word: it has this long to end by itself. The first such word counts.
    Drain(Duration),
    Stop,
}

pub trait Watch {
    /// A piece of output, as it came: it may end in the middle of a line or of a character.
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> Flow;

    /// Time passes: about five times a second, whether or not there is output.
    fn tick(&mut self, _elapsed: Duration) {}
}

#[derive(Debug, Default)]
pub struct Silent;

impl Watch for Silent {
    fn output(&mut self, _: Stream, _: &[u8]) -> Flow {
        Flow::GoOn
    }
}

#[derive(Debug)]
pub struct Ended {
    pub ending: Ending,
    pub stopped: Option<Stopped>,
    /// How many processes were still there after the program's end, and had to be killed.
    pub leaked: usize,
    pub survivors: Vec<u32>,
    pub stdout: Captured,
    pub stderr: Captured,
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

#[derive(Debug, Error)]
pub enum UnitError {
    #[error("cannot start '{}': {reason}", excerpt(program))]
    Program {
        program: String,
        reason: String,
        is_missing: bool,
        /// Whether it may well be started a little later: the system was short of something.
        is_temporary: bool,
    },
    #[error("cannot start the supervisor process: {}", limits::explain(.0))]
    Shim(io::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_under_another_is_found_by_both() {
        let [one, above] = ["one", "above"].map(|mark| Mark(mark.to_owned()));
        let both = one.under(Some(&above));
        assert_eq!(both.0, "above one");
        assert_eq!(both.under(Some(&above)), both, "once is enough");
        assert_eq!(one.under(None), one);
        assert!(one.is_in(OsStr::new(&both.0)) && above.is_in(OsStr::new(&both.0)));
    }

    #[test]
    fn z_19_a_mark_is_found_whole_or_not_at_all() {
        let is_in = |mark: &str, value: &str| Mark(mark.to_owned()).is_in(OsStr::new(value));
        assert!(is_in("a", "a") && is_in("a", "a b") && is_in("b", "a b") && is_in("b", "a b c"));
        assert!(
            is_in("a b", "a b") && is_in("a b", "x a b y"),
            "a mark may be several words"
        );
        assert!(!is_in("a", "ab") && !is_in("a", "ba") && !is_in("a", "") && !is_in("a", "b"));
        assert!(!is_in("", "a") && !is_in("", ""));
    }
}
