//! `formula check`: every mistake in some formulas, with places in all the files that they are made of.

use beads_ralph_core::formula::{Compilation, FormulaSource, Given, Strictness, compile};
use beads_ralph_runtime::formulas::{Formulas, Owner};
use camino::Utf8Path;
use clap::Args;
use serde::Serialize;

use super::list::n_steps;
use crate::args::{CheckFormat, ReadingArgs};
use crate::command::formula::findings::{Said, formulas};
use crate::failure::Failure;
use crate::ui::{JsonDiagnostic, Stream, Ui, counted};

#[derive(Debug, Args)]
pub(crate) struct FormulaCheckArgs {
    /// Names of formulas, or files with a `/` or an ending in their name; without any, all that do not come with the program
    #[arg(value_name = "NAME|FILE")]
    pub(crate) formulas: Vec<String>,
    /// How to report
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub(crate) format: CheckFormat,
    /// Refuse text in double braces that is not a variable of the formula, instead of warning
    #[arg(long, conflicts_with = "lenient")]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

/// What became of one formula.
struct Checked {
    name: String,
    /// Whether other commands find it under its name; a file may be anywhere.
    is_found: bool,
    compilation: Compilation,
    said: Said,
}

pub(crate) fn run(args: &FormulaCheckArgs, ui: &Ui) -> Result<(), Failure> {
    let formulas = formulas()?;
    let mut failures: Vec<Failure> = Vec::new();
    let wanted = wanted(args, &formulas, &mut failures);
    if wanted.is_empty() && failures.is_empty() {
        ui.say("you have no formula to check; `beads-ralph formula list` shows all\n");
    }
    let mut checked: Vec<Checked> = Vec::new();
    for wanted in wanted {
        match check_one(&wanted, &formulas, args) {
            Ok(one) => {
                failures.extend(one.said.failure().map(Failure::told));
                checked.push(one);
            }
            Err(failure) => failures.push(failure),
        }
    }
    let all = all(&checked);
    if !ui.is_json() {
        show(&checked, &all, args.format, ui)?;
    }
    match ui.worst(failures) {
        Some(failure) if ui.is_json() => Err(failure.with_diagnostics(all.to_json())),
        Some(failure) => Err(failure),
        None if ui.is_json() => ui.data(&summary(&checked, &all)),
        None => Ok(()),
    }
}

/// The formulas that are meant: those that are named, or all that somebody here wrote.
fn wanted(
    args: &FormulaCheckArgs,
    formulas: &Formulas,
    failures: &mut Vec<Failure>,
) -> Vec<String> {
    if !args.formulas.is_empty() {
        return args.formulas.clone();
    }
    let (found, troubles) = formulas.list();
    failures.extend(troubles.into_iter().map(Failure::from));
    let own = found.into_iter().filter(|one| one.owner != Owner::BuiltIn);
    own.map(|one| one.name).collect()
}

/// Whether a text names a file, and not a formula.
fn is_file(text: &str) -> bool {
    text.contains('/') || [".toml", ".json"].iter().any(|end| text.ends_with(end))
}

fn check_one(
    wanted: &str,
    formulas: &Formulas,
    args: &FormulaCheckArgs,
) -> Result<Checked, Failure> {
    if is_file(wanted) {
        let beside = formulas.clone().beside(Utf8Path::new(wanted))?;
        return looked_at(&beside, beside.name(), false, args);
    }
    looked_at(formulas, wanted, true, args)
}

fn looked_at(
    shelf: &dyn FormulaSource,
    name: &str,
    is_found: bool,
    args: &FormulaCheckArgs,
) -> Result<Checked, Failure> {
    let strictness = if args.strict {
        Strictness::Exact
    } else {
        args.reading.strictness()
    };
    let compilation = compile(shelf, name, Given::NotYet, strictness)?;
    Ok(Checked {
        name: name.to_owned(),
        is_found,
        said: Said::of(&compilation),
        compilation,
    })
}

/// Everything that is to be said, once.
fn all(checked: &[Checked]) -> Said {
    let mut all = Said::default();
    for one in checked {
        all.add(&one.compilation);
    }
    all
}

fn show(checked: &[Checked], all: &Said, format: CheckFormat, ui: &Ui) -> Result<(), Failure> {
    ui.out(&match format {
        CheckFormat::Short => all.short(),
        CheckFormat::Human | CheckFormat::Json => all.drawn(ui.style(Stream::Out)),
    })?;
    for one in checked {
        ui.say(&one.line());
    }
    if let ([one], (0, _)) = (checked, all.counts()) {
        ui.say(&one.next());
    }
    Ok(())
}

impl Checked {
    fn file(&self) -> &str {
        let own = self.compilation.files.first();
        own.map_or(&*self.name, |sheet| &*sheet.path)
    }

    fn line(&self) -> String {
        let (errors, warnings) = self.said.counts();
        let mut parts = Vec::new();
        if let Some(formula) = &self.compilation.formula {
            parts.push(counted(n_steps(formula), "step", "steps"));
        }
        match (errors, warnings) {
            (0, 0) => parts.push("no problems".to_owned()),
            (0, _) => parts.push(counted(warnings, "warning", "warnings")),
            _ => {
                parts.push(counted(errors, "error", "errors"));
                parts.push(counted(warnings, "warning", "warnings"));
            }
        }
        format!("{}: {}\n", self.file(), parts.join(", "))
    }

    /// What to do with a formula that is right.
    fn next(&self) -> String {
        if self.compilation.molecule.is_none() || !self.is_found {
            return String::new();
        }
        format!("next: beads-ralph formula graph {}\n", self.name)
    }
}

/// The envelope's data for formulas without errors.
#[derive(Serialize)]
struct Summary<'c> {
    formulas: Vec<FormulaSummary<'c>>,
    diagnostics: Vec<JsonDiagnostic>,
}

#[derive(Serialize)]
struct FormulaSummary<'c> {
    name: &'c str,
    file: &'c str,
    steps: Option<usize>,
    errors: usize,
    warnings: usize,
}

fn summary<'c>(checked: &'c [Checked], all: &Said) -> Summary<'c> {
    let formula = |one: &'c Checked| {
        let (errors, warnings) = one.said.counts();
        FormulaSummary {
            name: &one.name,
            file: one.file(),
            steps: one.compilation.formula.as_ref().map(n_steps),
            errors,
            warnings,
        }
    };
    Summary {
        formulas: checked.iter().map(formula).collect(),
        diagnostics: all.to_json(),
    }
}
