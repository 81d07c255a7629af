//! `bd status`, also `bd stats`: a store at a glance.

use beads_ralph_core::issue::{Grouping, Query, StatusFilter};
use beads_ralph_core::vocabulary::Status;
use serde::Serialize;

use super::{Call, Command, Filter, Opened, Refusal, ready, switch};

pub(super) const COMMAND: Command = Command {
    name: "status",
    aliases: &["stats"],
    about: "How many beads are where",
    flags: &[
        switch("all", "All beads, as in any case"),
        switch("assigned", "Only those for whoever asks"),
        switch("no-activity", "Without recent changes, as in any case"),
        switch("no-blocked", "Without what waits for others"),
    ],
    run: Some(run),
    ..Command::NONE
};

#[derive(Serialize)]
struct Answer {
    summary: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_count_skipped: Option<bool>,
}

/// How many beads there are of each kind; null for what was not counted.
#[derive(Debug, Default, Serialize)]
struct Summary {
    total_issues: usize,
    open_issues: usize,
    in_progress_issues: usize,
    closed_issues: usize,
    blocked_issues: Option<usize>,
    deferred_issues: usize,
    ready_issues: Option<usize>,
    pinned_issues: usize,
    epics_eligible_for_closure: usize,
    average_lead_time_hours: usize,
}

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let summary = if call.arguments.is_on("assigned") {
        of_actor(&opened)?
    } else {
        of_all(&opened, call.arguments.is_on("no-blocked"))?
    };
    if call.output.is_json() {
        return call.output.value(Answer {
            blocked_count_skipped: summary.blocked_issues.is_none().then_some(true),
            summary,
        });
    }
    call.output.text(&summary.to_text())
}

fn of_all(opened: &Opened, is_without_blocked: bool) -> Result<Summary, Refusal> {
    let filter = Filter {
        hides_ephemeral: true,
        ..Filter::default()
    };
    let query = filter.query();
    let mut summary = counted(opened, &query)?;
    let not_pinned = Filter {
        hides_pinned: true,
        ..filter
    };
    let n_not_pinned = opened.store.count(&not_pinned.query())?;
    summary.pinned_issues = summary.total_issues.saturating_sub(n_not_pinned);
    if !is_without_blocked {
        let n_blocked = opened.store.count(&Query {
            status: StatusFilter::Unfinished,
            is_blocked: Some(true),
            ..query
        })?;
        summary.blocked_issues = Some(n_blocked);
        summary.ready_issues = Some(summary.open_issues.saturating_sub(n_blocked));
    }
    Ok(summary)
}

fn of_actor(opened: &Opened) -> Result<Summary, Refusal> {
    let actor = opened.actor().to_owned();
    let own = |statuses| Filter {
        assignee: Some(actor.clone()),
        statuses,
        ..Filter::default()
    };
    let mut summary = counted(opened, &own(Vec::new()).query())?;
    let blocked = own(vec![Status::Blocked.into()]);
    summary.blocked_issues = Some(opened.store.count(&blocked.query())?);
    let open = own(vec![Status::Open.into()]);
    let ready = ready::query_for_list(opened, &open);
    summary.ready_issues = Some(opened.store.count(&ready)?);
    Ok(summary)
}

fn counted(opened: &Opened, query: &Query) -> Result<Summary, Refusal> {
    let counts = opened.store.count_by(query, Grouping::Status)?;
    let count = |status: Status| counts.get(status.as_str()).copied().unwrap_or_default();
    Ok(Summary {
        total_issues: counts.values().sum(),
        open_issues: count(Status::Open),
        in_progress_issues: count(Status::InProgress),
        closed_issues: count(Status::Closed),
        deferred_issues: count(Status::Deferred),
        ..Summary::default()
    })
}

impl Summary {
    fn to_text(&self) -> String {
        let known = |n: Option<usize>| n.map_or("(skipped)".to_owned(), |n| n.to_string());
        let (blocked, ready) = (known(self.blocked_issues), known(self.ready_issues));
        let (all, open, in_progress) =
            (self.total_issues, self.open_issues, self.in_progress_issues);
        let pinned = match self.pinned_issues {
            0 => String::new(),
            n => format!("\nExtended:\n  Pinned:                 {n}\n"),
        };
        format!(
            "\n📊 Issue Database Status\n\nSummary:\n  Total Issues:           {all}\n  Open:                   {open}\n  In Progress:            {in_progress}\n  Blocked:                {blocked}\n  Closed:                 {}\n  Ready to Work:          {ready}\n{pinned}\nFor more details, use 'bd list' to see individual issues.\n\n",
            self.closed_issues
        )
    }
}
