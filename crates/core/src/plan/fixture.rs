//! Plans for tests, and the short form in which tests state what was found in them.

use super::{complete, parse};
use crate::diag::{Diagnostic, apply_fixes};
use crate::text::LineIndex;

/// A complete sprint with a number and a title.
pub(crate) fn sprint(id: &str, title: &str) -> String {
    let dashed = id.replace('.', "-");
    format!(
        "### Sprint {id}: {title}\n\n\
         **Worktree**: `../wt/{dashed}`\n**Branch**: `feature/{dashed}`\n**Source Branch**: `main`\n\n\
         **Dev Agents**:\n- `dev` (sonnet)\n\n\
         **QA Agents**:\n- `qa` (haiku) - judge it\n\n\
         **Tasks**:\n- do it\n"
    )
}

/// A plan of one complete sprint, 1.1, after some other text.
pub(crate) fn complete_plan(before: &str) -> String {
    format!("{before}{}", sprint("1.1", "Complete"))
}

/// All findings about a plan: of the text, of its bodies, and about missing sections.
pub(crate) fn findings(text: &str) -> Vec<Diagnostic> {
    let plan = parse(text);
    let bodies = plan.unique().flat_map(|sprint| {
        let missing = complete(sprint).err().unwrap_or_default();
        sprint
            .problems
            .iter()
            .cloned()
            .chain(missing)
            .collect::<Vec<_>>()
    });
    plan.problems.iter().cloned().chain(bodies).collect()
}

/// States the findings about a plan, each as `line:column CODE «the text it points at»`.
#[track_caller]
pub(crate) fn check(text: &str, expected: &[&str]) {
    let index = LineIndex::new(text);
    let found: Vec<String> = findings(text)
        .iter()
        .map(|finding| {
            let at = index.position(text, finding.primary.span.start());
            format!(
                "{}:{} {} «{}»",
                at.line,
                at.column,
                finding.code.as_str(),
                finding.primary.span.slice(text)
            )
        })
        .collect();
    assert_eq!(found, expected, "in {text}");
}

/// States what the certain fixes make of a plan.
#[track_caller]
pub(crate) fn check_fix(text: &str, fixed: &str) {
    assert_eq!(apply_fixes(text, &findings(text)).0, fixed);
}
