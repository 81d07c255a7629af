//! A text that was read, with what is needed to point into it.

use std::io;

use beads_ralph_core::diag::Diagnostic;
use beads_ralph_core::plan::{Plan, invalid_utf8, parse};
use beads_ralph_core::text::{LineIndex, Position, Span};
use camino::{Utf8Path, Utf8PathBuf};

use crate::os::files::{self, FileError};
use crate::repo;

/// A plan's text and where it came from.
#[derive(Debug)]
pub struct PlanSource {
    path: Utf8PathBuf,
    shown: String,
    text: String,
    index: LineIndex,
    not_utf8: Option<Diagnostic>,
}

impl PlanSource {
    /// Reads a plan from a file, or from standard input for `-`. Bytes that are not UTF-8 are shown as replacement characters, so
    /// that the rest can be checked all the same.
    pub fn read(path: &Utf8Path) -> Result<Self, FileError> {
        let is_stdin = path == "-";
        let bytes = if is_stdin {
            files::read_limited(io::stdin().lock(), path)?
        } else {
            files::read(path)?
        };
        let shown = if is_stdin {
            "<stdin>".to_owned()
        } else {
            repo::shown(path)
        };
        let (text, not_utf8) = match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                (
                    String::from_utf8_lossy(error.as_bytes()).into_owned(),
                    Some(invalid_utf8(offset)),
                )
            }
        };
        Ok(Self {
            path: path.to_owned(),
            shown,
            index: LineIndex::new(&text),
            text,
            not_utf8,
        })
    }

    /// A text that is not in a file.
    pub fn from_text(shown: &str, text: &str) -> Self {
        Self {
            path: Utf8PathBuf::from(shown),
            shown: shown.to_owned(),
            index: LineIndex::new(text),
            text: text.to_owned(),
            not_utf8: None,
        }
    }

    pub fn parse(&self) -> Plan {
        let mut plan = parse(&self.text);
        plan.problems.splice(0..0, self.not_utf8.clone());
        plan
    }

    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The path as people see it.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the text is what the file holds, byte for byte.
    pub fn is_exact(&self) -> bool {
        self.not_utf8.is_none()
    }

    pub fn is_stdin(&self) -> bool {
        self.path == "-"
    }

    pub fn position(&self, offset: usize) -> Position {
        self.index.position(&self.text, offset)
    }

    pub fn line(&self, offset: usize) -> usize {
        self.index.line(offset)
    }

    pub fn line_span(&self, line: usize) -> Span {
        self.index.line_span(&self.text, line)
    }
}
