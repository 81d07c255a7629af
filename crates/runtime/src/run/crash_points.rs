//! For tests: a run that kills itself at a chosen place of its journal, as a power cut or a `kill -9` would; and a dispatch that does so after one of its decisions.
//!
//! `BEADS_RALPH_DIE_AT=7` dies when entry 7 is on the disk and nothing was done about it; `7~` when half of its line is; `7+20` twenty
//! milliseconds after what it decides was begun. `7!` does not die: the disk is full from entry 7 on. `0` is the head, of which there is never a half: `0~` dies before it. Nothing is set in real life, and then nothing here does anything.

use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};

use crate::os::env::{self, Variable};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Death {
    pub(super) seq: u64,
    pub(super) moment: Moment,
}

/// How far an entry has come when a run dies at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// Half of its line is written.
    Half,
    /// It is written, and nothing was done about it.
    Written,
    /// What it decides was begun so long ago.
    Begun(Duration),
    /// It cannot be written, and the run lives on.
    Full,
}

impl Death {
    pub(super) fn foretold() -> Option<Self> {
        parse(&env::get(Variable::DieAt)?)
    }
}

fn parse(text: &str) -> Option<Death> {
    let (seq, moment) = if let Some(seq) = text.strip_suffix('~') {
        (seq, Moment::Half)
    } else if let Some(seq) = text.strip_suffix('!') {
        (seq, Moment::Full)
    } else if let Some((seq, milliseconds)) = text.split_once('+') {
        let wait = Duration::from_millis(milliseconds.parse().ok()?);
        (seq, Moment::Begun(wait))
    } else {
        (text, Moment::Written)
    };
    let seq = seq.parse().ok()?;
    Some(Death { seq, moment })
}

/// Dies at the place that the environment names, for whoever counts places without a journal.
pub(crate) fn die_if_foretold(place: usize) {
    let is_now = |death: Death| death.moment == Moment::Written && death.seq == place as u64;
    if Death::foretold().is_some_and(is_now) {
        die();
    }
}

/// Dies as if killed from outside: nothing is cleaned up, nothing is said.
pub(super) fn die() -> ! {
    loop {
        _ = kill_process(getpid(), Signal::KILL);
    }
}

/// Dies after a while, whatever goes on meanwhile.
pub(super) fn die_after(wait: Duration) {
    std::thread::spawn(move || {
        std::thread::sleep(wait);
        die();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_death_is_a_number_and_a_moment() {
        let death = |seq, moment| Some(Death { seq, moment });
        assert_eq!(parse("7"), death(7, Moment::Written));
        assert_eq!(parse("7~"), death(7, Moment::Half));
        assert_eq!(parse("7!"), death(7, Moment::Full));
        let begun = Moment::Begun(Duration::from_millis(20));
        assert_eq!(parse("7+20"), death(7, begun));
        for nonsense in ["", "x", "7+", "+3", "~", "-1"] {
            assert_eq!(parse(nonsense), None, "{nonsense}");
        }
    }
}
