//! `list`: beads by status, label, type and more.
//!
//! Data: `{"beads": […], "more": bool}`; with `--blocked` each bead also has `blockers`.

use beads_ralph_core::issue::{Blocker, Query, Record, StatusFilter};
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::{FilterArgs, Global, ListArgs};
use crate::bead_view::{self, JsonBead, blocked_rows, blockers_to_json, rows};
use crate::beads::Beads;
use crate::failure::Failure;
use crate::table::Page;
use crate::ui::Ui;

pub(crate) fn run(args: &ListArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = Beads::open(global)?;
    let listed = find(&beads, query(args, &beads)?, args.limit)?;
    if args.blocked {
        return list_blocked(&listed, &beads, ui);
    }
    listed.show(&beads, ui)
}

fn query(args: &ListArgs, beads: &Beads) -> Result<Query, Failure> {
    let parent = match &args.parent {
        Some(parent) => Some(beads.resolve(parent)?.issue.id().clone()),
        None => None,
    };
    let status = if args.all {
        StatusFilter::Any
    } else {
        statuses(&args.status).unwrap_or_default()
    };
    let own = args.mine.then(|| beads.by.actor().to_owned());
    Ok(Query {
        status,
        holder: args.holder.clone().or(own),
        labels_none: args.no_label.clone(),
        parent,
        metadata: args.metadata.clone(),
        is_blocked: args.blocked.then_some(true),
        includes_hidden: args.all,
        order: args.sort.into(),
        ..filtered(&args.filter)
    })
}

/// The statuses that were named, if any were.
pub(super) fn statuses(named: &[String]) -> Option<StatusFilter> {
    (!named.is_empty()).then(|| StatusFilter::OneOf(named.to_vec()))
}

/// The question that the common filters ask.
pub(super) fn filtered(filter: &FilterArgs) -> Query {
    Query {
        labels_all: filter.label.clone(),
        labels_any: filter.label_any.clone(),
        types: filter.types.clone(),
        assignee: filter.assignee.clone(),
        priorities: filter.priority.map(|priority| (priority, priority)),
        ..Query::default()
    }
}

/// Beads up to a limit, and whether there are more.
pub(super) struct Listed {
    pub(super) records: Vec<Record>,
    pub(super) has_more: bool,
}

/// Asks the store; a limit of 0 is none.
pub(super) fn find(beads: &Beads, mut query: Query, limit: usize) -> Result<Listed, Failure> {
    query.limit = (limit > 0).then(|| limit.saturating_add(1));
    let mut records = beads.store.find(&query)?;
    let has_more = limit > 0 && records.len() > limit;
    if has_more {
        records.truncate(limit);
    }
    Ok(Listed { records, has_more })
}

/// The list for programs.
#[derive(Serialize)]
struct JsonList<'r> {
    beads: Vec<JsonBead<'r>>,
    more: bool,
}

impl Listed {
    /// Prints the beads in the form that was asked for.
    pub(super) fn show(&self, beads: &Beads, ui: &Ui) -> Result<(), Failure> {
        if ui.is_json() {
            return ui.data(&JsonList {
                beads: bead_view::all_to_json(&self.records, beads)?,
                more: self.has_more,
            });
        }
        if self.records.is_empty() {
            ui.say("no beads are like that; --all shows closed ones too\n");
            return Ok(());
        }
        ui.out(&rows(&self.records, Page::of(ui)))?;
        self.say_more(ui);
        Ok(())
    }

    /// Says that there are more, and how to see them.
    pub(super) fn say_more(&self, ui: &Ui) {
        if self.has_more {
            ui.say(&format!(
                "only the first {} are shown; --limit 0 shows all\n",
                self.records.len()
            ));
        }
    }
}

fn list_blocked(listed: &Listed, beads: &Beads, ui: &Ui) -> Result<(), Failure> {
    let mut waiting: Vec<(Record, Vec<Blocker>)> = Vec::new();
    for record in &listed.records {
        let blockers = beads.store.blockers(record.issue.id())?;
        waiting.push((record.clone(), blockers));
    }
    if ui.is_json() {
        let mut json = Vec::new();
        for (record, blockers) in &waiting {
            let mut bead = bead_view::to_json(record, beads.n_dependents(record.issue.id())?);
            bead.insert("blockers".to_owned(), blockers_to_json(blockers).into());
            json.push(Value::Object(bead));
        }
        return ui.data(&json!({"beads": json, "more": listed.has_more}));
    }
    if waiting.is_empty() {
        ui.say("nothing waits for anything\n");
        return Ok(());
    }
    ui.out(&blocked_rows(&waiting, Page::of(ui)))?;
    listed.say_more(ui);
    Ok(())
}
