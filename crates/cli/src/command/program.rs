//! The commands about the program itself.

pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod man;
pub(crate) mod schema;
pub(crate) mod scripted_agent;
