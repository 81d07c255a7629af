//! What is going on while things run, for whoever wants to show it.

use std::time::Duration;

use beads_ralph_core::agent::Outcome;
use beads_ralph_core::check::CheckRecord;
use beads_ralph_core::text::{visible, without_colour};

/// Something that happened.
#[derive(Debug)]
pub enum News<'a> {
    /// An agent is called.
    AgentBegins {
        /// The adapter's name.
        agent: &'a str,
        /// The iteration, from 1.
        iteration: u32,
        /// How many there may be.
        of: u32,
    },
    /// It has ended.
    AgentEnded {
        /// How.
        outcome: &'a Outcome,
        /// After this time.
        duration: Duration,
    },
    /// A check is run.
    CheckBegins {
        /// Its name.
        name: &'a str,
        /// How long it may take.
        limit: Duration,
    },
    /// A check was run, or skipped.
    Checked(&'a CheckRecord),
    /// Whatever runs, runs; told a few times a second.
    Running {
        /// For this long.
        elapsed: Duration,
        /// The last line that it wrote.
        line: Option<&'a str>,
    },
    /// Nothing is done for a while.
    Waiting {
        /// How long still.
        left: Duration,
        /// Why.
        why: &'a str,
    },
    /// Something that people should know.
    Warning(&'a str),
}

/// Somebody who wants to know.
pub trait Listener {
    /// Something happened.
    fn hear(&mut self, news: &News<'_>);
}

/// Nobody wants to know.
#[derive(Debug, Default)]
pub struct Nobody;

impl Listener for Nobody {
    fn hear(&mut self, _: &News<'_>) {}
}

/// The last line of some output, fit to be shown: short, and without anything that steers a terminal.
#[derive(Debug, Default)]
pub struct LastLine {
    begun: Vec<u8>,
    shown: Option<String>,
}

impl LastLine {
    /// How much of a line is worth showing.
    const MAX: usize = 200;

    /// Takes a piece of output.
    pub fn push(&mut self, bytes: &[u8]) {
        // Only the end can matter, however much there is.
        let bytes = &bytes[bytes.len().saturating_sub(16 * Self::MAX)..];
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let room = Self::MAX.saturating_sub(self.begun.len());
            self.begun.extend(piece.iter().take(room));
            if piece.ends_with(b"\n") || piece.ends_with(b"\r") {
                let line = String::from_utf8_lossy(&self.begun);
                let line = visible(&without_colour(line.trim()));
                if !line.is_empty() {
                    self.shown = Some(line);
                }
                self.begun.clear();
            }
        }
    }

    /// The line, if there was one.
    pub fn get(&self) -> Option<&str> {
        self.shown.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_short_and_harmless() {
        let mut last = LastLine::default();
        assert_eq!(last.get(), None);
        last.push(b"one\ntwo");
        assert_eq!(last.get(), Some("one"));
        last.push(b"\n\n  \x1b[31mred\x1b[0m\x07 \n");
        assert_eq!(last.get(), Some("red\\u{7}"));
        last.push(b"10%\r20%\r");
        assert_eq!(last.get(), Some("20%"));
        last.push("é".repeat(100_000).as_bytes());
        last.push(b"\n");
        assert!(
            last.get()
                .is_some_and(|line| line.chars().count() <= LastLine::MAX)
        );
    }
}
