//! `bd mol squash`: a digest in the place of a molecule's wisps, as the real `bd` makes it.

use beads_ralph_core::issue::{Edit, Entry, Record};
use beads_ralph_core::vocabulary::{EdgeType, IssueType, Status};
use beads_ralph_runtime::store::Write;
use serde::Serialize;
use serde_json::Value;

use super::family::Family;
use super::resolved;
use crate::bd::{Call, Opened, Refusal, dep, document_json, ids, title_of};

/// How much of a description stands in a digest, and of a digest in its preview, in bytes.
const DESCRIPTION: usize = 200;
const PREVIEW: usize = 500;

pub(super) fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let mut opened = call.open()?;
    let root = resolved(&opened, &arguments.words[0])?;
    let family = Family::load(&opened, root)?;
    let wisps: Vec<&Record> = (family.steps().iter())
        .filter(|record| record.issue.flag("ephemeral"))
        .collect();
    let id = family.root().issue.id();
    if wisps.is_empty() {
        let answer = SquashedAnswer {
            molecule_id: id.as_str(),
            ..SquashedAnswer::default()
        };
        return call.output.answer(answer, || {
            format!("No ephemeral children found for molecule {id}\n")
        });
    }
    let is_kept = arguments.is_on("keep-children");
    if arguments.is_on("dry-run") {
        return call.output.text(&preview(family.root(), &wisps, is_kept));
    }
    let summary = arguments.filled("summary").map(str::to_owned);
    let digest = summary.unwrap_or_else(|| digest(family.root(), &wisps));
    let made = squash(&mut opened, family.root(), &wisps, &digest, is_kept)?;
    answer(call, family.root(), &wisps, &made, is_kept)
}

#[derive(Default, Serialize)]
struct SquashedAnswer<'s> {
    molecule_id: &'s str,
    digest_id: &'s str,
    squashed_ids: Option<Vec<&'s str>>,
    squashed_count: usize,
    deleted_count: usize,
    kept_children: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    wisp_squash: Option<bool>,
}

/// The document of a digest.
#[derive(Serialize)]
struct Digest<'d> {
    id: &'d str,
    title: &'d str,
    description: &'d str,
    status: Status,
    priority: i64,
    issue_type: IssueType,
    created_at: String,
    updated_at: String,
    closed_at: String,
    close_reason: String,
    dependencies: [Value; 1],
}

/// Does it in one step, and gives the digest's id.
fn squash(
    opened: &mut Opened,
    root: &Record,
    wisps: &[&Record],
    digest: &str,
    is_kept: bool,
) -> Result<String, Refusal> {
    let failed = |why: String| Refusal::json(format!("squashing molecule: {why}"));
    let title = format!("Digest: {}", root.issue.title());
    let id = ids::new_id(opened, &opened.prefix()?, &title, digest)?;
    let n = wisps.len();
    let edge = dep::edge(opened, root.issue.id(), EdgeType::ParentChild.as_str());
    let edge = edge.map_err(failed)?.to_value(&id);
    let document = Digest {
        id: id.as_str(),
        title: &title,
        description: digest,
        status: Status::Closed,
        priority: root.issue.priority(),
        issue_type: IssueType::Task,
        created_at: opened.time(),
        updated_at: opened.time(),
        closed_at: opened.time(),
        close_reason: format!("Squashed from {n} wisps"),
        dependencies: [edge],
    };
    let issue = document_json::issue(document).map_err(failed)?;
    let mut batch = vec![Write::Insert(Box::new(Entry::new(issue)))];
    let gone = wisps.iter().rev().filter(|_| !is_kept);
    batch.extend(gone.map(|record| opened.deletion(record)));
    if root.issue.flag("ephemeral") {
        let reason = format!("Squashed: {n} steps → digest {id}");
        batch.push(opened.change(
            root,
            vec![Edit::Close(reason), Edit::Unset("ephemeral".to_owned())],
        ));
    }
    opened
        .write(&batch)
        .map_err(|error| failed(error.to_string()))?;
    Ok(id.to_string())
}

fn answer(
    call: &Call<'_>,
    root: &Record,
    wisps: &[&Record],
    digest: &str,
    is_kept: bool,
) -> Result<(), Refusal> {
    let (id, n, is_wisp) = (root.issue.id(), wisps.len(), root.issue.flag("ephemeral"));
    let n_deleted = if is_kept { 0 } else { n };
    if call.output.is_json() {
        let ids = wisps.iter().map(|it| it.issue.id().as_str());
        return call.output.value(SquashedAnswer {
            molecule_id: id.as_str(),
            digest_id: digest,
            squashed_ids: Some(ids.collect()),
            squashed_count: n,
            deleted_count: n_deleted,
            kept_children: is_kept,
            wisp_squash: is_wisp.then_some(true),
        });
    }
    let mut page = format!("✓ Squashed molecule: {n} children → 1 digest\n  Digest ID: {digest}\n");
    if is_kept {
        page.push_str("  Children preserved (--keep-children)\n");
    } else {
        push!(page, "  Deleted: {n} wisps\n");
    }
    if is_wisp {
        push!(page, "  Root auto-closed: {id}\n");
    }
    call.output.text(&page)
}

fn preview(root: &Record, wisps: &[&Record], is_kept: bool) -> String {
    let (id, title, n) = (root.issue.id(), title_of(&root.issue), wisps.len());
    let mut page = format!(
        "\nDry run: would squash {n} ephemeral children of {id}\n\nRoot: {title}\n\nWisp children to squash:\n"
    );
    for record in wisps {
        let (status, title, id) = (
            record.issue.status(),
            title_of(&record.issue),
            record.issue.id(),
        );
        push!(page, "  - [{status}] {title} ({id})\n");
    }
    let digest = digest(root, wisps);
    push!(page, "\nDigest preview:\n{}\n", cut(&digest, PREVIEW));
    page.push_str(if is_kept {
        "\n--keep-children: children would NOT be deleted\n"
    } else {
        "\nChildren would be deleted after digest creation.\n"
    });
    page
}

/// What was done, where nobody says it.
fn digest(root: &Record, wisps: &[&Record]) -> String {
    let with = |status: Status| {
        wisps
            .iter()
            .filter(|it| it.issue.status() == status)
            .count()
    };
    let (n, n_done, n_current) = (wisps.len(), with(Status::Closed), with(Status::InProgress));
    let mut text = format!(
        "## Molecule Execution Summary\n\n**Molecule**: {}\n**Steps**: {n}\n\n**Completed**: {n_done}/{n}\n",
        root.issue.title()
    );
    if n_current > 0 {
        push!(text, "**In Progress**: {n_current}\n");
    }
    text.push_str("\n---\n\n### Steps\n\n");
    for (at, record) in wisps.iter().enumerate() {
        let issue = &record.issue;
        push!(
            text,
            "{}. **[{}]** {}\n",
            at + 1,
            issue.status(),
            issue.title()
        );
        if let Some(description) = issue.text("description").filter(|text| !text.is_empty()) {
            push!(text, "   {}\n", cut(description, DESCRIPTION));
        }
        if let Some(reason) = issue.text("close_reason").filter(|text| !text.is_empty()) {
            push!(text, "   *Outcome: {reason}*\n");
        }
        text.push('\n');
    }
    text
}

/// The beginning of a text, with dots where something is left out. Characters stay whole.
fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at));
    format!("{}...", &text[..end.unwrap_or_default()])
}
