//! The terminal: its keyboard, and its whole screen.

use std::io::{self, stdout};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, enable_raw_mode};
use ratatui::prelude::CrosstermBackend;
use ratatui::{DefaultTerminal, Frame, Terminal};

/// The keyboard, read by a separate thread: reading a terminal that was closed never returns, because crossterm reads on and on. So the
/// thread that draws does not read, and can end the process whatever the other one is doing.
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

/// The screen. It is given back whatever happens: at the end, when something fails, and when the program panics. It is there until then.
pub(super) struct Screen(Option<DefaultTerminal>);

impl Screen {
    pub(super) fn take() -> io::Result<Self> {
        // It may fail when half of it is done.
        ratatui::try_init()
            .map(|terminal| Self(Some(terminal)))
            .inspect_err(|_| ratatui::restore())
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal().draw(draw).map(drop)
    }

    /// Gives it back for the time of something else.
    pub(super) fn lend(&mut self, meanwhile: impl FnOnce()) -> io::Result<()> {
        self.terminal().show_cursor()?;
        ratatui::try_restore()?;
        meanwhile();
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen)?;
        // A new one draws everything; clearing the old one would ask the terminal something and wait for its answer.
        self.0 = Some(Terminal::new(CrosstermBackend::new(stdout()))?);
        Ok(())
    }

    fn terminal(&mut self) -> &mut DefaultTerminal {
        self.0.as_mut().expect("it is given back at the end only")
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let terminal = self.0.take();
        drop(ratatui::try_restore());
        if let Some(mut terminal) = terminal
            && terminal.show_cursor().is_err()
        {
            // Nobody sees a cursor on a terminal that is closed. Dropping it would complain about that on the same terminal, and panic.
            std::mem::forget(terminal);
        }
    }
}
