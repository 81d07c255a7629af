//! One stream of a unit, on its way from the pipe to where it is kept.

use std::io::{self, PipeReader, Read as _};

use super::capture::Capture;
use super::poll::is_readable;
use super::{Captured, Stream};

/// How much a pipe may hold when the system does not say.
const PIPE: u64 = 1 << 20;

/// One stream of a unit, on its way from the pipe to where it is kept.
#[derive(Debug)]
pub(super) struct Tap {
    stream: Stream,
    reader: Option<PipeReader>,
    capture: Capture,
}

impl Tap {
    pub(super) fn new(stream: Stream, reader: PipeReader, capture: Capture) -> Self {
        Self {
            stream,
            reader: Some(reader),
            capture,
        }
    }

    pub(super) fn stream(&self) -> Stream {
        self.stream
    }

    pub(super) fn reader(&self) -> Option<&PipeReader> {
        self.reader.as_ref()
    }

    pub(super) fn n_bytes(&self) -> u64 {
        self.capture.n_bytes()
    }

    /// How much there can be in the pipe.
    pub(super) fn n_waiting(&self) -> u64 {
        self.reader.as_ref().map_or(0, pipe_size)
    }

    /// Whether there is something to take, the end included.
    pub(super) fn is_ready(&self) -> bool {
        self.reader.as_ref().is_some_and(is_readable)
    }

    /// Takes one piece, which must be there.
    pub(super) fn take<'a>(&mut self, buffer: &'a mut [u8]) -> &'a [u8] {
        let Some(reader) = &mut self.reader else {
            return &[];
        };
        match reader.read(buffer) {
            Ok(0) => self.reader = None,
            Ok(n_bytes) => {
                self.capture.take(&buffer[..n_bytes]);
                return &buffer[..n_bytes];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                self.capture
                    .fail(format!("cannot read it to its end: {error}"));
                self.reader = None;
            }
        }
        &[]
    }

    pub(super) fn finish(self) -> Captured {
        self.capture.finish()
    }
}

#[cfg(target_os = "linux")]
fn pipe_size(reader: &PipeReader) -> u64 {
    rustix::pipe::fcntl_getpipe_size(reader).map_or(PIPE, |size| size as u64)
}

#[cfg(not(target_os = "linux"))]
fn pipe_size(_: &PipeReader) -> u64 {
    PIPE
}
