//! What is drawn: boxes, each with those that come before it, without cycles.
//!
//! Charts of sprints come from the compiler of plans, which knows their order already. Those of steps are put in order here, by
//! what they wait for.

use beads_ralph_core::graph::{Node, SprintGraph, depths, heaviest_path, in_order};

/// The most boxes for which edges that others imply are looked for. Beyond that nobody follows an edge with the eye.
const MAX_REDUCED: usize = 2_000;

/// Boxes and what comes before each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chart {
    /// What it shows, in one word of letters.
    pub(super) name: &'static str,
    pub(super) boxes: Vec<Labelled>,
    /// For each box those before it, without those that others imply.
    pub(super) before: Vec<Vec<usize>>,
    /// The boxes by their longest distance from the beginning.
    pub(super) waves: Vec<Vec<usize>>,
    /// The path that decides how long everything takes.
    pub(super) critical: Vec<usize>,
}

/// A box: a name, and a title that may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Labelled {
    pub(crate) id: String,
    pub(crate) title: String,
}

impl Chart {
    pub(crate) fn of_sprints(
        graph: &SprintGraph,
        critical: &[Node],
        title: impl Fn(Node) -> String,
    ) -> Self {
        let places = |nodes: &[Node]| nodes.iter().map(|node| node.index()).collect();
        let labelled = |node: Node| Labelled {
            id: graph.id(node).as_str().to_owned(),
            title: title(node),
        };
        Self {
            name: "plan",
            boxes: graph.nodes().map(labelled).collect(),
            before: graph.reduced().iter().map(|nodes| places(nodes)).collect(),
            waves: graph.waves().iter().map(|nodes| places(nodes)).collect(),
            critical: places(critical),
        }
    }

    /// The steps of a molecule with what each waits for. The critical path is the longest chain.
    pub(crate) fn of_steps(boxes: Vec<Labelled>, mut waits: Vec<Vec<usize>>) -> Self {
        let mut order = in_order(&waits);
        if order.len() < boxes.len() {
            break_circles(&mut waits, &order);
            order = in_order(&waits);
        }
        let depth = depths(&waits);
        let n_waves = depth.iter().max().map_or(0, |deepest| deepest + 1);
        let mut waves = vec![Vec::new(); n_waves];
        for (at, depth) in depth.iter().enumerate() {
            waves[*depth].push(at);
        }
        Self {
            name: "formula",
            boxes,
            before: reduced(&waits, &order),
            waves,
            critical: heaviest_path(&waits, |_| 1),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.boxes.len()
    }

    pub(super) fn n_edges(&self) -> usize {
        self.before.iter().map(Vec::len).sum()
    }

    pub(crate) fn wave_ids(&self) -> Vec<Vec<&str>> {
        let ids = |wave: &Vec<usize>| self.ids(wave);
        self.waves.iter().map(ids).collect()
    }

    pub(crate) fn critical_ids(&self) -> Vec<&str> {
        self.ids(&self.critical)
    }

    fn ids(&self, places: &[usize]) -> Vec<&str> {
        let ids = places.iter().map(|at| self.boxes[*at].id.as_str());
        ids.collect()
    }
}

/// Steps that wait for the children of a step that comes after them wait in a circle, which may be meant: the children need not
/// be there yet. Such boxes are drawn without edges among them.
fn break_circles(waits: &mut [Vec<usize>], order: &[usize]) {
    let mut is_free = vec![false; waits.len()];
    for at in order {
        is_free[*at] = true;
    }
    for before in waits {
        before.retain(|to| is_free[*to]);
    }
}

/// The edges without those that a longer path implies.
fn reduced(waits: &[Vec<usize>], order: &[usize]) -> Vec<Vec<usize>> {
    let n = waits.len();
    if n > MAX_REDUCED {
        return waits.to_vec();
    }
    let mut reaches = vec![vec![false; n]; n];
    for at in order {
        for to in &waits[*at] {
            let (mut own, further) = (std::mem::take(&mut reaches[*at]), &reaches[*to]);
            for (own, further) in own.iter_mut().zip(further) {
                *own |= further;
            }
            own[*to] = true;
            reaches[*at] = own;
        }
    }
    let kept = |before: &Vec<usize>| -> Vec<usize> {
        let is_implied = |to: &usize| before.iter().any(|other| reaches[*other][*to]);
        before
            .iter()
            .copied()
            .filter(|to| !is_implied(to))
            .collect()
    };
    waits.iter().map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(waits: &[&[usize]]) -> Chart {
        let waits: Vec<Vec<usize>> = waits.iter().map(|before| before.to_vec()).collect();
        let labelled = |at: usize| Labelled {
            id: format!("s{at}"),
            title: String::new(),
        };
        Chart::of_steps((0..waits.len()).map(labelled).collect(), waits)
    }

    #[test]
    fn steps_are_in_waves_and_implied_edges_are_left_out() {
        let chart = chart(&[&[2], &[0, 2], &[], &[1, 0, 2], &[2]]);
        assert_eq!(chart.waves, [vec![2], vec![0, 4], vec![1], vec![3]]);
        assert_eq!(chart.before, [vec![2], vec![0], vec![], vec![1], vec![2]]);
        assert_eq!(chart.critical_ids(), ["s2", "s0", "s1", "s3"]);
    }

    #[test]
    fn a_circle_is_drawn_without_its_edges() {
        let chart = chart(&[&[], &[0, 2], &[1]]);
        assert_eq!(chart.waves, [vec![0, 2], vec![1]]);
        assert_eq!(chart.before, [vec![], vec![0], vec![]]);
    }

    #[test]
    fn no_step_is_no_chart() {
        let chart = chart(&[]);
        assert_eq!((chart.len(), chart.n_edges()), (0, 0));
        assert!(chart.waves.is_empty() && chart.critical.is_empty());
    }
}
