//! From sprint numbers to dependencies (rules D-1 to D-8), and the sizes at which a plan is refused.
//!
//! The rules are first turned into joins, "these sprints wait for those", which are few and small; their edges are counted, and
//! only a graph within [`MAX_EDGES`] is built.

use std::ops::Range;

use super::outline::notes;
use super::outline::{Class, Cover, Outline, TooManyMerges};
use super::{Edge, EdgeReason, Node, SprintGraph};
use crate::diag::ErrorCode;
use crate::number::SprintId;
use crate::text::excerpt;

/// Compiles the dependencies of a whole plan (D-7), whose sprints may come in any order (P-9).
///
/// Of sprints with equal keys, such as `1.1` and `1.01`, the first counts; the plan's reader reports
/// them (P-7).
pub fn compile(sprints: &[SprintId]) -> Result<SprintGraph, GraphLimit> {
    let mut ids = sprints.to_vec();
    // Stable, so that the first of two spellings comes first and is the one kept.
    ids.sort();
    ids.dedup();
    let compiler = Compiler::new(&ids)?;
    let joins = compiler.joins();
    compiler.check_size(&joins)?;
    let (edges, dependencies) = compiler.edges(&joins);
    let notes = notes(&compiler.outline, &compiler.groups, &compiler.levels);
    Ok(SprintGraph::new(ids, edges, dependencies, notes))
}

struct Compiler<'a> {
    ids: &'a [SprintId],
    outline: Outline,
    /// The letters of each group's sprints.
    groups: Vec<Cover>,
    /// The letters of each level's phases.
    levels: Vec<Cover>,
    /// The sprints at which each group ends.
    group_ends: Vec<Vec<Node>>,
    /// The sprints at which each level ends (D-4).
    level_ends: Vec<Vec<Node>>,
}

/// Sprints that all wait for the same others.
struct Join<'c> {
    group: usize,
    waiting: Vec<Node>,
    awaited: Awaited<'c>,
    n_awaited: u64,
}

#[derive(Clone, Copy)]
enum Awaited<'c> {
    /// The siblings that a merged sprint covers (D-1).
    Parts(&'c Class),
    /// The group before, in the same phase (D-2).
    Group(usize),
    /// The phases that a merged phase covers (D-3).
    Tracks { level: usize, class: &'c Class },
    /// The level before (D-3).
    Level(usize),
}

impl<'a> Compiler<'a> {
    fn new(ids: &'a [SprintId]) -> Result<Self, GraphLimit> {
        let outline = Outline::of(ids);
        let groups = covers(&outline.groups, |at| ids[at].sprint_letters())
            .map_err(|(group, merges)| limit(group_name(ids, &outline, group), &merges))?;
        let levels = covers(&outline.levels, |at| {
            ids[outline.first_sprint(at)].phase_letters()
        })
        .map_err(|(level, merges)| limit(level_name(ids, &outline, level), &merges))?;
        let group_ends: Vec<Vec<Node>> = groups
            .iter()
            .zip(&outline.groups)
            .map(|(cover, range)| shift(cover.terminals(), range.start))
            .collect();
        let level_ends = levels
            .iter()
            .zip(&outline.levels)
            .map(|(cover, range)| {
                let phases = cover.terminals().into_iter().map(|at| range.start + at);
                last_sprints(&outline, &group_ends, phases)
            })
            .collect();
        Ok(Self {
            ids,
            outline,
            groups,
            levels,
            group_ends,
            level_ends,
        })
    }

    fn joins(&self) -> Vec<Join<'_>> {
        let mut joins = Vec::new();
        for (level, cover) in self.levels.iter().enumerate() {
            let first_phase = self.outline.levels[level].start;
            let n_last = self.n_last_sprints(level);
            for class in &cover.classes {
                let entry = if !class.parts.is_empty() {
                    let n_awaited = class.parts.iter().map(|part| n_last[*part]).sum();
                    Some((Awaited::Tracks { level, class }, n_awaited))
                } else if level > 0 {
                    let n_awaited = self.level_ends[level - 1].len() as u64;
                    Some((Awaited::Level(level - 1), n_awaited))
                } else {
                    None
                };
                for phase in &class.members {
                    self.join_phase(first_phase + phase, entry, &mut joins);
                }
            }
        }
        joins
    }

    // How many last sprints the phases of each class have together.
    fn n_last_sprints(&self, level: usize) -> Vec<u64> {
        let first_phase = self.outline.levels[level].start;
        let n_last = |phase: &usize| {
            self.group_ends[self.outline.last_group(first_phase + phase)].len() as u64
        };
        let classes = self.levels[level].classes.iter();
        classes
            .map(|class| class.members.iter().map(n_last).sum())
            .collect()
    }

    fn join_phase<'c>(
        &'c self,
        phase: usize,
        entry: Option<(Awaited<'c>, u64)>,
        joins: &mut Vec<Join<'c>>,
    ) {
        for group in self.outline.phases[phase].clone() {
            let before = if group == self.outline.phases[phase].start {
                entry
            } else {
                let n_awaited = self.group_ends[group - 1].len() as u64;
                Some((Awaited::Group(group - 1), n_awaited))
            };
            self.join_group(group, before, joins);
        }
    }

    fn join_group<'c>(
        &'c self,
        group: usize,
        before: Option<(Awaited<'c>, u64)>,
        joins: &mut Vec<Join<'c>>,
    ) {
        let start = self.outline.groups[group].start;
        let classes = &self.groups[group].classes;
        let mut unmerged = Vec::new();
        for class in classes {
            if class.parts.is_empty() {
                unmerged.extend(class.members.iter().map(|at| Node::new(start + at)));
                continue;
            }
            let n_members = |part: &usize| classes[*part].members.len() as u64;
            joins.push(Join {
                group,
                waiting: shift(class.members.iter().copied(), start),
                awaited: Awaited::Parts(class),
                n_awaited: class.parts.iter().map(n_members).sum(),
            });
        }
        if let Some((awaited, n_awaited)) = before {
            joins.push(Join {
                group,
                waiting: unmerged,
                awaited,
                n_awaited,
            });
        }
    }

    // Z-32, before any edge exists.
    fn check_size(&self, joins: &[Join<'_>]) -> Result<(), GraphLimit> {
        let n_between =
            |join: &Join<'_>| (join.waiting.len() as u64).saturating_mul(join.n_awaited);
        let n_edges = joins
            .iter()
            .fold(0_u64, |sum, join| sum.saturating_add(n_between(join)));
        let largest = joins
            .iter()
            .max_by_key(|join| (n_between(join), std::cmp::Reverse(join.group)));
        match largest {
            Some(join) if n_edges > MAX_EDGES => Err(GraphLimit::TooManyEdges {
                waiting: group_name(self.ids, &self.outline, join.group),
                awaited: self.awaited_name(join),
                n_between: n_between(join),
                n_edges,
            }),
            _ => Ok(()),
        }
    }

    fn awaited_name(&self, join: &Join<'_>) -> String {
        match join.awaited {
            Awaited::Parts(_) => group_name(self.ids, &self.outline, join.group),
            Awaited::Group(group) => group_name(self.ids, &self.outline, group),
            Awaited::Tracks { level, .. } | Awaited::Level(level) => {
                level_name(self.ids, &self.outline, level)
            }
        }
    }

    fn edges(&self, joins: &[Join<'_>]) -> (Vec<Edge>, Vec<Range<u32>>) {
        let mut edges = Vec::new();
        let mut dependencies = vec![0..0; self.ids.len()];
        let mark =
            |edges: &[Edge]| u32::try_from(edges.len()).expect("check_size admits a million edges");
        for join in joins {
            let start = mark(&edges);
            let (why, awaited) = self.awaited(join);
            edges.extend(awaited.into_iter().map(|to| Edge { to, why }));
            let range = start..mark(&edges);
            for node in &join.waiting {
                dependencies[node.index()] = range.clone();
            }
        }
        (edges, dependencies)
    }

    fn awaited(&self, join: &Join<'_>) -> (EdgeReason, Vec<Node>) {
        match join.awaited {
            Awaited::Parts(class) => {
                let parts = self.groups[join.group].parts(class);
                (
                    EdgeReason::Merges,
                    shift(parts, self.outline.groups[join.group].start),
                )
            }
            Awaited::Group(group) => (EdgeReason::Follows, self.group_ends[group].clone()),
            Awaited::Tracks { level, class } => {
                let start = self.outline.levels[level].start;
                let phases = self.levels[level].parts(class);
                let phases = phases.into_iter().map(|at| start + at);
                let ends = last_sprints(&self.outline, &self.group_ends, phases);
                (EdgeReason::MergesTracks, ends)
            }
            Awaited::Level(level) => (EdgeReason::StartsAfterPhase, self.level_ends[level].clone()),
        }
    }
}

// The covers of all ranges, or the first range with too many merged sets.
fn covers(
    ranges: &[Range<usize>],
    letters: impl Fn(usize) -> crate::number::Letters,
) -> Result<Vec<Cover>, (usize, TooManyMerges)> {
    let cover = |(at, range): (usize, &Range<usize>)| {
        Cover::of(range.clone().map(&letters)).map_err(|merges| (at, merges))
    };
    ranges.iter().enumerate().map(cover).collect()
}

fn last_sprints(
    outline: &Outline,
    group_ends: &[Vec<Node>],
    phases: impl Iterator<Item = usize>,
) -> Vec<Node> {
    // Phases come in natural order and do not interleave, so the sprints are in order too.
    phases
        .flat_map(|phase| group_ends[outline.last_group(phase)].iter().copied())
        .collect()
}

fn shift(positions: impl IntoIterator<Item = usize>, start: usize) -> Vec<Node> {
    positions
        .into_iter()
        .map(|at| Node::new(start + at))
        .collect()
}

fn limit(group: String, merges: &TooManyMerges) -> GraphLimit {
    GraphLimit::TooManyMerges {
        group,
        n_merges: merges.0,
    }
}

fn group_name(ids: &[SprintId], outline: &Outline, group: usize) -> String {
    excerpt(ids[outline.groups[group].start].sprint_base())
}

fn level_name(ids: &[SprintId], outline: &Outline, level: usize) -> String {
    let first = outline.first_sprint(outline.levels[level].start);
    format!("phase {}", ids[first].phase_number())
}

/// How many edges a compiled graph may have (Z-32).
pub const MAX_EDGES: u64 = 1_000_000;

/// How many different merged letter sets one group or level may have.
///
/// Each set is compared with each, so without a limit a few thousand hostile suffixes would cost
/// seconds. Plans written by people have a handful.
pub const MAX_MERGES: usize = 512;

/// A plan that would compile to a graph of unreasonable size. Nothing of that size was built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphLimit {
    /// More than [`MAX_EDGES`] dependencies (Z-32).
    #[error(
        "the plan has {n_edges} dependencies, more than {MAX_EDGES}; {n_between} of them are between {waiting} and {awaited}"
    )]
    TooManyEdges {
        /// The group that waits in the largest join: `1.3`.
        waiting: String,
        /// The group or phase that it waits for: `1.2`, `phase 2`.
        awaited: String,
        /// The edges between these two.
        n_between: u64,
        /// The edges of the whole plan.
        n_edges: u64,
    },
    /// More than [`MAX_MERGES`] different merged letter sets in one group or level.
    #[error("{group} has {n_merges} different merged suffixes, more than {MAX_MERGES}")]
    TooManyMerges {
        /// The group or phase level: `1.2`, `phase 3`.
        group: String,
        /// The number of different sets of at least two letters.
        n_merges: usize,
    },
}

impl GraphLimit {
    /// The code that the error carries.
    pub fn code(&self) -> ErrorCode {
        ErrorCode::ValidationConstraint
    }
}
