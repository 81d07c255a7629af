//! The order in which sprints are emitted and the waves in which they can run.

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
