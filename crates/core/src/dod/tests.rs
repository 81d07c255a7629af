//! Beads of both dialects, what a run writes into them, and the loop.

mod loops;
mod reading;
mod writing;
