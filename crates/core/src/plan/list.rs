//! List items as they are folded together (P-16…P-18).

use super::line::Bullet;
use crate::text::{Span, Spanned, without_code_marks};

/// One item of a list field, with its nested bullets and continuation lines.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// The item's own first line, past the marker.
    pub(super) first: Span,
    pub(super) continuation: Vec<Span>,
    /// Nested bullets and code blocks, in order.
    pub(super) parts: Vec<ItemPart>,
}

/// Something below an item's own text.
#[derive(Debug, Clone)]
pub(super) enum ItemPart {
    /// A nested bullet and the lines that continue it.
    Nested(Vec<Span>),
    /// The lines of a fenced block that is indented with the item, with that indentation. They are
    /// part of the work order, so they are kept as they are.
    Code { indent: usize, lines: Vec<Span> },
}

impl Item {
    pub(super) fn new(bullet: Bullet) -> Self {
        Self {
            first: bullet.content,
            continuation: Vec::new(),
            parts: Vec::new(),
        }
    }
    pub(super) fn nest(&mut self, content: Span) {
        self.parts.push(ItemPart::Nested(vec![content]));
    }

    /// Adds a line of text to whatever it continues.
    pub(super) fn extend(&mut self, line: Span) {
        match self.parts.last_mut() {
            Some(ItemPart::Nested(lines)) => lines.push(line),
            Some(ItemPart::Code { .. }) => self.parts.push(ItemPart::Nested(vec![line])),
            None => self.continuation.push(line),
        }
    }
    pub(super) fn open_code(&mut self, indent: usize, line: Span) {
        self.parts.push(ItemPart::Code {
            indent,
            lines: vec![line],
        });
    }
    pub(super) fn extend_code(&mut self, line: Span) {
        if let Some(ItemPart::Code { lines, .. }) = self.parts.last_mut() {
            lines.push(line);
        }
    }

    /// The item's own text, without what is nested: its lines joined by one space.
    pub(super) fn lead(&self, text: &str) -> String {
        joined(text, std::iter::once(&self.first).chain(&self.continuation))
    }

    /// What is nested, each part on separate lines after a line break.
    pub(super) fn nested(&self, text: &str) -> String {
        let mut folded = String::new();
        for part in &self.parts {
            match part {
                ItemPart::Nested(lines) => {
                    let bullet = without_code_marks(&joined(text, lines));
                    if !bullet.is_empty() {
                        folded.push_str("\n- ");
                        folded.push_str(&bullet);
                    }
                }
                ItemPart::Code { indent, lines } => {
                    for line in lines {
                        folded.push('\n');
                        folded.push_str(dedented(line.slice(text), *indent));
                    }
                }
            }
        }
        folded
    }

    /// The whole item as one text (P-16), without inline-code marks (P-18); nothing when it is blank.
    pub(super) fn folded(&self, text: &str) -> Option<Spanned<String>> {
        let mut folded = without_code_marks(&self.lead(text));
        folded.push_str(&self.nested(text));
        let folded = folded.trim();
        (!folded.is_empty()).then(|| Spanned::new(folded.to_owned(), self.place(text)))
    }

    /// Where to point when the item is meant.
    pub(super) fn place(&self, text: &str) -> Span {
        trimmed(text, self.first)
    }
}

/// A span without white space at its ends.
pub(super) fn trimmed(text: &str, span: Span) -> Span {
    let slice = span.slice(text);
    let start = span.start() + slice.len() - slice.trim_start().len();
    Span::new(start, start + slice.trim().len())
}

fn joined<'s>(text: &str, lines: impl IntoIterator<Item = &'s Span>) -> String {
    let mut joined = String::new();
    for line in lines {
        let line = line.slice(text).trim();
        if !joined.is_empty() && !line.is_empty() {
            joined.push(' ');
        }
        joined.push_str(line);
    }
    joined
}

fn dedented(line: &str, indent: usize) -> &str {
    let blanks = line
        .bytes()
        .take(indent)
        .take_while(|byte| *byte == b' ')
        .count();
    line[blanks..].trim_end()
}
