//! One file for each command: its arguments are in `args`, its words and its JSON are here.

pub(crate) mod bead;
pub(crate) mod formula;
mod gate;
mod human;
pub(crate) mod inspect;
mod mol;
pub(crate) mod plan;
pub(crate) mod program;
pub(crate) mod store;
pub(crate) mod work;

pub(crate) use self::work::run::{Place, main_root};

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_runtime::os::env::{self, Variable};
use beads_ralph_runtime::store::find as find_store;
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
        Command::Plan(PlanCommand::New(args)) => plan::new::run(args, ui),
        Command::Plan(PlanCommand::Check(args)) => plan::check::run(args, ui),
        Command::Plan(PlanCommand::Graph(args)) => plan::graph::run(args, ui),
        Command::Plan(PlanCommand::Build(args)) => plan::build::run(args, ui),
        Command::Plan(PlanCommand::Annotate(args)) => plan::annotate::run(args, ui),
        Command::Plan(PlanCommand::Apply(args)) => plan::apply::run(args, global, ui),
        Command::Plan(PlanCommand::Diff(args)) => plan::diff::run(args, global, ui),
        Command::Formula(FormulaCommand::List) => formula::list::run(ui),
        Command::Formula(FormulaCommand::Show(args)) => formula::show::run(args, ui),
        Command::Formula(FormulaCommand::Check(args)) => formula::check::run(args, ui),
        Command::Formula(FormulaCommand::Graph(args)) => formula::graph::run(args, ui),
        Command::Formula(FormulaCommand::New(args)) => formula::new::run(args, ui),
        Command::Bead(BeadCommand::Validate(args)) => bead::validate::run(args, ui),
        Command::Bead(BeadCommand::Migrate(args)) => bead::migrate::run(args, ui),
        Command::Init(args) => store::init::run(args, global, ui),
        Command::Ready(args) => store::ready::run(args, global, ui),
        Command::List(args) => store::list::run(args, global, ui),
        Command::Show(args) => store::show::run(args, global, ui),
        Command::Search(args) => store::search::run(args, global, ui),
        Command::Stats => store::stats::run(global, ui),
        Command::Log(args) => store::log::run(args, global, ui),
        Command::Claim(args) => store::claim::run(args, global, ui),
        Command::Heartbeat(args) => store::heartbeat::run(args, global, ui),
        Command::Release(args) => store::release::run(args, global, ui),
        Command::Recover(args) => store::recover::run(args, global, ui),
        Command::Close(args) => store::close::run(args, global, ui),
        Command::Reopen(args) => store::reopen::run(args, global, ui),
        Command::Update(args) => store::update::run(args, global, ui),
        Command::Label(args) => store::label::run(args, global, ui),
        Command::Dep(args) => store::dep::run(args, global, ui),
        Command::Mol(command) => mol::run(command, global, ui),
        Command::Comment(args) => store::comment::run(args, global, ui),
        Command::Import(args) => store::import::run(args, global, ui),
        Command::Export(args) => store::export::run(args, global, ui),
        Command::Doctor(args) => store::doctor::run(args, global, ui),
        Command::Run(args) => work::run::run(args, global, ui),
        Command::Exec(args) => work::exec::run(args, global, ui),
        Command::Implement(args) => work::implement::run(args, global, ui),
        Command::Drive(args) => work::drive::run(args, global, ui),
        Command::Patrol(args) => work::patrol::run(args, global, ui),
        Command::Watchdog(args) => work::watchdog::run(args, global, ui),
        Command::Verify(args) => work::verify::run(args, global, ui),
        Command::Logs(args) => inspect::logs::run(args, global, ui),
        Command::Status(args) => inspect::status::run(args, global, ui),
        Command::Blocked => inspect::blocked::run(global, ui),
        Command::Human(command) => human::run(command, global, ui),
        Command::Gate(command) => gate::run(command, global, ui),
        Command::QaReport => inspect::qa_report::run(global, ui),
        Command::Clean(args) => work::clean::run(args, global, ui),
        Command::Retry(args) => work::retry::run(args, global, ui),
        Command::Stop(args) => work::stop::run(args, global, ui),
        Command::Pause(args) => work::pause::run(args, global, ui),
        Command::Simulate(args) => inspect::simulate::run(args, global, ui),
        Command::Replay(args) => inspect::replay::run(args, ui),
        Command::Report(args) => inspect::report::run(args, ui),
        Command::Watch(args) => inspect::watch::run(args, global, ui),
        Command::Metrics(args) => inspect::metrics::run(args, ui),
        Command::CreateBead(args) => bead::create::run(args, ui),
        Command::Schema(args) => program::schema::run(args, ui),
        Command::Demo(args) => program::demo::run(args, global, ui),
        Command::ScriptedAgent(args) => program::scripted_agent::run(args, ui),
        Command::Completions(args) => program::completions::run(args, ui),
        Command::Man => program::man::run(ui),
    }
}

/// Refuses to change the beads of the run that an agent works for (Z-18): what it finds out goes into its report.
fn check_unit(command: &Command) -> Result<(), Failure> {
    let store = env::get(Variable::Store).filter(|_| env::get(Variable::Unit).is_some());
    let Some(store) = store.filter(|_| changes_beads(command)) else {
        return Ok(());
    };
    let found = find_store(&here()?).ok().map(|place| place.directory);
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
