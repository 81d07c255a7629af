//! `verify-ac`: acceptance lines that are commands are run by us; those that are words are for an agent (Z-35).

use std::collections::BTreeMap;

use beads_ralph_core::bead::Dod;
use beads_ralph_core::implement::{Judge, Mode, Outcome};
use beads_ralph_core::verify::{is_green, summary};
use camino::Utf8Path;
use serde_json::{Value, json};

use super::super::Dispatcher;
use super::super::assign::Assignment;
use super::super::ending::{ImplementError, Stop};
use super::super::hold::Held;
use super::super::seen::Beating;
use super::super::settle::Settlement;
use super::failed;
use crate::checks::{Again, Checks, Ground};
use crate::files;
use crate::run::Repository as _;

impl Dispatcher<'_> {
    /// Runs the commands; nothing comes back when they hold and an agent must judge the rest.
    pub(super) fn verify_ac(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
    ) -> Result<Option<Settlement>, Stop> {
        let head = self.site.git.checked_out_at(&assignment.place)?;
        if let Some(summary) = self.red(assignment, &assignment.place, held)? {
            return Ok(Some(failed(assignment, "acceptance-not-met", summary)));
        }
        if let Some(head) = head {
            self.site.git.keep(assignment.source.issue.id(), &head)?;
        }
        let n = self.checks_of(assignment).len();
        self.decide(
            "Z-35",
            format!("{n} command(s) of the bead and the project hold"),
        );
        let lines = assignment.acceptance.iter();
        let words = lines.filter(|it| it.judge == Judge::Machine && it.command.is_none());
        let n_words = words.count();
        if n_words > 0 {
            self.decide(
                "Z-35",
                format!("{n_words} acceptance line(s) are judged by an agent"),
            );
            self.told.worker = Some(assignment.agent.as_str().to_owned());
            return Ok(None);
        }
        let reason = format!("verify-ac complete; {n} command(s) hold");
        Ok(Some(Settlement::new(Outcome::Complete(reason))))
    }

    /// What does not hold in a worktree, if something does not.
    pub(super) fn red(
        &mut self,
        assignment: &Assignment,
        worktree: &Utf8Path,
        held: &mut Held,
    ) -> Result<Option<String>, Stop> {
        let verifiers = self.checks_of(assignment);
        if verifiers.is_empty() {
            return Ok(None);
        }
        let dod = match Dod::from_document(&json!({"verifiers": verifiers})) {
            Ok(dod) => dod,
            Err(errors) => {
                let first = errors.first().map(ToString::to_string);
                return Ok(Some(first.unwrap_or_default()));
            }
        };
        self.make_audit_directory(assignment)?;
        let logs = self
            .site
            .beads
            .join(assignment.report(&assignment.agent, None)?);
        let logs = logs.with_file_name("verify-ac.run");
        files::create_directory(&logs)?;
        let checks = Checks {
            units: self.site.units,
            cancel: self.site.cancel,
            root: worktree,
            shell: &self.site.config.shell,
            withhold: &self.site.config.agents.withhold_env,
            env: &BTreeMap::new(),
            ground: Ground::Clean,
            mark: &self.site.mark,
            logs: &logs,
            again: Again {
                retries: self.site.config.flaky_retries,
                base: None,
            },
        };
        let mut beating = Beating {
            store: &mut *self.store,
            held,
            listener: &mut *self.listener,
        };
        let records = checks.run(&dod.verifiers, &|| None, &mut beating);
        if self.site.cancel.is_cancelled() {
            return Err(ImplementError::Interrupted.into());
        }
        files::write_atomic(&logs.join("checks.json"), &files::to_json(&records))?;
        Ok((!is_green(&records)).then(|| summary(&records)))
    }

    /// What is run before work counts as done: the acceptance lines that are commands, and the commands of the project, but for
    /// documents.
    pub(super) fn checks_of(&self, assignment: &Assignment) -> Vec<Value> {
        let own = assignment.acceptance.iter();
        let own = own.filter_map(|line| line.command.as_deref());
        let gates = self.site.config.gates.commands();
        let gates = gates.filter(|_| assignment.mode != Mode::DocsOnly);
        let mut commands: Vec<&str> = Vec::new();
        for command in own.chain(gates.map(|(_, command)| command)) {
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
        let limit = self.site.config.implement.worker_timeout.as_secs().max(1);
        let verifier = |command: &&str| json!({"name": command, "command": command, "on_failure": "continue", "timeout_seconds": limit});
        commands.iter().map(verifier).collect()
    }
}
