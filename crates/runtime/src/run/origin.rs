//! What a bead starts from: its source branch, and the verified work of what it waited for (Z-6, L-21).

use beads_ralph_core::bead::{IssueType, RalphBead};
use beads_ralph_core::engine::{CommitId, Trouble};
use beads_ralph_core::issue::Record;
use serde_json::Value;

use super::below::below;
use super::keeping::trouble;
use super::perform::Performer;
use crate::config::Base;
use crate::ports::{Found, PullState, Wanted};

impl Performer<'_> {
    /// What must be in a bead's branch before the work begins (Z-6, L-21).
    pub(super) fn wanted(&self, bead: &RalphBead) -> Result<Vec<Wanted>, Trouble> {
        let mut wanted: Vec<Wanted> = Vec::new();
        if self.site.base == Base::Dependencies {
            let dependencies = below(&**self.store(), &bead.dependencies).map_err(trouble)?;
            for record in &dependencies {
                wanted.extend(self.dependency(record)?);
            }
        }
        if bead.issue_type == IssueType::Merge {
            for branch in bead.metadata.branches_to_merge.iter().flatten() {
                let Some(commit) = self.repository.branch(branch)? else {
                    return Err(Trouble::for_bead(format!(
                        "there is no branch {branch} to merge"
                    )));
                };
                wanted.push(Wanted {
                    name: branch.clone(),
                    commit,
                });
            }
        }
        Ok(wanted)
    }

    /// The commit that a dependency must bring. One that was closed by hand brings its branch, if it has one; one whose pull
    /// request was merged is in the source branch, perhaps under another name.
    fn dependency(&self, record: &Record) -> Result<Option<Wanted>, Trouble> {
        let metadata = |key: &str| {
            record
                .issue
                .metadata()
                .and_then(|it| it.get(key))
                .and_then(Value::as_str)
        };
        let id = record.issue.id();
        let branch = metadata("branch");
        let number = record
            .issue
            .metadata()
            .and_then(|it| it.get("pr_number")?.as_u64());
        if let (Some(forge), Some(branch), Some(number)) = (self.forge, branch, number) {
            let found = forge.find(branch)?;
            // A pull request of long ago may have had a branch of the same name.
            let is_merged = |found: &Found| {
                found.request.number == number && found.request.state == PullState::Merged
            };
            if found.iter().any(is_merged) {
                return Ok(None);
            }
        }
        let recorded = metadata("verified_commit").map(|commit| CommitId(commit.to_owned()));
        let commit = match (recorded, branch) {
            (Some(commit), _) => Some(commit),
            (None, Some(branch)) => match self.repository.kept(id)? {
                Some(commit) => Some(commit),
                None => self.repository.branch(branch)?,
            },
            (None, None) => None,
        };
        Ok(commit.map(|commit| Wanted {
            name: id.to_string(),
            commit,
        }))
    }
}
