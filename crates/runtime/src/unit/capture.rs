//! Keeping what a unit writes: beginning and end in memory, all of it in a file, and its hash.
//!
//! Memory and files are bounded however much there is, and a file that cannot be written never stops the
//! reading: a unit that is not drained would hang.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write as _};

use camino::Utf8PathBuf;
use sha2::{Digest as _, Sha256};

use super::Captured;
use crate::digest::hexadecimal;
use crate::files;

/// How much of the beginning, and of the end, is kept in memory.
pub(super) const PART: usize = 512 << 10;

/// What is kept of one stream.
#[derive(Debug)]
pub(super) struct Capture {
    head: Vec<u8>,
    /// What follows the head, less what became too much.
    tail: VecDeque<u8>,
    n_bytes: u64,
    hash: Sha256,
    spill: Spill,
}

impl Capture {
    /// Keeps a stream, in this file too; of that at most so much, and the end.
    pub(super) fn new(file: Option<Utf8PathBuf>, max_file: u64) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            n_bytes: 0,
            hash: Sha256::new(),
            spill: Spill {
                path: file,
                file: None,
                // The end that is kept in memory begins behind the head, and what the file lacks is taken from it.
                n_free: max_file.max(PART as u64),
                n_written: 0,
                fault: None,
            },
        }
    }

    /// How much there was until now.
    pub(super) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.n_bytes += bytes.len() as u64;
        self.hash.update(bytes);
        self.spill.take(bytes);
        let n_head = bytes.len().min(PART - self.head.len());
        let (head, tail) = bytes.split_at(n_head);
        self.head.extend_from_slice(head);
        let tail = &tail[tail.len().saturating_sub(PART)..];
        let n_over = (self.tail.len() + tail.len()).saturating_sub(PART);
        self.tail.drain(..n_over);
        self.tail.extend(tail);
    }

    pub(super) fn finish(mut self) -> Captured {
        self.spill.finish(self.n_bytes, &mut self.tail);
        let file = (self.spill.file.is_some())
            .then_some(self.spill.path)
            .flatten();
        Captured {
            head: self.head,
            tail: self.tail.into(),
            n_bytes: self.n_bytes,
            sha256: hexadecimal(&self.hash.finalize()),
            file,
            fault: self.spill.fault,
        }
    }
}

/// The file of a stream.
#[derive(Debug)]
struct Spill {
    path: Option<Utf8PathBuf>,
    /// It is made when there is something to write.
    file: Option<File>,
    /// How much more may be written.
    n_free: u64,
    n_written: u64,
    fault: Option<String>,
}

impl Spill {
    fn take(&mut self, bytes: &[u8]) {
        let n_bytes =
            usize::try_from(self.n_free).map_or(bytes.len(), |free| free.min(bytes.len()));
        if n_bytes > 0 {
            self.write(&bytes[..n_bytes]);
            self.n_free -= n_bytes as u64;
            self.n_written += n_bytes as u64;
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.fault.is_some() {
            return;
        }
        let Some(path) = &self.path else { return };
        if let Err(error) = write_all(&mut self.file, path, bytes) {
            let n_written = self.n_written;
            self.fault = Some(format!(
                "cannot write {path} beyond {n_written} bytes: {error}"
            ));
        }
    }

    /// Puts the end behind what was written, when there was more.
    fn finish(&mut self, n_bytes: u64, tail: &mut VecDeque<u8>) {
        let n_missing = n_bytes - self.n_written;
        if n_missing == 0 {
            return;
        }
        let tail: &[u8] = tail.make_contiguous();
        let n_tail =
            usize::try_from(n_missing).map_or(tail.len(), |missing| missing.min(tail.len()));
        let n_left_out = n_missing - n_tail as u64;
        if n_left_out > 0 {
            let line = format!("\n[… {n_left_out} bytes left out …]\n");
            self.write(line.as_bytes());
        }
        self.write(&tail[tail.len() - n_tail..]);
    }
}

fn write_all(file: &mut Option<File>, path: &Utf8PathBuf, bytes: &[u8]) -> io::Result<()> {
    match file {
        Some(file) => file.write_all(bytes),
        None => file.insert(files::stream_into(path)?).write_all(bytes),
    }
}
