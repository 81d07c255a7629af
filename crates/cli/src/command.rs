//! One file for each command, with its arguments, what it says and its JSON; arguments that several share are in `args`.

pub(crate) mod bead;
pub(crate) mod formula;
mod gate;
#[cfg(test)]
mod help_tests;
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
use clap::Subcommand;

use self::bead::BeadCommand;
use self::formula::FormulaCommand;
use self::human::HumanCommand;
use self::plan::PlanCommand;
use self::store::dep::DepCommand;
use self::store::list::ReadyArgs;
use self::store::update::LabelCommand;
use crate::args::Cli;
use crate::args::here;
use crate::failure::Failure;
use crate::ui::Ui;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write, check, draw, compile, apply and annotate plans
    #[command(subcommand)]
    Plan(PlanCommand),
    /// List, show, check and draw formulas, which are templates of work
    #[command(subcommand)]
    Formula(FormulaCommand),
    /// Validate and migrate bead files
    #[command(subcommand)]
    Bead(BeadCommand),
    /// Make the bead store of a repository, and print what was found
    Init(store::init::InitArgs),
    /// List the beads that can start now
    Ready(store::list::ReadyArgs),
    /// List beads
    List(store::list::ListArgs),
    /// Show everything about beads
    Show(store::show::ShowArgs),
    /// Find beads by words
    Search(store::list::SearchArgs),
    /// Count beads by status and type
    Stats,
    /// Show what changed, newest last
    Log(store::log::LogArgs),
    /// Take beads to work on them
    Claim(store::claim::ClaimArgs),
    /// Keep the claim of a bead alive
    Heartbeat(store::claim::HeartbeatArgs),
    /// Release claimed beads
    Release(store::claim::ReleaseArgs),
    /// Reopen beads whose holder is dead
    Recover(store::recover::RecoverArgs),
    /// Close beads
    Close(store::close::CloseArgs),
    /// Open beads again
    Reopen(store::close::ReopenArgs),
    /// Change a bead
    Update(Box<store::update::UpdateArgs>),
    /// Add, remove and list labels
    #[command(subcommand)]
    Label(store::update::LabelCommand),
    /// Add, remove and list dependencies
    #[command(subcommand)]
    Dep(store::dep::DepCommand),
    /// Show, pour, end and delete molecules and wisps
    #[command(subcommand)]
    Mol(mol::MolCommand),
    /// Comment on a bead
    Comment(store::update::CommentArgs),
    /// Import beads from JSON lines, as bd writes them
    Import(store::import::ImportArgs),
    /// Export all beads as JSON lines, as bd reads them
    Export(store::export::ExportArgs),
    /// Check the store and repair it; `doctor agents` checks the installed agents
    Doctor(store::doctor::DoctorArgs),
    /// Work through the beads with agents, in parallel worktrees, until they are done or need your attention
    Run(work::run::RunArgs),
    /// Work on one bead with an agent until its checks pass or its attempts are used up
    Exec(work::exec::ExecArgs),
    /// Do the current stage of a bead's molecule
    #[command(
        after_help = "The stages come from the bead's formula: implement-feature, fix-bug or docs-only, by its label formula-NAME or its type. A stage that needs your answer is not a failure: the bead is labelled `human`, and `beads-ralph human list` says why."
    )]
    Implement(work::implement::ImplementArgs),
    /// Take every bead labelled implementation-ready through its stages, several at once
    Drive(work::drive::DriveArgs),
    /// Run the tests and the build of the project at intervals; file a bead about a failure, close it when it is fixed
    Patrol(work::patrol::PatrolArgs),
    /// Find beads in progress that are silent: send reminders, reopen them, and finally ask a person
    Watchdog(work::watchdog::WatchdogArgs),
    /// Run the checks of one bead, once
    Verify(work::verify::VerifyArgs),
    /// Show what agents and checks wrote
    Logs(inspect::logs::LogsArgs),
    /// Show the state of all sprints, by team
    Status(inspect::status::StatusArgs),
    /// Show the beads that need your attention, why, and what to do next
    Blocked,
    /// Show what waits for your answer, and answer it
    #[command(subcommand)]
    Human(HumanCommand),
    /// List, run and check gates: while one is red, no feature starts
    #[command(subcommand)]
    Gate(gate::GateCommand),
    /// Show the results of QA agents, and flaky checks
    QaReport,
    /// Retry blocked beads
    Retry(store::close::RetryArgs),
    /// Remove worktrees, branches and runs that are no longer needed
    Clean(work::clean::CleanArgs),
    /// Stop the runs on this store
    Stop(work::stop::StopArgs),
    /// Pause the runs on this store: nothing new starts
    Pause(work::pause::PauseArgs),
    /// Simulate a run many times without agents: time, cost, bottlenecks
    Simulate(Box<inspect::simulate::SimulateArgs>),
    /// Make the decisions in a run's journal again, and compare
    Replay(inspect::replay::ReplayArgs),
    /// Show a run full-screen, live or finished; keys retry, pause and stop
    Watch(inspect::watch::WatchArgs),
    /// Write a run as one page of HTML: graph, timeline, attempts, verdicts, cost
    Report(inspect::report::ReportArgs),
    /// Print the metrics of runs in the Prometheus text format
    Metrics(inspect::metrics::MetricsArgs),
    /// Write a bead with checks into .ralph/beads
    CreateBead(bead::create::CreateBeadArgs),
    /// Print a JSON Schema, or the names of all schemas
    Schema(program::about::SchemaArgs),
    /// Run a sample plan with agents that need no installation; touches no file of yours
    Demo(program::demo::DemoArgs),
    /// Act as an agent that follows a scenario
    #[command(hide = true)]
    ScriptedAgent(program::scripted_agent::ScriptedAgentArgs),
    /// Print the completion script of a shell
    Completions(program::about::CompletionsArgs),
    /// Print the manual page
    Man,
}

/// Runs a command.
pub(crate) fn run(cli: &Cli, ui: &Ui) -> Result<(), Failure> {
    let global = &cli.global;
    check_unit(&cli.command)?;
    match &cli.command {
        Command::Plan(command) => plan::run(command, global, ui),
        Command::Formula(command) => formula::run(command, ui),
        Command::Bead(command) => bead::run(command, ui),
        Command::Init(args) => store::init::run(args, global, ui),
        Command::Ready(args) => store::list::ready(args, global, ui),
        Command::List(args) => store::list::list(args, global, ui),
        Command::Show(args) => store::show::run(args, global, ui),
        Command::Search(args) => store::list::search(args, global, ui),
        Command::Stats => store::stats::run(global, ui),
        Command::Log(args) => store::log::run(args, global, ui),
        Command::Claim(args) => store::claim::claim(args, global, ui),
        Command::Heartbeat(args) => store::claim::heartbeat(args, global, ui),
        Command::Release(args) => store::claim::release(args, global, ui),
        Command::Recover(args) => store::recover::run(args, global, ui),
        Command::Close(args) => store::close::close(args, global, ui),
        Command::Reopen(args) => store::close::reopen(args, global, ui),
        Command::Update(args) => store::update::update(args, global, ui),
        Command::Label(args) => store::update::label(args, global, ui),
        Command::Dep(args) => store::dep::run(args, global, ui),
        Command::Mol(command) => mol::run(command, global, ui),
        Command::Comment(args) => store::update::comment(args, global, ui),
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
        Command::Retry(args) => store::close::retry(args, global, ui),
        Command::Stop(args) => work::stop::run(args, global, ui),
        Command::Pause(args) => work::pause::run(args, global, ui),
        Command::Simulate(args) => inspect::simulate::run(args, global, ui),
        Command::Replay(args) => inspect::replay::run(args, ui),
        Command::Report(args) => inspect::report::run(args, ui),
        Command::Watch(args) => inspect::watch::run(args, global, ui),
        Command::Metrics(args) => inspect::metrics::run(args, ui),
        Command::CreateBead(args) => bead::create::run(args, ui),
        Command::Schema(args) => program::about::schema(args, ui),
        Command::Demo(args) => program::demo::run(args, global, ui),
        Command::ScriptedAgent(args) => program::scripted_agent::run(args, ui),
        Command::Completions(args) => program::about::completions(args, ui),
        Command::Man => program::about::man(ui),
    }
}

/// What a command does with the beads of a repository and the store that keeps them. Other files, such as plans and
/// reports, do not matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Leaves the beads as they are.
    Reads,
    /// Changes beads.
    Writes,
    /// Works on beads: starts agents, or checks whose result changes a bead.
    StartsWork,
    /// Makes, rebuilds or cleans up what keeps the beads, or steers the runs that work on them.
    Administers,
}

impl Access {
    /// Whether an agent may do it to the beads of the run that it works for. What an agent finds out goes into its report (Z-18).
    fn is_open_to_agents(self) -> bool {
        match self {
            Self::Reads => true,
            Self::Writes | Self::StartsWork | Self::Administers => false,
        }
    }
}

impl Command {
    /// Every command is named here, so that a new one cannot be forgotten: what agents may call follows from it.
    fn access(&self) -> Access {
        match self {
            Self::Doctor(args) => args.access(),
            Self::Gate(command) => command.access(),
            Self::Mol(command) => command.access(),
            Self::Plan(
                PlanCommand::New(_)
                | PlanCommand::Check(_)
                | PlanCommand::Graph(_)
                | PlanCommand::Build(_)
                | PlanCommand::Annotate(_)
                | PlanCommand::Diff(_),
            )
            | Self::Formula(
                FormulaCommand::List
                | FormulaCommand::Show(_)
                | FormulaCommand::Check(_)
                | FormulaCommand::Graph(_)
                | FormulaCommand::New(_),
            )
            | Self::Bead(BeadCommand::Validate(_) | BeadCommand::Migrate(_))
            | Self::Human(HumanCommand::List | HumanCommand::Show(_))
            | Self::Label(LabelCommand::List { .. })
            | Self::Dep(DepCommand::List { .. } | DepCommand::Tree(_))
            | Self::Ready(ReadyArgs { claim: false, .. })
            | Self::List(_)
            | Self::Show(_)
            | Self::Search(_)
            | Self::Stats
            | Self::Log(_)
            | Self::Export(_)
            | Self::Verify(_)
            | Self::Logs(_)
            | Self::Status(_)
            | Self::Blocked
            | Self::QaReport
            | Self::Simulate(_)
            | Self::Replay(_)
            | Self::Report(_)
            | Self::Metrics(_)
            | Self::CreateBead(_)
            | Self::Schema(_)
            | Self::Demo(_)
            | Self::ScriptedAgent(_)
            | Self::Completions(_)
            | Self::Man => Access::Reads,
            Self::Plan(PlanCommand::Apply(_))
            | Self::Human(HumanCommand::Resolve(_))
            | Self::Label(LabelCommand::Add(_) | LabelCommand::Remove(_))
            | Self::Dep(DepCommand::Add(_) | DepCommand::Remove(_))
            | Self::Ready(ReadyArgs { claim: true, .. })
            | Self::Claim(_)
            | Self::Heartbeat(_)
            | Self::Release(_)
            | Self::Recover(_)
            | Self::Close(_)
            | Self::Reopen(_)
            | Self::Update(_)
            | Self::Comment(_)
            | Self::Import(_)
            | Self::Retry(_) => Access::Writes,
            Self::Run(_)
            | Self::Exec(_)
            | Self::Implement(_)
            | Self::Drive(_)
            | Self::Patrol(_)
            | Self::Watchdog(_) => Access::StartsWork,
            // The keys of `watch` retry beads, and pause and stop runs.
            Self::Init(_) | Self::Clean(_) | Self::Stop(_) | Self::Pause(_) | Self::Watch(_) => {
                Access::Administers
            }
        }
    }
}

/// Refuses a command that would change the beads of the run that an agent works for.
fn check_unit(command: &Command) -> Result<(), Failure> {
    let store = env::get(Variable::Store).filter(|_| env::get(Variable::Unit).is_some());
    let Some(store) = store.filter(|_| !command.access().is_open_to_agents()) else {
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

#[cfg(test)]
mod tests;
