//! One bead in a file: read once, written in one step, never changed by anybody else without a word.

use beads_ralph_core::bead::{FieldError, Timestamp, Verifier, error_code};
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::dod::{self, DodBead, DodStatus, RunProgress};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::Ralph;
use crate::os::digest;
use crate::os::files::{self, FileError, Lock};
use crate::repo::{self, shown};

const LOCKS: &str = ".ralph/locks";

/// A bead in a file. What it says was read once, before any agent ran; whatever becomes of the file afterwards, that is what
/// counts.
#[derive(Debug)]
pub struct BeadFile {
    path: Utf8PathBuf,
    /// Where the path led when it was read.
    target: Utf8PathBuf,
    bead: DodBead,
    /// What the file holds, as far as we know.
    bytes: Vec<u8>,
}

#[derive(Debug, Error)]
pub enum BeadFileError {
    #[error(transparent)]
    File(#[from] FileError),
    /// It is not a DoD bead (V-1).
    #[error("{} is not a valid bead", shown(path))]
    Invalid {
        path: Utf8PathBuf,
        errors: Vec<FieldError>,
    },
}

impl BeadFileError {
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::File(error) => error.code(),
            Self::Invalid { errors, .. } => error_code(errors),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub enum Written {
    Done,
    /// It does, but somebody had changed it meanwhile: these were the bytes.
    Overruled(Vec<u8>),
}

impl BeadFile {
    pub fn read(path: &Utf8Path) -> Result<Self, BeadFileError> {
        let bytes = files::read(path)?;
        let bead =
            dod::parse(&bytes, path.file_stem()).map_err(|errors| BeadFileError::Invalid {
                path: path.to_owned(),
                errors,
            })?;
        let target = path.canonicalize_utf8();
        Ok(Self {
            path: path.to_owned(),
            target: target.unwrap_or_else(|_| path.to_owned()),
            bead,
            bytes,
        })
    }

    /// The same with checks that hold for every bead; they are not written into it.
    #[must_use]
    pub fn with_checks(self, defaults: &[Verifier]) -> Self {
        Self {
            bead: self.bead.with_checks(defaults),
            ..self
        }
    }

    /// The same with something that is to stand in its `ralph_meta`, and is written with whatever is written next.
    #[must_use]
    pub fn noting(mut self, key: &str, value: Value) -> Self {
        let meta = self.bead.document.entry("ralph_meta");
        let meta = meta.or_insert_with(|| json!({}));
        if let Value::Object(meta) = meta {
            meta.insert(key.to_owned(), value);
        }
        self
    }

    /// Writes where the bead stands, with something in its `ralph_meta`; null takes it away. Whoever calls this holds the lock.
    pub fn write_status(
        &self,
        status: DodStatus,
        (key, value): (&str, Value),
    ) -> Result<(), BeadFileError> {
        let mut document = self.bead.document.clone();
        document.insert("status".to_owned(), status.as_str().into());
        let meta = document.entry("ralph_meta");
        if let Value::Object(meta) = meta.or_insert_with(|| json!({})) {
            if value.is_null() {
                meta.remove(key);
            } else {
                meta.insert(key.to_owned(), value);
            }
        }
        self.write_document(&document)
    }

    /// Writes another document in its place, unless somebody changed the file since it was read. Whoever calls this holds the lock.
    pub fn write_document(&self, document: &Map<String, Value>) -> Result<(), BeadFileError> {
        files::replace(&self.target, &self.bytes, &files::to_json(document))?;
        Ok(())
    }

    /// Keeps everybody else from working on the bead, wherever they come from, while the lock is held; nothing when somebody
    /// else does. In a repository the lock lies where nothing is committed, outside of one beside the file.
    pub fn lock(&self) -> Result<Option<Lock>, BeadFileError> {
        if let Some(root) = repo::main_root_of(&self.target) {
            Ralph::new(&root).prepare()?;
            files::create_directory(&root.join(LOCKS))?;
        }
        Ok(files::lock(&self.lock_place())?)
    }

    /// Whether somebody works on the bead now. Nothing is written to find out.
    pub fn is_held(&self) -> Result<bool, BeadFileError> {
        let place = self.lock_place();
        Ok(place.is_file() && files::lock(&place)?.is_none())
    }

    fn lock_place(&self) -> Utf8PathBuf {
        let Some(root) = repo::main_root_of(&self.target) else {
            let name = self.target.file_stem().unwrap_or_default();
            return self.target.with_file_name(format!(".{name}.lock"));
        };
        let name = digest::sha256(self.target.as_str().as_bytes());
        let name = name.get(..16).unwrap_or(&name);
        root.join(LOCKS).join(name)
    }

    pub fn bead(&self) -> &DodBead {
        &self.bead
    }

    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// Writes what a run has come to (V-14): a crash leaves the old content or the new. The definition is the one that was
    /// read: an agent that edits its own checks changes nothing, and what it wrote is handed back to be kept.
    pub fn write(
        &mut self,
        progress: &RunProgress,
        version: &str,
        now: &Timestamp,
    ) -> Result<Written, BeadFileError> {
        let document = progress.written_into(&self.bead.document, version, now);
        let bytes = files::to_json(&document);
        let is_there = self.target.symlink_metadata().map(|it| it.is_file());
        if !is_there.unwrap_or(false) {
            // It is gone, or something else stands there: a link that was not there before is not followed.
            if let Some(directory) = self.target.parent() {
                files::create_directory(directory)?;
            }
            files::write_atomic(&self.target, &bytes)?;
            self.bytes = bytes;
            return Ok(Written::Overruled(Vec::new()));
        }
        let found = files::read(&self.target)?;
        files::replace(&self.target, &found, &bytes)?;
        let before = std::mem::replace(&mut self.bytes, bytes);
        if found == before {
            Ok(Written::Done)
        } else {
            Ok(Written::Overruled(found))
        }
    }

    /// Moves a completed bead from the active ones to the completed ones (§8.4); a bead from elsewhere stays. The answer is
    /// where it is now.
    pub fn move_completed(&mut self) -> Result<&Utf8Path, BeadFileError> {
        if let Some(place) = Ralph::completed_place(&self.path) {
            if let Some(directory) = place.parent() {
                files::create_directory(directory)?;
            }
            self.path = files::move_new(&self.path, &place)?;
        }
        Ok(&self.path)
    }
}
