//! Reading what a program prints while it prints it.

use jiff::Timestamp;
use serde_json::Value;

use super::ending::{Ending, Seen};
use super::json::observe::Observed;
use super::json::one_line;
use super::{Adapter, Budget, Call, Outcome, Price, SpentSoFar, StreamKind, Tokens};
use crate::bead::Model;

/// How much of a text is kept; an answer is never as long.
pub(super) const MAX_TEXT: usize = 4 << 20;

/// How much of an error is kept: its beginning and its end.
const MAX_ERROR: usize = 16 << 10;

/// Reads what a program prints, in pieces that are cut anywhere, and tells how it ended.
#[derive(Debug)]
pub struct Reader<'a> {
    adapter: &'a Adapter,
    observed: Observed<'a>,
    lines: Lines,
    /// All of standard output, where it is one text or one object.
    whole: Vec<u8>,
    /// The beginning and the end of standard error.
    stderr: Kept,
    /// Standard output that should be JSON and is not.
    stray: Kept,
    stderr_lines: Lines,
    n_stray: usize,
    n_cut: usize,
    is_report_wanted: bool,
    tier: Option<Model>,
    before: Tokens,
    report_text: Option<String>,
}

impl<'a> Reader<'a> {
    /// A reader of one run.
    pub fn new(adapter: &'a Adapter, call: &Call) -> Self {
        Self {
            adapter,
            observed: Observed::new(&adapter.read),
            lines: Lines::default(),
            whole: Vec::new(),
            stderr: Kept::default(),
            stray: Kept::default(),
            stderr_lines: Lines::default(),
            n_stray: 0,
            n_cut: 0,
            is_report_wanted: call.schema.is_some(),
            tier: call.model,
            before: Tokens::default(),
            report_text: None,
        }
    }

    /// Hands in the tokens of a session that is resumed, from the [`Outcome::session_tokens`] of its last run.
    #[must_use]
    pub fn resuming(mut self, before: Tokens) -> Self {
        self.before = before;
        self
    }

    /// Takes a piece of standard output.
    pub fn stdout(&mut self, bytes: &[u8]) {
        let mut lines = std::mem::take(&mut self.lines);
        lines.take(bytes, |line| self.line(line));
        self.lines = lines;
        match self.adapter.read.stream {
            StreamKind::JsonLines => {}
            StreamKind::Json | StreamKind::Text => {
                let room = MAX_TEXT.saturating_sub(self.whole.len());
                let kept = &bytes[..bytes.len().min(room)];
                self.whole.extend_from_slice(kept);
                self.n_cut += bytes.len() - kept.len();
            }
        }
    }

    /// Takes a piece of standard error.
    pub fn stderr(&mut self, bytes: &[u8]) {
        self.stderr.keep(bytes);
        if self.adapter.read.stream == StreamKind::Text {
            let mut lines = std::mem::take(&mut self.stderr_lines);
            lines.take(bytes, |line| self.show(line));
            self.stderr_lines = lines;
        }
    }

    /// Hands in what the agent wrote to the file for its report; it counts before what it printed.
    pub fn report_file(&mut self, text: String) {
        self.report_text = Some(text);
    }

    /// Whether the program has said its last word, so that it need not be waited for much longer.
    pub fn is_over(&self) -> bool {
        self.observed.is_over()
    }

    /// What the agent does now, in a line for people.
    pub fn activity(&self) -> Option<&str> {
        self.observed.activity.as_deref()
    }

    /// The session, as soon as it is known.
    pub fn session(&self) -> Option<&str> {
        self.observed.session.as_deref()
    }

    /// What was spent so far, as far as that can be seen.
    pub fn spent(&self) -> SpentSoFar {
        self.observed.spent(self.price())
    }

    /// Whether more was spent than a budget allows, and of what.
    pub fn over_budget(&self, budget: &Budget) -> Option<String> {
        if self.is_over() {
            return None;
        }
        let spent = self.spent();
        if let (Some(max), Some(turns)) = (budget.turns, spent.turns)
            && turns > max
        {
            return Some(format!("its budget of {max} turns is used up"));
        }
        if let Some(max) = budget.tokens
            && spent.tokens.total() > max
        {
            let tokens = spent.tokens.total();
            return Some(format!(
                "its budget of {max} tokens is used up ({tokens} so far)"
            ));
        }
        if let (Some(max), Some(usd)) = (budget.usd, spent.usd)
            && usd > max
        {
            return Some(format!(
                "its budget of ${max} is used up (${usd:.2} so far)"
            ));
        }
        None
    }

    /// How the run ended.
    pub fn finish(mut self, ending: &Ending, now: Timestamp) -> Outcome {
        let mut lines = std::mem::take(&mut self.lines);
        lines.finish(|line| self.line(line));
        let whole = String::from_utf8_lossy(&self.whole).into_owned();
        match self.adapter.read.stream {
            StreamKind::JsonLines => {}
            StreamKind::Text => self.observed.text = Some(whole),
            StreamKind::Json => match serde_json::from_str(whole.trim()) {
                Ok(value) => self.observed.event(&value),
                Err(_) => self.stray.keep(whole.as_bytes()),
            },
        }
        let price = self.price();
        let seen = Seen {
            adapter: self.adapter,
            observed: self.observed,
            stderr: self.stderr.text(),
            stray: self.stray.text(),
            n_stray: self.n_stray,
            n_cut: self.n_cut,
            is_report_wanted: self.is_report_wanted,
            report_text: self.report_text,
            before: self.before,
            price,
        };
        seen.outcome(ending, now)
    }

    fn price(&self) -> Option<Price> {
        self.adapter.price.of(self.tier)
    }

    fn line(&mut self, line: Line<'_>) {
        match (self.adapter.read.stream, line) {
            (StreamKind::JsonLines, Line::Whole(line)) => self.objects(line),
            (StreamKind::JsonLines, Line::TooLong) => self.n_stray += 1,
            (StreamKind::Text, line) => self.show(line),
            (StreamKind::Json, _) => {}
        }
    }

    /// The objects of a line: usually one, but two programs that share a pipe can lose the line's end between them.
    fn objects(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return;
        }
        let mut n_objects = 0;
        if text.starts_with('{') {
            let objects = serde_json::Deserializer::from_str(text).into_iter::<Value>();
            for object in objects.map_while(Result::ok) {
                n_objects += 1;
                self.observed.event(&object);
            }
        }
        if n_objects == 0 {
            self.n_stray += 1;
            self.stray.keep(text.as_bytes());
            self.stray.keep(b"\n");
        }
    }

    fn show(&mut self, line: Line<'_>) {
        if let Line::Whole(line) = line
            && !line.trim_ascii().is_empty()
        {
            let start = &line[..line.len().min(MAX_ERROR)];
            self.observed.activity = Some(one_line(&String::from_utf8_lossy(start)));
        }
    }
}

/// The beginning and the end of a stream.
#[derive(Debug, Default)]
struct Kept {
    head: Vec<u8>,
    tail: Vec<u8>,
    is_cut: bool,
}

impl Kept {
    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_ERROR.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        self.tail.extend_from_slice(&bytes[room..]);
        if self.tail.len() > MAX_ERROR {
            let excess = self.tail.len() - MAX_ERROR;
            drop(self.tail.drain(..excess));
            self.is_cut = true;
        }
    }

    fn text(&self) -> String {
        let mut bytes = self.head.clone();
        if self.is_cut {
            bytes.extend_from_slice("\n…\n".as_bytes());
        }
        bytes.extend_from_slice(&self.tail);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A line that is longer than this is passed over: no known event is as long, and memory is finite.
pub(super) const MAX_LINE: usize = 16 << 20;

/// Puts lines together.
#[derive(Debug, Default)]
pub(super) struct Lines {
    line: Vec<u8>,
    is_too_long: bool,
}

/// A line, without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line<'l> {
    Whole(&'l [u8]),
    TooLong,
}

impl Lines {
    /// Takes a piece and gives every line that ends in it.
    pub(super) fn take(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.append(&bytes[..end]);
            bytes = &bytes[end + 1..];
            self.end(&mut each);
        }
        self.append(bytes);
    }

    /// Gives what is left when there is nothing more to come.
    pub(super) fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        if !self.line.is_empty() || self.is_too_long {
            self.end(&mut each);
        }
    }

    fn append(&mut self, bytes: &[u8]) {
        if self.line.len() + bytes.len() > MAX_LINE {
            self.is_too_long = true;
            self.line = Vec::new();
        }
        if !self.is_too_long {
            self.line.extend_from_slice(bytes);
        }
    }

    fn end(&mut self, each: &mut impl FnMut(Line<'_>)) {
        if self.is_too_long {
            each(Line::TooLong);
        } else {
            let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
            each(Line::Whole(line));
        }
        self.line.clear();
        self.is_too_long = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_error_is_kept_at_both_ends() {
        let mut kept = Kept::default();
        kept.keep(b"first\n");
        for _ in 0..1000 {
            kept.keep(&[b'x'; 1000]);
        }
        kept.keep(b"\nlast");
        let text = kept.text();
        assert!(text.starts_with("first") && text.ends_with("last") && text.contains('…'));
        assert!(text.len() <= 2 * MAX_ERROR + 10);
    }
}

#[cfg(test)]
mod lines_tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let mut found = Vec::new();
        let mut lines = Lines::default();
        let mut push = |line: Line<'_>| match line {
            Line::Whole(line) => found.push(String::from_utf8_lossy(line).into_owned()),
            Line::TooLong => found.push("too long".to_owned()),
        };
        for piece in pieces {
            lines.take(piece, &mut push);
        }
        lines.finish(&mut push);
        found
    }

    #[test]
    fn lines_are_the_same_however_they_are_cut() {
        assert_eq!(lines(&[b"a\r\nb", b"b\n\nc"]), ["a", "bb", "", "c"]);
        assert_eq!(
            lines(&[b"a\r", b"\nbb\n", b"\n", b"c"]),
            ["a", "bb", "", "c"]
        );
        assert_eq!(lines(&[b"", b"x\n"]), ["x"]);
    }

    #[test]
    fn a_line_without_end_takes_no_more_memory_than_its_limit() {
        let piece = vec![b'x'; 1 << 20];
        let mut lines = Lines::default();
        let mut n_too_long = 0;
        for _ in 0..40 {
            lines.take(&piece, |_| unreachable!("no line is complete yet"));
            assert!(lines.line.capacity() <= 2 * MAX_LINE);
        }
        lines.take(b"\nshort\n", |line| match line {
            Line::TooLong => n_too_long += 1,
            Line::Whole(line) => assert_eq!(line, b"short"),
        });
        assert_eq!(n_too_long, 1);
    }
}
