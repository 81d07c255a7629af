//! The terminal of this process: whether it is still there, without writing or reading, and the signals that ask to give it back.
//!
//! No signal ends the process here, however often it comes, because only the process itself can put the terminal in order. What starts other
//! programs uses [`Cancel`](crate::os::process::Cancel) instead.

use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getppid, getsid, kill_current_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::flag;

#[derive(Debug)]
pub struct Terminal {
    /// Whether keys come from standard input. A terminal that hung up is none any more for `isatty`, so it is asked early.
    has_input: bool,
}

impl Terminal {
    /// To be called while it is still there.
    pub fn of_process() -> Self {
        Self {
            has_input: io::stdin().is_terminal(),
        }
    }

    /// Whether it was closed: its window, its connection, or the program that draws it.
    pub fn is_gone(&self) -> bool {
        is_hung_up(io::stdout()) || (self.has_input && is_hung_up(io::stdin()))
    }
}

/// Whether nobody reads standard output any more, be it a terminal or a pipe.
pub fn is_output_closed() -> bool {
    is_hung_up(io::stdout())
}

/// Asks for nothing: the end of the other side is always reported.
fn is_hung_up(stream: impl AsFd) -> bool {
    let mut asked = [PollFd::from_borrowed_fd(stream.as_fd(), PollFlags::empty())];
    let at_once = Timespec::default();
    let answered = poll(&mut asked, Some(&at_once)).is_ok_and(|n| n > 0);
    let ends = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    answered && asked[0].revents().intersects(ends)
}

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

#[cfg(test)]
mod tests {
    use std::io::pipe;

    use rustix::fs::{Mode, OFlags};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::is_hung_up;

    #[test]
    fn a_terminal_is_gone_once_its_other_side_is_closed() {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let outside = openpt(flags).unwrap();
        grantpt(&outside).unwrap();
        unlockpt(&outside).unwrap();
        let name = ptsname(&outside, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let inside = rustix::fs::open(&*name, flags, Mode::empty()).unwrap();
        assert!(!is_hung_up(&inside));
        rustix::io::write(&outside, b"typed\n").unwrap();
        assert!(!is_hung_up(&inside), "typed text is not a hang-up");
        drop(outside);
        assert!(is_hung_up(&inside));
    }

    #[test]
    fn a_pipe_is_closed_once_nobody_reads() {
        let (reader, writer) = pipe().unwrap();
        assert!(!is_hung_up(&writer));
        drop(reader);
        assert!(is_hung_up(&writer));
    }
}
