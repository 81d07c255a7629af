//! The socket between us and a shim: frames both ways, with the files of a program attached to some.

use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

use super::wire::MAX_FRAME;

/// How many files go with an order: standard input, output and error.
pub(super) const N_FILES: usize = 3;

/// One end of the socket: what is on its way out, and what has come in.
#[derive(Debug)]
pub(super) struct Channel {
    socket: UnixStream,
    outgoing: Vec<u8>,
    /// How much of `outgoing` has gone.
    n_gone: usize,
    /// Files that go with the first byte of `outgoing`.
    files_out: Vec<OwnedFd>,
    incoming: Vec<u8>,
    files_in: Vec<OwnedFd>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filled {
    Some,
    Nothing,
    End,
}

impl Channel {
    pub(super) fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            outgoing: Vec::new(),
            n_gone: 0,
            files_out: Vec::new(),
            incoming: Vec::new(),
            files_in: Vec::new(),
        }
    }

    /// Puts a frame behind what is on its way. Files are sent only with a frame before which nothing waits.
    pub(super) fn post(&mut self, frame: &[u8], files: Vec<OwnedFd>) {
        debug_assert!(files.is_empty() || !self.has_outgoing());
        if !self.has_outgoing() {
            self.outgoing.clear();
            self.n_gone = 0;
        }
        self.outgoing.extend_from_slice(frame);
        self.files_out.extend(files);
    }

    pub(super) fn has_outgoing(&self) -> bool {
        self.n_gone < self.outgoing.len()
    }

    /// Sends as much as the other side takes without waiting.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while self.has_outgoing() {
            match self.send_some() {
                Ok(n_bytes) => {
                    // The other side has them now; held here too, a pipe would never end.
                    self.files_out.clear();
                    self.n_gone += n_bytes;
                }
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn send_some(&self) -> Result<usize, Errno> {
        let files: Vec<BorrowedFd<'_>> = self.files_out.iter().map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(N_FILES))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        if !files.is_empty() {
            let is_pushed = ancillary.push(SendAncillaryMessage::ScmRights(&files));
            debug_assert!(is_pushed, "there is room for three files");
        }
        let bytes = [IoSlice::new(&self.outgoing[self.n_gone..])];
        rustix::net::sendmsg(&self.socket, &bytes, &mut ancillary, SendFlags::DONTWAIT)
    }

    /// Takes what has come in, without waiting.
    pub(super) fn fill(&mut self) -> io::Result<Filled> {
        let mut buffer = [0; 8 << 10];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(N_FILES))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = rustix::net::recvmsg(
            &self.socket,
            &mut [IoSliceMut::new(&mut buffer)],
            &mut ancillary,
            receive_flags(),
        );
        let n_bytes = match received {
            Ok(received) => received.bytes,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(Filled::Nothing),
            // The other side was killed with our words unread.
            Err(Errno::CONNRESET) => return Ok(Filled::End),
            Err(error) => return Err(error.into()),
        };
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                self.files_in.extend(files);
            }
        }
        close_on_exec(&self.files_in)?;
        self.incoming.extend_from_slice(&buffer[..n_bytes]);
        Ok(if n_bytes == 0 {
            Filled::End
        } else {
            Filled::Some
        })
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some((length, rest)) = self.incoming.split_first_chunk() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length) as usize;
        if length > MAX_FRAME {
            return Err(ErrorKind::InvalidData.into());
        }
        let Some(frame) = rest.get(..length) else {
            return Ok(None);
        };
        let frame = frame.to_vec();
        self.incoming.drain(..4 + length);
        Ok(Some(frame))
    }

    /// The files that have come. Frames may come in one piece with the one before, so only what they say tells
    /// whose files they are.
    pub(super) fn take_files(&mut self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.files_in)
    }

    /// Tells the other side that there is no more to come.
    pub(super) fn close(&self) {
        // It fails if the other side is gone already.
        drop(self.socket.shutdown(std::net::Shutdown::Both));
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// No file that comes in may be inherited by a program by accident.
#[cfg(not(target_vendor = "apple"))]
fn receive_flags() -> RecvFlags {
    RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC
}

#[cfg(target_vendor = "apple")]
fn receive_flags() -> RecvFlags {
    RecvFlags::DONTWAIT
}

#[cfg(not(target_vendor = "apple"))]
#[expect(clippy::unnecessary_wraps, reason = "the other systems can fail")]
fn close_on_exec(_: &[OwnedFd]) -> io::Result<()> {
    Ok(())
}

#[cfg(target_vendor = "apple")]
fn close_on_exec(files: &[OwnedFd]) -> io::Result<()> {
    for file in files {
        rustix::io::fcntl_setfd(file, rustix::io::FdFlags::CLOEXEC)?;
    }
    Ok(())
}

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

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;
    use crate::os::process::wire::{Launch, Order};

    fn pair() -> (Channel, Channel) {
        let (one, other) = UnixStream::pair().unwrap();
        (Channel::new(one), Channel::new(other))
    }

    #[test]
    fn z_19_files_come_through_whatever_comes_with_them() {
        let (mut one, mut other) = pair();
        let (mut reader, writer) = io::pipe().unwrap();
        let frame = Order::Terminate.encode();
        one.post(&frame, Vec::new());
        one.flush().unwrap();
        one.post(&frame, vec![writer.into()]);
        one.flush().unwrap();
        while other.fill().unwrap() == Filled::Some {}
        for _ in 0..2 {
            assert_eq!(other.next().unwrap().unwrap(), frame[4..]);
        }
        assert!(other.next().unwrap().is_none());
        let mut files = other.take_files();
        assert_eq!(files.len(), 1);
        io::PipeWriter::from(files.remove(0))
            .write_all(b"here")
            .unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "here", "nobody else holds the pipe open");
    }

    #[test]
    fn z_19_a_long_frame_comes_in_pieces_and_nobody_waits() {
        let (mut one, mut other) = pair();
        let order = Order::Run(Box::new(Launch {
            argv: vec!["x".repeat(4 << 20).into()],
            ..Launch::default()
        }));
        let frame = order.encode();
        one.post(&frame, Vec::new());
        one.flush().unwrap();
        assert!(one.has_outgoing(), "it is more than the socket takes");
        let said = loop {
            if let Some(said) = other.next().unwrap() {
                break said;
            }
            one.flush().unwrap();
            other.fill().unwrap();
        };
        assert_eq!(said, frame[4..]);
    }

    #[test]
    fn z_19_the_end_is_seen_and_a_senseless_length_refused() {
        let (mut one, mut other) = pair();
        assert_eq!(other.fill().unwrap(), Filled::Nothing);
        one.post(&u32::MAX.to_le_bytes(), Vec::new());
        one.flush().unwrap();
        assert_eq!(other.fill().unwrap(), Filled::Some);
        assert!(other.next().is_err());
        one.close();
        assert_eq!(other.fill().unwrap(), Filled::End);
    }
}
