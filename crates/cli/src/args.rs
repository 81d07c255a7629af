//! The argument tree: what people type, and its help.

mod agent;
mod change;
mod formula;
mod gate;
mod human;
mod implement;
mod looking;
mod mol;
mod patrol;
mod plan;
mod query;
mod run;
mod simulate;
mod work;

pub(crate) use agent::*;
pub(crate) use change::*;
pub(crate) use formula::*;
pub(crate) use gate::*;
pub(crate) use human::*;
pub(crate) use implement::*;
pub(crate) use looking::*;
pub(crate) use mol::*;
pub(crate) use patrol::*;
pub(crate) use plan::*;
pub(crate) use query::*;
pub(crate) use run::*;
pub(crate) use simulate::*;
pub(crate) use work::*;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Turn a markdown plan into a dependency graph of beads, and keep them in a store.
#[derive(Debug, Parser)]
#[command(name = "beads-ralph", version, propagate_version = true, after_help = AFTER_HELP)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Whether the answer is the JSON envelope: `--json`, `--fenced`, or a command's `--format json`.
    pub(crate) fn wants_json(&self) -> bool {
        let by_format = match &self.command {
            Command::Plan(PlanCommand::Check(args)) => args.format == CheckFormat::Json,
            Command::Plan(PlanCommand::Graph(args)) => args.format == GraphFormat::Json,
            Command::Formula(FormulaCommand::Check(args)) => args.format == CheckFormat::Json,
            Command::Formula(FormulaCommand::Graph(args)) => args.format == GraphFormat::Json,
            Command::Plan(
                PlanCommand::New(_)
                | PlanCommand::Build(_)
                | PlanCommand::Annotate(_)
                | PlanCommand::Apply(_)
                | PlanCommand::Diff(_),
            )
            | Command::Formula(
                FormulaCommand::List | FormulaCommand::Show(_) | FormulaCommand::New(_),
            )
            | Command::Bead(_)
            | Command::Init(_)
            | Command::Ready(_)
            | Command::List(_)
            | Command::Show(_)
            | Command::Search(_)
            | Command::Stats
            | Command::Log(_)
            | Command::Claim(_)
            | Command::Heartbeat(_)
            | Command::Release(_)
            | Command::Recover(_)
            | Command::Close(_)
            | Command::Reopen(_)
            | Command::Update(_)
            | Command::Label(_)
            | Command::Dep(_)
            | Command::Mol(_)
            | Command::Comment(_)
            | Command::Import(_)
            | Command::Export(_)
            | Command::Doctor(_)
            | Command::Run(_)
            | Command::Exec(_)
            | Command::Implement(_)
            | Command::Drive(_)
            | Command::Patrol(_)
            | Command::Watchdog(_)
            | Command::Verify(_)
            | Command::Logs(_)
            | Command::Status(_)
            | Command::Blocked
            | Command::Gate(_)
            | Command::Human(_)
            | Command::QaReport
            | Command::Retry(_)
            | Command::Clean(_)
            | Command::Stop(_)
            | Command::Pause(_)
            | Command::Simulate(_)
            | Command::Replay(_)
            | Command::Report(_)
            | Command::Metrics(_)
            | Command::Watch(_)
            | Command::CreateBead(_)
            | Command::Schema(_)
            | Command::Demo(_)
            | Command::ScriptedAgent(_)
            | Command::Completions(_)
            | Command::Man => false,
        };
        by_format || self.global.json || self.global.fenced
    }
}

const AFTER_HELP: &str = "\
Start with:
  beads-ralph demo                  see the whole thing on a sample plan
  beads-ralph plan new plan.md      write a commented template
  beads-ralph plan check plan.md    find every mistake in a plan
  beads-ralph plan graph plan.md    see what waits for what
  beads-ralph init                  make the bead store of this repository
  beads-ralph plan apply plan.md    put the plan's beads into it
  beads-ralph ready                 see which beads can be started
  beads-ralph run                   let agents work through them until all are done
  beads-ralph watch                 look at a run on the whole terminal
  beads-ralph formula list          see the templates of work that there are
  beads-ralph create-bead --help    write down one piece of work, and the commands that check it
  beads-ralph exec BEAD             have an agent work on it until the checks pass

Exit codes: 0 success, 1 something to mend, 2 wrong usage, 3 fatal (file missing, no permission),
4 already claimed by somebody else.";

/// Flags that every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// Answer with one JSON object {success, data, error} on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Like --json, inside a fenced block of markdown
    #[arg(long, global = true)]
    pub(crate) fenced: bool,
    /// When to use colour; `NO_COLOR` turns it off as well
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub(crate) color: ColorChoice,
    /// Say nothing but results and errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Who writes to the store; without it `BEADS_ACTOR`, else `USER`
    #[arg(long, global = true, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) actor: Option<String>,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}

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
    /// Make the bead store of a repository, and say what is there
    Init(InitArgs),
    /// List the beads that can be started now
    Ready(ReadyArgs),
    /// List beads
    List(ListArgs),
    /// Show everything about beads
    Show(ShowArgs),
    /// Find beads by words
    Search(SearchArgs),
    /// Count beads by status and type
    Stats,
    /// Show what changed, the newest last
    Log(LogArgs),
    /// Take beads to work on them
    Claim(ClaimArgs),
    /// Say that the work on a claimed bead goes on
    Heartbeat(HeartbeatArgs),
    /// Give claimed beads back
    Release(ReleaseArgs),
    /// Put beads whose holder is gone back to open
    Recover(RecoverArgs),
    /// Close beads
    Close(CloseArgs),
    /// Open beads again
    Reopen(ReopenArgs),
    /// Change a bead
    Update(Box<UpdateArgs>),
    /// Add, remove and list labels
    #[command(subcommand)]
    Label(LabelCommand),
    /// Add, remove and list dependencies
    #[command(subcommand)]
    Dep(DepCommand),
    /// Look at molecules and wisps, end them, and delete them
    #[command(subcommand)]
    Mol(MolCommand),
    /// Say something about a bead
    Comment(CommentArgs),
    /// Take beads from a file of JSON lines, as bd writes them
    Import(ImportArgs),
    /// Write all beads as JSON lines, as bd reads them
    Export(ExportArgs),
    /// Look the store over, and mend it; `doctor agents` looks for agents
    Doctor(DoctorArgs),
    /// Work through the beads with agents, in parallel worktrees, until they are done or a person is needed
    Run(RunArgs),
    /// Work on one bead with an agent until its checks pass or it is given up
    Exec(ExecArgs),
    /// Take a bead through its molecule: do its current stage, by a worker or by this program
    #[command(
        after_help = "The stages come from the bead's formula: implement-feature, fix-bug or docs-only, by its label formula-NAME or its type. A person who is needed is no failure: the bead is labelled `human`, and `beads-ralph human list` says why."
    )]
    Implement(ImplementArgs),
    /// Take every bead labelled implementation-ready through its stages, several at once
    Drive(DriveArgs),
    /// Run the tests and the build of the project again and again; file a bead about what breaks, close it when it is mended
    Patrol(PatrolArgs),
    /// Notice beads in progress that are silent: remind, put back to open, and in the end ask a person
    Watchdog(WatchdogArgs),
    /// Run the checks of one bead, once
    Verify(VerifyArgs),
    /// Show what agents and checks wrote
    Logs(LogsArgs),
    /// Show where the sprints stand, team by team
    Status(StatusArgs),
    /// Show the beads that need a person, why, and how to go on
    Blocked,
    /// Show what waits for a person, why, and answer it
    #[command(subcommand)]
    Human(HumanCommand),
    /// List, run and check gates: while one is red, no feature is begun
    #[command(subcommand)]
    Gate(GateCommand),
    /// Show what QA agents said, agent by agent
    QaReport,
    /// Let beads that were given up be tried again
    Retry(RetryArgs),
    /// Remove worktrees, branches and runs that are not needed any more
    Clean(CleanArgs),
    /// Ask the runs on this store to stop
    Stop(StopArgs),
    /// Ask the runs on this store to begin nothing new
    Pause(PauseArgs),
    /// Play a run many times without any agent: how long it takes, what it costs, what holds it up
    Simulate(Box<SimulateArgs>),
    /// Decide everything in a run's journal once more, and compare
    Replay(ReplayArgs),
    /// Look at a run on the whole terminal, live or over; keys retry, pause and stop
    Watch(WatchArgs),
    /// Write a run as one page of HTML: graph, timeline, attempts, verdicts, cost
    Report(ReportArgs),
    /// Print the figures of runs in the text format of Prometheus
    Metrics(MetricsArgs),
    /// Write a bead with checks into .ralph/beads
    CreateBead(CreateBeadArgs),
    /// Print a JSON Schema, or the names of all
    Schema(SchemaArgs),
    /// See the whole thing: a sample plan worked off by agents that need no installation; touches nothing of yours
    Demo(DemoArgs),
    /// Act as an agent, by a scenario
    #[command(hide = true)]
    ScriptedAgent(ScriptedAgentArgs),
    /// Print the completion script of a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The schema's name; without it, the names of all
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}
