//! Orders of a graph: the order of emission, the waves that can run side by side, the heaviest path.
//!
//! The functions outside of [`SprintGraph`] take any things that are named by their index in a list, where `before` has what each
//! of them waits for. What waits in a cycle, or for something in one, has no place in an order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Node, SprintGraph};

impl SprintGraph {
    /// All sprints so that each comes after what it waits for, always the smallest available natural
    /// key first (D-8).
    pub fn order(&self) -> Vec<Node> {
        let mut n_missing: Vec<usize> = self
            .nodes()
            .map(|node| self.dependencies(node).len())
            .collect();
        let mut ready: BinaryHeap<Reverse<Node>> = self
            .nodes()
            .filter(|node| n_missing[node.index()] == 0)
            .map(Reverse)
            .collect();
        let mut order = Vec::with_capacity(self.len());
        while let Some(Reverse(node)) = ready.pop() {
            order.push(node);
            for dependent in self.dependents(node) {
                let missing = &mut n_missing[dependent.index()];
                *missing -= 1;
                if *missing == 0 {
                    ready.push(Reverse(*dependent));
                }
            }
        }
        debug_assert_eq!(order.len(), self.len(), "compiled graphs have no cycle");
        order
    }

    /// The sprints by their longest distance from a root: the members of a wave need nothing but
    /// earlier waves. Members are in natural order, and no wave is empty.
    pub fn waves(&self) -> Vec<Vec<Node>> {
        let mut depth = vec![0; self.len()];
        for node in self.order() {
            let edges = self.dependencies(node).iter();
            depth[node.index()] = edges
                .map(|edge| depth[edge.to.index()] + 1)
                .max()
                .unwrap_or(0);
        }
        let n_waves = depth.iter().max().map_or(0, |deepest| deepest + 1);
        let mut waves = vec![Vec::new(); n_waves];
        for node in self.nodes() {
            waves[depth[node.index()]].push(node);
        }
        waves
    }
}

/// The places so that each comes after what it waits for; those that can come first come as they stand.
pub fn in_order(before: &[Vec<usize>]) -> Vec<usize> {
    let dependents = dependents(before);
    let mut n_missing: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..before.len()).filter(|at| n_missing[*at] == 0).collect();
    let mut done = 0;
    while let Some(at) = order.get(done).copied() {
        done += 1;
        for dependent in &dependents[at] {
            n_missing[*dependent] -= 1;
            if n_missing[*dependent] == 0 {
                order.push(*dependent);
            }
        }
    }
    order
}

/// How many stand in a row before each, at the most: what has the same number can be done side by side. What has no place in an order is as deep
/// as nothing.
pub fn depths(before: &[Vec<usize>]) -> Vec<usize> {
    let mut depths = vec![0; before.len()];
    for at in in_order(before) {
        let deepest = before[at].iter().map(|to| depths[*to] + 1).max();
        depths[at] = deepest.unwrap_or(0);
    }
    depths
}

/// What waits for each.
pub(super) fn dependents(before: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut dependents = vec![Vec::new(); before.len()];
    for (at, before) in before.iter().enumerate() {
        for to in before {
            dependents[*to].push(at);
        }
    }
    dependents
}

impl SprintGraph {
    /// The heaviest path from a sprint that waits for nothing to one that nothing waits for.
    ///
    /// Paths of equal total weight are a tie; of these the one wins that is smallest when the paths are
    /// compared sprint by sprint from the start in natural order. Totals are exact: so many sprints
    /// that 128 bits overflow do not exist. Empty for an empty graph.
    pub fn critical_path(&self, weight: impl Fn(Node) -> u64) -> Vec<Node> {
        let order: Vec<usize> = self.order().into_iter().map(Node::index).collect();
        let dependents = |at: usize| {
            let dependents = self.dependents(Node::new(at)).iter();
            dependents.map(|node| node.index())
        };
        let path = heaviest(&order, dependents, |at| weight(Node::new(at)));
        path.into_iter().map(Node::new).collect()
    }
}

/// The heaviest path through things that are named by their places, where `before` has what each of them waits for. Of several the one
/// wins that is smallest from its start. What waits in a circle, or for something in one, is left out.
pub fn heaviest_path(before: &[Vec<usize>], weight: impl Fn(usize) -> u64) -> Vec<usize> {
    let (order, mut dependents) = (in_order(before), dependents(before));
    let mut is_in_order = vec![false; before.len()];
    for at in &order {
        is_in_order[*at] = true;
    }
    for dependents in &mut dependents {
        dependents.retain(|at| is_in_order[*at]);
    }
    heaviest(&order, |at| dependents[at].iter().copied(), weight)
}

/// The heaviest path through what is in an order, where each comes after what it waits for.
fn heaviest<I: Iterator<Item = usize>>(
    order: &[usize],
    dependents: impl Fn(usize) -> I,
    weight: impl Fn(usize) -> u64,
) -> Vec<usize> {
    let n_places = order.iter().max().map_or(0, |last| last + 1);
    // The weight of the heaviest path from each place to an end, the place included.
    let mut rest = vec![0_u128; n_places];
    let mut is_first = vec![false; n_places];
    for at in order.iter().rev() {
        is_first[*at] = true;
        for next in dependents(*at) {
            is_first[next] = false;
            rest[*at] = rest[*at].max(rest[next]);
        }
        rest[*at] += u128::from(weight(*at));
    }
    let mut path = Vec::new();
    let mut next = heaviest_of((0..n_places).filter(|at| is_first[*at]), &rest);
    while let Some(at) = next {
        path.push(at);
        next = heaviest_of(dependents(at), &rest);
    }
    path
}

// The heaviest place; the first of equals, and they come in their order.
fn heaviest_of(places: impl Iterator<Item = usize>, rest: &[u128]) -> Option<usize> {
    places.reduce(|best, at| if rest[at] > rest[best] { at } else { best })
}

impl SprintGraph {
    /// For each node, the dependencies that no longer path implies: the transitive reduction. Takes time and memory linear in the
    /// edges.
    ///
    /// A drawing leaves out an edge when a longer path says the same. In general that takes reachability, which for 100,000 nodes
    /// would be more than a gigabyte of bits. A compiled graph needs none of it, because no member of a dependency list reaches
    /// another member of the same list:
    ///
    /// * D-1 and D-2 lists are sprints of one group, none of which covers another. A path that stays in a group only goes from a
    ///   letter set to strict subsets of it, and a path that leaves the group does not come back, since every other edge goes to a
    ///   lower number, phase track or level.
    /// * D-3 lists are ends of phases of one level, none of which covers another. Inside one phase the ends are terminals of one
    ///   group, as above. From a phase a path can only get to phases of the level whose letters are a strict subset of those it has.
    ///
    /// So every compiled graph is its own transitive reduction. The property tests hold this claim against a reduction by search.
    pub fn reduced(&self) -> Vec<Vec<Node>> {
        self.nodes()
            .map(|node| self.dependencies(node).iter().map(|edge| edge.to).collect())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_comes_later_and_deeper_and_circles_come_nowhere() {
        let before = [
            vec![3],
            vec![0, 3],
            vec![],
            vec![2],
            vec![5],
            vec![4],
            vec![5],
        ];
        assert_eq!(in_order(&before), [2, 3, 0, 1]);
        assert_eq!(depths(&before), [2, 3, 0, 1, 0, 0, 0]);
        assert!(in_order(&[]).is_empty());
    }

    #[test]
    fn the_heaviest_path_of_anything_is_found_and_circles_are_left_out() {
        let before = |edges: &[&[usize]]| -> Vec<Vec<usize>> {
            edges.iter().map(|before| before.to_vec()).collect()
        };
        let graph = before(&[&[], &[0], &[0], &[1, 2], &[]]);
        let path = |weights: [u64; 5]| heaviest_path(&graph, |at| weights[at]);
        assert_eq!(path([1, 5, 2, 1, 4]), [0, 1, 3]);
        assert_eq!(path([1, 2, 5, 1, 4]), [0, 2, 3]);
        assert_eq!(path([1, 2, 2, 1, 4]), [0, 1, 3], "the smallest of equals");
        assert_eq!(path([1, 1, 1, 1, 4]), [4]);
        assert_eq!(path([u64::MAX; 5]), [0, 1, 3], "nothing overflows");
        let circle = before(&[&[], &[0, 2], &[1], &[2]]);
        assert_eq!(heaviest_path(&circle, |_| 1), [0]);
        assert!(heaviest_path(&before(&[&[1], &[0]]), |_| 1).is_empty());
        assert!(heaviest_path(&[], |_| 1).is_empty());
    }
}
