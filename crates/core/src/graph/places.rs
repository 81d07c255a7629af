//! Orders among things that are named by their places in a list, where `before` has what each of them waits for.
//!
//! What waits in a circle, or for something in one, has no place in an order.

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
}
