//! Byte ranges into one text.

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
}
