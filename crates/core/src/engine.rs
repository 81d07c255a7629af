//! The loop over many beads as a machine that is told what happened and says what to do.
//!
//! It takes one event and answers with effects; nothing else happens here. The same machine runs for real,
//! in simulations, and once more over what was recorded.

mod trouble;

pub use trouble::{CommitId, Lasting, Trouble};
