//! Bead ids that several sprints would share (B-7, A-7).

use std::collections::HashMap;

use super::diagnostics;
use super::model::Sprint;
use crate::bead::BeadId;
use crate::diag::Diagnostic;

/// Reports every sprint whose bead id an earlier one has already.
pub(crate) fn shared_bead_ids<'p>(
    named: impl Iterator<Item = (&'p Sprint, &'p BeadId)>,
) -> Vec<Diagnostic> {
    let mut owners: HashMap<&BeadId, &Sprint> = HashMap::new();
    let mut findings = Vec::new();
    for (sprint, id) in named {
        if let Some(earlier) = owners.insert(id, sprint) {
            findings.push(diagnostics::shared_bead_id(id, earlier, sprint));
        }
    }
    findings
}
