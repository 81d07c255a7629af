//! Where work was done that is finished: that of closed beads, by `run` and by `implement`.

use std::collections::{BTreeMap, BTreeSet};

use beads_ralph_core::bead::{BeadId, IssueType, RalphBead, Rules};
use beads_ralph_core::implement::{linked_source, worktree_of};
use beads_ralph_core::issue::{Query, Record, Standing, StatusFilter};
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::app::molecules;
use beads_ralph_runtime::implement::{own_place, target_of};
use beads_ralph_runtime::ports::Place;
use beads_ralph_runtime::run::place;
use camino::{Utf8Path, Utf8PathBuf};

use super::super::run::{self as running, settings};
use crate::failure::Failure;

/// Where a bead was worked on that is closed now.
pub(super) struct Work {
    pub(super) place: Place,
    /// The branches that its commits may have gone into.
    pub(super) homes: [String; 2],
}

/// Work that is finished, and where there is some that is not.
pub(super) struct Works {
    pub(super) finished: Vec<Work>,
    /// Worktrees in which others still work: one may be shared.
    pub(super) in_use: BTreeSet<Utf8PathBuf>,
}

impl Works {
    /// Everything that the beads tell.
    pub(super) fn of(beads: &Beads, site: &running::Place) -> Result<Self, Failure> {
        let closed = closed(beads, site)?;
        let mut finished: Vec<Work> = closed.iter().map(|it| of_run(it, site)).collect();
        let mut in_use = in_use(beads, site)?;
        let (implemented, begun) = of_implement(beads, site)?;
        finished.extend(implemented);
        in_use.extend(begun);
        Ok(Self { finished, in_use })
    }
}

fn of_run(bead: &RalphBead, site: &running::Place) -> Work {
    let named = site.config.integration.target.clone();
    let target = named.unwrap_or_else(|| settings::target_of(&bead.metadata.plan_file));
    Work {
        place: place(&site.root, bead),
        homes: [bead.metadata.source_branch.clone(), target],
    }
}

/// The beads of `run` that are closed.
fn closed(beads: &Beads, site: &running::Place) -> Result<Vec<RalphBead>, Failure> {
    let query = Query {
        status: StatusFilter::OneOf(vec!["closed".to_owned()]),
        types: [IssueType::Work, IssueType::Merge]
            .map(|kind| kind.as_str().to_owned())
            .to_vec(),
        ..Query::default()
    };
    let rules = Rules {
        rig: site.config.rig.clone(),
    };
    let records = beads.store.find(&query)?;
    Ok(records
        .iter()
        .filter_map(|record| record.issue.to_ralph_bead(&[], &rules).ok())
        .collect())
}

/// The worktrees of beads of `run` that are not closed.
fn in_use(beads: &Beads, site: &running::Place) -> Result<BTreeSet<Utf8PathBuf>, Failure> {
    let rules = Rules {
        rig: site.config.rig.clone(),
    };
    let records = beads.store.find(&Query::default())?;
    let unfinished = records
        .iter()
        .filter_map(|record| record.issue.to_ralph_bead(&[], &rules).ok());
    Ok(unfinished
        .map(|bead| place(&site.root, &bead).worktree)
        .collect())
}

/// What `implement` finished, and the worktrees of what it did not. Only places that it made itself count: the label of a molecule may
/// name any other.
fn of_implement(
    beads: &Beads,
    site: &running::Place,
) -> Result<(Vec<Work>, Vec<Utf8PathBuf>), Failure> {
    let roots = molecules::roots(beads.store.as_ref(), None)?;
    let sources: Vec<BeadId> = roots
        .iter()
        .filter_map(|it| linked_source(&it.issue))
        .collect();
    let sources = beads.store.get(&sources)?.into_iter();
    let sources: BTreeMap<BeadId, Record> = sources.map(|it| (it.issue.id().clone(), it)).collect();
    let held = held(beads)?;
    let (mut finished, mut begun) = (Vec::new(), Vec::new());
    for root in roots {
        let (source, worktree) = (linked_source(&root.issue), worktree_of(&root.issue));
        let (Some(source), Some(worktree)) = (source, worktree) else {
            continue;
        };
        let worktree = Utf8Path::new(&worktree);
        let record = sources.get(&source);
        let is_closed = record.is_some_and(|it| it.issue.standing() == Standing::Closed);
        let place = own_place(&site.root, &source, worktree);
        match place {
            Some(place) if is_closed && !held.contains(root.issue.id()) => finished.push(Work {
                place,
                homes: [
                    site.config.worktrees.source_branch.clone(),
                    target_of(&site.config).to_owned(),
                ],
            }),
            _ => begun.push(worktree.to_owned()),
        }
    }
    Ok((finished, begun))
}

/// The molecules in which somebody holds a step.
fn held(beads: &Beads) -> Result<BTreeSet<BeadId>, Failure> {
    let begun = beads.store.find(&Query::default())?.into_iter();
    let held = begun.filter(|record| record.claim.is_some());
    Ok(held
        .flat_map(|it| it.issue.parents().cloned().collect::<Vec<_>>())
        .collect())
}
