//! The pure half of beads-ralph.
//!
//! Text goes in; plans, dependency graphs, validated beads and diagnostics come out. Nothing here
//! touches a file, a process, a clock, an environment variable or a random number: whatever the
//! world knows is handed in as a value. The modules are listed in reading order, and each may use
//! only those above it.

pub mod text;

pub mod diag;

pub mod number;

pub mod bead;

pub mod agent;

pub mod verify;

pub mod issue;

pub mod molecule;

pub mod formula;

pub mod implement;

pub mod dod;

pub mod governor;

pub mod graph;

pub mod plan;

pub mod distill;

pub mod chronicle;
pub mod compile;

pub mod reconcile;

pub mod report;

pub mod patrol;

pub mod watchdog;

pub mod scenario;

pub mod engine;

pub mod simulate;
