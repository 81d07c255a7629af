//! The formulas that one formula is made of, each read once, and what it inherits from those that it `extends`.
//!
//! Parents come in order, then the formula itself. A step or a variable of the same name replaces that of the parent; rules and
//! advice add up. Nothing of a parent is lost but its name, and its phase and description where the child has its own.

use std::collections::HashMap;
use std::rc::Rc;

use super::model::{Compose, Formula, FormulaName, Kind, Step, Variable};
use super::place::{FileId, Findings, FormulaFile, Place, Placed};
use super::read::{Strictness, read};
use crate::diag::{ErrorCode, WarningCode, did_you_mean};
use crate::text::{Span, excerpt};

/// Where formulas are found. Whoever implements it reads files; nothing here does.
pub trait FormulaSource {
    /// The file of a formula; none when there is no such file. The error says why it cannot be read.
    fn fetch(&self, name: &FormulaName) -> Result<Option<FormulaFile>, String>;

    /// The names that there are, for those who misspell one.
    fn names(&self) -> Vec<String>;
}

/// A formula that cannot be put together, as was said before.
pub(super) struct Broken;

/// What was read so far.
pub(super) struct Library<'s> {
    shelf: &'s dyn FormulaSource,
    pub(super) strictness: Strictness,
    files: Vec<FormulaFile>,
    formulas: HashMap<String, Option<Rc<Formula>>>,
    /// Formulas with what they extend; none for those that cannot be put together.
    wholes: HashMap<String, Option<Rc<Formula>>>,
    pub(super) findings: Findings,
}

/// Why a formula is not there at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Absent {
    /// There is no such file.
    #[error("unknown formula `{}`", excerpt(.name))]
    NotFound {
        /// The name.
        name: String,
        /// One that is nearly the same.
        near: Option<String>,
    },
    /// It cannot be a name.
    #[error(transparent)]
    Name(#[from] super::model::UnsafeName),
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

impl Absent {
    /// The code of contracts §4.2.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } | Self::Name(_) => ErrorCode::FormulaNotFound,
            Self::Unreadable(_) => ErrorCode::FormulaPourFailed,
        }
    }
}

impl<'s> Library<'s> {
    pub(super) fn new(shelf: &'s dyn FormulaSource, strictness: Strictness) -> Self {
        Self {
            shelf,
            strictness,
            files: Vec::new(),
            formulas: HashMap::new(),
            wholes: HashMap::new(),
            findings: Findings::default(),
        }
    }

    /// The formula that was asked for. None when it was found and cannot be used.
    pub(super) fn open(&mut self, name: &str) -> Result<Option<Rc<Formula>>, Absent> {
        let safe = FormulaName::parse(name)?;
        match self.shelf.fetch(&safe) {
            Ok(Some(sheet)) => Ok(self.add(name, sheet)),
            Ok(None) => Err(Absent::NotFound {
                name: name.to_owned(),
                near: self.near(name),
            }),
            Err(wrong) => Err(Absent::Unreadable(wrong)),
        }
    }

    /// A formula that another one names; what is wrong is said at that place.
    pub(super) fn load(&mut self, name: &Placed<String>) -> Option<Rc<Formula>> {
        if let Some(formula) = self.formulas.get(&name.value) {
            return formula.clone();
        }
        match self.open(&name.value) {
            Ok(formula) => formula,
            Err(absent) => {
                let help = match &absent {
                    Absent::NotFound {
                        near: Some(near), ..
                    } => format!("did you mean `{near}`?"),
                    _ => String::new(),
                };
                let message = absent.to_string();
                (self.findings).error(absent.code(), name.place, message, &help);
                None
            }
        }
    }

    /// A formula that another one names, with everything that it extends.
    pub(super) fn load_whole(&mut self, name: &Placed<String>) -> Option<Rc<Formula>> {
        let own = self.load(name)?;
        inherit(&own, self)
    }

    /// What was put together before: an error when it cannot be.
    pub(super) fn whole(&self, name: &str) -> Option<Result<Rc<Formula>, Broken>> {
        let whole = self.wholes.get(name)?;
        Some(whole.clone().ok_or(Broken))
    }

    /// Keeps what was put together.
    pub(super) fn keep_whole(&mut self, name: &str, whole: Option<Rc<Formula>>) {
        self.wholes.insert(name.to_owned(), whole);
    }

    fn near(&self, name: &str) -> Option<String> {
        let names = self.shelf.names();
        did_you_mean(name, names.iter().map(String::as_str)).map(str::to_owned)
    }

    fn add(&mut self, name: &str, sheet: FormulaFile) -> Option<Rc<Formula>> {
        let file = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        if let Some(remark) = &sheet.remark {
            let place = Place {
                file,
                span: Span::at(0),
            };
            (self.findings).warn(WarningCode::FormulaShadowed, place, remark.clone(), "");
        }
        let formula = read(&sheet, file, name, self.strictness, &mut self.findings).map(Rc::new);
        self.files.push(sheet);
        self.formulas.insert(name.to_owned(), formula.clone());
        formula
    }

    /// The text of a file.
    pub(super) fn text(&self, file: FileId) -> &str {
        self.files.get(file.index()).map_or("", |sheet| &sheet.text)
    }

    pub(super) fn close(self) -> (Vec<FormulaFile>, Findings) {
        (self.files, self.findings)
    }
}

/// A chain of parents can be so long.
const MAX_CHAIN: usize = 50;

/// The formula with everything that its parents bring; each is put together once.
pub(super) fn inherit(formula: &Rc<Formula>, library: &mut Library<'_>) -> Option<Rc<Formula>> {
    let mut chain = vec![formula.name.value.clone()];
    with_parents(formula, &mut chain, library)
}

fn with_parents(
    formula: &Rc<Formula>,
    chain: &mut Vec<String>,
    library: &mut Library<'_>,
) -> Option<Rc<Formula>> {
    let name = &formula.name.value;
    if let Some(whole) = library.whole(name) {
        return whole.ok();
    }
    let whole = merged(formula, chain, library).map(Rc::new);
    library.keep_whole(name, whole.clone());
    whole
}

fn merged(
    formula: &Rc<Formula>,
    chain: &mut Vec<String>,
    library: &mut Library<'_>,
) -> Option<Formula> {
    let mut merged: Option<Formula> = None;
    let mut seen: Vec<&str> = Vec::new();
    for name in &formula.extends {
        if seen.contains(&name.value.as_str()) {
            let message = format!("`{}` is extended twice", excerpt(&name.value));
            library.findings.refuse(name.place, message, "");
            return None;
        }
        seen.push(&name.value);
        let parent = parent(name, formula.kind, chain, library)?;
        merged = Some(match merged {
            None => Formula::clone(&parent),
            Some(earlier) => joined(earlier, Formula::clone(&parent), library),
        });
    }
    match merged {
        None => Some(Formula::clone(formula)),
        Some(base) => Some(overridden(base, formula)),
    }
}

fn parent(
    name: &Placed<String>,
    kind: Kind,
    chain: &mut Vec<String>,
    library: &mut Library<'_>,
) -> Option<Rc<Formula>> {
    if chain.contains(&name.value) {
        let circle: Vec<&str> = chain
            .iter()
            .chain([&name.value])
            .map(String::as_str)
            .collect();
        let message = format!(
            "formulas extend each other in a circle: {}",
            circle.join(" -> ")
        );
        library.findings.refuse(name.place, message, "");
        return None;
    }
    if chain.len() == MAX_CHAIN {
        let message = format!("more than {MAX_CHAIN} formulas extend each other");
        library.findings.refuse(name.place, message, "");
        return None;
    }
    let parent = library.load(name)?;
    if parent.kind != kind {
        let message = format!(
            "a formula of type {} cannot extend `{}`, which is of type {}",
            kind.as_str(),
            excerpt(&name.value),
            parent.kind.as_str()
        );
        library.findings.refuse(name.place, message, "");
        return None;
    }
    chain.push(name.value.clone());
    let whole = with_parents(&parent, chain, library);
    chain.pop();
    whole
}

/// Two parents side by side. They must not have steps of one name, because neither is the other's child.
fn joined(mut first: Formula, second: Formula, library: &mut Library<'_>) -> Formula {
    for step in second.steps.iter().chain(&second.template) {
        let mut earlier = first.steps.iter().chain(&first.template);
        // A parent that both have does not clash.
        if let Some(other) = earlier.find(|other| other.id.value == step.id.value)
            && other != step
        {
            let message = format!(
                "two of the extended formulas have a step `{}`",
                excerpt(&step.id.value)
            );
            let help = "give one of the two another name, or write the step in the formula itself";
            library.findings.refuse(step.id.place, message, help);
        }
    }
    for variable in second.variables {
        let is_known = |own: &Variable| own.name.value == variable.name.value;
        if !first.variables.iter().any(is_known) {
            first.variables.push(variable);
        }
    }
    merge_steps(&mut first.steps, second.steps);
    merge_steps(&mut first.template, second.template);
    add_rules(&mut first.compose, second.compose);
    add_new(&mut first.advice, second.advice);
    first.phase = first.phase.or(second.phase);
    first.intent = first.intent.or(second.intent);
    first.description = first.description.or(second.description);
    first
}

/// A child over its parents.
fn overridden(base: Formula, child: &Rc<Formula>) -> Formula {
    let own = Formula::clone(child);
    let mut merged = Formula {
        variables: base.variables,
        steps: base.steps,
        template: base.template,
        compose: base.compose,
        advice: base.advice,
        phase: own.phase.or(base.phase),
        intent: own.intent.or(base.intent),
        description: own.description.or(base.description),
        ..own
    };
    for variable in &child.variables {
        let name = &variable.name.value;
        match (merged.variables.iter_mut()).find(|other| other.name.value == *name) {
            Some(other) => *other = variable.clone(),
            None => merged.variables.push(variable.clone()),
        }
    }
    merge_steps(&mut merged.steps, child.steps.clone());
    merge_steps(&mut merged.template, child.template.clone());
    add_rules(&mut merged.compose, child.compose.clone());
    add_new(&mut merged.advice, child.advice.clone());
    merged
}

/// A step of the same name takes the other's place, others come after.
fn merge_steps(steps: &mut Vec<Step>, more: Vec<Step>) {
    for step in more {
        match (steps.iter_mut()).find(|other| other.id.value == step.id.value) {
            Some(other) => *other = step,
            None => steps.push(step),
        }
    }
}

fn add_rules(rules: &mut Compose, more: Compose) {
    add_new(&mut rules.expand, more.expand);
    add_new(&mut rules.map, more.map);
    add_new(&mut rules.branch, more.branch);
    add_new(&mut rules.gate, more.gate);
    add_new(&mut rules.aspects, more.aspects);
}

/// What two parents have from one grandparent is there once.
fn add_new<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
    for item in more {
        if !all.contains(&item) {
            all.push(item);
        }
    }
}
