//! What of an expression the store can be asked; the expression itself decides about what it gives.

use beads_ralph_core::issue::{Condition, Order, Query, StatusFilter};
use beads_ralph_core::vocabulary::Status;

use super::condition::{can_be_asked, named};
use super::parse::{Comparison, Node};
use super::words::Operator;

/// A question whose answer has every bead that is as an expression says.
pub(super) fn query(node: &Node, hides_closed: bool) -> Query {
    let mut query = Query {
        status: StatusFilter::Any,
        includes_hidden: true,
        includes_ephemeral: true,
        order: Order::PrioritySeconds,
        ..Query::default()
    };
    if hides_closed {
        let closed = vec![Status::Closed.into()];
        query.conditions.push(Condition::StatusIsNot(closed));
    }
    // Elsewhere labels are compared whatever their case.
    narrow(node, can_be_asked(node), &mut query);
    query
}

fn narrow(node: &Node, is_exact: bool, query: &mut Query) {
    match node {
        Node::And(left, right) => {
            narrow(left, is_exact, query);
            narrow(right, is_exact, query);
        }
        Node::Comparison(comparison) => compare(comparison, is_exact, query),
        Node::Or(..) | Node::Not(_) => {}
    }
}

fn compare(comparison: &Comparison, is_exact: bool, query: &mut Query) {
    let (field, value) = (comparison.field.as_str(), &comparison.value);
    if field == "priority" {
        if let Some((low, high)) = range(comparison) {
            let (least, most) = query.priorities.unwrap_or((i64::MIN, i64::MAX));
            query.priorities = Some((least.max(low), most.min(high)));
        }
        return;
    }
    if comparison.operator != Operator::Is {
        return;
    }
    match field {
        "status" if query.status == StatusFilter::Any => {
            query.status = StatusFilter::OneOf(vec![value.to_lowercase()]);
        }
        "type" if query.types.is_empty() => query.types.push(value.to_lowercase()),
        "assignee" if query.assignee.is_none() => {
            query.assignee = Some(named(value)).filter(|name| !name.is_empty());
        }
        "label" | "labels" if is_exact => {
            let label = Some(named(value)).filter(|label| !label.is_empty());
            query.labels_all.extend(label);
        }
        _ => {}
    }
}

fn range(comparison: &Comparison) -> Option<(i64, i64)> {
    let wanted: i64 = comparison.value.parse().ok()?;
    match comparison.operator {
        Operator::Is => Some((wanted, wanted)),
        Operator::IsNot => None,
        Operator::Less => Some((i64::MIN, wanted.saturating_sub(1))),
        Operator::AtMost => Some((i64::MIN, wanted)),
        Operator::More => Some((wanted.saturating_add(1), i64::MAX)),
        Operator::AtLeast => Some((wanted, i64::MAX)),
    }
}
