//! Whether a command did what a check expects of it (contracts §8.2).
//!
//! Output is judged as it comes, so that a check sees all of it however much there is. Nothing here runs a command:
//! whoever does hands in the bytes and how it ended.

mod flake;
mod judge;
mod record;
mod stream;
mod tests_run;

pub use flake::{Cause, Try, cause};
pub use judge::{Finish, Judge};
pub use record::{
    CheckRecord, Kept, failures_in, is_green, no_verdict, summary, verdict, warnings,
};
