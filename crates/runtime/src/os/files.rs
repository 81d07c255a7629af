//! Reading whole texts, and writing files so that they are never seen half-written.

mod logs;
mod opening;

pub use self::logs::Appender;
pub use self::logs::keep_newest;
pub use self::logs::read_piece;
pub use self::logs::{compress, compressed_name, is_compressed, plain_name, read_kept};
pub use opening::open_own;

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, BufWriter, Read, Seek as _, Write as _};

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::text::Span;
use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;
use tempfile::NamedTempFile;
use thiserror::Error;

use crate::os::limits;
use crate::repo::shown;

#[derive(Debug, Error)]
pub enum FileError {
    #[error("{} does not exist", shown(path))]
    NotFound { path: Utf8PathBuf },
    #[error("{} is {what}, not a file", shown(path))]
    NotAFile {
        path: Utf8PathBuf,
        what: &'static str,
    },
    /// More than spans can address.
    #[error("{} is larger than 4 GiB", shown(path))]
    TooLarge { path: Utf8PathBuf },
    #[error("cannot {action} {}: {}", shown(path), limits::explain(source))]
    Io {
        /// `read`, `write`, `create`, `remove`.
        action: &'static str,
        path: Utf8PathBuf,
        source: io::Error,
    },
    /// The file is not what it was when it was read.
    #[error(
        "{} was changed by another program meanwhile; nothing was written",
        shown(path)
    )]
    Changed { path: Utf8PathBuf },
    /// The file must not be overwritten.
    #[error("{} exists already", shown(path))]
    Exists { path: Utf8PathBuf },
}

impl FileError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } => ErrorCode::IoFileNotFound,
            Self::NotAFile { .. }
            | Self::TooLarge { .. }
            | Self::Io { .. }
            | Self::Exists { .. } => ErrorCode::IoPermissionDenied,
            Self::Changed { .. } => ErrorCode::PlanConcurrentEdit,
        }
    }

    pub(crate) fn io(action: &'static str, path: &Utf8Path) -> impl FnOnce(io::Error) -> Self {
        move |source| match source.kind() {
            io::ErrorKind::NotFound if action == "read" => Self::NotFound {
                path: path.to_owned(),
            },
            _ => Self::Io {
                action,
                path: path.to_owned(),
                source,
            },
        }
    }
}

/// Reads a whole file (P-27). Pipes and sockets are refused, because they could block for ever; so is
/// what is too large for spans.
pub fn read(path: &Utf8Path) -> Result<Vec<u8>, FileError> {
    read_limited(opening::open_named(path)?, path)
}

/// The names of what is in a directory, in order; those that are not UTF-8 are left out.
pub fn names(directory: &Utf8Path) -> Result<Vec<String>, FileError> {
    let entries = directory.read_dir_utf8();
    let entries = entries.map_err(FileError::io("read", directory))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_owned()))
        .collect();
    names.sort_unstable();
    Ok(names)
}

/// Reads all of standard input, or of anything else, up to what spans can address.
pub fn read_limited(source: impl Read, path: &Utf8Path) -> Result<Vec<u8>, FileError> {
    let limit = Span::MAX_TEXT as u64;
    let mut bytes = Vec::new();
    let length = source
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(FileError::io("read", path))?;
    if length as u64 > limit {
        return Err(FileError::TooLarge {
            path: path.to_owned(),
        });
    }
    Ok(bytes)
}

/// Writes a file in one step: whoever reads it sees the old bytes or the new ones, also after a crash.
pub fn write_atomic(path: &Utf8Path, bytes: &[u8]) -> Result<(), FileError> {
    let temporary = written_beside(path, bytes, None)?;
    temporary
        .persist(path)
        .map_err(|error| FileError::io("write", path)(error.error))?;
    sync_directory(path);
    Ok(())
}

/// The same for content too large for memory: a function writes it, and if it fails there is no new file.
pub fn write_atomic_with<E: From<FileError>>(
    path: &Utf8Path,
    write: impl FnOnce(&mut dyn FnMut(&str) -> Result<(), FileError>) -> Result<(), E>,
) -> Result<(), E> {
    let temporary = unsynced_beside(path, &[], None)?;
    let mut file = BufWriter::new(temporary.as_file());
    write(&mut |text| {
        let written = file.write_all(text.as_bytes());
        written.map_err(FileError::io("write", path))
    })?;
    let flushed = file.flush();
    drop(file);
    let synced = flushed.and_then(|()| temporary.as_file().sync_all());
    synced.map_err(FileError::io("write", path))?;
    temporary
        .persist(path)
        .map_err(|error| FileError::io("write", path)(error.error))?;
    sync_directory(path);
    Ok(())
}

/// Writes a file that can be made again, such as a prompt: whoever reads it sees the old bytes or the new ones, but nobody waits until
/// they are on the disk, so that a power cut may lose them.
pub fn write_passing(path: &Utf8Path, bytes: &[u8]) -> Result<(), FileError> {
    let temporary = unsynced_beside(path, bytes, None)?;
    temporary
        .persist(path)
        .map_err(|error| FileError::io("write", path)(error.error))?;
    Ok(())
}

pub fn create_new(path: &Utf8Path, bytes: &[u8]) -> Result<(), FileError> {
    let temporary = written_beside(path, bytes, None)?;
    temporary
        .persist_noclobber(path)
        .map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => FileError::Exists {
                path: path.to_owned(),
            },
            _ => FileError::io("create", path)(error.error),
        })?;
    sync_directory(path);
    Ok(())
}

/// Makes a file for what comes bit by bit, such as the output of a program; it must not exist yet, not even as a link. It can
/// be seen half-written, so it is for records that are read when they are finished.
pub fn stream_into(path: &Utf8Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Removes a file that an earlier run may have left; a link is removed, not its target. Whoever needs the place learns
/// when it is not free.
pub fn remove_leftover(path: &Utf8Path) {
    drop(fs::remove_file(path));
}

pub fn create_directory(path: &Utf8Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(FileError::io("create", path))
}

/// Makes a directory below one that is there; `false` when there is something of that name already.
pub fn create_new_directory(path: &Utf8Path) -> Result<bool, FileError> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        made => made.map(|()| true).map_err(FileError::io("create", path)),
    }
}

/// Creates a new directory, with a number behind its name from the second one on, and says which it is: what an earlier one
/// holds stays as it is.
pub fn fresh_directory(wanted: &Utf8Path) -> Result<(Utf8PathBuf, u32), FileError> {
    create_directory(wanted.parent().unwrap_or(wanted))?;
    let mut place = wanted.to_owned();
    let mut n = 1;
    while !create_new_directory(&place)? {
        n += 1;
        place = Utf8PathBuf::from(format!("{wanted}-{n}"));
    }
    Ok((place, n))
}

/// Copies what is in a directory, links left out; `false` when there are more files than may be.
pub fn copy_directory(from: &Utf8Path, to: &Utf8Path, max_files: usize) -> Result<bool, FileError> {
    let mut pending = vec![(from.to_owned(), to.to_owned())];
    let mut n_files = 0;
    while let Some((from, to)) = pending.pop() {
        for entry in from.read_dir_utf8().map_err(FileError::io("read", &from))? {
            let entry = entry.map_err(FileError::io("read", &from))?;
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            n_files += 1;
            if n_files > max_files {
                return Ok(false);
            }
            let kind = entry.file_type().map_err(FileError::io("read", source))?;
            if kind.is_dir() {
                fs::create_dir(&target).map_err(FileError::io("create", &target))?;
                pending.push((source.to_owned(), target));
            } else if kind.is_file() {
                fs::copy(source, &target).map_err(FileError::io("write", &target))?;
            }
        }
    }
    Ok(true)
}

/// Copies a file, a link as a link, or a directory with all that is in it. What is there is written over; pipes and the like are
/// left out.
pub fn copy_over(from: &Utf8Path, to: &Utf8Path) -> Result<(), FileError> {
    let mut pending = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = pending.pop() {
        let metadata = fs::symlink_metadata(&from).map_err(FileError::io("read", &from))?;
        if metadata.is_symlink() {
            let target = fs::read_link(&from).map_err(FileError::io("read", &from))?;
            remove_leftover(&to);
            std::os::unix::fs::symlink(target, &to).map_err(FileError::io("create", &to))?;
        } else if metadata.is_dir() {
            fs::create_dir_all(&to).map_err(FileError::io("create", &to))?;
            for entry in from.read_dir_utf8().map_err(FileError::io("read", &from))? {
                let entry = entry.map_err(FileError::io("read", &from))?;
                pending.push((entry.path().to_owned(), to.join(entry.file_name())));
            }
        } else if metadata.is_file() {
            fs::copy(&from, &to).map_err(FileError::io("write", &to))?;
        }
    }
    Ok(())
}

/// Puts a file in the place of another in one step, also from another file system. What is written through other names of the one
/// that was there stays as it is.
pub fn move_over(from: &Utf8Path, to: &Utf8Path) -> Result<(), FileError> {
    let moved = fs::rename(from, to);
    if !moved
        .as_ref()
        .is_err_and(|error| error.kind() == io::ErrorKind::CrossesDevices)
    {
        return moved.map_err(FileError::io("write", to));
    }
    let parent = to.parent().unwrap_or(to);
    let copied = tempfile::NamedTempFile::new_in(parent).and_then(|copy| {
        fs::copy(from, copy.path())?;
        copy.persist(to).map_err(|error| error.error)
    });
    copied.map(drop).map_err(FileError::io("write", to))
}

/// A lock that the system takes back when the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: Utf8PathBuf,
}

impl Lock {
    /// What whoever held the lock before left in its file.
    pub fn note(&self) -> Result<String, FileError> {
        let mut text = String::new();
        let limited = (&self.file).take(MAX_NOTE).read_to_string(&mut text);
        limited.map_err(FileError::io("read", &self.path))?;
        Ok(text)
    }

    /// Leaves a word for whoever holds the lock next, also if this process dies.
    pub fn leave(&mut self, note: &str) -> Result<(), FileError> {
        let written = self
            .file
            .set_len(0)
            .and_then(|()| self.file.seek(io::SeekFrom::Start(0)))
            .and_then(|_| self.file.write_all(note.as_bytes()));
        written.map_err(FileError::io("write", &self.path))
    }
}

/// No note is as long.
const MAX_NOTE: u64 = 4096;

/// Takes a lock; nothing when somebody else holds it. The file stays: removing it would let two hold locks on two files of one
/// name.
pub fn lock(path: &Utf8Path) -> Result<Option<Lock>, FileError> {
    let file = opening::open_own_to_write(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock {
            file,
            path: path.to_owned(),
        })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(FileError::io("lock", path)(error)),
    }
}

/// Moves a file to a place where nothing is; where something is, a number is added to the name. The answer is the place.
pub fn move_new(from: &Utf8Path, to: &Utf8Path) -> Result<Utf8PathBuf, FileError> {
    let (stem, ending) = (to.file_stem().unwrap_or_default(), to.extension());
    let ending = ending.map_or(String::new(), |ending| format!(".{ending}"));
    let mut place = to.to_owned();
    let mut number = 2;
    while place.exists() {
        place = to.with_file_name(format!("{stem}-{number}{ending}"));
        number += 1;
    }
    fs::rename(from, &place).map_err(FileError::io("write", &place))?;
    sync_directory(&place);
    sync_directory(from);
    Ok(place)
}

/// Makes a symbolic link to a file; one that is there leads to it afterwards.
pub fn link(target: &Utf8Path, link: &Utf8Path) -> Result<(), FileError> {
    if fs::read_link(link).is_ok_and(|path| path == target.as_std_path()) {
        return Ok(());
    }
    if fs::symlink_metadata(link).is_ok_and(|metadata| metadata.is_symlink()) {
        fs::remove_file(link).map_err(FileError::io("remove", link))?;
    }
    #[cfg(unix)]
    let made = std::os::unix::fs::symlink(target, link);
    #[cfg(not(unix))]
    let made = fs::copy(target, link).map(drop);
    made.map_err(FileError::io("write", link))
}

/// Gives a directory another name beside it, in one step; nothing may have that name.
pub fn rename_directory(from: &Utf8Path, to: &Utf8Path) -> Result<(), FileError> {
    fs::rename(from, to).map_err(FileError::io("rename", from))
}

/// Removes a directory with everything that is in it; links are not followed.
pub fn remove_directory(path: &Utf8Path) -> Result<(), FileError> {
    fs::remove_dir_all(path).map_err(FileError::io("remove", path))
}

/// How much room is left where a path is, for people without special rights.
pub fn free_bytes(path: &Utf8Path) -> Result<u64, FileError> {
    let room = rustix::fs::statvfs(path.as_std_path());
    let room = room.map_err(|error| FileError::io("read", path)(error.into()))?;
    Ok(room.f_bavail.saturating_mul(room.f_frsize))
}

/// A document as it is written for people and programs: indented, with a line end.
pub fn to_json(document: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(document).expect("what we write can be written");
    bytes.push(b'\n');
    bytes
}

/// Replaces a file's bytes, but only if they are still the ones that were read. The mode bits stay,
/// and a symbolic link stays a link.
pub fn replace(path: &Utf8Path, before: &[u8], after: &[u8]) -> Result<(), FileError> {
    let target = path
        .canonicalize_utf8()
        .map_err(FileError::io("write", path))?;
    let original = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&target)
        .map_err(FileError::io("write", path))?;
    // Our own processes take turns. Whoever holds the lock is about to replace the file; where there are no
    // locks, the comparison below has to do, and leaves only the moment between it and the rename.
    if let Err(TryLockError::WouldBlock) = original.try_lock() {
        return Err(FileError::Changed {
            path: path.to_owned(),
        });
    }
    let mode = original
        .metadata()
        .map_err(FileError::io("write", path))?
        .permissions();
    let temporary = written_beside(&target, after, Some(mode))?;
    if read(&target)? != before {
        return Err(FileError::Changed {
            path: path.to_owned(),
        });
    }
    temporary
        .persist(&target)
        .map_err(|error| FileError::io("write", path)(error.error))?;
    sync_directory(&target);
    Ok(())
}

fn written_beside(
    path: &Utf8Path,
    bytes: &[u8],
    mode: Option<Permissions>,
) -> Result<NamedTempFile, FileError> {
    let temporary = unsynced_beside(path, bytes, mode)?;
    let synced = temporary.as_file().sync_all();
    synced.map_err(FileError::io("write", path))?;
    Ok(temporary)
}

fn unsynced_beside(
    path: &Utf8Path,
    bytes: &[u8],
    mode: Option<Permissions>,
) -> Result<NamedTempFile, FileError> {
    let directory = directory_of(path);
    if !directory.is_dir() {
        return Err(FileError::NotFound {
            path: directory.to_owned(),
        });
    }
    // The error would name the temporary file, which means nothing to anybody.
    let unnamed = |error: io::Error| FileError::io("write", path)(limits::without_path(&error));
    let mut temporary = temporary_file(directory).map_err(unnamed)?;
    let file = temporary.as_file_mut();
    let moded = mode.map_or(Ok(()), |mode| file.set_permissions(mode));
    let written = moded.and_then(|()| file.write_all(bytes));
    written.map_err(FileError::io("write", path))?;
    Ok(temporary)
}

/// A temporary file with the mode that an ordinary new file would get.
fn temporary_file(directory: &Utf8Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".beads-ralph-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(directory)
}

fn directory_of(path: &Utf8Path) -> &Utf8Path {
    path.parent()
        .filter(|parent| !parent.as_str().is_empty())
        .unwrap_or(Utf8Path::new("."))
}

/// Makes the rename itself durable. A file system that cannot is not an error: the file exists.
fn sync_directory(path: &Utf8Path) {
    if let Ok(directory) = File::open(directory_of(path)) {
        drop(directory.sync_all());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn directory() -> (tempfile::TempDir, Utf8PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap();
        (directory, path)
    }

    #[test]
    fn p_27_what_cannot_be_read_has_its_code() {
        let (_guard, path) = directory();
        assert_eq!(
            read(&path.join("absent")).unwrap_err().code(),
            ErrorCode::IoFileNotFound
        );
        assert_eq!(
            read(&path).unwrap_err().code(),
            ErrorCode::IoPermissionDenied
        );
        assert_eq!(
            read(&path.join("absent/below")).unwrap_err().code(),
            ErrorCode::IoFileNotFound
        );
    }

    /// What somebody may put where a file is expected: a pipe that nobody fills, a socket, links.
    fn traps(path: &Utf8Path) -> [Utf8PathBuf; 4] {
        let traps = ["pipe", "socket", "zero", "round"].map(|name| path.join(name));
        let [pipe, socket, zero, round] = &traps;
        make_pipe(pipe);
        drop(std::os::unix::net::UnixListener::bind(socket).unwrap());
        std::os::unix::fs::symlink("/dev/zero", zero).unwrap();
        std::os::unix::fs::symlink(round, round).unwrap();
        traps
    }

    #[cfg(not(target_vendor = "apple"))]
    fn make_pipe(path: &Utf8Path) {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let mode = Mode::from_raw_mode(0o600);
        mknodat(CWD, path.as_std_path(), FileType::Fifo, mode, 0).unwrap();
    }

    #[cfg(target_vendor = "apple")]
    fn make_pipe(path: &Utf8Path) {
        std::os::unix::fs::symlink("/dev/stdin", path).unwrap();
    }

    #[test]
    fn p_27_what_is_no_file_is_neither_read_nor_waited_for() {
        let (_guard, path) = directory();
        for trap in traps(&path) {
            let error = read(&trap).unwrap_err();
            assert_eq!(error.code(), ErrorCode::IoPermissionDenied, "{error}");
            for error in [open_own(&trap).unwrap_err(), lock(&trap).unwrap_err()] {
                assert!(matches!(error, FileError::NotAFile { .. }), "{error}");
            }
        }
    }

    #[test]
    fn what_is_ours_is_never_written_through_a_link() {
        let (_guard, path) = directory();
        let (theirs, link) = (path.join("theirs"), path.join("link"));
        write_atomic(&theirs, b"theirs").unwrap();
        std::os::unix::fs::symlink(&theirs, &link).unwrap();
        for place in traps(&path).iter().chain([&theirs, &link]) {
            let error = stream_into(place).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{place}");
        }
        assert!(lock(&link).is_err() && open_own(&link).is_err());
        assert_eq!(read(&link).unwrap(), b"theirs", "a user may name a link");
        remove_leftover(&link);
        assert!(stream_into(&link).is_ok() && lock(&theirs).unwrap().is_some());
        assert_eq!(read(&theirs).unwrap(), b"theirs");
    }

    #[test]
    fn a_8_a_file_that_changed_is_left_alone() {
        let (_guard, path) = directory();
        let plan = path.join("plan.md");
        write_atomic(&plan, b"theirs").unwrap();
        assert_eq!(
            replace(&plan, b"ours", b"new").unwrap_err().code(),
            ErrorCode::PlanConcurrentEdit
        );
        assert_eq!(read(&plan).unwrap(), b"theirs");
        replace(&plan, b"theirs", b"new").unwrap();
        assert_eq!(read(&plan).unwrap(), b"new");
        assert_eq!(
            fs::read_dir(&path).unwrap().count(),
            1,
            "no temporary file is left behind"
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_8_mode_bits_and_links_are_kept() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_guard, path) = directory();
        let (plan, link) = (path.join("plan.md"), path.join("link.md"));
        write_atomic(&plan, b"a").unwrap();
        fs::set_permissions(&plan, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&plan, &link).unwrap();
        replace(&link, b"a", b"b").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(
            fs::metadata(&plan).unwrap().permissions().mode() & 0o777,
            0o640
        );
        assert_eq!(read(&plan).unwrap(), b"b");
    }

    #[test]
    fn a_8_two_writers_at_once_lose_nothing() {
        let (_guard, path) = directory();
        let plan = path.join("plan.md");
        write_atomic(&plan, b"0").unwrap();
        let write = |n: u8| replace(&plan, b"0", &[n]).is_ok();
        let winners = std::thread::scope(|scope| {
            let writers: Vec<_> = (1..=8).map(|n| scope.spawn(move || write(n))).collect();
            writers
                .into_iter()
                .filter_map(|writer| writer.join().ok())
                .filter(|won| *won)
                .count()
        });
        assert_eq!(winners, 1);
    }

    #[test]
    fn a_passing_file_is_replaced_whole() {
        let (_guard, path) = directory();
        let prompt = path.join("prompt.md");
        for text in ["a long text", "a text"] {
            write_passing(&prompt, text.as_bytes()).unwrap();
            assert_eq!(read(&prompt).unwrap(), text.as_bytes());
        }
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1);
        assert!(matches!(
            write_passing(&path.join("missing/prompt.md"), b"x"),
            Err(FileError::NotFound { .. })
        ));
    }

    #[test]
    fn an_existing_file_is_not_overwritten() {
        let (_guard, path) = directory();
        create_new(&path.join("a"), b"1").unwrap();
        assert!(matches!(
            create_new(&path.join("a"), b"2"),
            Err(FileError::Exists { .. })
        ));
        assert_eq!(read(&path.join("a")).unwrap(), b"1");
    }
}
