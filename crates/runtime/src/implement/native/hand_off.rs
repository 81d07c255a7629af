//! `merge-or-handoff`: the work is merged where that is allowed, else it is ready for a person to merge (§9.13, §9.14).

use beads_ralph_core::engine::CommitId;
use beads_ralph_core::implement::report::Status;
use beads_ralph_core::implement::{Judge, MERGE_READY, Outcome, VERIFIED, decode_path};
use beads_ralph_core::issue::Edit;
use camino::{Utf8Path, Utf8PathBuf};

use super::super::Dispatcher;
use super::super::assign::{Assignment, WORKTREE_LABEL};
use super::super::ending::Stop;
use super::super::settle::{Settlement, label};
use super::{ended, failed, place_at, settled};
use crate::config::IntegrationMode;
use crate::run::{Integrated, Place, Repository as _};

/// The branch that work is merged into when the configuration names none.
const TARGET: &str = "ralph/implement";

impl Dispatcher<'_> {
    pub(super) fn hand_off(&mut self, assignment: &Assignment) -> Result<Settlement, Stop> {
        let place = worktree_of(assignment).and_then(|path| place_at(assignment, &path));
        let Some(place) = place else {
            let detail = "the molecule has no label that says where its worktree is";
            return Ok(failed(assignment, "no-branch", detail));
        };
        let commit = match self.final_commit(assignment, &place)? {
            Ok(commit) => commit,
            Err(settlement) => return Ok(settlement),
        };
        if self.may_merge(assignment) {
            return self.merge(assignment, &place, &commit);
        }
        handed_over(assignment, &place, &commit)
    }

    /// Whether nobody has to look: it is allowed, merging is how work is handed over, and no line waits for a person.
    fn may_merge(&mut self, assignment: &Assignment) -> bool {
        let mut lines = assignment.acceptance.iter();
        let is_verified = assignment.source.issue.has_label(VERIFIED);
        let is_looked_at = is_verified || !lines.any(|line| line.judge == Judge::Human);
        let is_merging = self.site.integration == IntegrationMode::Merge;
        let may = assignment.policy.is_auto_mergeable && is_merging && is_looked_at;
        let why = match (may, is_looked_at) {
            (true, _) => "it may be merged: `auto-mergeable`",
            (false, false) => "it is handed over: a person must look at some lines",
            (false, true) => "it is handed over for a person to merge",
        };
        self.decide("§9.13", why);
        may
    }

    fn merge(
        &mut self,
        assignment: &Assignment,
        place: &Place,
        commit: &CommitId,
    ) -> Result<Settlement, Stop> {
        let config = self.site.config;
        let target = config.integration.target.as_deref().unwrap_or(TARGET);
        let source = &config.worktrees.source_branch;
        let message = format!("Merge {} ({})", assignment.source.issue.title(), place.bead);
        let merged = match self.site.git.integrate(target, source, commit, &message) {
            Ok(merged) => merged,
            Err(trouble) => return settled(assignment, "not-merged", trouble),
        };
        match merged {
            Integrated::In { commit: at, .. } => {
                if config.worktrees.cleanup_on_complete {
                    // What is left of a worktree is a matter of disk space, and `clean` removes it later.
                    drop(self.site.git.remove(place));
                }
                let reason = format!("merged into {target} at {}", at.short());
                let mut settlement = Settlement::new(Outcome::Complete(format!(
                    "merge-or-handoff complete; {reason}"
                )));
                settlement.source = vec![Edit::Close(reason)];
                Ok(settlement)
            }
            Integrated::Conflict { files, .. } => {
                let detail = format!(
                    "it does not fit together with {target}: {}",
                    files.join(", ")
                );
                let outcome = ended(assignment, Status::NeedsHuman, "merge-conflict", detail);
                Ok(Settlement::new(outcome))
            }
        }
    }
}

/// The work is there for a person to merge.
fn handed_over(
    assignment: &Assignment,
    place: &Place,
    commit: &CommitId,
) -> Result<Settlement, Stop> {
    let (branch, worktree) = (&place.branch, &place.worktree);
    let mut note = format!(
        "implement-bead: the work is done and waits to be merged: branch {branch} at {}, worktree {worktree}",
        commit.short()
    );
    let lines = assignment.acceptance.iter();
    for line in lines.filter(|line| line.judge == Judge::Human) {
        note.push_str("\n- to be looked at: ");
        note.push_str(line.text.trim());
    }
    let reason = format!(
        "merge-or-handoff complete; handed over {branch} at {}",
        commit.short()
    );
    let mut settlement = Settlement::new(Outcome::Complete(reason));
    settlement.source = vec![label(MERGE_READY)?, Edit::AppendNotes(note)];
    Ok(settlement)
}

/// The worktree that the molecule names, whether it is there or not.
fn worktree_of(assignment: &Assignment) -> Option<Utf8PathBuf> {
    let mut labels = assignment.root().issue.labels();
    let encoded = labels.find_map(|label| label.strip_prefix(WORKTREE_LABEL))?;
    let path = decode_path(encoded).ok()?;
    Some(Utf8Path::new(&path).to_owned())
}
