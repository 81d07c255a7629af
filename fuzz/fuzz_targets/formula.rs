//! Any texts as formulas that are made of each other: nothing panics, everything that is said has a place in its file, and what
//! compiles has steps with names of their own that need steps which are there.
//!
//! An input is several files: the first is the formula `main`, and a line `#= NAME` begins the next. A file that starts with `{` is
//! JSON, any other TOML.

#![no_main]

use std::collections::{BTreeMap, BTreeSet};

use beads_ralph_core::formula::{
    Compilation, Format, FormulaName, Given, Molecule, FormulaFile, FormulaSource, Strictness, Values, compile,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let shelf = Texts::of(&String::from_utf8_lossy(bytes));
    let looked_at = check(&shelf, Given::NotYet, Strictness::Strict);
    check(&shelf, Given::NotYet, Strictness::Lenient);
    let mut values = Values::default();
    for variable in looked_at.variables() {
        values.set(&variable.name.value, "2");
    }
    check(&shelf, Given::Values(&values), Strictness::Lenient);
    check(
        &shelf,
        Given::Offered(&Values::default()),
        Strictness::Strict,
    );
});

struct Texts(BTreeMap<String, FormulaFile>);

impl Texts {
    fn of(input: &str) -> Self {
        let mut texts = BTreeMap::new();
        let (mut name, mut text) = ("main", String::new());
        for line in input.split_inclusive('\n') {
            if let Some(next) = line.strip_prefix("#= ") {
                texts.insert(name.to_owned(), sheet(name, std::mem::take(&mut text)));
                name = next.trim();
            } else {
                text.push_str(line);
            }
        }
        texts.insert(name.to_owned(), sheet(name, text));
        Self(texts)
    }
}

fn sheet(name: &str, text: String) -> FormulaFile {
    let format = if text.starts_with('{') {
        Format::Json
    } else {
        Format::Toml
    };
    FormulaFile {
        path: format!("{name}{}", format.ending()),
        format,
        text,
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

fn check(shelf: &Texts, given: Given<'_>, strictness: Strictness) -> Compilation {
    let compilation =
        compile(shelf, "main", given, strictness).expect("there is always a file `main`");
    for finding in &compilation.findings {
        let text = &compilation.files[finding.file.index()].text;
        let labels = finding.diagnostic.secondary.iter();
        for label in labels.chain([&finding.diagnostic.primary]) {
            let (start, end) = (label.span.start(), label.span.end());
            assert!(
                text.get(start..end).is_some(),
                "{start}..{end} is no place of {text:?}: {}",
                finding.diagnostic.message
            );
        }
    }
    if let Some(molecule) = &compilation.molecule {
        assert!(
            !compilation.has_errors(),
            "a formula with errors makes nothing"
        );
        check_steps(molecule);
    }
    compilation
}

fn check_steps(molecule: &Molecule) {
    let mut earlier: BTreeSet<&str> = BTreeSet::new();
    let all: BTreeSet<&str> = molecule.steps.iter().map(|step| step.id.as_str()).collect();
    assert_eq!(all.len(), molecule.steps.len(), "{molecule:?}");
    for step in &molecule.steps {
        assert!(!step.title.trim().is_empty(), "{step:?}");
        if let Some(parent) = &step.parent {
            assert!(earlier.contains(parent.as_str()), "{step:?}");
        }
        for need in &step.needs {
            assert!(all.contains(need.step.as_str()), "{step:?}");
            assert_ne!(need.step, step.id);
        }
        earlier.insert(&step.id);
    }
    let waits = molecule.waits();
    assert_eq!(waits.len(), molecule.steps.len());
    assert!(waits.iter().flatten().all(|to| *to < waits.len()));
}
