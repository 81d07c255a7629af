//! `create-pr` proposes the work where pull requests are used (L-18, Z-12); `merge-or-handoff` merges it where that is allowed, else leaves it
//! ready for a person to merge (§9.13).

use std::fmt::Write as _;

use beads_ralph_core::engine::{CommitId, IntegrationMode};
use beads_ralph_core::implement::report::ReportStatus;
use beads_ralph_core::implement::{Judge, Outcome, encode_url, worktree_of};
use beads_ralph_core::issue::{Edit, Record};
use beads_ralph_core::vocabulary::label;
use camino::Utf8Path;

use super::super::Dispatcher;
use super::super::assign::Assignment;
use super::super::claim::Held;
use super::super::ending::Stop;
use super::super::finish::{Settlement, label};
use super::super::record::target_of;
use super::checks_of;
use super::{ended, failed, place_at, settled};
use crate::ports::{Integrated, NewPullRequest, Place, PullState, Repository as _};

impl Dispatcher<'_> {
    pub(super) fn create_pr(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
    ) -> Result<Settlement, Stop> {
        let Some(place) = place_at(assignment, &assignment.place) else {
            return Ok(failed(
                assignment,
                "no-branch",
                "the worktree's path names no branch",
            ));
        };
        let commit = match self.checked(assignment, &place, held)? {
            Ok(commit) => commit,
            Err(settlement) => return Ok(settlement),
        };
        match (self.site.integration, self.site.forge) {
            (IntegrationMode::Pr, Some(_)) => self.propose(assignment, &place, &commit),
            _ => Ok(Settlement::new(Outcome::Complete(format!(
                "create-pr complete; pull requests are not used here; {} is at {}",
                place.branch,
                commit.short()
            )))),
        }
    }

    fn propose(
        &mut self,
        assignment: &Assignment,
        place: &Place,
        commit: &CommitId,
    ) -> Result<Settlement, Stop> {
        let Some(forge) = self.site.forge else {
            return Ok(failed(assignment, "no-forge", "`gh` is not set up"));
        };
        if let Err(trouble) = self.site.git.push(&place.branch, commit) {
            return settled(assignment, "not-pushed", trouble);
        }
        let request = match forge.find_for(&place.branch, commit) {
            Ok(Some(request)) => Ok(request),
            Ok(None) => forge.create(&self.new_pull(assignment, place)),
            Err(trouble) => Err(trouble),
        };
        let request = match request {
            Ok(request) => request,
            Err(trouble) => return settled(assignment, "pull-request-not-made", trouble),
        };
        self.decide("I-13", format!("the pull request is {}", request.url));
        let reason = format!("create-pr complete; {}", request.url);
        let mut settlement = Settlement::new(Outcome::Complete(reason));
        settlement.root = vec![label(&format!(
            "{}{}",
            label::PULL_REQUEST_PREFIX,
            encode_url(&request.url)
        ))?];
        Ok(settlement)
    }

    fn new_pull(&self, assignment: &Assignment, place: &Place) -> NewPullRequest {
        let source = &assignment.source.issue;
        let mut body = format!(
            "Bead: {}\n\n{}\n",
            source.id(),
            source.text("description").unwrap_or_default()
        );
        let people = assignment.acceptance.iter();
        let people: Vec<&str> = (people.filter(|line| line.judge == Judge::Human))
            .map(|line| line.text.trim())
            .collect();
        if !people.is_empty() {
            body.push_str("\nTo be reviewed by a person:\n");
            for line in people {
                _ = writeln!(body, "- [ ] {line}");
            }
        }
        NewPullRequest {
            title: source.title().to_owned(),
            body,
            head: place.branch.clone(),
            base: self.site.config.worktrees.source_branch.clone(),
        }
    }
}

impl Dispatcher<'_> {
    pub(super) fn hand_off(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
    ) -> Result<Settlement, Stop> {
        let worktree = worktree_of(&assignment.root().issue);
        let place = worktree.and_then(|path| place_at(assignment, Utf8Path::new(&path)));
        let Some(place) = place else {
            let detail = "the molecule has no label that says where its worktree is";
            return Ok(failed(assignment, "no-branch", detail));
        };
        if let Some(how) = self.merged_by_somebody(&place)? {
            self.decide("Z-12", format!("it is merged already: {how}"));
            return Ok(merged_already(&how));
        }
        let commit = match self.final_commit(assignment, &place, held)? {
            Ok(commit) => commit,
            Err(settlement) => return Ok(settlement),
        };
        let source = self.source()?;
        if self.may_merge(assignment, &source) {
            return self.merge(assignment, &place, &commit);
        }
        handed_over(assignment, &place, &commit)
    }

    /// How the checked work came into the branch that it started from, if somebody merged it.
    fn merged_by_somebody(&self, place: &Place) -> Result<Option<String>, Stop> {
        let git = self.site.git;
        let Some(kept) = git.kept(&place.bead)? else {
            return Ok(None);
        };
        let source = &self.site.config.worktrees.source_branch;
        if git.fork_point(source, &kept)?.as_ref() == Some(&kept) {
            return Ok(Some(format!("{} is in {source}", kept.short())));
        }
        let Some(forge) = self.site.forge else {
            return Ok(None);
        };
        let found = forge.find(&place.branch)?.into_iter();
        let mut merged =
            found.filter(|it| it.request.state == PullState::Merged && it.head == kept);
        Ok(merged.next().map(|it| it.request.url))
    }

    /// Whether nobody has to look: it is allowed, merging is how work is handed over, and no line waits for a person.
    fn may_merge(&mut self, assignment: &Assignment, source: &Record) -> bool {
        let mut lines = assignment.acceptance.iter();
        let is_verified = source.issue.has_label(label::VERIFIED_BY_HUMAN);
        let is_looked_at = is_verified || !lines.any(|line| line.judge == Judge::Human);
        let is_merging = self.site.integration == IntegrationMode::Merge;
        let is_allowed = source.issue.has_label(label::AUTO_MERGEABLE);
        let is_checked = !checks_of(self.site, assignment).is_empty();
        let may = is_allowed && is_merging && is_looked_at && is_checked;
        let why = match (may, is_looked_at) {
            (true, _) => "it may be merged: `auto-mergeable`",
            (false, _) if !is_checked => "it is handed over: no command checks whether it is done",
            (false, false) => "it is handed over: some criteria are for a person to review",
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
        let target = target_of(config);
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
                let detail = format!("it conflicts with {target}: {}", files.join(", "));
                let outcome = ended(
                    assignment,
                    ReportStatus::NeedsHuman,
                    "merge-conflict",
                    detail,
                );
                Ok(Settlement::new(outcome))
            }
        }
    }
}

fn merged_already(how: &str) -> Settlement {
    let reason = format!("merge-or-handoff complete; merged by somebody: {how}");
    let mut settlement = Settlement::new(Outcome::Complete(reason));
    settlement.source = vec![Edit::Close(format!("merged: {how}"))];
    settlement
}

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
        note.push_str("\n- to review: ");
        note.push_str(line.text.trim());
    }
    let reason = format!(
        "merge-or-handoff complete; handed over {branch} at {}",
        commit.short()
    );
    let mut settlement = Settlement::new(Outcome::Complete(reason));
    settlement.source = vec![label(label::MERGE_READY)?, Edit::AppendNotes(note)];
    Ok(settlement)
}
