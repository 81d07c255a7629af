//! A plan in which only some sprints carry an estimate.

use crate::diag::{Diagnostic, WarningCode};
use crate::plan::Sprint;

/// Points at the first sprint without an estimate; nothing when all or none have one.
pub(crate) fn partly_estimated(sprints: &[&Sprint]) -> Option<Diagnostic> {
    let (with, without): (Vec<&Sprint>, Vec<&Sprint>) = sprints
        .iter()
        .partition(|sprint| sprint.body().estimate.is_some());
    let first = without.iter().min_by_key(|sprint| sprint.line)?;
    if with.is_empty() {
        return None;
    }
    let message = format!(
        "{} of {} sprints have no estimate",
        without.len(),
        sprints.len()
    );
    let finding = Diagnostic::new(WarningCode::PartlyEstimated, first.heading.span, message)
        .label("counts as one minute on the critical path")
        .help("add `**Estimate**: 45m` to every sprint, or to none");
    Some(finding)
}
