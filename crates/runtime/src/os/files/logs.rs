//! Log files: appended to durably, read while another process writes them, compressed, and limited in number.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::time::SystemTime;

use beads_ralph_core::text::Span;
use camino::{Utf8Path, Utf8PathBuf};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::super::limits;
use super::{
    FileError, directory_of, names, open_own, opening, read_limited, remove_leftover,
    sync_directory, temporary_file,
};

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

    /// Continues a file after its first bytes; the rest is truncated.
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

/// How much is read at once at the most.
const MAX_PIECE: u64 = 1 << 20;

/// What a file in a place of ours holds behind an offset, up to a megabyte of it; nothing when it ends there or before.
pub fn read_piece(path: &Utf8Path, offset: u64) -> Result<Vec<u8>, FileError> {
    let mut file = open_own(path)?;
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset))
        .and_then(|_| file.take(MAX_PIECE).read_to_end(&mut bytes))
        .map_err(FileError::io("read", path))?;
    Ok(bytes)
}

const ENDING: &str = ".gz";

/// Replaces a finished file by a compressed one beside it, `<name>.gz`, whose path is given back. Until the new one is whole
/// the old one stays; so it does when it is larger than can be [read](super::read) again.
pub fn compress(path: &Utf8Path) -> Result<Utf8PathBuf, FileError> {
    let target = compressed_name(path);
    let source = open_own(path)?;
    let limit = Span::MAX_TEXT as u64;
    let too_large = || FileError::TooLarge {
        path: path.to_owned(),
    };
    // A file can be huge and have cost nothing; it can also grow while it is read.
    let length = source.metadata().map_err(FileError::io("read", path))?;
    if length.len() > limit {
        return Err(too_large());
    }
    let unnamed = |error: io::Error| FileError::io("write", &target)(limits::without_path(&error));
    let temporary = temporary_file(directory_of(&target)).map_err(unnamed)?;
    let mut encoder = GzEncoder::new(temporary, Compression::fast());
    let n_bytes = io::copy(&mut source.take(limit + 1), &mut encoder);
    if n_bytes.map_err(FileError::io("write", &target))? > limit {
        return Err(too_large());
    }
    let temporary = encoder.finish().map_err(FileError::io("write", &target))?;
    let synced = temporary.as_file().sync_all();
    synced.map_err(FileError::io("write", &target))?;
    temporary
        .persist(&target)
        .map_err(|error| FileError::io("write", &target)(error.error))?;
    sync_directory(&target);
    fs::remove_file(path).map_err(FileError::io("remove", path))?;
    Ok(target)
}

/// Whether a file is one that [`compress`] has made, by its name.
pub fn is_compressed(path: &Utf8Path) -> bool {
    path.as_str().ends_with(ENDING)
}

/// Where a file is once it is [compressed](compress).
pub fn compressed_name(path: &Utf8Path) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{path}{ENDING}"))
}

/// The name of a file before it was [compressed](compress), if it was.
pub fn plain_name(name: &str) -> &str {
    name.strip_suffix(ENDING).unwrap_or(name)
}

/// Reads a whole file in a place of ours, unpacked if it is compressed. However little room it takes, what is in it may not be
/// more than [`read`](super::read) takes.
pub fn read_kept(path: &Utf8Path) -> Result<Vec<u8>, FileError> {
    let file = open_own(path)?;
    if is_compressed(path) {
        read_limited(GzDecoder::new(file), path)
    } else {
        read_limited(file, path)
    }
}

/// Removes the oldest files of a directory whose names end so, until this many are left. What cannot be removed is tried again the next time.
pub fn keep_newest(directory: &Utf8Path, ending: &str, n_kept: usize) -> Result<(), FileError> {
    let names = names(directory)?.into_iter();
    let mut files: Vec<(SystemTime, String)> = names
        .filter(|name| name.ends_with(ending))
        .filter_map(|name| {
            let metadata = directory.join(&name).symlink_metadata().ok()?;
            Some((metadata.modified().ok()?, name))
        })
        .collect();
    files.sort();
    let n_old = files.len().saturating_sub(n_kept);
    for (_, name) in files.iter().take(n_old) {
        remove_leftover(&directory.join(name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::time::Duration;

    use super::super::tests::directory;
    use super::super::{read, write_atomic, write_passing};

    use super::*;

    #[test]
    fn a_file_is_read_from_where_one_was() {
        let (_guard, path) = directory();
        let file = path.join("stdout");
        write_atomic(&file, b"one\ntwo\n").unwrap();
        assert_eq!(read_piece(&file, 0).unwrap(), b"one\ntwo\n");
        assert_eq!(read_piece(&file, 4).unwrap(), b"two\n");
        assert_eq!(read_piece(&file, 99).unwrap(), b"");
        write_atomic(&file, &vec![b'x'; 3 << 20]).unwrap();
        assert_eq!(read_piece(&file, 1).unwrap().len(), 1 << 20);
        assert!(read_piece(&path.join("absent"), 0).is_err());
    }

    #[test]
    fn a_compressed_file_takes_the_place_of_the_plain_one() {
        let (_guard, path) = directory();
        let plain = path.join("stdout");
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        write_atomic(&plain, &bytes).unwrap();
        assert_eq!(read_kept(&plain).unwrap(), bytes);
        let compressed = compress(&plain).unwrap();
        assert_eq!(compressed, path.join("stdout.gz"));
        assert_eq!(read_kept(&compressed).unwrap(), bytes);
        assert_eq!(plain_name("stdout.gz"), "stdout");
        assert_eq!(
            fs::read_dir(&path).unwrap().count(),
            1,
            "only the new one is left"
        );
        assert!(compress(&plain).is_err());
    }

    #[test]
    fn what_is_no_file_is_not_compressed() {
        let (_guard, path) = directory();
        let (zeros, huge) = (path.join("zeros"), path.join("huge"));
        std::os::unix::fs::symlink("/dev/zero", &zeros).unwrap();
        let file = OpenOptions::new().write(true).create_new(true).open(&huge);
        file.unwrap().set_len(1 << 40).unwrap();
        for path in [zeros, huge] {
            let error = compress(&path).unwrap_err();
            let is_refused = matches!(
                error,
                FileError::NotAFile { .. } | FileError::TooLarge { .. }
            );
            assert!(is_refused, "{error}");
            assert!(fs::symlink_metadata(&path).is_ok(), "it stays");
        }
    }

    #[test]
    fn what_is_not_compressed_is_not_unpacked() {
        let (_guard, path) = directory();
        let path = path.join("stdout.gz");
        write_atomic(&path, b"plain").unwrap();
        assert!(read_kept(&path).is_err());
        assert_eq!(read(&path).unwrap(), b"plain");
    }

    #[test]
    fn g_8_only_the_newest_files_of_a_kind_are_kept() {
        let guard = tempfile::tempdir().unwrap();
        let directory = Utf8Path::from_path(guard.path()).unwrap();
        // The last one by name is the oldest.
        for (age, name) in ["c.json", "b.json", "a.json", "z.txt"]
            .into_iter()
            .enumerate()
        {
            let path = directory.join(name);
            write_passing(&path, b"").unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(age as u64);
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(time).unwrap();
        }
        keep_newest(directory, ".json", 2).unwrap();
        assert_eq!(names(directory).unwrap(), ["a.json", "b.json", "z.txt"]);
        keep_newest(directory, ".json", 2).unwrap();
        assert_eq!(names(directory).unwrap().len(), 3);
    }
}
