//! The operating system: processes, files, the environment, the clock, signals, the terminal and this machine.
//!
//! Each kind of contact has one module, and everything else in the crate goes through it.

pub mod clock;
pub mod digest;
pub mod env;
pub mod files;
pub mod host;
pub mod limits;
pub mod process;
pub mod terminal;
