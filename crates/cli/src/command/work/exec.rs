//! `exec`: works on one bead with an agent until its checks pass or a limit is reached.
//!
//! Data: `{bead, status, iterations, results: […], evidence, logs, receipt, duration_ms}`; a failure has the same in
//! `error.results`. With `--dry-run`: `{bead, dry_run: true, gate, agent, max_iterations, verifiers, …}`.

mod answer;
mod governed;
mod scratch;
mod site;
mod worker;

use std::fmt::Write as _;
use std::time::Duration;

use beads_ralph_core::dod::{DodBead, DodStatus, RetrySettings};
use beads_ralph_core::text::visible;
use beads_ralph_runtime::bead_files::{BeadFile, LogDirectory, Ralph};
use beads_ralph_runtime::check::Base;
use beads_ralph_runtime::config::{self, Config};
use beads_ralph_runtime::exec::{Report, Worker};
use beads_ralph_runtime::os::process::{Cancel, Units};
use beads_ralph_runtime::repo;
use camino::Utf8Path;
use clap::Args;
use serde_json::{Value, json};

use self::answer::answer;
pub(crate) use self::answer::word;
use self::scratch::Scratch;
use self::site::Site;
use self::worker::AgentWorker;
use crate::args::{BeadChoice, Global, PermissionsArg, duration};
use crate::command::gate;
use crate::command::work::{self, Target};
use crate::failure::Failure;
use crate::ui::{Ui, counted};

#[derive(Debug, Default, Args)]
pub(crate) struct ExecArgs {
    #[command(flatten)]
    pub(crate) choice: BeadChoice,
    /// The agent that works on it, such as claude or codex; without it the one of beads-ralph.yaml
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The tier of its model: haiku, sonnet or opus
    #[arg(long, value_name = "TIER")]
    pub(crate) model: Option<String>,
    /// How often the agent may try, unless the bead says so itself
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_iterations: Option<u32>,
    /// How long one call of the agent may take
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// What the agent may do without asking, instead of what beads-ralph.yaml says
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) permissions: Option<PermissionsArg>,
    /// Run the checks once, and no agent
    #[arg(long, conflicts_with = "verify_first")]
    pub(crate) verify_only: bool,
    /// Run the checks before the first agent; when they are green, none is called
    #[arg(long)]
    pub(crate) verify_first: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Work on it even if it is completed, or a gate is red
    #[arg(long)]
    pub(crate) force: bool,
    /// Work on a copy of the bead's directory that is thrown away at the end
    #[arg(long)]
    pub(crate) scratch: bool,
    /// Everything after -- is given to the agent's program
    #[arg(last = true, value_name = "OPTION")]
    pub(crate) options: Vec<String>,
}

pub(crate) fn run(args: &ExecArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    if args.scratch {
        let scratch = Scratch::copy(&args.choice)?;
        let ralph = Ralph::new(scratch.root());
        let config = config::load(Some(ralph.root()))?;
        let target = Target::file(scratch.bead(), &config.default_checks)?;
        return Exec::new(args, ui, ralph, config).run(target);
    }
    let ralph = work::project()?;
    let config = config::load(Some(&work::main_root(ralph.root())))?;
    let target = Target::find(&args.choice, &ralph, &config.default_checks, global)?;
    if !args.dry_run {
        gate::refuse_planned(&target)?;
    }
    let mut exec = Exec::new(args, ui, ralph, config);
    exec.overruled = exec.permit(&target, global)?;
    exec.run(target)
}

pub(crate) struct Exec<'a> {
    args: &'a ExecArgs,
    ui: &'a Ui,
    ralph: Ralph,
    config: Config,
    /// The red gates that `--force` overrules, in words.
    overruled: Option<String>,
}

/// A bead that was worked on, and what became of it.
pub(crate) struct Done {
    pub(crate) bead: DodBead,
    pub(crate) report: Report,
    pub(crate) logs: LogDirectory,
}

impl<'a> Exec<'a> {
    pub(crate) fn new(args: &'a ExecArgs, ui: &'a Ui, ralph: Ralph, config: Config) -> Self {
        Self {
            args,
            ui,
            ralph,
            config,
            overruled: None,
        }
    }

    fn run(&self, target: Target) -> Result<(), Failure> {
        let done = self.work(target, &Units::own()?, &Cancel::on_signals()?)?;
        match done {
            Some(done) => answer(&done, self.args.scratch, self.ui),
            None => Ok(()),
        }
    }

    /// Works on a bead. Nothing comes back where nothing was to be done, and people were told so.
    pub(crate) fn work(
        &self,
        target: Target,
        units: &Units,
        cancel: &Cancel,
    ) -> Result<Option<Done>, Failure> {
        let bead = target.bead().clone();
        for warning in &bead.warnings {
            self.ui.say(&format!("warning: {}\n", visible(warning)));
        }
        if self.leaves(&bead) {
            completed_already(&target, self.ui)?;
            return Ok(None);
        }
        let root = target.workplace(self.ralph.root())?;
        let mut worker = if bead.is_gate || self.args.verify_only {
            None
        } else {
            let place = worker::Place {
                units,
                cancel,
                project: self.ralph.root(),
                root: &root,
            };
            let worker = AgentWorker::prepare(self.args, &self.config, &target, place)?;
            Some(worker)
        };
        if self.args.dry_run {
            let agent = worker.as_ref().map(AgentWorker::describe);
            self.dry_run(&bead, &root, agent)?;
            return Ok(None);
        }
        for remark in worker.iter().flat_map(AgentWorker::remarks) {
            self.ui.say(&format!("{}\n", visible(&remark)));
        }
        self.ralph.prepare()?;
        let main = work::main_root(self.ralph.root());
        let commit = target.base_commit();
        let base = commit.as_deref();
        let base = base.map(|base| Base::new(&main, base, &self.config.worktrees));
        let site = Site {
            exec: self,
            units,
            cancel,
            root: &root,
            evidence: self.ralph.evidence(&bead.id),
            base: base.as_ref(),
        };
        let worker = worker.as_mut().map(|worker| worker as &mut dyn Worker);
        match target {
            Target::File(file) => site.file(&file, worker),
            Target::Stored(stored) => site.stored(*stored, worker),
        }
    }

    /// Whether there is nothing to do, because the bead is completed (V-16). Asked to check it, we check it.
    fn leaves(&self, bead: &DodBead) -> bool {
        let is_asked = self.args.force || self.args.verify_only;
        bead.status == DodStatus::Completed && !is_asked
    }

    /// How the loop is to go: what the bead says beats the command line, which beats the defaults (V-10).
    fn settings(&self, bead: &DodBead, has_agent: bool) -> RetrySettings {
        let constraints = &bead.constraints;
        let asked = constraints.max_iterations.or(self.args.max_iterations);
        let budgets = [constraints.time_budget, self.config.budgets.bead.time()];
        RetrySettings {
            max_iterations: asked.unwrap_or(DodBead::DEFAULT_MAX_ITERATIONS),
            backoff: bead.backoff,
            time_budget: budgets.into_iter().flatten().min(),
            deadline: constraints.deadline,
            // No agent works on a gate (V-11): what it waits for is somebody else's work.
            has_agent: has_agent && !bead.is_gate,
            verifies_first: self.args.verify_first,
        }
    }

    fn dry_run(
        &self,
        bead: &DodBead,
        root: &Utf8Path,
        agent: Option<Value>,
    ) -> Result<(), Failure> {
        let verifiers = &bead.dod.verifiers;
        let settings = self.settings(bead, agent.is_some());
        if self.ui.is_json() {
            return self.ui.data(&json!({
                "bead": bead.id, "dry_run": true, "gate": bead.is_gate, "root": root, "agent": agent,
                "max_iterations": settings.max_iterations, "verify_first": settings.verifies_first,
                "time_budget_minutes": settings.time_budget.map(|budget| budget.as_secs() / 60),
                "deadline": settings.deadline.map(|deadline| deadline.to_string()),
                "verifiers": verifiers,
            }));
        }
        let title = visible(&bead.title);
        let mut text = format!("{}: {title}\nin {}\n", bead.id, repo::shown(root));
        match agent {
            None => text.push_str("no agent is called\n"),
            Some(agent) => {
                let argv = agent["argv"].as_array().into_iter().flatten();
                let argv: Vec<&str> = argv.filter_map(Value::as_str).collect();
                let argv = visible(&argv.join(" "));
                let most = counted(settings.max_iterations as usize, "iteration", "iterations");
                _ = writeln!(text, "agent, at most {most}: {argv}");
            }
        }
        for verifier in verifiers {
            let (name, command) = (visible(&verifier.name), visible(&verifier.command));
            let limit = verifier.timeout_seconds;
            _ = writeln!(text, "check {name} (at most {limit}s): {command}");
        }
        self.ui.out(&text)
    }
}

/// Nothing is left to do, but for a move that a crash kept from happening (§8.4).
fn completed_already(target: &Target, ui: &Ui) -> Result<(), Failure> {
    let id = &target.bead().id;
    if let Target::File(file) = target {
        BeadFile::read(file.path())?.move_completed()?;
    }
    if ui.is_json() {
        let data = json!({"bead": id, "status": "completed", "iterations": 0, "changed": false});
        return ui.data(&data);
    }
    ui.say(&format!(
        "{id} is completed already; --force works on it again\n"
    ));
    Ok(())
}
