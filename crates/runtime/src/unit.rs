//! Running programs: the one module that starts processes.
//!
//! A *unit* is one program with everything that it starts. It has its own process group and session, its input is a file
//! or nothing, its output is drained at once and kept within bounds, and it ends: of itself, at a deadline, or when
//! somebody cancels it. Between the program and us stands a *shim*, this same binary, which adopts whatever the program leaves
//! behind and kills it, also when we are gone (Z-19).

mod ended;
mod spec;
mod watch;

pub use ended::{Captured, Ended, Ending, Stopped, UnitError};
pub use spec::{Environment, Limits, Mark, Spec, Stdin};
pub use watch::{Flow, Silent, Stream, Watch};
