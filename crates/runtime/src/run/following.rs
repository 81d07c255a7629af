//! Reading a journal along while a run writes it.
//!
//! Only whole lines count, and what is not yet whole is read again: the process that goes on after a death cuts it away.

use beads_ralph_core::engine::{Entry, Head};

use super::journal::{self, JournalError, RunDirectory};
use crate::os::files;

#[derive(Debug)]
pub struct Following {
    run: RunDirectory,
    offset: u64,
    n_lines: usize,
}

impl Following {
    /// Begins with the first line; nothing when it is not there yet.
    pub fn begin(run: RunDirectory) -> Result<Option<(Head, Self)>, JournalError> {
        let mut following = Self {
            run,
            offset: 0,
            n_lines: 0,
        };
        let bytes = following.unread()?;
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            return Ok(None);
        };
        let head = following.line(&bytes[..end])?;
        Ok(Some((head, following)))
    }

    pub fn run(&self) -> &RunDirectory {
        &self.run
    }

    /// The entries that were written since.
    pub fn news(&mut self) -> Result<Vec<Entry>, JournalError> {
        let bytes = self.unread()?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        if end == 0 {
            return Ok(Vec::new());
        }
        let lines = bytes[..end].split(|byte| *byte == b'\n');
        lines.map(|line| self.line(line)).collect()
    }

    fn line<T: serde::de::DeserializeOwned>(&mut self, line: &[u8]) -> Result<T, JournalError> {
        self.n_lines += 1;
        self.offset += line.len() as u64 + 1;
        journal::parsed(line, &self.run.journal(), self.n_lines)
    }

    /// Everything behind the last whole line.
    fn unread(&self) -> Result<Vec<u8>, JournalError> {
        let (path, mut bytes) = (self.run.journal(), Vec::new());
        loop {
            let piece = files::read_piece(&path, self.offset + bytes.len() as u64)?;
            if piece.is_empty() {
                return Ok(bytes);
            }
            bytes.extend(piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use beads_ralph_core::engine::{
        Backoff, Caps, Event, Integration, Leader, Order, Selection, Settings,
    };
    use camino::Utf8PathBuf;
    use jiff::Timestamp;

    use super::*;

    fn settings() -> Settings {
        Settings {
            run: "run-1".to_owned(),
            selection: Selection::default(),
            seed: 1,
            max_parallel: 1,
            poll_ms: 1000,
            max_tries: 1,
            max_limit_tries: 1,
            backoff: Backoff::Exponential,
            limit_backoff: Backoff::Exponential,
            max_pull_tries: 1,
            integration: Integration::None,
            leader: Leader::Native,
            order: Order::Urgency,
            caps: Caps::default(),
            cleans_up: false,
            watches: false,
            is_once: false,
        }
    }

    fn entry(seq: u64) -> String {
        let entry = Entry {
            seq,
            at: Timestamp::UNIX_EPOCH,
            event: Event::Woke,
            effects: Vec::new(),
        };
        format!("{}\n", serde_json::to_string(&entry).unwrap())
    }

    #[test]
    fn z_4_a_journal_is_read_along_and_half_a_line_is_no_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap();
        let run = RunDirectory::at(&path);
        let write = |text: &str, length: Option<u64>| {
            let options = std::fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(run.journal());
            let mut file = options.unwrap();
            if let Some(length) = length {
                file.set_len(length).unwrap();
            }
            file.write_all(text.as_bytes()).unwrap();
        };
        write("", None);
        assert!(Following::begin(run.clone()).unwrap().is_none());
        let head = Head::new(settings(), "0", "m", Timestamp::UNIX_EPOCH);
        let head = format!("{}\n", serde_json::to_string(&head).unwrap());
        write(&head, None);
        let (_, mut following) = Following::begin(run.clone()).unwrap().unwrap();
        assert!(following.news().unwrap().is_empty());
        let (first, second) = (entry(1), entry(2));
        write(&format!("{first}{}", &second[..9]), None);
        let seqs = |following: &mut Following| -> Vec<u64> {
            let news = following.news().unwrap();
            news.iter().map(|entry| entry.seq).collect()
        };
        assert_eq!(seqs(&mut following), [1]);
        assert!(seqs(&mut following).is_empty());
        // Whoever goes on after a death cuts the half away, and writes something else.
        let whole = (head.len() + first.len()) as u64;
        write(&format!("{}{}", entry(2), entry(3)), Some(whole));
        assert_eq!(seqs(&mut following), [2, 3]);
        write("{\"seq\":\n", None);
        let error = following.news().unwrap_err().to_string();
        assert!(error.contains("line 5"), "{error}");
    }
}
