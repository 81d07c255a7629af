//! `implement`: the current stage of one bead (contracts §9).
//!
//! Data: `{source, ending, message, molecule, step, stage, mode, shape, worker, session, report, status, gate, discovered, aggregate, warnings,
//! decisions: [{rule, text}]}`; `ending` is `complete`, `needs_human`, `paused`, `source_closed`, `molecule_done`, `waiting` or `dry_run`. That a person is needed
//! is no failure (I-29).

use beads_ralph_runtime::implement::Dispatcher;
use clap::Args;

use crate::args::{Global, PermissionsArg};

use crate::dispatching::{Shop, explained, to_json, words};
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::live::Live;

#[derive(Debug, Args)]
pub(crate) struct ImplementArgs {
    /// The bead to work on
    #[arg(value_name = "BEAD")]
    pub(crate) source: String,
    /// What agents may do without asking, instead of what beads-ralph.yaml says
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) permissions: Option<PermissionsArg>,
    /// Explain every decision with its rule, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

pub(crate) fn run(args: &ImplementArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let mut beads = global.open()?;
    let source = beads.resolve(&args.source)?.issue.id().clone();
    let shop = Shop::open(&beads, args.permissions)?;
    let (forge, integration) = shop.integration()?;
    let site = shop.site(forge.as_ref(), integration);
    let told = {
        let mut live = Live::new(ui);
        let dispatcher = Dispatcher::new(&mut *beads.store, &site, &source, &mut live);
        let dispatcher = if args.dry_run {
            dispatcher.dry()
        } else {
            dispatcher
        };
        dispatcher.implement()?
    };
    if ui.is_json() {
        return ui.data(&to_json(&told));
    }
    if args.dry_run {
        ui.out(&explained(&told))?;
    }
    ui.out(&words(&told))
}
