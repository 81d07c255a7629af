//! `exec`: works on one bead with an agent until its checks pass or it is given up (contracts §8.3).
//!
//! Data: `{bead, status, iterations, results: […], evidence, logs, receipt, duration_ms}`; a failure has the same in
//! `error.results`. With `--dry-run`: `{bead, dry_run: true, gate, agent, max_iterations, verifiers, …}`.

mod scratch;
mod worker;

use std::fmt::Write as _;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::dod::{DodBead, DodStatus, Settings};
use beads_ralph_core::issue::Holder;
use beads_ralph_runtime::config::{self, Config};
use beads_ralph_runtime::exec::{
    self, Ending, FileKeeper, Keeper, KeeperError, Report, StoreKeeper, Worker, Workshop,
};
use beads_ralph_runtime::ralph::{BeadFile, Evidence, LogDirectory, Ralph};
use beads_ralph_runtime::unit::{Cancel, Units};
use beads_ralph_runtime::{clock, host, repo};
use camino::Utf8Path;
use serde_json::{Value, json};

use self::scratch::Scratch;
use self::worker::AgentWorker;
use super::verify::red;
use crate::args::{ExecArgs, Global};
use crate::failure::Failure;
use crate::live::Live;
use crate::ui::{Ui, counted};
use crate::work::{self, Stored, Target, seconds};

/// Who we are, for the bead.
const VERSION: &str = concat!("beads-ralph ", env!("CARGO_PKG_VERSION"));

pub(crate) fn run(args: &ExecArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    if args.scratch {
        let scratch = Scratch::copy(&args.choice)?;
        let ralph = Ralph::new(scratch.root());
        return Exec::prepare(args, global, ui, ralph, Target::file(scratch.bead())?)?.run();
    }
    let ralph = work::project()?;
    let target = Target::find(&args.choice, &ralph, global)?;
    Exec::prepare(args, global, ui, ralph, target)?.run()
}

struct Exec<'a> {
    args: &'a ExecArgs,
    ui: &'a Ui,
    ralph: Ralph,
    config: Config,
    target: Target,
    settings: Settings,
}

impl<'a> Exec<'a> {
    fn prepare(
        args: &'a ExecArgs,
        _: &Global,
        ui: &'a Ui,
        ralph: Ralph,
        target: Target,
    ) -> Result<Self, Failure> {
        let config = config::load(Some(ralph.root()))?;
        let settings = settings(target.bead(), args);
        Ok(Self {
            args,
            ui,
            ralph,
            config,
            target,
            settings,
        })
    }

    fn run(self) -> Result<(), Failure> {
        let bead = self.target.bead().clone();
        for warning in &bead.warnings {
            self.ui.say(&format!("warning: {warning}\n"));
        }
        if bead.status == DodStatus::Completed && !self.args.force {
            return completed_already(&bead, self.ui);
        }
        let root = self.target.workplace(self.ralph.root())?;
        let (units, cancel) = (Units::own()?, Cancel::on_signals()?);
        let mut worker = if self.settings.has_agent {
            let place = worker::Place {
                units: &units,
                cancel: &cancel,
                project: self.ralph.root(),
                root: &root,
            };
            let worker = AgentWorker::prepare(self.args, &self.config, &self.target, place)?;
            Some(worker)
        } else {
            None
        };
        if self.args.dry_run {
            let agent = worker.as_ref().map(AgentWorker::describe);
            return self.dry_run(&bead, &root, agent);
        }
        for warning in worker.iter().flat_map(AgentWorker::warnings) {
            self.ui.say(&format!("warning: {warning}\n"));
        }
        self.ralph.prepare()?;
        let evidence = self.ralph.evidence(&bead.id);
        let lock = evidence.lock()?.ok_or_else(|| somebody_else(&bead))?;
        let logs = evidence.begin(clock::now())?;
        let place = Place {
            units: &units,
            cancel: &cancel,
            root: &root,
            evidence: &evidence,
            logs: &logs,
            must_be_clean: root != *self.ralph.root(),
        };
        let worker = worker.as_mut().map(|worker| worker as &mut dyn Worker);
        let report = match self.target {
            Target::File(file) => {
                // Somebody may have completed it between the first look and the lock.
                let file = BeadFile::read(file.path())?;
                if file.bead().status == DodStatus::Completed && !self.args.force {
                    return completed_already(&bead, self.ui);
                }
                let mut keeper = FileKeeper::new(file, evidence.clone(), lock);
                place.pursue(&mut keeper, worker, self.settings, &self.config, self.ui)?
            }
            Target::Stored(mut stored) => {
                let mut keeper = claim(&mut stored)?;
                place.pursue(&mut keeper, worker, self.settings, &self.config, self.ui)?
            }
        };
        answer(&bead, &report, &logs, self.args.scratch, self.ui)
    }

    fn dry_run(
        &self,
        bead: &DodBead,
        root: &Utf8Path,
        agent: Option<Value>,
    ) -> Result<(), Failure> {
        let verifiers = &bead.dod.verifiers;
        if self.ui.is_json() {
            return self.ui.data(&json!({
                "bead": bead.id, "dry_run": true, "gate": bead.is_gate, "root": root, "agent": agent,
                "max_iterations": self.settings.max_iterations, "verify_first": self.settings.verifies_first,
                "time_budget_minutes": self.settings.time_budget.map(|budget| budget.as_secs() / 60),
                "deadline": self.settings.deadline.map(|deadline| deadline.to_string()),
                "verifiers": verifiers,
            }));
        }
        let mut text = format!("{}: {}\nin {}\n", bead.id, bead.title, repo::shown(root));
        match agent {
            None => text.push_str("no agent is called\n"),
            Some(agent) => {
                let argv = agent["argv"].as_array().into_iter().flatten();
                let argv: Vec<&str> = argv.filter_map(Value::as_str).collect();
                let most = counted(
                    self.settings.max_iterations as usize,
                    "iteration",
                    "iterations",
                );
                _ = writeln!(text, "agent, at most {most}: {}", argv.join(" "));
            }
        }
        for verifier in verifiers {
            _ = writeln!(
                text,
                "check {} (at most {}s): {}",
                verifier.name, verifier.timeout_seconds, verifier.command
            );
        }
        self.ui.out(&text)
    }
}

fn completed_already(bead: &DodBead, ui: &Ui) -> Result<(), Failure> {
    if ui.is_json() {
        return ui.data(
            &json!({"bead": bead.id, "status": "completed", "iterations": 0, "changed": false}),
        );
    }
    ui.say(&format!(
        "{} is completed already; --force works on it again\n",
        bead.id
    ));
    Ok(())
}

/// How the loop is to go: what the bead says beats the command line, which beats the defaults (V-10).
fn settings(bead: &DodBead, args: &ExecArgs) -> Settings {
    let constraints = &bead.constraints;
    let asked = constraints.max_iterations.or(args.max_iterations);
    Settings {
        max_iterations: asked.unwrap_or(DodBead::DEFAULT_MAX_ITERATIONS),
        backoff: bead.backoff,
        time_budget: constraints.time_budget,
        deadline: constraints.deadline,
        // A gate is never mended by an agent (V-11): what it waits for is somebody else's work.
        has_agent: !bead.is_gate && !args.verify_only,
        verifies_first: args.verify_first,
    }
}

/// Where the work is done.
struct Place<'a> {
    units: &'a Units,
    cancel: &'a Cancel,
    root: &'a Utf8Path,
    evidence: &'a Evidence,
    logs: &'a LogDirectory,
    must_be_clean: bool,
}

impl Place<'_> {
    fn pursue(
        &self,
        keeper: &mut dyn Keeper,
        worker: Option<&mut dyn Worker>,
        settings: Settings,
        config: &Config,
        ui: &Ui,
    ) -> Result<Report, Failure> {
        let budget = config.budgets.bead.budget();
        let workshop = Workshop {
            units: self.units,
            cancel: self.cancel,
            root: self.root,
            shell: &config.shell,
            evidence: self.evidence,
            logs: self.logs,
            must_be_clean: self.must_be_clean,
            budget: &budget,
            version: VERSION,
        };
        let mut live = Live::new(ui);
        // The worker lives longer than this call, and inside an option that has to be said.
        let worker = worker.map(|worker| worker as &mut dyn Worker);
        Ok(exec::pursue(
            &workshop, keeper, worker, settings, &mut live,
        )?)
    }
}

/// Takes a bead of the store for this process. One whose holder is proven to be gone is taken from it (Z-4).
fn claim(stored: &mut Stored) -> Result<StoreKeeper<'_>, Failure> {
    let Stored {
        beads,
        record,
        bead,
    } = stored;
    let id = record.issue.id();
    let actor = beads.by.actor().to_owned();
    let holder = Holder {
        run: format!("exec-{}", std::process::id()),
        host: host::name(),
        process: host::process(std::process::id()),
    };
    if let Some(claim) = &record.claim
        && let Some(why) = claim.is_abandoned(beads.by.now, &host::name(), host::liveness)
    {
        let stamp = beads.by.stamp();
        beads.store.reclaim(id, claim.fence, why, stamp)?;
    }
    let keeper = StoreKeeper::claim(&mut *beads.store, bead.clone(), id, &holder, &actor)?;
    Ok(keeper)
}

fn somebody_else(bead: &DodBead) -> Failure {
    let message = format!(
        "{} is already claimed: another process works on it",
        bead.id
    );
    Failure::new(ErrorCode::ValidationConstraint, message)
        .action("wait until it has ended")
        .exit_with(4)
}

impl From<KeeperError> for Failure {
    fn from(error: KeeperError) -> Self {
        match error {
            KeeperError::File(error) => error.into(),
            KeeperError::Store(error) => error.into(),
        }
    }
}

/// What people and programs are told at the end.
fn answer(
    bead: &DodBead,
    report: &Report,
    logs: &LogDirectory,
    is_scratch: bool,
    ui: &Ui,
) -> Result<(), Failure> {
    let data = json!({
        "bead": bead.id,
        "status": word(&report.ending),
        "iterations": report.iterations,
        "results": report.records,
        "evidence": report.evidence,
        "logs": logs.path(),
        "receipt": report.receipt,
        "duration_ms": u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX),
    });
    if !report.records.is_empty() {
        work::show(&report.records, ui)?;
    }
    let failure = match &report.ending {
        Ending::Completed if ui.is_json() => return ui.data(&data),
        Ending::Completed => {
            ui.say(&completed(bead, report, is_scratch));
            return Ok(());
        }
        Ending::Red => red(bead, &report.records),
        Ending::Failed(reason) => given_up(bead, report, reason),
        Ending::Interrupted => Failure::new(
            ErrorCode::ValidationConstraint,
            format!(
                "{} was interrupted; nothing that runs was left behind",
                bead.id
            ),
        )
        .action(format!("run `beads-ralph exec {}` to go on", bead.id)),
    };
    Err(failure.with_results(data))
}

fn word(ending: &Ending) -> &'static str {
    match ending {
        Ending::Completed => "completed",
        Ending::Red => "red",
        Ending::Failed(_) => "failed",
        Ending::Interrupted => "interrupted",
    }
}

fn completed(bead: &DodBead, report: &Report, is_scratch: bool) -> String {
    let iterations = counted(report.iterations as usize, "iteration", "iterations");
    let evidence = match report.evidence.as_deref().map(repo::shown) {
        _ if is_scratch => "it was a copy, which is thrown away with its evidence\n".to_owned(),
        Some(path) => format!("evidence in {path}\n"),
        None => String::new(),
    };
    format!(
        "{} is completed: {iterations}, {}{}\n{evidence}",
        bead.id,
        seconds(u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX)),
        cost(report),
    )
}

fn cost(report: &Report) -> String {
    let receipt = &report.receipt;
    if receipt.agent_calls == 0 {
        return String::new();
    }
    let unknown = if receipt.calls_of_unknown_cost > 0 {
        " and what is not known"
    } else {
        ""
    };
    format!(
        ", {} tokens, ${:.4}{unknown}",
        receipt.tokens.total(),
        receipt.usd
    )
}

fn given_up(bead: &DodBead, report: &Report, reason: &str) -> Failure {
    let iterations = counted(report.iterations as usize, "iteration", "iterations");
    let message = format!(
        "{} was given up after {iterations}{}: {reason}",
        bead.id,
        cost(report)
    );
    Failure::new(ErrorCode::ValidationConstraint, message).action(format!(
        "see `beads-ralph logs {0}` for what agent and checks wrote, then run `beads-ralph exec {0}` again",
        bead.id
    ))
}
