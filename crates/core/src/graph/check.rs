//! The check of an arbitrary graph, for example that of hand-written bead files (contracts §2.2), and what can be wrong with one.
//!
//! The findings depend on the graph alone, not on the order in which it is listed.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;

use super::order::in_order;
use crate::diag::ErrorCode;
use crate::text::{excerpt, list_first};

/// Checks a graph given as nodes with their dependencies (D-10 to D-14). References to `external` ids
/// are allowed and lead nowhere.
///
/// The first class with findings is the error, and it holds all findings of that class. A dependency
/// that is listed twice is one dependency.
pub fn check<'a, D>(
    nodes: impl IntoIterator<Item = (&'a str, D)>,
    external: &BTreeSet<&str>,
) -> Result<(), GraphFault>
where
    D: IntoIterator<Item = &'a str>,
{
    let mut listed: Vec<(&str, Vec<&str>)> = nodes
        .into_iter()
        .map(|(id, dependencies)| {
            let mut dependencies: Vec<&str> = dependencies.into_iter().collect();
            dependencies.sort_unstable();
            dependencies.dedup();
            (id, dependencies)
        })
        .collect();
    listed.sort_unstable();
    no_duplicates(&listed)?;
    no_self_dependencies(&listed)?;
    let graph = NamedGraph::resolve(&listed, external)?;
    match graph.stuck() {
        None => Ok(()),
        Some(stuck) => Err(GraphFault::Cycle {
            path: graph.cycle(&stuck),
        }),
    }
}

fn no_duplicates(listed: &[(&str, Vec<&str>)]) -> Result<(), GraphFault> {
    let pairs = listed.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    let mut ids: Vec<String> = pairs.map(|pair| pair[0].0.to_owned()).collect();
    ids.dedup();
    if ids.is_empty() {
        Ok(())
    } else {
        Err(GraphFault::DuplicateId { ids })
    }
}

fn no_self_dependencies(listed: &[(&str, Vec<&str>)]) -> Result<(), GraphFault> {
    let ids: Vec<String> = listed
        .iter()
        .filter(|(id, dependencies)| dependencies.contains(id))
        .map(|(id, _)| (*id).to_owned())
        .collect();
    if ids.is_empty() {
        Ok(())
    } else {
        Err(GraphFault::SelfDependency { ids })
    }
}

/// The graph by index; ids and dependencies are sorted.
struct NamedGraph<'a> {
    ids: Vec<&'a str>,
    dependencies: Vec<Vec<usize>>,
}

impl<'a> NamedGraph<'a> {
    fn resolve(
        listed: &[(&'a str, Vec<&'a str>)],
        external: &BTreeSet<&str>,
    ) -> Result<Self, GraphFault> {
        let ids: Vec<&str> = listed.iter().map(|(id, _)| *id).collect();
        let mut missing = Vec::new();
        let mut dependencies = Vec::with_capacity(listed.len());
        for (id, names) in listed {
            let mut known = Vec::with_capacity(names.len());
            for name in names {
                match ids.binary_search(name) {
                    Ok(at) => known.push(at),
                    Err(_) if external.contains(name) => {}
                    Err(_) => missing.push(((*id).to_owned(), (*name).to_owned())),
                }
            }
            dependencies.push(known);
        }
        if missing.is_empty() {
            Ok(Self { ids, dependencies })
        } else {
            Err(GraphFault::Unresolved { missing })
        }
    }

    // Takes away nodes all of whose dependencies are taken. Whatever goes was reached from a root, so
    // nothing left over is D-14 itself; a node left over waits for another that is.
    fn stuck(&self) -> Option<Vec<bool>> {
        let mut stuck = vec![true; self.ids.len()];
        for node in in_order(&self.dependencies) {
            stuck[node] = false;
        }
        stuck.contains(&true).then_some(stuck)
    }

    fn cycle(&self, stuck: &[bool]) -> Vec<String> {
        let mut cycle = self.shortest_cycle(self.on_a_cycle(stuck));
        let smallest = (0..cycle.len()).min_by_key(|at| cycle[*at]).unwrap_or(0);
        cycle.rotate_left(smallest);
        let around = cycle.iter().chain(cycle.first());
        around.map(|node| self.ids[*node].to_owned()).collect()
    }

    // From the smallest stuck node, always to the smallest stuck dependency, until a node comes back.
    fn on_a_cycle(&self, stuck: &[bool]) -> usize {
        let mut seen = vec![false; stuck.len()];
        let mut node = stuck.iter().position(|stuck| *stuck).unwrap_or(0);
        while !std::mem::replace(&mut seen[node], true) {
            let mut dependencies = self.dependencies[node].iter();
            node = *dependencies
                .find(|dependency| stuck[**dependency])
                .expect("a stuck node waits for a stuck node");
        }
        node
    }

    // A breadth-first search, because the shortest cycle through a node is the easiest to understand.
    fn shortest_cycle(&self, start: usize) -> Vec<usize> {
        let mut came_from = vec![None; self.ids.len()];
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for dependency in &self.dependencies[node] {
                if *dependency == start {
                    let back = std::iter::successors(Some(node), |node| came_from[*node]);
                    let mut cycle: Vec<usize> = back.collect();
                    cycle.reverse();
                    return cycle;
                }
                if came_from[*dependency].is_none() {
                    came_from[*dependency] = Some(node);
                    queue.push_back(*dependency);
                }
            }
        }
        vec![start]
    }
}

/// The first class of faults that a graph has, with all findings of that class.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphFault {
    /// Two nodes with one id (D-10).
    #[error("more than one node has the id {}", list_first(ids, MAX_NAMED, |id| excerpt(id)))]
    DuplicateId {
        /// The ids, sorted, each once.
        ids: Vec<String>,
    },
    /// A node that lists itself (D-11).
    #[error("a node depends on itself: {}", list_first(ids, MAX_NAMED, |id| excerpt(id)))]
    SelfDependency {
        /// The ids, sorted.
        ids: Vec<String>,
    },
    /// A reference to an id that is neither a node nor external (D-12).
    #[error(
        "a dependency does not exist: {}",
        list_first(missing, MAX_NAMED, needed)
    )]
    Unresolved {
        /// The node and the id that it names, sorted, each pair once.
        missing: Vec<(String, String)>,
    },
    /// Nodes that wait for each other (D-13).
    #[error("dependencies form a cycle: {}", Path(path))]
    Cycle {
        /// One cycle from its smallest id back to it, so that the first id is also the last; each
        /// waits for the next.
        path: Vec<String>,
    },
}

impl GraphFault {
    /// The code that the error carries.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::DuplicateId { .. } => ErrorCode::DependencyDuplicateId,
            Self::SelfDependency { .. } => ErrorCode::DependencySelfDep,
            Self::Unresolved { .. } => ErrorCode::DependencyUnresolved,
            Self::Cycle { .. } => ErrorCode::DependencyCycleDetected,
        }
    }
}

// Messages name a few of many; the fields hold them all.
const MAX_NAMED: usize = 8;

fn needed((node, id): &(String, String)) -> String {
    format!("{} (needed by {})", excerpt(id), excerpt(node))
}

struct Path<'a>(&'a [String]);

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n_hidden = self.0.len().saturating_sub(2 * MAX_NAMED);
        let hidden = MAX_NAMED..MAX_NAMED + n_hidden;
        for (at, id) in self.0.iter().enumerate() {
            let arrow = if at == 0 { "" } else { " → " };
            if !hidden.contains(&at) {
                write!(f, "{arrow}{}", excerpt(id))?;
            } else if at == hidden.start {
                write!(f, "{arrow}… ({n_hidden} more)")?;
            }
        }
        Ok(())
    }
}
