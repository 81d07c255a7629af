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
mod cover;
mod critical;
mod fault;
mod limit;
mod note;
mod order;
mod outline;
mod places;
mod reduce;
mod sprint_graph;
#[cfg(test)]
mod tests;
mod why;

pub use check::check;
pub use compile::compile;
pub use critical::heaviest_path;
pub use fault::GraphFault;
pub use limit::{GraphLimit, MAX_EDGES, MAX_MERGES};
pub use note::Note;
pub use places::{depths, in_order};
pub use sprint_graph::{Edge, Node, SprintGraph};
pub use why::Why;
