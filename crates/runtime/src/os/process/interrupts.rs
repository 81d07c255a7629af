//! How often somebody asked this process to end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// What a shell says of a program that was interrupted.
const INTERRUPTED: i32 = 130;

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
