//! A file that only grows: what was appended is on the disk before anybody acts on it.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};

use camino::{Utf8Path, Utf8PathBuf};

use super::{FileError, opening, sync_directory};

#[derive(Debug)]
pub struct Appender {
    file: File,
    path: Utf8PathBuf,
    /// How long it is, as far as what was appended is whole.
    length: u64,
}

impl Appender {
    /// Begins a file where none is. It is never seen without its first bytes.
    pub fn create(path: &Utf8Path, first: &[u8]) -> Result<Self, FileError> {
        super::create_new(path, first)?;
        Self::reopen(path, first.len() as u64)
    }

    /// Goes on with a file after its first bytes; what comes behind them is cut away.
    pub fn reopen(path: &Utf8Path, length: u64) -> Result<Self, FileError> {
        let mut file = opening::open_own_to_write(path)?;
        let cut = file
            .set_len(length)
            .and_then(|()| file.seek(SeekFrom::Start(length)));
        cut.map_err(FileError::io("write", path))?;
        sync_directory(path);
        Ok(Self {
            file,
            path: path.to_owned(),
            length,
        })
    }

    /// The error of a disk that is full, for tests that cannot fill one.
    pub(crate) fn full(&self) -> FileError {
        FileError::io("write", &self.path)(std::io::ErrorKind::StorageFull.into())
    }

    /// Appends bytes, and waits until they are on the disk. What could not be appended whole is cut away again, so that a full disk
    /// leaves no half of it.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        let written = self
            .file
            .write_all(bytes)
            .and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            let cut = self.file.set_len(self.length);
            drop(cut.and_then(|()| self.file.seek(SeekFrom::Start(self.length))));
            return Err(FileError::io("write", &self.path)(error));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }
}
