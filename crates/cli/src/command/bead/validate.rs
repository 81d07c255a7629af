//! `bead validate`: bead files against the schema (B-26), and against each other.

use std::collections::{BTreeMap, BTreeSet};

use beads_ralph_core::bead::{
    FieldError, FieldErrorKind, RalphBead, Rules, error_code, parse_document, validate,
};
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::graph;
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::{agent_files, config, os::env, os::files, repo};
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use serde_json::json;

use crate::failure::{Failure, Validation};
use crate::ui::{Ui, lines};

#[derive(Debug, Args)]
pub(crate) struct BeadValidateArgs {
    /// The bead files; none or `-` is standard input
    pub(crate) files: Vec<Utf8PathBuf>,
    /// Check the dependencies between the given beads as well
    #[arg(long)]
    pub(crate) graph: bool,
    /// Look for the agent files that the beads name
    #[arg(long)]
    pub(crate) check_agents: bool,
}

/// What became of one input.
struct Checked {
    shown: String,
    result: Result<RalphBead, Invalid>,
}

enum Invalid {
    Unreadable(Failure),
    Fields(Vec<FieldError>),
}

pub(crate) fn run(args: &BeadValidateArgs, ui: &Ui) -> Result<(), Failure> {
    let root = env::current_dir().map(|here| repo::root_of(&here).unwrap_or(here));
    let rules = Rules {
        rig: config::load(root.as_deref())?.rig,
    };
    let known = if args.check_agents {
        Some(known_agents(root.as_deref()))
    } else {
        None
    };
    let stdin = [Utf8PathBuf::from("-")];
    let inputs = if args.files.is_empty() {
        &stdin[..]
    } else {
        &args.files[..]
    };
    let checked: Vec<Checked> = inputs
        .iter()
        .map(|path| check(path, &rules, known.as_ref()))
        .collect();
    if !ui.is_json() {
        show(&checked, ui)?;
    }
    if let Some(failure) = failure(&checked) {
        return Err(failure);
    }
    if args.graph {
        check_graph(&checked)?;
    }
    if ui.is_json() {
        return ui.data(&json!({"validation": checked.iter().map(validation).collect::<Vec<_>>()}));
    }
    Ok(())
}

pub(crate) fn read_input(path: &Utf8Path) -> Result<Vec<u8>, Failure> {
    if path == "-" {
        return Ok(files::read_limited(std::io::stdin().lock(), path)?);
    }
    Ok(files::read(path)?)
}

fn check(path: &Utf8Path, rules: &Rules, known: Option<&BTreeSet<String>>) -> Checked {
    let shown = if path == "-" {
        "<stdin>".to_owned()
    } else {
        repo::shown(path)
    };
    let result = read_input(path)
        .map_err(Invalid::Unreadable)
        .and_then(|bytes| {
            let document = parse_document(&bytes).map_err(|error| Invalid::Fields(vec![error]))?;
            let bead = validate(&document, rules).map_err(Invalid::Fields)?;
            let missing = known
                .map(|known| missing_agents(&bead, known))
                .unwrap_or_default();
            if missing.is_empty() {
                Ok(bead)
            } else {
                Err(Invalid::Fields(missing))
            }
        });
    Checked { shown, result }
}

fn known_agents(root: Option<&Utf8Path>) -> BTreeSet<String> {
    root.and_then(agent_files::agent_files)
        .unwrap_or_default()
        .into_keys()
        .collect()
}

/// The agents of a bead whose files are not there, with the message that seed 002 prescribes (B-17).
fn missing_agents(bead: &RalphBead, known: &BTreeSet<String>) -> Vec<FieldError> {
    let metadata = &bead.metadata;
    let dev = metadata
        .dev_agents
        .iter()
        .enumerate()
        .map(|(n, spec)| (format!("metadata.dev_agents.{n}.agent"), spec));
    let qa = metadata
        .qa_agents
        .iter()
        .enumerate()
        .map(|(n, qa)| (format!("metadata.qa_agents.{n}.agent"), &qa.spec));
    dev.chain(qa)
        .filter(|(_, spec)| {
            !spec.agent.is_built_in() && !known.contains(spec.agent.with_md().as_str())
        })
        .map(|(path, spec)| {
            let message = format!(
                "Agent path '{}' does not exist in .claude/agents/",
                excerpt(spec.agent.as_str())
            );
            FieldError {
                path,
                message,
                kind: FieldErrorKind::Value,
            }
        })
        .collect()
}

fn show(checked: &[Checked], ui: &Ui) -> Result<(), Failure> {
    let is_alone = checked.len() == 1;
    for one in checked {
        let prefix = if is_alone {
            String::new()
        } else {
            format!("{}: ", one.shown)
        };
        match &one.result {
            Ok(_) => ui.out(&format!("{prefix}✓ Valid bead\n"))?,
            Err(Invalid::Unreadable(failure)) => {
                ui.complain(&format!("Error: {}\n", failure.message()));
            }
            Err(Invalid::Fields(errors)) => {
                let lines = lines(errors.iter().map(|error| format!("  {error}")));
                ui.complain(&format!("{prefix}Validation errors:\n{lines}"));
            }
        }
    }
    Ok(())
}

/// The failure of the first input that is not valid. An unreadable file is a validator's failure like any
/// other, so its exit code is 1 (B-26).
fn failure(checked: &[Checked]) -> Option<Failure> {
    let first = checked
        .iter()
        .find_map(|one| Some((one, one.result.as_ref().err()?)))?;
    let failure = match first {
        (one, Invalid::Unreadable(failure)) => Failure::new(failure.code(), failure.message())
            .details(one.shown.clone())
            .exit_with(1),
        (one, Invalid::Fields(errors)) => {
            let lines: Vec<String> = errors.iter().map(FieldError::to_string).collect();
            let message = format!(
                "{} is not a valid bead: {}",
                one.shown,
                lines.first().map_or("", String::as_str)
            );
            Failure::new(error_code(errors), message).details(lines.join("\n"))
        }
    };
    Some(
        failure
            .with_validation(checked.iter().map(validation).collect())
            .told(),
    )
}

fn validation(one: &Checked) -> Validation {
    let (id, errors) = match &one.result {
        Ok(bead) => (Some(bead.id.to_string()), Vec::new()),
        Err(Invalid::Unreadable(failure)) => (None, vec![failure.message().to_owned()]),
        Err(Invalid::Fields(errors)) => (None, errors.iter().map(FieldError::to_string).collect()),
    };
    Validation {
        file: Some(one.shown.clone()),
        id,
        valid: errors.is_empty(),
        errors,
    }
}

/// The dependencies between the given beads (D-10…D-13).
fn check_graph(checked: &[Checked]) -> Result<(), Failure> {
    let beads: Vec<&RalphBead> = checked
        .iter()
        .filter_map(|one| one.result.as_ref().ok())
        .collect();
    let nodes = beads.iter().map(|bead| {
        (
            bead.id.as_str(),
            bead.dependencies
                .iter()
                .map(beads_ralph_core::bead::BeadId::as_str),
        )
    });
    graph::check(nodes, &BTreeSet::new())?;
    shared_places(&beads)
}

/// Beads of different teams in one branch or worktree (B-29), all of them at once.
fn shared_places(beads: &[&RalphBead]) -> Result<(), Failure> {
    let mut owners: BTreeMap<(&str, &str), &RalphBead> = BTreeMap::new();
    let mut conflicts = Vec::new();
    for bead in beads {
        let metadata = &bead.metadata;
        let places = [
            ("branch", metadata.branch.as_str()),
            ("worktree", metadata.worktree_path.as_str()),
        ];
        for (what, place) in places {
            let owner = owners.entry((what, place)).or_insert(bead);
            if owner.metadata.team_name != metadata.team_name {
                let [one, other, place] = [owner.id.as_str(), bead.id.as_str(), place].map(excerpt);
                conflicts.push(format!(
                    "beads {one} and {other} share the {what} {place} but not a team"
                ));
            }
        }
    }
    match conflicts.first() {
        None => Ok(()),
        Some(first) => Err(Failure::new(ErrorCode::ValidationConstraint, first.clone())
            .details(conflicts.join("\n"))),
    }
}
