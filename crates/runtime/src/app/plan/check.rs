//! Everything that can be said about a plan without a store.

use std::borrow::Cow;

use beads_ralph_core::compile;
use beads_ralph_core::compile::CompileSettings;
use beads_ralph_core::diag::{Diagnostic, apply_fixes, sort_by_place};
use beads_ralph_core::formula::distill::{Alike, alike};
use beads_ralph_core::plan::parse;
use camino::Utf8Path;

use super::pour::{formulas_of, pour};
use super::{PlanError, PlanInput};
use crate::os::files::{self, FileError};

/// How often fixes may reveal more fixes; in practice a heading's fix reveals those of its body.
const MAX_FIX_ROUNDS: usize = 32;

/// What a check of a plan found.
#[derive(Debug, Default)]
pub struct CheckReport {
    /// In the order of their places.
    pub findings: Vec<Diagnostic>,
    /// Sprints that could be one formula (FR-6).
    pub alike: Vec<Alike>,
}

/// Checks a plan and the formulas of its sprints, which may be those beside a store.
pub fn check(input: &PlanInput, store: Option<&Utf8Path>) -> Result<CheckReport, PlanError> {
    let given = input.values()?;
    let mut compiled = match input.compile_for_store(compile::KnownIds::new()) {
        Ok(compiled) => compiled,
        Err(PlanError::Findings(mut findings)) => {
            sort_by_place(&mut findings);
            return Ok(CheckReport {
                findings,
                alike: Vec::new(),
            });
        }
        Err(error) => return Err(error),
    };
    let with_formula = formulas_of(&input.plan);
    let plain = compiled.beads.iter();
    let plain = plain.filter(|bead| !with_formula.contains_key(&bead.metadata.sprint));
    let alike = alike(plain);
    let formulas = input.formulas(store);
    let poured = pour(&input.plan, &mut compiled, &formulas, &given, &[], "");
    let mut findings = compiled.findings;
    findings.extend(poured.err().unwrap_or_default());
    sort_by_place(&mut findings);
    Ok(CheckReport { findings, alike })
}

/// Applies the fixes that are certain, again as long as that reveals more, and writes the file once. Gives the number of fixes.
pub fn fix(input: &PlanInput) -> Result<usize, FileError> {
    let source = &input.source;
    // A text that is not what the file holds is never written back.
    if !source.is_exact() {
        return Ok(0);
    }
    let mut text = Cow::Borrowed(source.text());
    let mut n_fixed = 0;
    for _ in 0..MAX_FIX_ROUNDS {
        let settings = CompileSettings {
            text: Some(&text),
            ..input.settings()
        };
        let (fixed, n) = apply_fixes(&text, &compile::check(&parse(&text), &settings));
        if n == 0 {
            break;
        }
        n_fixed += n;
        text = Cow::Owned(fixed);
    }
    if n_fixed > 0 {
        files::replace(source.path(), source.text().as_bytes(), text.as_bytes())?;
    }
    Ok(n_fixed)
}
