//! From byte offsets to the lines and columns that people read.

use super::Span;

/// A place as people name it: both numbers start at 1, and a column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
}

/// Where the lines of a text start. Only a line feed ends a line (P-25).
#[derive(Debug, Clone)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Indexes a text.
    pub fn new(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = breaks.map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX));
        Self {
            starts: std::iter::once(0).chain(starts).collect(),
        }
    }

    /// The line of an offset, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.starts
            .partition_point(|start| *start as usize <= offset)
            .max(1)
    }

    /// The line and column of an offset in the text that was indexed.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let line = self.line(offset);
        let start = self.starts[line - 1] as usize;
        let head = text.get(start..offset.min(text.len())).unwrap_or_default();
        // A byte order mark is not content, so it takes no column.
        let head = if start == 0 {
            head.strip_prefix('\u{feff}').unwrap_or(head)
        } else {
            head
        };
        Position {
            line,
            column: head.chars().count() + 1,
        }
    }

    /// The bytes of a line, from 1, with its line end.
    pub fn line_span(&self, text: &str, line: usize) -> Span {
        let start = self
            .starts
            .get(line - 1)
            .map_or(text.len(), |start| *start as usize);
        let end = self
            .starts
            .get(line)
            .map_or(text.len(), |start| *start as usize);
        Span::new(start, end)
    }

    /// How many lines there are; an empty text has one.
    pub fn n_lines(&self) -> usize {
        self.starts.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_25_only_a_line_feed_ends_a_line() {
        let text = "a\r\nb\u{2028}c\x0cd\n";
        let index = LineIndex::new(text);
        assert_eq!(index.n_lines(), 3);
        assert_eq!(index.position(text, 3), Position { line: 2, column: 1 });
        assert_eq!(
            index.position(text, text.find('d').unwrap()),
            Position { line: 2, column: 5 }
        );
        assert_eq!(index.line_span(text, 1), Span::new(0, 3));
    }

    #[test]
    fn x_1_a_byte_order_mark_takes_no_column() {
        let text = "\u{feff}é#";
        assert_eq!(
            LineIndex::new(text).position(text, 5),
            Position { line: 1, column: 2 }
        );
    }
}
