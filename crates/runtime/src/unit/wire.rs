//! What goes over the socket between us and a shim: frames, with files attached to some.
//!
//! A frame is its length in four bytes and what it says. Texts are bytes, because neither arguments nor the
//! environment need be UTF-8.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

use super::Ending;

/// How long a frame may be: far more than any system takes as arguments and environment.
pub(super) const MAX_FRAME: usize = 32 << 20;

/// How many files an order has: standard input, output and error.
const N_FILES: usize = 3;

/// What we tell a shim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Order {
    /// Run a program, with the three files that come along.
    Run(Box<Launch>),
    /// End the program that runs.
    Terminate,
}

/// A program and its surroundings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Launch {
    /// Where the program is: a path.
    pub(super) program: OsString,
    /// What it is called with, its own name first.
    pub(super) argv: Vec<OsString>,
    pub(super) cwd: OsString,
    /// The whole environment.
    pub(super) env: Vec<(OsString, OsString)>,
    /// How long it may take to end after it was asked to.
    pub(super) grace: Duration,
}

/// What a shim tells us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Report {
    /// It is there.
    Ready,
    /// The program was not started.
    Refused { reason: String, is_missing: bool },
    /// The program has ended, and all that it left.
    Ended {
        ending: Ending,
        n_leaked: u32,
        survivors: Vec<u32>,
    },
}

impl Order {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut frame = Encoder::new();
        match self {
            Self::Run(launch) => {
                frame.number(0);
                frame.text(&launch.program);
                frame.text(&launch.cwd);
                frame.number(u32::try_from(launch.grace.as_millis()).unwrap_or(u32::MAX));
                frame.length(launch.argv.len());
                for argument in &launch.argv {
                    frame.text(argument);
                }
                frame.length(launch.env.len());
                for (name, value) in &launch.env {
                    frame.text(name);
                    frame.text(value);
                }
            }
            Self::Terminate => frame.number(1),
        }
        frame.finish()
    }

    pub(super) fn decode(frame: &[u8]) -> Option<Self> {
        let mut frame = Decoder(frame);
        let order = match frame.number()? {
            0 => Self::Run(Box::new(Launch {
                program: frame.text()?,
                cwd: frame.text()?,
                grace: Duration::from_millis(frame.number()?.into()),
                argv: frame.list(Decoder::text)?,
                env: frame.list(|frame| Some((frame.text()?, frame.text()?)))?,
            })),
            1 => Self::Terminate,
            _ => return None,
        };
        frame.0.is_empty().then_some(order)
    }
}

impl Report {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut frame = Encoder::new();
        match self {
            Self::Ready => frame.number(0),
            Self::Refused { reason, is_missing } => {
                frame.number(1);
                frame.text(OsStr::new(reason));
                frame.number((*is_missing).into());
            }
            Self::Ended {
                ending,
                n_leaked,
                survivors,
            } => {
                frame.number(2);
                let (kind, value) = match *ending {
                    Ending::Exited(code) => (0, code),
                    Ending::Signalled(signal) => (1, signal),
                    Ending::Unknown => (2, 0),
                };
                frame.number(kind);
                frame.number(value.cast_unsigned());
                frame.number(*n_leaked);
                frame.length(survivors.len());
                for &survivor in survivors {
                    frame.number(survivor);
                }
            }
        }
        frame.finish()
    }

    pub(super) fn decode(frame: &[u8]) -> Option<Self> {
        let mut frame = Decoder(frame);
        let report = match frame.number()? {
            0 => Self::Ready,
            1 => Self::Refused {
                reason: frame.text()?.to_string_lossy().into_owned(),
                is_missing: frame.number()? != 0,
            },
            2 => {
                let ending = match (frame.number()?, frame.number()?.cast_signed()) {
                    (0, code) => Ending::Exited(code),
                    (1, signal) => Ending::Signalled(signal),
                    (2, _) => Ending::Unknown,
                    _ => return None,
                };
                Self::Ended {
                    ending,
                    n_leaked: frame.number()?,
                    survivors: frame.list(Decoder::number)?,
                }
            }
            _ => return None,
        };
        frame.0.is_empty().then_some(report)
    }
}

/// Writes a frame.
struct Encoder(Vec<u8>);

impl Encoder {
    /// A frame whose length is not known yet.
    fn new() -> Self {
        Self(vec![0; 4])
    }

    fn number(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// What does not fit into a number does not fit into a frame either, and is refused by its length.
    fn length(&mut self, length: usize) {
        self.number(u32::try_from(length).unwrap_or(u32::MAX));
    }

    fn text(&mut self, text: &OsStr) {
        self.length(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn finish(mut self) -> Vec<u8> {
        let length = u32::try_from(self.0.len() - 4).unwrap_or(u32::MAX);
        self.0[..4].copy_from_slice(&length.to_le_bytes());
        self.0
    }
}

/// Reads what is left of a frame.
struct Decoder<'a>(&'a [u8]);

impl Decoder<'_> {
    fn bytes(&mut self, n_bytes: usize) -> Option<&[u8]> {
        let (bytes, rest) = self.0.split_at_checked(n_bytes)?;
        self.0 = rest;
        Some(bytes)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes(4)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<OsString> {
        let n_bytes = usize::try_from(self.number()?).ok()?;
        Some(OsString::from_vec(self.bytes(n_bytes)?.to_vec()))
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let n_items = self.number()?;
        (0..n_items).map(|_| item(self)).collect()
    }
}

/// One end of the socket: what is on its way out, and what has come in.
#[derive(Debug)]
pub(super) struct Channel {
    socket: UnixStream,
    outgoing: Vec<u8>,
    /// Files that go with the first byte of `outgoing`.
    files_out: Vec<OwnedFd>,
    incoming: Vec<u8>,
    files_in: Vec<OwnedFd>,
}

/// What was there to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filled {
    Some,
    Nothing,
    /// The other side is gone.
    End,
}

impl Channel {
    pub(super) fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            outgoing: Vec::new(),
            files_out: Vec::new(),
            incoming: Vec::new(),
            files_in: Vec::new(),
        }
    }

    /// Puts a frame behind what is on its way. Files are sent only with a frame before which nothing waits.
    pub(super) fn post(&mut self, frame: &[u8], files: Vec<OwnedFd>) {
        debug_assert!(files.is_empty() || self.outgoing.is_empty());
        self.outgoing.extend_from_slice(frame);
        self.files_out = files;
    }

    pub(super) fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Sends as much as the other side takes without waiting.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        while self.has_outgoing() {
            match self.send_some() {
                Ok(n_bytes) => {
                    // The other side has them now; held here too, a pipe would never end.
                    self.files_out.clear();
                    self.outgoing.drain(..n_bytes);
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
        let bytes = [IoSlice::new(&self.outgoing)];
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

    /// The next whole frame, with the files that came until now.
    pub(super) fn next(&mut self) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
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
        Ok(Some((frame, std::mem::take(&mut self.files_in))))
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
