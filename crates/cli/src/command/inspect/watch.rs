//! `watch`: a run on the whole terminal, live or over: beads, the log of one of them, what holds everything up; with keys to retry, pause and stop.
//!
//! It reads the journal along and writes nothing but what keys ask for, so that leaving it changes nothing, and any number may look at once.
//! Closing the terminal is one more way to leave.

mod console;
mod logs;
mod orders;
mod source;

use std::io;
use std::time::Duration;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_runtime::os::clock;
use beads_ralph_runtime::os::terminal::{self, Signals, Terminal};
use clap::Args;
use ratatui::crossterm::event::{Event, KeyEventKind};

use self::console::{Keys, Screen};
use self::logs::Logs;
use self::orders::Order;
use self::source::Source;
use crate::args::Global;
use crate::failure::Failure;
use crate::ui::board::{self, Board, Look, Wish};
use crate::ui::draw::Charset;
use crate::ui::{Stream, Ui};

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// The run: its id, the beginning of it, `latest`, or its directory
    #[arg(default_value = "latest")]
    pub(crate) run: String,
}

/// How often it is looked and drawn when no key is pressed.
const FRAME: Duration = Duration::from_millis(250);

pub(crate) fn run(args: &WatchArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    if !ui.is_screen() {
        let message = "watch needs an interactive terminal";
        return Err(Failure::new(ErrorCode::ValidationConstraint, message)
            .action("use `beads-ralph status` or `beads-ralph run --events` in scripts")
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
    let terminal = Terminal::of_process();
    let signals = Signals::take()?;
    match watch.stay(&mut source, &signals, &terminal) {
        // Whoever closed the window wanted to leave, and drawing may notice it first.
        Err(_) if terminal.is_gone() => Ok(()),
        left => left,
    }
}

#[derive(PartialEq, Eq)]
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
    /// Has the terminal until somebody wants to leave.
    fn stay(
        &mut self,
        source: &mut Source,
        signals: &Signals,
        terminal: &Terminal,
    ) -> Result<(), Failure> {
        let mut screen = Screen::take().map_err(lost)?;
        let keys = Keys::listen().map_err(lost)?;
        let is_over = || signals.is_end() || terminal.is_gone();
        while self.show(&mut screen, source, &keys, signals, &is_over)? == Leaving::ForAWhile {
            screen.lend(terminal::suspend).map_err(lost)?;
        }
        Ok(())
    }

    fn show(
        &mut self,
        screen: &mut Screen,
        source: &mut Source,
        keys: &Keys,
        signals: &Signals,
        is_over: &impl Fn() -> bool,
    ) -> Result<Leaving, Failure> {
        while !is_over() {
            if signals.is_pause() {
                return Ok(Leaving::ForAWhile);
            }
            source.refresh(&mut self.board);
            if let Some((bead, back)) = self.board.wanted_log() {
                let log = self.logs.of(source.run(), bead, back);
                self.board.show_log(log);
            }
            self.draw(screen)?;
            // Everything that was typed is heeded before it is drawn again.
            let mut wait = FRAME;
            while let Some(event) = keys.next(wait).map_err(lost)? {
                wait = Duration::ZERO;
                match self.heed(&event) {
                    Wish::Quit => return Ok(Leaving::ForGood),
                    Wish::Suspend => return Ok(Leaving::ForAWhile),
                    Wish::Nothing => {}
                    wish => {
                        self.board.say("…");
                        self.draw(screen)?;
                        let order = Order {
                            run: source.run(),
                            is_going_on: self.board.is_going_on(),
                            global: self.global,
                        };
                        self.board.say(order.carry_out(&wish));
                    }
                }
            }
        }
        Ok(Leaving::ForGood)
    }

    fn draw(&mut self, screen: &mut Screen) -> Result<(), Failure> {
        let mut log_end = 0;
        let drawn = screen.draw(|frame| {
            log_end = board::draw(frame, &self.board, self.look, clock::now());
        });
        self.board.was_drawn(log_end);
        drawn.map_err(lost)
    }

    fn heed(&mut self, event: &Event) -> Wish {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.board.press(*key),
            // A terminal that changed its size is drawn anew in any case.
            _ => Wish::Nothing,
        }
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what errors are mapped with"
)]
fn lost(error: io::Error) -> Failure {
    Failure::new(
        ErrorCode::ValidationConstraint,
        format!("the terminal cannot be used: {error}"),
    )
    .action("`beads-ralph status` shows the same as text")
}
