//! The governor: while a gate is red, no feature is begun (contracts §8.5, "no green, no features").
//!
//! A [`Gate`] is read from a bead, and is red unless its last run passed: what nobody has run holds features back as well (G-1). [`Gates`] answers whether an
//! [`Applicant`] may be begun, and gives the order of work. Nothing is run here, and nothing is found: that is for others.

mod applicant;

mod gates;
mod group;
mod model;
mod planned;
#[cfg(test)]
mod tests;

pub use crate::dod::is_gate;
pub use applicant::Applicant;
pub use gates::{Denied, Gates};
pub use model::{Gate, Holds, Light, Why};
