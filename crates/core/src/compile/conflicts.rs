//! Conflicts between sprints: shared branches and worktrees (B-29), branches that git cannot have at
//! once (B-28).

use std::collections::HashMap;

use super::diagnostics;
use crate::bead::team_name;
use crate::diag::Diagnostic;
use crate::plan::Sprint;
use crate::text::{Span, Spanned};

/// Reports what cannot be true of the selected sprints together, as far as their fields can be read.
pub(super) fn conflicts(selected: &[&Sprint]) -> Vec<Diagnostic> {
    let branches = selected
        .iter()
        .filter_map(|sprint| Some((*sprint, branch(sprint)?)));
    let worktrees = selected.iter().filter_map(|sprint| {
        let worktree = sprint.body().worktree.as_ref()?;
        Some((
            *sprint,
            Spanned::new(worktree.value.as_str(), worktree.span),
        ))
    });
    let mut findings = shared("branch", branches);
    findings.extend(shared("worktree", worktrees));
    findings.extend(clashes(selected));
    findings
}

fn branch(sprint: &Sprint) -> Option<Spanned<&str>> {
    let branch = sprint.body().branch.as_ref()?;
    Some(Spanned::new(branch.value.as_str(), branch.span))
}

fn team(sprint: &Sprint) -> String {
    let named = sprint.body().team.as_ref().map(|team| team.value.as_str());
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
fn clashes(selected: &[&Sprint]) -> Vec<Diagnostic> {
    let mut taken: HashMap<&str, Span> = HashMap::new();
    for sprint in selected {
        if let Some(source) = &sprint.body().source_branch {
            taken.entry(source.value.as_str()).or_insert(source.span);
        }
        if let Some(branch) = branch(sprint) {
            taken.entry(branch.value).or_insert(branch.span);
        }
    }
    let clash = |sprint: &&Sprint| {
        let branch = branch(sprint)?;
        let mut folders = branch
            .value
            .match_indices('/')
            .map(|(at, _)| &branch.value[..at]);
        let (folder, span) = folders.find_map(|folder| Some((folder, *taken.get(folder)?)))?;
        Some(diagnostics::branch_clash(&branch, folder, span))
    };
    selected.iter().filter_map(clash).collect()
}
