//! The path that decides how long a plan takes.

use super::{Node, SprintGraph};

impl SprintGraph {
    /// The heaviest path from a sprint that waits for nothing to one that nothing waits for.
    ///
    /// Paths of equal total weight are a tie; of these the one wins that is smallest when the paths are
    /// compared sprint by sprint from the start in natural order. Totals are exact: so many sprints
    /// that 128 bits overflow do not exist. Empty for an empty graph.
    pub fn critical_path(&self, weight: impl Fn(Node) -> u64) -> Vec<Node> {
        // The weight of the heaviest path from each node to an end, the node included.
        let mut rest = vec![0_u128; self.len()];
        for node in self.order().into_iter().rev() {
            let below = self.dependents(node).iter().map(|next| rest[next.index()]);
            rest[node.index()] = below.max().unwrap_or(0) + u128::from(weight(node));
        }
        let roots = self
            .nodes()
            .filter(|node| self.dependencies(*node).is_empty());
        let mut path = Vec::new();
        let mut next = heaviest(roots, &rest);
        while let Some(node) = next {
            path.push(node);
            next = heaviest(self.dependents(node).iter().copied(), &rest);
        }
        path
    }
}

// The heaviest node; the first of equals, and they come in natural order.
fn heaviest(nodes: impl Iterator<Item = Node>, rest: &[u128]) -> Option<Node> {
    nodes.reduce(|best, node| {
        if rest[node.index()] > rest[best.index()] {
            node
        } else {
            best
        }
    })
}
