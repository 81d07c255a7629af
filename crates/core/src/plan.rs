//! Implementation plans: markdown in, sprints and diagnostics out (contracts §1 and §5).
//!
//! Parsing never fails and never stops at the first problem: [`parse`] returns what it understood,
//! and every finding with its place. A plan is read line by line by the rules of the contracts, which
//! are narrower than markdown's: only what stands outside fences and comments counts.

mod agent;
mod annotate;
mod body;
mod diagnostics;
mod field;
mod filter;
mod heading;
mod line;
mod list;
mod model;
mod parse;
mod verifier;

#[cfg(test)]
mod fixture;

#[cfg(test)]
pub(crate) use fixture::{complete_plan, sprint};

pub use agent::AgentItem;
pub use annotate::{Annotated, annotate};
pub(crate) use diagnostics::shared_bead_ids;
pub use field::Field;
pub use filter::{Filter, FilterFault};
pub use model::{
    Annotation, Body, CompleteSprint, Estimate, Plan, Sprint, SprintKind, complete, weight,
};
pub use parse::{invalid_utf8, parse};
pub use verifier::VerifierItem;

#[cfg(test)]
mod tests {
    mod annotation;
    mod bodies;
    mod properties;
}
