//! Numbering that works and is probably not meant (contracts §2.4).

use crate::diag::Diagnostic;
use crate::graph::{Note, SprintGraph};
use crate::plan::Sprint;
use crate::text::Span;

/// Points at the number of the first sprint concerned.
pub(crate) fn numbering(graph: &SprintGraph, sprints: &[&Sprint], note: &Note) -> Diagnostic {
    let place = note
        .place()
        .map_or(Span::at(0), |node| sprints[node.index()].id.span);
    Diagnostic::new(note.code(), place, note.message(graph))
}
