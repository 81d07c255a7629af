//! A bead on a page for people.

use std::collections::BTreeMap;

use beads_ralph_core::issue::{Issue, Record};
use beads_ralph_core::vocabulary::{EdgeType, IssueType, Status};
use jiff::Timestamp;
use jiff::tz::Offset;
use serde_json::Value;

use super::{depends_on, with_records};
use crate::bd::{Opened, Refusal, claims, go_json, icon, issue_json, line, text, title_of};

/// The width that texts are wrapped to.
const WIDTH: usize = 80;

/// The types of edges with a heading, in order: what stands over the targets, over the sources, and the marks of both.
const SECTIONS: [(EdgeType, &str, &str, &str, &str); 18] = [
    (EdgeType::ParentChild, "PARENT", "CHILDREN", "↑", "↳"),
    (EdgeType::Blocks, "DEPENDS ON", "BLOCKS", "→", "←"),
    (
        EdgeType::ConditionalBlocks,
        "CONDITIONALLY DEPENDS ON",
        "CONDITIONALLY BLOCKS",
        "→",
        "←",
    ),
    (EdgeType::WaitsFor, "WAITS FOR", "AWAITED BY", "→", "←"),
    (
        EdgeType::DiscoveredFrom,
        "DISCOVERED FROM",
        "DISCOVERED",
        "◊",
        "◊",
    ),
    (EdgeType::RepliesTo, "IN REPLY TO", "REPLIES", "→", "←"),
    (
        EdgeType::Duplicates,
        "DUPLICATE OF",
        "DUPLICATED BY",
        "→",
        "←",
    ),
    (
        EdgeType::Supersedes,
        "SUPERSEDED BY",
        "SUPERSEDES",
        "→",
        "←",
    ),
    (EdgeType::AuthoredBy, "AUTHORED BY", "AUTHORED", "→", "←"),
    (EdgeType::AssignedTo, "ASSIGNED TO", "ASSIGNED", "→", "←"),
    (EdgeType::ApprovedBy, "APPROVED BY", "APPROVED", "→", "←"),
    (EdgeType::Attests, "ATTESTS", "ATTESTED BY", "→", "←"),
    (EdgeType::Tracks, "TRACKS", "TRACKED BY", "→", "←"),
    (EdgeType::Until, "ACTIVE UNTIL", "KEEPS ACTIVE", "→", "←"),
    (EdgeType::CausedBy, "CAUSED BY", "CAUSED", "→", "←"),
    (EdgeType::Validates, "VALIDATES", "VALIDATED BY", "→", "←"),
    (
        EdgeType::DelegatedFrom,
        "DELEGATED FROM",
        "DELEGATED TO",
        "→",
        "←",
    ),
    (EdgeType::Related, "RELATED", "RELATED", "↔", "↔"),
];

pub(super) fn of(
    opened: &Opened,
    record: &Record,
    is_after_another: bool,
) -> Result<String, Refusal> {
    let issue = &record.issue;
    let mut page = String::new();
    if is_after_another {
        push!(page, "\n{}\n\n", "─".repeat(60));
    }
    page.push_str(&header(issue));
    page.push('\n');
    page.push_str(&facts(opened, record));
    page.push('\n');
    match issue.text("description").filter(|text| !text.is_empty()) {
        Some(description) => section(&mut page, "DESCRIPTION", description),
        None => page.push_str("\nDESCRIPTION\n  (none)\n"),
    }
    for (heading, key) in [
        ("DESIGN", "design"),
        ("NOTES", "notes"),
        ("ACCEPTANCE CRITERIA", "acceptance_criteria"),
    ] {
        if let Some(body) = issue.text(key).filter(|body| !body.is_empty()) {
            section(&mut page, heading, body);
        }
    }
    let labels = issue_json::sorted_labels(issue);
    if !labels.is_empty() {
        push!(page, "\nLABELS: {}\n", labels.join(", "));
    }
    metadata(&mut page, issue);
    edges(&mut page, opened, record)?;
    comments(&mut page, opened, record)?;
    page.push('\n');
    Ok(page)
}

fn header(issue: &Issue) -> String {
    let badge = match IssueType::known(issue.issue_type()) {
        Some(IssueType::Epic) => " [EPIC]",
        Some(IssueType::Bug) => " [BUG]",
        _ => "",
    };
    let (icon, status) = (icon(issue.status()), issue.status().to_uppercase());
    let (id, title, priority) = (issue.id(), title_of(issue), issue.priority());
    format!("{icon} {id}{badge} · {title}   [P{priority} · {status}]")
}

fn facts(opened: &Opened, record: &Record) -> String {
    let issue = &record.issue;
    let filled = |key: &str| {
        let text = issue.text(key).filter(|text| !text.is_empty());
        text.map(line)
    };
    let mut who = Vec::new();
    who.extend(filled("created_by").map(|by| format!("Created by: {by}")));
    who.extend(filled("assignee").map(|by| format!("Assignee: {by}")));
    who.extend(claims::holder_of_role(record).map(|by| format!("Held by: {by}")));
    who.push(format!("Type: {}", issue.issue_type()));
    let created = issue.time("created_at").unwrap_or_default();
    let mut when = vec![format!("Created: {}", day(created))];
    when.extend((issue.time("started_at")).map(|at| format!("Started: {}", day(at))));
    let updated = issue.time("updated_at").unwrap_or(created);
    when.push(format!("Updated: {}", day(updated)));
    when.extend((issue.time("due_at")).map(|at| format!("Due: {}", day(at))));
    when.extend((issue.time("defer_until")).map(|at| format!("Deferred: {}", day(at))));
    let mut lines = vec![who.join(" · "), when.join(" · ")];
    lines.extend(lease(opened, record));
    let mut below = String::new();
    if issue.status() == Status::Closed
        && let Some(reason) = issue
            .text("close_reason")
            .map(str::trim)
            .filter(|r| !r.is_empty())
    {
        let line = format!("Close reason: {reason}");
        if !line.contains(['\n', '\r']) && line.chars().count() <= WIDTH {
            lines.push(line);
        } else {
            let reason = text::rendered(reason);
            below = format!("\n\nCLOSE REASON\n{}", reason.trim_end_matches('\n'));
        }
    }
    lines.extend(filled("external_ref").map(|name| format!("External: {name}")));
    lines.extend(filled("spec_id").map(|name| format!("Spec: {name}")));
    lines.join("\n") + &below
}

fn lease(opened: &Opened, record: &Record) -> Option<String> {
    let lease = issue_json::lease(record)?;
    let mut shown = format!("Lease: expires {}", until(lease.end, opened.by.now));
    if let Some(beat) = lease.beat {
        push!(shown, " (heartbeat {})", ago(beat, opened.by.now));
    }
    // Only a replica with a name leaves the leases of others alone.
    if let (Some(here), Some(granted)) = (claims::node(), lease.node)
        && here != granted
    {
        push!(shown, " — granted by replica {}", line(granted));
    }
    Some(shown)
}

fn until(at: Timestamp, now: Timestamp) -> String {
    let seconds = at.as_second() - now.as_second();
    match seconds {
        ..=0 => "expired".to_owned(),
        1..60 => "in <1 min".to_owned(),
        _ => format!("in {}", amount(seconds)),
    }
}

fn ago(at: Timestamp, now: Timestamp) -> String {
    match now.as_second() - at.as_second() {
        ..60 => "just now".to_owned(),
        seconds if seconds < 7 * 86_400 => format!("{} ago", amount(seconds)),
        _ => day(at),
    }
}

fn amount(seconds: i64) -> String {
    let (n, unit) = match seconds {
        ..3600 => (seconds / 60, "min"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{n} {unit}{}", if n == 1 { "" } else { "s" })
}

fn day(at: Timestamp) -> String {
    Offset::UTC.to_datetime(at).strftime("%Y-%m-%d").to_string()
}

fn section(page: &mut String, heading: &str, body: &str) {
    let body = text::rendered(body);
    push!(page, "\n{heading}\n{body}\n");
}

fn metadata(page: &mut String, issue: &Issue) {
    let Some(metadata) = issue.metadata().filter(|metadata| !metadata.is_empty()) else {
        return;
    };
    let sorted: BTreeMap<&String, &Value> = metadata.iter().collect();
    page.push_str("\nMETADATA\n");
    for (key, value) in sorted {
        let shown = match value {
            Value::String(text) => text.clone(),
            other => go_json::encode_line(&go_json::sorted(other.clone())),
        };
        push!(page, "  {key}: {shown}\n");
    }
}

fn edges(page: &mut String, opened: &Opened, record: &Record) -> Result<(), Refusal> {
    let mut related: BTreeMap<String, Record> = BTreeMap::new();
    let issue = &record.issue;
    for is_outgoing in [true, false] {
        let found = if is_outgoing {
            depends_on(opened, record)?
        } else {
            with_records(opened, opened.store.dependents(issue.id())?)?
        };
        let (links, rest): (Vec<_>, Vec<_>) = found
            .into_iter()
            .partition(|(_, kind)| *kind == EdgeType::Related || *kind == EdgeType::RelatesTo);
        for (other, _) in links {
            related.insert(other.issue.id().to_string(), other);
        }
        let mut by_kind: BTreeMap<usize, (String, Vec<Record>)> = BTreeMap::new();
        let mut own: BTreeMap<String, Vec<Record>> = BTreeMap::new();
        for (other, kind) in rest {
            match SECTIONS.iter().position(|(known, ..)| kind == *known) {
                Some(index) => by_kind
                    .entry(index)
                    .or_insert((kind, Vec::new()))
                    .1
                    .push(other),
                None => own.entry(kind).or_default().push(other),
            }
        }
        for (index, (kind, others)) in by_kind {
            let (_, out, into, out_mark, into_mark) = SECTIONS[index];
            let (heading, mark) = if is_outgoing {
                (out, out_mark)
            } else {
                (into, into_mark)
            };
            links_section(page, heading, mark, &others);
            if !is_outgoing
                && kind == EdgeType::ParentChild
                && issue.issue_type() == IssueType::Epic
            {
                progress(page, &others);
            }
        }
        for (kind, others) in own {
            let heading = kind.to_uppercase().replace(['-', '_'], " ");
            let mark = if is_outgoing { "→" } else { "←" };
            links_section(page, &heading, mark, &others);
        }
    }
    if !related.is_empty() {
        let related: Vec<Record> = related.into_values().collect();
        links_section(page, "RELATED", "↔", &related);
    }
    Ok(())
}

fn links_section(page: &mut String, heading: &str, mark: &str, others: &[Record]) {
    push!(page, "\n{heading}\n");
    for other in others {
        let issue = &other.issue;
        let badge = match IssueType::known(issue.issue_type()) {
            _ if issue.status() == Status::Closed => "",
            Some(IssueType::Epic) => "(EPIC) ",
            Some(IssueType::Bug) => "(BUG) ",
            _ => "",
        };
        let (icon, id) = (icon(issue.status()), issue.id());
        let (title, priority) = (title_of(issue), issue.priority());
        push!(page, "  {mark} {icon} {id}: {badge}{title} P{priority}\n");
    }
}

fn progress(page: &mut String, children: &[Record]) {
    let closed = children
        .iter()
        .filter(|child| child.issue.status() == Status::Closed);
    let (closed, all) = (closed.count(), children.len());
    let percent = closed * 100 / all.max(1);
    let line = if closed == all {
        format!("  ✓ {closed}/{all} complete ({percent}%) — eligible for close\n")
    } else {
        format!("  ◐ {closed}/{all} complete ({percent}%)\n")
    };
    page.push_str(&line);
}

fn comments(page: &mut String, opened: &Opened, record: &Record) -> Result<(), Refusal> {
    let comments = opened.store.comments(record.issue.id())?;
    if comments.is_empty() {
        return Ok(());
    }
    page.push_str("\nCOMMENTS\n");
    for comment in comments {
        let at = comment
            .created_at()
            .and_then(|at| at.parse::<Timestamp>().ok());
        let at = Offset::UTC.to_datetime(at.unwrap_or_default());
        let author = comment.author().unwrap_or_default();
        push!(page, "  {} {author}\n", at.strftime("%Y-%m-%d %H:%M"));
        let body = text::rendered(comment.text().unwrap_or_default());
        for line in body.trim_end_matches('\n').split('\n') {
            push!(page, "    {line}\n");
        }
    }
    Ok(())
}
