//! Formulas as commands meet them: where they are found, values for their variables, and what is said about their files.

use beads_ralph_core::diag::{Diagnostic, ErrorCode, sort_by_place};
use beads_ralph_core::formula::{
    Absent, BadValue, Compilation, Finding, FormulaFile, FormulaSource, Given, Strictness, Values,
    compile,
};
use beads_ralph_runtime::app::plan::PlanSource;
use beads_ralph_runtime::formulas::{BadFile, Formulas};
use beads_ralph_runtime::{repo, store};

use crate::args::ReadingArgs;
use crate::args::here;
use crate::failure::Failure;
use crate::ui::{
    JsonDiagnostic, Stream, Style, Ui, counts, diagnostics_json, failure_of_all, render,
    render_short,
};

/// The formulas that can be asked for from the working directory; no store is needed for that.
pub(crate) fn formulas() -> Result<Formulas, Failure> {
    let here = here()?;
    let beads = store::find(&here).ok().map(|place| place.directory);
    let checkout = repo::root_of(&here).unwrap_or(here);
    Ok(Formulas::of(beads.as_deref(), Some(&checkout)))
}

/// The values that `--var` gives.
pub(crate) fn values(texts: &[String]) -> Result<Values, Failure> {
    Ok(Values::parse(texts.iter().map(String::as_str))?)
}

/// A compilation, unless there is no such formula.
pub(crate) fn compiled(
    shelf: &dyn FormulaSource,
    name: &str,
    given: Given<'_>,
    reading: ReadingArgs,
) -> Result<Compilation, Failure> {
    Ok(compile(shelf, name, given, reading.strictness())?)
}

impl ReadingArgs {
    pub(crate) fn strictness(self) -> Strictness {
        if self.lenient {
            Strictness::Lenient
        } else {
            Strictness::Strict
        }
    }
}

impl From<BadValue> for Failure {
    fn from(bad: BadValue) -> Self {
        Self::new(ErrorCode::FormulaInvalidVar, bad.to_string()).action("write --var NAME=VALUE")
    }
}

impl From<Absent> for Failure {
    fn from(absent: Absent) -> Self {
        let failure = Self::new(absent.code(), absent.to_string());
        match absent {
            Absent::NotFound {
                near: Some(near), ..
            } => failure.action(format!("did you mean `{near}`?")),
            Absent::NotFound { near: None, .. } => {
                failure.action("`beads-ralph formula list` shows those that there are")
            }
            Absent::Name(_) => failure.action(
                "a formula is named with letters, digits, `.`, `_` and `-`; a file that lies elsewhere can only be checked",
            ),
            Absent::Unreadable(_) => failure.action("look at the file"),
        }
    }
}

impl From<BadFile> for Failure {
    fn from(bad: BadFile) -> Self {
        let message = bad.to_string();
        match bad {
            BadFile::File(error) => error.into(),
            BadFile::Name(_) | BadFile::Unsafe(_) => Self::new(ErrorCode::FormulaNotFound, message)
                .action("call it NAME.formula.toml or NAME.formula.json"),
            BadFile::Text(_) => {
                Self::new(ErrorCode::FormulaPourFailed, message).action("look at the file")
            }
        }
    }
}

/// What is to be said about the files of formulas, file by file, and everything once.
#[derive(Debug, Default)]
pub(crate) struct Said {
    files: Vec<(PlanSource, Vec<Diagnostic>)>,
}

impl Said {
    /// What a compilation found.
    pub(crate) fn of(compilation: &Compilation) -> Self {
        let mut said = Self::default();
        said.add(compilation);
        said
    }

    /// Adds what another compilation found. A file that several formulas are made of is not complained about again.
    pub(crate) fn add(&mut self, compilation: &Compilation) {
        for (at, sheet) in compilation.files.iter().enumerate() {
            let own = (compilation.findings.iter()).filter(|finding| finding.file.index() == at);
            self.add_file(sheet, own);
        }
        for (_, findings) in &mut self.files {
            sort_by_place(findings);
        }
    }

    fn add_file<'f>(&mut self, sheet: &FormulaFile, found: impl Iterator<Item = &'f Finding>) {
        let mut found = found.peekable();
        if found.peek().is_none() {
            return;
        }
        let is_known = |(source, _): &(PlanSource, _)| source.shown() == sheet.path;
        let at = self.files.iter().position(is_known).unwrap_or_else(|| {
            let source = PlanSource::from_text(&sheet.path, &sheet.text);
            self.files.push((source, Vec::new()));
            self.files.len() - 1
        });
        for finding in found {
            let findings = &mut self.files[at].1;
            if !findings.contains(&finding.diagnostic) {
                findings.push(finding.diagnostic.clone());
            }
        }
    }

    /// How many errors and warnings there are.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let counts = self.files.iter().map(|(_, findings)| counts(findings));
        counts.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    }

    /// In the manner of rustc.
    pub(crate) fn drawn(&self, style: Style) -> String {
        let files = self.files.iter();
        files
            .map(|(source, findings)| render(source, findings, style))
            .collect()
    }

    /// One line each.
    pub(crate) fn short(&self) -> String {
        let files = self.files.iter();
        files
            .map(|(source, findings)| render_short(source, findings))
            .collect()
    }

    /// For programs.
    pub(crate) fn to_json(&self) -> Vec<JsonDiagnostic> {
        let files = self.files.iter();
        files
            .flat_map(|(source, findings)| diagnostics_json(source, findings))
            .collect()
    }

    /// The sentences of the warnings.
    pub(crate) fn messages(&self) -> Vec<&str> {
        let findings = self.files.iter().flat_map(|(_, findings)| findings);
        findings.map(|finding| &*finding.message).collect()
    }

    /// What the errors amount to; nothing when there is none.
    pub(crate) fn failure(&self) -> Option<Failure> {
        let files: Vec<(&PlanSource, &[Diagnostic])> = (self.files.iter())
            .map(|(source, findings)| (source, findings.as_slice()))
            .collect();
        failure_of_all(&files)
    }

    /// Lets a command go on with warnings, which are said, and with errors not.
    pub(crate) fn settle(self, ui: &Ui) -> Result<Self, Failure> {
        let drawn = self.drawn(ui.style(Stream::Err));
        let Some(failure) = self.failure() else {
            ui.say(&drawn);
            return Ok(self);
        };
        ui.complain(&drawn);
        let failure = failure.told();
        Err(if ui.is_json() {
            failure.with_diagnostics(self.to_json())
        } else {
            failure
        })
    }
}
