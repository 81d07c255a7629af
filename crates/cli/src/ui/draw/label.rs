//! Titles as labels: harmless, on one line, and not too wide.

use beads_ralph_core::text::is_unprintable;
use unicode_width::UnicodeWidthChar as _;

use super::chart::Chart;

// Ids and titles may be of any length, and a picture has little room.
const MAX_ID_COLUMNS: usize = 24;
const MAX_TITLE_COLUMNS: usize = 80;

/// Whether the output may leave ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Charset {
    Unicode,
    Ascii,
}

impl Charset {
    pub(crate) fn ellipsis(self) -> &'static str {
        match self {
            Self::Unicode => "…",
            Self::Ascii => "..",
        }
    }

    /// What leads from one box to the next.
    pub(crate) fn arrow(self) -> &'static str {
        match self {
            Self::Unicode => " → ",
            Self::Ascii => " -> ",
        }
    }
}

/// The id of a box, cut if it is very long.
pub(super) fn id(chart: &Chart, at: usize, charset: Charset) -> String {
    cut(&chart.boxes[at].id, MAX_ID_COLUMNS, charset)
}

/// The id and the title of a box; without a title, the id.
pub(super) fn label(chart: &Chart, at: usize, title_columns: usize, charset: Charset) -> String {
    let columns = title_columns.min(MAX_TITLE_COLUMNS);
    let title = cut(&clean(&chart.boxes[at].title, charset), columns, charset);
    let id = id(chart, at, charset);
    if title.is_empty() {
        id
    } else {
        format!("{id} {title}")
    }
}

/// A title on one line, without characters that steer a terminal or hide.
pub(super) fn clean(title: &str, charset: Charset) -> String {
    let visible = title.chars().map(|character| {
        if is_unprintable(character) {
            ' '
        } else if charset == Charset::Ascii && !character.is_ascii() {
            '?'
        } else {
            character
        }
    });
    let visible: String = visible.collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(char_columns).sum()
}

pub(super) fn char_columns(character: char) -> usize {
    character.width().unwrap_or(0)
}

/// A text of at most so many columns; what is cut off is marked, if there is room for the mark.
pub(crate) fn cut(text: &str, max: usize, charset: Charset) -> String {
    if columns(text) <= max {
        return text.to_owned();
    }
    let mark = charset.ellipsis();
    let Some(room) = max.checked_sub(columns(mark)) else {
        return String::new();
    };
    let mut taken = 0;
    let fits = |character: &char| {
        taken += char_columns(*character);
        taken <= room
    };
    let head: String = text.chars().take_while(fits).collect();
    format!("{}{mark}", head.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_by_columns_not_by_characters() {
        assert_eq!(cut("abcdef", 6, Charset::Unicode), "abcdef");
        assert_eq!(cut("abcdef", 5, Charset::Unicode), "abcd…");
        assert_eq!(cut("abc def", 5, Charset::Unicode), "abc…");
        assert_eq!(cut("abcdef", 5, Charset::Ascii), "abc..");
        assert_eq!(cut("日本語", 5, Charset::Unicode), "日本…");
        assert_eq!(cut("日本語", 4, Charset::Unicode), "日…");
        assert_eq!(cut("abc", 0, Charset::Unicode), "");
        assert_eq!(cut("abc", 1, Charset::Ascii), "");
    }

    #[test]
    fn a_title_is_one_harmless_line() {
        let hostile = " a\r\nb\u{1b}[31m\u{202e}c\u{200b}\td é ";
        assert_eq!(clean(hostile, Charset::Unicode), "a b [31m c d é");
        assert_eq!(clean(hostile, Charset::Ascii), "a b [31m c d ?");
    }
}
