//! The pure half of beads-ralph.
//!
//! Text goes in; plans, dependency graphs, validated beads and diagnostics come out. Nothing here
//! touches a file, a process, a clock, an environment variable or a random number: whatever the
//! world knows is handed in as a value. The modules are listed bottom-up, in reading order: each uses only
//! those above it, which a test proves.

#![warn(missing_docs)]

pub mod text;

pub mod number;

pub mod vocabulary;

pub mod tree;

pub mod diag;

pub mod scenario;

pub mod bead;

pub mod graph;

pub mod check;

pub mod agent;

pub mod issue;

pub mod plan;

pub mod formula;

pub mod molecule;

pub mod dod;

pub mod engine;

pub mod patrol;

pub mod implement;

pub mod history;

pub mod gate;

pub mod watchdog;

pub mod compile;

pub mod simulate;

pub mod apply;
