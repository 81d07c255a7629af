//! The real executor: agents and checks as units, with what they print kept below the run's directory.

mod agents;
mod checks;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use beads_ralph_core::agent::{AgentRole, Permissions, qa_result};
use beads_ralph_core::bead::{AgentSpec, BeadId, QaResult, RalphBead};
use beads_ralph_core::engine::{AgentReport, CommitId, Trouble, Verdict, prompt};
use camino::{Utf8Path, Utf8PathBuf};

use self::agents::Who;
use self::agents::claimed;
use super::activity::{Activity, Guarding};
use super::journal::{RunDirectory, file_name};
use super::main_checkout::MainCheckout;
use super::port_book::PortBook;
use super::set_up;
use super::set_up::OwnBd;
use crate::config::Config;
use crate::os::files::{self, FileError};
use crate::os::process::{Cancel, Ending, Mark, Silent, Units};
use crate::ports::{Checked, Claimed, Executor, Job, Place};
use crate::{agent, os::digest};

/// How long the user's own command to tell them something may take.
const NOTIFY_LIMIT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct LocalExecutor<'a> {
    units: &'a Units,
    config: &'a Config,
    root: Utf8PathBuf,
    run: RunDirectory,
    permissions: Permissions,
    mark: Mark,
    activity: Activity,
    ports: Arc<PortBook>,
    main: MainCheckout,
    is_stopping: AtomicBool,
    cancels: Mutex<BTreeMap<BeadId, Vec<Cancel>>>,
    own_bd: OwnBd,
}

impl<'a> LocalExecutor<'a> {
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
            own_bd: OwnBd::default(),
        }
    }

    /// The same, whose agents find this program under the name `bd` before any other: for a store that is ours (Z-18).
    #[must_use]
    pub fn with_own_bd(self) -> Self {
        Self {
            own_bd: self.own_bd(),
            ..self
        }
    }

    /// The run's directory is two levels below the store's.
    fn own_bd(&self) -> OwnBd {
        let bin = self.run.path().join("bin");
        let store = bin.ancestors().nth(3).map(Utf8Path::to_owned);
        store.map_or_else(OwnBd::default, |store| OwnBd::at(&bin, &store))
    }

    #[must_use]
    pub fn with_permissions(self, permissions: Permissions) -> Self {
        Self {
            permissions,
            ..self
        }
    }

    #[must_use]
    pub fn with_ports(self, ports: Arc<PortBook>) -> Self {
        Self { ports, ..self }
    }

    pub fn activity(&self) -> Activity {
        self.activity.clone()
    }

    /// A word that ends what runs for a bead, and is forgotten when it is dropped.
    fn cancel_for(&self, bead: &BeadId) -> Result<Cancel, Trouble> {
        let cancel = Cancel::new().map_err(|error| Trouble::passing(error.to_string()))?;
        let mut cancels = self.cancels.lock().unwrap_or_else(PoisonError::into_inner);
        // An order to stop everything that arrives meanwhile applies to this one, too.
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

    fn set_up_with(&self, command: &str, bead: &RalphBead, place: &Place) -> Result<bool, Trouble> {
        let directory = self.run.path().join("beads").join(file_name(&bead.id));
        let logs = files::fresh_directory(&directory.join("setup"));
        let (logs, _) = logs.map_err(|error| passing(&error))?;
        let cancel = self.cancel_for(&bead.id)?;
        self.activity.begins(&bead.id, "setup");
        let errand = set_up::Errand {
            command,
            worktree: &place.worktree,
            logs: &logs,
            mark: self.mark.below(),
            cancel: &cancel,
            env: self.ports.variables(&bead.id),
        };
        let made = set_up::set_up(self.units, self.config, &errand, &mut Silent);
        self.over(&bead.id, &cancel);
        made
    }

    fn directory(&self, job: Job<'_>, name: &str) -> Result<Utf8PathBuf, FileError> {
        let attempt = self.run.attempt(&job.bead.id, job.launch.attempt);
        files::fresh_directory(&attempt.join(name)).map(|(path, _)| path)
    }
}

impl Executor for LocalExecutor<'_> {
    fn account(&self, spec: &AgentSpec) -> String {
        agent::account(self.config, &self.root, spec)
    }

    fn set_up(&self, bead: &RalphBead, place: &Place) -> Result<bool, Trouble> {
        match &self.config.worktrees.setup {
            Some(_) if set_up::is_set_up(&place.worktree) => Ok(false),
            Some(command) => self.set_up_with(command, bead, place),
            None => Ok(false),
        }
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
            self.feedback(job, feedback).as_deref(),
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
            let feedback = self.feedback(job, feedback);
            prompt::lead(
                job.bead,
                worktree,
                &self.checks(job.bead),
                feedback.as_deref(),
            )
        };
        let who = Who {
            spec: &job.bead.metadata.scrum_master_agent,
            role: AgentRole::ScrumMaster,
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
            role: AgentRole::Qa,
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
        base: Option<&CommitId>,
    ) -> Result<Checked, Trouble> {
        self.checked(bead, place, attempt, (commit, base))
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
        let notice = format!("`notify` failed, so this message was not sent: {text} ({why})");
        self.activity.notice(notice);
        Err(Trouble::passing(why))
    }
}

fn passing(error: &FileError) -> Trouble {
    Trouble::passing(error.to_string())
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
