//! Conflicts between sprints: shared branches and worktrees (B-29), branches that git cannot have at
//! once (B-28).

use std::collections::{BTreeMap, HashMap};

use super::diagnostics;
use crate::bead::team_name;
use crate::diag::Diagnostic;
use crate::plan::{CompleteSprint, Sprint};
use crate::text::{Span, Spanned};

/// Reports what cannot be true of the selected sprints together.
pub(super) fn conflicts(selected: &[CompleteSprint<'_>]) -> Vec<Diagnostic> {
    let branches = selected.iter().map(|s| {
        (
            s.sprint,
            Spanned::new(s.branch.value.as_str(), s.branch.span),
        )
    });
    let worktrees = selected.iter().map(|s| {
        (
            s.sprint,
            Spanned::new(s.worktree.value.as_str(), s.worktree.span),
        )
    });
    let mut findings = shared("branch", branches);
    findings.extend(shared("worktree", worktrees));
    findings.extend(clashes(selected));
    findings
}

fn team(sprint: &Sprint) -> String {
    let named = sprint.body.team.as_ref().map(|team| team.value.as_str());
    team_name(named, &sprint.id.value, &sprint.title.value)
}

/// Two sprints of different teams that use one branch or one worktree.
fn shared<'p>(
    what: &str,
    uses: impl Iterator<Item = (&'p Sprint, Spanned<&'p str>)>,
) -> Vec<Diagnostic> {
    let mut first: HashMap<&str, (&Sprint, Span)> = HashMap::new();
    let mut findings = Vec::new();
    for (sprint, used) in uses {
        match first.get(used.value) {
            None => {
                first.insert(used.value, (sprint, used.span));
            }
            Some((earlier, span)) if team(earlier) != team(sprint) => {
                findings.push(diagnostics::shared_place(
                    what, &used, sprint, *span, earlier,
                ));
            }
            Some(_) => {}
        }
    }
    findings
}

/// A branch below another one: git keeps branches as files, and `a` cannot be a file and a folder.
fn clashes(selected: &[CompleteSprint<'_>]) -> Vec<Diagnostic> {
    let mut taken: BTreeMap<&str, Span> = BTreeMap::new();
    for sprint in selected {
        taken
            .entry(sprint.source_branch.value.as_str())
            .or_insert(sprint.source_branch.span);
        taken
            .entry(sprint.branch.value.as_str())
            .or_insert(sprint.branch.span);
    }
    let folder_of = |branch: &str| {
        let mut folders = branch.match_indices('/').map(|(at, _)| &branch[..at]);
        folders.find_map(|folder| {
            taken
                .get_key_value(folder)
                .map(|(name, span)| ((*name).to_owned(), *span))
        })
    };
    selected
        .iter()
        .filter_map(|sprint| {
            let (folder, span) = folder_of(sprint.branch.value.as_str())?;
            Some(diagnostics::branch_clash(
                &sprint.branch.value,
                sprint.branch.span,
                &folder,
                span,
            ))
        })
        .collect()
}
