//! What happened: the story of a run, told from its journal, and the figures of a store, counted from its beads.

pub mod records;
pub mod story;
