//! Places in a text: byte spans, and the lines and columns that people count.

use std::fmt;
use std::ops::Range;

/// A half-open byte range of a text.
///
/// Offsets are 32 bits wide: a plan is held with several spans a line, and a text of more than
/// 4 GiB is refused before it is parsed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// The largest text that spans can address.
    pub const MAX_TEXT: usize = u32::MAX as usize;

    /// Makes a span from byte offsets. Offsets past [`Span::MAX_TEXT`] are clamped to it.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let start = clamp(start);
        Self {
            start,
            end: clamp(end).max(start),
        }
    }

    /// An empty span at one offset.
    pub fn at(offset: usize) -> Self {
        Self::new(offset, offset)
    }

    /// The first byte.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// One past the last byte.
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// The number of bytes.
    pub fn len(self) -> usize {
        self.end() - self.start()
    }

    /// Whether the span holds no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The span as a range, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start()..self.end()
    }

    /// The text that the span covers, or the empty string if it does not fit the text.
    pub fn slice(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or_default()
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn cover(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// A value and the place that it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands in the text.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Pairs a value with its place.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

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
    fn a_span_slices_and_covers() {
        let text = "ab cé";
        let span = Span::new(3, 6);
        assert_eq!(span.slice(text), "cé");
        assert_eq!(Span::new(0, 2).cover(span), Span::new(0, 6));
        assert_eq!(
            Span::new(5, 6).slice(text),
            "",
            "inside a character there is nothing to slice"
        );
    }

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
