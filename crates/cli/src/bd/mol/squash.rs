//! `bd mol squash`: a digest in the place of a molecule's wisps, as the real `bd` makes it.

use beads_ralph_core::issue::{Dependency, Edit, Entry, Record};
use beads_ralph_core::vocabulary::EdgeType;
use beads_ralph_runtime::store::Write;
use serde_json::{Value, json};

use super::super::call::{Call, Opened};
use super::super::failure::Refusal;
use super::super::text::{push, title_of};
use super::super::{holding, ids};
use super::family::Family;
use super::resolved;

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
        return if call.output.is_json() {
            call.output.value(json!({
                "molecule_id": id.as_str(), "digest_id": "", "squashed_ids": null,
                "squashed_count": 0, "deleted_count": 0, "kept_children": false,
            }))
        } else {
            let said = format!("No ephemeral children found for molecule {id}\n");
            call.output.text(&said)
        };
    }
    let is_kept = arguments.is_on("keep-children");
    if arguments.is_on("dry-run") {
        return call.output.text(&preview(family.root(), &wisps, is_kept));
    }
    let summary = arguments.filled("summary").map(str::to_owned);
    let digest = summary.unwrap_or_else(|| digest(family.root(), &wisps));
    let made = squash(&mut opened, family.root(), &wisps, &digest, is_kept)?;
    told(call, family.root(), &wisps, &made, is_kept)
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
    let edge = Dependency::new(root.issue.id().clone(), EdgeType::ParentChild)
        .map_err(|error| failed(error.to_string()))?
        .with("created_at", opened.time().into())
        .with("created_by", opened.actor().into());
    let now = Value::from(opened.time());
    let document = json!({
        "id": id.as_str(), "title": title, "description": digest, "status": "closed",
        "priority": root.issue.priority(), "issue_type": "task",
        "created_at": now, "updated_at": now, "closed_at": now,
        "close_reason": format!("Squashed from {n} wisps"),
        "dependencies": [edge.to_value(&id)],
    });
    let entry = Entry::from_document(document).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        failed(errors.join("; "))
    })?;
    let mut batch = vec![Write::Insert(Box::new(entry))];
    let gone = wisps.iter().rev().filter(|_| !is_kept);
    batch.extend(gone.map(|record| Write::Delete {
        id: record.issue.id().clone(),
        guard: holding::guard(opened, record),
    }));
    if root.issue.flag("ephemeral") {
        let reason = format!("Squashed: {n} steps → digest {id}");
        batch.push(Write::Update {
            id: root.issue.id().clone(),
            edits: vec![Edit::Close(reason), Edit::Unset("ephemeral".to_owned())],
            guard: holding::guard(opened, root),
        });
    }
    opened
        .write(&batch)
        .map_err(|error| failed(error.to_string()))?;
    Ok(id.to_string())
}

fn told(
    call: &Call<'_>,
    root: &Record,
    wisps: &[&Record],
    digest: &str,
    is_kept: bool,
) -> Result<(), Refusal> {
    let (id, n, is_wisp) = (root.issue.id(), wisps.len(), root.issue.flag("ephemeral"));
    let n_deleted = if is_kept { 0 } else { n };
    if call.output.is_json() {
        let ids: Vec<&str> = wisps.iter().map(|it| it.issue.id().as_str()).collect();
        let mut object = json!({
            "molecule_id": id.as_str(), "digest_id": digest, "squashed_ids": ids,
            "squashed_count": n, "deleted_count": n_deleted, "kept_children": is_kept,
        });
        if is_wisp {
            object["wisp_squash"] = true.into();
        }
        return call.output.value(object);
    }
    let mut page = format!("✓ Squashed molecule: {n} children → 1 digest\n  Digest ID: {digest}\n");
    if is_kept {
        page.push_str("  Children preserved (--keep-children)\n");
    } else {
        push(&mut page, format_args!("  Deleted: {n} wisps\n"));
    }
    if is_wisp {
        push(&mut page, format_args!("  Root auto-closed: {id}\n"));
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
        push(&mut page, format_args!("  - [{status}] {title} ({id})\n"));
    }
    let digest = digest(root, wisps);
    push(
        &mut page,
        format_args!("\nDigest preview:\n{}\n", cut(&digest, PREVIEW)),
    );
    page.push_str(if is_kept {
        "\n--keep-children: children would NOT be deleted\n"
    } else {
        "\nChildren would be deleted after digest creation.\n"
    });
    page
}

/// What was done, where nobody says it.
fn digest(root: &Record, wisps: &[&Record]) -> String {
    let with = |status: &str| {
        wisps
            .iter()
            .filter(|it| it.issue.status() == status)
            .count()
    };
    let (n, n_done, n_current) = (wisps.len(), with("closed"), with("in_progress"));
    let mut text = format!(
        "## Molecule Execution Summary\n\n**Molecule**: {}\n**Steps**: {n}\n\n**Completed**: {n_done}/{n}\n",
        root.issue.title()
    );
    if n_current > 0 {
        push(&mut text, format_args!("**In Progress**: {n_current}\n"));
    }
    text.push_str("\n---\n\n### Steps\n\n");
    for (at, record) in wisps.iter().enumerate() {
        let issue = &record.issue;
        push(
            &mut text,
            format_args!("{}. **[{}]** {}\n", at + 1, issue.status(), issue.title()),
        );
        if let Some(description) = issue.text("description").filter(|text| !text.is_empty()) {
            push(
                &mut text,
                format_args!("   {}\n", cut(description, DESCRIPTION)),
            );
        }
        if let Some(reason) = issue.text("close_reason").filter(|text| !text.is_empty()) {
            push(&mut text, format_args!("   *Outcome: {reason}*\n"));
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
