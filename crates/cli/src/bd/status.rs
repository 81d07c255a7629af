//! `bd status`, also `bd stats`: a store at a glance.

use beads_ralph_core::issue::{Grouping, Query, StatusFilter};
use serde_json::{Value, json};

use super::call::{Call, Opened};
use super::failure::Refusal;
use super::filter::Filter;
use super::ready;
use super::tree::{Command, switch};

/// The command.
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

/// What is counted; what was not asked for is not known.
#[derive(Debug, Default)]
#[expect(clippy::struct_field_names, reason = "each is a number of beads")]
struct Summary {
    n_all: usize,
    n_open: usize,
    n_in_progress: usize,
    n_closed: usize,
    n_blocked: Option<usize>,
    n_deferred: usize,
    n_ready: Option<usize>,
    n_pinned: usize,
}

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let summary = if call.arguments.is_on("assigned") {
        of_actor(&opened)?
    } else {
        of_all(&opened, call.arguments.is_on("no-blocked"))?
    };
    if call.output.is_json() {
        let mut answer = json!({"summary": summary.to_value()});
        if summary.n_blocked.is_none() {
            answer["blocked_count_skipped"] = true.into();
        }
        return call.output.value(answer);
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
    summary.n_pinned = summary.n_all.saturating_sub(n_not_pinned);
    if !is_without_blocked {
        let n_blocked = opened.store.count(&Query {
            status: StatusFilter::Unfinished,
            is_blocked: Some(true),
            ..query
        })?;
        summary.n_blocked = Some(n_blocked);
        summary.n_ready = Some(summary.n_open.saturating_sub(n_blocked));
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
    let blocked = own(vec!["blocked".to_owned()]);
    summary.n_blocked = Some(opened.store.count(&blocked.query())?);
    let open = own(vec!["open".to_owned()]);
    let ready = ready::query_for_list(opened, &open);
    summary.n_ready = Some(opened.store.count(&ready)?);
    Ok(summary)
}

fn counted(opened: &Opened, query: &Query) -> Result<Summary, Refusal> {
    let counts = opened.store.count_by(query, Grouping::Status)?;
    let count = |status: &str| counts.get(status).copied().unwrap_or_default();
    Ok(Summary {
        n_all: counts.values().sum(),
        n_open: count("open"),
        n_in_progress: count("in_progress"),
        n_closed: count("closed"),
        n_deferred: count("deferred"),
        ..Summary::default()
    })
}

impl Summary {
    fn to_value(&self) -> Value {
        json!({
            "total_issues": self.n_all,
            "open_issues": self.n_open,
            "in_progress_issues": self.n_in_progress,
            "closed_issues": self.n_closed,
            "blocked_issues": self.n_blocked,
            "deferred_issues": self.n_deferred,
            "ready_issues": self.n_ready,
            "pinned_issues": self.n_pinned,
            "epics_eligible_for_closure": 0,
            "average_lead_time_hours": 0,
        })
    }

    fn to_text(&self) -> String {
        let known = |n: Option<usize>| n.map_or("(skipped)".to_owned(), |n| n.to_string());
        let (blocked, ready) = (known(self.n_blocked), known(self.n_ready));
        let (all, open, in_progress) = (self.n_all, self.n_open, self.n_in_progress);
        let pinned = match self.n_pinned {
            0 => String::new(),
            n => format!("\nExtended:\n  Pinned:                 {n}\n"),
        };
        format!(
            "\n📊 Issue Database Status\n\nSummary:\n  Total Issues:           {all}\n  Open:                   {open}\n  In Progress:            {in_progress}\n  Blocked:                {blocked}\n  Closed:                 {}\n  Ready to Work:          {ready}\n{pinned}\nFor more details, use 'bd list' to see individual issues.\n\n",
            self.n_closed
        )
    }
}
