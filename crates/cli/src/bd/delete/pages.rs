//! What `delete` shows before, and tells afterwards.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::Record;
use serde_json::{Value, json};

use super::super::call::{Call, Opened};
use super::super::failure::Refusal;
use super::super::text;
use super::Plan;

/// Shows what would be deleted.
pub(super) fn preview(
    call: &Call<'_>,
    opened: &Opened,
    named: &[Record],
    plan: &Plan,
    is_one: bool,
) -> Result<(), Refusal> {
    let is_dry = call.arguments.is_on("dry-run");
    let is_cascade = call.arguments.is_on("cascade");
    let hanging = if call.arguments.is_on("force") || is_cascade {
        None
    } else {
        plan.hanging(opened)?
    };
    if call.output.is_json() {
        let ids: Vec<&str> = named
            .iter()
            .map(|record| record.issue.id().as_str())
            .collect();
        let mut object = json!({
            "preview": true, "dry_run": is_dry, "issue_ids": ids, "cascade": is_cascade,
        });
        if let Some(why) = &hanging {
            object["error"] = why.as_str().into();
        } else {
            object["would_delete"] = plan.deleted.len().into();
            object["would_remove_dependencies"] = plan.n_edges.into();
            object["would_remove_labels"] = plan.n_labels.into();
            object["would_remove_events"] = plan.n_events.into();
            object["would_orphan"] = plan.orphaned.len().into();
        }
        call.output.value(object)?;
        return hanging.map_or(Ok(()), |why| Err(Refusal::json_aside(why)));
    }
    let page = match (&hanging, is_one) {
        (None, true) => one_page(opened, &named[0], plan, is_dry)?,
        _ => page(named, plan, hanging.as_deref(), call),
    };
    call.output.say(&page)?;
    match hanging {
        Some(why) if is_one => Err(Refusal::plain(format!("previewing deletion: {why}"))),
        Some(why) => Err(Refusal::plain(why)),
        None => Ok(()),
    }
}

fn would(page: &mut String, plan: &Plan) {
    text::push(
        page,
        format_args!(
            "\nWould delete: {} issues\nWould remove: {} dependencies, {} labels, {} events\n",
            plan.deleted.len(),
            plan.n_edges,
            plan.n_labels,
            plan.n_events
        ),
    );
    if !plan.orphaned.is_empty() {
        let n = plan.orphaned.len();
        text::push(page, format_args!("Would orphan: {n} issues\n"));
    }
}

fn page(named: &[Record], plan: &Plan, hanging: Option<&str>, call: &Call<'_>) -> String {
    let is_cascade = call.arguments.is_on("cascade");
    let mut page = format!(
        "\n⚠️  DELETE PREVIEW\n\nIssues to delete ({}):\n",
        named.len()
    );
    for record in named {
        let issue = &record.issue;
        text::push(
            &mut page,
            format_args!("  {}: {}\n", issue.id(), text::title_of(issue)),
        );
    }
    if is_cascade {
        page.push_str("\n⚠ Cascade mode enabled - will also delete all dependent issues\n");
    }
    if let Some(why) = hanging {
        text::push(&mut page, format_args!("\n{why}\n"));
        return page;
    }
    would(&mut page, plan);
    if call.arguments.is_on("dry-run") {
        page.push_str("\n(Dry-run mode - no changes made)\n");
        return page;
    }
    let ids: Vec<&str> = named
        .iter()
        .map(|record| record.issue.id().as_str())
        .collect();
    let (with, flag) = if is_cascade {
        (" with cascade deletion", " --cascade")
    } else {
        ("", "")
    };
    text::push(
        &mut page,
        format_args!(
            "\nThis operation cannot be undone!\nTo proceed{with}, run: bd delete {}{flag} --force\n",
            ids.join(" ")
        ),
    );
    page
}

fn one_page(
    opened: &Opened,
    record: &Record,
    plan: &Plan,
    is_dry: bool,
) -> Result<String, Refusal> {
    let issue = &record.issue;
    let id = issue.id();
    let mut page = format!(
        "\n⚠️  DELETE PREVIEW\n\nIssue to delete:\n  {id}: {}\n",
        text::title_of(issue)
    );
    let dependents = opened.store.dependents(id)?;
    let n_edges = issue.dependencies().len() + dependents.len();
    if n_edges > 0 {
        text::push(
            &mut page,
            format_args!("\nDependency links to remove: {n_edges}\n"),
        );
        for edge in issue.dependencies() {
            let (target, kind) = (edge.target(), edge.kind());
            text::push(&mut page, format_args!("  {id} → {target} ({kind})\n"));
        }
        for (other, _) in &dependents {
            text::push(&mut page, format_args!("  {other} → {id} (inbound)\n"));
        }
    }
    if !plan.connected.is_empty() {
        page.push_str("\nConnected issues where text references will be updated:\n");
        let mut n_named = 0;
        for other in &plan.connected {
            let Some(other) = opened.record(other)? else {
                continue;
            };
            if !plan.rewritten(&other).is_empty() {
                n_named += 1;
                let issue = &other.issue;
                text::push(
                    &mut page,
                    format_args!("  {}: {}\n", issue.id(), text::title_of(issue)),
                );
            }
        }
        if n_named == 0 {
            page.push_str("  (none have text references)\n");
        }
    }
    if is_dry {
        would(&mut page, plan);
        page.push_str("\n(Dry-run mode - no changes made)\n");
    } else {
        text::push(
            &mut page,
            format_args!(
                "\nThis operation cannot be undone!\nTo proceed, run: bd delete {id} --force\n\n"
            ),
        );
    }
    Ok(page)
}

/// Tells what was deleted.
pub(super) fn told(
    call: &Call<'_>,
    named: &[Record],
    plan: &Plan,
    n_updated: usize,
    is_one: bool,
) -> Result<(), Refusal> {
    let ids: Vec<&str> = named
        .iter()
        .map(|record| record.issue.id().as_str())
        .collect();
    if is_one {
        let id = ids.first().copied().unwrap_or_default();
        if call.output.is_json() {
            return call.output.value(json!({
                "deleted": id,
                "dependencies_removed": plan.n_edges,
                "references_updated": n_updated,
            }));
        }
        return call.output.text(&format!(
            "✓ Deleted {id}\n  Removed {} dependency link(s)\n  Updated text references in {n_updated} issue(s)\n",
            plan.n_edges
        ));
    }
    let orphaned: Vec<&str> = plan.orphaned.iter().map(BeadId::as_str).collect();
    if call.output.is_json() {
        let orphans = if orphaned.is_empty() {
            Value::Null
        } else {
            json!(orphaned)
        };
        return call.output.value(json!({
            "deleted": ids,
            "deleted_count": plan.deleted.len(),
            "dependencies_removed": plan.n_edges,
            "labels_removed": plan.n_labels,
            "events_removed": plan.n_events,
            "references_updated": n_updated,
            "orphaned_issues": orphans,
        }));
    }
    let mut page = format!(
        "✓ Deleted {} issue(s)\n  Removed {} dependency link(s)\n  Removed {} label(s)\n  Removed {} event(s)\n  Updated text references in {n_updated} issue(s)\n",
        plan.deleted.len(),
        plan.n_edges,
        plan.n_labels,
        plan.n_events
    );
    if !orphaned.is_empty() {
        text::push(
            &mut page,
            format_args!(
                "  ⚠ Orphaned {} issue(s): {}\n",
                orphaned.len(),
                orphaned.join(", ")
            ),
        );
    }
    call.output.text(&page)
}
