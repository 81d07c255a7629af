//! What the user's text did wrong, as data: a code, a place, a sentence, and where possible a fix.
//!
//! Diagnostics are collected and never thrown; how they look on a terminal or in JSON is the
//! business of the command line.

mod code;

pub use code::{Code, ErrorCode, WarningCode};

use std::borrow::Cow;

use crate::text::Span;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The text cannot be used as it is.
    Error,
    /// The text can be used, but is probably not what was intended.
    Warning,
}

impl Severity {
    /// The word that is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// A place and what is to be said about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanLabel {
    /// The place.
    pub span: Span,
    /// A few words; may be empty.
    pub text: Cow<'static, str>,
}

/// A replacement of one span by other text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// What is replaced; empty for an insertion.
    pub span: Span,
    /// What stands there afterwards.
    pub replacement: String,
}

/// A change of the text that would fix a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// The change.
    pub edit: TextEdit,
    /// Whether it can be applied without asking.
    pub certain: bool,
}

/// A finding: its code, its sentence, its places, and where there is one, its fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The code, which also tells the severity.
    pub code: Code,
    /// One sentence without a full stop.
    pub message: Cow<'static, str>,
    /// The place that the finding is about.
    pub primary: SpanLabel,
    /// Other places that explain it.
    pub secondary: Vec<SpanLabel>,
    /// What to do.
    pub help: Option<Cow<'static, str>>,
    /// The change that would fix it.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// A finding with its sentence and place.
    pub fn new(code: impl Into<Code>, span: Span, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            primary: SpanLabel {
                span,
                text: Cow::Borrowed(""),
            },
            secondary: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// Says something about the primary place.
    #[must_use]
    pub fn label(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<Cow<'static, str>>) -> Self {
        self.secondary.push(SpanLabel {
            span,
            text: text.into(),
        });
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Adds a fix that can be applied without asking.
    #[must_use]
    pub fn certain_fix(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.fix = Some(Fix {
            edit: TextEdit {
                span,
                replacement: replacement.into(),
            },
            certain: true,
        });
        self
    }

    /// Adds a fix that is probably right.
    #[must_use]
    pub fn possible_fix(mut self, span: Span, replacement: impl Into<String>) -> Self {
        self.fix = Some(Fix {
            edit: TextEdit {
                span,
                replacement: replacement.into(),
            },
            certain: false,
        });
        self
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        match self.code {
            Code::Error(_) => Severity::Error,
            Code::Warning(_) => Severity::Warning,
        }
    }

    /// The error code, unless this is a warning.
    pub fn error_code(&self) -> Option<ErrorCode> {
        match self.code {
            Code::Error(code) => Some(code),
            Code::Warning(_) => None,
        }
    }
}

/// Whether any finding is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    first_error(diagnostics).is_some()
}

/// The first error and its code.
pub fn first_error(diagnostics: &[Diagnostic]) -> Option<(&Diagnostic, ErrorCode)> {
    diagnostics
        .iter()
        .find_map(|diagnostic| Some((diagnostic, diagnostic.error_code()?)))
}

/// Puts findings in the order of their places; at one place errors come before warnings.
pub fn sort_by_place(findings: &mut [Diagnostic]) {
    findings.sort_by_key(|finding| {
        (
            finding.primary.span.start(),
            finding.severity(),
            finding.code,
        )
    });
}

/// Applies every certain fix whose place no earlier fix touches, and says how many were applied.
pub fn apply_fixes(text: &str, diagnostics: &[Diagnostic]) -> (String, usize) {
    let mut edits: Vec<&TextEdit> = diagnostics
        .iter()
        .filter_map(|d| d.fix.as_ref())
        .filter(|fix| fix.certain)
        .map(|fix| &fix.edit)
        .collect();
    edits.sort_by_key(|edit| edit.span);
    edits.dedup();
    let mut fixed = String::with_capacity(text.len());
    let (mut done, mut applied) = (0, 0);
    for edit in edits {
        if edit.span.start() < done || text.get(edit.span.range()).is_none() {
            continue;
        }
        fixed.push_str(&text[done..edit.span.start()]);
        fixed.push_str(&edit.replacement);
        done = edit.span.end();
        applied += 1;
    }
    fixed.push_str(&text[done..]);
    (fixed, applied)
}

/// The candidate that a misspelt word most likely stands for, ignoring case; nothing when none is near.
pub fn did_you_mean<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    // A long word is not a typing mistake, and the distance takes quadratic time.
    if word.len() > 64 {
        return None;
    }
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| {
            (
                strsim::osa_distance(&word, &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(distance, candidate)| *distance <= allowance(candidate))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

// A third of the letters may be wrong, but never more than three and at least one.
fn allowance(candidate: &str) -> usize {
    (candidate.chars().count() / 3).clamp(1, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_certain_fixes_that_do_not_overlap_are_applied() {
        let warning = |span| Diagnostic::new(WarningCode::MisspeltField, span, "m");
        let findings = [
            warning(Span::new(4, 7)).certain_fix(Span::new(4, 7), "X"),
            warning(Span::new(0, 3)).certain_fix(Span::new(0, 3), "one"),
            warning(Span::new(2, 5)).certain_fix(Span::new(2, 5), "overlap"),
            warning(Span::new(8, 9)).possible_fix(Span::new(8, 9), "guess"),
        ];
        assert_eq!(
            apply_fixes("abc def g", &findings),
            ("one X g".to_owned(), 2)
        );
    }

    #[test]
    fn a_slip_of_the_pen_finds_its_word() {
        let fields = [
            "Dev Agents",
            "QA Agents",
            "Tasks",
            "Branch",
            "Source Branch",
        ];
        assert_eq!(did_you_mean("Dev Agent", fields), Some("Dev Agents"));
        assert_eq!(did_you_mean("qa agents", fields), Some("QA Agents"));
        assert_eq!(
            did_you_mean("sonet", ["haiku", "sonnet", "opus"]),
            Some("sonnet")
        );
        assert_eq!(did_you_mean("Status", fields), None);
        assert_eq!(did_you_mean(&"x".repeat(1000), fields), None);
    }
}
