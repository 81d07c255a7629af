//! `drive`: the queue of beads that are ready to be implemented, stage by stage, several at once (contracts §9.15).
//!
//! Data: `{stages_done, dispatched: […], failures: [{source, message}], interrupted, needs_person: [id]}`, each of `dispatched` as `implement`
//! gives it; with `--dry-run` `{queue: […]}` of the same. When beads of the queue need a person at the end, it ends with 1, as `run` does.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::Query;
use beads_ralph_core::text::visible;
use beads_ralph_core::vocabulary::label;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::implement::drive::{DriveNews, Driven, Driver, Until, candidates};
use beads_ralph_runtime::implement::{Dispatcher, ImplementError, Site};
use beads_ralph_runtime::progress::Nobody;
use beads_ralph_runtime::store::{self, Store};
use clap::Args;
use serde_json::{Value, json};

use crate::args::{Global, PermissionsArg};
use crate::command::work::dispatching::{Shop, explained, to_json, words};
use crate::failure::Failure;
use crate::ui::format::{duration, list};
use crate::ui::{Ui, counted};

#[derive(Debug, Args)]
pub(crate) struct DriveArgs {
    /// How many beads may be worked on at once, instead of what beads-ralph.yaml says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) parallel: Option<u16>,
    /// One stage of the first beads of the queue, and no more
    #[arg(long)]
    pub(crate) once: bool,
    /// Wait for new work when there is none, until interrupted
    #[arg(long, conflicts_with = "once")]
    pub(crate) watch: bool,
    /// What agents may do without asking, instead of what beads-ralph.yaml says
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) permissions: Option<PermissionsArg>,
    /// Show the queue and what would be done next, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

pub(crate) fn run(args: &DriveArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = global.open()?;
    let shop = Shop::open(&beads, args.permissions)?;
    let (forge, integration) = shop.integration()?;
    let site = shop.site(forge.as_ref(), integration);
    if args.dry_run {
        return dry_run(&mut beads, &site, ui);
    }
    let directory = beads.directory.clone();
    let open = || store::find(&directory)?.open();
    let driver = Driver {
        site: &site,
        open: &open,
        parallel: args
            .parallel
            .map_or(shop.config().implement.parallel, usize::from),
        until: match (args.once, args.watch) {
            (true, _) => Until::Once,
            (false, true) => Until::Stopped,
            (false, false) => Until::Empty,
        },
    };
    let driven = driver.drive(&mut |news| tell(news, ui))?;
    let waiting = needing_person(&*beads.store)?;
    finish(&driven, &waiting, ui)
}

/// The beads of the queue that nothing is done to before somebody answers, whenever that was found.
fn needing_person(store: &dyn Store) -> Result<Vec<BeadId>, Failure> {
    let flagged = Query {
        labels_all: vec![
            label::IMPLEMENTATION_READY.to_owned(),
            label::HUMAN.to_owned(),
        ],
        ..Query::default()
    };
    let records = store.find(&flagged)?;
    let ids = records.iter().map(|record| record.issue.id().clone());
    Ok(ids.collect())
}

/// What happens, line by line.
fn tell(news: &DriveNews<'_>, ui: &Ui) {
    let line = match news {
        DriveNews::Begins(source) => format!("{} begins\n", visible(source.as_str())),
        DriveNews::Ended(told) => words(told),
        DriveNews::Failed {
            source,
            error,
            rests,
        } => {
            let id = visible(source.as_str());
            if matches!(error, ImplementError::Interrupted) {
                ui.say(&format!("{id} is given back\n"));
                return;
            }
            let error = visible(&error.to_string());
            match rests {
                Some(rests) => format!("{id} rests for {}: {error}\n", duration(*rests)),
                None => format!("{id} failed too often, and a person is asked: {error}\n"),
            }
        }
        DriveNews::HeldBack { source, why } => {
            let (id, why) = (visible(source.as_str()), visible(why));
            format!("{id} is not taken: {why}; see `beads-ralph gate list`\n")
        }
        DriveNews::Idle => "nothing can be done now; waiting\n".to_owned(),
    };
    ui.say(&line);
}

fn finish(driven: &Driven, waiting: &[BeadId], ui: &Ui) -> Result<(), Failure> {
    let data = to_data(driven, waiting);
    if driven.is_interrupted {
        return Err(Failure::from(ImplementError::Interrupted).with_results(data));
    }
    if driven.n_done == 0
        && let Some((source, message)) = driven.failures.last()
    {
        let message = format!("nothing could be done; {source}: {message}");
        return Err(Failure::new(ErrorCode::ValidationConstraint, message)
            .action("see the messages above, then run the same command again")
            .with_results(data));
    }
    let stages = counted(driven.n_done, "stage", "stages");
    if !waiting.is_empty() {
        let beads = counted(waiting.len(), "bead needs", "beads need");
        let ids = list(waiting.iter().map(BeadId::as_str));
        let message = format!("{stages} done, and {beads} a person: {ids}");
        return Err(Failure::new(ErrorCode::ValidationConstraint, message)
            .action("see `beads-ralph human list`, then answer with `beads-ralph human resolve`")
            .with_results(data));
    }
    if ui.is_json() {
        return ui.data(&data);
    }
    ui.out(&format!("{stages} done\n"))
}

fn to_data(driven: &Driven, waiting: &[BeadId]) -> Value {
    let failures = driven.failures.iter();
    let failures = failures.map(|(id, text)| json!({"source": id, "message": text}));
    json!({
        "stages_done": driven.n_done,
        "dispatched": driven.dispatched.iter().map(to_json).collect::<Vec<Value>>(),
        "failures": failures.collect::<Vec<Value>>(),
        "interrupted": driven.is_interrupted,
        "needs_person": waiting,
    })
}

fn dry_run(beads: &mut Beads, site: &Site<'_>, ui: &Ui) -> Result<(), Failure> {
    let gates = site.gates(&*beads.store)?;
    let queue = candidates(&*beads.store, &gates)?;
    let mut told = Vec::new();
    for record in &queue {
        let id = record.issue.id();
        let mut nobody = Nobody;
        let dispatcher = Dispatcher::new(&mut *beads.store, site, id, &mut nobody);
        match dispatcher.dry().implement() {
            Ok(one) => told.push(one),
            Err(error) => {
                let (id, error) = (visible(id.as_str()), visible(&error.to_string()));
                ui.say(&format!("{id}: {error}\n"));
            }
        }
    }
    if ui.is_json() {
        return ui.data(&json!({"queue": told.iter().map(to_json).collect::<Vec<Value>>()}));
    }
    if told.is_empty() {
        ui.say("no bead is ready to be implemented: none is labelled implementation-ready, or all of them wait\n");
    }
    for told in &told {
        ui.out(&format!(
            "{}\n{}",
            visible(told.source.as_str()),
            explained(told)
        ))?;
    }
    Ok(())
}
