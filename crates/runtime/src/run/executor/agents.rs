//! Runs an agent for a bead: its prompt, its limits, and how it is watched.

use std::time::Duration;

use beads_ralph_core::agent::{
    AgentRole, Budget, Call, Context, CostSource, Outcome, Session, Status, Tokens, report_in,
};
use beads_ralph_core::bead::{AgentSpec, Model, ScrumResult};
use beads_ralph_core::engine::{AgentReport, Cap, Spent, Trouble};
use beads_ralph_core::text::{excerpt, without_colour};
use camino::Utf8Path;
use serde_json::json;

use super::{Claimed, Guarding, Job, LocalExecutor, passing};
use crate::agent::{self, Finding};
use crate::agent_files;
use crate::os::{clock, files};

pub(super) struct Who<'a> {
    pub(super) spec: &'a AgentSpec,
    pub(super) role: AgentRole,
    pub(super) directory: String,
    pub(super) limit: Duration,
    pub(super) schema: Option<serde_json::Value>,
}

impl<'a> Who<'a> {
    pub(super) fn developer(spec: &'a AgentSpec, directory: String, limit: Duration) -> Self {
        Self {
            spec,
            role: AgentRole::Dev,
            directory,
            limit,
            schema: None,
        }
    }
}

impl<'a> LocalExecutor<'a> {
    pub(super) fn call(&self, job: Job<'_>, who: &Who<'_>, text: String) -> Result<Ran, Trouble> {
        let worktree = &job.place.worktree;
        if !worktree.is_dir() {
            return Err(Trouble::for_bead(format!(
                "the worktree {worktree} was removed during the work; `retry` creates it again"
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
            "its time budget is used up".clone_into(&mut outcome.reason);
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
        role: who.role,
        attempt: job.launch.attempt,
        agent: Some(name.to_owned()),
        worktree: job.place.worktree.to_string(),
        report: None,
        fence: match who.role {
            AgentRole::ScrumMaster => job.fence.map(|fence| fence.0),
            AgentRole::Dev | AgentRole::Qa | AgentRole::Worker | AgentRole::Reviewer => None,
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

pub(super) struct Ran {
    pub(super) report: AgentReport,
    pub(super) outcome: Outcome,
    pub(super) limit: Duration,
}

impl Ran {
    pub(super) fn new(
        outcome: &Outcome,
        agent: String,
        model: Option<Model>,
        started_at: jiff::Timestamp,
        directory: Option<&Utf8Path>,
    ) -> Self {
        let ended_at = clock::now().max(started_at);
        let time = ended_at.duration_since(started_at).as_millis();
        let report = AgentReport {
            agent,
            model: model.unwrap_or(Model::Sonnet),
            model_id: outcome.model_id.clone(),
            session: outcome.session.clone().unwrap_or_default(),
            started_at,
            ended_at,
            status: outcome.status,
            reason: explained(outcome, directory),
            spent: Spent {
                micros: micros(outcome.cost.usd),
                tokens: outcome.tokens.total(),
                turns: outcome.turns.unwrap_or(0),
                time_ms: u64::try_from(time).unwrap_or(0),
                n_unpriced: u32::from(outcome.cost.source == CostSource::Unknown),
            },
            resets_at: outcome.resets_at,
            evidence: directory.map(ToString::to_string),
        };
        Self {
            report,
            outcome: outcome.clone(),
            limit: Duration::ZERO,
        }
    }
}

/// Why an agent ended as it did; where it failed, with the last line that it wrote for people.
fn explained(outcome: &Outcome, directory: Option<&Utf8Path>) -> String {
    let reason = outcome.reason.clone();
    let Some(directory) = directory.filter(|_| !outcome.is_ok()) else {
        return reason;
    };
    let line = last_line(&directory.join("stderr"));
    // JSON on standard output explains nothing to people.
    let line =
        line.or_else(|| last_line(&directory.join("stdout")).filter(|it| !it.starts_with('{')));
    match line {
        Some(line) if !reason.contains(&line) => {
            format!("{reason}: {}", excerpt(&without_colour(&line)))
        }
        _ => reason,
    }
}

fn last_line(path: &Utf8Path) -> Option<String> {
    let written = files::read(path).ok()?;
    let written = String::from_utf8_lossy(&written);
    let last = written
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty());
    last.map(str::to_owned)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is not negative, and nobody spends so much"
)]
fn micros(usd: Option<f64>) -> u64 {
    (usd.unwrap_or(0.0).max(0.0) * 1e6).round() as u64
}

#[expect(
    clippy::cast_precision_loss,
    reason = "nobody spends so much that a cent gets lost"
)]
fn budget(cap: &Cap) -> Budget {
    Budget {
        usd: cap.micros.map(|micros| micros as f64 / 1e6),
        tokens: cap.tokens,
        turns: cap.turns,
    }
}

fn time_of(cap: &Cap) -> Option<Duration> {
    cap.time_ms.map(Duration::from_millis)
}

/// What a leading agent claims; without a readable claim it claims nothing.
pub(super) fn claimed(ran: &Ran, bead: &str) -> Claimed {
    let text = ran.outcome.text.as_deref().unwrap_or_default();
    let found = report_in(text).map_err(|fault| fault.as_str().to_owned());
    let result = found.and_then(|report| {
        let value = report.with_bead_id(bead).value;
        ScrumResult::from_document(&value).map_err(|errors| {
            errors
                .first()
                .map_or_else(|| json!(errors.len()).to_string(), ToString::to_string)
        })
    });
    match result {
        Ok(result) => Claimed {
            is_success: result.success,
            is_fatal: result.fatal,
            error: result.error,
            qa_results: result.qa_results,
        },
        Err(why) => Claimed {
            is_success: false,
            is_fatal: false,
            error: Some(format!("its result cannot be read: {why}")),
            qa_results: Vec::new(),
        },
    }
}
