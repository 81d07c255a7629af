//! Formulas as files: what they become, and the findings about them.

mod bad_input;
mod constructs;
mod laws;
mod schema;
mod variables;

use std::collections::BTreeMap;

use super::*;

/// Formulas that are only texts.
#[derive(Default)]
pub(super) struct Texts(BTreeMap<String, FormulaFile>);

impl Texts {
    fn toml(mut self, name: &str, text: &str) -> Self {
        self.0
            .insert(name.to_owned(), sheet(name, Format::Toml, text));
        self
    }

    fn json(mut self, name: &str, text: &str) -> Self {
        self.0
            .insert(name.to_owned(), sheet(name, Format::Json, text));
        self
    }
}

fn sheet(name: &str, format: Format, text: &str) -> FormulaFile {
    FormulaFile {
        path: format!("{name}{}", format.ending()),
        format,
        text: text.to_owned(),
        remark: None,
    }
}

impl FormulaSource for Texts {
    fn fetch(&self, name: &FormulaName) -> Result<Option<FormulaFile>, String> {
        Ok(self.0.get(name.as_str()).cloned())
    }

    fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }
}

/// Compiles the formula `main` of some TOML with values.
fn pour(shelf: &Texts, values: &[&str]) -> Compilation {
    let values = Values::parse(values.iter().copied()).unwrap();
    compile(shelf, "main", Given::Values(&values), Strictness::Strict).unwrap()
}

/// What a formula without variables becomes.
fn molecule(shelf: &Texts) -> Molecule {
    let compilation = pour(shelf, &[]);
    let said = said(&compilation);
    compilation.molecule.unwrap_or_else(|| panic!("{said:#?}"))
}

/// One formula `main` with these steps.
fn main_with(rest: &str) -> Texts {
    Texts::default().toml("main", &format!("formula = \"main\"\n{rest}"))
}

/// Every finding as people see it: code, the text that it is about, message.
fn said(compilation: &Compilation) -> Vec<String> {
    let line = |finding: &Finding| {
        let sheet = &compilation.files[finding.file.index()];
        let diagnostic = &finding.diagnostic;
        format!(
            "{} [{}] {}{}",
            diagnostic.code.as_str(),
            diagnostic
                .primary
                .span
                .slice(&sheet.text)
                .lines()
                .next()
                .unwrap_or_default(),
            diagnostic.message,
            diagnostic
                .help
                .as_ref()
                .map(|help| format!("; {help}"))
                .unwrap_or_default()
        )
    };
    compilation.findings.iter().map(line).collect()
}

/// Steps as `id <- needs`, with `^parent` for those below others.
fn shape(molecule: &Molecule) -> Vec<String> {
    let line = |step: &StepBead| {
        let needs: Vec<String> = step
            .needs
            .iter()
            .map(|need| match need.wait {
                Wait::ForIt => need.step.clone(),
                Wait::ForChildren(children) => format!("{}({})", children.as_str(), need.step),
                Wait::ForBoth(children) => format!("{}+({})", children.as_str(), need.step),
            })
            .collect();
        let parent = step
            .parent
            .as_ref()
            .map(|parent| format!("^{parent}"))
            .unwrap_or_default();
        let arrow = if needs.is_empty() {
            String::new()
        } else {
            format!(" <- {}", needs.join(" "))
        };
        format!("{}{parent}{arrow}", step.id)
    };
    molecule.steps.iter().map(line).collect()
}
