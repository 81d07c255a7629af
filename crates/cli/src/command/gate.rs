//! `gate`: conditions that others wait for, and what is held back while one of them is red (contracts §8.5).
//!
//! Data of `list`: `{"green": bool, "gates": [{id, title, state, why, holds, groups, last_run, failure}]}`; `state` is `green` or `red`, `holds` is `features`, or
//! `dependents` for a gate of a plan, which holds back by its edges alone. Data of `enforce`: `{"blocked": [{id, reason}], "released": [id…], "held": [{id,
//! reason}], "red": [id…]}`; `held` are beads that somebody works on, `red` the gates that hold features back.

mod check;
mod create;
mod run;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::gate::{Denied, Gate, Gates, Holds, Light, Why, is_gate};
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::app::gates::{self, Enforced};
use beads_ralph_runtime::bead_files::Ralph;
use beads_ralph_runtime::gate;
use beads_ralph_runtime::store::Store;
use clap::Subcommand;
use serde::Serialize;

use self::check::GateCheckArgs;
use self::create::GateCreateArgs;
use self::run::GateRunArgs;
use crate::args::Global;
use crate::command::Access;
use crate::command::work::{Target, main_root, project};
use crate::failure::Failure;
use crate::ui::table::{Page, Table};
use crate::ui::{Ui, counted};

#[derive(Debug, Subcommand)]
pub(crate) enum GateCommand {
    /// List all gates with their state, last run and failures
    List,
    /// Run the checks of gates and record the results
    Run(GateRunArgs),
    /// Check whether a bead may be started, or whether all gates are green; exit code 1 if not
    Check(GateCheckArgs),
    /// Block features in progress while a gate is red, and release them when all gates are green
    Enforce,
    /// Create a gate in the store, or in .ralph/gates if there is no store
    Create(GateCreateArgs),
}

pub(crate) fn run(command: &GateCommand, global: &Global, ui: &Ui) -> Result<(), Failure> {
    match command {
        GateCommand::List => list(global, ui),
        GateCommand::Run(args) => run::run(args, global, ui),
        GateCommand::Check(args) => check::run(args, global, ui),
        GateCommand::Enforce => enforce(global, ui),
        GateCommand::Create(args) => create::run(args, global, ui),
    }
}

impl GateCommand {
    pub(super) fn access(&self) -> Access {
        match self {
            Self::List | Self::Check(_) => Access::Reads,
            Self::Enforce | Self::Create(_) => Access::Writes,
            Self::Run(_) => Access::StartsWork,
        }
    }
}

/// The answer where no gate holds features back.
fn none_stands(gates: &Gates) -> &'static str {
    if gates.all().is_empty() {
        "there are no gates"
    } else {
        "there are only gates of plans, which `beads-ralph run` runs and which hold only the sprints behind them"
    }
}

/// The DoD beads of the main worktree: what decides about all worktrees is there, and not on the branch of an agent.
pub(crate) fn main_project() -> Result<Ralph, Failure> {
    let ralph = project()?;
    Ok(ralph.at(&main_root(ralph.root())))
}

/// The store, where there is one: gates in files need none.
pub(crate) fn store_if_any(global: &Global) -> Result<Option<Beads>, Failure> {
    match global.open() {
        Ok(beads) => Ok(Some(beads)),
        Err(failure) if failure.code() == ErrorCode::DatabaseNotInitialized => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// All gates, in files and in the store.
pub(crate) fn gates(global: &Global) -> Result<Gates, Failure> {
    let beads = store_if_any(global)?;
    let store = beads.as_ref().map(|beads| &*beads.store as &dyn Store);
    Ok(gate::gates(&main_project()?, store)?)
}

#[derive(Serialize)]
struct MayNotBegin<'d> {
    bead: &'d str,
    allowed: bool,
    red: &'d [String],
}

/// That a bead may not be begun.
pub(crate) fn refused(denied: &Denied, bead: &str) -> Failure {
    let id = excerpt(bead);
    let results = MayNotBegin {
        bead,
        allowed: false,
        red: &denied.red,
    };
    Failure::new(ErrorCode::ValidationConstraint, denied.to_string())
        .details(format!(
            "{id} is a feature, and no feature is begun while a gate is red"
        ))
        .action("see `beads-ralph gate list` for what failed, fix it, then `beads-ralph gate run`")
        .with_results(results)
        .exit_with(1)
}

/// Refuses a gate of a plan: it is run in its place among the sprints, on their work, and would else be closed for something else.
pub(crate) fn refuse_planned(target: &Target) -> Result<(), Failure> {
    let Target::Stored(stored) = target else {
        return Ok(());
    };
    let issue = &stored.record.issue;
    if !is_gate(issue) || Gate::of_issue(issue).holds == Holds::Features {
        return Ok(());
    }
    let id = excerpt(issue.id().as_str());
    let message = format!("{id} is a gate of a plan, and is run on the work that it waits for");
    let failure = Failure::new(ErrorCode::ValidationConstraint, message);
    Err(failure.action(format!(
        "`beads-ralph run` runs it; `beads-ralph retry {id}` lets it be run again; `beads-ralph verify {id}` only looks"
    )))
}

/// A gate, for programs.
#[derive(Serialize)]
struct GateFacts<'g> {
    id: &'g str,
    title: &'g str,
    state: &'static str,
    why: Option<&'static str>,
    holds: &'static str,
    groups: &'g BTreeSet<String>,
    last_run: Option<&'g str>,
    failure: Option<&'g str>,
}

impl<'g> GateFacts<'g> {
    fn of(gate: &'g Gate) -> Self {
        let failure = gate.failure.as_deref();
        Self {
            id: &gate.id,
            title: &gate.title,
            state: gate.light.as_str(),
            why: match gate.light {
                Light::Green => None,
                Light::Red(why) => Some(why.as_str()),
            },
            holds: gate.holds.as_str(),
            groups: &gate.groups,
            last_run: gate.last_run.as_deref(),
            failure: failure.filter(|_| gate.is_red()),
        }
    }
}

fn list(global: &Global, ui: &Ui) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Gates<'g> {
        green: bool,
        gates: Vec<GateFacts<'g>>,
    }
    let gates = gates(global)?;
    if ui.is_json() {
        let is_green = !gates.standing().any(Gate::is_red);
        return ui.data(&Gates {
            green: is_green,
            gates: gates.all().iter().map(GateFacts::of).collect(),
        });
    }
    if gates.all().is_empty() {
        ui.say("there are no gates; `beads-ralph gate create ID --verifier COMMAND` writes one\n");
        return Ok(());
    }
    let mut table = Table::new(&["ID", "STATE", "LAST RUN", "HOLDS", "TITLE…", "WHY…"]);
    for gate in gates.all() {
        table.row(vec![
            gate.id.clone(),
            gate.light.as_str().to_owned(),
            last_run(gate),
            held(gate),
            gate.title.clone(),
            why(gate),
        ]);
    }
    ui.out(&table.draw(Page::of(ui)))
}

/// When it last ran. Of one that failed nobody can say that it never did.
fn last_run(gate: &Gate) -> String {
    let unknown = match gate.light {
        Light::Red(Why::Failed | Why::Reopened | Why::Running) => "unknown",
        _ => "never",
    };
    gate.last_run.clone().unwrap_or_else(|| unknown.to_owned())
}

/// Whom it holds back, as people read it.
fn held(gate: &Gate) -> String {
    let groups: Vec<&str> = gate.groups.iter().map(String::as_str).collect();
    match gate.holds {
        Holds::Dependents => "what depends on it".to_owned(),
        Holds::Features if groups.is_empty() => "features".to_owned(),
        Holds::Features => format!("features of {}", groups.join(", ")),
    }
}

/// Why it is red: what failed, where that is known.
fn why(gate: &Gate) -> String {
    match (gate.light, &gate.failure) {
        (Light::Green, _) => String::new(),
        (Light::Red(why), None) => why.as_str().to_owned(),
        (Light::Red(why), Some(failure)) => format!("{}: {failure}", why.as_str()),
    }
}

fn enforce(global: &Global, ui: &Ui) -> Result<(), Failure> {
    let ralph = main_project()?;
    let mut beads = store_if_any(global)?;
    let store = beads.as_ref().map(|beads| &*beads.store as &dyn Store);
    let gates = gate::gates(&ralph, store)?;
    let store = beads
        .as_mut()
        .map(|beads| (&mut *beads.store as &mut dyn Store, beads.by.stamp()));
    let (enforced, failures) = gates::enforce(&ralph, store, &gates)?;
    let failures = failures.into_iter().map(Failure::from).collect();
    if let Some(failure) = ui.worst(failures) {
        return Err(failure.with_results(enforced));
    }
    if ui.is_json() {
        return ui.data(&enforced);
    }
    ui.out(&enforced_text(&enforced))
}

fn enforced_text(enforced: &Enforced) -> String {
    let mut text = format!(
        "{} blocked, {} released\n",
        counted(enforced.blocked.len(), "feature", "features"),
        enforced.released.len()
    );
    if !enforced.red.is_empty() {
        let red = enforced.red.clone();
        _ = writeln!(text, "{}", Denied { red });
    }
    for (id, reason) in &enforced.blocked {
        _ = writeln!(text, "blocked {}: {}", excerpt(id), visible(reason));
    }
    for id in &enforced.released {
        _ = writeln!(text, "released {}", excerpt(id));
    }
    for (id, reason) in &enforced.held {
        let (id, reason) = (excerpt(id), visible(reason));
        _ = writeln!(
            text,
            "somebody works on {id}, which is left to them: {reason}"
        );
    }
    text
}
