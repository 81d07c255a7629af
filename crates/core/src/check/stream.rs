//! Text that comes in pieces: characters and lines may be split anywhere.

use std::borrow::Cow;

/// How much of a line is looked at. A longer one is cut, so that output without line ends stays bounded.
const MAX_LINE: usize = 1024 * 1024;

/// Makes text of bytes; what is not UTF-8 becomes replacement characters, as if all bytes had come at once (V-7).
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// The beginning of a character whose rest has not come yet.
    pending: Vec<u8>,
}

impl Decoder {
    pub(super) fn push<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, str> {
        if self.pending.is_empty()
            && let Ok(text) = str::from_utf8(bytes)
        {
            return Cow::Borrowed(text);
        }
        let mut all = std::mem::take(&mut self.pending);
        all.extend_from_slice(bytes);
        let mut text = String::with_capacity(all.len());
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            match str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    rest = &[];
                }
                Err(error) => {
                    let (valid, broken) = rest.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    let Some(length) = error.error_len() else {
                        self.pending = broken.to_vec();
                        break;
                    };
                    text.push(char::REPLACEMENT_CHARACTER);
                    rest = &broken[length..];
                }
            }
        }
        Cow::Owned(text)
    }

    /// What is left at the end.
    pub(super) fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.pending)).into_owned()
    }
}

/// Looks for a text.
#[derive(Debug)]
pub(super) struct Search {
    needle: String,
    /// The end of what came before, in which the text may begin.
    before: String,
    pub(super) is_found: bool,
}

impl Search {
    pub(super) fn new(needle: &str) -> Self {
        Self {
            needle: needle.to_owned(),
            before: String::new(),
            is_found: false,
        }
    }

    pub(super) fn needle(&self) -> &str {
        &self.needle
    }

    pub(super) fn push(&mut self, text: &str) {
        if self.is_found {
            return;
        }
        // Only what straddles the two pieces needs a copy.
        let until = text.ceil_char_boundary(self.needle.len());
        self.before.push_str(&text[..until]);
        self.is_found = self.before.contains(&self.needle) || text.contains(&self.needle);
        let joined = if until < text.len() {
            text
        } else {
            &self.before
        };
        let start = joined.len().saturating_sub(self.needle.len());
        self.before = joined[joined.floor_char_boundary(start)..].to_owned();
    }
}

/// Cuts text into lines, without their ends.
#[derive(Debug, Default)]
pub(super) struct Lines {
    begun: String,
}

impl Lines {
    pub(super) fn push(&mut self, text: &str, mut each: impl FnMut(&str)) {
        let mut rest = text;
        while let Some(end) = rest.find('\n') {
            let (line, after) = rest.split_at(end);
            if self.begun.is_empty() {
                each(whole(line));
            } else {
                self.extend(line);
                each(whole(&self.begun));
                self.begun.clear();
            }
            rest = &after[1..];
        }
        self.extend(rest);
    }

    pub(super) fn finish(&mut self, mut each: impl FnMut(&str)) {
        if !self.begun.is_empty() {
            each(whole(&self.begun));
            self.begun.clear();
        }
    }

    fn extend(&mut self, text: &str) {
        let room = MAX_LINE.saturating_sub(self.begun.len());
        self.begun.push_str(&text[..text.floor_char_boundary(room)]);
    }
}

fn whole(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn pieces(bytes: &[u8], cuts: &[usize]) -> Vec<Vec<u8>> {
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
        ends.push(bytes.len());
        ends.sort_unstable();
        let mut start = 0;
        let piece = |end: usize| {
            let piece = bytes[start..end].to_vec();
            start = end;
            piece
        };
        ends.into_iter().map(piece).collect()
    }

    proptest! {
        #[test]
        fn v_7_pieces_decode_as_the_whole(bytes in vec(any::<u8>(), 0..64), cuts in vec(any::<usize>(), 0..6)) {
            let mut decoder = Decoder::default();
            let mut text = String::new();
            for piece in pieces(&bytes, &cuts) {
                text.push_str(&decoder.push(&piece));
            }
            text.push_str(&decoder.finish());
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn v_7_a_text_is_found_wherever_it_is_cut(text in "[abé]{0,24}", needle in "[abé]{1,5}", cuts in vec(any::<usize>(), 0..6)) {
            let mut decoder = Decoder::default();
            let mut search = Search::new(&needle);
            for piece in pieces(text.as_bytes(), &cuts) {
                search.push(&decoder.push(&piece));
            }
            search.push(&decoder.finish());
            prop_assert_eq!(search.is_found, text.contains(&needle));
        }

        #[test]
        fn lines_are_the_same_wherever_they_are_cut(text in "[ab\r\n]{0,24}", cuts in vec(any::<usize>(), 0..6)) {
            let mut lines = Lines::default();
            let mut seen: Vec<String> = Vec::new();
            for piece in pieces(text.as_bytes(), &cuts) {
                lines.push(str::from_utf8(&piece).unwrap(), |line| seen.push(line.to_owned()));
            }
            lines.finish(|line| seen.push(line.to_owned()));
            let whole: Vec<&str> = text.split('\n').map(whole).collect();
            let expected = match whole.split_last() {
                Some((&"", before)) if !text.ends_with('\r') => before,
                _ => &whole,
            };
            prop_assert_eq!(seen, expected);
        }
    }

    #[test]
    fn a_line_without_end_stays_bounded() {
        let mut lines = Lines::default();
        for _ in 0..40 {
            lines.push(&"é".repeat(50_000), |_| panic!("no line has ended"));
        }
        assert!(lines.begun.len() <= MAX_LINE);
        let mut n_lines = 0;
        lines.push("\nshort\n", |_| n_lines += 1);
        assert_eq!(n_lines, 2);
    }
}
