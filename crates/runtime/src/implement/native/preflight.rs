//! `preflight`: the worktree is made and remembered, and the source is in progress (§9.14, I-43).

use std::collections::BTreeMap;

use beads_ralph_core::engine::CommitId;
use beads_ralph_core::implement::{Outcome, encode_path, title_slug};
use beads_ralph_core::issue::Edit;
use beads_ralph_core::vocabulary::{EdgeType, label, metadata as keys};
use serde_json::Map;

use super::super::Dispatcher;
use super::super::assign::{Assignment, ignore_all};
use super::super::claim::Held;
use super::super::ending::Stop;
use super::super::finish::{Settlement, label};
use super::super::record::WORKTREES;
use super::super::watch::BeatingWatch;
use super::{failed, settled};
use crate::config::Base;
use crate::ports::{Origin, Place, Repository as _, Wanted};
use crate::run::set_up;

/// The labels that a bead must have before anybody works on it.
pub(in crate::implement) const REQUIRED: [&str; 2] = ["brainstormed", label::IMPLEMENTATION_READY];

impl Dispatcher<'_> {
    pub(super) fn preflight(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
    ) -> Result<Settlement, Stop> {
        let source = &assignment.source.issue;
        let missing: Vec<&str> = (REQUIRED.into_iter())
            .filter(|label| !source.has_label(label))
            .collect();
        if !missing.is_empty() {
            let note = format!(
                "implement-bead: the bead is not ready to be implemented: it lacks the label(s) {}",
                missing.join(", ")
            );
            return Err(Stop::human("§9.13", note));
        }
        let place = self.new_place(assignment);
        ignore_all(&self.site.root.join(WORKTREES))?;
        let origin = Origin {
            source: self.site.config.worktrees.source_branch.clone(),
            wanted: self.wanted(assignment)?,
        };
        let prepared = match self.site.git.prepare(&place, &origin) {
            Ok(prepared) => prepared,
            Err(trouble) => return settled(assignment, "worktree-not-made", trouble),
        };
        if !prepared.conflicts.is_empty() {
            let what = prepared.merging.map(|merging| merging.name);
            let detail = format!(
                "{} conflicts with the work that the bead waited for; resolve it in {} and commit: {}",
                what.unwrap_or_default(),
                place.worktree,
                prepared.conflicts.join(", ")
            );
            return Ok(failed(assignment, "merge-conflict", detail));
        }
        if let Some(command) = &self.site.config.worktrees.setup {
            let logs = self
                .site
                .beads
                .join(assignment.report(&assignment.agent, None)?);
            let logs = logs.with_file_name("setup");
            let errand = set_up::Errand {
                command,
                worktree: &place.worktree,
                logs: &logs,
                mark: self.site.mark.below(),
                cancel: self.site.cancel,
                env: BTreeMap::new(),
            };
            let mut watch = BeatingWatch {
                store: &mut *self.store,
                held,
            };
            let made = set_up::set_up(self.site.units, self.site.config, &errand, &mut watch);
            if let Err(trouble) = made {
                return settled(assignment, "worktree-not-set-up", trouble);
            }
        }
        let (branch, worktree) = (&place.branch, &place.worktree);
        self.decide(
            "§9.14",
            format!("worktree {worktree} on {branch}, from {}", prepared.from),
        );
        let outcome = format!("preflight complete; {branch} at {worktree}");
        let mut settlement = Settlement::new(Outcome::Complete(outcome));
        let path = encode_path(worktree.as_str());
        settlement.root = vec![label(&format!("{}{path}", label::WORKTREE_PREFIX))?];
        settlement
            .root
            .extend(noted_base(assignment, &origin, &prepared.head));
        settlement.starts_source = true;
        Ok(settlement)
    }

    /// The checked work of the beads that this one waited for, where work is based on it (Z-6).
    fn wanted(&self, assignment: &Assignment) -> Result<Vec<Wanted>, Stop> {
        if self.site.config.worktrees.base != Base::Dependencies {
            return Ok(Vec::new());
        }
        let edges = assignment.source.issue.dependencies().iter();
        let before = edges.filter(|edge| edge.kind() == EdgeType::Blocks);
        let mut wanted = Vec::new();
        for edge in before {
            if let Some(commit) = self.site.git.kept(edge.target())? {
                wanted.push(Wanted {
                    name: edge.target().to_string(),
                    commit,
                });
            }
        }
        Ok(wanted)
    }

    /// Where a bead will be worked on.
    fn new_place(&self, assignment: &Assignment) -> Place {
        let source = &assignment.source.issue;
        let id = source.id().as_str();
        let slug = title_slug(source);
        let name = if slug == id {
            slug
        } else {
            format!("{id}-{slug}")
        };
        let folder = assignment.mode.folder();
        Place {
            bead: source.id().clone(),
            branch: format!("{folder}/{name}"),
            worktree: self.site.root.join(WORKTREES).join(folder).join(name),
        }
    }
}

/// Notes what the work begins from where other beads' work is in it, once; else it is where the branch left the source branch (Z-6).
fn noted_base(assignment: &Assignment, origin: &Origin, head: &CommitId) -> Option<Edit> {
    let metadata = assignment.root().issue.metadata();
    let is_noted = metadata.is_some_and(|metadata| metadata.contains_key(keys::BASE_COMMIT));
    let base = Map::from_iter([(keys::BASE_COMMIT.to_owned(), head.0.clone().into())]);
    (!origin.wanted.is_empty() && !is_noted).then_some(Edit::MergeMetadata(base))
}
