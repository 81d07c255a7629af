//! Where something stands among the files of a formula, and what is found there.

use std::collections::HashSet;

use crate::diag::{Code, Diagnostic, ErrorCode, Severity, WarningCode, did_you_mean};
use crate::text::Span;

/// A file of a formula: which of those that were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub(super) u32);

impl FileId {
    /// The file's number in the order of reading.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A place in one of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The bytes.
    pub span: Span,
}

/// A value and the place that it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub place: Place,
}

impl<T> Placed<T> {
    /// Pairs a value with its place.
    pub fn new(value: T, place: Place) -> Self {
        Self { value, place }
    }

    /// Another value from the same place.
    pub(super) fn with<U>(&self, value: U) -> Placed<U> {
        Placed::new(value, self.place)
    }
}

/// In which language a formula is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `.formula.json`.
    Json,
    /// `.formula.toml`.
    Toml,
}

impl Format {
    /// Both, in the order in which they are looked for (F-1).
    pub const ALL: [Self; 2] = [Self::Json, Self::Toml];

    /// The name of the formula that a file of this name holds, and its language.
    pub fn of_file(name: &str) -> Option<(&str, Self)> {
        Self::ALL.into_iter().find_map(|format| {
            let formula = name.strip_suffix(format.ending())?;
            Some((formula, format))
        })
    }

    /// How the names of its files end.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Json => ".formula.json",
            Self::Toml => ".formula.toml",
        }
    }
}

/// A file of formulas as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormulaFile {
    /// The name for people.
    pub path: String,
    /// Its language.
    pub format: Format,
    /// What it says.
    pub text: String,
    /// What is to be said about how it was found, such as another file of the same name.
    pub remark: Option<String>,
}

/// A finding and the file that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file.
    pub file: FileId,
    /// What was found.
    pub diagnostic: Diagnostic,
}

impl Finding {
    /// Whether the formula cannot be used.
    pub fn is_error(&self) -> bool {
        self.diagnostic.severity() == Severity::Error
    }
}

/// Everything that was found so far.
#[derive(Debug, Default)]
pub(super) struct Findings {
    all: Vec<Finding>,
    /// The findings so far: a step that is used many times would repeat those about its source.
    said: HashSet<(FileId, Span, String)>,
}

/// How many findings are kept; nobody reads more, and the first error is among them.
const MAX_FINDINGS: usize = 1000;

impl Findings {
    pub(super) fn push(&mut self, file: FileId, diagnostic: Diagnostic) {
        let is_error = diagnostic.severity() == Severity::Error;
        // An error among many warnings must not be lost.
        if self.all.len() >= MAX_FINDINGS && (!is_error || self.has_errors()) {
            return;
        }
        let key = (
            file,
            diagnostic.primary.span,
            diagnostic.message.to_string(),
        );
        if self.said.insert(key) {
            self.all.push(Finding { file, diagnostic });
        }
    }

    fn add(&mut self, code: Code, place: Place, message: String, help: &str) {
        let mut diagnostic = Diagnostic::new(code, place.span, message);
        if !help.is_empty() {
            diagnostic = diagnostic.help(help.to_owned());
        }
        self.push(place.file, diagnostic);
    }

    /// The formula cannot be poured (F-5).
    pub(super) fn refuse(&mut self, place: Place, message: impl Into<String>, help: &str) {
        self.error(ErrorCode::FormulaPourFailed, place, message, help);
    }

    /// An error with another code.
    pub(super) fn error(
        &mut self,
        code: ErrorCode,
        place: Place,
        message: impl Into<String>,
        help: &str,
    ) {
        self.add(code.into(), place, message.into(), help);
    }

    /// Something that works and is probably not meant.
    pub(super) fn warn(
        &mut self,
        code: WarningCode,
        place: Place,
        message: impl Into<String>,
        help: &str,
    ) {
        self.add(code.into(), place, message.into(), help);
    }

    pub(super) fn has_errors(&self) -> bool {
        self.all.iter().any(Finding::is_error)
    }

    pub(super) fn into_vec(self) -> Vec<Finding> {
        self.all
    }
}

/// The nearest of the known words as help, or other help where none is near.
pub(super) fn suggestion(word: &str, known: &[&str], otherwise: impl FnOnce() -> String) -> String {
    did_you_mean(word, known.iter().copied())
        .map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}
