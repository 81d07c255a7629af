//! From what SQLite says to what a store says.

use std::time::Duration;

use camino::Utf8Path;
use rusqlite::ErrorCode;
use rusqlite::types::FromSqlError;

use crate::os::limits;
use crate::repo::shown;
use crate::store::{SpecificError, StoreError};

pub(super) type Result<T, E = Failed> = std::result::Result<T, E>;

/// Something went wrong below the store.
#[derive(Debug)]
pub(super) enum Failed {
    Sql(rusqlite::Error),
    /// A row is not what was written.
    Fault(Fault),
    Refused(StoreError),
}

/// A row that is not what was written.
#[derive(Debug)]
pub(super) struct Fault {
    what: String,
}

impl Fault {
    pub(super) fn row(table: &str, key: &str) -> Failed {
        Failed::Fault(Self {
            what: format!(
                "the row {} of {table} is not what was written",
                beads_ralph_core::text::excerpt(key)
            ),
        })
    }

    /// A column of another type than was written.
    pub(super) fn of_column(_: FromSqlError) -> Failed {
        Failed::Fault(Self {
            what: "a column has another type than what was written".to_owned(),
        })
    }
}

impl From<rusqlite::Error> for Failed {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

impl Failed {
    /// The store's own words for it. `busy` is how long others were waited for.
    pub(super) fn at(self, path: &Utf8Path, busy: Duration) -> StoreError {
        match self {
            Self::Refused(error) => error,
            Self::Fault(fault) => StoreError::Damaged {
                path: path.to_owned(),
                what: fault.what,
            },
            Self::Sql(error) => of_sql(&error, path, busy),
        }
    }
}

/// The file was written by a newer program.
pub(super) fn too_new(path: &Utf8Path, found: i64, known: i64) -> StoreError {
    let path = shown(path);
    StoreError::Specific(Box::new(SpecificError {
        code: beads_ralph_core::diag::ErrorCode::IoPermissionDenied,
        message: format!(
            "the store {path} has format {found}; this program knows formats up to {known}"
        ),
        advice: "install the newer beads-ralph that wrote it",
        is_passing: false,
    }))
}

fn of_sql(error: &rusqlite::Error, path: &Utf8Path, busy: Duration) -> StoreError {
    let path = path.to_owned();
    let words = error.to_string();
    let rusqlite::Error::SqliteFailure(code, _) = error else {
        return StoreError::Damaged { path, what: words };
    };
    let words = match code.code {
        ErrorCode::SystemIoFailure | ErrorCode::CannotOpen => {
            limits::in_the_way_of(&path).unwrap_or(words)
        }
        _ => words,
    };
    match code.code {
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed => StoreError::Busy {
            path,
            seconds: busy.as_secs(),
        },
        ErrorCode::DiskFull
        | ErrorCode::SystemIoFailure
        | ErrorCode::OutOfMemory
        | ErrorCode::TooBig => StoreError::WriteFailed { path, why: words },
        ErrorCode::ReadOnly
        | ErrorCode::CannotOpen
        | ErrorCode::PermissionDenied
        | ErrorCode::AuthorizationForStatementDenied => StoreError::Unusable { path, why: words },
        _ => StoreError::Damaged { path, what: words },
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn every_failure_of_sqlite_has_a_word_of_ours() {
        for (code, expected) in [
            (ffi::SQLITE_BUSY, "DATABASE.TIMEOUT"),
            (ffi::SQLITE_LOCKED, "DATABASE.TIMEOUT"),
            (ffi::SQLITE_PROTOCOL, "DATABASE.TIMEOUT"),
            (ffi::SQLITE_FULL, "DATABASE.INSERT_FAILED"),
            (ffi::SQLITE_IOERR, "DATABASE.INSERT_FAILED"),
            (ffi::SQLITE_NOMEM, "DATABASE.INSERT_FAILED"),
            (ffi::SQLITE_READONLY, "IO.PERMISSION_DENIED"),
            (ffi::SQLITE_CANTOPEN, "IO.PERMISSION_DENIED"),
            (ffi::SQLITE_PERM, "IO.PERMISSION_DENIED"),
            (ffi::SQLITE_CORRUPT, "IO.PERMISSION_DENIED"),
            (ffi::SQLITE_NOTADB, "IO.PERMISSION_DENIED"),
        ] {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let error = Failed::from(error).at(Utf8Path::new("x.db"), Duration::from_secs(30));
            assert_eq!(error.code().as_str(), expected, "{error:?}");
            let is_damage = matches!(error, StoreError::Damaged { .. });
            let is_expected = matches!(code, ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB);
            assert_eq!(is_damage, is_expected, "{error:?}");
        }
    }
}
