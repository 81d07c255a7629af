//! Plans as commands use them: read with the repository around them, compiled, checked, compared with a store, applied to it,
//! and annotated.
//!
//! Everything that is wrong with a plan comes before anything that the store says, so that errors in plans need no store (E-10,
//! E-11).

mod annotate;
mod apply;
mod check;
mod compare;
mod error;
mod input;
mod pour;
mod source;

pub use annotate::{AnnotationState, annotate};
pub use apply::{AppliedPlan, ApplyMode, ApplyOptions, ExistingBeads, apply};
pub use check::{CheckReport, check, fix};
pub use compare::{PlanComparison, compare};
pub use error::{Conflict, InvalidBead, PlanError, PlanReadError};
pub use input::{PlanContext, PlanInput, PlanOptions};
pub use source::PlanSource;
