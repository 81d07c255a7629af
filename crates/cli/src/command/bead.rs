//! `bead`: bead files.

pub(crate) mod create;
pub(crate) mod migrate;
pub(crate) mod validate;
