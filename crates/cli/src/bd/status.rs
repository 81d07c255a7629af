//! `bd status`, also `bd stats`: a store at a glance.

use beads_ralph_core::issue::Record;
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
    let records = filter.find(opened)?;
    let mut summary = counted(&records);
    summary.n_pinned = records
        .iter()
        .filter(|record| record.issue.flag("pinned"))
        .count();
    if !is_without_blocked {
        let is_over = |record: &Record| matches!(record.issue.status(), "closed" | "pinned");
        let blocked = records
            .iter()
            .filter(|record| record.is_blocked && !is_over(record));
        let n_blocked = blocked.count();
        summary.n_blocked = Some(n_blocked);
        summary.n_ready = Some(summary.n_open.saturating_sub(n_blocked));
    }
    Ok(summary)
}

fn of_actor(opened: &Opened) -> Result<Summary, Refusal> {
    let actor = opened.actor().to_owned();
    let filter = Filter {
        assignee: Some(actor.clone()),
        ..Filter::default()
    };
    let records = filter.find(opened)?;
    let mut summary = counted(&records);
    let blocked = records
        .iter()
        .filter(|record| record.issue.status() == "blocked");
    summary.n_blocked = Some(blocked.count());
    let filter = Filter {
        assignee: Some(actor),
        statuses: vec!["open".to_owned()],
        ..Filter::default()
    };
    summary.n_ready = Some(ready::for_list(opened, &filter)?.len());
    Ok(summary)
}

fn counted(records: &[Record]) -> Summary {
    let count = |status: &str| {
        let with = records
            .iter()
            .filter(|record| record.issue.status() == status);
        with.count()
    };
    Summary {
        n_all: records.len(),
        n_open: count("open"),
        n_in_progress: count("in_progress"),
        n_closed: count("closed"),
        n_deferred: count("deferred"),
        ..Summary::default()
    }
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
