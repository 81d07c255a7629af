//! From a formula to the beads of a molecule, in the order of the real `bd`: what it extends, loops, branches, its own advice,
//! expansions, aspects, conditions. Then names, needs and circles are checked, and variables are filled in.

use std::rc::Rc;

use super::budget::{Budget, MAX_TEXT};
use super::check;
use super::library::{Absent, FormulaSource, Library};
use super::model::{Formula, Kind, Phase, Step, Variable};
use super::molecule::{Molecule, step_beads};
use super::place::{Finding, Findings, FormulaFile, Place};
use super::read::{NOT_POURED_HELP, Strictness, not_poured};
use super::template::substitute;
use super::values::{Bindings, Given, bind};
use super::{compose, condition, expand, library, repeat};
use crate::diag::WarningCode;

/// What became of a formula.
#[derive(Debug)]
pub struct Compilation {
    /// The files that were read; the first is the formula's own.
    pub files: Vec<FormulaFile>,
    /// Everything that is to be said about them.
    pub findings: Vec<Finding>,
    /// The formula with what it extends, unless it cannot be read.
    pub formula: Option<Formula>,
    /// What a pour makes, unless there are errors.
    pub molecule: Option<Molecule>,
}

impl Compilation {
    /// Whether it cannot be poured.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(Finding::is_error)
    }

    /// Its variables, with those of what it extends.
    pub fn variables(&self) -> &[Variable] {
        self.formula
            .as_ref()
            .map_or(&[], |formula| &formula.variables)
    }
}

/// Compiles a formula. With [`Given::NotYet`] it is only looked at: placeholders stay, and every conditional step is there.
pub fn compile(
    shelf: &dyn FormulaSource,
    name: &str,
    given: Given<'_>,
    strictness: Strictness,
) -> Result<Compilation, Absent> {
    let mut library = Library::new(shelf, strictness);
    let own = library.open(name)?;
    if let Some(own) = &own
        && own.kind != Kind::Workflow
        && !matches!(given, Given::NotYet)
    {
        // Whatever else is odd about it, this is why it cannot be poured (Z-43).
        library.findings = Findings::default();
        let message = not_poured(own.kind);
        library
            .findings
            .refuse(own.name.place, message, NOT_POURED_HELP);
        let (files, findings) = library.close();
        return Ok(Compilation {
            files,
            findings: findings.into_vec(),
            formula: Some(Formula::clone(own)),
            molecule: None,
        });
    }
    let formula = own.and_then(|own| whole(&own, &mut library));
    let molecule = (formula.as_ref()).and_then(|formula| {
        let is_sound = !library.findings.has_errors();
        let molecule = molecule(formula, given, &mut library);
        molecule.filter(|_| is_sound && !library.findings.has_errors())
    });
    let (files, findings) = library.close();
    Ok(Compilation {
        files,
        findings: findings.into_vec(),
        formula,
        molecule,
    })
}

fn whole(own: &Rc<Formula>, library: &mut Library<'_>) -> Option<Formula> {
    let formula = Formula::clone(&*library::inherit(own, library)?);
    if formula.steps.is_empty() && formula.kind == Kind::Workflow && !own.extends.is_empty() {
        let message = "neither the formula nor what it extends has steps";
        library.findings.refuse(own.name.place, message, "");
    }
    Some(formula)
}

/// The beads of a formula. Formulas that only others use are checked as far as they can be.
fn molecule(formula: &Formula, given: Given<'_>, library: &mut Library<'_>) -> Option<Molecule> {
    if formula.kind != Kind::Workflow {
        return None;
    }
    let place = formula.name.place;
    let bindings = bind(&formula.variables, given, place, &mut library.findings);
    let steps = arranged(formula, &bindings, library)?;
    let mut findings = std::mem::take(&mut library.findings);
    let steps = filled(steps, &bindings, place, &mut findings);
    let beads = step_beads(&steps, &mut findings);
    let is_sound = !findings.has_errors();
    library.findings = findings;
    let description = formula.description.as_ref().map_or("", |text| &text.value);
    let description = substitute(description, MAX_TEXT, |name| bindings.get(name));
    let Ok(description) = description else {
        let message = format!("the description has more than {} MiB", MAX_TEXT >> 20);
        library.findings.refuse(place, message, "");
        return None;
    };
    is_sound.then(|| Molecule {
        formula: formula.name.value.clone(),
        description,
        phase: formula.phase.unwrap_or(Phase::Liquid),
        intent: formula.intent.clone(),
        steps: beads,
    })
}

/// The steps that there will be, with what they need.
fn arranged(
    formula: &Formula,
    bindings: &Bindings,
    library: &mut Library<'_>,
) -> Option<Vec<Step>> {
    let mut budget = Budget::new();
    let place = formula.name.place;
    if !budget.take(&formula.steps, place, &mut library.findings) {
        return None;
    }
    check::sources(&formula.steps, &mut library.findings);
    let steps = formula.steps.clone();
    let mut steps = repeat::unroll(steps, bindings, &mut budget, &mut library.findings);
    compose::branch(&mut steps, &formula.compose, &mut library.findings);
    compose::gate(&mut steps, &formula.compose, &mut library.findings);
    steps = compose::advise(steps, &formula.advice, &mut budget, &mut library.findings);
    steps = expand::expand(formula, steps, bindings, library, &mut budget);
    for name in &formula.compose.aspects {
        let Some(aspect) = library.load(name) else {
            continue;
        };
        if aspect.kind != Kind::Aspect {
            let message = format!(
                "`{}` is a formula of type {}, not an aspect",
                crate::text::excerpt(&name.value),
                aspect.kind.as_str()
            );
            library.findings.refuse(name.place, message, "");
            continue;
        }
        let aspect = library::inherit(&aspect, library)?;
        steps = compose::advise(steps, &aspect.advice, &mut budget, &mut library.findings);
    }
    let is_sound = !library.findings.has_errors();
    check::placeholders(formula, &steps, bindings, library);
    // While a formula is only looked at, a misspelt variable keeps nobody from hearing of a misspelt need.
    let goes_on = is_sound && (bindings.is_partial() || !library.findings.has_errors());
    if !goes_on {
        return None;
    }
    steps = condition::drop_unwanted(steps, bindings);
    check::steps(&steps, place, &mut library.findings);
    (!library.findings.has_errors()).then_some(steps)
}

/// Fills the variables in.
fn filled(
    mut steps: Vec<Step>,
    bindings: &Bindings,
    place: Place,
    findings: &mut Findings,
) -> Vec<Step> {
    let mut budget = Budget::new();
    for step in &mut steps {
        step.walk_mut(&mut |part| {
            super::rewrite::each_bead_text(part, &mut |text, _| {
                let left = budget.text_left();
                let filled = substitute(text, left, |name| bindings.get(name));
                let n_bytes = filled.as_ref().map_or(usize::MAX, String::len);
                if budget.take_text(n_bytes, place, findings) {
                    *text = filled.unwrap_or_default();
                }
            });
        });
    }
    steps
}

/// What is to be said when a formula that should be a wisp is poured (F-9).
pub fn vapor_warning(compilation: &Compilation) -> Option<Finding> {
    let formula = compilation.formula.as_ref()?;
    if formula.phase != Some(Phase::Vapor) {
        return None;
    }
    let mut findings = Findings::default();
    let message = "the formula recommends a wisp, and is poured to stay";
    let help = format!(
        "`beads-ralph mol wisp {}` makes one that vanishes",
        formula.name.value
    );
    findings.warn(
        WarningCode::FormulaVapor,
        formula.name.place,
        message,
        &help,
    );
    findings.into_vec().pop()
}
