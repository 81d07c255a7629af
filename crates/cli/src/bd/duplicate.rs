//! `bd duplicate` and `bd supersede`: a bead that another one stands for is linked to it and closed.

use beads_ralph_core::issue::{Edit, Record};
use beads_ralph_core::vocabulary::{EdgeType, Status};
use serde::Serialize;

use super::{Access, Call, Command, ID, Opened, Refusal, dep, ids, quoted, string};

/// A bead that says what another one says.
pub(super) const DUPLICATE: Command = Command {
    name: "duplicate",
    about: "Close a bead as a duplicate of another",
    positionals: ID,
    flags: &[string("of", "The bead that stays (required)")],
    access: Access::Writes,
    run: Some(duplicate),
    ..Command::NONE
};

/// A bead that a newer one takes the place of.
pub(super) const SUPERSEDE: Command = Command {
    name: "supersede",
    about: "Close a bead as replaced by a newer one",
    positionals: ID,
    flags: &[string("with", "The bead that takes its place (required)")],
    access: Access::Writes,
    run: Some(supersede),
    ..Command::NONE
};

/// Why a bead is closed in favour of another, with the words for it.
struct Way {
    flag: &'static str,
    kind: EdgeType,
    /// What the link is called, and what a bead is that has it.
    link: &'static str,
    itself: &'static str,
}

#[derive(Serialize)]
struct DuplicateAnswer<'r> {
    canonical: &'r str,
    duplicate: &'r str,
    status: Status,
}

#[derive(Serialize)]
struct SupersededAnswer<'r> {
    replacement: &'r str,
    status: Status,
    superseded: &'r str,
}

fn duplicate(call: &mut Call<'_>) -> Result<(), Refusal> {
    let way = Way {
        flag: "of",
        kind: EdgeType::Duplicates,
        link: "duplicate",
        itself: "duplicate of itself",
    };
    let (old, new) = replace(call, &way)?;
    let answer = DuplicateAnswer {
        canonical: &new,
        duplicate: &old,
        status: Status::Closed,
    };
    call.output.answer(answer, || {
        format!("✓ Marked {old} as duplicate of {new} (closed)\n")
    })
}

fn supersede(call: &mut Call<'_>) -> Result<(), Refusal> {
    let way = Way {
        flag: "with",
        kind: EdgeType::Supersedes,
        link: "supersede",
        itself: "superseded by itself",
    };
    let (old, new) = replace(call, &way)?;
    let answer = SupersededAnswer {
        replacement: &new,
        status: Status::Closed,
        superseded: &old,
    };
    call.output.answer(answer, || {
        format!("✓ Marked {old} as superseded by {new} (closed)\n")
    })
}

/// Links and closes, both or neither. Gives both ids.
fn replace(call: &Call<'_>, way: &Way) -> Result<(String, String), Refusal> {
    let mut opened = call.open()?;
    let Some(target) = call.arguments.text(way.flag) else {
        return Err(Refusal::plain(format!(
            "required flag(s) {} not set",
            quoted(way.flag)
        )));
    };
    let old = resolve(&opened, &call.arguments.words[0])?;
    let new = resolve(&opened, target)?;
    let (old_id, new_id) = (old.issue.id(), new.issue.id());
    if old_id == new_id {
        return Err(Refusal::plain(format!(
            "cannot mark an issue as {}",
            way.itself
        )));
    }
    let edge = dep::edge(&opened, new_id, way.kind.as_str()).map_err(Refusal::json)?;
    let mut edits = vec![Edit::AddDependency(edge)];
    if old.issue.status() != Status::Closed {
        edits.push(Edit::Close(String::new()));
    }
    opened.update(&old, edits).map_err(|error| {
        let why = dep::not_added(error, way.kind.as_str());
        Refusal::plain(format!(
            "failed to add {} link: {}",
            way.link,
            why.message()
        ))
    })?;
    Ok((old_id.to_string(), new_id.to_string()))
}

fn resolve(opened: &Opened, text: &str) -> Result<Record, Refusal> {
    ids::resolve(opened, text)
        .map_err(|why| Refusal::plain(format!("failed to resolve {text}: {why}")))
}
