//! The log of one check: both streams as they come, its beginning and its end, and no more than a bound in between.

use std::collections::VecDeque;
use std::io::{self, Write};

use crate::os::process::{Flow, Stream, Watch};

/// How much of the beginning is kept, and how much of the end: what failed is mostly told there.
const HEAD: usize = 4 * 1024 * 1024;
const TAIL: usize = 4 * 1024 * 1024;

pub(super) struct Log<W> {
    file: W,
    /// How much may still be written as it comes.
    head: usize,
    tail: VecDeque<u8>,
    max_tail: usize,
    n_left_out: u64,
    fault: Option<io::Error>,
}

impl<W: Write> Log<W> {
    pub(super) fn new(file: W) -> Self {
        Self::bounded(file, HEAD, TAIL)
    }

    fn bounded(file: W, head: usize, max_tail: usize) -> Self {
        Self {
            file,
            head,
            tail: VecDeque::new(),
            max_tail,
            n_left_out: 0,
            fault: None,
        }
    }

    /// Writes the end of a long log; whatever could not be written is told here.
    pub(super) fn end(mut self) -> io::Result<()> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if self.n_left_out > 0 {
            writeln!(self.file, "\n[… {} bytes left out …]", self.n_left_out)?;
        }
        let (first, second) = self.tail.as_slices();
        self.file.write_all(first)?;
        self.file.write_all(second)
    }

    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (head, rest) = bytes.split_at(self.head.min(bytes.len()));
        self.head -= head.len();
        self.file.write_all(head)?;
        self.tail.extend(rest);
        let n_over = self.tail.len().saturating_sub(self.max_tail);
        self.tail.drain(..n_over);
        self.n_left_out = self.n_left_out.saturating_add(n_over as u64);
        Ok(())
    }
}

impl<W: Write> Watch for Log<W> {
    fn output(&mut self, _: Stream, bytes: &[u8]) -> Flow {
        if self.fault.is_none() {
            self.fault = self.take(bytes).err();
        }
        Flow::GoOn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(pieces: &[&str]) -> String {
        let mut bytes = Vec::new();
        let mut log = Log::bounded(&mut bytes, 4, 3);
        for piece in pieces {
            log.output(Stream::Stdout, piece.as_bytes());
        }
        log.end().unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn g_7_of_a_long_log_the_beginning_and_the_end_are_kept() {
        assert_eq!(logged(&["ab"]), "ab");
        assert_eq!(logged(&["abc", "defg"]), "abcdefg");
        assert_eq!(
            logged(&["abcdef", "ghij", "k"]),
            "abcd\n[… 4 bytes left out …]\nijk"
        );
    }
}
