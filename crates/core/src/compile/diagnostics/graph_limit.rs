//! A plan whose numbering would make too many dependencies (Z-32).

use crate::diag::Diagnostic;
use crate::graph::GraphLimit;
use crate::plan::Sprint;
use crate::text::Span;

/// Points at the plan's first sprint; the message names the groups.
pub(crate) fn graph_limit(sprints: &[&Sprint], limit: &GraphLimit) -> Diagnostic {
    let place = sprints
        .first()
        .map_or(Span::at(0), |sprint| sprint.heading.span);
    Diagnostic::new(limit.code(), place, limit.to_string()).help(
        "put a sprint between the two groups: each side then depends on that one sprint alone",
    )
}
