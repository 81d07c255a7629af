//! Watching a unit while it runs.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// What is to become of a unit after a piece of its output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    GoOn,
    /// It has said its last word: it has this long to end by itself. The first such word counts.
    Drain(Duration),
    Stop,
}

pub trait Watch {
    /// A piece of output, as it came: it may end in the middle of a line or of a character.
    fn output(&mut self, stream: Stream, bytes: &[u8]) -> Flow;

    /// Time passes: about five times a second, whether or not there is output.
    fn tick(&mut self, _elapsed: Duration) {}
}

#[derive(Debug, Default)]
pub struct Silent;

impl Watch for Silent {
    fn output(&mut self, _: Stream, _: &[u8]) -> Flow {
        Flow::GoOn
    }
}
