//! What the tests and benchmarks of beads-ralph share.
//!
//! Everything here is made by rule: the same arguments give the same text on every machine and in
//! every run. Nothing here is shipped.

pub mod chaos;
pub mod exposition;
pub mod github;
mod http;
mod plans;
mod scratch;
pub mod scripted_model;
pub mod store_contract;

pub use plans::generated_plan;
pub use scratch::scratch;
