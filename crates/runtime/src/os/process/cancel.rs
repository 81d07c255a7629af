//! Cancelling units, and counting the user's interrupts.

use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::channel::{is_readable, poll};

/// What a shell says of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// A word that ends every unit that listens to it, once and for good. Clones are the same word.
#[derive(Debug, Clone)]
pub struct Cancel(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    is_cancelled: AtomicBool,
    /// Readable as soon as it is cancelled, and never read, so that all who wait see it.
    reader: PipeReader,
    writer: PipeWriter,
}

impl Cancel {
    /// A word that nobody has spoken yet.
    pub fn new() -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        Ok(Self(Arc::new(Shared {
            is_cancelled: AtomicBool::new(false),
            reader,
            writer,
        })))
    }

    /// A word that is spoken by Ctrl-C, by a polite `kill` and by a terminal that is closed. A second such signal ends this process
    /// at once with 130; the shims then end what still runs. To be called once in a process: the signals stay taken.
    pub fn on_signals() -> io::Result<Self> {
        let cancel = Self::new()?;
        let is_second = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // What is registered first is done first: the first signal finds that it is not the second.
            signal_hook::flag::register_conditional_shutdown(
                signal,
                INTERRUPTED,
                Arc::clone(&is_second),
            )?;
            signal_hook::flag::register(signal, Arc::clone(&is_second))?;
            signal_hook::low_level::pipe::register(signal, cancel.0.writer.try_clone()?)?;
        }
        Ok(cancel)
    }

    /// Ends every unit that listens, and every one that will.
    pub fn cancel(&self) {
        if !self.0.is_cancelled.swap(true, Ordering::SeqCst) {
            // One byte fits into an empty pipe; in one that is full it was said already.
            drop((&self.0.writer).write(&[1]));
        }
    }

    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub fn is_cancelled(&self) -> bool {
        self.wait(Duration::ZERO)
    }

    /// Waits for the word, not longer than some time; whether it was spoken.
    pub fn wait(&self, time: Duration) -> bool {
        if self.0.is_cancelled.load(Ordering::SeqCst) {
            return true;
        }
        if !time.is_zero() {
            let mut fds = [PollFd::from_borrowed_fd(self.as_fd(), PollFlags::IN)];
            drop(poll(&mut fds, Some(time)));
        }
        let is_said = is_readable(self);
        if is_said {
            self.0.is_cancelled.store(true, Ordering::SeqCst);
        }
        is_said
    }
}

impl AsFd for Cancel {
    /// What becomes readable when the word is spoken.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.reader.as_fd()
    }
}

/// How many signals are listened to; the next one ends the process at once.
const PATIENCE: usize = 2;

/// How often somebody asked this process to end: by Ctrl-C, by a polite `kill`, or by closing the terminal.
#[derive(Debug, Clone)]
pub struct Interrupts(Arc<AtomicUsize>);

impl Interrupts {
    /// Begins to count. The third signal ends the process at once; the shims then end what still runs. To be called once in a
    /// process: the signals stay taken.
    pub fn listen() -> io::Result<Self> {
        let count = Arc::new(AtomicUsize::new(0));
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
        let counter = Arc::clone(&count);
        thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for _ in signals.forever() {
                    if counter.fetch_add(1, Ordering::SeqCst) >= PATIENCE {
                        std::process::exit(INTERRUPTED);
                    }
                }
            })?;
        Ok(Self(count))
    }

    pub fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_heard_by_every_clone_and_stays_spoken() {
        let cancel = Cancel::new().unwrap();
        let other = cancel.clone();
        assert!(!cancel.is_cancelled() && !other.is_cancelled());
        std::thread::spawn(move || {
            other.cancel();
            other.cancel();
        })
        .join()
        .unwrap();
        for _ in 0..2 {
            let mut fds = [PollFd::new(&cancel, PollFlags::IN)];
            assert_eq!(rustix::event::poll(&mut fds, None), Ok(1));
            assert!(cancel.is_cancelled());
        }
    }
}
