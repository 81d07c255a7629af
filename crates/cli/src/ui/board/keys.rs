//! What keys do.

use beads_ralph_core::bead::BeadId;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{Board, Filter, Grouping, Mode, Question, Row, is_for_person, words};

/// How many lines a page of the log or of the list is.
const PAGE: usize = 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wish {
    Nothing,
    Quit,
    Suspend,
    Retry(BeadId),
    /// That nothing new is begun, or that the runs go on.
    Pause,
    Stop {
        /// Whether agents that run are ended.
        now: bool,
    },
}

impl Board {
    pub(crate) fn press(&mut self, key: KeyEvent) -> Wish {
        self.said = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c') => Wish::Quit,
                KeyCode::Char('z') => Wish::Suspend,
                _ => Wish::Nothing,
            };
        }
        match std::mem::replace(&mut self.mode, Mode::Looking) {
            Mode::Looking => self.look(key.code),
            Mode::Helping => Wish::Nothing,
            Mode::Asking(question) => answered(question, key.code),
        }
    }

    fn look(&mut self, key: KeyCode) -> Wish {
        match key {
            KeyCode::Char('q') => return Wish::Quit,
            KeyCode::Char('p') => return self.pause(),
            KeyCode::Char('r') => self.ask_to_retry(),
            KeyCode::Char('s') => self.ask_to_stop(),
            KeyCode::Char('?' | 'h') | KeyCode::F(1) => self.mode = Mode::Helping,
            KeyCode::Char('g') => self.regroup(),
            KeyCode::Char('f') => self.refilter(),
            KeyCode::Enter | KeyCode::Tab => self.is_log_alone = !self.is_log_alone,
            KeyCode::Esc => self.back(),
            KeyCode::Char('[') => self.other_log(self.logs_back.saturating_add(1)),
            KeyCode::Char(']') => self.other_log(self.logs_back.saturating_sub(1)),
            KeyCode::PageUp => self.scroll(|from| from.saturating_sub(PAGE)),
            KeyCode::PageDown => self.scroll(|from| from.saturating_add(PAGE)),
            KeyCode::Up | KeyCode::Char('k') => self.up(1),
            KeyCode::Down | KeyCode::Char('j') => self.down(1),
            KeyCode::Home => self.up(usize::MAX),
            KeyCode::End => self.down(usize::MAX),
            _ => {}
        }
        Wish::Nothing
    }

    fn up(&mut self, n: usize) {
        if self.is_log_alone {
            self.scroll(|from| from.saturating_sub(n));
        } else {
            self.step(|at| at.saturating_sub(n));
        }
    }

    fn down(&mut self, n: usize) {
        if self.is_log_alone {
            self.scroll(|from| from.saturating_add(n));
        } else {
            self.step(|at| at.saturating_add(n));
        }
    }

    /// Goes to other lines of the log; at its end it is followed again.
    fn scroll(&mut self, to: impl Fn(usize) -> usize) {
        let from = to(self.log_from.unwrap_or(self.log_end));
        self.log_from = Some(from).filter(|from| *from < self.log_end);
    }

    fn step(&mut self, to: impl Fn(usize) -> usize) {
        let listed: Vec<BeadId> = (self.rows.iter())
            .filter_map(|row: &Row| self.story_of(row))
            .map(|story| story.task.id.clone())
            .collect();
        let Some(last) = listed.len().checked_sub(1) else {
            return;
        };
        let at = listed
            .iter()
            .position(|id| Some(id) == self.selected.as_ref());
        let next = to(at.unwrap_or(0)).min(last);
        self.is_following = false;
        self.select(Some(listed[next].clone()));
    }

    /// Leaves the log, and then what somebody chose.
    fn back(&mut self) {
        if self.is_log_alone {
            self.is_log_alone = false;
        } else {
            self.is_following = true;
            self.filter = Filter::All;
            self.arrange();
        }
        (self.log_from, self.logs_back) = (None, 0);
    }

    fn other_log(&mut self, back: usize) {
        self.logs_back = back.min(self.log.n_logs.saturating_sub(1));
        self.log_from = None;
    }

    fn regroup(&mut self) {
        self.grouping = match self.grouping {
            Grouping::Teams => Grouping::Graph,
            Grouping::Graph => Grouping::Teams,
        };
        self.arrange();
    }

    fn refilter(&mut self) {
        self.filter = match self.filter {
            Filter::All => Filter::Unfinished,
            Filter::Unfinished => Filter::ForPeople,
            Filter::ForPeople => Filter::All,
        };
        self.arrange();
    }

    fn pause(&mut self) -> Wish {
        if self.is_over() {
            self.say("this run is over: there is nothing to pause");
            return Wish::Nothing;
        }
        Wish::Pause
    }

    fn ask_to_stop(&mut self) {
        if self.is_over() {
            self.say("this run is over");
        } else if self.told.is_left {
            self.say("nothing runs: the process of this run is gone");
        } else {
            self.mode = Mode::Asking(Question::Stop);
        }
    }

    fn ask_to_retry(&mut self) {
        let Some(story) = self.selected() else {
            return;
        };
        if is_for_person(story) {
            self.mode = Mode::Asking(Question::Retry(story.task.id.clone()));
        } else {
            let name = words::name(story);
            self.say(format!("{name} is not blocked: there is nothing to retry"));
        }
    }
}

fn answered(question: Question, key: KeyCode) -> Wish {
    match (question, key) {
        (Question::Retry(id), KeyCode::Char('y' | 'Y')) => Wish::Retry(id),
        (Question::Stop, KeyCode::Char('y' | 'Y')) => Wish::Stop { now: false },
        // Not a letter that somebody takes for a no.
        (Question::Stop, KeyCode::Char('!')) => Wish::Stop { now: true },
        _ => Wish::Nothing,
    }
}
