//! `create-pr`: everything is committed and kept, and proposed where proposals are made (L-18, Z-12).

use std::fmt::Write as _;

use beads_ralph_core::engine::CommitId;
use beads_ralph_core::implement::{Judge, Outcome, encode_url};
use beads_ralph_core::vocabulary::label;

use super::super::Dispatcher;
use super::super::assign::Assignment;
use super::super::ending::Stop;
use super::super::hold::Held;
use super::super::settle::{Settlement, label};
use super::{failed, place_at, settled};
use crate::config::IntegrationMode;
use crate::ports::{NewPullRequest, Place, PullState, Repository as _};

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
                "create-pr complete; no pull request is made here; {} is at {}",
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
        let found = match forge.find(&place.branch) {
            Ok(found) => found,
            Err(trouble) => return settled(assignment, "pull-request-not-made", trouble),
        };
        let fits = (found.into_iter())
            .find(|it| it.request.state == PullState::Open || it.head == *commit);
        let request = match fits {
            Some(found) => found.request,
            None => match forge.create(&self.new_pull(assignment, place)) {
                Ok(request) => request,
                Err(trouble) => return settled(assignment, "pull-request-not-made", trouble),
            },
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
            body.push_str("\nTo be looked at by a person:\n");
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
