//! What a terminal can show: colours and characters with their meaning, and long lines on a narrow screen.
//!
//! Colours only repeat what words and marks say.

use beads_ralph_core::engine::{BeadState, End};
use beads_ralph_core::history::Story;
use ratatui::style::{Color, Style};
use ratatui::symbols::border;
use ratatui::widgets::Block;

use crate::ui::draw::{Charset, columns, cut};

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

/// A line as lines of at most so many columns, between words where there are some.
pub(super) fn wrapped(line: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = line;
    loop {
        let end = end_of_fit(rest, width);
        if end == rest.len() {
            break;
        }
        // A line that is mostly one word is cut in it.
        let space = rest[..end].rfind(' ').filter(|at| *at > end / 2);
        let end = space.map_or(end, |at| at + 1);
        lines.push(rest[..end].trim_end().to_owned());
        rest = &rest[end..];
    }
    lines.push(rest.to_owned());
    lines
}

/// Where the part of a text ends that has room; it has one character at least.
fn end_of_fit(text: &str, width: usize) -> usize {
    let mut taken = 0;
    for (at, character) in text.char_indices() {
        taken += columns(character.encode_utf8(&mut [0; 4]));
        if taken > width && at > 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_where_they_can() {
        assert_eq!(wrapped("a few words", 7), ["a few", "words"]);
        assert_eq!(wrapped("a-very-long-word", 6), ["a-very", "-long-", "word"]);
        assert_eq!(wrapped("日本語", 4), ["日本", "語"]);
        assert_eq!(wrapped("日本", 1), ["日", "本"], "one at least");
        assert_eq!(wrapped("", 3), [""]);
        assert_eq!(wrapped("ab", 0), ["a", "b"]);
    }
}
