//! Running an agent for a stage, and running commands that check the work, while the claim on the step is renewed.

use std::collections::BTreeMap;
use std::time::Duration;

use beads_ralph_core::agent::{
    AgentRole, Call, Context, Outcome, Permissions, Session, Status as AgentStatus, Tokens,
};
use beads_ralph_core::bead::{
    AgentPath, AgentSpec, Expect, Model, OnFailure, Role, Timestamp, Verifier,
};
use beads_ralph_core::check::{CheckRecord, warnings};
use beads_ralph_core::engine::{CommitId, Trouble};
use beads_ralph_core::implement::AUDIT_DIRECTORY;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;

use super::Dispatcher;
use super::assign::Assignment;
use super::claim::Held;
use super::ending::{ImplementError, Stop};
use super::watch::{Beating, Watchman};
use crate::agent::{self, Finding, Job};
use crate::agent_files;
use crate::check::{Again, Base, Checks, Ground};
use crate::os::process::{Cancel, Mark};
use crate::os::{clock, files};
use crate::progress::News;
use crate::run::set_up::OwnBd;
use crate::work_dir::Tree;

pub(super) struct Errand<'e> {
    /// The name of the agent, which is that of its file.
    pub(super) name: &'e str,
    pub(super) adapter: Option<&'e str>,
    /// The tier of its model, where it is not the usual one.
    pub(super) model: Option<Model>,
    pub(super) prompt: String,
    pub(super) role: AgentRole,
    pub(super) attempt: u32,
    /// The shape of its answer, where it answers and writes no report.
    pub(super) schema: Option<Value>,
    /// Where it writes its report, where it does.
    pub(super) report: Option<&'e Utf8Path>,
    pub(super) session: String,
    pub(super) directory: Utf8PathBuf,
    pub(super) limit: Duration,
    pub(super) mark: Mark,
}

impl Dispatcher<'_> {
    /// Runs a worker to its end. A failure that is not the worker's fault is an error, so that it can be retried.
    pub(super) fn call(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
        errand: &Errand<'_>,
    ) -> Result<Outcome, Stop> {
        let outcome = self.outcome(assignment, held, errand)?;
        match outcome.status {
            AgentStatus::Limit => Err(ImplementError::Limit {
                reason: outcome.reason,
                until: outcome.resets_at,
            }
            .into()),
            AgentStatus::Auth | AgentStatus::Config => Err(ImplementError::NotReady {
                message: outcome.reason,
                action: "see `beads-ralph doctor agents`".to_owned(),
            }
            .into()),
            _ => Ok(outcome),
        }
    }

    pub(super) fn outcome(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
        errand: &Errand<'_>,
    ) -> Result<Outcome, Stop> {
        let (spec, instructions) = self.spec(assignment, errand)?;
        let resolved = agent::resolve(self.site.config, self.site.root, &spec)
            .map_err(|findings| not_ready(&findings))?;
        let permissions = self.permissions(&spec)?;
        let prompt = match &instructions {
            Some(text) => format!("{}\n\n---\n\n{}", text.trim(), errand.prompt),
            None => errand.prompt.clone(),
        };
        let place = assignment.place.as_str();
        let mut call = Call::new(prompt, place, permissions).with_spec(&spec);
        call.agent.clone_from(&resolved.agent);
        call.model = Some(resolved.model.model);
        call.budget = self.site.config.budgets.attempt.budget();
        call.session = Session::Named(errand.session.clone());
        call.schema.clone_from(&errand.schema);
        call.env.extend(self.own_bd().variables());
        files::create_directory(&errand.directory)?;
        let job = Job {
            adapter: resolved.adapter,
            program: &resolved.program,
            call,
            context: Context {
                bead: held.id.to_string(),
                sprint: None,
                role: errand.role,
                attempt: errand.attempt,
                agent: Some(errand.name.to_owned()),
                worktree: place.to_owned(),
                report: errand.report.map(Utf8Path::to_string),
                fence: None,
            },
            directory: &errand.directory,
            mark: errand.mark.clone(),
            limit: errand.limit,
            drain: agent::DRAIN,
            withhold: &self.site.config.agents.withhold_env,
            before: Tokens::default(),
        };
        self.listener.hear(&News::AgentBegins {
            agent: errand.name,
            iteration: errand.attempt,
            of: errand.attempt,
        });
        let begun = clock::monotonic();
        let outcome = self.watched(held, job)?;
        let duration = clock::monotonic().saturating_duration_since(begun);
        self.listener.hear(&News::AgentEnded {
            outcome: &outcome,
            duration,
        });
        Ok(outcome)
    }

    /// Runs an agent; it ends when everything is to end, or when the step is somebody else's.
    fn watched(&mut self, held: &mut Held, job: Job<'_>) -> Result<Outcome, Stop> {
        let cancel = Cancel::new()
            .map_err(|error| ImplementError::Trouble(Trouble::passing(error.to_string())))?;
        let is_apart = Utf8Path::new(&job.call.worktree) != self.site.root;
        let main = Tree::at(self.site.root, self.site.root, self.site.units);
        let before = is_apart.then(|| main.snapshot());
        let mut watchman = Watchman {
            store: &mut *self.store,
            held,
            listener: &mut *self.listener,
            all: self.site.cancel,
            own: &cancel,
            doing: None,
            main: is_apart.then(|| (&self.main, self.main.look(self.site.units).0)),
            units: self.site.units,
            mark: job.mark.clone(),
            stray: None,
            lost: None,
        };
        let outcome = agent::run(self.site.units, job, &cancel, &mut watchman);
        let (stray, lost) = (watchman.stray.take(), watchman.lost.take());
        if before.is_some_and(|before| main.snapshot() != before) {
            let text =
                "the main checkout changed while the agent worked; check whether that was you";
            self.decide("Z-17", text);
            self.told.warnings.push(text.to_owned());
            self.strays.push(text.to_owned());
        }
        if let Some(lost) = lost {
            return Err(lost.into());
        }
        let mut outcome = outcome?;
        if self.site.cancel.is_cancelled() {
            return Err(ImplementError::Interrupted.into());
        }
        if let Some(what) = stray {
            outcome.status = AgentStatus::Failed;
            outcome.reason = format!("it was stopped because it changed the main checkout: {what}");
        }
        Ok(outcome)
    }

    /// The name `bd` for agents: they may look at beads and change none (Z-18).
    fn own_bd(&self) -> OwnBd {
        let directory = self.site.beads.join(AUDIT_DIRECTORY).join("bin");
        OwnBd::at(&directory, self.site.beads)
    }

    fn permissions(&self, spec: &AgentSpec) -> Result<Permissions, Stop> {
        let (config, root) = (self.site.config, self.site.root);
        let takes_modes = agent::takes_modes(config, root, spec);
        let chosen = self.site.permissions;
        // A program that takes no mode decides itself what it does, and there is nothing to ask.
        let chosen = chosen.or((!takes_modes).then_some(Permissions::Bypass));
        let findings = agent::ready(config, root, chosen, [spec]);
        match chosen {
            Some(chosen) if findings.iter().all(|finding| !finding.is_error) => Ok(chosen),
            _ => Err(not_ready(&findings)),
        }
    }

    /// Whether what is called is a command of the user's own, and no agent that reads files about itself.
    fn is_command(&self, errand: &Errand<'_>) -> bool {
        let mut spec = AgentSpec::new(Role::Polecat, AgentPath::built_in());
        spec.adapter = errand.adapter.map(str::to_owned);
        let resolved = agent::resolve(self.site.config, self.site.root, &spec);
        resolved.is_ok_and(|resolved| resolved.adapter.kind == "command")
    }

    /// Who is called: the agent's own file where it is in the worktree, else our instructions in front of the task.
    fn spec(
        &self,
        assignment: &Assignment,
        errand: &Errand<'_>,
    ) -> Result<(AgentSpec, Option<String>), Stop> {
        let bad = |error: String| ImplementError::NotReady {
            message: error,
            action: "name an agent of .claude/agents, or one of those that `init --agents` writes"
                .to_owned(),
        };
        let path = AgentPath::for_name(errand.name).map_err(|it| bad(it.to_string()))?;
        let has_file = |root: &Utf8Path| agent_files::definition(root, &path);
        let own = has_file(&assignment.place).and(has_file(self.site.root));
        let described = || has_file(self.site.root).or_else(|| agent_files::built_in(errand.name));
        let instructions = match (&own, described()) {
            (Some(_), _) => None,
            (None, Some(definition)) => Some(definition.instructions),
            // A command of the user's own may know the name by which it is called.
            (None, None) if path.is_built_in() || self.is_command(errand) => None,
            (None, None) => {
                let name = errand.name;
                return Err(bad(format!("no agent `{name}` in .claude/agents")).into());
            }
        };
        let agent = match own {
            Some(_) => path,
            None => AgentPath::built_in(),
        };
        let mut spec = AgentSpec::new(Role::Polecat, agent);
        spec.adapter = errand.adapter.map(str::to_owned);
        spec.model = errand.model;
        Ok((spec, instructions))
    }
}

fn not_ready(findings: &[Finding]) -> Stop {
    let errors: Vec<&Finding> = findings.iter().filter(|finding| finding.is_error).collect();
    let messages: Vec<&str> = errors.iter().map(|it| it.message.as_str()).collect();
    let action = errors.first().map(|finding| finding.action.clone());
    ImplementError::NotReady {
        message: messages.join("; "),
        action: action.unwrap_or_else(|| "see `beads-ralph doctor agents`".to_owned()),
    }
    .into()
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Examination<'e> {
    pub(super) commands: &'e [&'e str],
    pub(super) worktree: &'e Utf8Path,
    pub(super) ground: Ground<'e>,
    /// Where what they print is kept, with a number behind its name when the stage is done again.
    pub(super) logs: &'e Utf8Path,
    /// What the work began from, where it matters whose fault it is that something does not hold.
    pub(super) base: Option<&'e CommitId>,
}

impl Dispatcher<'_> {
    /// Runs every command to its end, each within the time that a worker has.
    pub(super) fn examined(
        &mut self,
        held: &mut Held,
        examination: Examination<'_>,
    ) -> Result<Vec<CheckRecord>, Stop> {
        let worktrees = &self.site.config.worktrees;
        let limit = self.site.config.implement.worker_timeout.as_secs().max(1);
        let is_blank = |command: &&str| command.trim().is_empty();
        if examination.commands.iter().any(is_blank) {
            let now = Timestamp::from_instant(clock::now());
            return Ok(vec![CheckRecord::failed(
                "commands",
                "a command is empty",
                &now,
            )]);
        }
        let verifier = |command: &&str| Verifier {
            name: (*command).to_owned(),
            command: (*command).to_owned(),
            expect: Expect::default(),
            timeout_seconds: limit,
            on_failure: OnFailure::Continue,
        };
        let verifiers: Vec<Verifier> = examination.commands.iter().map(verifier).collect();
        let (logs, _) = files::fresh_directory(examination.logs)?;
        let base = examination.base;
        let base = base.map(|base| Base::new(self.site.root, &base.0, worktrees));
        let checks = Checks {
            units: self.site.units,
            cancel: self.site.cancel,
            root: examination.worktree,
            home: self.site.root,
            shell: &self.site.config.shell,
            withhold: &self.site.config.agents.withhold_env,
            env: &BTreeMap::new(),
            ground: examination.ground,
            mark: &self.site.mark,
            logs: &logs,
            again: Again {
                retries: self.site.config.flaky_retries,
                base: base.as_ref(),
            },
        };
        let mut beating = Beating {
            store: &mut *self.store,
            held,
            listener: &mut *self.listener,
        };
        let records = checks.run(&verifiers, &|| None, &mut beating);
        if self.site.cancel.is_cancelled() {
            return Err(ImplementError::Interrupted.into());
        }
        files::write_atomic(&logs.join("checks.json"), &files::to_json(&records))?;
        let warnings = warnings(&records);
        if !warnings.is_empty() {
            self.decide("Z-22", warnings);
        }
        Ok(records)
    }
}
