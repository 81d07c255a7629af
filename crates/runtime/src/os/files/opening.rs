//! Opening files in places that others can write to: what lies there may be a pipe that nobody ever fills, a device without an
//! end, or a link to a file of somebody else.
//!
//! Nothing here waits, and what was opened is looked at by its handle, so that it cannot be exchanged in between.

use std::fs::{File, Metadata, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;

use camino::Utf8Path;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::FileError;

/// Opens a file that the user named; it may be a link.
pub(super) fn open_named(path: &Utf8Path) -> Result<File, FileError> {
    open(OpenOptions::new().read(true), OFlags::empty(), "read", path)
}

/// Opens a file in a place of ours, where nobody has a reason to put a link.
pub fn open_own(path: &Utf8Path) -> Result<File, FileError> {
    open(
        OpenOptions::new().read(true),
        OFlags::NOFOLLOW,
        "read",
        path,
    )
}

/// Opens a file in a place of ours to read and write, and makes it if it is not there. What it holds stays.
pub(super) fn open_own_to_write(path: &Utf8Path) -> Result<File, FileError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    open(&mut options, OFlags::NOFOLLOW, "create", path)
}

fn open(
    options: &mut OpenOptions,
    flags: OFlags,
    action: &'static str,
    path: &Utf8Path,
) -> Result<File, FileError> {
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
    let options = options.custom_flags(flags.bits().cast_signed());
    let not_a_file = |what| FileError::NotAFile {
        path: path.to_owned(),
        what,
    };
    let file = options
        .open(path)
        .map_err(|error| match Errno::from_io_error(&error) {
            Some(Errno::LOOP) if flags.contains(OFlags::NOFOLLOW) => not_a_file(LINK),
            Some(Errno::ISDIR) => not_a_file(DIRECTORY),
            // A socket, or a pipe that nobody reads.
            Some(Errno::NXIO) => not_a_file(SPECIAL),
            _ => FileError::io(action, path)(error),
        })?;
    let metadata = file.metadata().map_err(FileError::io(action, path))?;
    what_else(&metadata).map_or(Ok(file), |what| Err(not_a_file(what)))
}

const LINK: &str = "a symbolic link";
const DIRECTORY: &str = "a directory";
const SPECIAL: &str = "a pipe, socket or device";

fn what_else(metadata: &Metadata) -> Option<&'static str> {
    if metadata.is_dir() {
        Some(DIRECTORY)
    } else {
        (!metadata.is_file()).then_some(SPECIAL)
    }
}
