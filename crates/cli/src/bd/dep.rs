//! `bd dep`: what beads have to do with each other. Adding and removing are here, looking below.

mod bulk;
mod list;
mod tree;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Dependency, Edit, EditError, Record};
use beads_ralph_core::vocabulary::EdgeType;
use beads_ralph_runtime::store::StoreError;
use serde::Serialize;

use super::text::feedback_in_brackets;
use super::{
    Access, Arity, Call, Command, Opened, Positional, Refusal, blocked, help, ids, one, optional,
    quoted, string, switch,
};

/// The longest name of a type of edges in the real `bd`.
pub(super) const MAX_TYPE: usize = 32;

/// Other names of `blocks`.
const SYNONYMS: [&str; 2] = ["blocked-by", "depends-on"];

/// How a sentence about an edge goes.
fn phrase(kind: EdgeType) -> &'static str {
    match kind {
        EdgeType::ApprovedBy => "was approved by",
        EdgeType::AssignedTo => "is assigned to",
        EdgeType::Attests => "attests",
        EdgeType::AuthoredBy => "was authored by",
        EdgeType::Blocks => "depends on",
        EdgeType::CausedBy => "was caused by",
        EdgeType::ConditionalBlocks => "conditionally depends on",
        EdgeType::DelegatedFrom => "was delegated from",
        EdgeType::DiscoveredFrom => "was discovered from",
        EdgeType::Duplicates => "duplicates",
        EdgeType::ParentChild => "is a child of",
        EdgeType::Related => "is related to",
        EdgeType::RelatesTo => "relates to",
        EdgeType::RepliesTo => "replies to",
        EdgeType::Supersedes => "is superseded by",
        EdgeType::Tracks => "tracks",
        EdgeType::Until => "is active until",
        EdgeType::Validates => "validates",
        EdgeType::WaitsFor => "waits for",
    }
}

/// The types of edges that people can name, in order.
pub(super) fn types() -> String {
    let known = EdgeType::ALL.iter().map(|kind| kind.as_str());
    let mut types: Vec<&str> = known.chain(SYNONYMS).collect();
    types.sort_unstable();
    types.join(", ")
}

const PAIR: &[Positional] = &[one("issue-id"), one("depends-on-id")];

const NO_CYCLE_CHECK: super::tree::Flag = switch(
    "no-cycle-check",
    "Check for circles once at the end; they are refused in any case",
);

/// The group, which does something itself with `--blocks`.
pub(super) const COMMAND: Command = Command {
    name: "dep",
    about: "What beads depend on",
    positionals: &[optional("issue-id")],
    flags: &[
        string("blocks", "The bead that waits for this one").short('b'),
        NO_CYCLE_CHECK,
    ],
    not_served: &[],
    children: &[
        &Command {
            name: "add",
            about: "A bead depends on another",
            positionals: PAIR,
            arity: Arity::Any,
            flags: &[
                string("blocked-by", "The bead that it waits for"),
                string("depends-on", "The same"),
                string(
                    "file",
                    "Read edges as JSONL from a file, or from - standard input",
                ),
                NO_CYCLE_CHECK,
                string("type", "The type of the edge (default blocks)").short('t'),
            ],
            access: Access::Writes,
            run: Some(add),
            ..Command::NONE
        },
        &list::CYCLES,
        &list::COMMAND,
        &Command {
            name: "remove",
            aliases: &["rm"],
            about: "A bead does not depend on another any more",
            positionals: PAIR,
            access: Access::Writes,
            run: Some(remove),
            ..Command::NONE
        },
        &tree::COMMAND,
    ],
    access: Access::WritesWith("blocks"),
    run: Some(run),
    ..Command::NONE
};

#[derive(Debug, Clone)]
struct Edge {
    from: Record,
    to: BeadId,
    kind: String,
}

impl Edge {
    fn answer(&self, status: Option<&'static str>) -> EdgeAnswer<'_> {
        EdgeAnswer {
            depends_on_id: self.to.as_str(),
            issue_id: self.from.issue.id().as_str(),
            status,
            r#type: Some(&self.kind),
        }
    }
}

#[derive(Serialize)]
struct EdgeAnswer<'e> {
    depends_on_id: &'e str,
    issue_id: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<&'e str>,
}

#[derive(Serialize)]
struct BlockedAnswer<'e> {
    blocked_id: &'e str,
    blocker_id: &'e str,
    status: &'static str,
    r#type: &'e str,
}

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    if let Some(word @ ("relate" | "unrelate")) = call.arguments.words.first().map(String::as_str) {
        return Err(Refusal::not_served(&format!("the command dep {word}")));
    }
    let Some(blocked) = call.arguments.filled("blocks") else {
        return call.output.text(&help::of(&COMMAND, &["dep"]));
    };
    let Some(blocker) = call.arguments.words.first() else {
        return Err(Refusal::json(
            "--blocks requires exactly one issue ID argument",
        ));
    };
    let mut opened = call.open()?;
    let from = ids::find(&opened, RESOLVING, blocked)?;
    let to = ids::find(&opened, RESOLVING, blocker)?;
    let edge = Edge {
        from,
        to: to.issue.id().clone(),
        kind: EdgeType::Blocks.into(),
    };
    check_ancestors(&edge)?;
    write(&mut opened, std::slice::from_ref(&edge), false)?;
    let (blocked, blocker) = (&edge.from.issue, &to.issue);
    if call.output.is_json() {
        return call.output.value(BlockedAnswer {
            blocked_id: blocked.id().as_str(),
            blocker_id: blocker.id().as_str(),
            status: "added",
            r#type: &edge.kind,
        });
    }
    let (blocker, blocked) = (feedback_in_brackets(blocker), feedback_in_brackets(blocked));
    call.output
        .text(&format!("✓ Added dependency: {blocker} blocks {blocked}\n"))
}

fn add(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let target = check_words(call)?;
    let kind = arguments.text("type").unwrap_or(EdgeType::Blocks.as_str());
    if let Some(file) = arguments.filled("file") {
        return bulk::add(call, file, kind);
    }
    let mut opened = call.open()?;
    let from = ids::find(&opened, RESOLVING, &arguments.words[0])?;
    let target = target.unwrap_or_else(|| arguments.words[1].clone());
    let to = resolve_target(&opened, &from, &target).map_err(Refusal::json)?;
    let edge = Edge {
        from,
        to,
        kind: canonical(kind),
    };
    check_ancestors(&edge)?;
    check_kind(&edge.kind).map_err(Refusal::json)?;
    write(&mut opened, std::slice::from_ref(&edge), false)?;
    let issue = &edge.from.issue;
    if call.output.is_json() {
        return call.output.value(edge.answer(Some("added")));
    }
    let phrase = match EdgeType::known(&edge.kind) {
        Some(kind) => phrase(kind),
        None => &edge.kind,
    };
    let (from, to) = (feedback_in_brackets(issue), named(&opened, &edge.to)?);
    let kind = &edge.kind;
    call.output.text(&format!(
        "✓ Added dependency: {from} {phrase} {to} ({kind})\n"
    ))
}

/// Whether the words and flags go together; the target, if a flag names it.
fn check_words(call: &Call<'_>) -> Result<Option<String>, Refusal> {
    let arguments = call.arguments;
    let n = arguments.words.len();
    let by_flag = arguments
        .filled("blocked-by")
        .or(arguments.filled("depends-on"));
    let wrong = if arguments.filled("file").is_some() {
        match (n, by_flag) {
            (0, None) => None,
            (0, Some(_)) => {
                Some("--file cannot be used with --blocked-by or --depends-on".to_owned())
            }
            _ => Some("--file cannot be used with positional issue IDs".to_owned()),
        }
    } else {
        match (n, by_flag) {
            (0, Some(_)) => Some("requires at least 1 arg(s), only received 0".to_owned()),
            (1, Some(_)) | (2, None) => None,
            (_, Some(_)) => Some(
                "cannot use both positional depends-on-id and --blocked-by/--depends-on flag"
                    .to_owned(),
            ),
            (n, None) => Some(format!(
                "requires 2 arg(s), only received {n} (or use --blocked-by/--depends-on flag)"
            )),
        }
    };
    wrong.map_or(Ok(by_flag.map(str::to_owned)), |wrong| {
        Err(Refusal::plain(wrong))
    })
}

fn remove(call: &mut Call<'_>) -> Result<(), Refusal> {
    let mut opened = call.open()?;
    let [from, target] = &call.arguments.words[..] else {
        unreachable!("the number of words was checked");
    };
    let from = ids::find(&opened, RESOLVING, from)?;
    let edges = from.issue.dependencies();
    let exact = edges.iter().find(|edge| edge.target().as_str() == target);
    let to = match exact {
        Some(edge) => edge.target().clone(),
        None => resolve_target(&opened, &from, target).map_err(Refusal::json)?,
    };
    opened.update(&from, vec![Edit::RemoveDependency(to.clone())])?;
    if call.output.is_json() {
        return call.output.value(EdgeAnswer {
            depends_on_id: to.as_str(),
            issue_id: from.issue.id().as_str(),
            status: Some("removed"),
            r#type: None,
        });
    }
    let (from, to) = (feedback_in_brackets(&from.issue), named(&opened, &to)?);
    call.output
        .text(&format!("✓ Removed dependency: {from} → {to}\n"))
}

/// How an error about an id begins.
const RESOLVING: &str = "resolving issue ID";

fn unresolved(text: &str, why: impl std::fmt::Display) -> String {
    format!("{RESOLVING} {text}: {why}")
}

/// What an edge of a bead goes to: a bead here, or something of another project.
fn resolve_target(opened: &Opened, from: &Record, text: &str) -> Result<BeadId, String> {
    if text.starts_with("external:") {
        return external(text);
    }
    match ids::resolve(opened, text) {
        Ok(record) => Ok(record.issue.id().clone()),
        Err(why) => {
            let prefix = |id: &str| id.split_once('-').map(|(prefix, _)| prefix.to_owned());
            let (own, other) = (prefix(from.issue.id().as_str()), prefix(text));
            if own.is_some() && other.is_some() && own != other {
                return BeadId::parse(text).map_err(|error| error.to_string());
            }
            let why = unresolved(text, why);
            Err(format!("resolving dependency ID {text}: {why}"))
        }
    }
}

fn external(text: &str) -> Result<BeadId, String> {
    let mut parts = text.splitn(3, ':').skip(1);
    match (parts.next(), parts.next()) {
        (_, None) => Err(format!(
            "invalid external reference format: expected 'external:<project>:<capability>', got '{text}'"
        )),
        (Some(""), _) => Err("external reference missing project name".to_owned()),
        (_, Some("")) => Err("external reference missing capability name".to_owned()),
        _ => BeadId::parse(text).map_err(|error| error.to_string()),
    }
}

/// A type of edges by its other names.
pub(super) fn canonical(kind: &str) -> String {
    if SYNONYMS.contains(&kind) {
        return EdgeType::Blocks.into();
    }
    kind.to_owned()
}

fn check_kind(kind: &str) -> Result<(), String> {
    if EdgeType::known(kind).is_some() {
        return Ok(());
    }
    let (shown, types) = (quoted(kind), types());
    Err(if is_usable(kind) {
        format!("unknown dependency type {shown}; valid types: {types}")
    } else {
        format!(
            "invalid dependency type {shown} (must be non-empty, max {MAX_TYPE} chars); valid types: {types}"
        )
    })
}

fn is_usable(kind: &str) -> bool {
    !kind.is_empty() && kind.len() <= MAX_TYPE
}

/// A child does not depend on what it is a part of, but for the edge that makes it so.
fn check_ancestors(edge: &Edge) -> Result<(), Refusal> {
    if is_part_by_id(edge) {
        let (from, to) = (edge.from.issue.id(), &edge.to);
        return Err(Refusal::json(format!(
            "cannot add dependency: {from} is already a child of {to}. Children inherit dependency on parent completion via hierarchy. Adding an explicit dependency would create a deadlock"
        )));
    }
    Ok(())
}

fn is_part_by_id(edge: &Edge) -> bool {
    let (from, to) = (edge.from.issue.id().as_str(), edge.to.as_str());
    let Some(rest) = from
        .strip_prefix(to)
        .and_then(|rest| rest.strip_prefix('.'))
    else {
        return false;
    };
    let is_direct = !rest.contains('.');
    edge.kind != EdgeType::ParentChild || !is_direct
}

/// A new edge of the actor. The error is a sentence.
pub(super) fn edge(opened: &Opened, to: &BeadId, kind: &str) -> Result<Dependency, String> {
    let edge = Dependency::new(to.clone(), kind).map_err(|error| error.to_string())?;
    Ok(edge
        .with("created_at", opened.time().into())
        .with("created_by", opened.actor().into())
        .with("metadata", "{}".into()))
}

/// Adds edges, all of them or none.
fn write(opened: &mut Opened, edges: &[Edge], is_checked_at_end: bool) -> Result<(), Refusal> {
    let mut batch = Vec::new();
    for edge in edges {
        let from = edge.from.issue.id();
        if *from == edge.to {
            return Err(Refusal::json(format!(
                "cannot add self-dependency: {from} cannot depend on itself"
            )));
        }
        if edge.kind == EdgeType::Blocks
            && let Some(target) = opened.record(&edge.to)?
            && blocked::is_below(opened, &target, from.as_str())?
        {
            let to = &edge.to;
            return Err(Refusal::json(format!(
                "{from} cannot be blocked by its descendant {to}: blocked status cascades to descendants, so {to} would inherit the block and never close"
            )));
        }
        let dependency = self::edge(opened, &edge.to, &edge.kind).map_err(Refusal::json)?;
        let edits = vec![Edit::AddDependency(dependency)];
        batch.push(opened.change(&edge.from, edits));
    }
    opened
        .write(&batch)
        .map_err(|error| refusal(error, edges, is_checked_at_end))
}

fn refusal(error: StoreError, edges: &[Edge], is_checked_at_end: bool) -> Refusal {
    match error {
        StoreError::Cycle(circle) if is_checked_at_end => {
            let mut members: Vec<&str> = circle.iter().map(BeadId::as_str).collect();
            if members.len() > 1 && members.first() == members.last() {
                members.pop();
            }
            // A cycle has no beginning: it is printed from the first edge that was asked for.
            let start = edges.iter().find_map(|edge| {
                let from = edge.from.issue.id().as_str();
                members.iter().position(|member| *member == from)
            });
            members.rotate_left(start.unwrap_or_default());
            members.extend(members.first().copied());
            Refusal::json(format!(
                "dependency cycle would be created: {} (no edges added; run 'bd dep cycles' for analysis)",
                members.join(" → ")
            ))
        }
        StoreError::Cycle(_) => Refusal::json("adding dependency would create a cycle"),
        StoreError::Edit {
            id,
            error: EditError::OtherType { target, kind },
        } => {
            let edge = edges
                .iter()
                .find(|edge| *edge.from.issue.id() == id && edge.to == target);
            let asked = edge.map_or("", |edge| edge.kind.as_str()).to_owned();
            let error = EditError::OtherType { target, kind };
            not_added(StoreError::Edit { id, error }, &asked)
        }
        other => other.into(),
    }
}

/// Why an edge of a kind was not added.
pub(super) fn not_added(error: StoreError, asked: &str) -> Refusal {
    match error {
        StoreError::Edit {
            id,
            error: EditError::OtherType { target, kind },
        } => Refusal::json(format!(
            "dependency {id} -> {target} already exists with type {} (requested {}); remove it first with 'bd dep remove' then re-add",
            quoted(&kind),
            quoted(asked)
        )),
        other => other.into(),
    }
}

/// A bead with its title, or what has none here by its name.
fn named(opened: &Opened, id: &BeadId) -> Result<String, Refusal> {
    let record = opened.record(id)?;
    Ok(record.map_or(id.to_string(), |record| feedback_in_brackets(&record.issue)))
}
