//! `bd mol squash` and `bd mol burn`: a digest in the place of a molecule's wisps, or a molecule deleted with its steps (F-11).
//!
//! Molecules are burned one at a time: of several, the real `bd` leaves the steps of wisps behind.

use beads_ralph_core::issue::{Edit, Entry, Record};
use beads_ralph_core::vocabulary::{EdgeType, IssueType, Status};
use beads_ralph_runtime::store::Write;
use serde::Serialize;
use serde_json::Value;

use super::family::Family;
use super::resolved;
use crate::bd::{Call, Opened, Refusal, delete, dep, document_json, ids, input, title_of};

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

pub(super) fn burn(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let [named] = arguments.words.as_slice() else {
        return Err(Refusal::not_served("burning several molecules in one call"));
    };
    let mut opened = call.open()?;
    let root = resolved(&opened, named)?;
    let is_wisp = root.issue.flag("ephemeral");
    let mut family = Family::load(&opened, root)?;
    if is_wisp {
        family.all.retain(|record| record.issue.flag("ephemeral"));
    }
    if arguments.is_on("dry-run") {
        return call.output.text(&burn_preview(&family, is_wisp));
    }
    let is_asked = !arguments.is_on("force") && !arguments.is_on("yes") && !call.output.is_json();
    if is_asked && !confirmed(call, &family, is_wisp)? {
        return call.output.text("Canceled.\n");
    }
    if is_wisp {
        delete_wisp(call, &mut opened, &family)
    } else {
        delete::batch(call, &mut opened, &family.all)
    }
}

fn delete_wisp(call: &Call<'_>, opened: &mut Opened, family: &Family) -> Result<(), Refusal> {
    // Those that depend on others come first, so that no edge must be removed separately.
    let last_first = family.all.iter().rev();
    let batch: Vec<Write> = last_first.map(|record| opened.deletion(record)).collect();
    let failed = |error| Refusal::json(format!("burning wisp: {error}"));
    opened.write(&batch).map_err(failed)?;
    let (root, n) = (family.root().issue.id(), family.all.len());
    let ids = family.all.iter().map(|record| record.issue.id().as_str());
    let answer = Burned {
        molecule_id: root.as_str(),
        deleted_ids: ids.collect(),
        deleted_count: n,
    };
    call.output.answer(answer, || {
        format!("✓ Burned wisp: {n} issues deleted\n  Ephemeral: {root}\n  No digest created.\n")
    })
}

#[derive(Serialize)]
struct Burned<'b> {
    molecule_id: &'b str,
    deleted_ids: Vec<&'b str>,
    deleted_count: usize,
}

fn burn_preview(family: &Family, is_wisp: bool) -> String {
    let (root, n) = (&family.root().issue, family.all.len());
    let (kind, what) = if is_wisp {
        ("wisp", "Wisp issues")
    } else {
        ("mol", "Issues")
    };
    let mut page = format!(
        "\nDry run: would burn {kind} {}\n\nRoot: {}\n\n{what} to delete ({n} total):\n",
        root.id(),
        title_of(root)
    );
    for (at, record) in family.all.iter().enumerate() {
        let (status, title, id) = (
            record.issue.status(),
            title_of(&record.issue),
            record.issue.id(),
        );
        let mark = if at == 0 { " [ROOT]" } else { "" };
        push!(page, "  - [{status}] {title} ({id}){mark}\n");
    }
    page.push('\n');
    if !is_wisp {
        page.push_str("Note: Persistent mol - deletions sync to remotes.\n");
    }
    page.push_str("No digest will be created (use 'bd mol squash' to create one).\n");
    page
}

fn confirmed(call: &Call<'_>, family: &Family, is_wisp: bool) -> Result<bool, Refusal> {
    let (id, n) = (family.root().issue.id(), family.all.len());
    let (kind, data, note) = if is_wisp {
        ("wisp", "wisp", "")
    } else {
        (
            "mol",
            "molecule",
            "Note: Persistent mol - deletions sync to remotes.\n",
        )
    };
    call.output.text(&format!(
        "About to burn {kind} {id} ({n} issues)\nThis will permanently delete all {data} data with no digest.\n{note}Use 'bd mol squash' instead if you want to preserve a summary.\n\nContinue? [y/N] "
    ))?;
    Ok(matches!(input::word().as_str(), "y" | "Y"))
}
