//! `formula`: templates of work.

pub(crate) mod check;
pub(crate) mod graph;
pub(crate) mod list;
pub(crate) mod new;
pub(crate) mod show;
