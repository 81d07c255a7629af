//! Which sprint waits for which (contracts §2): the graph compiled from a plan's numbers, its order,
//! its waves, its critical path, and the check of graphs that were written by hand.
//!
//! Two things are kept apart. [`compile`] turns sprint numbers into a [`SprintGraph`], which is
//! acyclic by construction and so has no failing operations. [`check`] takes any graph of names, for
//! example that of bead files, and says what is wrong with it.
//!
//! Everything takes time near-linear in sprints and edges, nothing recurses, and a plan that would
//! compile to a graph of unreasonable size is refused with a [`GraphLimit`] before the graph is built.

mod check;
mod compile;
mod order;
mod outline;
mod sprint_graph;
#[cfg(test)]
mod tests;

pub use check::{GraphFault, check};
pub use compile::{GraphLimit, MAX_EDGES, MAX_MERGES, compile};
pub use order::{depths, heaviest_path, in_order};
pub use outline::NumberingWarning;
pub use sprint_graph::{Edge, EdgeReason, Node, SprintGraph};
