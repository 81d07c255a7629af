//! `bd epic`: how far epics are, and closing those that are done.

use beads_ralph_core::issue::{Edit, Query, Record, StatusFilter};
use beads_ralph_core::vocabulary::{IssueType, Status};
use serde::Serialize;

use super::issue_json::IssueJson;
use super::{Access, Call, Command, Opened, Refusal, issue_json, quoted, string, switch, title_of};

/// Why an epic is closed when nobody says.
const REASON: &str = "All children completed";

pub(super) const COMMAND: Command = Command {
    name: "epic",
    about: "Epics and how far they are",
    children: &[
        &Command {
            name: "close-eligible",
            about: "Close epics whose children are all closed",
            flags: &[
                switch("dry-run", "Show what would be closed"),
                string("reason", "Why").short('r'),
            ],
            access: Access::Writes,
            run: Some(close_eligible),
            ..Command::NONE
        },
        &Command {
            name: "status",
            about: "How many children of each open epic are closed",
            flags: &[switch(
                "eligible-only",
                "Only epics whose children are all closed",
            )],
            run: Some(status),
            ..Command::NONE
        },
    ],
    ..Command::NONE
};

struct Epic {
    record: Record,
    n_children: usize,
    n_closed: usize,
}

impl Epic {
    fn is_eligible(&self) -> bool {
        self.n_children == self.n_closed
    }

    fn answer(&self) -> EpicAnswer {
        EpicAnswer {
            epic: issue_json::issue(&self.record),
            total_children: self.n_children,
            closed_children: self.n_closed,
            eligible_for_close: self.is_eligible(),
        }
    }
}

#[derive(Serialize)]
struct EpicAnswer {
    epic: IssueJson,
    total_children: usize,
    closed_children: usize,
    eligible_for_close: bool,
}

#[derive(Serialize)]
struct ClosedAnswer<'c> {
    closed: &'c [&'c str],
    count: usize,
    reason: &'c str,
}

fn answers(epics: &[Epic]) -> Vec<EpicAnswer> {
    epics.iter().map(Epic::answer).collect()
}

/// The open epics that have children, in order of their ids.
fn epics(opened: &Opened) -> Result<Vec<Epic>, Refusal> {
    let query = Query {
        status: StatusFilter::Any,
        types: vec![IssueType::Epic.into()],
        includes_hidden: true,
        ..Query::default()
    };
    let mut records = opened.store.find(&query)?;
    records.retain(|record| {
        record.issue.status() != Status::Closed && !record.issue.flag("ephemeral")
    });
    records.sort_by(|a, b| a.issue.id().cmp(b.issue.id()));
    let mut epics = Vec::new();
    for record in records {
        let children = opened.children(record.issue.id())?;
        if children.is_empty() {
            continue;
        }
        let statuses = opened.store.statuses(&children)?;
        let closed =
            (statuses.iter()).filter(|status| status.as_deref() == Some(Status::Closed.as_str()));
        epics.push(Epic {
            n_children: children.len(),
            n_closed: closed.count(),
            record,
        });
    }
    Ok(epics)
}

fn status(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let mut epics = epics(&opened)?;
    if call.arguments.is_on("eligible-only") {
        epics.retain(Epic::is_eligible);
    }
    if call.output.is_json() {
        return call.output.value(answers(&epics));
    }
    if epics.is_empty() {
        return call.output.text("No open epics found\n");
    }
    let mut page = String::new();
    for epic in &epics {
        let (issue, done, all) = (&epic.record.issue, epic.n_closed, epic.n_children);
        let mark = if epic.is_eligible() { "✓" } else { "○" };
        let percent = done * 100 / all;
        push!(
            page,
            "{mark} {} {}\n   Progress: {done}/{all} children closed ({percent}%)\n",
            issue.id(),
            title_of(issue)
        );
        if epic.is_eligible() {
            page.push_str("   Eligible for closure\n");
        }
        page.push('\n');
    }
    call.output.text(&page)
}

fn close_eligible(call: &mut Call<'_>) -> Result<(), Refusal> {
    let mut opened = call.open()?;
    let reason = call.arguments.text("reason");
    let reason = reason.filter(|reason| !reason.trim().is_empty());
    let reason = reason.unwrap_or(REASON);
    let mut epics = epics(&opened)?;
    epics.retain(Epic::is_eligible);
    if epics.is_empty() && !call.output.is_json() {
        return call.output.text("No epics eligible for closure\n");
    }
    if call.arguments.is_on("dry-run") && !epics.is_empty() {
        return preview(call, &epics, reason);
    }
    let mut closed = Vec::new();
    for epic in &epics {
        let id = epic.record.issue.id();
        match opened.update(&epic.record, vec![Edit::Close(reason.to_owned())]) {
            Ok(()) => closed.push(id.as_str()),
            Err(error) => call
                .output
                .stderr(&format!("Error closing {id}: {error}\n")),
        }
    }
    if call.output.is_json() {
        return call.output.value(ClosedAnswer {
            closed: &closed,
            count: closed.len(),
            reason,
        });
    }
    let mut page = String::new();
    for id in &closed {
        push!(page, "  - {id}\n");
    }
    let (n, reason) = (closed.len(), quoted(reason));
    push!(page, "✓ Closed {n} epic(s) with reason {reason}\n");
    call.output.text(&page)
}

fn preview(call: &Call<'_>, epics: &[Epic], reason: &str) -> Result<(), Refusal> {
    if call.output.is_json() {
        return call.output.value(answers(epics));
    }
    let (n, reason) = (epics.len(), quoted(reason));
    let mut page = format!("Would close {n} epic(s) with reason {reason}:\n");
    for epic in epics {
        let issue = &epic.record.issue;
        push!(page, "  - {}: {}\n", issue.id(), title_of(issue));
    }
    call.output.text(&page)
}
