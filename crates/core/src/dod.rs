//! Beads with a machine-checked Definition of Done (seed 003, contracts §8): what they say, and the loop that works on them.
//!
//! A [`DodBead`] is one document with everything that it holds, whatever dialect it is written in; writing back changes only
//! what a run changes. [`Pursuit`] decides what to do next; it runs nothing and knows no clock.

mod model;
mod of_issue;
mod progress;
mod prompt;
mod pursuit;
mod read;
mod schema;
#[cfg(test)]
mod tests;
mod words;

pub use model::{Constraints, DodBead};
pub use of_issue::{is_gate, of_issue};
pub use progress::Progress;
pub use prompt::{Feedback, prompt};
pub use pursuit::{AgentEnd, End, Moment, Pursuit, Settings, Step};
pub use read::{FLAT_GATE_VERIFIER, check_name, means_gate, parse, parse_json, read};
pub use schema::schemas;
pub use words::{DodStatus, DodType, Lane};
