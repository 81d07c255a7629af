//! What `delete` shows before, and tells afterwards.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::Record;
use serde::Serialize;

use super::Plan;
use crate::bd::{Call, Opened, Refusal, text};

/// What would be deleted; figures only where the deletion would be allowed.
#[derive(Serialize)]
struct PreviewAnswer<'p> {
    preview: bool,
    dry_run: bool,
    issue_ids: Vec<&'p str>,
    cascade: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    would_delete: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    would_remove_dependencies: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    would_remove_labels: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    would_remove_events: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    would_orphan: Option<usize>,
}

/// One bead was deleted.
#[derive(Serialize)]
struct DeletedOne<'d> {
    deleted: &'d str,
    dependencies_removed: usize,
    references_updated: usize,
}

/// Several beads were deleted.
#[derive(Serialize)]
struct DeletedAnswer<'d> {
    deleted: Vec<&'d str>,
    deleted_count: usize,
    dependencies_removed: usize,
    labels_removed: usize,
    events_removed: usize,
    references_updated: usize,
    /// Null where there are none.
    orphaned_issues: Option<&'d [&'d str]>,
}

fn ids(records: &[Record]) -> Vec<&str> {
    let ids = records.iter().map(|record| record.issue.id().as_str());
    ids.collect()
}

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
        let is_allowed = hanging.is_none();
        call.output.value(PreviewAnswer {
            preview: true,
            dry_run: is_dry,
            issue_ids: ids(named),
            cascade: is_cascade,
            error: hanging.as_deref(),
            would_delete: is_allowed.then_some(plan.deleted.len()),
            would_remove_dependencies: is_allowed.then_some(plan.n_edges),
            would_remove_labels: is_allowed.then_some(plan.n_labels),
            would_remove_events: is_allowed.then_some(plan.n_events),
            would_orphan: is_allowed.then_some(plan.orphaned.len()),
        })?;
        return hanging.map_or(Ok(()), |why| Err(Refusal::json_on_stderr(why)));
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
    push!(
        page,
        "\nWould delete: {} issues\nWould remove: {} dependencies, {} labels, {} events\n",
        plan.deleted.len(),
        plan.n_edges,
        plan.n_labels,
        plan.n_events
    );
    if !plan.orphaned.is_empty() {
        let n = plan.orphaned.len();
        push!(page, "Would orphan: {n} issues\n");
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
        push!(page, "  {}: {}\n", issue.id(), text::title_of(issue));
    }
    if is_cascade {
        page.push_str("\n⚠ Cascade mode enabled - will also delete all dependent issues\n");
    }
    if let Some(why) = hanging {
        push!(page, "\n{why}\n");
        return page;
    }
    would(&mut page, plan);
    if call.arguments.is_on("dry-run") {
        page.push_str("\n(Dry-run mode - no changes made)\n");
        return page;
    }
    let ids = ids(named);
    let (with, flag) = if is_cascade {
        (" with cascade deletion", " --cascade")
    } else {
        ("", "")
    };
    push!(
        page,
        "\nThis operation cannot be undone!\nTo proceed{with}, run: bd delete {}{flag} --force\n",
        ids.join(" ")
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
        push!(page, "\nDependency links to remove: {n_edges}\n");
        for edge in issue.dependencies() {
            let (target, kind) = (edge.target(), edge.kind());
            push!(page, "  {id} → {target} ({kind})\n");
        }
        for (other, _) in &dependents {
            push!(page, "  {other} → {id} (inbound)\n");
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
                push!(page, "  {}: {}\n", issue.id(), text::title_of(issue));
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
        push!(
            page,
            "\nThis operation cannot be undone!\nTo proceed, run: bd delete {id} --force\n\n"
        );
    }
    Ok(page)
}

pub(super) fn deleted(
    call: &Call<'_>,
    named: &[Record],
    plan: &Plan,
    n_updated: usize,
    is_one: bool,
) -> Result<(), Refusal> {
    let ids = ids(named);
    if is_one {
        let id = ids.first().copied().unwrap_or_default();
        if call.output.is_json() {
            return call.output.value(DeletedOne {
                deleted: id,
                dependencies_removed: plan.n_edges,
                references_updated: n_updated,
            });
        }
        return call.output.text(&format!(
            "✓ Deleted {id}\n  Removed {} dependency link(s)\n  Updated text references in {n_updated} issue(s)\n",
            plan.n_edges
        ));
    }
    let orphaned: Vec<&str> = plan.orphaned.iter().map(BeadId::as_str).collect();
    if call.output.is_json() {
        return call.output.value(DeletedAnswer {
            deleted: ids,
            deleted_count: plan.deleted.len(),
            dependencies_removed: plan.n_edges,
            labels_removed: plan.n_labels,
            events_removed: plan.n_events,
            references_updated: n_updated,
            orphaned_issues: Some(orphaned.as_slice()).filter(|ids| !ids.is_empty()),
        });
    }
    let mut page = format!(
        "✓ Deleted {} issue(s)\n  Removed {} dependency link(s)\n  Removed {} label(s)\n  Removed {} event(s)\n  Updated text references in {n_updated} issue(s)\n",
        plan.deleted.len(),
        plan.n_edges,
        plan.n_labels,
        plan.n_events
    );
    if !orphaned.is_empty() {
        push!(
            page,
            "  ⚠ Orphaned {} issue(s): {}\n",
            orphaned.len(),
            orphaned.join(", ")
        );
    }
    call.output.text(&page)
}
