//! Opening the file: its lock, its settings, its format.

use std::fs::{File, OpenOptions, TryLockError};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use rusqlite::{Connection, OpenFlags, Transaction};

use super::facts;
use super::failure::{self, Failed};
use crate::os::limits;
use crate::store::{Result, StoreError};

/// Derives what a format adds from what is there.
type Derive = fn(&Transaction<'_>) -> Result<(), Failed>;

/// What makes a format from the one before.
#[derive(Clone, Copy)]
pub(super) struct Step {
    sql: &'static str,
    /// What is derived afterwards from what is there.
    derive: Option<Derive>,
}

impl Step {
    const fn new(sql: &'static str) -> Self {
        Self { sql, derive: None }
    }

    fn run(self, transaction: &Transaction<'_>) -> Result<(), Failed> {
        transaction.execute_batch(self.sql)?;
        self.derive.map_or(Ok(()), |derive| derive(transaction))
    }
}

/// The formats, each made from the one before by its own step; the newest is what this program writes.
pub(super) const MIGRATIONS: [Step; 2] = [
    Step::new(include_str!("schema.sql")),
    Step {
        sql: include_str!("facts.sql"),
        derive: Some(facts::derive_all),
    },
];

pub(super) const FORMAT: i64 = 2;

/// Marks the file as ours, so that no other database is taken for it.
const APPLICATION_ID: i32 = 0x6265_6164;

const PAUSE: Duration = Duration::from_millis(20);

/// What a process wants to do with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Shared,
    /// Have it alone: to bring it to a newer format or to repair it.
    Alone,
}

/// Takes the lock beside the file. It is given back when the file handle is dropped, also by `kill -9`.
pub(super) fn lock(path: &Utf8Path, access: Access, busy: Duration) -> Result<File> {
    let beside = path.with_extension("lock");
    let unusable = |error: std::io::Error| StoreError::Unusable {
        path: beside.clone(),
        why: limits::explain(&error),
    };
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&beside)
        .map_err(unusable)?;
    let mut waited = Duration::ZERO;
    loop {
        let locked = match access {
            Access::Shared => file.try_lock_shared(),
            Access::Alone => file.try_lock(),
        };
        match locked {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if waited >= busy => {
                return Err(StoreError::Busy {
                    path: path.to_owned(),
                    seconds: busy.as_secs(),
                });
            }
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(PAUSE);
                waited += PAUSE;
            }
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Use,
    /// To make the file if there is none.
    Make,
    /// To read what is left of a file that was cut short or whose schema is torn.
    Salvage,
}

/// Opens the file with the settings that the contract needs.
pub(super) fn connect(path: &Utf8Path, purpose: Purpose, busy: Duration) -> Result<Connection> {
    if path.is_dir() {
        return Err(StoreError::Unusable {
            path: path.to_owned(),
            why: "it is a directory".to_owned(),
        });
    }
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if purpose == Purpose::Make {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let open = || -> Result<Connection, Failed> {
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(busy)?;
        connection.set_prepared_statement_cache_capacity(64);
        if purpose == Purpose::Salvage {
            connection.execute_batch("PRAGMA writable_schema = ON")?;
        }
        // FULL: what was acknowledged is on the disk. The checks find broken pages when they are read.
        connection.execute_batch(
            "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF;",
        )?;
        Ok(connection)
    };
    open().map_err(|failed| failed.at(path, busy))
}

/// The format of a file; 0 is a file without anything in it.
pub(super) fn format(connection: &Connection) -> Result<i64, Failed> {
    let version = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    Ok(version)
}

/// The format of a file and the program that it belongs to, asked for at once: every command opens the file.
/// A copy that somebody put back may keep its log in another way, in which readers would wait for writers; it is set right.
fn numbers(connection: &Connection) -> Result<(i64, i32), Failed> {
    let sql = "SELECT user_version, application_id, journal_mode FROM pragma_user_version, pragma_application_id, pragma_journal_mode";
    let (format, application, mode): (i64, i32, String) =
        connection.query_row(sql, [], |row| row.try_into())?;
    if application == APPLICATION_ID && mode != "wal" {
        connection.pragma_update(None, "journal_mode", "wal")?;
    }
    Ok((format, application))
}

/// Refuses what this program cannot read.
pub(super) fn check_format(
    connection: &Connection,
    path: &Utf8Path,
    known: i64,
    busy: Duration,
) -> Result<i64> {
    let (found, application) = numbers(connection).map_err(|failed| failed.at(path, busy))?;
    let is_ours = application == APPLICATION_ID;
    // Most programs leave both numbers at zero, so that only an empty file is nobody's.
    let has_objects = || -> Result<bool, Failed> {
        let mut objects = connection.prepare("SELECT 1 FROM sqlite_schema")?;
        Ok(objects.exists([])?)
    };
    if !is_ours
        && (application != 0
            || found != 0
            || has_objects().map_err(|failed| failed.at(path, busy))?)
    {
        if has_our_tables(connection) {
            return Err(StoreError::Damaged {
                path: path.to_owned(),
                what: "its mark is not what was written".to_owned(),
            });
        }
        return Err(StoreError::Unusable {
            path: path.to_owned(),
            why: "it is a database of another program".to_owned(),
        });
    }
    if is_ours && found < 1 {
        return Err(StoreError::Damaged {
            path: path.to_owned(),
            what: format!("unknown format {found}"),
        });
    }
    if found > known && schema(connection).ok() == our_schema().ok() {
        return Err(StoreError::Damaged {
            path: path.to_owned(),
            what: format!("its format is {known}, and its header says {found}"),
        });
    }
    if found > known {
        return Err(failure::too_new(path, found, known));
    }
    Ok(found)
}

/// Everything that a file says about its tables.
fn schema(connection: &Connection) -> Result<Vec<String>, Failed> {
    let mut statement =
        connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")?;
    let texts = statement.query_map([], |row| row.get(0))?;
    Ok(texts.collect::<Result<_, _>>()?)
}

/// What a file of the newest format says.
fn our_schema() -> Result<Vec<String>, Failed> {
    let connection = Connection::open_in_memory()?;
    for step in MIGRATIONS {
        connection.execute_batch(step.sql)?;
    }
    schema(&connection)
}

/// Whether a file without our mark is ours all the same.
fn has_our_tables(connection: &Connection) -> bool {
    let n_tables = connection.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('issues', 'events', 'claims', 'controls')",
        [],
        |row| row.get::<_, i64>(0),
    );
    n_tables.is_ok_and(|n| n == 4)
}

/// Brings a file to the newest format, step by step and all or nothing. An older file is copied first; the copy's
/// path comes back. The caller has the file alone.
pub(super) fn migrate(
    connection: &mut Connection,
    path: &Utf8Path,
    migrations: &[Step],
    busy: Duration,
) -> Result<Option<Utf8PathBuf>> {
    let known = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    let found = check_format(connection, path, known, busy)?;
    if found == known {
        return Ok(None);
    }
    let backup = (found > 0).then(|| Utf8PathBuf::from(format!("{path}.format-{found}.backup")));
    let mut run = || -> Result<(), Failed> {
        if let Some(backup) = &backup {
            // A copy from an earlier try that failed is of the same state, and may be replaced.
            drop(std::fs::remove_file(backup));
            connection.execute("VACUUM INTO ?1", [backup.as_str()])?;
        }
        connection.pragma_update(None, "journal_mode", "wal")?;
        let transaction =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Exclusive)?;
        let first = usize::try_from(format(&transaction)?).unwrap_or(usize::MAX);
        for step in migrations.get(first..).unwrap_or_default() {
            step.run(&transaction)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", known)?;
        transaction.commit()?;
        Ok(())
    };
    run().map_err(|failed| failed.at(path, busy))?;
    Ok(backup)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUSY: Duration = Duration::ZERO;
    const ONE: Step = Step::new("CREATE TABLE t (x INTEGER); INSERT INTO t VALUES (7);");
    const TWO: Step = Step::new("ALTER TABLE t ADD COLUMN y TEXT; UPDATE t SET y = 'new';");
    const THREE: Step = Step::new("CREATE INDEX t_by_y ON t (y);");
    const NONSENSE: Step = Step::new("nonsense");

    fn at(directory: &tempfile::TempDir) -> Utf8PathBuf {
        Utf8Path::from_path(directory.path()).unwrap().join("x.db")
    }

    fn made(path: &Utf8Path, migrations: &[Step]) -> Connection {
        let mut connection = connect(path, Purpose::Make, BUSY).unwrap();
        let backup = migrate(&mut connection, path, migrations, BUSY).unwrap();
        assert_eq!(backup, None, "there was nothing to keep");
        connection
    }

    fn columns(connection: &Connection) -> i64 {
        let sql = "SELECT count(*) FROM pragma_table_info('t')";
        connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn an_older_format_is_copied_and_brought_up_to_date() {
        let directory = tempfile::tempdir().unwrap();
        let path = at(&directory);
        let mut connection = made(&path, &[ONE]);
        let backup = migrate(&mut connection, &path, &[ONE, TWO, THREE], BUSY).unwrap();
        let backup = backup.expect("there was something to keep");
        assert_eq!(format(&connection).unwrap(), 3);
        let y: String = connection
            .query_row("SELECT y FROM t WHERE x = 7", [], |row| row.get(0))
            .unwrap();
        assert_eq!((y.as_str(), columns(&connection)), ("new", 2));
        let copy = connect(&backup, Purpose::Use, BUSY).unwrap();
        assert_eq!(
            check_format(&copy, &backup, 1, BUSY).unwrap(),
            1,
            "it is ours, and older"
        );
        assert_eq!(columns(&copy), 1);
        let again = migrate(&mut connection, &path, &[ONE, TWO, THREE], BUSY).unwrap();
        assert_eq!(again, None, "it is up to date");
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_as_it_was_and_can_be_tried_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = at(&directory);
        drop(made(&path, &[ONE]));
        let before = std::fs::read(&path).unwrap();
        let mut connection = connect(&path, Purpose::Use, BUSY).unwrap();
        migrate(&mut connection, &path, &[ONE, TWO, NONSENSE], BUSY).unwrap_err();
        assert_eq!((format(&connection).unwrap(), columns(&connection)), (1, 1));
        drop(connection);
        assert_eq!(std::fs::read(&path).unwrap(), before);
        let mut connection = connect(&path, Purpose::Use, BUSY).unwrap();
        let backup = migrate(&mut connection, &path, &[ONE, TWO], BUSY).unwrap();
        assert!(backup.is_some_and(|backup| backup.exists()));
        assert_eq!((format(&connection).unwrap(), columns(&connection)), (2, 2));
    }

    #[test]
    fn a_first_step_that_fails_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = at(&directory);
        let mut connection = connect(&path, Purpose::Make, BUSY).unwrap();
        migrate(&mut connection, &path, &[ONE, NONSENSE], BUSY).unwrap_err();
        assert_eq!((format(&connection).unwrap(), columns(&connection)), (0, 0));
        assert_eq!(
            check_format(&connection, &path, 2, BUSY).unwrap(),
            0,
            "it can be made anew"
        );
        migrate(&mut connection, &path, &[ONE, TWO], BUSY).unwrap();
    }

    #[test]
    fn the_newest_format_is_the_number_of_steps() {
        assert_eq!(i64::try_from(MIGRATIONS.len()), Ok(FORMAT));
    }
}
