//! The lines of a file, with everything that is wrong with them.

use std::collections::{BTreeMap, HashMap};

use beads_ralph_core::bead::{BeadId, FieldError, FieldErrorKind, error_code};
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::{Entry, Line, check_title, read_line};
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_runtime::repo;
use camino::Utf8Path;

use crate::command::bead::validate::read_input;
use crate::failure::Failure;
use crate::ui::{Ui, counted, lines as each_line};

/// A file that was read.
#[derive(Debug)]
pub(super) struct Source {
    /// The file, as people know it.
    pub(super) shown: String,
    bytes: Vec<u8>,
}

/// What a file holds.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The beads, in the order of the file; each id once.
    pub(super) entries: Vec<Entry>,
    /// The notes that belong to no bead.
    pub(super) memories: BTreeMap<String, String>,
}

/// What is wrong with a file, line by line.
#[derive(Default)]
struct Problems {
    said: Vec<String>,
    errors: Vec<FieldError>,
    has_duplicates: bool,
}

impl Source {
    /// Reads a file, or standard input for `-`.
    pub(super) fn read(path: &Utf8Path) -> Result<Self, Failure> {
        let shown = if path == "-" {
            "<stdin>".to_owned()
        } else {
            repo::shown(path)
        };
        Ok(Self {
            shown,
            bytes: read_input(path)?,
        })
    }

    /// What the file holds; or, of every line that is wrong, what is wrong with it.
    pub(super) fn lines(&self, ui: &Ui) -> Result<Lines, Failure> {
        let bytes = self.bytes.as_slice();
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut found = Lines::default();
        let mut problems = Problems::default();
        let mut places: HashMap<BeadId, usize> = HashMap::new();
        for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let number = at + 1;
            match parse(line) {
                Ok(Line::Nothing) => {}
                Ok(Line::Memory { key, value }) => {
                    found.memories.insert(key, value);
                }
                Ok(Line::Issue(entry)) => {
                    let id = entry.issue.id().clone();
                    if let Some(first) = places.get(&id) {
                        problems.duplicate(&self.shown, number, &id, *first);
                        continue;
                    }
                    places.insert(id, number);
                    found.entries.push(*entry);
                }
                Err(errors) => problems.add(&self.shown, number, errors),
            }
        }
        problems.finish(ui)?;
        Ok(found)
    }
}

fn parse(line: &[u8]) -> Result<Line, Vec<FieldError>> {
    let text = str::from_utf8(line).map_err(|error| {
        vec![FieldError {
            path: "document".to_owned(),
            message: error.to_string(),
            kind: FieldErrorKind::JsonInvalid,
        }]
    })?;
    let line = read_line(text)?;
    if let Line::Issue(entry) = &line {
        check_title(entry.issue.title()).map_err(|long| {
            vec![FieldError {
                path: "title".to_owned(),
                message: long.to_string(),
                kind: FieldErrorKind::Value,
            }]
        })?;
    }
    Ok(line)
}

impl Problems {
    fn add(&mut self, shown: &str, line: usize, errors: Vec<FieldError>) {
        for error in &errors {
            let error = visible(&error.to_string());
            self.said.push(format!("{shown}:{line}: {error}"));
        }
        self.errors.extend(errors);
    }

    fn duplicate(&mut self, shown: &str, line: usize, id: &BeadId, first: usize) {
        let id = excerpt(id.as_str());
        self.said.push(format!(
            "{shown}:{line}: id: '{id}' stands on line {first} already"
        ));
        self.has_duplicates = true;
    }

    fn finish(self, ui: &Ui) -> Result<(), Failure> {
        if self.said.is_empty() {
            return Ok(());
        }
        ui.complain(&each_line(&self.said));
        let code = if self.errors.is_empty() && self.has_duplicates {
            ErrorCode::DependencyDuplicateId
        } else {
            error_code(&self.errors)
        };
        let message = format!(
            "{} in the file; nothing was imported",
            counted(self.said.len(), "mistake", "mistakes")
        );
        Err(Failure::new(code, message)
            .details(self.said.join("\n"))
            .action("correct the lines that are named"))
    }
}
