//! One file for each command: its arguments are in `args`, its words and its JSON are here.

mod bead_migrate;
mod bead_validate;
mod blocked;
mod claim;
mod clean;
mod close;
mod comment;
mod completions;
mod create_bead;
mod demo;
mod dep;
mod doctor;
mod drive;
mod exec;
mod export;
mod formula_check;
mod formula_graph;
mod formula_list;
mod formula_new;
mod formula_show;
mod gate;
mod heartbeat;
mod human;
mod implement;
mod import;
mod init;
mod label;
mod list;
mod log;
mod logs;
mod man;
mod metrics;
mod mol;
mod patrol;
mod pause;
mod plan_annotate;
mod plan_apply;
mod plan_build;
mod plan_check;
mod plan_diff;
mod plan_graph;
mod plan_new;
mod qa_report;
mod ready;
mod recover;
mod release;
mod reopen;
mod replay;
mod report;
mod retry;
mod run;
mod schema;
mod scripted_agent;
mod search;
mod show;
mod simulate;
mod stats;
mod status;
mod stop;
mod update;
mod verify;
mod watch;
mod watchdog;

pub(crate) use self::run::{Place, main_root};

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_runtime::os::env::{self, Variable};
use beads_ralph_runtime::store;
use camino::Utf8PathBuf;

use crate::args::{BeadCommand, Cli, Command, FormulaCommand, HumanCommand, PlanCommand};
use crate::beads::here;
use crate::failure::Failure;
use crate::ui::Ui;

/// Runs a command.
pub(crate) fn run(cli: &Cli, ui: &Ui) -> Result<(), Failure> {
    let global = &cli.global;
    check_unit(&cli.command)?;
    match &cli.command {
        Command::Plan(PlanCommand::New(args)) => plan_new::run(args, ui),
        Command::Plan(PlanCommand::Check(args)) => plan_check::run(args, ui),
        Command::Plan(PlanCommand::Graph(args)) => plan_graph::run(args, ui),
        Command::Plan(PlanCommand::Build(args)) => plan_build::run(args, ui),
        Command::Plan(PlanCommand::Annotate(args)) => plan_annotate::run(args, ui),
        Command::Plan(PlanCommand::Apply(args)) => plan_apply::run(args, global, ui),
        Command::Plan(PlanCommand::Diff(args)) => plan_diff::run(args, global, ui),
        Command::Formula(FormulaCommand::List) => formula_list::run(ui),
        Command::Formula(FormulaCommand::Show(args)) => formula_show::run(args, ui),
        Command::Formula(FormulaCommand::Check(args)) => formula_check::run(args, ui),
        Command::Formula(FormulaCommand::Graph(args)) => formula_graph::run(args, ui),
        Command::Formula(FormulaCommand::New(args)) => formula_new::run(args, ui),
        Command::Bead(BeadCommand::Validate(args)) => bead_validate::run(args, ui),
        Command::Bead(BeadCommand::Migrate(args)) => bead_migrate::run(args, ui),
        Command::Init(args) => init::run(args, global, ui),
        Command::Ready(args) => ready::run(args, global, ui),
        Command::List(args) => list::run(args, global, ui),
        Command::Show(args) => show::run(args, global, ui),
        Command::Search(args) => search::run(args, global, ui),
        Command::Stats => stats::run(global, ui),
        Command::Log(args) => log::run(args, global, ui),
        Command::Claim(args) => claim::run(args, global, ui),
        Command::Heartbeat(args) => heartbeat::run(args, global, ui),
        Command::Release(args) => release::run(args, global, ui),
        Command::Recover(args) => recover::run(args, global, ui),
        Command::Close(args) => close::run(args, global, ui),
        Command::Reopen(args) => reopen::run(args, global, ui),
        Command::Update(args) => update::run(args, global, ui),
        Command::Label(args) => label::run(args, global, ui),
        Command::Dep(args) => dep::run(args, global, ui),
        Command::Mol(command) => mol::run(command, global, ui),
        Command::Comment(args) => comment::run(args, global, ui),
        Command::Import(args) => import::run(args, global, ui),
        Command::Export(args) => export::run(args, global, ui),
        Command::Doctor(args) => doctor::run(args, global, ui),
        Command::Run(args) => run::run(args, global, ui),
        Command::Exec(args) => exec::run(args, global, ui),
        Command::Implement(args) => implement::run(args, global, ui),
        Command::Drive(args) => drive::run(args, global, ui),
        Command::Patrol(args) => patrol::run(args, global, ui),
        Command::Watchdog(args) => watchdog::run(args, global, ui),
        Command::Verify(args) => verify::run(args, global, ui),
        Command::Logs(args) => logs::run(args, global, ui),
        Command::Status(args) => status::run(args, global, ui),
        Command::Blocked => blocked::run(global, ui),
        Command::Human(command) => human::run(command, global, ui),
        Command::Gate(command) => gate::run(command, global, ui),
        Command::QaReport => qa_report::run(global, ui),
        Command::Clean(args) => clean::run(args, global, ui),
        Command::Retry(args) => retry::run(args, global, ui),
        Command::Stop(args) => stop::run(args, global, ui),
        Command::Pause(args) => pause::run(args, global, ui),
        Command::Simulate(args) => simulate::run(args, global, ui),
        Command::Replay(args) => replay::run(args, ui),
        Command::Report(args) => report::run(args, ui),
        Command::Watch(args) => watch::run(args, global, ui),
        Command::Metrics(args) => metrics::run(args, ui),
        Command::CreateBead(args) => create_bead::run(args, ui),
        Command::Schema(args) => schema::run(args, ui),
        Command::Demo(args) => demo::run(args, global, ui),
        Command::ScriptedAgent(args) => scripted_agent::run(args, ui),
        Command::Completions(args) => completions::run(args, ui),
        Command::Man => man::run(ui),
    }
}

/// Refuses to change the beads of the run that an agent works for (Z-18): what it finds out goes into its report.
fn check_unit(command: &Command) -> Result<(), Failure> {
    let store = env::get(Variable::Store).filter(|_| env::get(Variable::Unit).is_some());
    let Some(store) = store.filter(|_| changes_beads(command)) else {
        return Ok(());
    };
    let found = store::find(&here()?).ok().map(|place| place.directory);
    let real = |path: Utf8PathBuf| path.canonicalize_utf8().ok();
    if found.and_then(real) != real(store.into()) {
        return Ok(());
    }
    let message = "the beads of a run are read-only for its agents";
    Err(Failure::new(ErrorCode::ValidationConstraint, message)
        .action("say what you found in your report, and the run writes it into the bead"))
}

fn changes_beads(command: &Command) -> bool {
    if let Command::Mol(command) = command {
        return mol::changes_beads(command);
    }
    if let Command::Gate(command) = command {
        return gate::changes_beads(command);
    }
    matches!(
        command,
        Command::Plan(PlanCommand::Apply(_))
            | Command::Init(_)
            | Command::Claim(_)
            | Command::Heartbeat(_)
            | Command::Release(_)
            | Command::Recover(_)
            | Command::Close(_)
            | Command::Reopen(_)
            | Command::Update(_)
            | Command::Label(_)
            | Command::Dep(_)
            | Command::Comment(_)
            | Command::Import(_)
            | Command::Run(_)
            | Command::Exec(_)
            | Command::Implement(_)
            | Command::Drive(_)
            | Command::Patrol(_)
            | Command::Watchdog(_)
            | Command::Clean(_)
            | Command::Retry(_)
            | Command::Human(HumanCommand::Resolve(_))
            | Command::Stop(_)
            | Command::Pause(_)
    )
}
