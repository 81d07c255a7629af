//! What is simulated: beads as tasks, how the run decides, and the world as numbers.

use std::collections::BTreeSet;

use beads_ralph_core::bead::{AgentSpec, BeadId, BeadShape, RalphBead, Rules};
use beads_ralph_core::diag::{ErrorCode, sort_by_place};
use beads_ralph_core::engine::{Event, IntegrationMode, Settings, Task};
use beads_ralph_core::gate::Gates;
use beads_ralph_core::issue::{Abandoned, Claim, Entry, Query, StatusFilter};
use beads_ralph_core::simulate::{Lessons, Recorded, WorldModel};
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::app::plan::{PlanInput, PlanOptions};
use beads_ralph_runtime::config::{self, Config};
use beads_ralph_runtime::run::{RunDirectory, Selection, Sight, TaskReader, read_journal};
use beads_ralph_runtime::store::{self, MemoryStore, Stamp, Store, Write};
use beads_ralph_runtime::{os::clock, os::host};
use camino::Utf8Path;
use jiff::Timestamp;

use super::SimulateArgs;
use crate::args::Global;
use crate::args::here;
use crate::command::inspect::journal::{self, Journal};
use crate::command::inspect::simulate::model::ModelArgs;
use crate::command::plan::error;
use crate::command::work::run::settings::configured;
use crate::failure::Failure;
use crate::ui::{Stream, Ui, render};

/// How many of the last runs are learned from.
const MAX_RUNS: usize = 20;

pub(super) struct Work {
    pub(super) tasks: Vec<Task>,
    pub(super) settings: Settings,
    pub(super) model: WorldModel,
    /// How many runs of agents the model is learned from.
    pub(super) n_learned: usize,
    /// Whether none of these said what it cost.
    pub(super) is_unpriced: bool,
    pub(super) run: Option<Run>,
    pub(super) began: Timestamp,
}

pub(super) struct Run {
    pub(super) journal: Journal,
    pub(super) recorded: Recorded,
}

pub(super) fn read(args: &SimulateArgs, global: &Global, ui: &Ui) -> Result<Work, Failure> {
    let mut lessons = Lessons::default();
    let (tasks, settings, run) = match (&args.from_run, &args.plan) {
        (Some(run), _) => {
            let run = read_run(run)?;
            lessons.take_run(&run.recorded);
            let tasks = run.recorded.tasks();
            (tasks, run.journal.head.settings.clone(), Some(run))
        }
        (None, Some(plan)) => {
            let (tasks, settings) = of_plan(plan, args, ui)?;
            if let (false, Ok(beads)) = (args.model.no_history, global.open()) {
                learn(&beads, &rules_of(here().ok().as_deref())?, &mut lessons)?;
            }
            (tasks, settings, None)
        }
        (None, None) => {
            let beads = global.open()?;
            let config = config::load(beads.directory.parent())?;
            let rules = rules(&config);
            if !args.model.no_history {
                learn(&beads, &rules, &mut lessons)?;
            }
            let tasks = tasks(&*beads.store, &config)?;
            (tasks, settings(&config), None)
        }
    };
    let mut model = WorldModel::default();
    lessons.apply(&mut model);
    said(&args.model, &mut model);
    Ok(Work {
        settings: Settings {
            max_parallel: args.workers.map_or(settings.max_parallel, usize::from),
            ..settings
        },
        tasks: standing_alone(tasks),
        model,
        n_learned: lessons.n_runs(),
        is_unpriced: lessons.is_unpriced(),
        began: run
            .as_ref()
            .map_or_else(clock::now, |run| run.recorded.began()),
        run,
    })
}

fn read_run(name: &str) -> Result<Run, Failure> {
    let journal = journal::read(name)?;
    let recorded = Recorded::new(&journal.entries).ok_or_else(|| {
        Failure::new(
            ErrorCode::DependencyUnresolved,
            "nothing happened in that run",
        )
        .action("name a run that did something")
    })?;
    Ok(Run { journal, recorded })
}

/// What is not part of the simulation counts as done.
fn standing_alone(mut tasks: Vec<Task>) -> Vec<Task> {
    let ids: BTreeSet<BeadId> = tasks.iter().map(|task| task.id.clone()).collect();
    for task in &mut tasks {
        task.waits_for.retain(|id| ids.contains(id));
    }
    tasks
}

fn of_plan(
    path: &Utf8Path,
    args: &SimulateArgs,
    ui: &Ui,
) -> Result<(Vec<Task>, Settings), Failure> {
    let options = PlanOptions {
        sprint_filter: args.sprint_filter.clone(),
        ..args.rules.options()
    };
    let input = PlanInput::read(path, options)?;
    let source = &input.source;
    let mut compiled = (input.compile()).map_err(|error| error::failure(error, source, ui))?;
    sort_by_place(&mut compiled.findings);
    ui.say(&render(source, &compiled.findings, ui.style(Stream::Err)));
    let config = input.context.config();
    let tasks = tasks(&stored(&compiled.beads)?, config)?;
    Ok((tasks, settings(config)))
}

/// The beads of a plan in a store that nobody keeps, so that they are read as a run reads them.
fn stored(beads: &[RalphBead]) -> Result<MemoryStore, Failure> {
    let mut store = MemoryStore::new();
    let by = Stamp {
        actor: "simulate",
        at: clock::now(),
    };
    let mut batch = Vec::with_capacity(beads.len());
    for bead in beads {
        let entry = Entry::from_document(bead.to_document(BeadShape::Both)).map_err(|errors| {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            let message = format!("bead {} is not valid: {}", bead.id, errors.join("; "));
            Failure::new(ErrorCode::ValidationConstraint, message)
        })?;
        batch.push(Write::Insert(Box::new(entry)));
    }
    store.write(&batch, by)?;
    Ok(store)
}

fn rules(config: &Config) -> Rules {
    Rules {
        rig: config.rig.clone(),
    }
}

fn rules_of(directory: Option<&Utf8Path>) -> Result<Rules, Failure> {
    let root = directory.and_then(store::root_of);
    Ok(rules(&config::load(root.as_deref())?))
}

/// Whether the holder of a claim is gone, as far as this machine can tell (Z-4).
fn gone(claim: &Claim, now: Timestamp) -> Option<Abandoned> {
    claim.is_abandoned(now, &host::name(), host::liveness)
}

fn tasks(store: &dyn Store, config: &Config) -> Result<Vec<Task>, Failure> {
    let default = config.agents.chosen().map(|adapter| adapter.name.clone());
    let default = default.unwrap_or_else(|| "claude".to_owned());
    let account = |spec: &AgentSpec| spec.adapter.clone().unwrap_or_else(|| default.clone());
    let reader = TaskReader {
        rules: rules(config),
        max_attempts: config.run.max_attempts,
        has_default_checks: !config.default_checks.is_empty(),
        selection: Selection::default(),
        gone: &gone,
        // What is held back goes on once the gates are green, which a simulation takes for granted.
        gates: &|_| Ok(Gates::default()),
        account: &account,
    };
    let seen = Sight::default().look(store, &reader, clock::now(), &|_| false)?;
    Ok(match seen {
        Some(Event::Seen { tasks, .. }) => tasks,
        _ => Vec::new(),
    })
}

/// Learns from the journals of the last runs; where there are none, from what all beads keep of their agents' runs, which say nothing of
/// checks and costs.
fn learn(beads: &Beads, rules: &Rules, lessons: &mut Lessons) -> Result<(), Failure> {
    let runs = RunDirectory::all(&beads.directory);
    for run in runs.iter().rev().take(MAX_RUNS) {
        // A run of another version cannot be read, and is nothing to learn from.
        let read = read_journal(run).ok();
        if let Some(recorded) = read.and_then(|(_, entries)| Recorded::new(&entries)) {
            lessons.take_run(&recorded);
        }
    }
    if lessons.n_runs() > 0 {
        return Ok(());
    }
    let everything = Query {
        status: StatusFilter::Any,
        ..Query::default()
    };
    for record in beads.store.find(&everything)? {
        if let Ok(bead) = record.issue.to_ralph_bead(&[], rules) {
            let metadata = &bead.metadata;
            lessons.take_executions(
                &metadata.dev_agent_executions,
                &metadata.qa_agent_executions,
            );
        }
    }
    Ok(())
}

/// Puts what was given in the place of what was learned or guessed.
fn said(args: &ModelArgs, model: &mut WorldModel) {
    if let Some(time) = &args.dev_minutes {
        model.developer.time_ms = time.clone();
        model.developers.clear();
    }
    if let Some(time) = &args.qa_minutes {
        model.judge.time_ms = time.clone();
        model.judges.clear();
    }
    if let Some(time) = &args.check_minutes {
        model.checks_ms = time.clone();
    }
    for agent in model.developers.values_mut().chain([&mut model.developer]) {
        if let Some(cost) = &args.dev_cost {
            agent.cost_micros = cost.clone();
        }
    }
    for agent in model.judges.values_mut().chain([&mut model.judge]) {
        if let Some(cost) = &args.qa_cost {
            agent.cost_micros = cost.clone();
        }
    }
    let rates = &mut model.rates;
    rates.attempt_fails = args.fail_rate.unwrap_or(rates.attempt_fails);
    rates.limits = args.limit_rate.unwrap_or(rates.limits);
}

/// How a run with this configuration decides.
fn settings(config: &Config) -> Settings {
    let target = || config.integration.target.clone().unwrap_or_default();
    let mode = config.integration.mode.unwrap_or(IntegrationMode::Pr);
    let integration = mode.into(target);
    Settings {
        run: "simulated".to_owned(),
        ..configured(config, integration)
    }
}
