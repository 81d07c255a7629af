//! Characters that make a text mean something else than it shows: NUL, lone carriage returns, marks
//! that reorder what is displayed.

use super::diagnostics;
use crate::diag::Diagnostic;
use crate::text::{Span, is_direction_mark};

/// Reports the first NUL, the first lone carriage return, and the first direction mark of each line.
pub(super) fn suspicious_characters(text: &str) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if let Some(at) = text.find('\0') {
        found.push(diagnostics::nul_character(Span::new(at, at + 1)));
    }
    if let Some(at) = lone_carriage_return(text) {
        found.push(diagnostics::lone_carriage_return(Span::new(at, at + 1)));
    }
    found.extend(direction_marks(text).map(|(span, mark)| {
        let (rest, cleaned) = without_marks(text, span.start());
        diagnostics::direction_mark(span, mark, rest, cleaned)
    }));
    found
}

fn lone_carriage_return(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    // Several carriage returns before one line feed are the work of a bad conversion, not lone.
    text.match_indices('\r')
        .map(|(at, _)| at)
        .find(|at| !matches!(bytes.get(at + 1), None | Some(b'\n' | b'\r')))
}

/// The first mark of each line that has one.
fn direction_marks(text: &str) -> impl Iterator<Item = (Span, char)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = text.get(from..)?;
        let at = from + find_direction_mark(rest)?;
        let mark = text[at..].chars().next()?;
        from = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
        Some((Span::new(at, at + mark.len_utf8()), mark))
    })
}

/// From the first mark of a line to its last, and what stays of that without marks.
fn without_marks(text: &str, first: usize) -> (Span, String) {
    let line = text[first..].lines().next().unwrap_or_default();
    let marked = match line.rfind(is_direction_mark) {
        Some(last) => &line[..last + line[last..].chars().next().map_or(0, char::len_utf8)],
        None => "",
    };
    let cleaned = marked.replace(is_direction_mark, "");
    (Span::new(first, first + marked.len()), cleaned)
}

// Bytes first: every mark starts with 0xE2 or 0xD8, which are rare in most plans, so that ordinary text
// is passed over at the speed of a byte search.
fn find_direction_mark(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let at = from
            + bytes[from..]
                .iter()
                .position(|byte| matches!(byte, 0xE2 | 0xD8))?;
        let is_mark = text[at..].starts_with(is_direction_mark);
        if is_mark {
            return Some(at);
        }
        from = at + 1;
    }
}
