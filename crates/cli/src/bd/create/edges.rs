//! `--deps` and `--parent`: the edges that a new bead comes with.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Dependency, Record};
use beads_ralph_core::vocabulary::EdgeType;

use crate::bd::{Opened, dep, ids, quoted};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spec {
    kind: String,
    target: String,
    /// Whether the other bead depends on the new one.
    is_turned: bool,
}

/// An edge whose target was looked up.
pub(super) struct Resolved {
    kind: String,
    /// None for what is in another project.
    target: Option<Record>,
    id: BeadId,
    is_turned: bool,
}

/// Reads `type:id` and `id`. The error is a sentence.
pub(super) fn parse(given: &[String]) -> Result<Vec<Spec>, String> {
    let mut specs: Vec<Spec> = Vec::new();
    for raw in given
        .iter()
        .map(|raw| raw.trim())
        .filter(|raw| !raw.is_empty())
    {
        let spec = parse_one(raw)?;
        let same =
            (specs.iter()).find(|own| own.is_turned == spec.is_turned && own.target == spec.target);
        match same {
            None => specs.push(spec),
            Some(own) if own.kind == spec.kind => {}
            Some(own) => {
                return Err(format!(
                    "--deps cannot attach both {} and {} to the same target {}: a target can only carry one dependency type at a time. Pick one type, or open a separate issue for the second relationship (GH#4626)",
                    quoted(&own.kind),
                    quoted(&spec.kind),
                    quoted(&spec.target)
                ));
            }
        }
    }
    Ok(specs)
}

fn parse_one(raw: &str) -> Result<Spec, String> {
    let Some((word, target)) = raw.split_once(':') else {
        return Ok(Spec {
            kind: EdgeType::Blocks.into(),
            target: raw.to_owned(),
            is_turned: false,
        });
    };
    let word = word.trim();
    let kind = dep::canonical(word);
    if EdgeType::known(&kind).is_none() {
        return Err(format!(
            "unknown dependency type {}; valid types: {}",
            quoted(word),
            dep::types()
        ));
    }
    Ok(Spec {
        kind,
        target: target.trim().to_owned(),
        is_turned: word == EdgeType::Blocks,
    })
}

/// Looks the targets up.
pub(super) fn resolve(opened: &Opened, specs: Vec<Spec>) -> Result<Vec<Resolved>, String> {
    let mut resolved = Vec::new();
    for spec in specs {
        if spec.target.is_empty() {
            return Err("--deps target is empty".to_owned());
        }
        let target = if spec.target.starts_with("external:") {
            None
        } else {
            let found = ids::resolve(opened, &spec.target);
            let shown = quoted(&spec.target);
            Some(found.map_err(|why| format!("resolving --deps target {shown}: {why}"))?)
        };
        let id = match &target {
            Some(record) => record.issue.id().clone(),
            None => BeadId::parse(&spec.target).map_err(|error| error.to_string())?,
        };
        resolved.push(Resolved {
            kind: spec.kind,
            target,
            id,
            is_turned: spec.is_turned,
        });
    }
    Ok(resolved)
}

/// The edges that the new bead itself has.
pub(super) fn own(
    opened: &Opened,
    shown_id: &str,
    parent: Option<&Record>,
    resolved: &[Resolved],
) -> Result<Vec<Dependency>, String> {
    let mut edges: Vec<Dependency> = Vec::new();
    let parent = parent.map(|parent| (parent.issue.id(), EdgeType::ParentChild.as_str()));
    let others = (resolved.iter())
        .filter(|edge| !edge.is_turned)
        .map(|edge| (&edge.id, edge.kind.as_str()));
    for (target, kind) in parent.into_iter().chain(others) {
        let same = edges.iter().find(|edge| edge.target() == target);
        if let Some(same) = same {
            if same.kind() == kind {
                continue;
            }
            return Err(format!(
                "validation failed: dependency {shown_id} -> {target} already exists with type {} (requested {}); remove it first with 'bd dep remove' then re-add",
                quoted(same.kind()),
                quoted(kind)
            ));
        }
        edges.push(dep::edge(opened, target, kind)?);
    }
    Ok(edges)
}

/// The edges that others have to the new bead.
pub(super) fn turned(resolved: &[Resolved]) -> Vec<(Record, Dependency)> {
    let turned = resolved.iter().filter(|edge| edge.is_turned);
    turned
        .filter_map(|edge| {
            let record = edge.target.clone()?;
            let dependency = Dependency::new(edge.id.clone(), &edge.kind).ok()?;
            Some((record, dependency))
        })
        .collect()
}
