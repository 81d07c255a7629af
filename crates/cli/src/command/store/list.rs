//! `list`: beads by status, label, type and more.
//!
//! Data: `{"beads": […], "more": bool}`; with `--blocked` each bead also has `blockers`.

use std::ops::ControlFlow;

use beads_ralph_core::issue::{Blocker, Order, Query, Record, StatusFilter};
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::{FilterArgs, Global, pair};
use crate::beads::Beads;
use crate::failure::Failure;
use crate::ui::bead_view::{self, JsonBead, blocked_rows, blockers_to_json, rows};
use crate::ui::table::{Columns, Page};
use crate::ui::{Streamed, Ui};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Only with one of these statuses; without it, everything that is not done
    #[arg(
        short,
        long,
        value_name = "STATUSES",
        value_delimiter = ',',
        conflicts_with = "all"
    )]
    pub(crate) status: Vec<String>,
    /// Whatever the status, and templates and bookkeeping too
    #[arg(long)]
    pub(crate) all: bool,
    /// Only without any of these labels
    #[arg(long, value_name = "LABELS", value_delimiter = ',')]
    pub(crate) no_label: Vec<String>,
    /// Only direct parts of this bead
    #[arg(long, value_name = "ID")]
    pub(crate) parent: Option<String>,
    /// Only with this value under a key of the metadata; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) metadata: Vec<(String, String)>,
    /// Only what is held under this name
    #[arg(long, value_name = "NAME")]
    pub(crate) holder: Option<String>,
    /// Only what you hold
    #[arg(long, conflicts_with = "holder")]
    pub(crate) mine: bool,
    /// Only what waits for something, with what it waits for
    #[arg(long)]
    pub(crate) blocked: bool,
    /// The order
    #[arg(long, value_enum, default_value_t = SortArg::Priority, value_name = "BY")]
    pub(crate) sort: SortArg,
    /// How many to show at the most; 0 shows all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortArg {
    /// The most urgent first, among those the newest
    Priority,
    /// The oldest first
    Oldest,
    /// The latest change first
    Updated,
    /// By id
    Id,
}

impl From<SortArg> for Order {
    fn from(arg: SortArg) -> Self {
        match arg {
            SortArg::Priority => Self::Priority,
            SortArg::Oldest => Self::Oldest,
            SortArg::Updated => Self::Updated,
            SortArg::Id => Self::Id,
        }
    }
}

pub(crate) fn run(args: &ListArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = Beads::open(global)?;
    if args.limit == 0 && !args.blocked {
        return show_all(&beads, &query(args, &beads)?, ui);
    }
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
pub(crate) fn statuses(named: &[String]) -> Option<StatusFilter> {
    (!named.is_empty()).then(|| StatusFilter::OneOf(named.to_vec()))
}

/// The question that the common filters ask.
pub(crate) fn filtered(filter: &FilterArgs) -> Query {
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
pub(crate) struct Listed {
    pub(crate) records: Vec<Record>,
    pub(crate) has_more: bool,
}

/// Asks the store; a limit of 0 is none.
pub(crate) fn find(beads: &Beads, mut query: Query, limit: usize) -> Result<Listed, Failure> {
    query.limit = (limit > 0).then(|| limit.saturating_add(1));
    let mut records = beads.store.find(&query)?;
    let has_more = limit > 0 && records.len() > limit;
    if has_more {
        records.truncate(limit);
    }
    Ok(Listed { records, has_more })
}

/// From how many bytes on a long list is printed on.
const PRINTED_AT_ONCE: usize = 64 * 1024;

/// The list for programs.
#[derive(Serialize)]
struct JsonList<B> {
    beads: B,
    more: bool,
}

impl Listed {
    /// Prints the beads in the form that was asked for.
    pub(crate) fn show(&self, beads: &Beads, ui: &Ui) -> Result<(), Failure> {
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
    pub(crate) fn say_more(&self, ui: &Ui) {
        if self.has_more {
            ui.say(&format!(
                "only the first {} are shown; --limit 0 shows all\n",
                self.records.len()
            ));
        }
    }
}

/// Shows beads as they are read, because nobody knows how many there are.
fn show_all(beads: &Beads, query: &Query, ui: &Ui) -> Result<(), Failure> {
    if ui.is_json() {
        beads.look_over(query)?;
        let all = Streamed::new(
            |see: &mut dyn FnMut(JsonBead<'static>) -> ControlFlow<()>| {
                beads.each(query, |record| {
                    let n_dependents = beads.n_dependents(record.issue.id())?;
                    Ok(see(JsonBead::new(record, n_dependents)))
                })
            },
        );
        let list = JsonList {
            beads: &all,
            more: false,
        };
        return all.ended(ui.data(&list));
    }
    let page = Page::of(ui);
    let mut columns = [false, true].map(|is_held| Columns::new(bead_view::heads(is_held)));
    let (mut is_any, mut is_held) = (false, false);
    beads.each(query, |record| {
        is_any = true;
        is_held |= record.claim.is_some();
        for (is_held, columns) in [false, true].into_iter().zip(&mut columns) {
            columns.measure(&bead_view::held_row(&record, is_held), page);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if !is_any {
        ui.say("no beads are like that; --all shows closed ones too\n");
        return Ok(());
    }
    let [unheld, held] = columns;
    let mut columns = if is_held { held } else { unheld };
    let mut text = columns.head(page);
    beads.each(query, |record| {
        text.push_str(&columns.row(&bead_view::held_row(&record, is_held), page));
        if text.len() >= PRINTED_AT_ONCE {
            ui.out(&text)?;
            text.clear();
        }
        Ok(ControlFlow::Continue(()))
    })?;
    ui.out(&text)
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
