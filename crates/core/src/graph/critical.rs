//! The path that decides how long everything takes: of the sprints of a plan, and of anything else that waits for each other.

use super::places::{dependents, in_order};
use super::{Node, SprintGraph};

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

#[cfg(test)]
mod tests {
    use super::*;

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
