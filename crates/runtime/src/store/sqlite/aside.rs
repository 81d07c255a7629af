//! Files beside the store while it is mended: the damaged one is kept before anything else, worked on as a copy, and
//! replaced in one step.

use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write as _};

use camino::{Utf8Path, Utf8PathBuf};
use rusqlite::Connection;

use super::BUSY;
use super::failure::Failed;
use super::open::{self, MIGRATIONS, Purpose};
use crate::store::StoreError;

/// What belongs to one database.
const PARTS: [&str; 2] = ["", "-wal"];

/// Where a file's header says how many pages it has. Zero means that its length says so.
const PAGE_COUNT: u64 = 28;

fn failed(path: &Utf8Path) -> impl Fn(io::Error) -> StoreError {
    move |error| StoreError::WriteFailed {
        path: path.to_owned(),
        why: crate::os::limits::explain(&error),
    }
}

/// Copies the damaged file and its log under a name of their own; the name, if there was a file.
pub(super) fn keep(path: &Utf8Path) -> Result<Option<Utf8PathBuf>, StoreError> {
    if !path.exists() {
        return Ok(None);
    }
    let kept = (1..u32::MAX)
        .map(|number| Utf8PathBuf::from(format!("{path}.damaged-{number}")))
        .find(|kept| !kept.exists())
        .expect("some number is free");
    copy(path, &kept)?;
    Ok(Some(kept))
}

/// Copies a file and its log, so that they are on the disk.
pub(super) fn copy(from: &Utf8Path, to: &Utf8Path) -> Result<(), StoreError> {
    remove(to);
    for part in PARTS {
        let source = format!("{from}{part}");
        if Utf8Path::new(&source).exists() {
            let target = Utf8PathBuf::from(format!("{to}{part}"));
            fs::copy(&source, &target).map_err(failed(&target))?;
            let copied = File::open(&target).and_then(|file| file.sync_all());
            copied.map_err(failed(&target))?;
        }
    }
    Ok(())
}

/// Removes a file and what belongs to it.
pub(super) fn remove(path: &Utf8Path) {
    for suffix in ["", "-wal", "-shm", "-journal"] {
        drop(fs::remove_file(format!("{path}{suffix}")));
    }
}

/// Gives a file the first pages of a new store: those that say which tables there are and where they begin. They are those of the
/// first format: later steps leave the tables that hold the truth where they are, and what they add is derived.
pub(super) fn patch(path: &Utf8Path) -> Result<(), StoreError> {
    let fresh = Utf8PathBuf::from(format!("{path}.fresh"));
    remove(&fresh);
    let mut connection = open::connect(&fresh, Purpose::Make, BUSY)?;
    open::migrate(&mut connection, &fresh, &MIGRATIONS[..1], BUSY)?;
    let roots = roots(&connection).map_err(|failed| failed.at(&fresh, BUSY))?;
    close(connection).map_err(|failed| failed.at(&fresh, BUSY))?;
    let bytes = fs::read(&fresh).map_err(failed(&fresh))?;
    remove(&fresh);
    let write = || -> io::Result<()> {
        let mut file = File::options().write(true).open(path)?;
        let length = file.metadata()?.len();
        for (index, page) in bytes.chunks(PAGE_SIZE).enumerate() {
            let start = (index * PAGE_SIZE) as u64;
            // Pages that a table begins with hold its rows in the damaged file.
            let number = i64::try_from(index + 1).unwrap_or(i64::MAX);
            if !roots.contains(&number) && start < length {
                file.seek(SeekFrom::Start(start))?;
                file.write_all(page)?;
            }
        }
        file.seek(SeekFrom::Start(PAGE_COUNT))?;
        file.write_all(&[0; 4])
    };
    write().map_err(failed(path))
}

const PAGE_SIZE: usize = 4096;

fn roots(connection: &Connection) -> Result<Vec<i64>, Failed> {
    let mut statement =
        connection.prepare("SELECT rootpage FROM sqlite_schema WHERE rootpage > 0")?;
    let roots = statement.query_map([], |row| row.get(0))?;
    Ok(roots.collect::<Result<_, _>>()?)
}

/// Closes a database so that everything is in its file and nothing in a log.
pub(super) fn close(connection: Connection) -> Result<(), Failed> {
    let is_busy: i64 =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    debug_assert_eq!(is_busy, 0, "nobody else knows of the file");
    connection.close().map_err(|(_, error)| Failed::from(error))
}

/// Puts a file in the place of another in one step.
pub(super) fn replace(path: &Utf8Path, new: &Utf8Path) -> Result<(), StoreError> {
    // A log that is left behind would be applied to the new file, so it goes first. It was copied before.
    for suffix in ["-wal", "-shm"] {
        drop(fs::remove_file(format!("{path}{suffix}")));
    }
    fs::rename(new, path).map_err(failed(path))?;
    let directory = path.parent().unwrap_or(Utf8Path::new("."));
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(failed(path))
}
