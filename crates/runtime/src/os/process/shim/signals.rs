//! The signals of a shim, as files that can be waited for.

use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

use crate::os::process::poll::poll;

/// The signals of a shim. They are caught and not ignored, so that a program has them as they were.
#[derive(Debug)]
pub(super) struct Signals {
    child: UnixStream,
    /// Somebody wants us to end. We would be missed: it is what we watch over that ends.
    stop: UnixStream,
}

impl Signals {
    pub(super) fn catch() -> io::Result<Self> {
        let child = caught(&[SIGCHLD])?;
        let stop = caught(&[SIGTERM, SIGINT, SIGHUP])?;
        Ok(Self { child, stop })
    }

    pub(super) fn child(&self) -> &UnixStream {
        &self.child
    }

    pub(super) fn stop(&self) -> &UnixStream {
        &self.stop
    }

    pub(super) fn forget_child(&self) {
        forget(&self.child);
    }

    pub(super) fn forget_stop(&self) {
        forget(&self.stop);
    }

    /// Waits until a child has ended, but not for long.
    pub(super) fn wait_for_child(&self, patience: Duration) {
        let mut fds = [PollFd::new(&self.child, PollFlags::IN)];
        // Whoever waits looks again in any case.
        drop(poll(&mut fds, Some(patience)));
        self.forget_child();
    }
}

fn caught(signals: &[i32]) -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    for &signal in signals {
        pipe::register(signal, writer.try_clone()?)?;
    }
    Ok(reader)
}

fn forget(mut stream: &UnixStream) {
    let mut buffer = [0; 64];
    while stream
        .read(&mut buffer)
        .is_ok_and(|n_bytes| n_bytes == buffer.len())
    {}
}
