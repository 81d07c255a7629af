//! The governor: while a gate is red, no feature is begun (contracts §8.5, "no green, no features").
//!
//! A [`Gate`] is read from a bead, and is red unless its last run passed: what nobody has run holds features back as well (G-1). [`Gates`] answers whether an
//! [`Applicant`] may be begun, and gives the order of work. Nothing is run here, and nothing is found: that is for others.

mod gates;
mod read_json;
#[cfg(test)]
mod tests;

pub use crate::dod::is_gate;
pub use gates::{Denied, Gate, Gates, Holds, Light, Why};
pub use read_json::Applicant;
