//! What is looked at before the first agent starts (Z-16, L-10): everything that can be found, all at once.

use std::collections::{BTreeMap, BTreeSet};

use beads_ralph_core::agent::Permissions;
use beads_ralph_core::bead::{AgentSpec, RalphBead, Rules};
use beads_ralph_core::engine::{Integration, Leader, Settings};
use beads_ralph_core::issue::{Query, Record};
use beads_ralph_core::vocabulary::label;
use beads_ralph_runtime::agent::{self, Finding};
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::git::{Git, Identity};
use beads_ralph_runtime::ports::Repository as _;
use beads_ralph_runtime::run::{Selection, place};
use beads_ralph_runtime::{agent_files, os::files, removed_sprints, repo};

use super::Place;
use crate::failure::Failure;

/// What is looked at.
pub(super) struct Preflight<'a> {
    pub(super) place: &'a Place,
    pub(super) git: &'a Git,
    pub(super) settings: &'a Settings,
    pub(super) permissions: Option<Permissions>,
}

impl Preflight<'_> {
    /// Everything that is in the way, and what is worth knowing.
    pub(super) fn look(
        &self,
        beads: &Beads,
        selection: &Selection,
    ) -> Result<Vec<Finding>, Failure> {
        let records: Vec<Record> = beads.store.find(&Query::default())?;
        let rules = Rules {
            rig: self.place.config.rig.clone(),
        };
        let removed = match &selection.plan {
            Some(plan) => removed_sprints::read(&*beads.store, plan)?,
            None => BTreeSet::new(),
        };
        let selected = records.iter().filter(|record| selection.selects(record));
        let beads: Vec<RalphBead> = selected
            .filter_map(|it| it.issue.to_ralph_bead(&[], &rules).ok())
            .filter(|bead| !removed.contains(&bead.metadata.sprint.to_string()))
            .collect();
        let mut findings = self.agents(&beads);
        findings.extend(self.disk());
        findings.extend(self.branches(&beads));
        findings.extend(self.target());
        findings.extend(self.uncommitted_agents(&beads));
        findings.extend(self.copies());
        findings.extend(self.identity());
        findings.extend(
            self.place
                .config
                .timeouts
                .warning()
                .map(|text| warning(text, "raise timeouts.scrum_master")),
        );
        findings.extend(
            self.git
                .prune()
                .err()
                .map(|it| warning(it.message, "see `git worktree list`")),
        );
        Ok(findings)
    }

    /// Agents, their programs, files and models, and what they may do.
    fn agents(&self, beads: &[RalphBead]) -> Vec<Finding> {
        let is_led = self.settings.leader == Leader::Agent;
        let mut specs: Vec<&AgentSpec> = Vec::new();
        for bead in beads.iter().filter(|bead| !is_gate(bead)) {
            let metadata = &bead.metadata;
            specs.extend(&metadata.dev_agents);
            specs.extend(metadata.qa_agents.iter().map(|qa| &qa.spec));
            specs.extend(is_led.then_some(&metadata.scrum_master_agent));
        }
        let mut seen: Vec<&AgentSpec> = Vec::new();
        for spec in specs {
            let is_known = |it: &&AgentSpec| {
                it.agent == spec.agent
                    && it.model == spec.model
                    && it.adapter == spec.adapter
                    && it.executable == spec.executable
            };
            if !seen.iter().any(is_known) {
                seen.push(spec);
            }
        }
        let (config, root) = (&self.place.config, &self.place.root);
        // A program that takes no mode decides itself what it does, and there is nothing to ask (Z-23).
        let takes_mode = |spec: &&AgentSpec| {
            let resolved = agent::resolve(config, root, spec).ok();
            resolved.is_none_or(|it| {
                it.adapter
                    .permissions
                    .values()
                    .any(|arguments| !arguments.is_empty())
            })
        };
        let asks = seen.iter().any(takes_mode);
        let permissions = self.permissions.or((!asks).then_some(Permissions::Bypass));
        agent::ready(config, root, permissions, seen)
    }

    /// Files of agents that are in the main checkout and not where the first beads start. Later ones may be made by those before them.
    fn uncommitted_agents(&self, beads: &[RalphBead]) -> Vec<Finding> {
        let is_led = self.settings.leader == Leader::Agent;
        let mut wanted: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        let first = beads.iter().filter(|bead| bead.dependencies.is_empty());
        for bead in first.filter(|bead| !is_gate(bead)) {
            let metadata = &bead.metadata;
            let qa = metadata.qa_agents.iter().map(|qa| &qa.spec);
            let specs = metadata.dev_agents.iter().chain(qa);
            let specs = specs.chain(is_led.then_some(&metadata.scrum_master_agent));
            let files = specs
                .filter(|spec| !spec.agent.is_built_in())
                .filter_map(|spec| agent_files::definition(&self.place.root, &spec.agent))
                .map(|definition| definition.path);
            let source = wanted.entry(&metadata.source_branch).or_default();
            source.extend(files);
        }
        let missing = |(source, files): (&str, BTreeSet<String>)| {
            let paths: Vec<&str> = files.iter().map(String::as_str).collect();
            // A branch that is not there is told of elsewhere.
            let missing = self.git.not_on(source, &paths).unwrap_or_default();
            (!missing.is_empty()).then(|| {
                let files = missing.join(" ");
                error(
                    format!(
                        "agents work in worktrees that start from {source}, and it lacks {files}"
                    ),
                    &format!("git add {files} && git commit, on {source}"),
                )
            })
        };
        wanted.into_iter().filter_map(missing).collect()
    }

    fn identity(&self) -> Option<Finding> {
        match self.git.identity() {
            Identity::User(_) => None,
            Identity::Own => Some(warning(
                format!(
                    "git knows nobody here: agents that commit will fail at it, and what they leave is committed as {} <{}>",
                    Identity::OWN_NAME,
                    Identity::OWN_ADDRESS
                ),
                "git config user.name … && git config user.email …",
            )),
        }
    }

    /// Files that agents could commit by mistake.
    fn copies(&self) -> Option<Finding> {
        let files = match self.git.copied_and_not_ignored() {
            Ok(files) if files.is_empty() => return None,
            Ok(files) => files.join(", "),
            Err(trouble) => return Some(error(trouble.message, "fix worktrees.copy")),
        };
        Some(warning(
            format!(
                "worktrees.copy: git does not ignore {files}; an agent that commits everything commits it, and its bead then waits for you"
            ),
            "add it to .gitignore",
        ))
    }

    fn disk(&self) -> Option<Finding> {
        let disk = &self.place.config.disk;
        if !disk.check_before_start {
            return None;
        }
        let free = files::free_bytes(&self.place.root).ok()? / 1_000_000_000;
        (free < disk.min_free_gb).then(|| {
            let root = repo::shown(&self.place.root);
            let message = format!(
                "{free} GB are free where {root} is; disk.min_free_gb asks for {}",
                disk.min_free_gb
            );
            error(
                message,
                "make room, or set disk.min_free_gb in beads-ralph.yaml",
            )
        })
    }

    /// The branch that work is merged into: nobody may stand on it, and git must be able to make it.
    fn target(&self) -> Vec<Finding> {
        let Integration::Merge { target } = &self.settings.integration else {
            return Vec::new();
        };
        let mut findings = Vec::new();
        let worktrees = self.git.worktrees().unwrap_or_default();
        if let Some(holder) = worktrees
            .iter()
            .find(|it| it.branch.as_deref() == Some(target))
        {
            let place = repo::shown(&holder.path);
            let message = format!(
                "the branch {target}, which work is merged into, is checked out at {place}"
            );
            findings.push(error(
                message,
                "switch to another branch there, or name another one with integration.target",
            ));
        }
        let parents = target.match_indices('/').map(|(end, _)| &target[..end]);
        for parent in parents.filter(|parent| matches!(self.git.branch(parent), Ok(Some(_)))) {
            let message = format!(
                "the branch {target}, which work is merged into, cannot be made: there is a branch {parent}"
            );
            findings.push(error(message, "name another one with integration.target"));
        }
        findings
    }

    fn branches(&self, beads: &[RalphBead]) -> Vec<Finding> {
        let sources: BTreeSet<&str> = beads
            .iter()
            .map(|bead| bead.metadata.source_branch.as_str())
            .collect();
        let missing = sources
            .into_iter()
            .filter_map(|source| self.git.check_source(source).err());
        let missing = missing.map(|it| {
            error(
                it.message,
                "make the branch, or name another source branch in the plan",
            )
        });
        let places: Vec<_> = beads
            .iter()
            .map(|bead| place(&self.place.root, bead))
            .collect();
        let clashes = match self.git.clashes(&places) {
            Ok(clashes) => clashes,
            Err(trouble) => vec![trouble.message],
        };
        let clashes = clashes.into_iter().map(|it| {
            let action = format!(
                "name another branch or worktree in the plan{}, or remove what is in the way",
                places_of(&it, beads)
            );
            error(it, &action)
        });
        missing.chain(clashes).collect()
    }
}

/// Where the beads that a message names stand in their plans (Z-45).
fn places_of(message: &str, beads: &[RalphBead]) -> String {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let words: BTreeSet<&str> = message.split(|c: char| !is_part(c)).collect();
    let named = beads.iter().filter(|bead| words.contains(bead.id.as_str()));
    let places = named.filter_map(|bead| bead.metadata.source_map.as_ref());
    let places: Vec<String> = places.map(ToString::to_string).collect();
    if places.is_empty() {
        String::new()
    } else {
        format!(" ({})", places.join(", "))
    }
}

fn error(message: String, action: &str) -> Finding {
    Finding {
        is_error: true,
        message,
        action: action.to_owned(),
    }
}

fn warning(message: String, action: &str) -> Finding {
    Finding {
        is_error: false,
        message,
        action: action.to_owned(),
    }
}

/// Whether a bead is a gate, for which no agent is called.
fn is_gate(bead: &RalphBead) -> bool {
    bead.labels.iter().any(|label| label == label::GATE)
}
