//! Back-annotation: bead ids written into the plan, and not one other byte changed (contracts §5).

use std::collections::BTreeMap;

use super::diagnostics::{self, shared_bead_ids};
use super::filter::Filter;
use super::model::{Plan, Sprint};
use crate::bead::BeadId;
use crate::diag::{Diagnostic, has_errors};
use crate::number::SprintId;
use crate::text::Span;

/// A plan's text with its annotations in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotated {
    /// The whole text.
    pub text: String,
    /// How many annotation lines differ from before; zero means that the text is the same.
    pub n_changed: usize,
}

/// Writes the bead id of every selected sprint on the line after its heading (A-1…A-7).
///
/// `plan` is what [`super::parse`] made of `text`. On any finding nothing is changed.
pub fn annotate(
    text: &str,
    plan: &Plan,
    filter: &Filter,
    ids: &BTreeMap<SprintId, BeadId>,
) -> Result<Annotated, Vec<Diagnostic>> {
    let mut findings: Vec<Diagnostic> = plan
        .problems
        .iter()
        .filter(|finding| finding.error_code().is_some())
        .cloned()
        .collect();
    let selected: Vec<&Sprint> = plan
        .unique()
        .filter(|sprint| filter.selects(&sprint.id.value))
        .collect();
    findings.extend(selected.iter().filter_map(|sprint| misplaced(sprint)));
    findings.extend(
        selected
            .iter()
            .filter_map(|sprint| unfinished(text, sprint)),
    );
    let named = selected
        .iter()
        .filter_map(|sprint| Some((*sprint, ids.get(&sprint.id.value)?)));
    findings.extend(shared_bead_ids(named));
    let edits: Vec<Edit<'_>> = selected
        .iter()
        .filter_map(|sprint| edit(text, sprint, ids, &mut findings))
        .collect();
    if has_errors(&findings) {
        return Err(findings);
    }
    Ok(apply(text, &edits))
}

/// The replacement of one line, or the insertion of one after a heading.
enum Edit<'i> {
    Replace { line: Span, id: &'i BeadId },
    Insert { heading: Span, id: &'i BeadId },
}

fn edit<'i>(
    text: &str,
    sprint: &Sprint,
    ids: &'i BTreeMap<SprintId, BeadId>,
    findings: &mut Vec<Diagnostic>,
) -> Option<Edit<'i>> {
    let Some(id) = ids.get(&sprint.id.value) else {
        findings.push(diagnostics::no_bead_id(sprint));
        return None;
    };
    match sprint.annotation() {
        None => Some(Edit::Insert {
            heading: sprint.heading.span,
            id,
        }),
        Some(annotation) if annotation.line.slice(text) == annotation_line(id) => None,
        Some(annotation) => Some(Edit::Replace {
            line: annotation.line,
            id,
        }),
    }
}
fn annotation_line(id: &BeadId) -> String {
    format!("<!-- beads-ralph: {id} -->")
}

/// The bead that an annotation's line names: one word with blanks around it.
pub(super) fn annotated_id(line: &str) -> Option<BeadId> {
    let rest = line.trim_start().strip_prefix("<!-- beads-ralph:")?;
    let (inside, _) = rest.split_once("-->")?;
    let id = inside.trim();
    let is_apart = inside.starts_with(char::is_whitespace) && inside.ends_with(char::is_whitespace);
    if !is_apart || id.contains(char::is_whitespace) {
        return None;
    }
    BeadId::parse(id).ok()
}

fn misplaced(sprint: &Sprint) -> Option<Diagnostic> {
    let is_fine = sprint.annotations.len() <= 1
        && sprint
            .annotations
            .iter()
            .all(|annotation| annotation.is_in_place);
    (!is_fine).then(|| diagnostics::misplaced_annotation(sprint))
}

/// An annotation that is not closed on its line hides what follows; replacing the line would reveal it.
fn unfinished(text: &str, sprint: &Sprint) -> Option<Diagnostic> {
    let after = text.get(sprint.heading.span.end()..).unwrap_or_default();
    let next = after.split_inclusive('\n').nth(1)?;
    let is_unfinished = next.trim_start().starts_with("<!-- beads-ralph:") && !next.contains("-->");
    is_unfinished.then(|| {
        let start = sprint.heading.span.end() + after.find('\n').map_or(0, |at| at + 1);
        diagnostics::unfinished_annotation(Span::new(start, start + next.trim_end().len()))
    })
}

fn apply(text: &str, edits: &[Edit<'_>]) -> Annotated {
    let mut annotated = String::with_capacity(text.len() + edits.len() * 48);
    let mut done = 0;
    for edit in edits {
        match edit {
            Edit::Replace { line, id } => {
                annotated.push_str(&text[done..line.start()]);
                annotated.push_str(&annotation_line(id));
                done = line.end();
            }
            Edit::Insert { heading, id } => {
                if let Some(line_end) = line_end_after(text, heading.end()) {
                    let insert_at = heading.end() + line_end.len();
                    annotated.push_str(&text[done..insert_at]);
                    annotated.push_str(&annotation_line(id));
                    annotated.push_str(line_end);
                    done = insert_at;
                } else {
                    annotated.push_str(&text[done..]);
                    annotated.push_str(dominant_line_end(text));
                    annotated.push_str(&annotation_line(id));
                    done = text.len();
                }
            }
        }
    }
    annotated.push_str(&text[done..]);
    Annotated {
        text: annotated,
        n_changed: edits.len(),
    }
}

/// The line end of the line whose content ends at `at`; nothing when it is the last line of the text.
fn line_end_after(text: &str, at: usize) -> Option<&str> {
    ["\r\n", "\n"]
        .into_iter()
        .find(|end| text[at..].starts_with(end))
}

fn dominant_line_end(text: &str) -> &'static str {
    let (mut crlf, mut lf) = (0_usize, 0_usize);
    for (at, _) in text.match_indices('\n') {
        if text[..at].ends_with('\r') {
            crlf += 1;
        } else {
            lf += 1;
        }
    }
    if crlf > lf { "\r\n" } else { "\n" }
}
