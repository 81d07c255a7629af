//! What the commands do, apart from asking and printing: each verb once, for every face of the program.

pub mod plan;
