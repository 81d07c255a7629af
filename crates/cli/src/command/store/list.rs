//! `list`, `search` and `ready`: beads by status, label, type and more, by words, and those that can be started now.
//!
//! Data: `{"beads": […], "more": bool}`; with `--blocked` each bead also has `blockers`. Data of `ready --claim`: `{"claimed": {…} | null}`, where the bead
//! has its `fence` and `lease_until`.

use std::ops::ControlFlow;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::{Blocker, Order, Query, Record, StatusFilter};
use beads_ralph_runtime::app::beads::{Beads, Listed, claimable};
use beads_ralph_runtime::store::NewClaim;
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::{Map, Value};

use super::claim::{self, ClaimFacts};
use crate::args::{FilterArgs, Global, HolderArgs, pair};
use crate::failure::Failure;
use crate::ui::bead_view::{self, JsonBead, blocked_rows, rows};
use crate::ui::table::{Columns, Page};
use crate::ui::{Streamed, Ui};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Only with one of these statuses (default: everything that is not closed)
    #[arg(
        short,
        long,
        value_name = "STATUSES",
        value_delimiter = ',',
        conflicts_with = "all"
    )]
    pub(crate) status: Vec<String>,
    /// Include closed beads, templates and bookkeeping
    #[arg(long)]
    pub(crate) all: bool,
    /// Only without any of these labels
    #[arg(long, value_name = "LABELS", value_delimiter = ',')]
    pub(crate) no_label: Vec<String>,
    /// Only direct children of this bead
    #[arg(long, value_name = "ID")]
    pub(crate) parent: Option<String>,
    /// Only with this value under a key of the metadata (repeatable)
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) metadata: Vec<(String, String)>,
    /// Only beads held by this name
    #[arg(long, value_name = "NAME")]
    pub(crate) holder: Option<String>,
    /// Only beads that you hold
    #[arg(long, conflicts_with = "holder")]
    pub(crate) mine: bool,
    /// Only blocked beads, with their blockers
    #[arg(long)]
    pub(crate) blocked: bool,
    /// The order
    #[arg(long, value_enum, default_value_t = SortArg::Priority, value_name = "BY")]
    pub(crate) sort: SortArg,
    /// Show at most this many; 0 shows all
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

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words that must all occur in the id, title, description or notes
    #[arg(required = true)]
    pub(crate) words: Vec<String>,
    /// Only with one of these statuses (default: any status)
    #[arg(short, long, value_name = "STATUSES", value_delimiter = ',')]
    pub(crate) status: Vec<String>,
    /// Show at most this many; 0 shows all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

#[derive(Debug, Args)]
pub(crate) struct ReadyArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Show at most this many; 0 shows all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Claim the first one that is available
    #[arg(long)]
    pub(crate) claim: bool,
    #[command(flatten)]
    pub(crate) holder: HolderArgs,
}

/// The list for programs.
#[derive(Serialize)]
struct JsonList<B> {
    beads: B,
    more: bool,
}

pub(crate) fn list(args: &ListArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = global.open()?;
    if args.limit == 0 && !args.blocked {
        return show_all(&beads, &query(args, &beads)?, ui);
    }
    let listed = beads.list(query(args, &beads)?, args.limit)?;
    if args.blocked {
        return show_blocked(&listed, &beads, ui);
    }
    show(&listed, &beads, ui)
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
fn statuses(named: &[String]) -> Option<StatusFilter> {
    (!named.is_empty()).then(|| StatusFilter::OneOf(named.to_vec()))
}

/// The query of the common filters.
fn filtered(filter: &FilterArgs) -> Query {
    Query {
        labels_all: filter.label.clone(),
        labels_any: filter.label_any.clone(),
        types: filter.types.clone(),
        assignee: filter.assignee.clone(),
        priorities: filter.priority.map(|priority| (priority, priority)),
        ..Query::default()
    }
}

/// The answer when a list is empty.
const NONE: &str = "no beads match; --all includes closed ones\n";

/// Prints the beads in the form that was asked for.
fn show(listed: &Listed, beads: &Beads, ui: &Ui) -> Result<(), Failure> {
    if ui.is_json() {
        return ui.data(&JsonList {
            beads: bead_view::all_to_json(&listed.records, beads)?,
            more: listed.has_more,
        });
    }
    if listed.records.is_empty() {
        ui.say(NONE);
        return Ok(());
    }
    ui.out(&rows(&listed.records, Page::of(ui)))?;
    say_more(listed, ui);
    Ok(())
}

/// Says that there are more, and how to see them.
fn say_more(listed: &Listed, ui: &Ui) {
    if listed.has_more {
        ui.say(&format!(
            "only the first {} are shown; --limit 0 shows all\n",
            listed.records.len()
        ));
    }
}

/// From how many bytes on a long list is printed on.
const PRINTED_AT_ONCE: usize = 64 * 1024;

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
    beads.each::<Failure>(query, |record| {
        is_any = true;
        is_held |= record.claim.is_some();
        for (is_held, columns) in [false, true].into_iter().zip(&mut columns) {
            columns.measure(&bead_view::held_row(&record, is_held), page);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if !is_any {
        ui.say(NONE);
        return Ok(());
    }
    let [unheld, held] = columns;
    let mut columns = if is_held { held } else { unheld };
    let mut text = columns.head(page);
    beads.each::<Failure>(query, |record| {
        text.push_str(&columns.row(&bead_view::held_row(&record, is_held), page));
        if text.len() >= PRINTED_AT_ONCE {
            ui.out(&text)?;
            text.clear();
        }
        Ok(ControlFlow::Continue(()))
    })?;
    ui.out(&text)
}

fn show_blocked(listed: &Listed, beads: &Beads, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct More<'b> {
        blockers: &'b [Blocker],
    }
    let mut blocked: Vec<(Record, Vec<Blocker>)> = Vec::new();
    for record in &listed.records {
        let blockers = beads.store.blockers(record.issue.id())?;
        blocked.push((record.clone(), blockers));
    }
    if ui.is_json() {
        let bead = |(record, blockers): &(Record, Vec<Blocker>)| {
            let n_dependents = beads.n_dependents(record.issue.id())?;
            Ok(bead_view::with(record, n_dependents, &More { blockers }))
        };
        let shown: Result<Vec<Map<String, Value>>, Failure> = blocked.iter().map(bead).collect();
        return ui.data(&JsonList {
            beads: shown?,
            more: listed.has_more,
        });
    }
    if blocked.is_empty() {
        ui.say("no bead is blocked\n");
        return Ok(());
    }
    ui.out(&blocked_rows(&blocked, Page::of(ui)))?;
    say_more(listed, ui);
    Ok(())
}

pub(crate) fn search(args: &SearchArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let words = args.words.join(" ");
    if words.trim().is_empty() {
        return Err(Failure::new(
            ErrorCode::ValidationConstraint,
            "there are no words to search for",
        )
        .action("name at least one word"));
    }
    let beads = global.open()?;
    let query = Query {
        status: statuses(&args.status).unwrap_or(StatusFilter::Any),
        text: Some(words),
        ..Query::default()
    };
    let listed = beads.list(query, args.limit)?;
    if listed.records.is_empty() && !ui.is_json() {
        ui.say("no bead has all of these words\n");
        return Ok(());
    }
    show(&listed, &beads, ui)
}

pub(crate) fn ready(args: &ReadyArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    if !args.claim && (args.holder.holder.is_some() || args.holder.pid.is_some()) {
        let message = "--holder and --pid say who claims a bead, and need --claim";
        return Err(Failure::new(ErrorCode::ValidationConstraint, message)
            .action("add --claim, or leave them out")
            .exit_with(2));
    }
    let mut beads = global.open()?;
    let query = claimable(filtered(&args.filter), beads.by.now);
    if args.claim {
        return claim_first(args, &mut beads, &query, ui);
    }
    let listed = beads.list(query, args.limit)?;
    if listed.records.is_empty() && !ui.is_json() {
        ui.say(&nothing(&beads)?);
        return Ok(());
    }
    show(&listed, &beads, ui)
}

/// Why there is nothing to do: two sentences that save a search.
fn nothing(beads: &Beads) -> Result<String, Failure> {
    let blocked = Query {
        is_blocked: Some(true),
        limit: Some(1),
        ..Query::default()
    };
    let any = Query {
        limit: Some(1),
        ..Query::default()
    };
    let hint = if !beads.store.find(&blocked)?.is_empty() {
        "see `beads-ralph list --blocked` for what is blocked, and by what"
    } else if !beads.store.find(&any)?.is_empty() {
        "see `beads-ralph list` for what is in progress or deferred"
    } else {
        "everything is closed, or the store is empty"
    };
    Ok(format!("nothing is ready; {hint}\n"))
}

fn claim_first(args: &ReadyArgs, beads: &mut Beads, query: &Query, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct First {
        claimed: Option<Map<String, Value>>,
    }
    let holder = args.holder.holder(&beads.by)?;
    let new = NewClaim {
        holder: &holder,
        lease_until: beads.by.lease_until(args.holder.lease)?,
        is_forced: false,
        instead_of: None,
    };
    let claimed = beads.claim_first(query, &new)?;
    let Some(record) = claimed else {
        if ui.is_json() {
            return ui.data(&First { claimed: None });
        }
        ui.say(&nothing(beads)?);
        return Ok(());
    };
    if ui.is_json() {
        let n_dependents = beads.n_dependents(record.issue.id())?;
        let bead = bead_view::with(&record, n_dependents, &ClaimFacts::of(&record));
        return ui.data(&First {
            claimed: Some(bead),
        });
    }
    ui.out(&format!("{}\n", claim::sentence(&record)))
}
