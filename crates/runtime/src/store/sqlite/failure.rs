//! From what SQLite says to what a store says.

use camino::Utf8Path;
use rusqlite::ErrorCode;
use rusqlite::types::FromSqlError;

use super::BUSY_SECONDS;
use crate::store::StoreError;

/// Something went wrong below the store.
#[derive(Debug)]
pub(super) enum Failed {
    /// The database said so.
    Sql(rusqlite::Error),
    /// A row is not what was written.
    Fault(Fault),
    /// The store refuses.
    Refused(StoreError),
}

/// A row that is not what was written.
#[derive(Debug)]
pub(super) struct Fault {
    what: String,
}

impl Fault {
    /// A row of a table.
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
    /// The store's own words for it.
    pub(super) fn at(self, path: &Utf8Path) -> StoreError {
        match self {
            Self::Refused(error) => error,
            Self::Fault(fault) => StoreError::Damaged {
                path: path.to_owned(),
                what: fault.what,
            },
            Self::Sql(error) => of_sql(&error, path),
        }
    }
}

fn of_sql(error: &rusqlite::Error, path: &Utf8Path) -> StoreError {
    let path = path.to_owned();
    let words = error.to_string();
    let rusqlite::Error::SqliteFailure(code, _) = error else {
        return StoreError::Damaged { path, what: words };
    };
    match code.code {
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::FileLockingProtocolFailed => StoreError::Busy {
            path,
            seconds: BUSY_SECONDS,
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
