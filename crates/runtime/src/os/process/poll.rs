//! Waiting for files.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

/// Waits until one of some files is ready or a time has passed. A signal may end the waiting: then none is.
pub(super) fn poll(fds: &mut [PollFd<'_>], timeout: Option<Duration>) -> io::Result<()> {
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    match rustix::event::poll(fds, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Whether a file can be read now, its end included.
pub(super) fn is_readable(file: impl AsFd) -> bool {
    let mut fds = [PollFd::new(&file, PollFlags::IN)];
    loop {
        match rustix::event::poll(&mut fds, Some(&Timespec::default())) {
            Ok(n_ready) => return n_ready > 0,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}
