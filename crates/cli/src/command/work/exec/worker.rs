//! The agent that works on a bead: found before anything is changed, called once for each iteration.

use std::time::Duration;

use beads_ralph_core::agent::{
    AgentRole, Budget, Call, Context, Outcome, Permissions, Session, SpentSoFar, Status, Tokens,
};
use beads_ralph_core::bead::{AgentPath, AgentSpec, Model, Role};
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::agent::{self, Finding, Job, Observer, Resolved};
use beads_ralph_runtime::agent_files;
use beads_ralph_runtime::config::{Allowance, Config};
use beads_ralph_runtime::exec::{Task, Worker};
use beads_ralph_runtime::os::process::{Cancel, Units};
use beads_ralph_runtime::progress::{Listener, News};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use super::ExecArgs;
use crate::command::work::Target;
use crate::failure::Failure;
use crate::ui::format::dollars;
use crate::ui::lines;

/// How long one call may take, unless somebody says otherwise (V-11).
const LIMIT: Duration = Duration::from_mins(10);

/// Who works, and how.
pub(super) struct AgentWorker<'a> {
    units: &'a Units,
    cancel: &'a Cancel,
    config: &'a Config,
    resolved: Resolved<'a>,
    spec: AgentSpec,
    sprint: Option<String>,
    permissions: Permissions,
    /// Whether the program can be told what it may do.
    takes_modes: bool,
    limit: Duration,
    root: Utf8PathBuf,
}

impl<'a> AgentWorker<'a> {
    /// Finds the agent that a bead or the command line names. Everything that is in the way is said at once.
    pub(super) fn prepare(
        args: &ExecArgs,
        config: &'a Config,
        target: &Target,
        place: Place<'a>,
    ) -> Result<Self, Failure> {
        let mut spec = spec(args, target)?;
        let resolved =
            agent::resolve(config, place.project, &spec).map_err(|found| refused(&found))?;
        if place.root != place.project
            && !spec.agent.is_built_in()
            && agent_files::definition(place.root, &spec.agent).is_none()
        {
            let path = excerpt(spec.agent.as_str());
            let message = format!("{path} is not in the bead's worktree, where the agent works");
            let failure = Failure::new(ErrorCode::ValidationConstraint, message);
            return Err(failure.action("commit it on the branch of the worktree"));
        }
        if !args.options.is_empty() {
            let own = spec.options.take();
            let mut options = own.unwrap_or_else(|| resolved.adapter.options.clone());
            options.extend(args.options.iter().cloned());
            spec.options = Some(options);
        }
        let chosen = args
            .permissions
            .map(Permissions::from)
            .or(config.permissions);
        // A program that takes no mode decides itself what it does, and there is nothing to ask.
        let mut modes = resolved.adapter.permissions.values();
        let asks = modes.any(|arguments| !arguments.is_empty());
        let chosen = chosen.or((!asks).then_some(Permissions::Bypass));
        let findings = agent::ready(config, place.project, chosen, [&spec]);
        let (Some(permissions), false) = (chosen, findings.iter().any(|finding| finding.is_error))
        else {
            return Err(refused(&findings));
        };
        let limit = args.timeout.or(resolved.adapter.timeout).unwrap_or(LIMIT);
        Ok(Self {
            units: place.units,
            cancel: place.cancel,
            config,
            sprint: sprint(target),
            resolved,
            spec,
            permissions,
            takes_modes: asks,
            limit,
            root: place.root.to_owned(),
        })
    }

    /// What people should know before it begins: what is odd, and what it may spend (Z-13).
    pub(super) fn remarks(&self) -> Vec<String> {
        let found = self.resolved.warnings.iter();
        let found = found.map(|finding| format!("warning: {}", finding.message));
        let invocation = self.resolved.adapter.invocation(&self.call("", None));
        let dropped = invocation.map(|invocation| invocation.dropped);
        let dropped = dropped.unwrap_or_default().into_iter().map(|option| {
            format!("warning: the option {option} is left out: it is set by beads-ralph itself")
        });
        let is_free = !self.takes_modes && self.permissions != Permissions::Bypass;
        let free = is_free.then(|| {
            let (name, mode) = (&self.resolved.adapter.name, self.permissions.as_str());
            format!(
                "warning: `permissions: {mode}` means nothing to {name}: it runs with your rights"
            )
        });
        let caps = &self.config.budgets;
        let (attempt, bead) = (cap(&caps.attempt), cap(&caps.bead));
        let caps = format!("caps: {attempt} an attempt, {bead} the bead");
        found.chain(dropped).chain(free).chain([caps]).collect()
    }

    /// What would be run, for `--dry-run`.
    pub(super) fn describe(&self) -> Value {
        let call = self.call("PROMPT", None);
        let adapter = &self.resolved.adapter;
        let argv = match adapter.invocation(&call) {
            Ok(invocation) => json!(invocation.argv),
            Err(error) => json!([error.to_string()]),
        };
        json!({"adapter": adapter.name, "argv": argv, "model": self.resolved.model.model.as_str(), "permissions": self.permissions.as_str()})
    }

    fn call(&self, prompt: &str, session: Option<String>) -> Call {
        let mut call =
            Call::new(prompt, self.root.as_str(), self.permissions).with_spec(&self.spec);
        call.agent.clone_from(&self.resolved.agent);
        call.model = Some(self.resolved.model.model);
        call.executable = Some(self.resolved.program.to_string());
        call.budget = self.budget();
        if let Some(session) = session {
            call.session = Session::Named(session);
        }
        call
    }

    fn budget(&self) -> Budget {
        self.config.budgets.attempt.budget()
    }

    fn run(&self, task: &Task<'_>, listener: &mut dyn Listener) -> Outcome {
        let minutes = self.config.budgets.attempt.time();
        let limits = [Some(self.limit), minutes, task.time_left];
        let limit = limits.into_iter().flatten().min().unwrap_or(self.limit);
        let job = Job {
            adapter: self.resolved.adapter,
            program: &self.resolved.program,
            call: self.call(task.prompt, Some(agent::new_session_id())),
            context: Context {
                bead: task.bead.id.clone(),
                sprint: self.sprint.clone(),
                role: AgentRole::Dev,
                attempt: task.iteration,
                agent: Some(self.name().to_owned()),
                worktree: self.root.to_string(),
                report: None,
                fence: None,
            },
            directory: task.directory,
            mark: task.mark.clone(),
            limit,
            drain: agent::DRAIN,
            withhold: &self.config.agents.withhold_env,
            before: Tokens::default(),
        };
        let mut heard = Heard {
            listener,
            doing: None,
        };
        match agent::run(self.units, job, self.cancel, &mut heard) {
            Ok(outcome) => outcome,
            // What is wrong on our side may be over at the next try: a full disk, too many processes.
            Err(error) => Outcome::new(Status::Failed, error.to_string()),
        }
    }
}

/// Where an agent works, and with what.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) units: &'a Units,
    pub(super) cancel: &'a Cancel,
    /// Where the agents' files are.
    pub(super) project: &'a Utf8Path,
    /// Where it works.
    pub(super) root: &'a Utf8Path,
}

impl Worker for AgentWorker<'_> {
    fn name(&self) -> &str {
        if self.spec.agent.is_built_in() {
            &self.resolved.adapter.name
        } else {
            self.spec.agent.as_str()
        }
    }

    fn work(&mut self, task: &Task<'_>, listener: &mut dyn Listener) -> Outcome {
        self.run(task, listener)
    }
}

/// What may be spent, in words.
fn cap(allowance: &Allowance) -> String {
    let of = |most: Option<u64>, what: &str| most.map(|most| format!("{most} {what}"));
    let parts = [
        allowance.usd.map(dollars),
        of(allowance.tokens, "tokens"),
        of(allowance.turns, "turns"),
        of(allowance.minutes, "minutes"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return "none for".to_owned();
    }
    parts.join(", ")
}

/// Who is to work: the first dev agent of a bead that names one (seed 002), changed by the command line.
fn spec(args: &ExecArgs, target: &Target) -> Result<AgentSpec, Failure> {
    let named = dev_agent(target);
    let mut spec = named.unwrap_or_else(|| {
        let agent = AgentPath::parse("claude").expect("the built-in agent is an agent");
        AgentSpec::new(Role::Polecat, agent)
    });
    if let Some(adapter) = &args.agent {
        spec.adapter = Some(adapter.clone());
        spec.executable = None;
    }
    if let Some(model) = &args.model {
        let model = Model::parse(model).map_err(|invalid| {
            Failure::new(ErrorCode::ValidationInvalidPattern, invalid.to_string())
                .action("choose haiku, sonnet or opus")
        })?;
        spec.model = Some(model);
    }
    Ok(spec)
}

fn dev_agent(target: &Target) -> Option<AgentSpec> {
    let first = metadata(target)?.get("dev_agents")?.get(0)?;
    AgentSpec::from_document(first).ok()
}

fn sprint(target: &Target) -> Option<String> {
    Some(metadata(target)?.get("sprint")?.as_str()?.to_owned())
}

fn metadata(target: &Target) -> Option<&serde_json::Map<String, Value>> {
    match target {
        Target::File(_) => None,
        Target::Stored(stored) => stored.record.issue.metadata(),
    }
}

/// Everything that is in the way of an agent, in one failure.
fn refused(findings: &[Finding]) -> Failure {
    let errors: Vec<&Finding> = findings.iter().filter(|finding| finding.is_error).collect();
    let messages: Vec<&str> = errors
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    let action = errors.first().map(|finding| finding.action.clone());
    Failure::new(ErrorCode::ValidationConstraint, messages.join("; "))
        .details(lines(&messages).trim_end())
        .action(action.unwrap_or_else(|| "see `beads-ralph doctor agents`".to_owned()))
}

/// Tells whoever listens what the agent does.
struct Heard<'a> {
    listener: &'a mut dyn Listener,
    doing: Option<String>,
}

impl Observer for Heard<'_> {
    fn seen(&mut self, activity: Option<&str>, _: Option<&str>, _: &SpentSoFar) {
        self.doing = activity.map(str::to_owned);
    }

    fn tick(&mut self, elapsed: Duration) {
        let line = self.doing.as_deref();
        self.listener.hear(&News::Running { elapsed, line });
    }
}
