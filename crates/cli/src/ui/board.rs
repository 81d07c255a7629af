//! The board of a run: everything that `watch` shows, as data, and what keys do to it.
//!
//! Nothing here reads, waits or writes: a story and a log are handed in, keys are pressed, and what they ask of the outside comes back as a
//! [`Wish`]. How it looks is in `board::draw`.

mod blockers;
mod details;
mod draw;
mod keys;
mod look;
mod rows;
#[cfg(test)]
mod tests;
mod words;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::{BeadState, End};
use beads_ralph_core::history::{Chronicle, Story};

use blockers::{Blocker, blockers};
pub(crate) use draw::draw;
pub(crate) use keys::Wish;
pub(crate) use look::Look;
use rows::{Row, rows};

#[derive(Debug)]
pub(crate) struct Board {
    told: Chronicle,
    grouping: Grouping,
    filter: Filter,
    rows: Vec<Row>,
    blockers: Vec<Blocker>,
    selected: Option<BeadId>,
    /// Whether what is worked on is shown by itself, until somebody chooses.
    is_following: bool,
    log: Log,
    /// Which log of the bead is wanted, counted back from the newest.
    logs_back: usize,
    /// The first line of the log that is shown, as it is wrapped; the end of it where nobody has chosen.
    log_from: Option<usize>,
    /// The first line that was shown when the end of the log was last drawn.
    log_end: usize,
    is_log_alone: bool,
    mode: Mode,
    said: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Log {
    pub(crate) name: String,
    /// Its last lines, which steer no terminal.
    pub(crate) lines: Vec<String>,
    pub(crate) n_logs: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grouping {
    Teams,
    /// By the graph: what could run side by side, and what each waits for.
    Graph,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filter {
    All,
    Unfinished,
    ForPeople,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Mode {
    Looking,
    Helping,
    Asking(Question),
}

/// Something that is done only when it is said twice.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Question {
    Retry(BeadId),
    Stop,
}

impl Board {
    pub(crate) fn new(told: Chronicle) -> Self {
        let mut board = Self {
            told,
            grouping: Grouping::Teams,
            filter: Filter::All,
            rows: Vec::new(),
            blockers: Vec::new(),
            selected: None,
            is_following: true,
            log: Log::default(),
            logs_back: 0,
            log_from: None,
            log_end: 0,
            is_log_alone: false,
            mode: Mode::Looking,
            said: None,
        };
        board.arrange();
        board
    }

    pub(crate) fn tell(&mut self, told: Chronicle) {
        self.told = told;
        self.arrange();
    }

    /// Whether the process that runs it is gone.
    pub(crate) fn note_left(&mut self, is_left: bool) {
        self.told.is_left = is_left;
    }

    /// Says something to whoever looks, until the next key.
    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.said = Some(text.into());
    }

    /// Whose log is wanted, and which, counted back from the newest.
    pub(crate) fn wanted_log(&self) -> Option<(&BeadId, usize)> {
        Some((self.selected.as_ref()?, self.logs_back))
    }

    pub(crate) fn show_log(&mut self, log: Log) {
        self.logs_back = self.logs_back.min(log.n_logs.saturating_sub(1));
        self.log = log;
    }

    /// It was drawn: how far down the log can be scrolled.
    pub(crate) fn was_drawn(&mut self, log_end: usize) {
        self.log_end = log_end;
        self.log_from = self.log_from.filter(|from| *from < log_end);
    }

    pub(crate) fn is_going_on(&self) -> bool {
        !self.is_over() && !self.told.is_left
    }

    pub(crate) fn is_over(&self) -> bool {
        self.told.outcome.is_some()
    }

    /// Puts the beads in order, and sees to it that one of them is selected.
    fn arrange(&mut self) {
        self.rows = rows(&self.told, self.grouping, self.filter);
        self.blockers = blockers(&self.told);
        let is_listed = |id: &BeadId| self.place_of(id).is_some();
        if self.is_following || !self.selected.as_ref().is_some_and(is_listed) {
            let next = self.worth_seeing();
            self.select(next);
        }
    }

    /// What somebody wants to see first: what is worked on, what waits for a person, anything.
    fn worth_seeing(&self) -> Option<BeadId> {
        let listed = || self.rows.iter().filter_map(|row| self.story_of(row));
        let is_working = |story: &&Story| matches!(story.state, BeadState::Working { .. });
        // What is shown is not taken away while it is worked on.
        let stays = listed()
            .find(|story| Some(&story.task.id) == self.selected.as_ref() && is_working(story));
        let first = stays
            .or_else(|| listed().find(is_working))
            .or_else(|| listed().find(|story| is_for_person(story)))
            .or_else(|| listed().next());
        first.map(|story| story.task.id.clone())
    }

    fn select(&mut self, id: Option<BeadId>) {
        if self.selected != id {
            self.selected = id;
            self.log = Log::default();
            (self.logs_back, self.log_from) = (0, None);
        }
    }

    fn place_of(&self, id: &BeadId) -> Option<usize> {
        let is_it = |row: &Row| self.story_of(row).is_some_and(|it| it.task.id == *id);
        self.rows.iter().position(is_it)
    }

    fn story_of(&self, row: &Row) -> Option<&Story> {
        match row {
            Row::Bead(at) => self.told.stories.get(*at),
            Row::Heading(_) => None,
        }
    }

    fn selected(&self) -> Option<&Story> {
        self.told.story(self.selected.as_ref()?.as_str())
    }
}

fn is_for_person(story: &Story) -> bool {
    matches!(
        story.state,
        BeadState::Blocked | BeadState::Ended(End::NeedsPerson { .. })
    )
}

fn is_closed(story: &Story) -> bool {
    matches!(
        story.state,
        BeadState::Closed | BeadState::Ended(End::Closed { .. })
    )
}
