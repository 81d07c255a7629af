//! A formula as one file says it, before anything is put together.

use std::time::Duration;

use regex::Regex;

use super::condition::Condition;
use super::place::{Place, Placed};
use super::repeat::Loop;
use crate::issue::Document;
use crate::text::excerpt;
use crate::vocabulary::words;

words! {
    /// What a formula is for.
    Kind {
        /// Steps to do; the only kind that can be poured (F-1).
        Workflow = "workflow",
        /// Steps that take the place of others' steps.
        Expansion = "expansion",
        /// Steps that are put around others' steps.
        Aspect = "aspect",
        /// Read, and not poured.
        Convoy = "convoy",
        /// Read, and not poured.
        Task = "task",
        /// Read, and not poured.
        Patrol = "patrol",
    }
}

words! {
    /// Whether what a formula makes is to last.
    Phase {
        /// Poured, to stay.
        Liquid = "liquid",
        /// A wisp, to vanish.
        Vapor = "vapor",
    }
}

words! {
    /// What a variable's values are.
    VariableType {
        /// Any text.
        String = "string",
        /// A whole number.
        Int = "int",
        /// `true` or `false`.
        Bool = "bool",
    }
}

/// A declaration of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name, and where it is declared.
    pub name: Placed<String>,
    /// What it is for.
    pub description: String,
    /// Whether a value must be given.
    pub is_required: bool,
    /// The value when none is given.
    pub default: Option<Placed<String>>,
    /// What a value must look like somewhere.
    pub pattern: Option<Placed<String>>,
    /// The values that are allowed, if not any.
    pub allowed: Vec<String>,
    /// What a value is.
    pub kind: VariableType,
}

impl Variable {
    /// Whether it has no value unless somebody gives one. An empty default is none for what is required.
    pub fn must_be_given(&self) -> bool {
        let default = self.default.as_ref().map(|default| &*default.value);
        self.is_required && default.is_none_or(str::is_empty)
    }

    /// Whether the pattern is found in a value. A pattern that is none was refused when it was read.
    pub fn has_pattern(&self, value: &str) -> bool {
        let pattern = self.pattern.as_ref().map(|pattern| &*pattern.value);
        let pattern = pattern.and_then(|pattern| Regex::new(pattern).ok());
        pattern.is_none_or(|pattern| pattern.is_match(value))
    }
}

/// One file's formula.
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    /// Its name, and where it is given.
    pub name: Placed<String>,
    /// What it does.
    pub description: Option<Placed<String>>,
    /// The version of its text.
    pub version: u64,
    /// What it is for.
    pub kind: Kind,
    /// Whether what it makes is to last.
    pub phase: Option<Phase>,
    /// A word of its author to other programs.
    pub intent: Option<String>,
    /// The formulas that it begins with.
    pub extends: Vec<Placed<String>>,
    /// Its variables.
    pub variables: Vec<Variable>,
    /// What is to be done.
    pub steps: Vec<Step>,
    /// The steps of an expansion.
    pub template: Vec<Step>,
    /// What is done to its steps.
    pub compose: Compose,
    /// What is put around its steps, or of an aspect around others'.
    pub advice: Vec<Advice>,
}

/// A step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its name; with `{target}` in a template.
    pub id: Placed<String>,
    /// What it is about.
    pub title: Placed<String>,
    /// Its `name` where it has a `title` besides (Z-43).
    pub name: Option<Placed<String>>,
    /// What is to be done.
    pub description: Option<Placed<String>>,
    /// More about it.
    pub notes: Option<Placed<String>>,
    /// The type of its bead.
    pub kind: Option<Placed<String>>,
    /// How urgent it is.
    pub priority: Option<u8>,
    /// Tags.
    pub labels: Vec<Placed<String>>,
    /// What its author adds.
    pub metadata: Option<Placed<Document>>,
    /// The steps that must be done before, `depends_on` and `needs` together.
    pub needs: Vec<Placed<String>>,
    /// The children that must be done before.
    pub waits_for: Option<WaitsFor>,
    /// Who is to do it.
    pub assignee: Option<Placed<String>>,
    /// The expansion that takes its place.
    pub expand: Option<Placed<String>>,
    /// Values for that expansion.
    pub expand_vars: Vec<(String, String)>,
    /// When it is wanted at all: everything here must hold.
    pub conditions: Vec<Placed<Condition>>,
    /// The steps that it is made of.
    pub children: Vec<Self>,
    /// Something outside that must happen before.
    pub gate: Option<Gate>,
    /// The steps that are repeated in its place.
    pub repeat: Option<Loop>,
}

impl Step {
    /// A step with nothing but a name and a title.
    pub(super) fn new(id: Placed<String>, title: Placed<String>) -> Self {
        Self {
            id,
            title,
            name: None,
            description: None,
            notes: None,
            kind: None,
            priority: None,
            labels: Vec::new(),
            metadata: None,
            needs: Vec::new(),
            waits_for: None,
            assignee: None,
            expand: None,
            expand_vars: Vec::new(),
            conditions: Vec::new(),
            children: Vec::new(),
            gate: None,
            repeat: None,
        }
    }

    /// Adds a need, once.
    pub(super) fn need(&mut self, id: &str, place: Place) {
        if !self.needs.iter().any(|need| need.value == id) {
            self.needs.push(Placed::new(id.to_owned(), place));
        }
    }

    /// Calls for itself and everything below.
    pub(super) fn walk_mut(&mut self, visit: &mut impl FnMut(&mut Self)) {
        visit(self);
        for child in &mut self.children {
            child.walk_mut(visit);
        }
    }

    /// The fields that mean nothing when other steps take its place.
    pub(super) fn unused_when_replaced(&self) -> Vec<&'static str> {
        let fields = [
            ("notes", self.notes.is_some()),
            ("type", self.kind.is_some()),
            ("priority", self.priority.is_some()),
            ("labels", !self.labels.is_empty()),
            ("metadata", self.metadata.is_some()),
            ("assignee", self.assignee.is_some()),
        ];
        let set = fields.into_iter().filter(|(_, is_set)| *is_set);
        set.map(|(name, _)| name).collect()
    }
}

/// Some steps and everything below them, parents first.
pub(super) fn parts(steps: &[Step]) -> impl Iterator<Item = &Step> {
    let mut left: Vec<&Step> = steps.iter().rev().collect();
    std::iter::from_fn(move || {
        let step = left.pop()?;
        left.extend(step.children.iter().rev());
        Some(step)
    })
}

words! {
    /// Which children are waited for.
    Children {
        /// All of them.
        All = "all-children",
        /// The first that is done.
        Any = "any-children",
    }
}

/// Waiting for the children of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitsFor {
    /// Where the file says so.
    pub place: Place,
    /// Whether the file names the step.
    pub is_named: bool,
    /// How many of them.
    pub children: Children,
    /// Whose children.
    pub spawner: String,
}

impl WaitsFor {
    /// As a file says it, with the name that the step has by now.
    pub fn written(&self) -> String {
        if self.is_named {
            format!("children-of({})", self.spawner)
        } else {
            self.children.as_str().to_owned()
        }
    }
}

/// Something outside that is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// What sort of thing.
    pub kind: Placed<String>,
    /// Which one.
    pub await_id: Option<Placed<String>>,
    /// How long.
    pub timeout: Option<Duration>,
    /// The repository that it is in.
    pub repo: Option<Placed<String>>,
}

/// What is done to the steps of a formula.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Compose {
    /// Expansions of single steps.
    pub expand: Vec<Expand>,
    /// Expansions of all steps that match.
    pub map: Vec<Expand>,
    /// Forks and joins.
    pub branch: Vec<Branch>,
    /// Conditions that somebody else looks at.
    pub gate: Vec<GateRule>,
    /// Aspects.
    pub aspects: Vec<Placed<String>>,
}

/// An expansion that takes the place of steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Expand {
    /// A step, or a pattern of steps.
    pub target: Placed<String>,
    /// The expansion.
    pub with: Placed<String>,
    /// Values for it.
    pub vars: Vec<(String, String)>,
}

/// Steps that can be done at the same time between two others.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// What comes before all.
    pub from: Placed<String>,
    /// What is done at the same time.
    pub steps: Vec<Placed<String>>,
    /// What comes after all.
    pub join: Placed<String>,
}

/// A condition before a step that a program of somebody else evaluates.
#[derive(Debug, Clone, PartialEq)]
pub struct GateRule {
    /// The step.
    pub before: Placed<String>,
    /// The condition.
    pub condition: Placed<String>,
}

/// Steps that are put around others.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// A pattern of steps.
    pub target: Placed<String>,
    /// What comes before, in order.
    pub before: Vec<AdviceStep>,
    /// What comes after, in order.
    pub after: Vec<AdviceStep>,
}

/// A step that is put beside another; `{step.id}` and `{step.title}` are the other's.
#[derive(Debug, Clone, PartialEq)]
pub struct AdviceStep {
    /// Its name.
    pub id: Placed<String>,
    /// What it is about.
    pub title: Option<Placed<String>>,
    /// What is to be done.
    pub description: Option<Placed<String>>,
    /// The type of its bead.
    pub kind: Option<Placed<String>>,
}

/// The longest name, so that a bead's id that is made of two of them still fits (see `issue::check_id`).
const MAX_CHARS: usize = 100;

/// Why a name cannot be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} `{}` is not a safe name: {wrong}", excerpt(.text))]
pub struct UnsafeName {
    what: &'static str,
    text: String,
    wrong: &'static str,
}

/// The name of a formula, which is also the name of its file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FormulaName(Box<str>);

impl FormulaName {
    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, UnsafeName> {
        check("the formula", text).map(|()| Self(text.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The name of a step within its formula.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepId(Box<str>);

impl StepId {
    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, UnsafeName> {
        check("the step", text).map(|()| Self(text.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A name can be a part of an id, of a label and of a file's name.
fn check(what: &'static str, text: &str) -> Result<(), UnsafeName> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let wrong = if text.is_empty() {
        "it is empty"
    } else if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        "it must begin with a letter or a digit"
    } else if !text.chars().all(is_plain) {
        "only letters, digits, `.`, `_` and `-` are allowed"
    } else if text.contains("..") || text.ends_with('.') {
        "it looks like a path"
    } else if text.len() > MAX_CHARS {
        "it has more than 100 characters"
    } else {
        return Ok(());
    };
    Err(UnsafeName {
        what,
        text: text.to_owned(),
        wrong,
    })
}

/// Whether a text can be the name of a variable (F-2): `[A-Za-z_][A-Za-z0-9_-]*`.
pub fn is_variable_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f_5_a_step_has_a_safe_name() {
        for id in ["work", "qa-1", "loop.iter2.draft", "A_b", "1"] {
            assert!(StepId::parse(id).is_ok(), "{id}");
        }
        let long = "x".repeat(101);
        for id in [
            "", "../x", "a b", "-a", ".a", "a..b", "a.", "ä", "a/b", "{x}", &long,
        ] {
            assert!(StepId::parse(id).is_err(), "{id}");
        }
    }

    #[test]
    fn f_2_a_variable_may_have_hyphens() {
        for name in ["bead-id", "_x", "Sprint_1"] {
            assert!(is_variable_name(name), "{name}");
        }
        for name in ["", "1a", "-a", "a b", "a.b", "é"] {
            assert!(!is_variable_name(name), "{name}");
        }
    }
}
