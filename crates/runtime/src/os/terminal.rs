//! Whether anybody can still see what is written: a closed window and a closed pipe are noticed without writing or reading.

use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

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
        assert!(!is_hung_up(&inside), "what was typed is no end");
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
