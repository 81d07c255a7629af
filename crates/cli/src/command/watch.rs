//! `watch`: a run on the whole terminal, live or over: beads, the log of one of them, what holds everything up; with keys to retry, pause and stop.
//!
//! It reads the journal along and writes nothing but what keys ask for, so that leaving it changes nothing, and any number may look at once.

mod logs;
mod orders;
mod source;

use std::io;
use std::time::Duration;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_runtime::unit::Cancel;
use beads_ralph_runtime::{clock, host};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use self::logs::Logs;
use self::source::Source;
use crate::args::{Global, WatchArgs};
use crate::board::{self, Board, Look, Wish};
use crate::draw::Charset;
use crate::failure::Failure;
use crate::ui::{Stream, Ui};

/// How often it is looked and drawn when no key is pressed.
const FRAME: Duration = Duration::from_millis(250);

pub(crate) fn run(args: &WatchArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    if ui.is_json() || !ui.is_screen() {
        let message = "watch needs a terminal that can be drawn on";
        return Err(Failure::new(ErrorCode::ValidationConstraint, message)
            .action("beads-ralph status and beads-ralph run --events are for programs")
            .exit_with(2));
    }
    let mut source = Source::open(&args.run)?;
    let style = ui.style(Stream::Out);
    let mut watch = Watch {
        board: Board::new(source.told()),
        logs: Logs::default(),
        global,
        look: Look {
            charset: if style.unicode {
                Charset::Unicode
            } else {
                Charset::Ascii
            },
            has_color: style.color,
        },
    };
    let cancel = Cancel::on_signals()?;
    loop {
        let mut terminal = ratatui::try_init().map_err(lost)?;
        let ended = watch.show(&mut terminal, &mut source, &cancel);
        drop(terminal);
        // The terminal is given back before anything is said, and whatever happened.
        ratatui::try_restore().map_err(lost)?;
        match ended? {
            Leaving::ForGood => return Ok(()),
            Leaving::ForAWhile => host::suspend(),
        }
    }
}

/// Why the screen is left.
enum Leaving {
    ForGood,
    ForAWhile,
}

struct Watch<'a> {
    board: Board,
    logs: Logs,
    global: &'a Global,
    look: Look,
}

impl Watch<'_> {
    fn show(
        &mut self,
        terminal: &mut DefaultTerminal,
        source: &mut Source,
        cancel: &Cancel,
    ) -> Result<Leaving, Failure> {
        while !cancel.is_cancelled() {
            source.refresh(&mut self.board);
            if let Some((bead, back)) = self.board.wanted_log() {
                let log = self.logs.of(source.run(), bead, back);
                self.board.show_log(log);
            }
            self.draw(terminal)?;
            // Everything that was typed is heeded before it is drawn again.
            let mut wait = FRAME;
            while event::poll(wait).map_err(lost)? {
                wait = Duration::ZERO;
                match self.heed(&event::read().map_err(lost)?) {
                    Wish::Quit => return Ok(Leaving::ForGood),
                    Wish::Suspend => return Ok(Leaving::ForAWhile),
                    Wish::Nothing => {}
                    wish => {
                        self.board.say("…");
                        self.draw(terminal)?;
                        let said = orders::carry_out(&wish, self.global);
                        self.board.say(said);
                    }
                }
            }
        }
        Ok(Leaving::ForGood)
    }

    fn draw(&self, terminal: &mut DefaultTerminal) -> Result<(), Failure> {
        let drawn = terminal.draw(|frame| board::draw(frame, &self.board, self.look, clock::now()));
        drawn.map(drop).map_err(lost)
    }

    fn heed(&mut self, event: &Event) -> Wish {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.board.press(*key),
            // A terminal that changed its size is drawn anew in any case.
            _ => Wish::Nothing,
        }
    }
}

/// The terminal is gone, or is none.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what errors are mapped with"
)]
fn lost(error: io::Error) -> Failure {
    Failure::new(
        ErrorCode::ValidationConstraint,
        format!("the terminal cannot be used: {error}"),
    )
    .action("beads-ralph status shows the same without it")
}
