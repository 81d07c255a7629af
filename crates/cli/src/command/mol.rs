//! `mol`: molecules and wisps that are in the store, one file for each command.

mod burn;
mod current;
mod pour;
mod progress;
mod ready;
mod show;
mod squash;
mod wisp_gc;
mod wisp_list;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::{Order, Query, Record, is_step, is_wisp};
use beads_ralph_core::molecule::{Molecule, Step, is_root};
use beads_ralph_core::text::excerpt;
use beads_ralph_core::vocabulary::IssueType;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::app::molecules;
use beads_ralph_runtime::store::StoreError;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use self::burn::BurnArgs;
use self::pour::{MakingArgs, PourArgs, WispMakeArgs};
use self::squash::SquashArgs;
use self::wisp_gc::WispGcArgs;
use self::wisp_list::WispListArgs;
use crate::args::Global;
use crate::command::Access;
use crate::failure::Failure;
use crate::ui::Ui;

#[derive(Debug, Subcommand)]
pub(crate) enum MolCommand {
    /// Make the beads of a formula, all of them or none
    Pour(PourArgs),
    /// Show where one is in a molecule: the steps in progress, else those that can be started
    Current(MolArgs),
    /// Show a molecule with all its steps, and where each of them is
    Show(MolArgs),
    /// Say how far molecules are; without an ID, all that are not closed
    Progress(SomeMolArgs),
    /// List the steps of molecules that can be started, those of wisps too
    Ready(SomeMolArgs),
    /// End a molecule: close what is left of it with a summary as the reason, and keep its record
    Squash(SquashArgs),
    /// Delete wisps with their steps, without a trace but their history
    Burn(BurnArgs),
    /// Make a wisp of a formula, which is over after a day; list wisps, and delete those that are over
    Wisp(WispArgs),
}

#[derive(Debug, Args)]
pub(crate) struct MolArgs {
    /// The root of the molecule
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct SomeMolArgs {
    /// The root of the molecule
    pub(crate) id: Option<String>,
}

/// `mol wisp` takes a command or, as the real `bd` does, the name of a formula; a name that is also a command is the command, and
/// `mol wisp create NAME` takes any.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct WispArgs {
    #[command(subcommand)]
    pub(crate) what: Option<WispCommand>,
    /// The formula
    #[arg(required = true)]
    pub(crate) formula: Option<String>,
    #[command(flatten)]
    pub(crate) making: MakingArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WispCommand {
    /// Make a wisp of a formula
    Create(WispMakeArgs),
    /// List wisps, and when each of them is over
    List(WispListArgs),
    /// Delete the wisps that are over or closed
    Gc(WispGcArgs),
}

pub(crate) fn run(command: &MolCommand, global: &Global, ui: &Ui) -> Result<(), Failure> {
    match command {
        MolCommand::Current(args) => current::run(args, global, ui),
        MolCommand::Show(args) => show::run(args, global, ui),
        MolCommand::Progress(args) => progress::run(args, global, ui),
        MolCommand::Ready(args) => ready::run(args, global, ui),
        MolCommand::Squash(args) => squash::run(args, global, ui),
        MolCommand::Burn(args) => burn::run(args, global, ui),
        MolCommand::Pour(args) => pour::run(args, global, ui),
        MolCommand::Wisp(args) => wisp(args, global, ui),
    }
}

fn wisp(args: &WispArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    match (&args.what, &args.formula) {
        (Some(WispCommand::List(args)), _) => wisp_list::run(args, global, ui),
        (Some(WispCommand::Gc(args)), _) => wisp_gc::run(args, global, ui),
        (Some(WispCommand::Create(args)), _) => pour::wisp(&args.formula, &args.making, global, ui),
        (None, formula) => {
            let formula = formula.as_deref().unwrap_or_default();
            pour::wisp(formula, &args.making, global, ui)
        }
    }
}

impl MolCommand {
    pub(super) fn access(&self) -> Access {
        match self {
            Self::Current(_)
            | Self::Show(_)
            | Self::Progress(_)
            | Self::Ready(_)
            | Self::Pour(PourArgs { dry_run: true, .. })
            | Self::Wisp(WispArgs {
                what: Some(WispCommand::List(_)),
                ..
            }) => Access::Reads,
            Self::Pour(PourArgs { dry_run: false, .. })
            | Self::Squash(_)
            | Self::Burn(_)
            | Self::Wisp(WispArgs {
                what: Some(WispCommand::Create(_) | WispCommand::Gc(_)) | None,
                ..
            }) => Access::Writes,
        }
    }
}

/// The molecule with an id. What has nothing below it is one only if it is a root or a wisp.
fn load(beads: &Beads, id: &str) -> Result<Molecule, Failure> {
    let root = beads.resolve(id)?;
    let is_one = is_root(&root.issue) || (is_wisp(&root.issue) && !is_step(&root.issue));
    let molecule = molecules::load(&*beads.store, root)?;
    if is_one || !molecule.steps().is_empty() {
        return Ok(molecule);
    }
    Err(not_one(beads, molecule.root()))
}

fn not_one(beads: &Beads, record: &Record) -> Failure {
    let issue = &record.issue;
    let (id, kind) = (excerpt(issue.id().as_str()), excerpt(issue.issue_type()));
    let message = format!("{id} is no molecule: it is a {kind} with nothing below it");
    let failure = Failure::new(ErrorCode::ValidationConstraint, message);
    let above = molecules::above(&*beads.store, record).unwrap_or_default();
    match above.iter().find(|above| is_root(&above.issue)) {
        Some(root) => failure.action(format!(
            "it is a step of {}: name that one",
            excerpt(root.issue.id().as_str())
        )),
        None => failure.action("see `beads-ralph mol progress` for the molecules"),
    }
}

/// The molecule that is named, or all that are not closed, in order of their ids.
fn some(beads: &Beads, id: Option<&str>) -> Result<Vec<Molecule>, Failure> {
    if let Some(id) = id {
        return Ok(vec![load(beads, id)?]);
    }
    let query = Query {
        types: vec![IssueType::Molecule.into()],
        order: Order::Id,
        ..Query::default()
    };
    let roots = beads.store.find(&query)?.into_iter();
    let molecules = roots.map(|root| molecules::load(&*beads.store, root));
    Ok(molecules.collect::<Result<_, StoreError>>()?)
}

/// A step for programs (F-13).
fn step_json(step: &Step) -> Value {
    let issue = &step.record().issue;
    json!({
        "id": step.id().as_str(), "title": issue.title(), "status": issue.status(), "role": step.role(),
    })
}
