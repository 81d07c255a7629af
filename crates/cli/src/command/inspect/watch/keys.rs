//! The keyboard, read by a thread of its own.
//!
//! Reading a terminal that was closed never returns: crossterm reads on and on. So the thread that draws does not read, and can end the
//! process whatever the other one is doing.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event};

pub(super) struct Keys(Receiver<io::Result<Event>>);

impl Keys {
    /// Reads from now on, until the process ends.
    pub(super) fn listen() -> io::Result<Self> {
        let (send, receive) = mpsc::channel();
        thread::Builder::new()
            .name("keys".to_owned())
            .spawn(move || {
                loop {
                    let read = event::read();
                    let is_over = read.is_err();
                    if send.send(read).is_err() || is_over {
                        return;
                    }
                }
            })?;
        Ok(Self(receive))
    }

    /// What comes next, if it comes in time.
    pub(super) fn next(&self, wait: Duration) -> io::Result<Option<Event>> {
        match self.0.recv_timeout(wait) {
            Ok(read) => read.map(Some),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}
