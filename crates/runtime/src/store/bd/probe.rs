//! What is found out about a `bd`: its version, what it can do, whether its database changed, and which words it takes.
//!
//! Its version says less than its behaviour: releases were built without commands that their source had. So what it can do is
//! looked up in its own help. The answers are kept for the file that gave them, and asked for again when that file changes.
//!
//! An embedded database only appends to its journal or writes new files, so the names and sizes of its files tell two states apart
//! without reading them. With a server there are no files, there is no fingerprint, and every question is asked again.

use std::collections::BTreeSet;
use std::time::UNIX_EPOCH;

use beads_ralph_core::vocabulary::{IssueType, Status};
use camino::{Utf8Path, Utf8PathBuf};
use serde::{Deserialize, Serialize};

use super::failure::BdError;
use super::program::{Call, Program};
use crate::os::files;
use crate::store::{Result, StoreError};

/// What `version --json` calls the build of our own binary.
pub const OWN_BUILD: &str = "beads-ralph";

/// The oldest version whose guards are checked where it writes (Z-3).
const NEEDED: [u64; 2] = [1, 3];

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
    pub(super) fn keep(&self, kept: &Utf8Path) -> Result<()> {
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
        Some(
            BdError::TooOld {
                path: self.file.0.clone(),
                found: self.version.clone(),
                why: if self.has_guards {
                    "its guards are not checked where it writes"
                } else {
                    "its `update` has no --if-status"
                },
            }
            .into(),
        )
    }
}

/// The first of some programs that is not our own, and what it can do.
pub(super) fn first_real(
    kept: &Utf8Path,
    programs: impl Iterator<Item = Program>,
) -> Result<Option<(Program, Probed)>> {
    for program in programs {
        let probed = probe(kept, &program)?;
        if !probed.is_own {
            return Ok(Some((program, probed)));
        }
    }
    Ok(None)
}

fn probe(kept: &Utf8Path, program: &Program) -> Result<Probed> {
    let file = identity(&program.path);
    let known = read(kept).filter(|known| known.file == file);
    known.map_or_else(|| ask(program, file), Ok)
}

fn read(kept: &Utf8Path) -> Option<Probed> {
    serde_json::from_slice(&files::read(kept).ok()?).ok()
}

/// What `bd version` answers.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Version {
    version: String,
    build: String,
}

fn ask(program: &Program, file: (Utf8PathBuf, u64, u128)) -> Result<Probed> {
    let answer = program
        .call(&Call::new(["version", "--json"]))?
        .succeeded()?;
    let Version { version, build } = answer.parsed()?;
    let is_own = build == OWN_BUILD;
    let has_guards = !is_own && {
        let help = program
            .call(&Call::new(["update", "--help"]))?
            .succeeded()?;
        String::from_utf8_lossy(&help.stdout).contains("--if-status")
    };
    Ok(Probed {
        file,
        is_own,
        version,
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

/// Files that readers touch too, and that say nothing.
const SILENT: [&str; 3] = ["LOCK", "journal.idx", "manifest"];

/// The names and sizes of the files of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fingerprint(Vec<(String, u64)>);

/// What `bd` writes about its database.
#[derive(Debug, Deserialize)]
struct Metadata {
    dolt_mode: Option<String>,
    dolt_database: Option<String>,
}

/// The directory with the files of an embedded database.
pub(super) fn database_directory(beads: &Utf8Path) -> Option<Utf8PathBuf> {
    let metadata = files::read(&beads.join("metadata.json")).ok()?;
    let metadata: Metadata = serde_json::from_slice(&metadata).ok()?;
    if metadata.dolt_mode.as_deref() != Some("embedded") {
        return None;
    }
    let name = metadata.dolt_database?;
    let directory = beads.join("embeddeddolt").join(name).join(".dolt/noms");
    directory.is_dir().then_some(directory)
}

impl Fingerprint {
    /// The state of a database now.
    pub(super) fn of(directory: &Utf8Path) -> Option<Self> {
        let mut found = Vec::new();
        collect(directory, &mut found)?;
        found.sort();
        Some(Self(found))
    }
}

fn collect(directory: &Utf8Path, found: &mut Vec<(String, u64)>) -> Option<()> {
    for entry in directory.read_dir_utf8().ok()? {
        let entry = entry.ok()?;
        let metadata = entry.metadata().ok()?;
        if metadata.is_dir() {
            collect(entry.path(), found)?;
        } else if !SILENT.contains(&entry.file_name()) {
            found.push((entry.path().to_string(), metadata.len()));
        }
    }
    Some(())
}

/// What this `bd` is known to take.
#[derive(Debug)]
pub(super) struct Words {
    types: BTreeSet<String>,
    statuses: BTreeSet<String>,
}

impl Words {
    pub(super) fn new() -> Self {
        Self {
            types: (IssueType::ALL.iter().filter(|kind| kind.is_built_in()))
                .map(ToString::to_string)
                .collect(),
            statuses: Status::ALL.iter().map(ToString::to_string).collect(),
        }
    }

    /// Makes `bd` take some types and statuses.
    pub(super) fn ensure<'a>(
        &mut self,
        program: &Program,
        types: impl Iterator<Item = &'a str>,
        statuses: impl Iterator<Item = &'a str>,
    ) -> Result<()> {
        register(program, "types.custom", &mut self.types, types)?;
        register(program, "status.custom", &mut self.statuses, statuses)
    }
}

/// What `bd config get` answers.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Setting {
    value: Option<String>,
}

fn register<'a>(
    program: &Program,
    key: &str,
    known: &mut BTreeSet<String>,
    words: impl Iterator<Item = &'a str>,
) -> Result<()> {
    let new: BTreeSet<&str> = words.filter(|word| !known.contains(*word)).collect();
    if new.is_empty() {
        return Ok(());
    }
    let answer = program.call(&Call::new(["config", "get", key, "--json"]))?;
    let value = answer.succeeded()?.parsed::<Setting>()?.value;
    let mut configured: Vec<&str> = value.as_deref().unwrap_or_default().split(',').collect();
    configured.retain(|word| !word.trim().is_empty());
    let names: BTreeSet<&str> = (configured.iter())
        .map(|word| word.split(':').next().unwrap_or_default().trim())
        .collect();
    let missing: Vec<&str> = (new.iter().copied())
        .filter(|word| !names.contains(word))
        .collect();
    if !missing.is_empty() {
        let all = [configured.clone(), missing].concat().join(",");
        let call = Call::new(["config", "set", key, all.as_str(), "--json"]);
        program.call(&call)?.succeeded()?;
    }
    known.extend(names.into_iter().map(str::to_owned));
    known.extend(new.into_iter().map(str::to_owned));
    Ok(())
}
