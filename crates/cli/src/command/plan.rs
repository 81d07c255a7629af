//! `plan`: plans and what they become.

pub(crate) mod annotate;
pub(crate) mod apply;
pub(crate) mod build;
pub(crate) mod check;
pub(crate) mod diff;
pub(crate) mod graph;
pub(crate) mod new;
