//! Where the story comes from: the journal of a run, read along.

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::history::{Chronicle, Telling};
use beads_ralph_core::issue::Liveness;
use beads_ralph_runtime::run::{Following, RunDirectory};
use beads_ralph_runtime::store;
use camino::Utf8PathBuf;

use crate::args::here;
use crate::failure::Failure;
use crate::journal;
use crate::ui::board::Board;

pub(super) struct Source {
    telling: Telling,
    following: Following,
    /// Where newer runs would be, if the newest one is wanted.
    newest_in: Option<Utf8PathBuf>,
    fault: Option<String>,
}

impl Source {
    pub(super) fn open(run: &str) -> Result<Self, Failure> {
        let directory = journal::find(run)?;
        let newest_in = match run {
            "latest" => Some(store::find(&here()?)?.directory),
            _ => None,
        };
        Self::of(directory, newest_in)?.ok_or_else(|| {
            Failure::new(
                ErrorCode::DependencyUnresolved,
                "the run has not written its journal yet",
            )
            .action("try again in a moment")
        })
    }

    fn of(run: RunDirectory, newest_in: Option<Utf8PathBuf>) -> Result<Option<Self>, Failure> {
        let Some((head, following)) = Following::begin(run).map_err(journal::unreadable)? else {
            return Ok(None);
        };
        let mut source = Self {
            telling: Telling::begin(head).map_err(|error| journal::unlike(&error))?,
            following,
            newest_in,
            fault: None,
        };
        source.read()?;
        Ok(Some(source))
    }

    pub(super) fn told(&self) -> Chronicle {
        self.telling.told()
    }

    pub(super) fn run(&self) -> &RunDirectory {
        self.following.run()
    }

    /// Tells the board what happened since. What cannot be read any more is said, and what was seen stays.
    pub(super) fn refresh(&mut self, board: &mut Board) {
        if self.fault.is_none() {
            match self.read() {
                Ok(false) => {}
                Ok(true) => board.tell(self.told()),
                Err(failure) => self.fault = Some(failure.message().to_owned()),
            }
        }
        if let Some(fault) = &self.fault {
            board.say(fault.clone());
        }
        let is_gone = !board.is_over() && self.run().liveness() == Liveness::Dead;
        board.note_left(is_gone);
        if let Some(newer) = self.newer(board) {
            *self = newer;
            *board = Board::new(self.told());
            board.say("a newer run has begun");
        }
    }

    /// The newest run, if it is another one and this one has nothing more to say.
    fn newer(&self, board: &Board) -> Option<Self> {
        let beads = self.newest_in.as_ref()?;
        if !board.is_over() && self.fault.is_none() {
            return None;
        }
        let newest = RunDirectory::find(beads, "latest").ok()?;
        if newest == *self.run() {
            return None;
        }
        Self::of(newest, Some(beads.clone())).ok().flatten()
    }

    /// Reads on; whether there was anything.
    fn read(&mut self) -> Result<bool, Failure> {
        let news = self.following.news().map_err(journal::unreadable)?;
        for entry in &news {
            let heard = self.telling.hear(entry);
            heard.map_err(|error| journal::unlike(&error))?;
        }
        Ok(!news.is_empty())
    }
}
