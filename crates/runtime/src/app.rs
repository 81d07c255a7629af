//! What can be done with beads, molecules and gates: each verb once, for every face of the program.
//!
//! A face reads what somebody typed, calls a verb, and prints its result or its refusal. Nothing here knows arguments, exit codes or how
//! something looks.

pub mod beads;
pub mod molecules;
pub mod plan;
