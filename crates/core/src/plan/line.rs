//! The lines of a plan: what each is, and which are hidden by fences and comments (P-5, P-6).

use super::field::{FieldLine, field_line};
use crate::text::Span;

/// One line, without its line end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    /// The bytes without `\n` and one `\r` before it.
    pub(super) span: Span,
    /// The bytes with the line end.
    pub(super) full: Span,
    /// From 1.
    pub(super) number: usize,
}
#[derive(Debug, Clone)]
pub(super) enum LineKind {
    Blank,
    /// The opening line of a fence, with its indentation.
    FenceOpen(usize),
    /// A line inside a fence, or its closing line.
    Fenced,
    /// A comment, or a line of one.
    Comment,
    /// A comment on one line that starts with `<!-- beads-ralph:`.
    Annotation,
    Rule,
    /// An ATX heading, with its level.
    Heading(usize),
    /// A bold name and a colon at column 0.
    Field(FieldLine),
    Bullet(Bullet),
    /// Anything else, with its indentation in columns.
    Text(usize),
}

/// A list marker and what follows it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bullet {
    /// Columns before the marker; a tab counts four.
    pub(super) indent: usize,
    /// What follows the marker, the spaces and the checkbox (P-17).
    pub(super) content: Span,
}

/// What was still open when the text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Open {
    /// A code fence, with its opening line.
    Fence(Span),
    /// A comment, with its opening line.
    Comment(Span),
}

/// Walks a text and says what each line is.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    text: &'t str,
    at: usize,
    number: usize,
    state: State,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Plain,
    Fence {
        mark: u8,
        length: usize,
        opened: Span,
    },
    Comment {
        opened: Span,
    },
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let at = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        Self {
            text,
            at,
            number: 0,
            state: State::Plain,
        }
    }

    /// What is still open, once all lines are read.
    pub(super) fn open(&self) -> Option<Open> {
        match self.state {
            State::Plain => None,
            State::Fence { opened, .. } => Some(Open::Fence(opened)),
            State::Comment { opened } => Some(Open::Comment(opened)),
        }
    }

    fn next_line(&mut self) -> Option<Line> {
        if self.at >= self.text.len() {
            return None;
        }
        let rest = &self.text[self.at..];
        let (content, full) = match rest.find('\n') {
            Some(at) => (&rest[..at], at + 1),
            None => (rest, rest.len()),
        };
        let length = content.strip_suffix('\r').unwrap_or(content).len();
        let start = self.at;
        self.at += full;
        self.number += 1;
        Some(Line {
            span: Span::new(start, start + length),
            full: Span::new(start, self.at),
            number: self.number,
        })
    }

    fn classify(&mut self, line: Line) -> LineKind {
        let text = line.span.slice(self.text);
        match self.state {
            State::Fence { mark, length, .. } => {
                if closes_fence(text, mark, length) {
                    self.state = State::Plain;
                }
                LineKind::Fenced
            }
            State::Comment { .. } => {
                if text.contains("-->") {
                    self.state = State::Plain;
                }
                LineKind::Comment
            }
            State::Plain => self.classify_plain(line, text),
        }
    }

    fn classify_plain(&mut self, line: Line, text: &str) -> LineKind {
        let (indent, body) = indentation(text);
        if body.trim_end().is_empty() {
            return LineKind::Blank;
        }
        if indent <= 3 {
            if let Some((mark, length)) = opens_fence(body) {
                self.state = State::Fence {
                    mark,
                    length,
                    opened: line.span,
                };
                return LineKind::FenceOpen(indent);
            }
            if body.starts_with("<!--") {
                return self.comment(line, body);
            }
            if is_rule(body) {
                return LineKind::Rule;
            }
            if let Some(level) = heading_level(body) {
                return LineKind::Heading(level);
            }
        }
        if let Some(field) = field_line(text, line.span.start()) {
            return LineKind::Field(field);
        }
        match bullet(body) {
            Some(offset) => {
                let start = line.span.end() - body.len() + offset;
                LineKind::Bullet(Bullet {
                    indent,
                    content: Span::new(start, line.span.end()),
                })
            }
            None => LineKind::Text(indent),
        }
    }

    fn comment(&mut self, line: Line, body: &str) -> LineKind {
        let is_closed = body["<!--".len()..].contains("-->");
        if !is_closed {
            self.state = State::Comment { opened: line.span };
            return LineKind::Comment;
        }
        if body.starts_with("<!-- beads-ralph:") {
            LineKind::Annotation
        } else {
            LineKind::Comment
        }
    }
}

impl Iterator for Lines<'_> {
    type Item = (Line, LineKind);

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.next_line()?;
        let kind = self.classify(line);
        Some((line, kind))
    }
}

/// The columns of white space before a text, and the text after them; a tab counts four (P-16).
pub(super) fn indentation(text: &str) -> (usize, &str) {
    let body = text.trim_start_matches([' ', '\t']);
    let blanks = &text.as_bytes()[..text.len() - body.len()];
    (
        blanks
            .iter()
            .map(|byte| if *byte == b'\t' { 4 } else { 1 })
            .sum(),
        body,
    )
}

fn opens_fence(body: &str) -> Option<(u8, usize)> {
    let mark = *body
        .as_bytes()
        .first()
        .filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = body.bytes().take_while(|byte| *byte == mark).count();
    // A line such as "```x```" is inline code, as in CommonMark.
    let is_inline = mark == b'`' && body[length..].contains('`');
    (length >= 3 && !is_inline).then_some((mark, length))
}

fn closes_fence(text: &str, mark: u8, length: usize) -> bool {
    let (indent, body) = indentation(text);
    let body = body.trim_end();
    indent <= 3 && body.len() >= length && body.bytes().all(|byte| byte == mark)
}

fn is_rule(body: &str) -> bool {
    let mut marks = body.bytes().filter(|byte| !matches!(byte, b' ' | b'\t'));
    let Some(first @ (b'-' | b'*' | b'_')) = marks.next() else {
        return false;
    };
    let mut n_marks = 1;
    marks.all(|byte| {
        n_marks += 1;
        byte == first
    }) && n_marks >= 3
}

fn heading_level(body: &str) -> Option<usize> {
    let level = body
        .bytes()
        .take(7)
        .take_while(|byte| *byte == b'#')
        .count();
    let is_heading =
        (1..=6).contains(&level) && matches!(body.as_bytes().get(level), None | Some(b' ' | b'\t'));
    is_heading.then_some(level)
}

/// The offset of a bullet's content: past the marker, its spaces and its checkbox (P-16, P-17).
fn bullet(body: &str) -> Option<usize> {
    let marker = match body.as_bytes().first()? {
        b'-' | b'*' | b'+' => 1,
        b'0'..=b'9' => {
            let digits = body.bytes().take_while(u8::is_ascii_digit).count();
            matches!(body.as_bytes().get(digits), Some(b'.' | b')')).then_some(digits + 1)?
        }
        _ => return None,
    };
    let rest = &body[marker..];
    if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
        return None;
    }
    let content = rest.trim_start_matches([' ', '\t']);
    let unchecked = ["[ ]", "[x]", "[X]"]
        .iter()
        .find_map(|mark| content.strip_prefix(mark))
        .unwrap_or(content);
    let is_checkbox = unchecked.is_empty() || unchecked.starts_with([' ', '\t']);
    let content = if is_checkbox {
        unchecked.trim_start_matches([' ', '\t'])
    } else {
        content
    };
    Some(body.len() - content.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<String> {
        Lines::new(text)
            .map(|(_, kind)| {
                format!("{kind:?}")
                    .split(['(', ' '])
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect()
    }

    #[test]
    fn p_5_nothing_inside_a_fence_is_interpreted() {
        let text = "```md\n### Sprint 1.1: X\n``\n~~~\n````\n~~~\n```\n~~~ \n# H";
        assert_eq!(
            kinds(text),
            [
                "FenceOpen",
                "Fenced",
                "Fenced",
                "Fenced",
                "Fenced",
                "FenceOpen",
                "Fenced",
                "Fenced",
                "Heading"
            ]
        );
        assert_eq!(
            kinds("    ```\n# H"),
            ["Text", "Heading"],
            "four spaces are no fence"
        );
    }

    #[test]
    fn p_5_p_6_what_is_open_at_the_end_is_known() {
        let open = |text| {
            let mut lines = Lines::new(text);
            lines.by_ref().for_each(drop);
            lines.open()
        };
        assert_eq!(open("a\n```\nb"), Some(Open::Fence(Span::new(2, 5))));
        assert_eq!(open("<!-- a\nb"), Some(Open::Comment(Span::new(0, 6))));
        assert_eq!(open("```\n```\n<!-- -->"), None);
    }

    #[test]
    fn p_6_comments_hide_and_annotations_are_known() {
        assert_eq!(
            kinds("<!-- a -->\n<!-- b\n# H\n--> tail\n  <!-- beads-ralph: x -->\n# H"),
            [
                "Comment",
                "Comment",
                "Comment",
                "Comment",
                "Annotation",
                "Heading"
            ]
        );
    }

    #[test]
    fn p_13_rules_and_p_16_bullets() {
        let rules = ["---", "***", "___", "- - -", "-----  "];
        assert!(rules.iter().all(|rule| kinds(rule) == ["Rule"]));
        let bullets = [
            "- a", "* a", "+ a", "1. a", "12) a", "-", "- [x] a", "\t- a",
        ];
        assert!(
            bullets.iter().all(|line| kinds(line) == ["Bullet"]),
            "{bullets:?}"
        );
        let texts = ["-a", "1.a", "--", "**a", "#a", "#######"];
        assert!(
            texts.iter().all(|line| kinds(line) == ["Text"]),
            "{texts:?}"
        );
    }

    #[test]
    fn p_17_a_checkbox_is_removed() {
        let content = |text: &str| match Lines::new(text).next() {
            Some((_, LineKind::Bullet(bullet))) => bullet.content.slice(text).to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(content("- [x] a"), "a");
        assert_eq!(content("- [ ] a"), "a");
        assert_eq!(content("3) [X] a "), "a ");
        assert_eq!(content("- [y] a"), "[y] a");
        assert_eq!(content("- [x](link)"), "[x](link)");
    }
}
