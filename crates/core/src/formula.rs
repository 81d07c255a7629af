//! Formulas: reusable templates of work, compiled to the beads of a molecule (contracts §6).
//!
//! [`compile`] reads a formula and everything that it is made of, puts it together, checks it and fills its variables in. Nothing is
//! lost on the way without a word: a field that means nothing here is a warning, an unknown one an error ([`FIELDS`], Z-38).
//! Files are brought by a [`FormulaSource`]; beads are written by whoever has a store.

mod budget;
mod check;
mod compile;
mod compose;
mod condition;
pub mod distill;
mod expand;
mod fields;
mod library;
mod model;
mod molecule;
mod molecule_json;
mod place;
mod read;
mod repeat;
mod rewrite;
mod schema_json;
mod template;
mod values;

#[cfg(test)]
mod tests;

pub use budget::{MAX_STEPS, MAX_TEXT};
pub use compile::{Compilation, compile, vapor_warning};
pub use condition::{Condition, Test};
pub use fields::{FIELDS, Field, Object, Treatment};
pub use library::{Absent, FormulaSource};
pub use model::{
    Advice, AdviceStep, Branch, Children, Compose, Expand, Formula, FormulaName, Gate, GateRule,
    Kind, Phase, Step, StepId, UnsafeName, Variable, VariableType, WaitsFor, is_variable_name,
};
pub use molecule::{Awaited, GATE, Molecule, Need, Pouring, StepBead, Wait};
pub use place::{FileId, Finding, Format, FormulaFile, Place, Placed};
pub use read::Strictness;
pub use repeat::{Loop, Times};
pub use schema_json::schemas;
pub use template::has_placeholder;
pub use values::{BadValue, Given, Values};
