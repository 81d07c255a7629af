//! The real crew: agents and checks as units, with what they print kept below the run's directory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use beads_ralph_core::agent::{
    Budget, Call, Context, CostSource, Outcome, Part, Permissions, Session, Status, Tokens,
    qa_result, report_in,
};
use beads_ralph_core::bead::{
    AgentSpec, BeadId, Model, QaResult, RalphBead, ScrumResult, Verifier,
};
use beads_ralph_core::engine::{AgentReport, Cap, CommitId, Spent, Trouble, Verdict, prompt};
use beads_ralph_core::text::{excerpt, without_colour};
use beads_ralph_core::verify::{is_green, summary};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::json;

use super::activity::{Activity, Guarding, Watching};
use super::journal::RunDirectory;
use super::main_checkout::MainCheckout;
use super::port_book::PortBook;
use super::ports::{Checked, Claimed, Crew, Job, Place};
use crate::agent::{self, Finding};
use crate::checks::{Checks, Ground};
use crate::config::Config;
use crate::files::{self, FileError};
use crate::unit::{Cancel, Ending, Environment, Limits, Mark, Silent, Spec, Stdin, Units};
use crate::{agents, clock, digest, ralph};

/// How long the user's own command to tell them something may take.
const NOTIFY_LIMIT: Duration = Duration::from_secs(30);

/// How long the command that sets up a worktree may take.
const SET_UP_LIMIT: Duration = Duration::from_mins(30);

/// The real crew.
#[derive(Debug)]
pub struct RealCrew<'a> {
    units: &'a Units,
    config: &'a Config,
    /// The root of the main worktree.
    root: Utf8PathBuf,
    run: RunDirectory,
    permissions: Permissions,
    mark: Mark,
    activity: Activity,
    ports: Arc<PortBook>,
    main: MainCheckout,
    is_stopping: AtomicBool,
    cancels: Mutex<BTreeMap<BeadId, Vec<Cancel>>>,
}

impl<'a> RealCrew<'a> {
    /// A crew for a run.
    pub fn new(
        units: &'a Units,
        config: &'a Config,
        root: &Utf8Path,
        run: &RunDirectory,
        mark: Mark,
    ) -> Self {
        Self {
            units,
            config,
            root: root.to_owned(),
            run: run.clone(),
            // Whoever starts a run has looked whether a mode is needed (Z-23).
            permissions: config.permissions.unwrap_or(Permissions::Bypass),
            mark,
            activity: Activity::default(),
            ports: Arc::default(),
            main: MainCheckout::new(root),
            is_stopping: AtomicBool::new(false),
            cancels: Mutex::default(),
        }
    }

    /// The same with another permission mode.
    #[must_use]
    pub fn with_permissions(self, permissions: Permissions) -> Self {
        Self {
            permissions,
            ..self
        }
    }

    /// The same with ports for its beads.
    #[must_use]
    pub fn with_ports(self, ports: Arc<PortBook>) -> Self {
        Self { ports, ..self }
    }

    /// What is going on.
    pub fn activity(&self) -> Activity {
        self.activity.clone()
    }

    /// The checks of a bead: its own, and those that hold for every bead (Z-31).
    fn checks(&self, bead: &RalphBead) -> Vec<Verifier> {
        let own = bead
            .metadata
            .dod
            .iter()
            .flat_map(|dod| dod.verifiers.iter());
        own.chain(&self.config.default_checks).cloned().collect()
    }

    /// A word that ends what runs for a bead, and is forgotten when it is dropped.
    fn cancel_for(&self, bead: &BeadId) -> Result<Cancel, Trouble> {
        let cancel = Cancel::new().map_err(|error| Trouble::passing(error.to_string()))?;
        let mut cancels = self.cancels.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever is told to stop everything while this one is still being made ready means it, too.
        if self.is_stopping.load(Ordering::SeqCst) {
            cancel.cancel();
        }
        cancels
            .entry(bead.clone())
            .or_default()
            .push(cancel.clone());
        Ok(cancel)
    }

    fn over(&self, bead: &BeadId, cancel: &Cancel) {
        let mut cancels = self.cancels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of_bead) = cancels.get_mut(bead) {
            of_bead.retain(|other| !other.is(cancel));
            if of_bead.is_empty() {
                cancels.remove(bead);
                self.activity.ends(bead);
            }
        }
    }

    fn call(&self, job: Job<'_>, who: &Who<'_>, text: String) -> Result<Ran, Trouble> {
        let worktree = &job.place.worktree;
        if !worktree.is_dir() {
            return Err(Trouble::for_bead(format!(
                "the worktree {worktree} is gone: somebody removed it while it was worked in; `retry` makes it anew"
            )));
        }
        let started_at = clock::now();
        let name = name_of(who.spec);
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
        let mut call =
            Call::new(text, job.place.worktree.as_str(), self.permissions).with_spec(who.spec);
        call.agent.clone_from(&resolved.agent);
        call.model = Some(resolved.model.model);
        call.budget = budget(&job.launch.grant);
        call.session = Session::Named(self.session(job));
        call.schema.clone_from(&who.schema);
        call.env.extend(self.ports.variables(&job.bead.id));
        let mark = self.mark.below();
        let agent_job = agent::Job {
            adapter: resolved.adapter,
            program: &resolved.program,
            call,
            context: Context {
                bead: job.bead.id.to_string(),
                sprint: Some(job.bead.metadata.sprint.to_string()),
                part: who.part,
                attempt: job.launch.attempt,
                agent: Some(name.clone()),
                worktree: job.place.worktree.to_string(),
                report: None,
            },
            directory: &directory,
            mark: mark.clone(),
            limit,
            drain: agent::DRAIN,
            withhold: &self.config.agents.withhold_env,
            before: Tokens::default(),
        };
        let cancel = self.cancel_for(&job.bead.id)?;
        self.activity.begins(&job.bead.id, &name);
        let mut guarding = Guarding {
            bead: &job.bead.id,
            name: &name,
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
        self.over(&job.bead.id, &cancel);
        let mut outcome = outcome.map_err(|error| Trouble::passing(error.to_string()))?;
        let time = time_of(&job.launch.grant).filter(|time| *time < who.limit);
        if time.is_some() && outcome.status == Status::Timeout {
            "the minutes that it may use are used up".clone_into(&mut outcome.reason);
        }
        if let Some(what) = stray {
            outcome.status = Status::Failed;
            outcome.reason = format!("it was stopped because it changed the main checkout: {what}");
        }
        let mut ran = Ran::new(
            &outcome,
            name,
            Some(resolved.model.model),
            started_at,
            Some(&directory),
        );
        ran.limit = limit;
        if ran.report.session.is_empty() {
            ran.report.session = self.session(job);
        }
        Ok(ran)
    }

    /// What an agent comes to. Its file must be where it works, too.
    fn resolve(&self, job: Job<'_>, who: &Who<'_>) -> Result<agent::Resolved<'a>, String> {
        let spec = who.spec;
        let resolved =
            agent::resolve(self.config, &self.root, spec).map_err(|found| said(&found))?;
        if !spec.agent.is_built_in()
            && agents::definition(&job.place.worktree, &spec.agent).is_none()
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

    /// The id of a session: the same for the same run of an agent, and for no other.
    fn session(&self, job: Job<'_>) -> String {
        let fence = job.fence.map_or(0, |fence| fence.0);
        let key = format!(
            "{} {} {fence} {} {}",
            self.run.id(),
            job.bead.id,
            job.effect,
            job.launch.number
        );
        agent::session_id_from(&key)
    }

    fn directory(&self, job: Job<'_>, name: &str) -> Result<Utf8PathBuf, FileError> {
        fresh(&self.run.attempt(&job.bead.id, job.launch.attempt), name)
    }
}

impl Crew for RealCrew<'_> {
    fn account(&self, spec: &AgentSpec) -> String {
        agent::account(self.config, &self.root, spec)
    }

    fn set_up(&self, bead: &RalphBead, place: &Place) -> Result<(), Trouble> {
        let Some(command) = &self.config.worktrees.setup else {
            return Ok(());
        };
        // The mark is in the worktree's own git directory: a worktree that is made anew is set up anew.
        let git = git_directory(&place.worktree).unwrap_or_else(|| place.worktree.clone());
        let done = git.join("beads-ralph-set-up");
        let directory = self
            .run
            .path()
            .join("beads")
            .join(super::journal::file_name(&bead.id));
        if done.exists() {
            return Ok(());
        }
        let output = fresh(&directory, "setup").map_err(|error| passing(&error))?;
        let mut argv = self.config.shell.clone();
        argv.push(command.clone());
        let spec = Spec {
            mark: self.mark.below(),
            argv,
            cwd: place.worktree.clone(),
            env: Environment {
                without: self.config.agents.withhold_env.clone(),
                with: self.ports.variables(&bead.id),
            },
            stdin: Stdin::Closed,
            limits: Limits {
                wall: Some(SET_UP_LIMIT),
                ..Limits::default()
            },
            output: Some(output.clone()),
        };
        let cancel = self.cancel_for(&bead.id)?;
        self.activity.begins(&bead.id, "setup");
        let ended = self.units.run(&spec, &cancel, &mut Silent);
        self.over(&bead.id, &cancel);
        let ended = ended.map_err(|error| Trouble::passing(error.to_string()))?;
        if ended.ending != Ending::Exited(0) || ended.stopped.is_some() {
            let last = ended.stderr.text();
            let last = last.lines().last().unwrap_or_default();
            return Err(Trouble::for_bead(format!(
                "the worktree could not be set up: `{command}` failed: {last} (all of it is in {output})"
            )));
        }
        files::write_atomic(&done, b"").map_err(|error| passing(&error))
    }

    fn develop(
        &self,
        job: Job<'_>,
        agent: usize,
        feedback: Option<&str>,
    ) -> Result<AgentReport, Trouble> {
        let Some(spec) = job.bead.metadata.dev_agents.get(agent) else {
            return Err(Trouble::for_bead(format!(
                "the bead has no dev agent {}",
                agent + 1
            )));
        };
        let text = prompt::develop(
            job.bead,
            spec,
            job.place.worktree.as_str(),
            &self.checks(job.bead),
            feedback,
        );
        let who = Who::developer(
            spec,
            format!("dev-{}", agent + 1),
            self.config.timeouts.dev_agent,
        );
        Ok(self.call(job, &who, text)?.report)
    }

    fn resolve(
        &self,
        job: Job<'_>,
        merging: &str,
        files: &[String],
    ) -> Result<AgentReport, Trouble> {
        let Some(spec) = job.bead.metadata.dev_agents.first() else {
            return Err(Trouble::for_bead("the bead has no dev agent"));
        };
        let text = prompt::resolve(job.bead, job.place.worktree.as_str(), merging, files);
        let who = Who::developer(spec, "conflict".to_owned(), self.config.timeouts.dev_agent);
        Ok(self.call(job, &who, text)?.report)
    }

    fn lead(
        &self,
        job: Job<'_>,
        only_pull: bool,
        feedback: Option<&str>,
    ) -> Result<(AgentReport, Claimed), Trouble> {
        let worktree = job.place.worktree.as_str();
        let text = if only_pull {
            prompt::propose(job.bead, worktree)
        } else {
            prompt::lead(job.bead, worktree, &self.checks(job.bead), feedback)
        };
        let who = Who {
            spec: &job.bead.metadata.scrum_master_agent,
            part: Part::ScrumMaster,
            directory: "scrum-master".to_owned(),
            limit: self.config.timeouts.scrum_master,
            schema: None,
        };
        let ran = self.call(job, &who, text)?;
        let claimed = claimed(&ran, job.bead.id.as_str());
        Ok((ran.report, claimed))
    }

    fn judge(
        &self,
        job: Job<'_>,
        agent: usize,
        changed_files: &[String],
    ) -> Result<(AgentReport, Option<Verdict>), Trouble> {
        let Some(qa) = job.bead.metadata.qa_agents.get(agent) else {
            return Err(Trouble::for_bead(format!(
                "the bead has no QA agent {}",
                agent + 1
            )));
        };
        let text = prompt::judge(job.bead, qa, job.place.worktree.as_str(), changed_files);
        let who = Who {
            spec: &qa.spec,
            part: Part::Qa,
            directory: format!("qa-{}", agent + 1),
            limit: self.config.timeouts.qa_agent,
            schema: Some((*qa.output_schema).clone()),
        };
        let ran = self.call(job, &who, text)?;
        let verdict = qa_result(&ran.outcome, ran.limit).ok();
        let verdict = verdict.map(
            |QaResult {
                 status,
                 message,
                 details,
             }| Verdict {
                status,
                message,
                details,
            },
        );
        Ok((ran.report, verdict))
    }

    fn verify(
        &self,
        bead: &RalphBead,
        place: &Place,
        attempt: u32,
        commit: &CommitId,
    ) -> Result<Checked, Trouble> {
        let verifiers = self.checks(bead);
        let artifacts = bead
            .metadata
            .dod
            .as_ref()
            .map(|dod| dod.artifact_paths.as_slice());
        if let Err(error) = ralph::check_artifacts(&place.worktree, artifacts.unwrap_or_default()) {
            return Ok(Checked {
                is_green: false,
                summary: error.to_string(),
                is_cut_off: false,
            });
        }
        if verifiers.is_empty() {
            return Ok(Checked {
                is_green: true,
                summary: "no machine checks".to_owned(),
                is_cut_off: false,
            });
        }
        let logs = fresh(&self.run.attempt(&bead.id, attempt), "checks")
            .map_err(|error| passing(&error))?;
        let cancel = self.cancel_for(&bead.id)?;
        self.activity.begins(&bead.id, "checks");
        let checks = Checks {
            units: self.units,
            cancel: &cancel,
            root: &place.worktree,
            shell: &self.config.shell,
            withhold: &self.config.agents.withhold_env,
            env: &self.ports.variables(&bead.id),
            ground: Ground::Commit(&commit.0),
            mark: &self.mark,
            logs: &logs,
        };
        let mut watching = Watching {
            bead: &bead.id,
            activity: &self.activity,
        };
        let records = checks.run(&verifiers, &|| None, &mut watching);
        self.over(&bead.id, &cancel);
        files::write_atomic(&logs.join("checks.json"), &files::to_json(&records))
            .map_err(|error| passing(&error))?;
        Ok(Checked {
            is_green: is_green(&records) && !cancel.is_cancelled(),
            summary: summary(&records),
            is_cut_off: cancel.is_cancelled(),
        })
    }

    fn cancel(&self, bead: &BeadId) {
        let cancels = self.cancels.lock().unwrap_or_else(PoisonError::into_inner);
        for cancel in cancels.get(bead).into_iter().flatten() {
            cancel.cancel();
        }
    }

    fn stop_all(&self) {
        let cancels = self.cancels.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_stopping.store(true, Ordering::SeqCst);
        for cancel in cancels.values().flatten() {
            cancel.cancel();
        }
    }

    fn notify(&self, text: &str) -> Result<(), Trouble> {
        let Some(command) = &self.config.notify else {
            return Ok(());
        };
        let argv: Vec<&str> = command.iter().map(String::as_str).chain([text]).collect();
        let why = match self.units.output(&argv, &self.root, NOTIFY_LIMIT) {
            Ok(ended) if ended.ending == Ending::Exited(0) => return Ok(()),
            Ok(ended) => format!("{:?}: {}", ended.ending, ended.stderr.text().trim()),
            Err(error) => error.to_string(),
        };
        let notice = format!("`notify` failed, so this was not told: {text} ({why})");
        self.activity.notice(notice);
        Err(Trouble::passing(why))
    }
}

/// Who is called, and for what.
struct Who<'a> {
    spec: &'a AgentSpec,
    part: Part,
    directory: String,
    limit: Duration,
    schema: Option<serde_json::Value>,
}

impl<'a> Who<'a> {
    fn developer(spec: &'a AgentSpec, directory: String, limit: Duration) -> Self {
        Self {
            spec,
            part: Part::Dev,
            directory,
            limit,
            schema: None,
        }
    }
}

/// A run of an agent that is over.
struct Ran {
    report: AgentReport,
    outcome: Outcome,
    limit: Duration,
}

impl Ran {
    fn new(
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

/// Why an agent ended as it did; where it failed, with the last line that it wrote to standard error.
fn explained(outcome: &Outcome, directory: Option<&Utf8Path>) -> String {
    let reason = outcome.reason.clone();
    if outcome.is_ok() {
        return reason;
    }
    let written = directory.and_then(|directory| files::read(&directory.join("stderr")).ok());
    let written = String::from_utf8_lossy(&written.unwrap_or_default()).into_owned();
    match written.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) if !reason.contains(line.trim()) => {
            format!("{reason}: {}", excerpt(&without_colour(line)))
        }
        _ => reason,
    }
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

fn name_of(spec: &AgentSpec) -> String {
    spec.agent.as_str().to_owned()
}

fn said(findings: &[Finding]) -> String {
    let errors = findings.iter().filter(|finding| finding.is_error);
    let errors: Vec<String> = errors
        .map(|it| format!("{} ({})", it.message, it.action))
        .collect();
    errors.join("; ")
}

fn passing(error: &FileError) -> Trouble {
    Trouble::passing(error.to_string())
}

/// What a leading agent claims; without a readable claim it claims nothing.
fn claimed(ran: &Ran, bead: &str) -> Claimed {
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

/// The git directory of a linked worktree.
fn git_directory(worktree: &Utf8Path) -> Option<Utf8PathBuf> {
    let link = files::read(&worktree.join(".git")).ok()?;
    let link = String::from_utf8(link).ok()?;
    Some(worktree.join(link.trim().strip_prefix("gitdir:")?.trim()))
}

/// A directory that is not there yet: what an earlier run of the same attempt left stays as it is.
fn fresh(parent: &Utf8Path, name: &str) -> Result<Utf8PathBuf, FileError> {
    files::create_directory(parent)?;
    let mut place = parent.join(name);
    let mut n = 1;
    while !files::create_new_directory(&place)? {
        n += 1;
        place = parent.join(format!("{name}-{n}"));
    }
    Ok(place)
}

/// The mark of everything that a run starts. Runs of two repositories may have begun in the same second and have one id, so the mark
/// is made from where the run is, too.
pub fn mark_of(run: &RunDirectory) -> String {
    let path = run.path().canonicalize_utf8();
    let path = path.unwrap_or_else(|_| run.path().to_owned());
    let hash = digest::sha256(path.as_str().as_bytes());
    format!("{}-{}", run.id(), &hash[..12])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_7_runs_that_began_in_the_same_second_in_two_repositories_have_two_marks() {
        let places = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [one, other] = places.each_ref().map(|place| {
            let beads = Utf8Path::from_path(place.path()).unwrap();
            RunDirectory::create(beads, jiff::Timestamp::UNIX_EPOCH).unwrap()
        });
        assert_eq!(one.id(), other.id());
        assert_ne!(mark_of(&one), mark_of(&other));
        assert_eq!(mark_of(&one), mark_of(&one.clone()));
    }
}
