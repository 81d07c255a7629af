//! Calls an agent for a bead: what it is told, what it may use, and who looks after it while it works.

use std::time::Duration;

use beads_ralph_core::agent::{Call, Context, Outcome, Part, Session, Status, Tokens};
use beads_ralph_core::bead::AgentSpec;
use beads_ralph_core::engine::Trouble;

use super::ran::{Ran, budget, time_of};
use super::{Guarding, Job, RealCrew, passing};
use crate::agent::{self, Finding};
use crate::{agent_files, os::clock};

pub(super) struct Who<'a> {
    pub(super) spec: &'a AgentSpec,
    pub(super) part: Part,
    pub(super) directory: String,
    pub(super) limit: Duration,
    pub(super) schema: Option<serde_json::Value>,
}

impl<'a> Who<'a> {
    pub(super) fn developer(spec: &'a AgentSpec, directory: String, limit: Duration) -> Self {
        Self {
            spec,
            part: Part::Dev,
            directory,
            limit,
            schema: None,
        }
    }
}

impl<'a> RealCrew<'a> {
    pub(super) fn call(&self, job: Job<'_>, who: &Who<'_>, text: String) -> Result<Ran, Trouble> {
        let worktree = &job.place.worktree;
        if !worktree.is_dir() {
            return Err(Trouble::for_bead(format!(
                "the worktree {worktree} is gone: somebody removed it while it was worked in; `retry` makes it anew"
            )));
        }
        let started_at = clock::now();
        let name = who.spec.agent.as_str().to_owned();
        let resolved = match self.resolve(job, who) {
            Ok(resolved) => resolved,
            Err(reason) => {
                let outcome = Outcome::new(Status::Config, reason);
                return Ok(Ran::new(&outcome, name, who.spec.model, started_at, None));
            }
        };
        let directory = self
            .directory(job, &who.directory)
            .map_err(|error| passing(&error))?;
        let limit = who
            .limit
            .min(time_of(&job.launch.grant).unwrap_or(who.limit));
        let agent_job = agent::Job {
            adapter: resolved.adapter,
            program: &resolved.program,
            call: self.agent_call(job, who, text, &resolved),
            context: context(job, who, &name),
            directory: &directory,
            mark: self.mark.below(),
            limit,
            drain: agent::DRAIN,
            withhold: &self.config.agents.withhold_env,
            before: Tokens::default(),
        };
        let outcome = self.watched(job, who, &name, agent_job)?;
        let model = Some(resolved.model.model);
        let mut ran = Ran::new(&outcome, name, model, started_at, Some(&directory));
        ran.limit = limit;
        if ran.report.session.is_empty() {
            ran.report.session = self.session(job);
        }
        Ok(ran)
    }

    fn agent_call(
        &self,
        job: Job<'_>,
        who: &Who<'_>,
        text: String,
        resolved: &agent::Resolved<'_>,
    ) -> Call {
        let worktree = job.place.worktree.as_str();
        let mut call = Call::new(text, worktree, self.permissions).with_spec(who.spec);
        call.agent.clone_from(&resolved.agent);
        call.model = Some(resolved.model.model);
        call.budget = budget(&job.launch.grant);
        call.session = Session::Named(self.session(job));
        call.schema.clone_from(&who.schema);
        call.env.extend(self.ports.variables(&job.bead.id));
        call.env.extend(self.own_bd.variables());
        call
    }

    /// Runs an agent, and looks after it: it can be ended, and it is when it changes the user's checkout.
    fn watched(
        &self,
        job: Job<'_>,
        who: &Who<'_>,
        name: &str,
        agent_job: agent::Job<'_>,
    ) -> Result<Outcome, Trouble> {
        let bead = &job.bead.id;
        let cancel = self.cancel_for(bead)?;
        self.activity.begins(bead, name);
        let mark = agent_job.mark.clone();
        let mut guarding = Guarding {
            bead,
            name,
            activity: &self.activity,
            main: &self.main,
            units: self.units,
            mark: &mark,
            cancel: &cancel,
            n_known: self.main.look(self.units).0,
            stray: None,
        };
        let outcome = agent::run(self.units, agent_job, &cancel, &mut guarding);
        let stray = guarding.stray.take();
        self.over(bead, &cancel);
        let mut outcome = outcome.map_err(|error| Trouble::passing(error.to_string()))?;
        let time = time_of(&job.launch.grant).filter(|time| *time < who.limit);
        if time.is_some() && outcome.status == Status::Timeout {
            "the minutes that it may use are used up".clone_into(&mut outcome.reason);
        }
        if let Some(what) = stray {
            outcome.status = Status::Failed;
            outcome.reason = format!("it was stopped because it changed the main checkout: {what}");
        }
        Ok(outcome)
    }

    /// What an agent comes to. Its file must be where it works, too.
    fn resolve(&self, job: Job<'_>, who: &Who<'_>) -> Result<agent::Resolved<'a>, String> {
        let spec = who.spec;
        let resolved =
            agent::resolve(self.config, &self.root, spec).map_err(|found| said(&found))?;
        if !spec.agent.is_built_in()
            && agent_files::definition(&job.place.worktree, &spec.agent).is_none()
        {
            return Err(format!(
                "{} is not in the worktree {}: commit it on {}",
                spec.agent.as_str(),
                job.place.worktree,
                job.bead.metadata.source_branch
            ));
        }
        Ok(resolved)
    }
}

fn context(job: Job<'_>, who: &Who<'_>, name: &str) -> Context {
    Context {
        bead: job.bead.id.to_string(),
        sprint: Some(job.bead.metadata.sprint.to_string()),
        part: who.part,
        attempt: job.launch.attempt,
        agent: Some(name.to_owned()),
        worktree: job.place.worktree.to_string(),
        report: None,
        fence: match who.part {
            Part::ScrumMaster => job.fence.map(|fence| fence.0),
            Part::Dev | Part::Qa | Part::Worker | Part::Reviewer => None,
        },
    }
}

fn said(findings: &[Finding]) -> String {
    let errors = findings.iter().filter(|finding| finding.is_error);
    let errors: Vec<String> = errors
        .map(|it| format!("{} ({})", it.message, it.action))
        .collect();
    errors.join("; ")
}
