//! Lines from pieces of output that are cut anywhere.

/// A line that is longer than this is passed over: it is no event that we know, and memory is finite.
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
            lines.take(&piece, |_| unreachable!("there is no line yet"));
            assert!(lines.line.capacity() <= 2 * MAX_LINE);
        }
        lines.take(b"\nshort\n", |line| match line {
            Line::TooLong => n_too_long += 1,
            Line::Whole(line) => assert_eq!(line, b"short"),
        });
        assert_eq!(n_too_long, 1);
    }
}
