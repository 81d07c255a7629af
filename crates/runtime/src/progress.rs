//! What is going on while things run, for whoever wants to show it.

use std::time::Duration;

use beads_ralph_core::agent::Outcome;
use beads_ralph_core::check::CheckRecord;
use beads_ralph_core::text::{visible, without_colour};

#[derive(Debug)]
pub enum News<'a> {
    AgentBegins {
        agent: &'a str,
        /// The iteration, from 1.
        iteration: u32,
        of: u32,
    },
    AgentEnded {
        outcome: &'a Outcome,
        duration: Duration,
    },
    CheckBegins {
        name: &'a str,
        limit: Duration,
    },
    Checked(&'a CheckRecord),
    /// Whatever runs, runs; told a few times a second.
    Running {
        elapsed: Duration,
        line: Option<&'a str>,
    },
    Waiting {
        left: Duration,
        why: &'a str,
    },
    Warning(&'a str),
}

pub trait Listener {
    fn hear(&mut self, news: &News<'_>);
}

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
