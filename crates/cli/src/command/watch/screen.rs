//! The whole terminal, taken and given back.
//!
//! It is given back whatever happens: at the end, when something fails, and when the program panics.

use std::io::{self, stdout};

use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, enable_raw_mode};
use ratatui::prelude::CrosstermBackend;
use ratatui::{DefaultTerminal, Frame, Terminal};

/// A terminal that is ours.
pub(super) struct Screen(DefaultTerminal);

impl Screen {
    pub(super) fn take() -> io::Result<Self> {
        // It may fail when half of it is done.
        ratatui::try_init()
            .map(Self)
            .inspect_err(|_| ratatui::restore())
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.0.draw(draw).map(drop)
    }

    /// Gives it back for the time of something else.
    pub(super) fn lend(&mut self, meanwhile: impl FnOnce()) -> io::Result<()> {
        self.0.show_cursor()?;
        ratatui::try_restore()?;
        meanwhile();
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen)?;
        // A new one draws everything; clearing the old one would ask the terminal something and wait for its answer.
        self.0 = Terminal::new(CrosstermBackend::new(stdout()))?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        drop(self.0.show_cursor());
        drop(ratatui::try_restore());
    }
}
