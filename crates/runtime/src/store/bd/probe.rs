//! Which `bd` this is, and what it can do.
//!
//! Its version says less than its behaviour: releases were built without commands that their source had. So what it can do is
//! looked up in its own help. The answers are kept for the file that gave them, and asked for again when that file changes.

use std::time::UNIX_EPOCH;

use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::program::{Call, Program};
use crate::os::files;
use crate::store::StoreError;

/// What `version --json` calls the build of our own binary.
pub const OWN_BUILD: &str = "beads-ralph";

/// The oldest version whose guards are checked where it writes (Z-3).
const NEEDED: [u64; 2] = [1, 3];

/// What is known of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Probed {
    /// By what the file is known again.
    file: (Utf8PathBuf, u64, u128),
    /// Whether it is our own binary under another name.
    is_own: bool,
    version: String,
    /// Whether `update` takes guards.
    has_guards: bool,
}

impl Probed {
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Keeps what is known for the next time.
    pub(super) fn keep(&self, kept: &Utf8Path) -> Result<(), StoreError> {
        if read(kept).as_ref() != Some(self) {
            files::write_atomic(kept, &files::to_json(self))?;
        }
        Ok(())
    }

    /// Why it must not write, if so.
    pub(super) fn obstacle(&self) -> Option<StoreError> {
        let numbers = self.version.split(['.', '-', '+']);
        let numbers: Vec<u64> = numbers.map_while(|part| part.parse().ok()).collect();
        if numbers.as_slice() >= NEEDED.as_slice() && self.has_guards {
            return None;
        }
        Some(StoreError::BdTooOld {
            path: self.file.0.clone(),
            found: self.version.clone(),
            why: if self.has_guards {
                "its guards are not checked where it writes"
            } else {
                "its `update` has no --if-status"
            },
        })
    }
}

/// The first of some programs that is not our own, and what it can do.
pub(super) fn first_real(
    kept: &Utf8Path,
    programs: impl Iterator<Item = Program>,
) -> Result<Option<(Program, Probed)>, StoreError> {
    for program in programs {
        let probed = probe(kept, &program)?;
        if !probed.is_own {
            return Ok(Some((program, probed)));
        }
    }
    Ok(None)
}

fn probe(kept: &Utf8Path, program: &Program) -> Result<Probed, StoreError> {
    let file = identity(&program.path);
    let known = read(kept).filter(|known| known.file == file);
    known.map_or_else(|| ask(program, file), Ok)
}

fn read(kept: &Utf8Path) -> Option<Probed> {
    serde_json::from_slice(&files::read(kept).ok()?).ok()
}

fn ask(program: &Program, file: (Utf8PathBuf, u64, u128)) -> Result<Probed, StoreError> {
    let answer = program
        .call(&Call::new(["version", "--json"]))?
        .succeeded()?;
    let version = answer.value()?;
    let text = |key: &str| version.get(key).and_then(Value::as_str).unwrap_or_default();
    let is_own = text("build") == OWN_BUILD;
    let has_guards = !is_own && {
        let help = program
            .call(&Call::new(["update", "--help"]))?
            .succeeded()?;
        String::from_utf8_lossy(&help.stdout).contains("--if-status")
    };
    Ok(Probed {
        file,
        is_own,
        version: text("version").to_owned(),
        has_guards,
    })
}

/// The path of a file with its size and the time of its last change.
fn identity(path: &Utf8Path) -> (Utf8PathBuf, u64, u128) {
    let metadata = path.metadata().ok();
    let size = metadata.as_ref().map_or(0, std::fs::Metadata::len);
    let changed = metadata.and_then(|metadata| metadata.modified().ok());
    let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    (
        path.to_owned(),
        size,
        changed.map_or(0, |time| time.as_nanos()),
    )
}
