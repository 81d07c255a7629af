//! The commands about the program itself.

pub(crate) mod about;
pub(crate) mod demo;
pub(crate) mod scripted_agent;
