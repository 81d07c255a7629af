//! What a terminal can show: colours and characters, and what they stand for.
//!
//! Colours only repeat what words and marks say.

use beads_ralph_core::engine::{BeadState, End};
use beads_ralph_core::history::Story;
use ratatui::style::{Color, Style};
use ratatui::symbols::border;
use ratatui::widgets::Block;

use crate::ui::draw::{Charset, cut};

/// Borders for terminals that know no others.
const ASCII_BORDER: border::Set<'static> = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

/// What a terminal can show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    pub(crate) charset: Charset,
    pub(crate) has_color: bool,
}

impl Look {
    pub(super) fn block(self, title: &str) -> Block<'static> {
        let borders = match self.charset {
            Charset::Unicode => border::PLAIN,
            Charset::Ascii => ASCII_BORDER,
        };
        let block = Block::bordered().border_set(borders);
        if title.is_empty() {
            block
        } else {
            block.title(format!(" {title} "))
        }
    }

    /// Where a bead stands, in a character.
    pub(super) fn mark(self, story: &Story) -> &'static str {
        let (unicode, ascii) = match &story.state {
            BeadState::Waiting { .. } | BeadState::HeldBack { .. } => ("·", "."),
            BeadState::Ready | BeadState::Ended(End::Released | End::Lost { .. }) => ("○", "o"),
            BeadState::Working { .. } => ("▶", ">"),
            BeadState::Held { .. } => ("~", "~"),
            BeadState::Blocked | BeadState::Ended(End::NeedsPerson { .. }) => ("!", "!"),
            BeadState::Closed | BeadState::Ended(End::Closed { .. }) => ("✓", "*"),
        };
        match self.charset {
            Charset::Unicode => unicode,
            Charset::Ascii => ascii,
        }
    }

    pub(super) fn style(self, story: &Story) -> Style {
        self.colored(match &story.state {
            BeadState::Waiting { .. } | BeadState::HeldBack { .. } => Color::DarkGray,
            BeadState::Ready | BeadState::Ended(End::Released | End::Lost { .. }) => Color::Reset,
            BeadState::Working { .. } => Color::Cyan,
            BeadState::Held { .. } => Color::Magenta,
            BeadState::Blocked | BeadState::Ended(End::NeedsPerson { .. }) => Color::Red,
            BeadState::Closed | BeadState::Ended(End::Closed { .. }) => Color::Green,
        })
    }

    pub(super) fn colored(self, color: Color) -> Style {
        if self.has_color {
            Style::new().fg(color)
        } else {
            Style::new()
        }
    }

    pub(super) fn cut(self, text: &str, width: u16) -> String {
        cut(text, usize::from(width), self.charset)
    }
}
