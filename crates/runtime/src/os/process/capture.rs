//! Keeping what a unit writes: beginning and end in memory, all of it in a file, and its hash.
//!
//! Memory and files are bounded however much there is, and a file that cannot be written never stops the
//! reading: a unit that is not drained would hang.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, PipeReader, Read as _, Write as _};

use camino::Utf8PathBuf;
use sha2::{Digest as _, Sha256};

use super::super::digest::hexadecimal;
use super::super::files;
use super::channel::is_readable;
use super::{Captured, Stream};

/// How much of the beginning, and of the end, is kept in memory.
pub(super) const PART: usize = 512 << 10;

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

    pub(super) fn fail(&mut self, fault: String) {
        self.spill.fault.get_or_insert(fault);
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

/// How much a pipe may hold when the system does not say.
const PIPE: u64 = 1 << 20;

/// One stream of a unit, on its way from the pipe to where it is kept.
#[derive(Debug)]
pub(super) struct Tap {
    stream: Stream,
    reader: Option<PipeReader>,
    capture: Capture,
}

impl Tap {
    pub(super) fn new(stream: Stream, reader: PipeReader, capture: Capture) -> Self {
        Self {
            stream,
            reader: Some(reader),
            capture,
        }
    }

    pub(super) fn stream(&self) -> Stream {
        self.stream
    }

    pub(super) fn reader(&self) -> Option<&PipeReader> {
        self.reader.as_ref()
    }

    pub(super) fn n_bytes(&self) -> u64 {
        self.capture.n_bytes()
    }

    /// How much there can be in the pipe.
    pub(super) fn n_waiting(&self) -> u64 {
        self.reader.as_ref().map_or(0, pipe_size)
    }

    /// Whether there is something to take, the end included.
    pub(super) fn is_ready(&self) -> bool {
        self.reader.as_ref().is_some_and(is_readable)
    }

    /// Takes one piece, which must be there.
    pub(super) fn take<'a>(&mut self, buffer: &'a mut [u8]) -> &'a [u8] {
        let Some(reader) = &mut self.reader else {
            return &[];
        };
        match reader.read(buffer) {
            Ok(0) => self.reader = None,
            Ok(n_bytes) => {
                self.capture.take(&buffer[..n_bytes]);
                return &buffer[..n_bytes];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                self.capture
                    .fail(format!("cannot read it to its end: {error}"));
                self.reader = None;
            }
        }
        &[]
    }

    pub(super) fn finish(self) -> Captured {
        self.capture.finish()
    }
}

#[cfg(target_os = "linux")]
fn pipe_size(reader: &PipeReader) -> u64 {
    rustix::pipe::fcntl_getpipe_size(reader).map_or(PIPE, |size| size as u64)
}

#[cfg(not(target_os = "linux"))]
fn pipe_size(_: &PipeReader) -> u64 {
    PIPE
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PART_64: u64 = PART as u64;

    /// So many bytes, no two neighbours of which are the same.
    fn bytes(n_bytes: usize) -> Vec<u8> {
        (0_u8..251).cycle().take(n_bytes).collect()
    }

    fn captured(bytes: &[u8], file: Option<Utf8PathBuf>, max_file: u64, chunk: usize) -> Captured {
        let mut capture = Capture::new(file, max_file);
        for piece in bytes.chunks(chunk) {
            capture.take(piece);
        }
        capture.finish()
    }

    fn place() -> (tempfile::TempDir, Utf8PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(directory.path().join("stdout")).unwrap();
        (directory, path)
    }

    #[test]
    fn v_4_nothing_has_no_file_and_the_hash_of_nothing() {
        let (_directory, path) = place();
        let captured = captured(b"", Some(path.clone()), 0, 1);
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(captured.sha256, empty);
        assert_eq!((captured.n_bytes, captured.file), (0, None));
        assert!(!path.exists());
    }

    #[test]
    fn v_4_a_file_holds_all_until_it_is_full_and_then_the_end() {
        for (n_over, left_out) in [
            (0, None),
            (PART, None),
            (PART + 1, Some(1)),
            (9 * PART, Some(8 * PART)),
        ] {
            let (_directory, path) = place();
            let whole = bytes(2 * PART + n_over);
            let captured = captured(&whole, Some(path.clone()), 2 * PART_64, 60_000);
            let kept = std::fs::read(&path).unwrap();
            let expected = match left_out {
                None => whole,
                Some(left_out) => [
                    &whole[..2 * PART],
                    format!("\n[… {left_out} bytes left out …]\n").as_bytes(),
                    &whole[whole.len() - PART..],
                ]
                .concat(),
            };
            assert!(
                kept == expected,
                "{} and {} bytes",
                kept.len(),
                expected.len()
            );
            assert_eq!(captured.file, Some(path));
            assert_eq!(captured.fault, None);
        }
    }

    #[test]
    fn v_4_a_full_disk_is_noted_and_stops_nothing() {
        let (_directory, path) = place();
        let whole = bytes(3 * PART);
        let mut full = Capture::new(Some(path.clone()), u64::MAX);
        let device = std::fs::OpenOptions::new().write(true).open("/dev/full");
        full.spill.file = Some(device.unwrap());
        whole.chunks(60_000).for_each(|piece| full.take(piece));
        let full = full.finish();
        let plain = captured(&whole, None, u64::MAX, 60_000);
        let fault = full.fault.unwrap();
        assert!(
            fault.contains("No space left") && fault.contains(path.as_str()),
            "{fault}"
        );
        assert_eq!((full.n_bytes, full.sha256), (plain.n_bytes, plain.sha256));
        assert_eq!(full.tail, plain.tail);
    }

    #[test]
    fn v_4_what_lies_where_output_goes_is_left_alone_and_noted() {
        let (_directory, path) = place();
        let theirs = path.with_file_name("theirs");
        files::write_atomic(&theirs, b"theirs").unwrap();
        std::os::unix::fs::symlink(&theirs, &path).unwrap();
        let captured = captured(b"output", Some(path.clone()), u64::MAX, 10);
        assert!(captured.fault.is_some_and(|fault| fault.contains("exists")));
        assert_eq!((captured.n_bytes, captured.file), (6, None));
        assert_eq!(files::read(&theirs).unwrap(), b"theirs");
    }

    #[test]
    fn v_4_a_directory_that_is_not_there_is_noted() {
        let (_directory, path) = place();
        let captured = captured(b"lost", Some(path.join("deeper")), u64::MAX, 10);
        assert!(captured.fault.is_some());
        assert_eq!(captured.file, None);
        assert_eq!(captured.text(), "lost");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn v_4_head_and_tail_are_the_beginning_and_the_end(n_bytes in 0..3 * PART, chunk in 1000..2 * PART) {
            let whole = bytes(n_bytes);
            let captured = captured(&whole, None, u64::MAX, chunk);
            prop_assert_eq!(captured.n_bytes, n_bytes as u64);
            prop_assert!(captured.head == whole[..n_bytes.min(PART)]);
            let n_tail = n_bytes.saturating_sub(PART).min(PART);
            prop_assert!(captured.tail == whole[n_bytes - n_tail..]);
            prop_assert_eq!(captured.sha256, hexadecimal(&Sha256::digest(&whole)));
        }
    }
}
